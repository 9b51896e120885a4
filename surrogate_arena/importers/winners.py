"""Winners of pairs in the words, numbers and columns that people write them in.

A column of winners is read as a whole: what ``1`` or ``A`` means follows from the name of the
column and from all values in it, never from one cell. A column that can be read in two ways is
refused with a hint.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from surrogate_arena.importers.cells import id_text
from surrogate_arena.importers.winner_columns import (
    NO_WINNER,
    NoWinner,
    WinnerReading,
    reading_of_word,
    winner_number,
    winner_text,
)
from surrogate_arena.importers.winner_words import (
    COMPARISON,
    NEITHER,
    NO_VERDICT,
    better_side,
    word_of,
)

SCALE_BY_FIELD = "preference"
"""Field whose numbers go from 1 (the first wins) to 2 (the second wins), as AlpacaEval's do."""

_SCALES: tuple[Mapping[float, str], ...] = (
    {1.0: "a", 0.5: "tie", 0.0: "b"},  # points of the first side
    {1.0: "a", 0.0: "tie", -1.0: "b"},  # the sign of the difference
    {0.0: "a", 1.0: "b", 2.0: "tie"},  # a place, counted from 0
    {1.0: "a", 2.0: "b", 1.5: "tie"},  # a place, counted from 1
    {1.0: "a", 2.0: "b", 0.0: "tie"},
    {1.0: "a", 2.0: "b", 3.0: "tie"},
)
_NUMBERS_HINT = "write a, b or tie instead of numbers"


class UndecidableWinnersError(ValueError):
    """A column of winners that can be read in more than one way.

    Attributes:
        hint: How to write it instead.
    """

    def __init__(self, fault: str, hint: str) -> None:
        super().__init__(fault)
        self.hint = hint


def read_winners(
    values: Sequence[object],
    sides: Sequence[tuple[object, object]],
    *,
    field: str = "winner",
    sides_are_letters: bool = False,
) -> list[WinnerReading | NoWinner]:
    """Read a column of winners.

    Args:
        values: The cells, as any reader of files gives them.
        sides: The names of side A and side B of each.
        field: Name of the column.
        sides_are_letters: Whether ``a`` and ``b`` are always sides, even where systems have these
            names, as in our own tables.

    Returns:
        The verdict of each cell, or why there is none.

    Raises:
        UndecidableWinnersError: If the column can be read in two ways that differ.
    """
    cells = [_Cell.read(value, names) for value, names in zip(values, sides, strict=True)]
    filled = [cell for cell in cells if cell.text is not None]
    try:
        scale = _scale_of([cell.number for cell in filled if cell.number is not None], field)
    except UndecidableWinnersError:
        # Systems may be called 7 and 13: then a number is a name, and needs no scale.
        if any(cell.side is None for cell in filled if cell.number is not None):
            raise
        scale = MappingProxyType({})
    by_name = any(cell.side for cell in filled) and _names_win(
        filled, scale, sides_are_letters=sides_are_letters
    )
    return [_read(cell, scale, by_name=by_name) for cell in cells]


class _Cell(NamedTuple):
    """A cell of a column of winners.

    Attributes:
        text: Its text; None if it is missing.
        number: The number that it holds, if any.
        side: The side (``a`` or ``b``) of the system that it names, if any.
    """

    text: str | None
    number: float | None = None
    side: str | None = None

    @classmethod
    def read(cls, value: object, names: tuple[object, object]) -> _Cell:
        text = winner_text(value)
        if text is None:
            # A system may be called "none" or "NA", as a baseline without retrieval often is.
            name = value.strip() if isinstance(value, str) else ""
            side = _name_of_side(name, names) if name else None
            return cls(None if side is None else name, side=side)
        return cls(text, winner_number(text), _side_named(text, names))

    def meaning(self, scale: Mapping[float, str] | None) -> str | None:
        """Return what the cell means if it does not name a system; None if that is nothing."""
        if self.text is None:
            return None
        if self.number is None:
            return word_of(self.text)
        return _soft(self.number).winner if scale is None else scale.get(self.number)


def _side_named(text: str, names: tuple[object, object]) -> str | None:
    """Return the side that a cell names, or puts above the other side, as in ``x > y``."""
    side = _name_of_side(text, names)
    if side is not None:
        return side
    comparison = COMPARISON.fullmatch(text.strip("[]"))
    if comparison is None:
        return None
    sides = (_name_of_side(comparison[1], names), _name_of_side(comparison[3], names))
    better = better_side(comparison[2])
    if better is None or set(sides) != {"a", "b"}:
        return None
    return sides[better]


def _name_of_side(text: str, names: tuple[object, object]) -> str | None:
    """Return the side that a text names; case counts only where the names differ by it alone."""
    name_a, name_b = map(_name, names)
    if text in (name_a, name_b):
        if name_a == name_b:
            return None
        return "a" if text == name_a else "b"
    folded = text.casefold()
    is_a = bool(name_a) and name_a.casefold() == folded
    is_b = bool(name_b) and name_b.casefold() == folded
    if is_a == is_b:
        return None
    return "a" if is_a else "b"


