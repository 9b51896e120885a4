"""What a board of few judged systems says of unseen ones, and whether it holds.

    python benchmarks/few_systems.py ARENA... [--judge ARENA=JUDGE] [--languages en,sw] [--draws 12]

Some systems of an arena are drawn as the judged ones; the surrogate learns from their verdicts, and
rates all the others. Of every draw: what is concluded (``Agreements.standing``), Kendall's tau with
the ratings by all verdicts of the left-out systems (the truth), and how many of these the printed
90% interval of the rating, and the ranks that it spans among the judged systems, hold.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from arena import read_arena
from arena.data.errors import UsageError
from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import kendall_tau
from surrogate.board.conclusions import Agreements
from surrogate.board.intervals import conformal_intervals
from surrogate.learning.cross_fitting import Repeats, leave_systems_out, train_and_rate
from surrogate.learning.languages import FEW_TOURNAMENTS, LanguageData
from surrogate.learning.names import DEFAULT_SURROGATE, find_surrogate
from surrogate.learning.outcomes import resample_outcomes
from surrogate.validation.study import Study

SIZES = (5, 6, 8, 10, 12)
"""Judged systems; with fewer, none can be left out, and no rank is ever given."""
FEWEST_LEFT_OUT = 3


def draws_of(data: LanguageData, draws: int, repeats: int) -> Iterator[dict[str, object]]:
    """Draw judged systems and yield what is said of the others, a record per draw."""
    surrogate = find_surrogate(DEFAULT_SURROGATE)
    truth = pd.Series(data.truth, data.systems)
    questions = {data.language: data.tournaments.battles.questions}
    for size in SIZES:
        if len(data.systems) < size + FEWEST_LEFT_OUT:
            continue
        for draw in range(draws):
            random = np.random.default_rng([size, draw])
            judged = set(random.choice(data.systems_by_content, size, replace=False))
            left_out = [name for name in data.systems if name not in judged]
            try:
                part = data.without(left_out)
                (outcome,) = leave_systems_out([part], surrogate, Repeats(repeats, draw))
            except UsageError:
                continue
            taus = resample_outcomes([outcome], draw)[data.language]
            low, high = percentile_interval(taus)
            summary = Agreements(tau_unseen=outcome.tau, tau_unseen_low=low, tau_unseen_high=high)
            interval = conformal_intervals([outcome])[data.language]
            rows = data.rows(left_out)
            predicted, _ = train_and_rate(surrogate, [part], rows, questions)
            predicted = predicted.set_index("system")
            ratings = predicted["rating"] + data.origin_of(part)
            half_widths = interval.width(predicted["standard_error"].to_numpy(np.float64))
            true_ratings = truth[ratings.index]
            distances = np.abs(ratings - true_ratings).to_numpy()
            judged_ratings = truth[sorted(judged)].to_numpy()
            n_above_low = (judged_ratings > (ratings - half_widths).to_numpy()[:, None]).sum(axis=1)
            n_above_high = (judged_ratings > (ratings + half_widths).to_numpy()[:, None]).sum(
                axis=1
            )
            n_above = (judged_ratings > true_ratings.to_numpy()[:, None]).sum(axis=1)
            is_held = (n_above_high <= n_above) & (n_above <= n_above_low)
            yield {
                "judged": size,
                "standing": summary.standing,
                "is_wide": interval.is_wide,
                "tau_here": outcome.tau,
                "tau_true": kendall_tau(ratings.to_numpy(), true_ratings.to_numpy()),
                "rating_held": np.mean(distances <= half_widths),
                "rank_held": np.mean(is_held),
                "ranks": np.mean((n_above_low - n_above_high + 1) / (size + 1)),
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("arenas", type=Path, nargs="+", help="arena folders")
    parser.add_argument("--judge", action="append", default=[], help="ARENA=JUDGE, repeatable")
    parser.add_argument("--languages", type=lambda text: text.split(","))
    parser.add_argument("--draws", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    judges = dict(item.split("=", 1) for item in options.judge)
    records: list[dict[str, object]] = []
    for folder in options.arenas:
        arena = read_arena(folder)
        study = Study.of(arena, judge=judges.get(folder.name), tournaments=FEW_TOURNAMENTS)
        for data in study.languages:
            if options.languages is not None and data.language not in options.languages:
                continue
            found = list(draws_of(data, options.draws, options.repeats))
            records += [{"arena": f"{folder.name}, {data.language}", **record} for record in found]
            print(f"{folder.name}, {data.language}: {len(found)} draws", flush=True)
    table = pd.DataFrame(records)
    values = ["tau_here", "tau_true", "rating_held", "rank_held", "ranks"]
    table["is_useless"] = table["tau_true"] <= 0
    values.append("is_useless")
    for keys in (["judged", "standing"], ["arena", "standing"], ["standing"], ["is_wide"]):
        groups = table.groupby(keys)
        print(groups[values].mean().assign(draws=groups.size()).round(3).to_string())
    by_arena = table.groupby("arena")[["rating_held", "rank_held"]].mean()
    print(pd.DataFrame({"mean": by_arena.mean(), "error": by_arena.sem()}).round(3).to_string())


if __name__ == "__main__":
    main()
