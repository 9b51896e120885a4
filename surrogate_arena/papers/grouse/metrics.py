"""GroUSE's six metrics of a grounded answer, by an LLM (Muller et al., 2024, section 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from surrogate_arena.papers.verdict import Verdict

JUDGED_METRICS = ("answer_relevancy", "completeness", "usefulness", "faithfulness")
DERIVED_METRICS = ("positive_acceptance", "negative_rejection")
METRICS = (*JUDGED_METRICS, *DERIVED_METRICS)
LIKERT = (1, 2, 3, 4, 5)
BINARY = (0, 1)
SCALES: Mapping[str, tuple[int, ...]] = {
    "answer_relevancy": LIKERT,
    "completeness": LIKERT,
    "usefulness": BINARY,
    "faithfulness": BINARY,
    "positive_acceptance": BINARY,
    "negative_rejection": BINARY,
}
"""The scores of each metric; null is always allowed, too."""

_PREREQUISITES: Mapping[str, tuple[str, ...]] = {
    "usefulness": ("answer_relevancy",),
    "faithfulness": ("answer_relevancy", "usefulness"),
    **dict.fromkeys(DERIVED_METRICS, ("answer_relevancy", "completeness")),
}
"""Scores that a metric is derived from, or asked for only given them (figure 5)."""


@dataclass(frozen=True, slots=True)
class AnswerSample:
    """An answer to score, and the expected one.

    Answers cite the references as ``[1]``, ``[2]``, ….
    """

    question: str
    references: tuple[str, ...]
    expected: str
    answer: str


Ask = Callable[[str, Sequence[AnswerSample]], Sequence[Verdict]]
"""Scores answers by one metric."""


def acceptance(relevancy: int | None, completeness: int | None) -> tuple[int | None, int | None]:
    """Derive positive acceptance and negative rejection from the other scores (figure 4).

    Relevancy is null where the answer refuses, completeness where the references hold no answer.
    Acceptance is defined where the answer refuses, rejection where there is no answer; both are 1
    where the answer rightly refuses.
    """
    refuses = relevancy is None
    is_answerable = completeness is not None
    positive_acceptance = None
    negative_rejection = None
    if refuses:
        positive_acceptance = int(not is_answerable)
    if not is_answerable:
        negative_rejection = int(refuses)
    return positive_acceptance, negative_rejection


def score_answers(samples: Sequence[AnswerSample], ask: Ask) -> list[dict[str, Verdict]]:
    """Score answers by all six metrics, with at most four calls each (figure 5).

    Usefulness is asked for only where relevancy is null; faithfulness only where one of the two is
    not. A score that depends on one that failed fails with it.
    """
    scores: list[dict[str, Verdict]] = [{} for _ in samples]
    # Metrics stand in the order of figure 5: each is derived from earlier ones, or asked for.
    for metric in METRICS:
        unscored = []
        for index, answer_scores in enumerate(scores):
            derived = _derived(metric, answer_scores)
            if derived is None:
                unscored.append(index)
            else:
                answer_scores[metric] = derived
        if not unscored:
            continue
        verdicts = ask(metric, [samples[index] for index in unscored])
        for index, verdict in zip(unscored, verdicts, strict=True):
            scores[index][metric] = verdict
    return scores


def _derived(metric: str, scores: Mapping[str, Verdict]) -> Verdict | None:
    """Return the score that follows from those before; None if the judge is to be asked."""
    prerequisites = _PREREQUISITES.get(metric, ())
    for name in prerequisites:
        failure = scores[name].failure
        if failure is None:
            continue
        # A failure that was passed on already begins with the metric that failed.
        if not failure.startswith(prerequisites):
            failure = f"{name}: {failure}"
        return Verdict(None, failure, was_asked=scores[name].was_asked)
    values = [scores[name].value for name in prerequisites]
    # Figure 5: only a refusal can be useful, only an answer that informs can be faithful.
    if metric == "usefulness" and values[0] is not None:
        return Verdict(None)
    if metric == "faithfulness" and values == [None, None]:
        return Verdict(None)
    if metric not in DERIVED_METRICS:
        return None
    accepts, rejects = acceptance(*values)  # type: ignore[arg-type]
    return Verdict(accepts if metric == "positive_acceptance" else rejects)
