"""Passages of a table where a row has several: a column for each, or all of them in one text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from arena.data.rows import Rows
from arena.data.wording import count_of
from surrogate_arena.importers.cells import is_missing_cell
from surrogate_arena.importers.columns import bare_column, field_names

_NUMBERED_PASSAGE = re.compile(
    r"(?:retrieved_)?(?:context|passage|document|doc|chunk)_(?P<number>[0-9]{1,3})"
)
_MARKS = tuple(
    re.compile(rf"^[ \t]*{mark}[ \t]*", re.IGNORECASE | re.MULTILINE)
    for mark in (
        r"\[(?P<number>[0-9]{1,3})\]:?",
        r"[#*\[]*[ \t]*(?:document|doc|passage|context|source|chunk|excerpt|dokument|quelle)[ \t]*"
        r"[#\[(]?(?P<number>[0-9]{1,3})[\])]?[ \t]*[*]*(?:[:.)–-]|$)[*]*",
        r"\(?(?P<number>[0-9]{1,3})[.)](?=\s)",
    )
)
"""What stands before each of several passages, at the beginning of a line."""
_TAGGED = re.compile(
    r"<(?P<tag>document|doc|passage|context|chunk|source|excerpt)\b[^>]*>(?P<text>.*?)</(?P=tag)>",
    re.IGNORECASE | re.DOTALL,
)
"""A passage between tags, as prompts write it."""
_RULE = re.compile(r"^[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,}|#{3,})[ \t]*$", re.MULTILINE)
"""A line between passages."""
_BLANK_LINE = re.compile(r"\S[ \t]*\n[ \t]*\n[ \t]*\S")


def with_whole_passages(rows: Rows, columns: Mapping[str, str]) -> Rows:
    """Give a table one column of passages, each row a list of them where it has several.

    Columns such as ``context_1``, ``context_2`` are joined. Texts that hold passages with numbers
    (``[1]``, ``Document 1:``, ``1.``), or lines such as ``---`` between them, are split.

    Args:
        rows: A table.
        columns: Field to the column that the user chose.
    """
    return _with_split_passages(_with_joined_passages(rows, columns), columns)


def _with_joined_passages(rows: Rows, columns: Mapping[str, str]) -> Rows:
    """Join numbered columns of passages to one, in their order.

    The table stays as it was where another column holds passages, or the user chose one.
    """
    table = rows.table
    names = field_names("answers")["passages"]
    if "passages" in columns or any(bare_column(str(column)) in names for column in table):
        return rows
    numbered: dict[int, str] = {}
    for column in map(str, table):
        match = _NUMBERED_PASSAGE.fullmatch(bare_column(column))
        if match is not None:
            # Of two columns with one number, neither can be placed.
            if int(match["number"]) in numbered:
                return rows
            numbered[int(match["number"])] = column
    joined = [numbered[number] for number in sorted(numbered)]
    if not joined or set(joined) & set(columns.values()):
        return rows
    cells = []
    for row in table[joined].itertuples(index=False, name=None):
        cells.append([text for text in row if not is_missing_cell(text)])
    table = table.drop(columns=joined).assign(passages=pd.Series(cells, table.index, dtype=object))
    note = (
        f"{rows.source}: passages are read from {count_of(len(joined), 'column')}, "
        f"{joined[0]!r} to {joined[-1]!r}"
    )
    return replace(rows, table=table, notes=(*rows.notes, note))


def _with_split_passages(rows: Rows, columns: Mapping[str, str]) -> Rows:
    """Split the texts of columns of passages, and say so, or that texts may hold several."""
    table = rows.table
    names = field_names("answers")["passages"]
    notes = []
    for column in map(str, table):
        if column != columns.get("passages") and bare_column(column) not in names:
            continue
        filled = {n: cell for n, cell in enumerate(table[column]) if not is_missing_cell(cell)}
        texts = [cell for cell in filled.values() if isinstance(cell, str)]
        if not texts or len(texts) < len(filled):
            continue
        split = _split_texts(texts)
        if split is not None:
            cells = table[column].tolist()
            for number, parts in zip(filled, split, strict=True):
                cells[number] = parts
            table = table.assign(**{column: pd.Series(cells, table.index, dtype=object)})
            n_split = count_of(sum(len(parts) > 1 for parts in split), "text")
            notes.append(f"{rows.source}: the passages of {n_split} of {column!r} are read apart")
        elif sum(_BLANK_LINE.search(text) is not None for text in texts) > len(texts) / 2:
            notes.append(
                f"{rows.source}: texts of {column!r} hold blank lines, and each is read as one "
                "passage; if it is several, give a list, or write a line of --- between them"
            )
    return replace(rows, table=table, notes=(*rows.notes, *notes))


def _split_texts(texts: Sequence[str]) -> list[list[str]] | None:
    """Return the passages of each text of a column; None if the texts do not show them.

    All texts have numbers of one form, or tags, or most have lines between passages: in a few, a
    line or a list may belong to a passage.
    """
    for mark in _MARKS:
        numbered = [list(_numbered_parts(text, mark)) for text in texts]
        if all(numbered) and any(len(parts) > 1 for parts in numbered):
            return numbered
    tagged = [list(_tagged_parts(text)) for text in texts]
    if all(tagged):
        return tagged
    ruled = [[part.strip() for part in _RULE.split(text) if part.strip()] for text in texts]
    n_ruled = sum(len(parts) > 1 for parts in ruled)
    # Markdown has the properties of a document above its first such line.
    has_properties = any(_RULE.match(text.lstrip()) for text in texts)
    return ruled if n_ruled > len(texts) / 2 and not has_properties else None


def _numbered_parts(text: str, mark: re.Pattern[str]) -> Iterator[str]:
    """Yield the passages of a text that begin with the numbers 1, 2 … (or 0, 1 …)."""
    matches = list(mark.finditer(text))
    numbers = [int(match["number"]) for match in matches]
    if not numbers or text[: matches[0].start()].strip():
        return
    if numbers[0] > 1 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return
    ends = [match.start() for match in matches[1:]] + [len(text)]
    parts = [text[match.end() : end].strip() for match, end in zip(matches, ends, strict=True)]
    if all(parts):
        yield from parts


def _tagged_parts(text: str) -> Iterator[str]:
    """Yield the passages of a text that holds nothing but tags and what is between them."""
    parts = [match["text"].strip() for match in _TAGGED.finditer(text)]
    if all(parts) and not _TAGGED.sub("", text).strip():
        yield from parts
