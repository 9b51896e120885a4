"""Systems: their names, what they are made of, and the passages that theirs alone retrieved."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any
from unicodedata import category, east_asian_width, normalize

import pandas as pd

from arena.data.cells import is_unstorable
from arena.data.checks import check_table, duplicates, passages_fault, undeclared
from arena.data.errors import HALF_SURROGATE, Problem, UsageError
from arena.data.rows import Rows
from arena.data.schema import OWN_PASSAGES, QUESTION_KEY, TableSchema

SYSTEMS_TABLE = "systems"
JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""Needed between letters of some scripts, and behind emoji."""
FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc")
"""Characters that show nothing, though Unicode counts them among letters, marks and symbols."""
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

_CONFUSED = str.maketrans({"I": "l", "1": "l", "|": "l", "O": "o", "0": "o"})

_KEY = TableSchema(SYSTEMS_TABLE, {"system": "name"})
_HINT = (
    "write [{passage_id, text, title|null, relevance: 1|0|null}, ...] with distinct ids, "
    "ids of the question's passages, or null for these"
)

PassageRecord = Mapping[str, Any]
"""A passage as tables hold it; see ``arena.data.schema.Passage``."""


def name_problems(names: Iterable[str], source: str, field: str) -> list[Problem]:
    """List names with characters that cannot be seen, and those that differ only in their form."""
    hint = "write the name without invisible characters, controls and line breaks"
    hidden, first = "has characters that cannot be seen", dict[str, str]()
    problems = []
    for name in sorted(set(names)):
        if _hides(name):
            problems.append(Problem(source, None, field, ascii(name), hidden, hint))
        before = first.setdefault(normalize("NFC", name), name)
        if before != name:
            fault = f"is the same name as {before!a}, written differently"
            told = "write a name in one way (Unicode NFC)"
            problems.append(Problem(source, None, field, ascii(name), fault, told))
    return problems


def _hides(name: str) -> bool:
    return any(
        (before <= "\x7f") if mark in JOINERS else mark in FILLERS or category(mark) in INVISIBLE
        for before, mark in pairwise(["", *name])
    )


