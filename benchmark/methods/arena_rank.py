"""Random pairs, and arena-rank's Bradley-Terry ratings."""

from __future__ import annotations

from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
from entry import ask_at_random

WINNERS = {"a": "model_a", "b": "model_b", "tie": "tie"}


def method(arena, ask, budget, seed):
    verdicts = ask_at_random(ask, seed)
    if verdicts.empty:
        return {}
    battles = verdicts.rename(columns={"system_a": "model_a", "system_b": "model_b"})
    battles["winner"] = battles["winner"].map(WINNERS)
    dataset = PairDataset.from_pandas(battles)
    model = BradleyTerry(n_competitors=len(dataset.competitors))
    results = model.compute_ratings_and_cis(dataset)
    return dict(zip(results["competitors"], map(float, results["ratings"]), strict=True))
