"""A judge's verdicts calibrated to people's: with what probability would people agree?

A judge's score of a pair is the mean over its verdicts (both orders, repeats) of what it gives the
first system: 1 for a win, 1/2 for a tie, 0 for a loss, or its probabilities where it told them. A
calibration maps scores to the probability that people prefer the first system, people's ties as
half. Which system is called the first is arbitrary, so that f(1 - s) = 1 - f(s).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from arena.data.errors import UsageError, checked_choice
from arena.data.schema import CALIBRATED, QUESTION_KEY, SOFT
from arena.data.seeds import generator
from arena.data.wording import count_of
from arena.diagnostics.verdicts import QUESTION_PAIR, verdicts
from arena.statistics.bootstrap import percentile_interval, resampled_sums

Floats = npt.NDArray[np.float64]

Fitted = Callable[[Floats], Floats]

FOLDS = 5
RESAMPLES = 2000
MOST_CERTAIN = 0.01
"""Scores nearer to 0 or 1 than this count as this near: no number of labels supports more."""


@dataclass(frozen=True)
class Calibration:
    """How a judge's scores relate to those of a reference; intervals are 95%, over questions.

    Attributes:
        pairs: Pairs of answers that both judged, of so many ``questions``.
        errors: Brier scores: of scores as they are (``before``), calibrated by the labels of other
            questions (``after``), and the ``difference`` (below 0 is better), ``low, high``.
        association: Mean of (2 s - 1)(2 y - 1) over pairs, s the judge's score and y people's: 1
            where they always agree and are sure, 0 where one says nothing of the other. ``low``
            and ``high`` bound it.
        scores: Every pair that the judge judged: ``language, query_id, first, second, score,
            calibrated``; for pairs with a label, fitted without the labels of their question's
            fold.
    """

    judge: str
    reference: tuple[str, ...]
    pairs: int
    questions: int
    errors: dict[str, float]
    association: float
    low: float
    high: float
    scores: pd.DataFrame

    @property
    def warning(self) -> str | None:
        """What speaks against using the calibrated verdicts, if anything does."""
        if self.low > 0:
            return None
        return (
            f"the verdicts of {self.judge} do not surely go along with those of "
            f"{', '.join(self.reference)} (association {self.association:.2f}, 95% interval "
            f"{self.low:.2f} to {self.high:.2f}): a board of the calibrated ones would rank by "
            "something people may not share; collect more labels, or take another judge"
        )

    def judgments(self) -> pd.DataFrame:
        """Return the calibrated verdicts as soft judgments of ``calibrated:JUDGE``, one a pair.

        Sides, which mean nothing here, are drawn from each pair's content.
        """
        table = self.scores
        names = table[QUESTION_PAIR].astype(str)
        is_turned = (pd.util.hash_pandas_object(names, index=False) % 2 == 1).to_numpy()
        of_first = table["calibrated"].to_numpy(np.float64)
        share = np.where(is_turned, 1.0 - of_first, of_first)
        likelier = np.where(share > 0.5, "a", "b")
        return pd.DataFrame(
            {
                "query_id": table["query_id"],
                "language": table["language"],
                "system_a": table["first"].where(~is_turned, table["second"]),
                "system_b": table["second"].where(~is_turned, table["first"]),
                "winner": np.where(np.isclose(share, 0.5), "tie", likelier),
                "judge": f"{CALIBRATED}{self.judge}",
                "probability_a": np.round(share, 6),
                "probability_b": np.round(1.0 - np.round(share, 6), 6),
                SOFT: True,
            }
        )


def calibrate(
    judgments: pd.DataFrame, judge: str, reference: Sequence[str], seed: int = 0
) -> Calibration:
    """Calibrate a judge's verdicts to people's.

    Platt's scaling has one number here, the slope of the logit (sides being arbitrary, there is no
    intercept), with his smoothed targets (Platt, 1999). Intervals of ratings from calibrated
    verdicts take the calibration as known.

    Args:
        judgments: An arena's and, where the judge told them, ``probability_a, probability_b``.
        judge: Whose verdicts to calibrate.
        reference: Judges that are the truth, such as people; their mean counts.
        seed: Seed of the bootstrap.

    Raises:
        UsageError: If there is no such judge, it is among the reference, or the two
            share pairs on fewer than two questions.
    """
    present = sorted(set(judgments["judge"]))
    for name in (judge, *reference):
        checked_choice(name, present, "judge")
    if judge in reference or not reference:
        raise UsageError(f"{judge} needs another judge as the reference")
    scores = pair_scores(judgments[judgments["judge"] == judge])
    labels = pair_scores(judgments[judgments["judge"].isin(list(reference))])
    both = scores.merge(labels.rename(columns={"score": "label"}), on=QUESTION_PAIR)
    groups, names = pd.factorize(pd.MultiIndex.from_frame(both[QUESTION_KEY]))
    if len(names) < 2:
        raise UsageError(
            f"{judge} and {', '.join(reference)} share pairs on "
            f"{count_of(len(names), 'question')}; "
            "a calibration needs two at least, and some fifty labeled pairs to be of use"
        )
    score, label = both["score"].to_numpy(np.float64), both["label"].to_numpy(np.float64)
    cross, final = np.empty(len(both)), _platt(score, label)
    for train, held in GroupKFold(min(FOLDS, len(names))).split(score, groups=groups):
        cross[held] = _platt(score[train], label[train])(score[held])
    whole = scores.merge(both[QUESTION_PAIR].assign(cross=cross), on=QUESTION_PAIR, how="left")
    calibrated = whole.pop("cross").fillna(pd.Series(final(whole["score"].to_numpy())))
    agreed = (2.0 * score - 1.0) * (2.0 * label - 1.0)
    terms = np.column_stack(
        [(score - label) ** 2, (cross - label) ** 2, agreed, np.ones(len(label))]
    )
    sums = pd.DataFrame(terms).groupby(groups).sum().to_numpy()
    drawn = resampled_sums(sums, RESAMPLES, generator(seed, "calibration"))
    drawn = drawn[:, :3] / drawn[:, 3:]
    before, after, association, _ = (float(mean) for mean in terms.mean(axis=0))
    bounds = percentile_interval(drawn[:, 1] - drawn[:, 0])
    errors = {"before": before, "after": after, "difference": after - before}
    low, high = percentile_interval(drawn[:, 2])
    return Calibration(
        judge=judge,
        reference=tuple(reference),
        pairs=len(both),
        questions=len(names),
        errors=errors | {"low": bounds[0], "high": bounds[1]},
        association=association,
        low=low,
        high=high,
        scores=whole.assign(calibrated=calibrated),
    )


def pair_scores(judgments: pd.DataFrame) -> pd.DataFrame:
    """Average what judgments give the first system of each pair, by name.

    Returns:
        Columns ``language, query_id, first, second, score`` (0 to 1), sorted; one row a pair.
    """
    table = verdicts(judgments)
    score = table["points"].to_numpy(np.float64)
    if {"probability_a", "probability_b"} <= set(judgments):
        told = judgments[["probability_a", "probability_b"]].apply(pd.to_numeric, errors="coerce")
        share = (1.0 + told["probability_a"] - told["probability_b"]).to_numpy(np.float64) / 2.0
        oriented = np.where(table["first_on_a"], share, 1.0 - share)
        score = np.where(np.isfinite(oriented), oriented, score)
    scored = table[QUESTION_PAIR].assign(score=score)
    return scored.groupby(QUESTION_PAIR, observed=True)["score"].mean().reset_index()


def _platt(score: Floats, label: Floats) -> Fitted:
    """Fit the slope of the logit, with targets (N + 1) / (N + 2) and 1 / (N + 2)."""
    if not np.any(_logits(score)):
        return lambda values: np.full(len(values), 0.5)
    sure = (len(label) + 1.0) / (len(label) + 2.0)
    target = label * sure + (1.0 - label) * (1.0 - sure)
    model = LogisticRegression(C=np.inf, fit_intercept=False)
    x, y = np.tile(_logits(score), 2)[:, None], np.repeat([1, 0], len(label))
    slope = float(model.fit(x, y, np.concatenate([target, 1.0 - target])).coef_[0, 0])
    return lambda values: np.asarray(expit(slope * _logits(values)), dtype=np.float64)


def _logits(score: Floats) -> Floats:
    return np.asarray(logit(np.clip(score, MOST_CERTAIN, 1.0 - MOST_CERTAIN)), dtype=np.float64)