def name_no_system(values: Iterable[object], systems: Iterable[object]) -> bool:
    """Tell whether no cell of a column of winners can name a system.

    Such cells mean the same whatever the sides are, so that equal ones need not be read again.
    """
    names = {_name(system).casefold() for system in systems}
    for value in values:
        text = winner_text(value) or (value.strip() if isinstance(value, str) else "")
        comparison = COMPARISON.fullmatch(text.strip("[]"))
        compared = (comparison[1], comparison[3]) if comparison else ()
        if any(part.casefold() in names for part in (text, *compared)):
            return False
    return True


def _name(system: object) -> str:
    return "" if system is None else id_text(system).strip()


def _names_win(
    cells: Sequence[_Cell], scale: Mapping[float, str] | None, *, sides_are_letters: bool
) -> bool:
    """Return whether the column names the system that won, rather than its side.

    Raises:
        UndecidableWinnersError: If both fit, and differ.
    """
    names_fit = True
    words_fit = True
    differing: str | None = None
    for cell in cells:
        meaning = cell.meaning(scale)
        names_fit &= cell.side is not None or meaning in ("tie", NEITHER, NO_VERDICT)
        words_fit &= meaning is not None
        if cell.side and meaning and cell.side != meaning:
            differing = cell.text
    if differing is None or names_fit != words_fit:
        return names_fit
    if sides_are_letters and words_fit:
        return False
    raise UndecidableWinnersError(
        f"{differing!r} may be the name of a system or mean a side",
        "write model_a, model_b or tie",
    )


def _scale_of(numbers: Collection[float], field: str) -> Mapping[float, str] | None:
    """Return the scale of the numbers in a column; None if there are none, or ``preference``.

    Raises:
        UndecidableWinnersError: If several scales fit and read a number differently.
    """
    distinct = sorted(set(numbers))
    if not distinct:
        return None
    if field.strip().casefold().endswith(SCALE_BY_FIELD):
        _check_preferences(distinct)
        return None
    fitting = [scale for scale in _SCALES if scale.keys() >= set(distinct)]
    # A scale on which both sides win somewhere explains a column better than one without.
    both_win = [scale for scale in fitting if {scale[number] for number in distinct} >= {"a", "b"}]
    candidates = both_win or fitting
    listed = _listed(distinct)
    if not candidates:
        raise UndecidableWinnersError(f"the numbers {listed} are no winners", _NUMBERS_HINT)
    for scale in candidates:
        if any(scale[number] != candidates[0][number] for number in distinct):
            fault = f"the numbers {listed} can be read in several ways"
            raise UndecidableWinnersError(fault, _NUMBERS_HINT)
    return candidates[0]


def _listed(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers[:5])


def _check_preferences(numbers: Sequence[float]) -> None:
    """Check that distinct numbers, sorted, are AlpacaEval's preferences.

    Raises:
        UndecidableWinnersError: If they are not, or may be on another scale.
    """
    # There, 0 is a draw, as 1.5 is.
    are_in_range = all(1.0 <= number <= 2.0 or number == 0.0 for number in numbers)
    if are_in_range and numbers[-1] > 1.0:
        return
    raise UndecidableWinnersError(
        f"the numbers {_listed(numbers)} are not surely preferences from 1 (the first) to 2 "
        "(the second)",
        _NUMBERS_HINT,
    )


def _read(
    cell: _Cell, scale: Mapping[float, str] | None, *, by_name: bool
) -> WinnerReading | NoWinner:
    if cell.text is None:
        return NO_WINNER
    if by_name and cell.side is not None:
        return WinnerReading(cell.side)
    if cell.number is not None and scale is None:
        return _soft(cell.number)
    word = cell.meaning(scale)
    # "nobody" and the like may be a system's name.
    if word == NO_VERDICT and cell.side is None:
        return NO_WINNER
    if word is None or word == NO_VERDICT:
        word = cell.side
    if word is not None:
        return reading_of_word(word)
    hint = "write a, b or tie (or model_a, model_b; tie (bothbad)), or nothing"
    if cell.text.casefold() in ("true", "false"):
        hint = "name the column a_wins or b_wins, or write a, b or tie"
    return NoWinner("is not a winner", hint)


def _soft(preference: float) -> WinnerReading:
    """Return AlpacaEval's preference as a verdict: 1 the first, 2 the second, 1.5 or 0 a draw."""
    if preference in (0.0, 1.5):
        return WinnerReading("tie")
    winner = "a" if preference < 1.5 else "b"
    if preference in (1.0, 2.0):
        return WinnerReading(winner)
    return WinnerReading(
        winner, probability_a=round(2.0 - preference, 6), probability_b=round(preference - 1.0, 6)
    )
