"""Adaptive pairing against random sampling: judgments each needs for the same ranking.

For levels of Kendall tau with the ranking of the whole arena: how many judgments a random sample
of all items (a pair of systems on a question) needs, how many adaptive pairing needs, and the
ratio. A random sample is fitted as it is (the sampling of MIRAGE-Bench), and once more completed:
what it lacks is predicted by the model that adaptive pairing uses, so that the second ratio is the
choice's own gain. Curves are means over seeds; the interval of a ratio resamples seeds, each with
all of its curves. A seed draws the samples and, where the arena is synthetic or simulated, the
arena too.

Run:  python benchmarks/sampling.py [--seeds 20] [--arenas trec-rag25] [--shared FOLDER]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from mixed_systems import mix_systems
from sampled_parts import part_taus
from threadpoolctl import threadpool_limits

from arena import read_arena
from arena.judging.choosing.sampling import connected_battles
from arena.rating.battles import Battles
from arena.simulation import simulate

Floats = npt.NDArray[np.float64]
ArenaOfSeed = Callable[[int], Battles]

SHARED = Path(__file__).parents[2] / "shared" / "data" / "arenas"
LEVELS = (0.80, 0.85, 0.90, 0.925, 0.95, 0.965)
SMALL_SHARES = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.15)
SHARES = (*SMALL_SHARES, *(round(0.05 * step, 2) for step in range(4, 17)))
SHOWN = (0.05, 0.1, 0.2, 0.3, 0.5)
RESAMPLES = 2000
INTERVAL = (2.5, 97.5)


def synthetic(systems: int, questions: int, spread: float, question_noise: float) -> ArenaOfSeed:
    """Bradley-Terry arenas; an answer's strength varies about its system's by question."""

    def build(seed: int) -> Battles:
        random = np.random.default_rng([seed, systems, questions])
        strength = spread * random.normal(size=systems)
        answers = strength + question_noise * random.normal(size=(questions, systems))
        first, second = np.triu_indices(systems, k=1)
        better = answers[:, first] - answers[:, second]
        lost = better + random.logistic(size=better.shape) <= 0
        return Battles(
            systems=tuple(f"s{index:02}" for index in range(systems)),
            side_a=np.tile(first, questions),
            side_b=np.tile(second, questions),
            winner=lost.ravel().astype(np.intp),
            question=np.repeat(np.arange(questions), len(first)),
            n_questions=questions,
        )

    return build


def simulated(profiles: int) -> ArenaOfSeed:
    """Arenas of ``arena.simulation`` between neighbours of its default systems, 24 questions."""

    def build(seed: int) -> Battles:
        simulation = simulate(mix_systems(profiles, seed), languages=("en",), seed=seed)
        return connected_battles(simulation.arena.judgments, "en")

    return build


def shared(name: str, language: str, folder: Path) -> ArenaOfSeed:
    """A real arena, the same for every seed."""
    return lambda _: _connected(name, language, folder)


@lru_cache
def _connected(name: str, language: str, folder: Path) -> Battles:
    whole = read_arena(folder / name).judgments
    return connected_battles(whole[whole["language"] == language], language)


@dataclass(frozen=True)
class Curves:
    """Agreement of both designs.

    Attributes:
        items: Number of items of the whole arena.
        random: Tau of random samples, shape (seeds, shares).
        completed: Tau of random samples, the other items predicted, shape (seeds, shares).
        adaptive: Tau of adaptive pairing, shape (seeds, shares).
    """

    items: float
    random: Floats
    completed: Floats
    adaptive: Floats


def draw_curves(arena: ArenaOfSeed, seeds: int, jobs: int) -> Curves:
    drawn = [arena(seed) for seed in range(seeds)]
    items = [len(battles.items) for battles in drawn]
    taus = Parallel(jobs)(delayed(_taus)(battles, seed) for seed, battles in enumerate(drawn))
    random, completed, adaptive = np.array(taus).swapaxes(0, 1)
    return Curves(float(np.mean(items)), random, completed, adaptive)


def _taus(battles: Battles, seed: int) -> list[Floats]:
    designs = ("pairs", "completed", "adaptive")
    with threadpool_limits(1):
        return [part_taus(battles, name, SHARES, seed) for name in designs]


def share_needed(curve: Floats, level: float) -> float:
    """Share at which a mean curve, made monotone, first reaches a level; NaN out of its range."""
    rising = np.maximum.accumulate(curve)
    if level < rising[0] or level > rising[-1]:
        return float("nan")
    at = int(np.argmax(rising >= level))
    if at == 0:
        return SHARES[0]
    part = (level - rising[at - 1]) / (rising[at] - rising[at - 1])
    return float(SHARES[at - 1] + part * (SHARES[at] - SHARES[at - 1]))


def shares_needed(curves: Curves, seeds: npt.NDArray[np.intp], level: float) -> Floats:
    """Shares that random, completed and adaptive need, on the mean over some seeds, shape (3,)."""
    tables = (curves.random, curves.completed, curves.adaptive)
    return np.array([share_needed(table[seeds].mean(axis=0), level) for table in tables])


def report(name: str, curves: Curves, seconds: float) -> None:
    seeds = np.arange(len(curves.random))
    generator = np.random.default_rng(0)
    resamples = [generator.choice(seeds, len(seeds)) for _ in range(RESAMPLES)]
    print(f"\n{name}: {curves.items:,.0f} items, {len(seeds)} seeds, {seconds:.0f} s")
    print("    tau     random  completed   adaptive   /random   95% over seeds   /completed")
    for level in LEVELS:
        random, completed, adaptive = shares_needed(curves, seeds, level)
        if np.isnan(random) or np.isnan(adaptive):
            continue
        drawn = np.array([shares_needed(curves, resample, level) for resample in resamples])
        low, high = np.nanpercentile(drawn[:, 2] / drawn[:, 0], INTERVAL)
        print(
            f"  {level:.3f} {curves.items * random:10,.0f} {curves.items * completed:10,.0f} "
            f"{curves.items * adaptive:10,.0f} {adaptive / random:9.2f}   [{low:.2f}, {high:.2f}]"
            f" {adaptive / completed:14.2f}"
        )
    chosen = [SHARES.index(share) for share in SHOWN]
    print("  tau at the share  " + "".join(f"{SHARES[at]:8.2f}" for at in chosen))
    for label in ("random", "completed", "adaptive"):
        table = getattr(curves, label)
        print(f"  {label:18}" + "".join(f"{table[:, at].mean():8.3f}" for at in chosen))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--arenas", help="comma-separated names; by default all")
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder of real arenas")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arenas = {
        "trec-rag25": shared("trec-rag25", "en", arguments.shared),
        "nomiracl-sw": shared("nomiracl", "sw", arguments.shared),
        "simulated-30": simulated(30),
        "synthetic-30x60": synthetic(30, 60, spread=1.0, question_noise=0.0),
        "synthetic-20x100-questions": synthetic(20, 100, spread=1.0, question_noise=1.0),
        "synthetic-50x50-questions": synthetic(50, 50, spread=1.0, question_noise=1.0),
    }
    chosen = arguments.arenas.split(",") if arguments.arenas else list(arenas)
    for name in chosen:
        start = time.perf_counter()
        curves = draw_curves(arenas[name], arguments.seeds, arguments.jobs)
        report(name, curves, time.perf_counter() - start)


if __name__ == "__main__":
    main()
