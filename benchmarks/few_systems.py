"""What a board of few judged systems says of unseen ones, and whether it holds.

    python benchmarks/few_systems.py ARENA... [--judge ARENA=JUDGE] [--languages en,sw] [--draws 8]
        [--features FOLDER] [--coin-flips 0.9]

Some systems of an arena, and some of its questions, are drawn as the judged ones; the surrogate
learns from their verdicts alone, and rates up to twelve of the others. Of every draw: Kendall's tau
with the ratings by all verdicts; whether ranks are given; and how many of the left-out
systems' ratings and ranks (among the judged systems) the 90% intervals hold.

The last table learns the factor of ``surrogate.board.few_systems`` from all arenas but one: the
smallest one by which 90% of the ratings there are held. ``--coin-flips`` replaces a share of the
verdicts by coin flips, so that systems are close. ``--features`` has feature tables by arena
(``NAME.parquet``), so that none are extracted.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from arena import Arena, read_arena
from arena.data.errors import UsageError
from arena.data.types import Floats
from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import kendall_tau
from surrogate.board.conclusions import Agreements
from surrogate.board.intervals import unseen_intervals
from surrogate.learning.cross_fitting import (
    FEWEST_SYSTEMS_TO_FOLD,
    Repeats,
    leave_systems_out,
    train_and_rate,
)
from surrogate.learning.language_data import FEW_TOURNAMENTS, LanguageData, judged_questions
from surrogate.learning.names import DEFAULT_SURROGATE, find_surrogate
from surrogate.learning.outcomes import Outcome, resample_outcomes
from surrogate.validation.study import Study

SIZES = (3, 4, 5, 6, 8, 9, 12, 16)
QUESTIONS = (5, 20, 0)
"""Judged questions; 0 for all."""
MOST_LEFT_OUT = 12
FACTORS = np.arange(0.5, 10, 0.25)
LEVEL = 0.9


def draws_of(data: LanguageData, draws: int, repeats: int) -> Iterator[dict[str, object]]:
    """Draw judged systems and questions, and yield a record of what is said of the others."""
    n_questions = len(data.tournaments.battles.questions)
    for size in SIZES:
        if len(data.systems) <= size:
            continue
        for asked in QUESTIONS:
            if asked and (data.judgments.empty or n_questions < 1.3 * asked):
                continue
            for draw in range(draws):
                random = np.random.default_rng([size, draw, asked])
                try:
                    record = draw_of(data, size, asked, random, Repeats(repeats, draw))
                except UsageError:  # no verdict is left on these questions
                    continue
                yield {"judged": size, "questions": asked or "all", **record}


def draw_of(
    data: LanguageData, size: int, asked: int, random: np.random.Generator, repeats: Repeats
) -> dict[str, object]:
    """Learn from a draw of systems and questions, and compare what is said with all verdicts."""
    judged = sorted(random.choice(data.systems_by_content, size, replace=False))
    others = [name for name in data.systems if name not in judged]
    shown = sorted(random.choice(others, min(len(others), MOST_LEFT_OUT), replace=False))
    part = data.without_systems(others)
    if asked:
        names = list(part.tournaments.battles.questions)
        part = part.judged_on(sorted(random.choice(names, asked, replace=False)))
    outcome = outcome_of(part, repeats)
    interval = unseen_intervals([outcome])[data.language]
    rows = data.rows(shown, part.tournaments.battles.questions)
    surrogate = find_surrogate(DEFAULT_SURROGATE)
    predicted, _ = train_and_rate(surrogate, [part], rows, judged_questions([part]))
    predicted = predicted.set_index("system").reindex(shown)
    origin = data.origin_of(part)
    ratings = predicted["rating"].to_numpy(np.float64) + origin
    half_widths = interval.width(predicted["standard_error"].to_numpy(np.float64))
    arena_ratings = pd.Series(data.arena_ratings, data.systems)
    errors = ratings - arena_ratings[shown].to_numpy()
    spread = float(part.arena_ratings.std(ddof=1))
    quantile = float(stdtrit(size - 1, (1 + LEVEL) / 2))
    board_ratings = part.arena_ratings + origin
    n_above_low = count_above(board_ratings, ratings - half_widths)
    n_above_high = count_above(board_ratings, ratings + half_widths)
    n_above = count_above(arena_ratings[judged].to_numpy(), arena_ratings[shown].to_numpy())
    is_rank_held = (n_above_high <= n_above) & (n_above <= n_above_low)
    tau = np.nan
    if len(shown) > 2:
        tau = kendall_tau(ratings, arena_ratings[shown].to_numpy())
    summary = agreements_of(outcome, size, is_untested=interval.is_by_other_arenas)
    return {
        "standing": summary.standing,
        "has_rank": summary.ranks_unseen,
        "tau_here": outcome.tau,
        "tau_true": tau,
        "rating_held": np.mean(np.abs(errors) <= half_widths),
        "half_width": np.mean(half_widths) / spread if spread > 0 else np.nan,
        "rank_held": np.mean(is_rank_held),
        "ranks": np.mean((n_above_low - n_above_high + 1) / (size + 1)),
        "rmse": float(np.sqrt(np.mean(errors**2))),
        "spread": float(arena_ratings.std()),
        "factors": (errors / (quantile * spread)) ** 2 * (size - 1) if spread > 0 else [],
    }


def outcome_of(part: LanguageData, repeats: Repeats) -> Outcome:
    """Rate judged systems without their verdicts; nobody where too few could be left out."""
    if len(part.systems) >= FEWEST_SYSTEMS_TO_FOLD:
        (outcome,) = leave_systems_out([part], find_surrogate(DEFAULT_SURROGATE), repeats)
        return outcome
    unknown = np.full((1, len(part.systems)), np.nan)
    return Outcome(
        part.language, part.systems, unknown, part.arena_ratings[None], standard_errors=unknown
    )


def agreements_of(outcome: Outcome, size: int, *, is_untested: bool) -> Agreements:
    """Say how far the predictions agree with the ratings, as a board does."""
    taus = resample_outcomes([outcome], size)[outcome.language]
    low, high = percentile_interval(taus)
    return Agreements(
        tau_unseen=outcome.tau,
        tau_unseen_low=low,
        tau_unseen_high=high,
        systems_compared=size,
        is_untested=is_untested,
    )


def count_above(ratings: Floats, bounds: Floats) -> Floats:
    """Count the ratings above each bound."""
    return np.asarray((ratings > bounds[:, None]).sum(axis=1))


def learned_elsewhere(table: pd.DataFrame) -> pd.DataFrame:
    """Learn the factor of the error from all arenas but one, and return what it holds there."""
    rows = table.explode("factors").dropna(subset=["factors"])
    needed = rows["factors"].to_numpy(np.float64)
    is_held = pd.DataFrame(needed[:, None] <= FACTORS, columns=FACTORS)
    is_held = is_held.assign(family=rows["family"].to_numpy(), arena=rows["arena"].to_numpy())
    by_arena = is_held.groupby(["family", "arena"]).mean()
    records = []
    for family in by_arena.index.levels[0]:
        elsewhere = by_arena.drop(family, level="family").mean()
        factor = elsewhere.index[elsewhere >= LEVEL].min()
        held = by_arena.loc[family].mean().get(factor, np.nan)
        records.append({"arena": family, "factor": factor, "held": held})
    return pd.DataFrame(records)


def diluted(arena: Arena, share: float) -> Arena:
    """Replace a share of the verdicts by coin flips."""
    random = np.random.default_rng(5)
    winners = arena.judgments["winner"].to_numpy(object).copy()
    is_flipped = random.random(len(winners)) < share
    winners[is_flipped] = random.choice(["a", "b"], int(is_flipped.sum()))
    return replace(arena, judgments=arena.judgments.assign(winner=winners))


def report(table: pd.DataFrame) -> None:
    """Print means over arenas, with standard errors of what is held."""
    values = ["rating_held", "half_width", "rank_held", "ranks", "has_rank", "tau_true"]
    values += ["rmse", "spread"]
    for keys in (["judged"], ["questions"], ["judged", "questions"], ["standing"]):
        by_arena = table.groupby([*keys, "arena"])[values].mean()
        means = by_arena.groupby(keys).mean()
        errors = by_arena.groupby(keys)["rating_held"].sem()
        counts = table.groupby(keys).size()
        print(means.assign(error=errors, draws=counts).round(3).to_string())
    print(table.groupby("arena")[values].mean().round(3).to_string())
    if table["family"].nunique() > 1:
        print(learned_elsewhere(table).round(3).to_string(index=False))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("arenas", type=Path, nargs="+", help="arena folders")
    parser.add_argument("--judge", action="append", default=[], help="ARENA=JUDGE, repeatable")
    parser.add_argument("--languages", type=lambda text: text.split(","))
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--features", type=Path)
    parser.add_argument("--coin-flips", type=float, default=0.0)
    options = parser.parse_args()
    judges = [(folder, None) for folder in options.arenas]
    if options.judge:
        named = [text.split("=", 1) for text in options.judge]
        chosen = {name for name, _ in named}
        judges = [(folder, None) for folder in options.arenas if folder.name not in chosen]
        folders = {folder.name: folder for folder in options.arenas}
        judges += [(folders[name], judge) for name, judge in named]
    records: list[dict[str, object]] = []
    for folder, judge in judges:
        arena = read_arena(folder)
        if options.coin_flips:
            arena = diluted(arena, options.coin_flips)
        features = None
        if options.features is not None:
            features = pd.read_parquet(options.features / f"{folder.name}.parquet")
        study = Study.of(arena, judge=judge, tournaments=FEW_TOURNAMENTS, feature_table=features)
        for data in study.languages:
            if options.languages is not None and data.language not in options.languages:
                continue
            name = f"{folder.name}, {judge or 'its judge'}, {data.language}"
            found = list(draws_of(data, options.draws, options.repeats))
            records += [{"family": folder.name, "arena": name, **record} for record in found]
            print(f"{name}: {len(found)} draws", flush=True)
    report(pd.DataFrame(records))


if __name__ == "__main__":
    main()
