"""Weights by which every pair of systems counts alike, however often it met.

LMArena's ``arena-rank`` weights battles so (inverse propensity): where a provider has one pair
sampled often, the ratings of others do not move with it. It matters where the model does not hold;
where it does, ratings are the same but for chance, and a little less sure.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.data.schema import WEIGHT
from arena.data.types import Floats
from arena.rating.judgment_columns import weights_of
from arena.rating.judgments import selected_judgments
from arena.statistics.codes import Distinct, distinct, text_codes

RARE_PAIR = 50
"""Battles below which a pair's weight grows no further, as in ``arena-rank``."""


def with_even_pairs(
    judgments: pd.DataFrame, language: str | None = None, judge: str | None = None
) -> pd.DataFrame:
    """Weigh judgments by one over the number of battles of their pair, at least ``RARE_PAIR``.

    Args:
        judgments: Columns ``system_a, system_b`` and, optional, ``language``, ``judge`` and
            ``weight``.
        language: Language to take, see ``selected_judgments``.
        judge: Judge to take.

    Returns:
        The judgments, with a ``weight``; those of the language and judge count as many as before.
        Others keep their weight.
    """
    numbered = judgments.assign(row=np.arange(len(judgments)))
    selected = selected_judgments(numbered, language, judge)
    column = _weights(judgments)
    weights = column[selected["row"]]
    met = _pairs_met(selected)
    n_battles = met.sums(weights)[met.codes]
    even = weights / np.maximum(n_battles, RARE_PAIR)
    column[selected["row"]] = even * (weights.sum() / even.sum())
    return judgments.assign(**{WEIGHT: column})


def _weights(judgments: pd.DataFrame) -> Floats:
    weights = weights_of(judgments)
    return np.ones(len(judgments)) if weights is None else weights.copy()


def _pairs_met(judgments: pd.DataFrame) -> Distinct:
    systems = pd.concat([judgments["system_a"].astype(str), judgments["system_b"].astype(str)])
    codes, names = text_codes(systems)
    side_a, side_b = np.split(codes, 2)
    n_systems = max(len(names), 1)
    pair = np.minimum(side_a, side_b) * n_systems + np.maximum(side_a, side_b)
    return distinct(pair, n_systems**2)
