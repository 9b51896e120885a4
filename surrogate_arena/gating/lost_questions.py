"""Questions that a candidate lost, with both answers."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from arena.data.schema import QUESTION_KEY
from arena.data.wording import count_of
from arena.rating.soft_verdicts import calibrated_judgments
from surrogate_arena.gating.contenders import Contenders
from surrogate_arena.gating.fault_comparison import shortened


@dataclass(frozen=True)
class LostQuestion:
    """A question that every verdict gives to the baseline, or that is expected to be lost.

    Attributes:
        is_expected: Whether a surrogate expects the loss, without verdicts.
        votes: Number of verdicts.
    """

    language: str
    query_id: str
    is_expected: bool
    votes: int
    question: str
    answer: str
    baseline_answer: str


def lost_questions(judgments: pd.DataFrame, pair: Contenders) -> tuple[LostQuestion, ...]:
    """Find the questions on which all judges' verdicts prefer the baseline, most verdicts first."""
    candidates = [pair.judged_as, pair.candidate]
    names = [*candidates, pair.baseline]
    is_on_both = judgments["system_a"].isin(names) & judgments["system_b"].isin(names)
    verdicts = calibrated_judgments(judgments[is_on_both], hard=True)
    is_a = verdicts["system_a"].isin(candidates)
    lost_as_a = is_a & (verdicts["winner"] == "b")
    lost_as_b = ~is_a & (verdicts["winner"] == "a")
    is_lost = lost_as_a | lost_as_b
    by_question = is_lost.groupby([verdicts[name] for name in QUESTION_KEY])
    counts = by_question.agg(votes="size", lost="sum").reset_index()
    counts = counts[counts["votes"] == counts["lost"]]
    counts = counts.sort_values(["votes", *QUESTION_KEY], ascending=[False, True, True])
    return listed_questions(counts, pair, is_expected=False)


def listed_questions(
    rows: pd.DataFrame, pair: Contenders, *, is_expected: bool
) -> tuple[LostQuestion, ...]:
    """Return questions with both answers; columns ``language, query_id, votes``."""
    rows = rows.merge(pair.arena.queries[[*QUESTION_KEY, "query"]], on=QUESTION_KEY)
    for name, answers in (("answer", pair.answers), ("baseline", pair.baseline_answers)):
        own = answers[[*QUESTION_KEY, "answer"]].rename(columns={"answer": name})
        rows = rows.merge(own, on=QUESTION_KEY)
    return tuple(
        LostQuestion(
            language=str(row.language),
            query_id=str(row.query_id),
            is_expected=is_expected,
            votes=int(row.votes),
            question=row.query,
            answer=row.answer,
            baseline_answer=row.baseline,
        )
        for row in rows.itertuples()
    )


def lost_line(lost: LostQuestion) -> str:
    """Show a lost question in a line, with both answers."""
    verdicts = count_of(lost.votes, "verdict")
    by = (
        "expected to be lost"
        if lost.is_expected
        else f"all {verdicts} against it"
        if lost.votes > 1
        else "lost"
    )
    return (
        f"{lost.language} {lost.query_id} ({by}): "
        f"{shortened(lost.question, 60)} -> {shortened(lost.answer, 60)} | baseline: "
        f"{shortened(lost.baseline_answer, 60)}"
    )
