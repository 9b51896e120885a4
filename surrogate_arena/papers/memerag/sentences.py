"""MEMERAG's labels (the paper, sections 3.4 and 4) and files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import pandas as pd
from pydantic import BeforeValidator, Field, ValidationInfo

from arena.data.errors import Problem, UsageError, checked_choice
from arena.data.languages import LANGUAGE_CODE
from arena.data.rows import whole_digits
from arena.data.schema import QUESTION_KEY
from surrogate_arena.papers.records import (
    JSONL_SUFFIXES,
    FilledText,
    StrictRecord,
    raise_if,
    read_records,
    refuse,
    repeats,
)

SUPPORTED = "Supported"
NOT_SUPPORTED = "Not Supported"
CHALLENGING = "Challenging to determine"
FACTUALITY = (SUPPORTED, NOT_SUPPORTED, CHALLENGING)
"""Coarse labels of faithfulness. Challenging sentences are left out of a meta-evaluation."""

JUDGED = (SUPPORTED, NOT_SUPPORTED)
"""Coarse labels that judges are compared with (the paper, section 5.1)."""

COARSE_OF_FINE = {
    "Direct paraphrase": SUPPORTED,
    "Logical conclusion": SUPPORTED,
    "Other": SUPPORTED,
    "Adds new information": NOT_SUPPORTED,
    "Contradiction": NOT_SUPPORTED,
    "Mis-referencing": NOT_SUPPORTED,
    "Nuance shift": NOT_SUPPORTED,
    "Opinion as fact": NOT_SUPPORTED,
    "Wrong reasoning": NOT_SUPPORTED,
    "Other mistake": NOT_SUPPORTED,
}
"""Fine-grained labels in the order of table 4; a challenging sentence has none."""

FINE_GRAINED = tuple(COARSE_OF_FINE)

DIRECT = "Directly answers the question"
CONTEXT = "Adds context to the answer"
UNRELATED = "Unrelated to the question"
RELEVANCE = (DIRECT, CONTEXT, UNRELATED)

RELEVANT = "Relevant"
IRRELEVANT = "Irrelevant"
COARSE_OF_RELEVANCE = MappingProxyType({DIRECT: RELEVANT, CONTEXT: RELEVANT, UNRELATED: IRRELEVANT})
"""The first two describe relevant sentences, the last irrelevant ones (the paper, section 3.4)."""

JUDGED_RELEVANCE = (RELEVANT, IRRELEVANT)
FINE_LABELS = (*FINE_GRAINED, *RELEVANCE)
"""What tells sentences of one coarse label apart, of either quality."""

LABELS = {
    "factuality": FACTUALITY,
    "fine_grained_factuality": FINE_GRAINED,
    "relevance": RELEVANCE,
}
"""What each field of a sentence may say."""

SENTENCE_KEY = [*QUESTION_KEY, "sentence_id"]
COLUMNS = [
    *SENTENCE_KEY,
    "query",
    "model",
    "passages",
    "answer",
    "sentence",
    "factuality",
    "fine_grained_factuality",
    "relevance",
    "votes",
    "comments",
]
"""Columns of a table of sentences."""

_CODE = re.compile(LANGUAGE_CODE)


def _votes(value: object, info: ValidationInfo) -> object:
    labels = value if isinstance(value, list) else [value]
    votes = [None if label is None else _label(label, info) for label in labels]
    if info.field_name != "factuality" or any(votes):
        return votes
    # Only factuality must have a label.
    if isinstance(value, list):
        raise refuse("holds no label", "give at least one")
    return value  # None, which the field's type refuses


def _label(value: object, info: ValidationInfo) -> str:
    if not isinstance(value, str):
        raise refuse("is not a string", "write it as a JSON string")
    labels = LABELS[str(info.field_name)]
    spelled = {label.casefold(): label for label in labels}.get(value.strip().casefold())
    if spelled is None:
        raise refuse("is not a label of this field", f"use one of {', '.join(labels)}")
    return spelled


def _texts(value: object) -> object:
    texts = value if isinstance(value, list) else [value]
    return [text for text in texts if text is not None and str(text).strip()]


Votes = Annotated[list[str | None], BeforeValidator(_votes)]
"""One label, or a list of them: one a person, as in MEMERAG-Ext (appendix B)."""


def majority(votes: Sequence[str | None]) -> str | None:
    """Return the label with the most votes, of several the one given first; None without votes."""
    # Of equals, most_common gives the one that came first.
    ranked = Counter(vote for vote in votes if vote is not None).most_common(1)
    return ranked[0][0] if ranked else None


class ContextPassage(StrictRecord):
    """A passage that the answer was written from."""

    text: FilledText


class LabeledSentence(StrictRecord):
    """A sentence of an answer with its human labels."""

    sentence_id: int
    sentence: FilledText
    factuality: Votes
    fine_grained_factuality: Votes = Field(default_factory=list)
    relevance: Votes = Field(default_factory=list)
    comments: Annotated[list[str], BeforeValidator(_texts)] = Field(default_factory=list)

    def labels(self) -> dict[str, object]:
        """Return each field's label by majority; the fine-grained one is of the coarse one."""
        factuality = majority(self.factuality)
        fine = [vote for vote in self.fine_grained_factuality if vote is not None]
        if len(self.factuality) > 1:
            # Who voted for another coarse label has no say on the fine-grained one.
            fine = [vote for vote in fine if COARSE_OF_FINE[vote] == factuality]
        return {
            "factuality": factuality,
            "fine_grained_factuality": majority(fine),
            "relevance": majority(self.relevance),
            "votes": {name: tuple(getattr(self, name)) for name in LABELS},
            "comments": self.comments,
        }


