"""Panels of judges: how well few questions rank, by majority, all votes and means.

    python benchmarks/panels.py ARENA TRUTH JUDGES [--languages ko,en] [--draws 60] [--both-orders]
        [--size 3] [--guessing JUDGE]

ARENA is a folder, TRUTH a judge (or ``people``), JUDGES a comma-separated list. A few questions
rank the systems, and Kendall's tau compares with the ranking by TRUTH on the other half of the
questions. All judges are asked about all pairs, in one order drawn per pair or in both. With
``--size``, all panels of so many of the judges are compared instead of one panel of all.
``--guessing`` replaces a judge's verdicts by coins.

- majority: the verdict with most votes, else a tie; rated as one judge;
- each verdict: all verdicts rated as if one judge had made them;
- mean: the mean of the ratings by each judge alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from arena import read_arena
from arena.data.arena import Arena
from arena.data.names import judges_named
from arena.data.types import Floats
from arena.judging import panel_verdicts
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.rating.battles import Battles
from arena.rating.likelihood import BattleLikelihood
from arena.rating.penalized_likelihood import DEFAULT_RIDGE, NormalPrior
from arena.statistics.agreement import kendall_tau

SIZES = (2, 4, 8, 16)
METHODS = ("majority", "each verdict", "mean")
PAIR = ["query_id", "first", "second"]


def rated(judgments: pd.DataFrame, systems: Sequence[str]) -> Floats:
    """Rate systems with the usual weak prior; all are 0 without a battle."""
    battles = Battles.from_judgments(judgments, systems=systems)
    if not len(battles):
        return np.zeros(len(systems))
    mode = BattleLikelihood(battles.items).mode(NormalPrior.ridge(len(systems), DEFAULT_RIDGE))
    return np.asarray(mode)


def tau_of(ratings: Floats, truth: Floats) -> float:
    return float(np.nan_to_num(kendall_tau(np.round(ratings, 8), truth)))


def with_pairs(judgments: pd.DataFrame) -> pd.DataFrame:
    first = judgments[["system_a", "system_b"]].min(axis=1)
    second = judgments[["system_a", "system_b"]].max(axis=1)
    return judgments.assign(first=first, second=second)


def one_order(judgments: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Keep one order of each pair, the same for all judges where they were asked in it."""
    pairs = judgments[PAIR].drop_duplicates().sort_values(PAIR)
    pairs = pairs.assign(draws_first_on_a=rng.random(len(pairs)) < 0.5)
    drawn = judgments[PAIR].merge(pairs, on=PAIR, how="left")["draws_first_on_a"].to_numpy()
    is_first_on_a = (judgments["first"] == judgments["system_a"]).to_numpy()
    is_other_order = is_first_on_a != drawn
    ordered = judgments.assign(rank=is_other_order).sort_values("rank", kind="stable")
    return ordered.drop_duplicates([*PAIR, "judge"]).sort_index()


def guessed(judgments: pd.DataFrame, judge: str | None, rng: np.random.Generator) -> pd.DataFrame:
    coins = rng.choice(["a", "b"], len(judgments))
    return judgments.assign(winner=judgments["winner"].where(judgments["judge"] != judge, coins))


def compared(
    judgments: pd.DataFrame,
    query_ids: Sequence[str],
    judges: Sequence[str],
    systems: Sequence[str],
    truth: Floats,
) -> dict[str, float]:
    """Return the tau of each method, and of each judge alone, from some questions."""
    rows = judgments[judgments["query_id"].isin(list(query_ids))]
    alone = {judge: rated(part, systems) for judge, part in rows.groupby("judge")}
    # Shares of votes are left out, as ratings leave them out: the majority counts.
    panel = panel_verdicts(rows, judges).judgments[[*PAIR_COLUMNS, "winner"]]
    ratings = {
        "majority": rated(panel, systems),
        "each verdict": rated(rows, systems),
        "mean": np.mean(list(alone.values()), axis=0),
    }
    taus = {name: tau_of(values, truth) for name, values in ratings.items()}
    for judge, values in alone.items():
        taus[f"tau of {judge}"] = tau_of(values, truth)
    return taus


