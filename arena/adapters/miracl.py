"""MIRACL's questions and judged passages: topics, relevance files of TREC's form, a corpus."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, Field, ValidationError

from arena.adapters.files import (
    checked_language,
    files_below,
    language_of,
    read_foreign_rows,
    shown_path,
    without_language,
)
from arena.adapters.foreign_rows import (
    ForeignArena,
    Skip,
    StorableText,
    ignored_columns,
    skipped_table,
    sound_records,
)
from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import lenient_text
from arena.data.folder import as_rows, checked_arena, empty_rows
from arena.data.rows import SUFFIXES, json_records
from arena.data.schema import ANSWERS, QUERIES, ArenaInfo, Text, validation_problems

SOURCE = "MIRACL (Zhang et al., 2023)"

TSV = (".tsv", ".tsv.gz", ".txt", ".txt.gz")
"""Endings of topics and relevance files."""

_CORPUS_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
_CORPUS_HINT = "write {docid, title, text} a line"
_NO_TEXT = "it is in no corpus file"

Key = tuple[str, str]


class CorpusPassage(BaseModel):
    """A line of a corpus file."""

    docid: Text = Field(description="a string")
    text: StorableText = Field(description="a string")
    title: StorableText | None = Field(default=None, description="a string")


class JudgedQuery(BaseModel):
    """A question with its passages, as the data set is published for training."""

    query_id: Text = Field(description="a string")
    query: Text = Field(description="a string")
    positive_passages: list[CorpusPassage] = Field(description="a list of {docid, text, title}")
    negative_passages: list[CorpusPassage] = Field(description="a list of {docid, text, title}")


@dataclass
class _Read:
    queries: dict[Key, str] = field(default_factory=dict)
    labels: dict[Key, dict[str, int]] = field(default_factory=dict)
    passages: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)


def read_miracl(
    paths: Sequence[Path | str],
    *,
    qrels: Sequence[Path | str] = (),
    corpus: Sequence[Path | str] = (),
    language: str | None = None,
    name: str = "miracl",
) -> ForeignArena:
    """Read questions with their judged passages, as an arena that nobody has answered yet.

    Args:
        paths: Topics (a line: id, tab, question), or JSONL with ``query_id, query,
            positive_passages, negative_passages``, which needs no other files.
        qrels: Relevance files in TREC's form (id, Q0, passage, label), labels 0 and 1.
        corpus: JSONL with ``docid, title, text``; passages that nobody judged are not kept.
        language: Language of all files; else it is told by each file's name or folder.
        name: Name of the arena.

    Returns:
        Questions in file order with their judged passages, relevant ones labeled 1; questions
        without a judged passage and passages without a text are left out and counted.

    Raises:
        UsageError: If a path is absent or the language of a file is not known.
        DataError: With every problem of all files.
    """
    read = _Read()
    of = _languages(checked_language(language))
    for path, code in of(paths, (*TSV, *SUFFIXES)):
        _read_queries(path, shown_path(path, paths), code, read)
    for path, code in of(qrels, TSV):
        _read_labels(path, shown_path(path, qrels), code, read)
    wanted = {(code, passage) for (code, _), of_one in read.labels.items() for passage in of_one}
    for path, code in of(corpus, _CORPUS_SUFFIXES):
        keep = {passage for known, passage in wanted if known == code}
        for passage in _corpus_passages(path, shown_path(path, corpus), read.problems, keep):
            read.passages[(code, passage["passage_id"])] = passage
    if read.problems:
        raise DataError(read.problems)
    records = [*_records(read)]
    if not records:
        raise UsageError("no question has a judged passage with a text; give `qrels` and `corpus`")
    info = ArenaInfo(
        name=name,
        languages=tuple(sorted({row["language"] for row in records})),
        systems=(),
        source=SOURCE,
    )
    queries = as_rows(pd.DataFrame(records, columns=list(QUERIES.columns), dtype=object), "queries")
    return ForeignArena(
        checked_arena(info, queries, empty_rows(ANSWERS)), skipped_table(read.skips)
    )


def read_corpus(
    paths: Sequence[Path | str], language: str | None = None, languages: Collection[str] = ()
) -> pd.DataFrame:
    """Read whole corpora, to select passages from; see ``arena.generation.select_context``.

    Args:
        paths: JSONL with ``docid, title, text``, or folders of such files.
        language: Language of all files; else it is told by each file's name or folder.
        languages: Languages to read; all there are if left out.

    Returns:
        Columns ``language, passage_id, title, text``.

    Raises:
        UsageError: If a path is absent or the language of a file is not known.
        DataError: With every problem of all files.
    """
    problems: list[Problem] = []
    rows = [
        {"language": code, **passage}
        for path, code in _languages(checked_language(language))(paths, _CORPUS_SUFFIXES)
        if not languages or code in languages
        for passage in _corpus_passages(path, shown_path(path, paths), problems)
    ]
    if problems:
        raise DataError(problems)
    return pd.DataFrame(rows, columns=["language", "passage_id", "title", "text"], dtype=object)


FilesWithLanguage = Callable[[Sequence[Path | str], Sequence[str]], Iterable[tuple[Path, str]]]


def _languages(language: str | None) -> FilesWithLanguage:
    """Return a function that lists files with the language of each."""

    def listed(paths: Sequence[Path | str], suffixes: Sequence[str]) -> list[tuple[Path, str]]:
        files = files_below(paths, suffixes) if paths else []
        codes = {path: language_of(path, paths, language) for path in files}
        unknown = [str(path) for path, code in codes.items() if code is None]
        if unknown:
            raise without_language(unknown)
        return [(path, code) for path, code in codes.items() if code is not None]

    return listed


def _read_queries(path: Path, source: str, code: str, read: _Read) -> None:
    if path.name.endswith(TSV):
        for line, cells in _cells(path, source, 2, "an id, a tab and a question", read.problems):
            _add_query((code, cells[0]), cells[1], source, line, read)
        return
    rows = read_foreign_rows(path, source)
    read.skips += ignored_columns(rows, list(JudgedQuery.model_fields))
    for line, row in sound_records(rows, JudgedQuery, read.problems):
        key = (code, row.query_id)
        _add_query(key, row.query, source, line, read)
        for label, passages in ((1, row.positive_passages), (0, row.negative_passages)):
            for passage in passages:
                _add_label(key, passage.docid, label, source, line, read)
                read.passages[(code, passage.docid)] = _passage(passage)


def _add_query(key: Key, text: str, source: str, line: int, read: _Read) -> None:
    if not text.strip() or not key[1].strip():
        fault, hint = "is empty", "write an id, a tab and a question"
        read.problems.append(Problem(source, line, "query", text, fault, hint))
    elif key in read.queries:
        fault, hint = "stands in the files before", "give each question once"
        read.problems.append(Problem(source, line, "query_id", key[1], fault, hint))
    else:
        read.queries[key] = text


def _read_labels(path: Path, source: str, code: str, read: _Read) -> None:
    form = "an id, Q0, a passage and a label"
    for line, cells in _cells(path, source, 4, form, read.problems):
        query_id, _, passage_id, label = cells
        if label not in ("0", "1"):
            fault, hint = "is no label", "write 1 for relevant, 0 for not"
            read.problems.append(Problem(source, line, "label", label, fault, hint))
        else:
            _add_label((code, query_id), passage_id, int(label), source, line, read)


def _add_label(key: Key, passage_id: str, label: int, source: str, line: int, read: _Read) -> None:
    known = read.labels.setdefault(key, {})
    if known.setdefault(passage_id, label) != label:
        fault, hint = "has the other label before", "give each passage of a question one label"
        read.problems.append(Problem(source, line, "passage", passage_id, fault, hint))


def _cells(
    path: Path, source: str, count: int, form: str, problems: list[Problem]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each line of a file of tabs; TREC's files may have spaces instead."""
    with lenient_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            text = line.rstrip("\r\n")
            if not text.strip():
                continue
            cells = text.split("\t", count - 1)
            if count > 2 and len(cells) < count:
                cells = text.split()
            if len(cells) != count:
                problems.append(
                    Problem(source, number, None, None, "has other cells", f"write {form}")
                )
            elif any("\udc80" <= letter <= "\udcff" for letter in text):
                fault, hint = "is not UTF-8 text", "save the file as UTF-8"
                problems.append(Problem(source, number, None, None, fault, hint))
            else:
                yield number, [cell.strip() for cell in cells]


