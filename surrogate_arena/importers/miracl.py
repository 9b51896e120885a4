"""MIRACL's questions and judged passages: topics, relevance files of TREC's form, a corpus."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ValidationError

from arena.data.checks import validation_problems
from arena.data.errors import DataError, Problem, UsageError
from arena.data.schema import Text
from arena.data.types import Record
from surrogate_arena.importers.clone_files import (
    checked_language,
    files_below,
    language_of,
    shown_path,
    without_language,
)
from surrogate_arena.importers.collected import PART, Collected, Key, Place, StorableText
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.tables import jsonl_records, text_of_file

SOURCE = "MIRACL (Zhang et al., 2023)"
TSV = (".tsv", ".tsv.gz", ".txt", ".txt.gz")
"""Endings of topics and relevance files."""
CORPUS = (".jsonl", ".jsonl.gz")
_CORPUS_HINT = "write {docid, title, text} a line"
_TOPIC = "an id, a tab and a question"
_LABEL = "an id, Q0, a passage and a label"
_LABELS = {"1": 1, "0": 0}

File = tuple[Path, str, str]
"""A file, what messages call it, and its language."""


class CorpusPassage(BaseModel):
    """A line of a corpus file."""

    docid: Text
    text: StorableText
    title: StorableText | None = None


def read_miracl(
    paths: Sequence[Path | str],
    *,
    language: str | None = None,
    name: str = "miracl",
) -> ForeignArena:
    """Read questions with their judged passages as an arena without answers.

    Topics are a line each (id, tab, question), relevance files in TREC's form (id, Q0, passage,
    label 0 or 1), corpora JSONL with ``docid, title, text``, of which the judged passages are kept.
    Without ``language`` names of files or folders tell it. Questions without a judged passage, and
    passages without a text, are counted and left out.
    """
    collected = Collected()
    topics, labels, corpora = [], [], []
    for file in _files(paths, (*TSV, *CORPUS), language):
        if file[0].name.endswith(CORPUS):
            corpora.append(file)
        elif _has_labels(*file):
            labels.append(file)
        else:
            topics.append(file)
    for file in topics:
        _add_topics(collected, *file)
    judged: dict[Key, dict[str, int]] = {}
    for file in labels:
        _add_labels(collected, judged, *file)
    _add_passages(collected, judged, corpora)
    if not collected.queries and not collected.problems:
        raise UsageError(
            "no question has a judged passage with a text; add the relevance files and the corpus"
        )
    return foreign_arena(collected, name, source=SOURCE)


def _has_labels(path: Path, source: str, _language: str) -> bool:
    with text_of_file(path, source) as stream:
        cells = stream.readline().split()
    return len(cells) == 4 and cells[1] == "Q0"


def _add_topics(collected: Collected, path: Path, source: str, language: str) -> None:
    for place, (query_id, text) in _cells(collected, path, source, 2, _TOPIC):
        if text and query_id:
            collected.question(place, (language, query_id), text, [])
        else:
            collected.fault(place, "query", text, "is empty", f"write {_TOPIC}")


def _add_labels(
    collected: Collected, judged: dict[Key, dict[str, int]], path: Path, source: str, language: str
) -> None:
    for place, (query_id, _, passage_id, text) in _cells(collected, path, source, 4, _LABEL):
        collected.became(place, PART)
        label = _LABELS.get(text)
        labels = judged.setdefault((language, query_id), {})
        if label is None:
            hint = "write 1 for relevant, 0 for not"
            collected.fault(place, "label", text, "is not a label", hint)
        elif labels.setdefault(passage_id, label) != label:
            hint = "give each passage of a question one label"
            collected.fault(place, "passage", passage_id, "has the other label before", hint)


def _add_passages(
    collected: Collected, judged: dict[Key, dict[str, int]], corpora: Sequence[File]
) -> None:
    """Give questions their judged passages; count and leave out those without."""
    texts: dict[tuple[str, str], Record] = {}
    for path, source, language in corpora:
        # Of a corpus of millions, the judged passages alone are kept.
        wanted: set[str] = set()
        for (code, _), labels in judged.items():
            if code == language:
                wanted.update(labels)
        for passage in _corpus_passages(path, source, collected.problems, wanted):
            texts[language, passage["passage_id"]] = passage
    n_unasked = sum(key not in collected.queries for key in judged)
    collected.skip("qrels", "question", "its text is in no file of topics", n_unasked)
    for key, query in list(collected.queries.items()):
        for passage_id, label in judged.get(key, {}).items():
            judged_passage = texts.get((key[0], passage_id))
            if judged_passage is None:
                collected.skip("corpus", "passage", "it is in no corpus file")
            else:
                query["passages"].append({**judged_passage, "relevance": label})
        if not query["passages"]:
            collected.skip("queries", "question", "it has no judged passage with a text")
            del collected.queries[key]


def _cells(
    collected: Collected, path: Path, source: str, count: int, form: str
) -> Iterator[tuple[Place, list[str]]]:
    with text_of_file(path, source) as stream:
        for number, line in enumerate(stream, start=1):
            text = line.rstrip("\r\n")
            cells = text.split("\t", count - 1)
            # A question has spaces in it, a label has none.
            if count > 2 and len(cells) < count:
                cells = text.split()
            place = Place(source, number)
            if len(cells) == count:
                yield place, [cell.strip() for cell in cells]
            elif text.strip():
                problem = Problem(*place, None, None, "has other cells", f"write {form}")
                collected.problems.append(problem)


def read_corpus(
    paths: Sequence[Path | str], language: str | None = None, languages: Collection[str] = ()
) -> pd.DataFrame:
    """Read whole corpora, to select passages from; see ``generation.select_context``.

    Args:
        paths: JSONL with ``docid, title, text``, or folders of such files.
        language: Language of all files; by default names of files or folders tell it.
        languages: Languages to read; empty for all.

    Returns:
        Columns ``language, passage_id, title, text``.

    Raises:
        UsageError: If a path is absent, or a file's language not known.
        DataError: With all problems of all files.
    """
    problems: list[Problem] = []
    rows: list[Record] = []
    for path, source, code in _files(paths, CORPUS, language):
        if languages and code not in languages:
            continue
        for passage in _corpus_passages(path, source, problems):
            rows.append({"language": code, **passage})
    if problems:
        raise DataError(problems)
    return pd.DataFrame(rows, columns=["language", "passage_id", "title", "text"], dtype=object)


def _files(
    paths: Sequence[Path | str], suffixes: Sequence[str], language: str | None
) -> list[File]:
    files = []
    unknown = []
    stated_code = checked_language(language)
    for path in files_below(paths, suffixes):
        code = language_of(path, paths, stated_code)
        if code is None:
            unknown.append(str(path))
        else:
            files.append((path, shown_path(path, paths), code))
    if unknown:
        raise without_language(unknown)
    return files


def _corpus_passages(
    path: Path, source: str, problems: list[Problem], passage_ids: Collection[str] | None = None
) -> Iterator[Record]:
    with text_of_file(path, source) as stream:
        for line, record in jsonl_records(stream, source):
            if isinstance(record, Problem):
                problems.append(record)
                continue
            docid = record.get("docid")
            if passage_ids is not None and isinstance(docid, str) and docid not in passage_ids:
                continue
            try:
                read = CorpusPassage.model_validate(record)
            except ValidationError as error:
                problems += validation_problems(error, source, line, lambda _: _CORPUS_HINT)
                continue
            yield {"passage_id": read.docid, "title": read.title, "text": read.text}
