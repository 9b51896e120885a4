"""How often intervals of ratings hold, and bounds of ranks are wrong, by the design of the battles.

Beside ours the intervals of arena-rank (sandwich) and evalica (bootstrap over battles), where these
are installed, on the same battles, of fewer arenas. Ratings are compared after centering; an
interval that holds less often than it says is too narrow. At separation (a system or a group won
all) it may be wider.

    pip install arena-rank evalica; python benchmarks/coverage_by_design.py
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from arena.data.types import Floats, Indices
from arena.rating.ratings import rate

SHAPES = ("round robin", "star", "chain")
N_SYSTEMS = (4, 8, 20)
TIES = (0.0, 0.3, 0.8)
SPREADS = (0.3, 1.0, 3.0)
Bounds = tuple[Floats, Floats]


@dataclass(frozen=True)
class Design:
    """How battles are drawn.

    Attributes:
        n_systems: Number of systems.
        shape: Which of them meet.
        ties: Share of ties among equal systems.
        spread: Standard deviation of their ratings, in logits.
        questions: Whether each battle is on a question of its own, ten are on one, where every pair
            is judged twice with one outcome, or all are on one.
        has_sides: Whether sides were shown, and side A has an advantage of .3 logits.
        winner: Whether a system is far above the others, and nearly surely wins all.
    """

    n_systems: int = 8
    shape: str = "round robin"
    ties: float = 0.0
    spread: float = 1.0
    questions: str = "question each"
    has_sides: bool = True
    winner: bool = False

    def __str__(self) -> str:
        words = [f"{self.n_systems} systems", self.shape, f"{self.ties:.0%} ties"]
        words += [f"spread {self.spread:g}", self.questions]
        words.append("sides shown" if self.has_sides else "no sides")
        return ", ".join([*words, "one wins all"] if self.winner else words)


def designs() -> Iterator[Design]:
    """The plain design, and each setting changed alone; then pairs that are hard together."""
    yield Design(2)
    for n_systems in N_SYSTEMS:
        for shape in SHAPES:
            yield Design(n_systems, shape)
    for ties in TIES[1:]:
        yield Design(ties=ties)
        yield Design(shape="star", ties=ties)
    for spread in (SPREADS[0], SPREADS[2]):
        for shape in SHAPES:
            yield Design(shape=shape, spread=spread)
    yield Design(4, "chain", spread=SPREADS[2])
    yield Design(has_sides=False)
    yield Design(4, "chain", has_sides=False)
    for questions in ("ten a question", "one question"):
        yield Design(questions=questions)
        yield Design(4, questions=questions)
    for shape in ("round robin", "star"):
        yield Design(shape=shape, winner=True)
        yield Design(shape=shape, winner=True, has_sides=False)


def pairs_of(design: Design) -> tuple[Indices, Indices]:
    if design.shape == "round robin":
        return np.triu_indices(design.n_systems, 1)
    others = np.arange(1, design.n_systems)
    if design.shape == "star":
        return np.zeros_like(others), others
    return others - 1, others


def drawn(design: Design, seed: int, per_system: int = 60) -> tuple[pd.DataFrame, Floats]:
    """Draw battles; return them and the true ratings, centered."""
    rng = np.random.default_rng(seed)
    ratings = rng.normal(0.0, design.spread, design.n_systems)
    if design.winner:
        ratings[0] = ratings.max() + 6.0
    first, second = pairs_of(design)
    n_battles = per_system * design.n_systems // 2
    number = np.arange(n_battles)
    # Pairs that are judged twice have one outcome, but for the side.
    draw_of = number // 2 if design.questions == "ten a question" else number
    pair = rng.permutation(number % len(first))[draw_of]
    is_turned = rng.random(n_battles) < 0.5
    first, second = first[pair], second[pair]
    side = np.where(is_turned, -0.3, 0.3) if design.has_sides else 0.0
    per_question = {"question each": 1, "ten a question": 10, "one question": n_battles}
    question = number // per_question[design.questions]
    probability = expit(ratings[first] - ratings[second] + side)
    # Close battles tie more often; the expected points stay those of the model.
    tie = design.ties * 2 * np.minimum(probability, 1 - probability)
    draw = rng.random(n_battles)[draw_of]
    is_won = (draw < probability) != is_turned
    winner = np.where(np.abs(draw - probability) < tie / 2, "tie", np.where(is_won, "a", "b"))
    names = np.array([f"s{index:02}" for index in range(design.n_systems)])
    table = pd.DataFrame({"query_id": [f"q{index}" for index in question]})
    table["system_a"] = names[np.where(is_turned, second, first)]
    table["system_b"] = names[np.where(is_turned, first, second)]
    table["winner"] = winner
    table["sides"] = "shown" if design.has_sides else "none"
    return table, ratings - ratings.mean()


def our_bounds(table: pd.DataFrame) -> tuple[Bounds, pd.DataFrame]:
    rated = rate(table).table.set_index("system").sort_index()
    return (rated["low"].to_numpy(float), rated["high"].to_numpy(float)), rated


def arena_rank_bounds(table: pd.DataFrame) -> Bounds:
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    frame = table.rename(columns={"system_a": "model_a", "system_b": "model_b"})
    # It reads any other word as a tie.
    frame["winner"] = frame["winner"].replace({"a": "model_a", "b": "model_b"})
    data = PairDataset.from_pandas(frame)
    found = BradleyTerry(n_competitors=len(data.competitors)).compute_ratings_and_cis(data)
    order = np.argsort(data.competitors)
    scale = np.log(10) / 400
    center = np.mean(found["ratings"])
    low = (np.asarray(found["rating_lower"]) - center) * scale
    high = (np.asarray(found["rating_upper"]) - center) * scale
    return low[order], high[order]


def evalica_bounds(table: pd.DataFrame, rounds: int = 200) -> Bounds:
    import evalica

    outcomes = {"a": evalica.Winner.X, "b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    rng = np.random.default_rng(0)
    names = sorted({*table["system_a"], *table["system_b"]})
    samples = []
    for _ in range(rounds):
        sample = table.iloc[rng.integers(0, len(table), len(table))]
        winners = sample["winner"].map(outcomes)
        found = evalica.bradley_terry(sample["system_a"], sample["system_b"], winners)
        scores = np.log(np.clip(found.scores.reindex(names), 1e-9, None))
        samples.append(scores - scores.mean())
    low, high = np.nanpercentile(samples, [2.5, 97.5], axis=0)
    return low, high


OTHERS: Mapping[str, Callable[[pd.DataFrame], Bounds]] = {
    "arena-rank": arena_rank_bounds,
    "evalica": evalica_bounds,
}


def installed() -> list[str]:
    from importlib.util import find_spec

    return [name for name in OTHERS if find_spec(name.replace("-", "_"))]


def errs(rated: pd.DataFrame, truth: Floats) -> bool:
    """Tell whether the bounds of ranks exclude a true rank."""
    rank = 1 + (truth[None, :] > truth[:, None]).sum(axis=1)
    is_low = rated["rank_low"].to_numpy(float) > rank
    is_high = rated["rank_high"].to_numpy(float) < rank
    return bool((is_low | is_high).any())


def is_separated(rated: pd.DataFrame) -> bool:
    return bool(rated["note"].ne("").any())


def measured(
    design: Design, n_arenas: int, others: list[str], n_by_others: int
) -> dict[str, object]:
    held: dict[str, list[float]] = {name: [] for name in ("ours", *others)}
    wrong, separated = [], []
    for seed in range(n_arenas):
        table, truth = drawn(design, seed)
        bounds, rated = our_bounds(table)
        if rated["group"].nunique() > 1 or len(rated) < design.n_systems:
            continue
        wrong.append(errs(rated, truth))
        separated.append(is_separated(rated))
        held["ours"].append(float(np.mean((bounds[0] <= truth) & (truth <= bounds[1]))))
        for name in others if seed < n_by_others else ():
            try:
                low, high = OTHERS[name](table)
            except (ArithmeticError, ValueError):
                continue
            held[name].append(float(np.mean((low <= truth) & (truth <= high))))
    row: dict[str, object] = {"design": str(design)}
    row |= {name: np.mean(values) if values else np.nan for name, values in held.items()}
    row["ranks wrong"] = np.mean(wrong)
    row["separated"] = np.mean(separated)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arenas", type=int, default=150)
    parser.add_argument(
        "--by-others", type=int, default=4, help="Arenas that the other libraries rate, too."
    )
    options = parser.parse_args()
    others = installed() if options.by_others else []
    print("| design | " + " | ".join(["ours", *others, "ranks wrong", "separated"]) + " |")
    print("|---" * (4 + len(others)) + "|")
    for design in designs():
        row = measured(design, options.arenas, others, options.by_others)
        cells = [str(row.pop("design")), *(f"{value:.2f}" for value in row.values())]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
