"""Meanings of winners' values: stated by the user, words (``names.toml``), names, or numbers.

A column that can be read in two ways is refused, with the command that states which.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from arena.data.errors import UsageError
from arena.data.wording import first_of
from surrogate_arena.importers.contract import MOST_NAMED, words_for_winners
from surrogate_arena.importers.values import is_missing_cell, name_text, number_of, option

MEANINGS = ("a", "b", "tie", "bad", "none")
"""What ``--values`` may say of a value: a side won, nobody, both are bad, or no verdict."""
_STATED = re.compile(r"(?P<value>.+?)=(?P<meaning>[a-z]+)(?:\*(?P<weight>[0-9.]+))?")
_RANGE = re.compile(r"(?P<low>-?[0-9.]+)\.\.(?P<high>-?[0-9.]+)=(?P<first>[ab])\.\.(?P<last>[ab])")
_COMPARISON = re.compile(r"(?P<first>.+?)\s*(?P<sign>>{1,3}|<{1,3}|={1,2})\s*(?P<second>.+)")


@dataclass(frozen=True)
class StatedVerdict:
    """A verdict on a pair.

    Attributes:
        winner: ``a``, ``b`` or ``tie``; ``none`` where the cell holds no verdict.
        is_both_bad: Neither answer is good: a tie for ratings.
        is_strong: One side is much better.
        weight: How often it counts.
        probability_a: Probability that side A wins, of a soft verdict.
    """

    winner: str
    is_both_bad: bool = False
    is_strong: bool = False
    weight: float = 1.0
    probability_a: float | None = None


NO_VERDICT = StatedVerdict("none")
_BY_MEANING = MappingProxyType(
    {
        "a": StatedVerdict("a"),
        "b": StatedVerdict("b"),
        "tie": StatedVerdict("tie"),
        "bad": StatedVerdict("tie", is_both_bad=True),
        "none": NO_VERDICT,
    }
)


@dataclass(frozen=True)
class StatedValues:
    """Meanings that a user states for a column.

    Attributes:
        verdicts: Value, as a text, to its meaning.
        scale: Lowest and highest number, and the winner at each end; numbers halfway are ties.
    """

    column: str
    verdicts: Mapping[str, StatedVerdict] = field(default_factory=dict)
    scale: tuple[float, float, str, str] | None = None

    def verdict_of(self, cell: object) -> StatedVerdict | None:
        """Return a cell's stated meaning, if any."""
        number = number_of(cell)
        text = _value_text(cell)
        if text in self.verdicts:
            return self.verdicts[text]
        if number is None or self.scale is None:
            return None
        low, high, first, last = self.scale
        if not low <= number <= high:
            return None
        middle = (low + high) / 2
        if number == middle:
            return StatedVerdict("tie")
        return StatedVerdict(first if number < middle else last)


def stated_values(texts: Sequence[str]) -> dict[str, StatedValues]:
    """Read options such as ``winner:0=a,1=b,.5=tie``, ``winner:-2..2=b..a``, ``vote:A>>B=a*3``."""
    stated: dict[str, StatedValues] = {}
    for text in texts:
        column, colon, listed = text.partition(":")
        if not colon or not listed:
            raise _unreadable(text)
        verdicts: dict[str, StatedVerdict] = {}
        scale = None
        for part in listed.split(","):
            matched_range = _RANGE.fullmatch(part.strip())
            if matched_range is not None:
                low, high = float(matched_range["low"]), float(matched_range["high"])
                scale = (low, high, matched_range["first"], matched_range["last"])
                continue
            match = _STATED.fullmatch(part.strip())
            if match is None or match["meaning"] not in MEANINGS:
                raise _unreadable(text)
            verdict = _BY_MEANING[match["meaning"]]
            weight = float(match["weight"] or 1)
            verdicts[_value_text(match["value"])] = StatedVerdict(
                verdict.winner, verdict.is_both_bad, weight=weight
            )
        stated[column] = StatedValues(column, verdicts, scale)
    return stated


