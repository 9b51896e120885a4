"""Extend a board by three newer systems: rank them, judge a few of their answers, combine both.

    python examples/extend_board.py [--judged 10] [--out out/extended]

Runs on the sample arena, offline, in half a minute. A board of eight systems is built from the
judgments among them. Three systems come later: the board's surrogate ranks them by their answers
alone. Then a few questions, drawn at random, are judged (here by NoMIRACL's human labels; on data
of your own by ``surrogate-arena judge``), and the systems are rated by answers and verdicts
together, as those on the board are. For comparison it prints their share of points over all
judgments, which nobody would have paid for.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from arena import Arena, sample_arena
from surrogate import Board, build_board
from surrogate.ranking.rank import rank_systems

LANGUAGE = "en"
NEWER = ("Mixtral-8x7B-Instruct-v0.1", "Orca-2-7b", "aya-101")


def main() -> None:
    """Build, rank, judge a little, combine."""
    options = read_options()
    whole = sample_arena("nomiracl").select(languages=[LANGUAGE])
    board_of_eight = build_board(without(whole, NEWER), holdout=(), tournaments=40)
    board_of_eight.save(options.out)
    board = Board.load(options.out)

    answers = whole.answers[whole.answers["system"].isin(NEWER)].reset_index(drop=True)
    placed = rank_systems(board, answers, without(whole, NEWER))
    show("Placed by their answers alone", placed.new[["system", "place", "rating"]])

    drawn = np.random.default_rng(0).permutation(sorted(whole.queries["query_id"]))
    against_board = whole.judgments["system_a"].isin(NEWER) ^ whole.judgments["system_b"].isin(
        NEWER
    )
    matchups = whole.judgments[against_board].reset_index(drop=True)
    few = matchups[matchups["query_id"].isin(drawn[: options.judged])]
    both = rank_systems(board, answers, without(whole, NEWER), judgments=few)
    columns = ["system", "rank", "rating", "low", "high", "verdict_share", "surrogate_rating"]
    show(f"Rated by their answers and {len(few)} verdicts", both.new[columns])
    truth = points_won(matchups).rename("points of all judgments").sort_values(ascending=False)
    show(f"By all {len(matchups)} judgments", truth.rename_axis("system").reset_index())


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judged", type=int, default=10, help="Questions to judge.")
    parser.add_argument("--out", type=Path, default=Path("out/extended"), help="Board folder.")
    return parser.parse_args()


def without(arena: Arena, systems: tuple[str, ...]) -> Arena:
    """Return the arena as it was before these systems came."""
    judgments, answers = arena.judgments, arena.answers
    met = judgments["system_a"].isin(systems) | judgments["system_b"].isin(systems)
    kept = tuple(name for name in arena.info.systems if name not in systems)
    return replace(
        arena,
        info=arena.info.model_copy(update={"systems": kept}),
        answers=answers[~answers["system"].isin(systems)].reset_index(drop=True),
        judgments=judgments[~met].reset_index(drop=True),
    )


def points_won(matchups: pd.DataFrame) -> pd.Series:
    """Return the share of points of each newer system over all its matchups."""
    points = matchups["winner"].map({"a": 1.0, "b": 0.0, "tie": 0.5})
    is_a = matchups["system_a"].isin(NEWER)
    system = matchups["system_a"].where(is_a, matchups["system_b"])
    return points.where(is_a, 1 - points).groupby(system).mean()


def show(title: str, table: pd.DataFrame) -> None:
    """Print a table."""
    print(f"\n{title}\n{table.round(2).to_string(index=False)}")


if __name__ == "__main__":
    main()
