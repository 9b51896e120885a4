"""A jury: several judges' verdicts, weighted to predict a reference's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from arena.data.judges import is_derived
from arena.data.schema import QUESTION_KEY
from arena.data.types import Floats, Indices
from arena.quality.agreement import FEWEST_ITEMS, QUESTION_PAIR, oriented_verdicts
from arena.statistics.bootstrap import SAME_DECIMALS, generator

JURY = ["judge", "weight", "pairs", "questions", "right", "jury_gain", "low", "high"]
BEST = "(best judge)"
MAJORITY = "(majority)"
WEIGHTED = "(jury)"
BLOCKS = 20
"""Parts of the questions: each is judged by weights of the others, and left out for errors."""
EQUAL_WEIGHT_PAIRS = 50.0
"""Weights are as near to equal ones as if these had been right on so many pairs."""


def jury(judgments: pd.DataFrame, reference: Sequence[str]) -> pd.DataFrame:
    """Compare a jury of all judges with each of them, on pairs that all judged.

    Weights are learned by least squares, drawn to equal ones, and the best judge is chosen on other
    questions.

    Returns:
        Columns ``JURY`` for each judge, the best one, the majority and the jury, if two judges
        share ``FEWEST_ITEMS`` pairs with the reference. ``right`` is the share of pairs that the
        reference decides on which it decides alike, ties half; ``jury_gain`` is the jury's less it,
        with a 95% interval by a jackknife over questions.
    """
    verdicts = _verdicts(judgments, reference)
    judges = [name for name in verdicts if name != WEIGHTED]
    if len(judges) < 2 or len(verdicts) < FEWEST_ITEMS:
        return pd.DataFrame(columns=JURY)
    outcomes = verdicts[judges].to_numpy(np.float64)
    truth = verdicts[WEIGHTED].to_numpy(np.float64)
    questions = verdicts.groupby(QUESTION_KEY).ngroup().to_numpy()
    blocks = _question_blocks(questions)
    right = _shares_right(outcomes, truth, blocks)
    gains = right[-1] - right
    half_widths = _half_widths_of_gains(outcomes, truth, blocks)
    is_decided = truth != 0
    table = pd.DataFrame(
        {
            "judge": [*judges, BEST, MAJORITY, WEIGHTED],
            "weight": [*_weights(outcomes, truth), np.nan, np.nan, np.nan],
            "pairs": int(is_decided.sum()),
            "questions": len(np.unique(questions[is_decided])),
            "right": right,
            "jury_gain": gains,
            "low": gains - half_widths,
            "high": gains + half_widths,
        }
    )
    return table[JURY]


def _verdicts(judgments: pd.DataFrame, reference: Sequence[str]) -> pd.DataFrame:
    """Return mean outcomes, -1 to 1: pairs that all judged in rows, judges in columns."""
    table = oriented_verdicts(judgments).astype({"first": str, "second": str, "judge": str})
    table = table[table["judge"].isin(reference) | ~table["judge"].map(is_derived).astype(bool)]
    judges = table["judge"].mask(table["judge"].isin(reference), WEIGHTED)
    means = table.groupby([*QUESTION_PAIR, judges], observed=True)["outcome"].mean()
    return means.unstack("judge").dropna()


def _question_blocks(questions: Indices) -> Indices:
    """Return a block of each row, drawn by its question."""
    n_questions = questions.max() + 1
    drawn = generator(0, "jury").permutation(n_questions) % min(BLOCKS, n_questions)
    return np.asarray(drawn[questions])


def _shares_right(outcomes: Floats, truth: Floats, blocks: Indices) -> Floats:
    """Return shares right of judges, the best one, the majority and the jury."""
    best, weighted = np.zeros((2, len(truth)))
    for block in np.unique(blocks):
        is_tried = blocks == block
        known = outcomes[~is_tried]
        known_truth = truth[~is_tried]
        best_judge = _share_right(known, known_truth).argmax()
        best[is_tried] = outcomes[is_tried, best_judge]
        weighted[is_tried] = outcomes[is_tried] @ _weights(known, known_truth)
    majority = outcomes.sum(axis=1)
    return _share_right(np.column_stack([outcomes, best, majority, weighted]), truth)


def _share_right(scores: Floats, truth: Floats) -> Floats:
    """Return columns' shares of decided pairs on which they decide alike."""
    is_decided = truth != 0
    agreement = np.sign(scores[is_decided].round(SAME_DECIMALS)).T @ np.sign(truth[is_decided])
    return np.asarray((1 + agreement / max(is_decided.sum(), 1)) / 2)


def _weights(outcomes: Floats, truth: Floats) -> Floats:
    """Minimize |truth - outcomes w|² + 50 |w - mean w|²; scale w to add to 1, if it is above 0."""
    n_judges = outcomes.shape[1]
    away_from_equal = np.eye(n_judges) - 1 / n_judges
    products = outcomes.T @ outcomes + EQUAL_WEIGHT_PAIRS * away_from_equal
    weights = np.linalg.lstsq(products, outcomes.T @ truth, rcond=None)[0]
    total = weights.sum()
    return np.asarray(weights / total if total > 0 else weights)


def _half_widths_of_gains(outcomes: Floats, truth: Floats, blocks: Indices) -> Floats:
    """Return half-widths of 95% intervals of the jury's gains, by leaving out each block."""
    gains = []
    for block in np.unique(blocks):
        is_kept = blocks != block
        right = _shares_right(outcomes[is_kept], truth[is_kept], blocks[is_kept])
        gains.append(right[-1] - right)
    n_blocks = len(gains)
    deviations = np.array(gains) - np.mean(gains, axis=0)
    errors = np.sqrt((n_blocks - 1) / n_blocks * (deviations**2).sum(axis=0))
    return np.asarray(stdtrit(n_blocks - 1, 0.975) * errors)
