"""What a board says of its ratings, by what rates its systems."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from arena.data.wording import Remark

_PUBLISHED = Remark("published", "info", "Ratings rest on {source}.")


class RatingWords(NamedTuple):
    """What pages, figures and commands print of a board's ratings.

    Attributes:
        rated_by: Source of the ratings.
        meaning: What a rating is, and its interval.
        unit: Of a rating, as a standard for evaluations names it.
        scale: The unit, for readers.
        center: Rating of the mean system.
        axis: Below a figure of ratings.
        wins: What a board's first numbers are.
        figure: Title of a figure of ratings.
        intervals: What intervals in a figure are; names ``judge, rated_by, published, unseen``.
        first: Who leads alone; names ``system`` and ``wins``.
        highest: Who leads, without an interval; names ``system``.
        shared: Who leads with others; names ``count`` and ``systems``.
        standing: How often a system wins; names ``system`` and ``wins``.
        compared: Of what wins are a share.
        unlabeled: On a judge without a label; names ``source``.
    """

    rated_by: str
    meaning: str
    unit: Literal["logits", "proportion"] = "logits"
    scale: str = "logits"
    center: float = 0.0
    axis: str = "Rating (logits, 0 is the mean)"
    wins: str = (
        "Wins: how often a system is expected to win against one of the other ranked systems; a "
        "tie is half a win"
    )
    figure: str = "Ratings with intervals"
    intervals: str = (
        " by {judge}. Intervals: 90% of ratings by {rated_by} and of those by verdicts"
        "{published}; {unseen} of those by surrogates that had not seen the system. Bands: tiers "
        "of systems that do not differ from the best one; right: ranks that differences leave open."
    )
    first: str = "{system} answers best: it is expected to win {wins}."
    highest: str = "{system} has the highest rating; how certain that is, is not known."
    shared: str = "{count} share first place: {systems}."
    standing: str = "{system} is expected to win {wins}"
    compared: str = "of its comparisons"
    unlabeled: Remark = _PUBLISHED


_LOGITS = (
    " Ratings are in logits (log-odds) and average 0 in each language: of two systems that differ "
    "by 1, the better one is expected to win 73% of comparisons. "
)
RATING_WORDS: Mapping[str, RatingWords] = MappingProxyType(
    {
        "posterior": RatingWords(
            rated_by="verdicts and surrogate",
            meaning="A rating combines what the surrogate predicts from a system's answers with "
            f"the verdicts on them (Fay-Herriot model, 1979).{_LOGITS}The interval should hold the "
            "true rating with 90% probability. A system without verdicts gets the surrogate's "
            "prediction.",
        ),
        "surrogate": RatingWords(
            rated_by="the trained surrogate",
            meaning="A rating is what the trained surrogate predicts from a system's answers, even "
            f"for systems that it was trained on, as in MIRAGE-Bench.{_LOGITS}The interval is as "
            "wide as for systems that the surrogate has not seen.",
        ),
        "consensus": RatingWords(
            rated_by="how far answers agree, without any verdict",
            meaning="No verdicts are used. Features measure how far an answer agrees with the "
            "other systems' answers, with the reference answer, or with the relevance labels of "
            "the passages that it cites. A rating is the share of the other systems' answers that "
            "a system's answers outscore, averaged over these features and over questions: 0.5 on "
            "average. Without passages, features weighted as judges of other arenas weight them "
            "(judge_preferences) replace agreement with the other systems. The interval covers 90% "
            "of resampled questions, and ranks and tiers come from the same resamples. None of "
            "them says how far verdicts will differ.",
            unit="proportion",
            scale="shares of the other systems' answers that a system's answers outscore",
            center=0.5,
            axis="Share of the others' answers below a system's (no verdict, no logits)",
            wins="Share of the other systems' answers that a system's answers outscore",
            figure="Ratings without verdicts",
            intervals=". Intervals, bands (tiers) and ranks on the right are of resampled "
            "questions (90%): none says how far verdicts will differ.",
            first="The answers of {system} outscore {wins}.",
            highest="The answers of {system} outscore those of other systems most often.",
            shared="{count} are too close to call: {systems}.",
            standing="The answers of {system} outscore {wins}",
            compared="of those of other systems",
            unlabeled=Remark(
                "nobody",
                "warning",
                "Nobody has judged these answers: without verdicts, nothing here measures quality.",
            ),
        ),
    }
)
"""By the board's setting ``ratings``."""