def _corpus_passages(
    path: Path, source: str, problems: list[Problem], keep: Collection[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the passages of a corpus file, line by line: a corpus may be larger than memory."""
    for line, record in json_records(path, source, is_held=False):
        if isinstance(record, Problem):
            problems.append(record)
            continue
        if keep is not None and record.get("docid") not in keep:
            continue
        try:
            yield _passage(CorpusPassage.model_validate(record))
        except ValidationError as error:
            problems += validation_problems(error, source, line, lambda _: _CORPUS_HINT)


def _passage(passage: CorpusPassage) -> dict[str, Any]:
    return {"passage_id": passage.docid, "title": passage.title, "text": passage.text}


def _records(read: _Read) -> Iterator[dict[str, Any]]:
    unasked = [key for key in read.labels if key not in read.queries]
    read.skips += [Skip("qrels", "question", "its text is in no file of topics") for _ in unasked]
    for (code, query_id), text in read.queries.items():
        labels = read.labels.get((code, query_id), {})
        there = [passage_id for passage_id in labels if (code, passage_id) in read.passages]
        read.skips += [Skip("corpus", "passage", _NO_TEXT)] * (len(labels) - len(there))
        if not there:
            read.skips.append(Skip("queries", "question", "it has no judged passage with a text"))
            continue
        passages = [
            {**read.passages[(code, passage_id)], "relevance": labels[passage_id]}
            for passage_id in there
        ]
        yield {"query_id": query_id, "language": code, "query": text, "passages": passages}
