"""Few judgments, ties, and what has no judgment or no answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from arena.data.wording import Remark, count_of, first_of
from arena.quality.agreement import SHOWN_NAMES


class CheckResult(NamedTuple):
    """Counts of one judge's verdicts in one language, and remarks on them."""

    counts: dict[str, Any]
    remarks: list[Remark]


def amount_check(part: pd.DataFrame, declared: Sequence[str]) -> CheckResult:
    """Count judgments, systems and questions, and report where there are few."""
    judged = {*part["first"], *part["second"]}
    unjudged = sorted(set(declared) - judged)
    n_judgments = len(part)
    n_questions = part["query_id"].nunique()
    n_ties = int((part["outcome"] == 0).sum())
    questions = count_of(n_questions, "question")
    sentence = (
        f"{count_of(n_judgments, 'judgment')} of {count_of(len(judged), 'system')} on {questions}"
    )
    remarks = [Remark("amount", "info", sentence)]
    # A bootstrap over fewer questions has too few distinct resamples.
    if n_questions < 10:
        remarks.append(
            Remark("questions", "warning", f"only {questions} judged; intervals will be rough")
        )
    if unjudged:
        systems = count_of(len(unjudged), "declared system")
        sentence = f"{systems} never judged: {first_of(unjudged, SHOWN_NAMES)}"
        remarks.append(Remark("never judged", "warning", sentence))
    row = {
        "judgments": n_judgments,
        "ties": n_ties,
        "questions": n_questions,
        "never_judged": len(unjudged),
    }
    return CheckResult(row, remarks)


def unmet_check(part: pd.DataFrame, answers: pd.Series) -> CheckResult:
    """Report judgments without answers, and answers without judgments.

    The index of ``answers`` is ``ANSWER_KEY``.
    """
    first = pd.MultiIndex.from_frame(part[[*QUESTION_KEY, "first"]], names=ANSWER_KEY)
    second = pd.MultiIndex.from_frame(part[[*QUESTION_KEY, "second"]], names=ANSWER_KEY)
    has_answers = first.isin(answers.index) & second.isin(answers.index)
    n_without_answer = int((~has_answers).sum())
    is_of_languages = answers.index.isin(part["language"].unique(), level="language")
    keys = answers.index[is_of_languages]
    n_not_judged = len(keys) - int(keys.isin(first.union(second)).sum())
    remarks: list[Remark] = []
    if n_without_answer:
        judgments = count_of(n_without_answer, "judgment")
        sentence = f"{judgments} of a system that gave no answer to that question"
        remarks.append(Remark("absent answers", "warning", sentence))
    if n_not_judged:
        sentence = f"{n_not_judged:,} of {len(keys):,} answers are in no judgment"
        remarks.append(Remark("answers not judged", "info", sentence))
    row = {
        "answers": len(keys),
        "not_judged": n_not_judged,
        "judgments_without_answer": n_without_answer,
    }
    return CheckResult(row, remarks)
