"""MIRACL's questions and judged passages: topics, relevance files of TREC's form, a corpus."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, Field, ValidationError

from arena.adapters.collected import Collected, ForeignArena, Key, Place, StorableText
from arena.adapters.files import (
    checked_language,
    files_below,
    language_of,
    shown_path,
    without_language,
)
from arena.data.checks import validation_problems
from arena.data.errors import DataError, Problem, UsageError, argument
from arena.data.files import lenient_text
from arena.data.json_rows import json_records
from arena.data.schema import Text
from arena.data.tables import SUFFIXES, read_rows
from arena.data.types import Record

SOURCE = "MIRACL (Zhang et al., 2023)"
TSV = (".tsv", ".tsv.gz", ".txt", ".txt.gz")
"""Endings of topics and relevance files."""

_CORPUS_SUFFIXES = (".jsonl", ".jsonl.gz")
_CORPUS_HINT = "write {docid, title, text} a line"
_TOPIC = "an id, a tab and a question"
_LABEL = "an id, Q0, a passage and a label"

Labels = dict[Key, dict[str, int]]
"""Relevance of the judged passages of each question, by their ids."""
Passages = dict[tuple[str, str], Record]
"""Passages by language and id."""


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
    read = Collected()
    labels: Labels = {}
    passages: Passages = {}
    for path, source, code in _files(paths, (*TSV, *SUFFIXES), language):
        if path.name.endswith(TSV):
            for place, cells in _cells(read, path, source, 2, _TOPIC):
                _add_question(read, place, (code, cells[0]), cells[1])
            continue
        for place, row in read.records(read_rows(path, source), JudgedQuery):
            key = (code, row.query_id)
            _add_question(read, place, key, row.query)
            for label, listed in ((1, row.positive_passages), (0, row.negative_passages)):
                for passage in listed:
                    _add_label(read, place, labels, key, passage.docid, label)
                    passages[code, passage.docid] = _record(passage)
    for path, source, code in _files(qrels, TSV, language):
        for place, (query_id, _, passage_id, given) in _cells(read, path, source, 4, _LABEL):
            if given in ("0", "1"):
                _add_label(read, place, labels, (code, query_id), passage_id, int(given))
            else:
                hint = "write 1 for relevant, 0 for not"
                read.fault(place, "label", given, "is not a label", hint)
    wanted = {(code, passage) for (code, _), of_one in labels.items() for passage in of_one}
    for path, source, code in _files(corpus, _CORPUS_SUFFIXES, language):
        keep = {passage for known, passage in wanted if known == code}
        for record in _corpus_passages(path, source, read.problems, keep):
            passages[code, record["passage_id"]] = record
    _label(read, labels, passages)
    if not read.queries and not read.problems:
        raise UsageError(
            f"no question has a judged passage with a text; give {argument('qrels')} "
            f"and {argument('corpus')}"
        )
    return read.foreign(name, SOURCE)


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
        for path, source, code in _files(paths, _CORPUS_SUFFIXES, language)
        if not languages or code in languages
        for passage in _corpus_passages(path, source, problems)
    ]
    if problems:
        raise DataError(problems)
    return pd.DataFrame(rows, columns=["language", "passage_id", "title", "text"], dtype=object)


def _files(
    paths: Sequence[Path | str], suffixes: Sequence[str], language: str | None
) -> list[tuple[Path, str, str]]:
    """List files with what messages call them, and the language of each."""
    files = files_below(paths, suffixes) if paths else []
    given = checked_language(language)
    codes = {path: language_of(path, paths, given) for path in files}
    unknown = [str(path) for path, code in codes.items() if code is None]
    if unknown:
        raise without_language(unknown)
    return [(path, shown_path(path, paths), str(code)) for path, code in codes.items()]


def _add_question(read: Collected, place: Place, key: Key, text: str) -> None:
    if text.strip() and key[1].strip():
        read.question(place, key, text, [])
    else:
        read.fault(place, "query", text, "is empty", f"write {_TOPIC}")


def _add_label(
    read: Collected, place: Place, labels: Labels, key: Key, passage: str, label: int
) -> None:
    if labels.setdefault(key, {}).setdefault(passage, label) != label:
        hint = "give each passage of a question one label"
        read.fault(place, "passage", passage, "has the other label before", hint)


def _label(read: Collected, labels: Labels, passages: Passages) -> None:
    """Give questions their judged passages; those without any are left out and counted."""
    unasked = sum(key not in read.queries for key in labels)
    read.skip("qrels", "question", "its text is in no file of topics", unasked)
    for key, query in list(read.queries.items()):
        judged = labels.get(key, {})
        query["passages"] = [
            {**passages[key[0], passage], "relevance": label}
            for passage, label in judged.items()
            if (key[0], passage) in passages
        ]
        absent = len(judged) - len(query["passages"])
        read.skip("corpus", "passage", "it is in no corpus file", absent)
        if not query["passages"]:
            read.skip("queries", "question", "it has no judged passage with a text")
            del read.queries[key]


def _cells(
    read: Collected, path: Path, source: str, count: int, form: str
) -> Iterator[tuple[Place, list[str]]]:
    """Yield the cells of each line of a file of tabs; TREC's files may have spaces instead."""
    with lenient_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            place, text = Place(source, number), line.rstrip("\r\n")
            cells = text.split("\t", count - 1)
            if count > 2 and len(cells) < count:
                cells = text.split()
            if any("\udc80" <= letter <= "\udcff" for letter in text):
                fault, hint = "is not UTF-8 text", "save the file as UTF-8"
                read.problems.append(Problem(*place, None, None, fault, hint))
            elif len(cells) == count:
                yield place, [cell.strip() for cell in cells]
            elif text.strip():
                fault, hint = "has other cells", f"write {form}"
                read.problems.append(Problem(*place, None, None, fault, hint))


def _corpus_passages(
    path: Path, source: str, problems: list[Problem], keep: Collection[str] | None = None
) -> Iterator[Record]:
    """Yield the passages of a corpus file, line by line: a corpus may be larger than memory."""
    for line, record in json_records(path, source):
        if isinstance(record, Problem):
            problems.append(record)
        elif keep is None or record.get("docid") in keep:
            try:
                yield _record(CorpusPassage.model_validate(record))
            except ValidationError as error:
                problems += validation_problems(error, source, line, lambda _: _CORPUS_HINT)


def _record(passage: CorpusPassage) -> Record:
    return {"passage_id": passage.docid, "title": passage.title, "text": passage.text}
