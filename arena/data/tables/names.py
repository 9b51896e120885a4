"""Names of systems and judges: what cannot be seen is refused, what looks alike is said."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from arena.data.errors import Problem

JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""Needed between letters of some scripts, and behind emoji."""
FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc")
"""Characters that show nothing, though Unicode counts them among letters, marks and symbols."""
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def name_problems(names: Iterable[str], source: str, field: str) -> list[Problem]:
    """List names with characters that cannot be seen or turn the direction of writing."""
    hint = "write the name without invisible characters, controls and line breaks"
    return [
        Problem(source, None, field, ascii(name), "has characters that cannot be seen", hint)
        for name in sorted(set(names))
        if _hides(name)
    ] + [
        Problem(
            source,
            None,
            field,
            ascii(name),
            f"is the same name as {first!a}, written differently",
            "write a name in one way (Unicode NFC)",
        )
        for first, name in _twins(names)
    ]


def _hides(name: str) -> bool:
    before = ""
    for mark in name:
        is_joiner = mark in JOINERS and before > "\x7f"
        hidden = unicodedata.category(mark) in INVISIBLE or mark in FILLERS or mark in JOINERS
        if hidden and not is_joiner:
            return True
        before = mark
    return False


def alike(names: Iterable[str], others: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Return names that a reader may take for each other: pairs, sorted.

    Two names look alike where their compatibility forms (NFKC) are equal but for places where a
    letter or dash of ASCII stands in the one, and one that is not ASCII in the other, such as a
    Cyrillic a.

    Args:
        names: Names to tell from each other.
        others: Further names to tell them from.
    """
    plain = {name: unicodedata.normalize("NFKC", name) for name in {*names, *others}}
    own = set(names)
    odd = sorted(name for name in plain if not name.isascii())
    return sorted(
        {
            (min(name, other), max(name, other))
            for name in odd
            for other in plain
            if other != name and (name in own or other in own)
            if _look_alike(plain[name], plain[other])
        }
    )


def _look_alike(name: str, other: str) -> bool:
    return len(name) == len(other) and all(
        mark == twin or (mark.isascii() != twin.isascii() and _kind(mark) == _kind(twin) != "")
        for mark, twin in zip(name, other, strict=True)
    )


def _kind(mark: str) -> str:
    """Return what a character is: a letter (L), a dash (P), or nothing that is mistaken."""
    if unicodedata.east_asian_width(mark) in "WF":
        return ""
    category = unicodedata.category(mark)
    return "P" if category == "Pd" else "L" if category in ("Ll", "Lu") else ""


def _twins(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each name that is composed (NFC) as one before it, with that one."""
    first: dict[str, str] = {}
    for name in sorted(set(names)):
        before = first.setdefault(unicodedata.normalize("NFC", name), name)
        if before != name:
            yield before, name
