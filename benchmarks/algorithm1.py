"""Algorithm 1 of MIRAGE-Bench: a loop over choix and scikit-learn against this project.

    python benchmarks/algorithm1.py [--tournaments 200] [--arenas 4]

In each arena 19 systems, 100 questions, all pairs judged once a question, features that tell the
systems' strength with noise. Each tournament draws the questions with replacement, fits
Bradley-Terry, trains a forest of 100 trees on the mean features of 17 systems in that tournament
and scores R² on its coefficients of the other two. Settings are equal: one process, one thread,
plain maximum likelihood (no prior), every feature at every split, leaves of one row.

That both find the same R² is checked twice. First on the timed runs, in which each side draws
tournaments and forests of its own, by a two-sample Kolmogorov-Smirnov test. Then, not timed, the
loop runs again on the very tournaments of this project, and R² is compared tournament by
tournament (Wilcoxon signed-rank). R² lies elsewhere in each arena, so arenas are tested apart and
their p-values combined (Fisher). Two hundred tournaments of one arena are no verdict: their median
R² varies by some 0.04 from seed to seed, on either side.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from dataclasses import dataclass

import choix
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import combine_pvalues, ks_2samp, mannwhitneyu, wilcoxon
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from threadpoolctl import threadpool_limits
from tournaments import QUESTIONS, SYSTEMS, simulated_judgments

from arena.rating.tournaments import Tournaments, bootstrap_tournaments
from surrogate.board.study import fit_tournament
from surrogate.learning.languages import LanguageData, TournamentSettings
from surrogate.learning.names import find_surrogate
from surrogate.learning.surrogate import TREES

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

FEATURES = 11
HELD_OUT = (4, 13)
LEVEL = 0.01
"""Below this p-value the two sides are said to disagree."""


@dataclass(frozen=True)
class Loop:
    """What the reference found.

    Attributes:
        r2: Holdout R², shape (T,).
        coefficients: Bradley-Terry coefficients, centered on 0, shape (T, S).
        fitting: Seconds in choix.
    """

    r2: Floats
    coefficients: Floats
    fitting: float


@dataclass(frozen=True)
class Comparison:
    """Both sides in one arena.

    Attributes:
        theirs: R² of the loop on its own tournaments, shape (T,).
        ours: R² of this project, shape (T,).
        paired: R² of the loop on the tournaments of this project, shape (T,).
        shift: Largest difference of coefficients on the same tournaments.
        seconds: Of the loop, of choix in it, and of this project.
    """

    theirs: Floats
    ours: Floats
    paired: Floats
    shift: float
    seconds: Floats


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tournaments", type=int, default=200)
    parser.add_argument("--arenas", type=int, default=4)
    options = parser.parse_args()
    with threadpool_limits(1):
        found = [compare(arena, options.tournaments) for arena in range(options.arenas)]
    report_seconds(found)
    report_samples(found)
    report_pairs(found)


def compare(arena: int, tournaments: int) -> Comparison:
    """Run both sides in one arena, then the loop again on this project's tournaments."""
    judgments = simulated_judgments(seed=arena)
    random = [np.random.default_rng(seed) for seed in np.random.SeedSequence(arena + 1).spawn(4)]
    features = simulated_features(judgments, random[0])
    own = random[1].integers(QUESTIONS, size=(tournaments, QUESTIONS))
    started = time.perf_counter()
    loop = reference(judgments, features, own, random[2])
    between = time.perf_counter()
    held, ours = project(judgments, features, tournaments, seed=arena)
    ended = time.perf_counter()
    same = (np.repeat(np.arange(QUESTIONS), times) for times in held.draws)
    again = reference(judgments, features, same, random[3])
    shift = float(np.abs(again.coefficients - held.coefficients).max())
    seconds = np.array([between - started, loop.fitting, ended - between])
    return Comparison(loop.r2, ours, again.r2, shift, seconds)


def simulated_features(judgments: pd.DataFrame, random: np.random.Generator) -> Floats:
    """Features of each system's answers, shape (S, Q, F): points won, more or less noisy."""
    systems = sorted({*judgments["system_a"], *judgments["system_b"]})
    won = judgments["winner"] == "a"
    winners = judgments["system_a"].where(won, judgments["system_b"])
    shares = winners.value_counts(normalize=True).reindex(systems, fill_value=0.0)
    quality = shares.to_numpy(np.float64)
    noise = np.linspace(0.2, 3.0, FEATURES)
    draws = random.normal(size=(SYSTEMS, QUESTIONS, FEATURES))
    own = random.normal(size=(SYSTEMS, 1, FEATURES))
    scaled = (quality - quality.mean()) / quality.std()
    return np.asarray(scaled[:, None, None] + noise * (0.5 * own + draws))