class LabeledAnswer(StrictRecord):
    """One line: an answer to one question."""

    # Ids are numbers in some of the files and texts in others.
    query_id: Annotated[FilledText, BeforeValidator(lambda value: whole_digits(value) or value)]
    query: FilledText
    model: str | None = None
    context: list[ContextPassage] = Field(min_length=1)
    answer: list[LabeledSentence] = Field(min_length=1)


def read_memerag(path: Path | str, languages: Sequence[str] = ()) -> pd.DataFrame:
    """Read MEMERAG's files: LANGUAGE.jsonl, or a folder of them, one row a sentence.

    A field holds one label, or one a person (MEMERAG-Ext, appendix B), of which the ``majority``
    counts; only fine-grained labels of the coarse one that won have votes.

    Returns:
        Columns ``language, query_id, sentence_id, query, model, passages, answer, sentence,
        factuality, fine_grained_factuality, relevance, votes, comments``.
    """
    files = _files(Path(path))
    problems: list[Problem] = []
    rows = []
    for language in dict.fromkeys(languages or sorted(files)):
        file = files[checked_choice(language, files, "language")]
        answers = read_records(file, LabeledAnswer, problems)
        problems += repeats(file, [(line, answer.query_id) for line, answer in answers], "query_id")
        for line, answer in answers:
            ids = [sentence.sentence_id for sentence in answer.answer]
            if len(set(ids)) < len(ids):
                field, hint = "answer.sentence_id", "number the sentences"
                problems.append(Problem(file.name, line, field, ids, "holds one twice", hint))
            rows += _sentences(answer, language)
    raise_if(problems)
    return pd.DataFrame(rows, columns=COLUMNS)


def _files(path: Path) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        stem, dot, rest = file.name.partition(".")
        if dot + rest in JSONL_SUFFIXES and _CODE.fullmatch(stem):
            files.setdefault(stem, file)
    if not files:
        raise UsageError(f"{path} holds no LANGUAGE.jsonl, such as en.jsonl")
    return files


def _sentences(answer: LabeledAnswer, language: str) -> list[dict[str, Any]]:
    passages = tuple(passage.text for passage in answer.context)
    text = " ".join(sentence.sentence for sentence in answer.answer)
    rows = []
    for sentence in answer.answer:
        row = {
            "language": language,
            "query_id": answer.query_id,
            "query": answer.query,
            "model": answer.model,
            "passages": passages,
            "answer": text,
            "sentence_id": sentence.sentence_id,
            "sentence": sentence.sentence,
            **sentence.labels(),
        }
        rows.append(row)
    return rows
