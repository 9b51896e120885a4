"""What a board of few judged systems says of unseen ones, and whether it holds.

    python benchmarks/few_systems.py ARENA... [--judge ARENA=JUDGE] [--languages en,sw] [--draws 8]
        [--features FOLDER] [--coin-flips 0.9]

Some systems of an arena, and some of its questions, are drawn as the judged ones; the surrogate
learns from their verdicts alone, and rates up to twelve of the others. Of every draw: Kendall's tau
with the ratings by all verdicts; whether ranks are given; and how many of the left-out systems'
ratings and ranks (among the judged systems) the 90% intervals hold.

The last table learns the factor of ``surrogate.board.intervals`` from all arenas but one: the
smallest one by which 90% of the ratings there are held. ``--coin-flips`` replaces a share of the
verdicts by coin flips, so that systems are close. ``--features`` has feature tables by arena
(``NAME.parquet``), so that none are extracted.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from judge_options import add_judge_option, pairs_of_names
from scipy.special import stdtrit

from arena import Arena, read_arena
from arena.data.errors import UsageError
from arena.data.types import Floats
from arena.statistics.agreement import kendall_tau
from arena.statistics.bootstrap import percentile_interval
from surrogate.board.conclusions import Agreements
from surrogate.board.intervals import unseen_intervals
from surrogate.learning.cross_fitting import (
    FEWEST_SYSTEMS_TO_FOLD,
    Repeats,
    leave_systems_out,
    train_and_rate,
)
from surrogate.learning.language_data import FEW_TOURNAMENTS, LanguageData, judged_questions
from surrogate.learning.outcomes import Outcome, resample_outcomes
from surrogate.learning.surrogate import DEFAULT_SURROGATE, find_surrogate
from surrogate_arena.studies.study import Study

SIZES = (3, 4, 5, 6, 8, 9, 12, 16)
QUESTIONS = (5, 20, 0)
"""Judged questions; 0 for all."""
MOST_LEFT_OUT = 12
FACTORS = np.arange(0.5, 10, 0.25)
LEVEL = 0.9


def draws_of(data: LanguageData, draws: int, repeats: int) -> Iterator[dict[str, object]]:
    """Draw judged systems and questions, and yield how well the others are predicted."""
    n_questions = len(data.tournaments.battles.questions)
    for size in SIZES:
        if len(data.systems) <= size:
            continue
        for n_asked in QUESTIONS:
            if n_asked and (data.judgments.empty or n_questions < 1.3 * n_asked):
                continue
            for draw in range(draws):
                rng = np.random.default_rng([size, draw, n_asked])
                try:
                    record = draw_of(data, size, n_asked, rng, Repeats(repeats, draw))
                except UsageError:  # no verdict is left on these questions
                    continue
                yield {"judged": size, "questions": n_asked or "all", **record}


def draw_of(
    data: LanguageData, size: int, n_asked: int, rng: np.random.Generator, repeats: Repeats
) -> dict[str, object]:
    """Learn from a draw of systems and questions, and compare predictions with all verdicts."""
    judged = sorted(rng.choice(data.systems_by_content, size, replace=False))
    left_out = [name for name in data.systems if name not in judged]
    unseen = sorted(rng.choice(left_out, min(len(left_out), MOST_LEFT_OUT), replace=False))
    part = data.without_systems(left_out)
    if n_asked:
        query_ids = list(part.tournaments.battles.questions)
        part = part.judged_on(sorted(rng.choice(query_ids, n_asked, replace=False)))
    outcome = outcome_of(part, repeats)
    interval = unseen_intervals([outcome])[data.language]
    rows = data.rows(unseen, part.tournaments.battles.questions)
    surrogate = find_surrogate(DEFAULT_SURROGATE)
    table, _ = train_and_rate(surrogate, [part], rows, judged_questions([part]))
    table = table.set_index("system").reindex(unseen)
    half_widths = interval.width(table["standard_error"].to_numpy(np.float64))
    origin = data.origin_of(part)
    predictions = table["rating"].to_numpy(np.float64) + origin
    arena_ratings = pd.Series(data.arena_ratings, data.systems)
    agreements = agreements_of(outcome, size, is_untested=interval.is_by_other_arenas)
    return {
        "standing": agreements.standing,
        "has_rank": agreements.ranks_unseen,
        "tau_here": outcome.tau,
        "spread": float(arena_ratings.std()),
        **rating_scores(
            predictions=predictions,
            half_widths=half_widths,
            arena_ratings=arena_ratings[unseen].to_numpy(),
            judged_ratings=part.arena_ratings,
        ),
        **rank_scores(
            lows=predictions - half_widths,
            highs=predictions + half_widths,
            board_ratings=part.arena_ratings + origin,
            n_above=count_above(arena_ratings[judged].to_numpy(), arena_ratings[unseen].to_numpy()),
        ),
    }


def rating_scores(
    *, predictions: Floats, half_widths: Floats, arena_ratings: Floats, judged_ratings: Floats
) -> dict[str, object]:
    """Compare predictions of unseen systems, and their intervals, with ratings by all verdicts."""
    errors = predictions - arena_ratings
    n_judged = len(judged_ratings)
    spread = float(judged_ratings.std(ddof=1))
    quantile = float(stdtrit(n_judged - 1, (1 + LEVEL) / 2))
    return {
        "tau_true": kendall_tau(predictions, arena_ratings) if len(arena_ratings) > 2 else np.nan,
        "rating_held": np.mean(np.abs(errors) <= half_widths),
        "half_width": np.mean(half_widths) / spread if spread > 0 else np.nan,
        "rmse": float(np.sqrt(np.mean(errors**2))),
        "factors": (errors / (quantile * spread)) ** 2 * (n_judged - 1) if spread > 0 else [],
    }


def rank_scores(
    *, lows: Floats, highs: Floats, board_ratings: Floats, n_above: Floats
) -> dict[str, object]:
    """Compare rank intervals of unseen systems with how many judged ones are above them."""
    n_above_low = count_above(board_ratings, lows)
    n_above_high = count_above(board_ratings, highs)
    is_held = (n_above_high <= n_above) & (n_above <= n_above_low)
    return {
        "rank_held": np.mean(is_held),
        "ranks": np.mean((n_above_low - n_above_high + 1) / (len(board_ratings) + 1)),
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
    needed_factors = rows["factors"].to_numpy(np.float64)
    is_held = pd.DataFrame(needed_factors[:, None] <= FACTORS, columns=FACTORS)
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
    rng = np.random.default_rng(5)
    winners = arena.judgments["winner"].to_numpy(object).copy()
    is_replaced = rng.random(len(winners)) < share
    winners[is_replaced] = rng.choice(["a", "b"], int(is_replaced.sum()))
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
    add_judge_option(parser)
    parser.add_argument("--languages", help="comma-separated; by default all")
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--features", type=Path)
    parser.add_argument("--coin-flips", type=float, default=0.0)
    options = parser.parse_args()
    records: list[dict[str, object]] = []
    for folder, judge in judged_folders(options.arenas, options.judge):
        study = study_of(folder, judge, options.features, options.coin_flips)
        for data in study.languages:
            if options.languages and data.language not in options.languages.split(","):
                continue
            name = f"{folder.name}, {judge or 'its judge'}, {data.language}"
            draws = list(draws_of(data, options.draws, options.repeats))
            records += [{"family": folder.name, "arena": name, **record} for record in draws]
            print(f"{name}: {len(draws)} draws", flush=True)
    report(pd.DataFrame(records))


def judged_folders(
    folders: Sequence[Path], chosen: Sequence[str]
) -> Iterator[tuple[Path, str | None]]:
    """Yield arenas without a chosen judge, and then each chosen ``ARENA=JUDGE``."""
    judges = pairs_of_names(chosen)
    names = {name for name, _ in judges}
    for folder in folders:
        if folder.name not in names:
            yield folder, None
    by_name = {folder.name: folder for folder in folders}
    for name, judge in judges:
        yield by_name[name], judge


def study_of(folder: Path, judge: str | None, features: Path | None, coin_flips: float) -> Study:
    arena = read_arena(folder)
    if coin_flips:
        arena = diluted(arena, coin_flips)
    table = None if features is None else pd.read_parquet(features / f"{folder.name}.parquet")
    return Study.of(arena, judge=judge, tournaments=FEW_TOURNAMENTS, feature_table=table)


if __name__ == "__main__":
    main()