def alike(names: Iterable[str], others: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Return names that a reader may take for each other: pairs, sorted.

    Two names look alike where they are the same but for case, spaces at their edges and characters
    that look like others in many fonts (``I``, ``l`` and ``1``, ``O`` and ``0``), or where a letter
    or dash of ASCII stands in the one, and one that is not ASCII in the other, such as a Cyrillic
    a. Names are compared with each other and with others, these not with each other.
    """
    own = set(names)
    plain = {name: normalize("NFKC", name) for name in {*own, *others}}
    pairs = {
        (min(name, other), max(name, other))
        for name in plain
        if not name.isascii()
        for other in plain
        if other != name and _look_alike(plain[name], plain[other])
    }
    for skeleton in (_without_case, _without_confusables):
        groups: dict[str, list[str]] = {}
        for name in plain:
            groups.setdefault(skeleton(plain[name]), []).append(name)
        for group in groups.values():
            pairs.update(combinations(sorted(group), 2))
    return sorted((name, other) for name, other in pairs if name in own or other in own)


def refuse_names_alike(new: Iterable[str], known: Iterable[str]) -> None:
    """Check that no name of a new system may be taken for another new or known system's.

    Raises:
        UsageError: If some do; names each pair.
    """
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
    return len(name) == len(other) and all(
        mark == twin or (mark.isascii() != twin.isascii() and _kind(mark) == _kind(twin) != "")
        for mark, twin in zip(name, other, strict=True)
    )


def _kind(mark: str) -> str:
    """Return what a character is: a letter (L), a dash (P), or nothing that is mistaken."""
    if east_asian_width(mark) in "WF":
        return ""
    return {"Pd": "P", "Ll": "L", "Lu": "L"}.get(category(mark), "")


def no_attributes() -> pd.DataFrame:
    """Return the table of what systems are made of where nothing is told."""
    return pd.DataFrame({"system": pd.Series(dtype="str")})


def system_attributes(
    rows: Rows | None, systems: Collection[str]
) -> tuple[pd.DataFrame, list[Problem]]:
    """Check what is told of systems: ``system`` and one column an attribute.

    Returns:
        The same, texts or None, sorted by system; and what is wrong.
    """
    if rows is None or (rows.table.empty and not rows.problems):
        return no_attributes(), []
    problems = [*rows.problems, *check_table(rows, _KEY)]
    if not problems:
        fault, hint = "is neither a text nor a number", "write one value, or nothing"
        problems = [
            *duplicates(rows, ["system"], "system"),
            *undeclared(rows, "system", tuple(systems), "systems"),
            *(
                rows.problem(row, str(name), value, fault, hint)
                for name in rows.table
                for row, value in rows.table[name].items()
                if isinstance(value, list | dict)
            ),
        ]
    if problems:
        return no_attributes(), problems
    table = rows.table.sort_values("system", ignore_index=True).astype(object)
    for name in table:
        texts = [None if value is None or value != value else str(value) for value in table[name]]
        table[name] = pd.Series(texts, dtype=object)
    ordered = table[["system", *(name for name in table if name != "system")]]
    return ordered.astype({"system": "str"}), []


def with_passages_of(queries: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Give every question the passages that any of some answers to it was given, each once."""
    if OWN_PASSAGES not in answers:
        return queries
    found: dict[tuple[str, str], list[PassageRecord]] = {}
    keys = answers[QUESTION_KEY].itertuples(index=False, name=None)
    for key, own in zip(keys, answers[OWN_PASSAGES], strict=True):
        if isinstance(own, list):
            found.setdefault(key, []).extend(own)
    asked = queries[QUESTION_KEY].itertuples(index=False, name=None)
    cells = []
    for key, shared in zip(asked, queries["passages"], strict=True):
        every = [*shared, *found.get(key, ())]
        cells.append(list({(it["passage_id"], it["text"]): it for it in every}.values()))
    return queries.assign(passages=pd.Series(cells, index=queries.index, dtype=object))


def with_own_passages(answers: Rows, queries: pd.DataFrame) -> tuple[Rows, list[Problem]]:
    """Check the passages that answers have of their own, and look up those given by id.

    Of a passage that is one of the question's (same id and text), the relevance is known from
    there, unless the answer's row says it.

    Args:
        answers: Sound answers, with or without a column ``passages``.
        queries: Columns ``language, query_id, passages``, sound.

    Returns:
        The answers, their own passages as lists of records or None, without the column where no
        answer has any; and what is wrong with them.
    """
    table = answers.table
    if OWN_PASSAGES not in table:
        return answers, []
    asked = queries[QUESTION_KEY].itertuples(index=False, name=None)
    shared = dict(zip(asked, queries["passages"], strict=True))
    keys = table[QUESTION_KEY].itertuples(index=False, name=None)
    problems: list[Problem] = []
    found: list[object] = []
    for row, key, own in zip(table.index, keys, table[OWN_PASSAGES], strict=True):
        is_missing = own is None or (isinstance(own, float) and own != own)
        records = None if is_missing else _looked_up(own, shared.get(key, ()))
        fault = None if is_missing else _fault(records)
        found.append(None if fault else records)
        if fault:
            problems.append(answers.problem(row, OWN_PASSAGES, own, fault, _HINT))
    if not any(records is not None for records in found):
        return replace(answers, table=table.drop(columns=OWN_PASSAGES)), problems
    column = pd.Series(found, index=table.index, dtype=object)
    return replace(answers, table=table.assign(**{OWN_PASSAGES: column})), problems


def _looked_up(own: object, shared: Sequence[PassageRecord]) -> object:
    """Replace ids by the question's passages, and say of the others what is known there."""
    if not isinstance(own, list):
        return own
    by_id = {passage["passage_id"]: passage for passage in shared}
    records: list[object] = []
    for each in own:
        if isinstance(each, dict) and each.get("relevance") is None:
            known = by_id.get(str(each.get("passage_id")), {})
            if known and known.get("text") == each.get("text"):
                each = {**each, "relevance": known.get("relevance")}
        records.append(by_id.get(each, each) if isinstance(each, str) else each)
    return records


def _fault(records: object) -> str | None:
    if is_unstorable(records):
        return HALF_SURROGATE
    for each in records if isinstance(records, list) else ():
        if isinstance(each, str):
            return f"no passage {each!r} is among those of the question"
    return passages_fault(records)
