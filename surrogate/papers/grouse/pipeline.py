"""GroUSE's six metrics of a grounded answer, by an LLM (Muller et al., 2024, section 4.4).

The pipeline of figure 5 says which metric a judge is asked for, and which scores follow without a
call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from features.models.llm_scorer import (
    Verdict,
)
from surrogate.papers.grouse.scoring_prompts import (
    DERIVED_METRICS,
    METRICS,
    AnswerSample,
)

MAX_TOKENS = 2048
"""Most tokens of a reply: it may go through the answer sentence by sentence."""

_NEEDED: Mapping[str, tuple[str, ...]] = {
    "usefulness": ("answer_relevancy",),
    "faithfulness": ("answer_relevancy", "usefulness"),
    **dict.fromkeys(DERIVED_METRICS, ("answer_relevancy", "completeness")),
}
"""Scores that another one rests on."""

Ask = Callable[[str, Sequence[AnswerSample]], Sequence[Verdict]]
"""Scores answers by one metric."""


def acceptance(relevancy: int | None, completeness: int | None) -> tuple[int | None, int | None]:
    """Derive positive acceptance and negative rejection from the other scores (figure 4).

    Relevancy is null where the answer refuses: it says that nothing answers the question;
    completeness where the references indeed hold no answer. Positive acceptance is defined where
    the answer refuses, and is 1 where it is right to; negative rejection is defined where the
    references hold no answer, and is 1 where the answer refuses.
    """
    refuses, answerable = relevancy is None, completeness is not None
    return int(not answerable) if refuses else None, None if answerable else int(refuses)


def score_answers(samples: Sequence[AnswerSample], ask: Ask) -> list[dict[str, Verdict]]:
    """Score answers by all six metrics, with at most four calls each.

    Answer relevancy and completeness are asked for always. Usefulness only where relevancy is
    null; faithfulness only where the answer gives any information, that is, where relevancy or
    usefulness is not null. The other two metrics follow from relevancy and completeness.

    Returns:
        Scores of each answer by ``METRICS``, in the order of the answers; one that depends on a
        score that failed fails with it.
    """
    scores: list[dict[str, Verdict]] = [{} for _ in samples]
    for metric in METRICS:
        derived = [_following(metric, of_answer) for of_answer in scores]
        open_ones = [
            sample for sample, score in zip(samples, derived, strict=True) if score is None
        ]
        called = iter(ask(metric, open_ones) if open_ones else ())
        for of_answer, score in zip(scores, derived, strict=True):
            of_answer[metric] = next(called) if score is None else score
    return scores


def _following(metric: str, scores: Mapping[str, Verdict]) -> Verdict | None:
    """Return the score that follows from those before; None where the judge is to be asked."""
    needed = _NEEDED.get(metric, ())
    for name in needed:
        failure = scores[name].failure
        if failure is not None:
            prefix = "" if failure.startswith(needed) else f"{name}: "
            return Verdict(None, f"{prefix}{failure}", scores[name].was_asked)
    values = [scores[name].value for name in needed]
    is_null = {"usefulness": values[:1] != [None], "faithfulness": values == [None, None]}
    if is_null.get(metric):
        return Verdict(None)
    if metric not in DERIVED_METRICS:
        return None
    return Verdict(acceptance(*values)[DERIVED_METRICS.index(metric)])  # type: ignore[arg-type]