def reference(
    judgments: pd.DataFrame,
    features: Floats,
    tournaments: Iterable[Integers],
    forests: np.random.Generator,
) -> Loop:
    """Run the loop as it is written down.

    Args:
        judgments: Every judgment of the arena.
        features: Shape (S, Q, F).
        tournaments: The questions of each tournament, with repetitions, shape (Q,).
        forests: Seeds the forests.
    """
    pairs = pairs_by_question(judgments)
    kept = [index for index in range(SYSTEMS) if index not in HELD_OUT]
    held = list(HELD_OUT)
    scores, fitted, fitting = [], [], 0.0
    for drawn in tournaments:
        comparisons = [pair for question in drawn for pair in pairs[question]]
        started = time.perf_counter()
        coefficients = choix.ilsr_pairwise(SYSTEMS, comparisons)
        fitting += time.perf_counter() - started
        rows = features[:, drawn].mean(axis=1)
        forest = RandomForestRegressor(TREES, random_state=int(forests.integers(2**32)))
        forest.fit(rows[kept], coefficients[kept])
        scores.append(r2_score(coefficients[held], forest.predict(rows[held])))
        fitted.append(coefficients - coefficients.mean())
    return Loop(np.array(scores), np.array(fitted), fitting)


def pairs_by_question(judgments: pd.DataFrame) -> list[list[tuple[int, int]]]:
    """List the (winner, loser) of each question's battles."""
    names = sorted({*judgments["system_a"], *judgments["system_b"]})
    place = {name: index for index, name in enumerate(names)}
    pairs: list[list[tuple[int, int]]] = [[] for _ in range(QUESTIONS)]
    columns = (judgments[name] for name in ("query_id", "system_a", "system_b", "winner"))
    for question, one, other, winner in zip(*columns, strict=True):
        pair = (place[one], place[other])
        pairs[int(question[1:])].append(pair if winner == "a" else pair[::-1])
    return pairs


def project(
    judgments: pd.DataFrame, features: Floats, tournaments: int, seed: int
) -> tuple[Tournaments, Floats]:
    """Do the same with this project, from the table of judgments; return R² too, shape (T,)."""
    held = bootstrap_tournaments(judgments, tournaments, QUESTIONS, ridge=0.0, seed=seed)
    names = [f"f{index}" for index in range(FEATURES)]
    keys = pd.MultiIndex.from_product([["en"], held.systems, held.battles.questions])
    X = pd.DataFrame(features.reshape(-1, FEATURES), keys, names)
    X = X.reset_index(names=["language", "system", "query_id"])
    settings = TournamentSettings(tournaments, QUESTIONS, ridge=0.0, seed=seed)
    data = LanguageData("en", judgments, X, held.battles.questions, held, settings)
    out = [held.systems[index] for index in HELD_OUT]
    forest = find_surrogate("random-forest")
    fits = [
        fit_tournament([data], forest, out, index, index, trees=TREES)
        for index in range(tournaments)
    ]
    return held, np.array([fit.holdout_r2 for [fit] in fits])


def report_seconds(found: list[Comparison]) -> None:
    loop, fitting, project = np.median([arena.seconds for arena in found], axis=0)
    ratios = [arena.seconds[0] / arena.seconds[2] for arena in found]
    print("median seconds of an arena, one process, one thread")
    print(f"  loop over choix and scikit-learn {loop:7.1f} s   1 x  ({fitting:.1f} s of it choix)")
    print(
        f"  this project                     {project:7.1f} s   {np.median(ratios):.1f} x faster "
        f"({min(ratios):.1f} to {max(ratios):.1f})"
    )


def report_samples(found: list[Comparison]) -> None:
    """Report the two-sample check: each side drew tournaments and forests of its own."""
    print("holdout R², tournaments of their own: median (quartiles) of the loop, of this project")
    p_values = []
    for number, arena in enumerate(found):
        test = ks_2samp(arena.theirs, arena.ours)
        wins = mannwhitneyu(arena.ours, arena.theirs).statistic
        p_values.append(float(test.pvalue))
        print(
            f"  arena {number}: {quartiles(arena.theirs)}, {quartiles(arena.ours)}; "
            f"D {test.statistic:.3f}, p {test.pvalue:.3f}; "
            f"P(ours higher) {wins / arena.ours.size / arena.theirs.size:.3f}"
        )
    print(f"  Kolmogorov-Smirnov, all arenas: {verdict(p_values)}")


def report_pairs(found: list[Comparison]) -> None:
    """Report the paired check: the loop ran on this project's tournaments."""
    print("holdout R² on the same tournaments, this project less the loop: median (quartiles)")
    p_values = []
    for number, arena in enumerate(found):
        difference = arena.ours - arena.paired
        p_values.append(float(wilcoxon(difference).pvalue))
        print(
            f"  arena {number}: {quartiles(difference)}; p {p_values[-1]:.3f}; "
            f"ours higher in {np.mean(difference > 0):.1%}; "
            f"coefficients differ by at most {arena.shift:.0e}"
        )
    print(f"  Wilcoxon, all arenas: {verdict(p_values)}")


def quartiles(sample: Floats) -> str:
    low, median, high = np.percentile(sample, [25, 50, 75])
    return f"{median:.3f} ({low:.3f} to {high:.3f})"


def verdict(p_values: list[float]) -> str:
    combined = float(combine_pvalues(p_values).pvalue)
    return f"p {combined:.3f}, {'agree' if combined > LEVEL else 'DISAGREE'}"


if __name__ == "__main__":
    main()
