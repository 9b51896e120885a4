"""Systems: checks of their names, their attributes, and passages that they alone were given."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any
from unicodedata import category, east_asian_width, normalize

import pandas as pd

from arena.data.checks import (
    Fault,
    amount_fault,
    check_table,
    duplicates,
    passages_fault,
    undeclared,
)
from arena.data.errors import HALF_SURROGATE, Problem, UsageError
from arena.data.rows import Rows, is_null, is_unstorable
from arena.data.schema import AMOUNTS, OWN_PASSAGES, QUESTION_KEY, TableSchema

SYSTEMS_TABLE = "systems"
JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""Joiners and selectors, needed between letters of some scripts, and behind emoji."""
FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc")
"""Characters that show nothing, though Unicode counts them among letters, marks and symbols."""
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of controls, formats, surrogates, and ends of lines and paragraphs."""

_CONFUSED = str.maketrans({"I": "l", "1": "l", "|": "l", "O": "o", "0": "o"})

_KEY = TableSchema(SYSTEMS_TABLE, {"system": "name"})
PassageRecord = Mapping[str, Any]
"""A passage as tables hold it; see ``arena.data.schema.Passage``."""


def name_problems(names: Iterable[str], source: str, field: str) -> list[Problem]:
    """List names with invisible characters, and those that differ only in their Unicode form."""
    faults = _name_faults(sorted(set(names)))
    return [Problem(source, None, field, ascii(name), *fault) for name, fault in faults]


def row_name_problems(rows: Rows, field: str) -> list[Problem]:
    """List the same of the names in a column, each where it first appears."""
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
    """Tell whether a name has characters that nobody sees, but for joiners that scripts need."""
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
    """Return names that a reader may take for each other: pairs, sorted.

    Two names look alike where they are equal but for case, spaces at their edges and characters
    that look like others in many fonts (``I``, ``l`` and ``1``, ``O`` and ``0``), or where one has
    a letter or dash of ASCII and the other one that is not ASCII, such as a Cyrillic a. Names are
    compared with each other and with others, but not others with each other.
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
    """Return whether a character is a letter or a dash; None if it is mistaken for none."""
    # Wide characters, as of Chinese, look like no letter of ASCII.
    if east_asian_width(character) in ("W", "F"):
        return None
    return {"Pd": "dash", "Ll": "letter", "Lu": "letter"}.get(category(character))


def no_attributes() -> pd.DataFrame:
    """Return the table of attributes of systems that have none."""
    return pd.DataFrame({"system": pd.Series(dtype="str")})


def system_attributes(
    rows: Rows | None, systems: Collection[str]
) -> tuple[pd.DataFrame, list[Problem]]:
    """Check the attributes of systems: ``system`` and one column per attribute.

    Returns:
        The same, texts or None, sorted by system; and what is wrong.
    """
    if rows is None or (rows.table.empty and not rows.problems):
        return no_attributes(), []
    problems = [*rows.problems, *check_table(rows, _KEY)]
    if not problems:
        problems = [
            *duplicates(rows, ["system"], "system"),
            *undeclared(rows, "system", tuple(systems), "systems"),
            *_nested_values(rows),
            *_amount_problems(rows),
        ]
    if problems:
        return no_attributes(), problems
    table = rows.table.sort_values("system", ignore_index=True).astype(object)
    for name in table:
        texts = [None if is_null(value) else str(value) for value in table[name]]
        table[name] = pd.Series(texts, dtype=object)
    ordered = table[["system", *(name for name in table if name != "system")]]
    return ordered.astype({"system": "str"}), []


def _nested_values(rows: Rows) -> Iterator[Problem]:
    for name in rows.table:
        for row, value in rows.table[name].items():
            if isinstance(value, list | dict):
                fault = "is neither a text nor a number"
                yield rows.problem(row, str(name), value, fault, "write one value, or nothing")


def _amount_problems(rows: Rows) -> Iterator[Problem]:
    for name in AMOUNTS:
        for row, value in rows.table.get(name, pd.Series(dtype=object)).items():
            fault = None if is_null(value) else amount_fault(value)
            if fault is not None:
                yield rows.problem(row, name, value, *fault)


def with_own_passages(answers: Rows, queries: pd.DataFrame) -> tuple[Rows, list[Problem]]:
    """Check the passages that answers have of their own, and look up those given by id.

    A passage that equals one of the question's (id and text) has its relevance, unless the
    answer's row gives another.

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
    query_keys = queries[QUESTION_KEY].itertuples(index=False, name=None)
    shared_passages = dict(zip(query_keys, queries["passages"], strict=True))
    answer_keys = table[QUESTION_KEY].itertuples(index=False, name=None)
    problems: list[Problem] = []
    cells: list[object] = []
    for row, key, value in zip(table.index, answer_keys, table[OWN_PASSAGES], strict=True):
        if is_null(value):
            cells.append(None)
            continue
        records = _looked_up(value, shared_passages.get(key, ()))
        fault = _fault(records)
        if fault is None:
            cells.append(records)
        else:
            cells.append(None)
            hint = (
                "write [{passage_id, text, title|null, relevance: 1|0|null}, ...] with distinct "
                "ids, ids of the question's passages, or null for these"
            )
            problems.append(answers.problem(row, OWN_PASSAGES, value, fault, hint))
    if all(records is None for records in cells):
        return replace(answers, table=table.drop(columns=OWN_PASSAGES)), problems
    column = pd.Series(cells, index=table.index, dtype=object)
    return replace(answers, table=table.assign(**{OWN_PASSAGES: column})), problems


def _looked_up(passages: object, shared: Sequence[PassageRecord]) -> object:
    """Replace ids by the question's passages, and give equal passages their relevance."""
    if not isinstance(passages, list):
        return passages
    by_id = {passage["passage_id"]: passage for passage in shared}
    records: list[object] = []
    for passage in passages:
        if isinstance(passage, str):
            records.append(by_id.get(passage, passage))
            continue
        if isinstance(passage, dict) and passage.get("relevance") is None:
            twin = by_id.get(str(passage.get("passage_id")))
            if twin is not None and twin.get("text") == passage.get("text"):
                passage = {**passage, "relevance": twin.get("relevance")}
        records.append(passage)
    return records


def _fault(records: object) -> str | None:
    if is_unstorable(records):
        return HALF_SURROGATE
    if isinstance(records, list):
        for record in records:
            if isinstance(record, str):
                return f"no passage {record!r} is among those of the question"
    return passages_fault(records)
