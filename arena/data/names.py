"""Names of languages, systems and judges: which are chosen, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations, pairwise
from typing import TYPE_CHECKING
from unicodedata import category, east_asian_width, normalize

from arena.data.errors import Fault, Problem, UsageError, argument
from arena.data.wording import Remark, did_you_mean, first_of

if TYPE_CHECKING:
    from arena.data.rows import Rows

JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""Joiners and selectors, needed between letters of some scripts, and behind emoji."""
FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc")
"""Characters that show nothing, though Unicode counts them among letters, marks and symbols."""
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of controls, formats, surrogates, and ends of lines and paragraphs."""

_CONFUSED = str.maketrans({"I": "l", "1": "l", "|": "l", "O": "o", "0": "o"})


def dropped_names(
    noun: str, chosen: Collection[str] | None, names: Collection[str]
) -> frozenset[str]:
    """Return the names not chosen; none if nothing is chosen."""
    if chosen is None:
        return frozenset()
    if isinstance(chosen, str):
        chosen = [chosen]
    for name in chosen:
        if name not in names:
            available = f"available: {first_of(tuple(names)) or 'none'}"
            hint = f"{did_you_mean(name, names)} {available}".lstrip()
            raise UsageError(f"no {noun} {name!r} here ({argument(f'{noun}s')}); {hint}")
    return frozenset(names) - frozenset(chosen)


def without_names(names: tuple[str, ...], dropped: Collection[str]) -> tuple[str, ...]:
    """Return the names that are not dropped, in their order."""
    return tuple(name for name in names if name not in dropped)


def name_problems(names: Iterable[str], source: str, field: str) -> list[Problem]:
    """List names with invisible characters, or different only in Unicode form."""
    faults = _name_faults(sorted(set(names)))
    return [Problem(source, None, field, ascii(name), *fault) for name, fault in faults]


def row_name_problems(rows: Rows, field: str) -> list[Problem]:
    """List name problems of a column, each where it first appears."""
    names = rows.table[field].drop_duplicates()
    labels = dict(zip(names, names.index, strict=True))
    faults = _name_faults(labels)
    return [rows.problem(labels[name], field, ascii(name), *fault) for name, fault in faults]


def _name_faults(names: Iterable[str]) -> Iterator[tuple[str, Fault]]:
    first_spellings: dict[str, str] = {}
    for name in names:
        if hides_characters(name):
            hint = "write the name without invisible characters, controls and line breaks"
            yield name, ("has characters that cannot be seen", hint)
        normalized = name if name.isascii() else normalize("NFC", name)
        first_spelling = first_spellings.setdefault(normalized, name)
        if first_spelling != name:
            fault = f"is the same name as {first_spelling!a}, written differently"
            yield name, (fault, "write a name in one way (Unicode NFC)")


def hides_characters(name: str) -> bool:
    """Return whether a name has invisible characters that no script needs."""
    if name.isascii():
        return not name.isprintable()
    for previous, character in pairwise(["", *name]):
        if character in JOINERS:
            # Between ASCII letters nothing needs a joiner.
            if previous <= "\x7f":
                return True
        elif character in FILLERS or category(character) in INVISIBLE:
            return True
    return False


def alike(names: Iterable[str], others: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Return pairs of names that a reader may confuse.

    They are equal but for case, outer spaces and look-alike characters (``I``, ``l``, ``1``; ``O``,
    ``0``), or one has an ASCII letter or dash where the other has not.
    """
    compared = set(names)
    normalized = {name: normalize("NFKC", name) for name in {*compared, *others}}
    pairs = set()
    for name, text in normalized.items():
        if name.isascii():  # as the second of a pair
            continue
        for other, other_text in normalized.items():
            if other != name and _look_alike(text, other_text):
                pairs.add((min(name, other), max(name, other)))
    for skeleton in (_without_case, _without_confusables):
        groups: dict[str, list[str]] = {}
        for name, text in normalized.items():
            groups.setdefault(skeleton(text), []).append(name)
        for group in groups.values():
            pairs.update(combinations(sorted(group), 2))
    return sorted(pair for pair in pairs if not compared.isdisjoint(pair))


def look_alike_remarks(names: Iterable[str]) -> Iterator[Remark]:
    """Name each two names that a reader may confuse."""
    for first, name in alike(names):
        yield Remark("names", "warning", f"the names {first!a} and {name!a} look alike")


def refuse_names_alike(new: Iterable[str], known: Iterable[str]) -> None:
    """Refuse new systems' names that may be taken for another one's."""
    pairs = alike(new, known)
    if pairs:
        shown = ", ".join(f"{first!a} and {name!a}" for first, name in pairs)
        raise UsageError(f"names that look alike: {shown}; give the new systems other names")


def _without_case(name: str) -> str:
    return name.strip().casefold()


def _without_confusables(name: str) -> str:
    # Before the case is folded: a capital I looks like a small l, a small i does not.
    return name.strip().translate(_CONFUSED).casefold()


def _look_alike(name: str, other: str) -> bool:
    if len(name) != len(other):
        return False
    for character, twin in zip(name, other, strict=True):
        if character == twin:
            continue
        kind = _kind(character)
        if character.isascii() == twin.isascii() or kind is None or kind != _kind(twin):
            return False
    return True


def _kind(character: str) -> str | None:
    # Wide characters, as of Chinese, look like no letter of ASCII.
    if east_asian_width(character) in ("W", "F"):
        return None
    return {"Pd": "dash", "Ll": "letter", "Lu": "letter"}.get(category(character))
