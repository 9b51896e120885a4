"""Do intervals hold the true ratings where verdicts choose what is judged next?

Simulated arenas of known ratings: an answer's strength varies about its system's by question, a
battle is won with the logistic of the difference. Battles are chosen by adaptive pairing, with and
without a prior, or at random. The true ratings are the Bradley-Terry coefficients of infinitely
many questions, all pairs judged. For ratings by the posterior, by a board's process (beside a
surrogate that expects what the prior does, and beside one that expects the same of all), and by
maximum likelihood with a bootstrap over questions: the share of
true ratings inside their 90% and 95% intervals, the slope of the ratings on the truth (1 where
they are not stretched), the root of the mean squared error, and tau with the truth.

Run:  python benchmarks/adaptive_coverage.py [--arenas 20] [--systems 12,30]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from arena.judging.choosing.answer_strengths import attenuation
from arena.judging.choosing.pairing import AdaptivePairing, batch_size
from arena.rating.battles import Battles
from arena.rating.bradley_terry import fit_bradley_terry
from arena.rating.pairs import Pairs
from arena.rating.posterior import RatingPrior, battle_posterior
from arena.rating.ratings import rate
from arena.rating.tournaments import bootstrap_tournaments
from arena.statistics.rank_agreement import kendall_tau
from surrogate.learning.names import find_surrogate
from surrogate.learning.posterior.ratings import posterior_ratings
from surrogate.learning.training import training_ratings

Floats = npt.NDArray[np.float64]

QUESTIONS = 60
ANSWER_VARIANCE = 0.8
BATTLES_A_SYSTEM = 25
PRIOR_ERROR = 0.5
"""Share of the strengths' standard deviation that a prior does not know."""
NODES = 31
NORMAL_90, NORMAL_95 = 1.6448536269514722, 1.959963984540054
DESIGNS = ("random", "adaptive", "adaptive, prior")


@dataclass(frozen=True)
class Truth:
    """A simulated arena.

    Attributes:
        systems: Names of the S systems.
        ratings: True ratings, centered on 0, shape (S,).
        expected: What a prior expects of them, shape (S,).
        prior_error: Its standard error.
        answers: Strengths of answers, shape (Q, S).
        seed: Draws outcomes.
    """

    systems: tuple[str, ...]
    ratings: Floats
    expected: Floats
    prior_error: float
    answers: Floats
    seed: int

    def winner(self, question: str, one: str, other: str) -> str:
        """Judge two answers; the same verdict whenever asked."""
        at, first, second = int(question[1:]), int(one[1:]), int(other[1:])
        low, high = sorted((first, second))
        random = np.random.default_rng([self.seed, at, low, high])
        low_wins = random.logistic() < self.answers[at, low] - self.answers[at, high]
        return "a" if low_wins == (first == low) else "b"