def _unreadable(text: str) -> UsageError:
    return UsageError(
        f"cannot read {text!r}; write COLUMN:VALUE=MEANING,... where a meaning is "
        f"{first_of(MEANINGS)}, such as winner:0=a,1=b,.5=tie, or a scale, winner:1..5=a..b"
    )


def _value_text(cell: object) -> str:
    number = number_of(cell)
    if number is not None and not isinstance(cell, bool):
        return f"{number:g}"
    return str(cell).strip().casefold()


class ReadValues(NamedTuple):
    """Meanings of a column's values.

    Attributes:
        verdicts: Value to verdict; names of systems have none.
        assumed: Assumption to show the user, if any.
        names: Values that may be the name of a system.
    """

    verdicts: Mapping[object, StatedVerdict]
    assumed: str = ""
    names: frozenset[object] = frozenset()


class UnclearValuesError(ValueError):
    """Values that can be read in several ways, or in none.

    Attributes:
        command: Option that states their meaning.
        hint: What to do, with that option.
    """

    def __init__(
        self, value: object, fault: str, before: str, command: str, after: str = ""
    ) -> None:
        super().__init__(fault)
        self.value = value
        self.command = command
        self.hint = f"{before}{command}{after}"


def read_values(
    cells: Sequence[object],
    column: str,
    systems: Collection[str],
    stated: StatedValues | None = None,
) -> ReadValues:
    """Read the distinct values of a column of winners."""
    if stated is not None:
        return _stated(cells, column, stated)
    names = {_value_text(name) for name in systems}
    words: dict[object, StatedVerdict] = {}
    numbers: dict[object, float] = {}
    named: set[object] = set()
    for cell in cells:
        text = _value_text(cell)
        verdict = _word(text)
        number = number_of(cell)
        # A system may be called "none", or 7. Which side it is differs by row.
        if text in names:
            named.add(cell)
        if verdict is not None:
            words[cell] = verdict
        elif cell in named:
            continue
        elif is_missing_cell(cell):
            words[cell] = NO_VERDICT
        elif number is not None:
            numbers[cell] = number
        else:
            raise _no_meaning(cell, column, cells)
    if not numbers:
        return ReadValues(words, names=frozenset(named))
    verdicts, assumed = _numbers(numbers, column)
    return ReadValues({**words, **verdicts}, assumed, frozenset(named))


def _stated(cells: Sequence[object], column: str, stated: StatedValues) -> ReadValues:
    verdicts: dict[object, StatedVerdict] = {}
    for cell in cells:
        verdict = stated.verdict_of(cell)
        if verdict is None and is_missing_cell(cell):
            verdict = NO_VERDICT
        if verdict is None:
            raise UnclearValuesError(
                cell,
                "is not among the values that were stated",
                "add it to ",
                option("values", f"{column}:..."),
                ", or say none to leave it out",
            )
        verdicts[cell] = verdict
    return ReadValues(verdicts)


def _word(text: str) -> StatedVerdict | None:
    # Signs such as >> that make a verdict strong
    strong = 2
    plain = _plain(text)
    meaning = words_for_winners().get(plain)
    if meaning is not None:
        return _BY_MEANING[meaning]
    match = _COMPARISON.fullmatch(text.strip("[]"))
    if match is None:
        return None
    sides = [words_for_winners().get(_plain(match[name])) for name in ("first", "second")]
    if sorted(map(str, sides)) != ["a", "b"]:
        return None
    sign = match["sign"]
    if sign[0] == "=":
        return StatedVerdict("tie")
    winner = str(sides[0] if sign[0] == ">" else sides[1])
    return StatedVerdict(winner, is_strong=len(sign) >= strong)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


_SCALES: tuple[tuple[frozenset[float], Mapping[float, str]], ...] = (
    (frozenset({0.0, 1.0}), {1.0: "a", 0.5: "tie", 0.0: "b"}),
    (frozenset({1.0, -1.0}), {1.0: "a", 0.0: "tie", -1.0: "b"}),
    (frozenset({1.0, 2.0}), {1.0: "a", 1.5: "tie", 2.0: "b"}),
)
"""Numbers that a column must hold to be read so, and what numbers mean then."""


