"""From answers to yes-or-no questions to a label of faithfulness (MEMERAG, appendix A, figure 3).

The labels, their two levels and the reason for a flow chart are the paper's; its figure is a
picture, so the wording and the order of the questions here are this project's. The order is that
of the grounds a sentence can be refuted on: what the passages deny comes before what they do not
mention.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, create_model

from arena.data.errors import DataError, Problem, UsageError
from arena.data.rows import CSV_SUFFIXES, read_rows, row_suffix, write_rows
from surrogate.metaevaluation.memerag.sentences import (
    CHALLENGING,
    COARSE_OF_FINE,
    SENTENCE_KEY,
    Label,
)
from surrogate.metaevaluation.records import in_order, raise_if, refuse, validated_records


@dataclass(frozen=True)
class GuideQuestion:
    """A step of the flow chart.

    Attributes:
        name: Its name, as a column of a sheet.
        text: What the annotator is asked about a sentence and its passages.
        yes: The next question's name, or the label, if the answer is yes.
        no: The same if it is no.
    """

    name: str
    text: str
    yes: str
    no: str


_STEPS = (
    GuideQuestion(
        "can_be_determined",
        "Can you tell from the passages, without knowledge of your own, whether they support the "
        "sentence?",
        yes="all_supported",
        no=CHALLENGING,
    ),
    GuideQuestion(
        "all_supported",
        "Does everything that the sentence says stand in the passages, or follow from them?",
        yes="says_the_same",
        no="is_contradicted",
    ),
    GuideQuestion(
        "says_the_same",
        "Do the passages say the same, in the same or in other words?",
        yes="Direct paraphrase",
        no="follows_logically",
    ),
    GuideQuestion(
        "follows_logically",
        "Is it a conclusion that follows logically from what the passages say?",
        yes="Logical conclusion",
        no="Other",
    ),
    GuideQuestion(
        "is_contradicted",
        "Do the passages say the opposite, or something that cannot be true as well?",
        yes="Contradiction",
        no="mixes_up_references",
    ),
    GuideQuestion(
        "mixes_up_references",
        "Does the sentence say of one person, thing, place or time what the passages say of "
        "another?",
        yes="Mis-referencing",
        no="shifts_nuance",
    ),
    GuideQuestion(
        "shifts_nuance",
        "Does it say more or less certainly, generally or strongly what the passages say?",
        yes="Nuance shift",
        no="states_opinion",
    ),
    GuideQuestion(
        "states_opinion",
        "Does it state as a fact what the passages give as somebody's opinion?",
        yes="Opinion as fact",
        no="reasons_wrongly",
    ),
    GuideQuestion(
        "reasons_wrongly",
        "Does it draw a conclusion from the passages that does not follow from them?",
        yes="Wrong reasoning",
        no="adds_information",
    ),
    GuideQuestion(
        "adds_information",
        "Does it say something that the passages do not mention?",
        yes="Adds new information",
        no="Other mistake",
    ),
)

QUESTIONS: Mapping[str, GuideQuestion] = MappingProxyType({step.name: step for step in _STEPS})
"""The questions by name; the first one opens the chart."""

FIRST_QUESTION = _STEPS[0].name


def next_question(answers: Mapping[str, bool]) -> GuideQuestion | None:
    """Return the question to ask next; None if the answers lead to a label.

    Args:
        answers: Answers so far, by the question's name; those off the path do not matter.

    Raises:
        UsageError: If an answer is to no question of the chart.
    """
    return QUESTIONS.get(_reached(answers))


def annotate(answers: Mapping[str, bool]) -> tuple[str, str | None]:
    """Return the labels that answers lead to: of faithfulness, and the reason for it.

    Args:
        answers: Answers by the question's name; those off the path do not matter.

    Returns:
        ``Supported``, ``Not Supported`` or ``Challenging to determine``, and the fine-grained
        label; None if challenging to determine.

    Raises:
        UsageError: If an answer is missing on the path, or is to no question of the chart.
    """
    reached = _reached(answers)
    if reached in QUESTIONS:
        raise UsageError(f"{reached} is not answered: {QUESTIONS[reached].text}")
    coarse = COARSE_OF_FINE.get(reached)
    return (CHALLENGING, None) if coarse is None else (coarse, reached)


def _reached(answers: Mapping[str, bool]) -> str:
    """Return the label reached, or the first question on the path without an answer."""
    unknown = [name for name in answers if name not in QUESTIONS]
    if unknown:
        known = ", ".join(QUESTIONS)
        raise UsageError(f"there is no question {unknown[0]!r}; questions are {known}")
    reached = FIRST_QUESTION
    while reached in QUESTIONS and reached in answers:
        question = QUESTIONS[reached]
        reached = question.yes if answers[reached] else question.no
    return reached


SHOWN_COLUMNS = [*SENTENCE_KEY, "query", "passages", "answer", "sentence"]
"""What an annotator reads."""

FILLED_COLUMNS = [*QUESTIONS, "relevance", "comments"]
"""What an annotator fills in: yes or no for each question on the way to a label, and so on."""

LABELED = ("factuality", "fine_grained_factuality")
LABEL_COLUMNS = [*SENTENCE_KEY, *LABELED, "relevance", "comments"]
"""Columns of a sheet that came back."""

_ANSWERS = {"yes": True, "y": True, "1": True, "no": False, "n": False, "0": False}


def _yes_or_no(said: object) -> bool:
    answer = _ANSWERS.get(str(said).strip().casefold())
    if answer is None:
        raise refuse("is no answer", "write yes or no")
    return answer


class SheetKey(BaseModel):
    """A row of a sheet that came back, but for the answers."""

    model_config = ConfigDict(extra="ignore")

    language: object
    query_id: object
    sentence_id: object
    relevance: Label | None = None
    comments: object = None


_ANSWERED: Any = (Annotated[bool, BeforeValidator(_yes_or_no)] | None, None)
_SHEET_ROW = create_model("SheetRow", __base__=SheetKey, **dict.fromkeys(QUESTIONS, _ANSWERED))


def annotation_sheet(sentences: pd.DataFrame) -> pd.DataFrame:
    """Make a sheet for one annotator, without the labels that there are.

    Args:
        sentences: Columns ``language, query_id, sentence_id, query, passages, answer, sentence``,
            such as ``read_memerag`` returns; ``passages`` holds texts.

    Returns:
        Columns ``SHOWN_COLUMNS``, passages numbered in one text, and ``FILLED_COLUMNS``, empty.
    """
    absent = [name for name in SHOWN_COLUMNS if name not in sentences.columns]
    if absent:
        raise UsageError(f"the sentences lack the columns {', '.join(absent)}")
    shown = sentences[SHOWN_COLUMNS].reset_index(drop=True)
    shown = shown.assign(passages=shown["passages"].map(_numbered))
    return shown.assign(**dict.fromkeys(FILLED_COLUMNS, ""))


def write_sheet(sheet: pd.DataFrame, path: Path | str) -> None:
    """Write a sheet as CSV.

    Raises:
        UsageError: If the name does not end in ``.csv`` (``.gz``, ``.zst``), or its folder is
            absent.
    """
    path = Path(path)
    if row_suffix(path) not in CSV_SUFFIXES:
        raise UsageError(f"{path.name}: a sheet is a CSV file; use a name such as anna.csv")
    write_rows(sheet, path)


def read_sheet(path: Path | str) -> pd.DataFrame:
    """Read a sheet that an annotator filled in.

    A question is answered by yes or no (y, n, 1, 0; case does not matter). Those off the path to
    the label may be left empty; a sentence without any answer is not annotated yet.

    Args:
        path: CSV file as ``write_sheet`` makes it; further columns do not matter.

    Returns:
        Columns ``LABEL_COLUMNS``, one row a sentence, labels missing where it is not annotated.

    Raises:
        UsageError: If there is no such file.
        DataError: With every problem: unknown answers, a path that ends before its label, unknown
            relevance, a sentence that stands twice, missing columns.
    """
    rows = read_rows(Path(path))
    wanted = [*SENTENCE_KEY, *QUESTIONS, "relevance"]
    absent = [name for name in wanted if name not in rows.table.columns]
    if absent and not rows.problems:
        fault, hint = "this column is missing", "keep all columns of the sheet"
        raise DataError([Problem(rows.source, None, name, None, fault, hint) for name in absent])
    problems: list[Problem] = []
    labeled: list[dict[str, object]] = []
    seen: dict[tuple[object, ...], int] = {}
    for line, row in validated_records(rows, _SHEET_ROW, problems):
        known: dict[str, Any] = dict.fromkeys(LABEL_COLUMNS) | row.model_dump()
        key = tuple(known[name] for name in SENTENCE_KEY)
        first = seen.setdefault(key, line)
        if first != line:
            where = (rows.source, line, "sentence_id", key[-1])
            problems.append(Problem(*where, f"stands on line {first} already", "keep one of them"))
            continue
        answers = {name: known[name] for name in QUESTIONS if known[name] is not None}
        question = next_question(answers) if answers else None
        if question is not None:
            fault, hint = "is not answered", f"answer: {question.text}"
            problems.append(Problem(rows.source, line, question.name, None, fault, hint))
        elif answers:
            known |= dict(zip(LABELED, annotate(answers), strict=True))
        labeled.append(known)
    raise_if(in_order(problems))
    return pd.DataFrame(labeled, columns=LABEL_COLUMNS, dtype=object)


def _numbered(passages: Sequence[str]) -> str:
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(passages, start=1))