def simulate_truth(systems: int, seed: int, spread: float = 1.0) -> Truth:
    """Draw an arena and its true ratings."""
    random = np.random.default_rng([seed, systems])
    # What is expected comes first, the truth varies about it: so does a surrogate that is right.
    share = np.sqrt(1.0 - PRIOR_ERROR**2)
    expected = spread * share * random.normal(size=systems)
    strength = expected + spread * PRIOR_ERROR * random.normal(size=systems)
    noise = np.sqrt(ANSWER_VARIANCE) * random.normal(size=(QUESTIONS, systems))
    first, second = np.triu_indices(systems, k=1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    apart = (strength[first] - strength[second])[:, None]
    won = expit(apart + np.sqrt(2 * ANSWER_VARIANCE) * nodes) @ (weights / weights.sum())
    pairs = Pairs(first, second, systems)
    ratings = fit_bradley_terry(won, np.ones(len(won)), pairs, 1e-6).coefficients
    names = tuple(f"s{index:02}" for index in range(systems))
    scale = 1.0 / np.sqrt(attenuation(ANSWER_VARIANCE))
    return Truth(
        systems=names,
        ratings=ratings[0] - ratings[0].mean(),
        expected=scale * expected,
        prior_error=float(scale * spread * PRIOR_ERROR),
        answers=strength + noise,
        seed=seed,
    )


def judged(truth: Truth, design: str, battles: int) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Judge so many battles; return the judgments, and the prior if there was one."""
    questions = [f"q{index:03}" for index in range(QUESTIONS)]
    random = np.random.default_rng([truth.seed, 1])
    prior = None
    rows: list[tuple[str, str, str, str]] = []
    if design == "random":
        first, second = np.triu_indices(len(truth.systems), k=1)
        for item in random.permutation(QUESTIONS * len(first))[:battles]:
            at, pair = divmod(int(item), len(first))
            names = truth.systems[first[pair]], truth.systems[second[pair]]
            rows.append((questions[at], *names, truth.winner(questions[at], *names)))
    else:
        if design == "adaptive, prior":
            columns = {"system": truth.systems, "rating": truth.expected}
            prior = pd.DataFrame({**columns, "standard_error": truth.prior_error})
        pairing = AdaptivePairing(truth.systems, questions, seed=truth.seed, prior=prior)
        while len(rows) < battles:
            size = min(batch_size(len(truth.systems), len(rows)), battles - len(rows))
            new = [(*item, truth.winner(*item)) for item in pairing.next_pairs(size)]
            pairing.record(_table(new))
            rows += new
    return _table(rows), prior


def _table(rows: list[tuple[str, str, str, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])


def measures(ratings: Floats, low: Floats, high: Floats, truth: Floats) -> dict[str, float]:
    """Hold ratings and their intervals against the truth."""
    return {
        "inside": float(np.mean((low <= truth) & (truth <= high))),
        "slope": float(np.polyfit(truth, ratings, 1)[0]),
        "error": float(np.sqrt(np.mean((ratings - truth) ** 2))),
        "tau": kendall_tau(ratings, truth),
    }


def of_posterior(
    judgments: pd.DataFrame, prior: pd.DataFrame | None, truth: Truth, normal: float
) -> dict[str, float]:
    """Measure ratings by their posterior, ``normal`` standard errors to either side."""
    known = RatingPrior.of_table(prior, truth.systems, 1.0)
    found = battle_posterior(Battles.from_judgments(judgments, systems=truth.systems), known)
    width = normal * found.standard_errors
    return measures(found.ratings, found.ratings - width, found.ratings + width, truth.ratings)


def of_board(
    judgments: pd.DataFrame, expected: Floats, truth: Truth, normal: float
) -> dict[str, float]:
    """Measure the ratings of a board, of surrogates that expect these ratings of the systems."""
    tournaments = {"en": bootstrap_tournaments(judgments.assign(language="en"), 2)}
    table = pd.DataFrame({"language": "en", "system": truth.systems, "rating": expected})
    other = find_surrogate("random-forest")  # has no posterior of its own
    found = posterior_ratings(other, training_ratings(tournaments), table)["en"]
    true = truth.ratings[[truth.systems.index(name) for name in found.systems]]
    rating = found.ratings - found.ratings.mean()
    width = normal * found.standard_errors
    return measures(rating, rating - width, rating + width, true - true.mean())


def of_likelihood(judgments: pd.DataFrame, truth: Truth) -> dict[str, float]:
    """Measure ratings of maximum likelihood with a bootstrap over questions, of 95% intervals."""
    table = rate(judgments, ridge=0.0, rounds=200).table.set_index("system")
    rated = [
        name in table.index for name in truth.systems
    ]  # a prior may leave some without battles
    known = np.array(truth.systems)[rated]
    numbers = table.loc[known, ["rating", "low", "high"]].to_numpy(np.float64).T
    true = truth.ratings[rated]
    rating, low, high = numbers - numbers[0].mean()
    return measures(rating, low, high, true - true.mean())


def coverage(systems: int, arenas: int, design: str) -> pd.DataFrame:
    """Simulate arenas of one size and design, a row an arena and way of rating."""
    rows: list[dict[str, object]] = []
    for seed in range(arenas):
        truth = simulate_truth(systems, seed)
        judgments, prior = judged(truth, design, BATTLES_A_SYSTEM * systems)
        for name, normal in (("posterior 90%", NORMAL_90), ("posterior 95%", NORMAL_95)):
            rows.append({"ratings": name, **of_posterior(judgments, prior, truth, normal)})
        for name, expected in (
            ("board 90%", truth.expected),
            ("board, nothing expected 90%", np.zeros(systems)),
        ):
            rows.append({"ratings": name, **of_board(judgments, expected, truth, NORMAL_90)})
        rows.append({"ratings": "likelihood 95%", **of_likelihood(judgments, truth)})
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--arenas", type=int, default=20)
    parser.add_argument("--systems", default="12,30")
    arguments = parser.parse_args()
    for systems in map(int, arguments.systems.split(",")):
        for design in DESIGNS:
            found = coverage(systems, arguments.arenas, design).groupby("ratings", sort=False)
            print(f"\n{systems} systems, {design}, {BATTLES_A_SYSTEM * systems} battles")
            print(found.mean().round(3).to_string(), flush=True)


if __name__ == "__main__":
    main()
