"""MIRACL's questions and judged passages: topics, relevance files of TREC's form, a corpus."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, Field, ValidationError

from arena.data.checks import validation_problems
from arena.data.errors import DataError, Problem, UsageError
from arena.data.schema import Text
from arena.data.tables import SUFFIXES
from arena.data.types import Record
from surrogate_arena.importers.collected import PART, Collected, Key, Place, StorableText
from surrogate_arena.importers.files import (
    checked_language,
    files_below,
    language_of,
    shown_path,
    without_language,
)
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.tables import jsonl_records, read_table, text_of_file

SOURCE = "MIRACL (Zhang et al., 2023)"
TOPICS, QUERIES, LABELS, CORPUS = "topics", "queries", "labels", "corpus"
"""Kinds of files."""
TSV = (".tsv", ".tsv.gz", ".txt", ".txt.gz")
"""Endings of topics and relevance files."""

_CORPUS_SUFFIXES = (".jsonl", ".jsonl.gz")
_CORPUS_HINT = "write {docid, title, text} a line"
_TOPIC = "an id, a tab and a question"


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
    language: str | None = None,
    name: str = "miracl",
) -> ForeignArena:
    """Read questions with their judged passages, as an arena that nobody has answered yet."""
    judged = _JudgedPassages(Collected())
    # Of a corpus, the passages are kept that labels name.
    readers = {
        TOPICS: judged.read_topics,
        QUERIES: judged.read_queries,
        LABELS: judged.read_labels,
        CORPUS: judged.read_corpus,
    }
    files = _files(paths, (*TSV, *SUFFIXES), language)
    kinds = [_kind_of(path, source) for path, source, _ in files]
    for kind, read in readers.items():
        for file, kind_of_file in zip(files, kinds, strict=True):
            if kind_of_file == kind:
                read(*file)
    judged.add_to_questions()
    collected = judged.collected
    if not collected.queries and not collected.problems:
        raise UsageError(
            "no question has a judged passage with a text; add the relevance files and the corpus"
        )
    return foreign_arena(collected, name, source=SOURCE)


def _kind_of(path: Path, source: str) -> str:
    if path.name.endswith(TSV):
        with text_of_file(path, source) as stream:
            cells = stream.readline().split()
        return LABELS if len(cells) == 4 and cells[1] == "Q0" else TOPICS
    if path.name.endswith(_CORPUS_SUFFIXES):
        with text_of_file(path, source) as stream:
            first = next((record for _, record in jsonl_records(stream, source)), None)
        return CORPUS if isinstance(first, dict) and "docid" in first else QUERIES
    return QUERIES


class _JudgedPassages:
    """Questions of MIRACL's files, and the labels and texts of their passages.

    Attributes:
        collected: The questions, and what is wrong or left out.
        labels: Relevance of the judged passages of each question, by their ids.
        passages: Passages by language and id.
    """

    def __init__(self, collected: Collected) -> None:
        self.collected = collected
        self.labels: dict[Key, dict[str, int]] = {}
        self.passages: dict[tuple[str, str], Record] = {}

    def read_topics(self, path: Path, source: str, language: str) -> None:
        for place, (query_id, text) in self._cells(path, source, 2, _TOPIC):
            self._add_question(place, (language, query_id), text)

    def read_queries(self, path: Path, source: str, language: str) -> None:
        for place, row in self.collected.records(read_table(path, source), JudgedQuery):
            key = (language, row.query_id)
            self._add_question(place, key, row.query)
            for label, passages in ((1, row.positive_passages), (0, row.negative_passages)):
                for passage in passages:
                    self._add_label(place, key, passage.docid, label)
                    self.passages[language, passage.docid] = _record(passage)

    def read_labels(self, path: Path, source: str, language: str) -> None:
        form = "an id, Q0, a passage and a label"
        for place, (query_id, _, passage_id, label) in self._cells(path, source, 4, form):
            if label in ("0", "1"):
                self._add_label(place, (language, query_id), passage_id, int(label))
            else:
                self.collected.fault(
                    place, "label", label, "is not a label", hint="write 1 for relevant, 0 for not"
                )

    def read_corpus(self, path: Path, source: str, language: str) -> None:
        """Read the texts of judged passages: a corpus may be larger than memory."""
        # Of a corpus of millions, the judged passages alone are kept.
        judged: set[str] = set()
        for (code, _), labels in self.labels.items():
            if code == language:
                judged.update(labels)
        for record in _corpus_passages(path, source, self.collected.problems, judged):
            self.passages[language, record["passage_id"]] = record

    def add_to_questions(self) -> None:
        """Give questions their judged passages; those without any are left out and counted."""
        collected = self.collected
        n_unasked = sum(key not in collected.queries for key in self.labels)
        collected.skip("qrels", "question", "its text is in no file of topics", n_unasked)
        for key, query in list(collected.queries.items()):
            language, _ = key
            for passage_id, label in self.labels.get(key, {}).items():
                passage = self.passages.get((language, passage_id))
                if passage is None:
                    collected.skip("corpus", "passage", "it is in no corpus file")
                else:
                    query["passages"].append({**passage, "relevance": label})
            if not query["passages"]:
                collected.skip("queries", "question", "it has no judged passage with a text")
                del collected.queries[key]

    def _add_question(self, place: Place, key: Key, text: str) -> None:
        _, query_id = key
        if text.strip() and query_id.strip():
            self.collected.question(place, key, text, [])
        else:
            self.collected.fault(place, "query", text, "is empty", f"write {_TOPIC}")

    def _add_label(self, place: Place, key: Key, passage_id: str, label: int) -> None:
        self.collected.became(place, PART)
        if self.labels.setdefault(key, {}).setdefault(passage_id, label) != label:
            self.collected.fault(
                place,
                "passage",
                passage_id,
                fault="has the other label before",
                hint="give each passage of a question one label",
            )

    def _cells(
        self, path: Path, source: str, count: int, form: str
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
                    fault, hint = "has other cells", f"write {form}"
                    self.collected.problems.append(Problem(*place, None, None, fault, hint))


def read_corpus(
    paths: Sequence[Path | str], language: str | None = None, languages: Collection[str] = ()
) -> pd.DataFrame:
    """Read whole corpora, to select passages from; see ``generation.select_context``.

    Args:
        paths: JSONL with ``docid, title, text``, or folders of such files.
        language: Language of all files; by default each file's name or folder tells it.
        languages: Languages to read; all there are if left out.

    Returns:
        Columns ``language, passage_id, title, text``.

    Raises:
        UsageError: If a path is absent or the language of a file is not known.
        DataError: With every problem of all files.
    """
    problems: list[Problem] = []
    rows: list[Record] = []
    for path, source, code in _files(paths, _CORPUS_SUFFIXES, language):
        if languages and code not in languages:
            continue
        for passage in _corpus_passages(path, source, problems):
            rows.append({"language": code, **passage})
    if problems:
        raise DataError(problems)
    return pd.DataFrame(rows, columns=["language", "passage_id", "title", "text"], dtype=object)


def _files(
    paths: Sequence[Path | str], suffixes: Sequence[str], language: str | None
) -> list[tuple[Path, str, str]]:
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
            elif passage_ids is None or record.get("docid") in passage_ids:
                try:
                    yield _record(CorpusPassage.model_validate(record))
                except ValidationError as error:
                    problems += validation_problems(error, source, line, lambda _: _CORPUS_HINT)


def _record(passage: CorpusPassage) -> Record:
    return {"passage_id": passage.docid, "title": passage.title, "text": passage.text}