def _numbers(
    numbers: Mapping[object, float], column: str
) -> tuple[dict[object, StatedVerdict], str]:
    present = frozenset(numbers.values())
    if _are_soft_places(present):
        # 1 is the first place, 2 the second, as in AlpacaEval's preferences.
        verdicts = {cell: _soft(2 - number) for cell, number in numbers.items()}
        return verdicts, f"{column!r} goes from 1 (the first system wins) to 2 (the second wins)"
    fitting = [meanings for needed, meanings in _SCALES if needed <= present <= set(meanings)]
    if len(fitting) != 1:
        raise _several_meanings(numbers, column)
    meanings = fitting[0]
    verdicts = {cell: _BY_MEANING[meanings[number]] for cell, number in numbers.items()}
    stated = []
    for number, meaning in meanings.items():
        if number in present:
            stated.append(f"{number:g}={_OTHER_SIDE[meaning]}")
    reversed_scale = option("values", f"{column}:{','.join(stated)}")
    return verdicts, f"1 is read as a win of the first system; if it is not: {reversed_scale}"


_OTHER_SIDE = MappingProxyType({"a": "b", "b": "a", "tie": "tie"})


def _are_soft_places(numbers: Collection[float]) -> bool:
    is_between = min(numbers) >= 1 and max(numbers) <= 2
    return is_between and not set(numbers) <= {1, 1.5, 2}


def _several_meanings(numbers: Mapping[object, float], column: str) -> UnclearValuesError:
    fewest_of_a_scale = 4
    present = sorted(set(numbers.values()))
    listed = [f"{number:g}" for number in present]
    command = _option_of_values(column, listed)
    if len(listed) >= fewest_of_a_scale:
        last = max(map(abs, present))
        # Zero is in the middle of margins
        first = -last if present[0] < 0 else present[0]
        scale = option("values", f"{column}:{first:g}..{last:g}=a..b")
        command = (
            f"{scale} if the scale has these ends and {first:g} favors side a, =b..a if side b; "
            f"or each: {command}"
        )
    highest = max(numbers, key=lambda cell: numbers[cell])
    fault = "is a number that may mean several things"
    return UnclearValuesError(highest, fault, _SAY_WHAT, command)


_SAY_WHAT = "say what the values mean, each a, b, tie, bad or none: "


def _soft(probability_a: float) -> StatedVerdict:
    from arena.judging.verdict_parsing import likeliest_winner  # answers have no verdicts

    winner = likeliest_winner(probability_a, 1 - probability_a)
    return StatedVerdict(winner, probability_a=probability_a)


def _no_meaning(cell: object, column: str, cells: Sequence[object]) -> UnclearValuesError:
    fault = "is neither a side, nor a system of its row, nor a tie"
    return UnclearValuesError(cell, fault, _SAY_WHAT, _option_of_values(column, cells))


def _option_of_values(column: str, cells: Sequence[object]) -> str:
    listed = [str(name_text(value)) for value in cells if not is_missing_cell(value)]
    stated = ",".join(f"{value}=..." for value in listed[:MOST_NAMED])
    return option("values", f"{column}:{stated}{',...' if len(listed) > MOST_NAMED else ''}")


def two_meanings(cell: object, column: str) -> UnclearValuesError:
    """Return the error of a system's name that is also a word for a side."""
    fault = "is the name of a system of its row, and a word for a side"
    stated = option("values", f"{column}:a=a,b=b,tie=tie")
    return UnclearValuesError(
        cell, fault, "if it is the side: ", stated, "; if it is the name, rename the system"
    )


def side_named(cell: object, system_a: str, system_b: str) -> str | None:
    """Return the side whose system a cell names, if any."""
    names = (_value_text(system_a), _value_text(system_b))
    text = _value_text(cell)
    if names[0] == names[1] or text not in names:
        return None
    return "ab"[names.index(text)]