def replay(
    arena: Arena,
    language: str,
    truth: str,
    judges: Sequence[str],
    options: argparse.Namespace,
) -> pd.DataFrame:
    """Return tau by draw and number of questions."""
    judgments = arena.judgments
    judgments = with_pairs(judgments[judgments["language"] == language])
    true_judges = judges_named(arena.judges, truth)
    judgments, systems = on_shared_systems(judgments, [*judges, *true_judges])
    by_truth = judgments[judgments["judge"].isin(true_judges)].assign(judge="truth")
    by_panel = judgments[judgments["judge"].isin(judges)].reset_index(drop=True)
    query_ids = np.array(sorted({*by_truth["query_id"], *by_panel["query_id"]}))
    rows = []
    for draw in range(options.draws):
        rng = np.random.default_rng([0, draw])
        order = rng.permutation(query_ids)
        other_half = order[len(order) // 2 :]
        true_ratings = rated(by_truth[by_truth["query_id"].isin(other_half)], systems)
        drawn = guessed(by_panel, options.guessing, rng)
        if not options.both_orders:
            drawn = one_order(drawn, rng)
        for n_questions in SIZES:
            taus = compared(drawn, order[:n_questions].tolist(), judges, systems, true_ratings)
            rows.append({"draw": draw, "questions": n_questions, **taus})
    return pd.DataFrame(rows)


def on_shared_systems(
    judgments: pd.DataFrame, judges: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Keep verdicts on the systems that all of some judges judged; return these systems, too."""
    judged_systems = []
    for _, of_judge in judgments[judgments["judge"].isin(judges)].groupby("judge"):
        judged_systems.append({*of_judge["first"], *of_judge["second"]})
    systems = sorted(set.intersection(*judged_systems))
    is_shared = judgments["first"].isin(systems) & judgments["second"].isin(systems)
    return judgments[is_shared], systems


def report(taus: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each method: tau by number of questions, and its gain over majority."""
    means = taus.groupby("questions").mean(numeric_only=True)
    for name in METHODS:
        values = "".join(f"{value:8.3f}" for value in means[name])
        gains = ""
        if name != "majority":
            gain = taus.assign(gain=taus[name] - taus["majority"])
            # Panels of one draw share its questions.
            by_draw = gain.groupby(["questions", "draw"])["gain"].mean()
            for _, part in by_draw.groupby("questions"):
                gains += f"  {part.mean():+.3f} ({part.sem():.3f})"
            overall = by_draw.groupby("draw").mean()
            gains += f"   all sizes {overall.mean():+.3f} ({overall.sem():.3f})"
        yield f"  {name:15}{values} {gains}"
    for name in means:
        if " of " in str(name):
            yield f"    {name:45}" + "".join(f"{value:8.3f}" for value in means[name])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("arena", type=Path)
    parser.add_argument("truth")
    parser.add_argument("judges")
    parser.add_argument("--languages", help="comma-separated; by default all")
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--size", type=int, help="judges of a panel; by default all")
    parser.add_argument("--guessing", help="judge that tosses coins")
    parser.add_argument("--both-orders", action="store_true")
    options = parser.parse_args(arguments)
    arena = read_arena(options.arena)
    judges = options.judges.split(",")
    languages = options.languages.split(",") if options.languages else arena.info.languages
    for language in languages:
        panels = list(combinations(judges, options.size or len(judges)))
        parts = [replay(arena, language, options.truth, panel, options) for panel in panels]
        taus = pd.concat(parts, ignore_index=True)
        orders = "both orders" if options.both_orders else "one order"
        print(
            f"{options.arena.name} {language}, truth {options.truth}: {len(panels)} panels of "
            f"{len(panels[0])}, {orders}, questions {', '.join(map(str, SIZES))}"
        )
        print(*report(taus), sep="\n", flush=True)


if __name__ == "__main__":
    main()
