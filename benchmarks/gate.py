"""How often is a gate wrong, how often does it find a difference, and after how many verdicts?

Five parts. Verdicts: scores of questions (both orders: 0, 0.25, 0.5, 0.75 or 1) of a given mean
and variance, as many as find 5 points; printed are the shares of sequences that end as better,
same, worse and undecided, their mean number of questions, and what a test of fixed size takes.
Arena: single verdicts, looked at after every fifth of a thousand; printed are the shares of
sequences that are ever called better or worse, and the median number of verdicts then. Refusals: as
the first part, but a judge gives no verdict on most questions that the candidate loses; printed are
the shares by the test with bounds, and wrong statements without them. Length: a judge that takes
the longer answer, which people prefer by chance (then it must not decide), or more often; printed
is how often it may decide. Surrogate:
every judged system of a board, rated by a surrogate that had not seen it, as a candidate against
every other as a baseline; printed are the statements, and how many of them have the arena's own
ratings, noise and all, against them.

Run:  python benchmarks/gate.py [--sequences 2000] [BOARD ...]
"""

from __future__ import annotations

import argparse
import math
from functools import partial
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import fsolve
from scipy.special import softmax
from scipy.stats import norm

from arena.data.types import Floats
from arena.quality.people_agreement import agreement_with_people
from surrogate.board.tables import RATINGS, read_board_table
from surrogate_arena.gating.comparison import bounded_difference
from surrogate_arena.gating.rating_difference import GateRates, rating_difference
from surrogate_arena.gating.sequential_test import EVEN, SequentialTest

SCORES: Floats = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
VARIANCES = (0.06, 0.12, 0.2)
DIFFERENCES = (0.0, 0.05, 0.1, 0.2)
PLANNED = 0.05


def score_probabilities(mean: float, variance: float) -> Floats:
    """Return the probability of each score, by the distribution of maximum entropy."""

    def probabilities_of(tilt: Floats) -> Floats:
        distances = SCORES - EVEN
        return np.asarray(softmax(tilt[0] * distances + tilt[1] * distances**2))

    def moment_errors(tilt: Floats) -> list[float]:
        probabilities = probabilities_of(tilt)
        first = float(probabilities @ SCORES)
        second = float(probabilities @ SCORES**2)
        return [first - mean, second - first**2 - variance]

    return probabilities_of(fsolve(moment_errors, np.zeros(2)))


def first_decision(scores: Floats, test: SequentialTest) -> tuple[str, int]:
    """Return the first decision of a test, and after how many scores it falls."""
    looks = test.looks(len(scores))
    for look in looks:
        decision = test.decide(scores[:look], is_last=look == looks[-1])
        if decision is not None:
            return decision, look
    return "undecided", len(scores)


def simulated(n_sequences: int, test: SequentialTest) -> pd.DataFrame:
    """Simulate tests of several differences and variances, planned for the same difference."""
    rng = np.random.default_rng(0)
    quantiles = float(norm.ppf(1 - test.error / 2) + norm.ppf(0.8))
    rows = []
    for variance, difference in product(VARIANCES, DIFFERENCES):
        n_planned = test.scores_needed(PLANNED, variance)
        probabilities = score_probabilities(EVEN + difference, variance)
        sequences = rng.choice(SCORES, size=(n_sequences, n_planned), p=probabilities)
        decisions = []
        n_used = []
        for scores in sequences:
            decision, n_scores = first_decision(scores, test)
            decisions.append(decision)
            n_used.append(n_scores)
        row = {"variance": variance, "difference": difference, "at most": n_planned}
        for decision in ("better", "same", "worse", "undecided"):
            row[decision] = decisions.count(decision) / n_sequences
        row["mean questions"] = float(np.mean(n_used))
        row["fixed size"] = math.ceil(quantiles**2 * variance / PLANNED**2)
        rows.append(row)
    return pd.DataFrame(rows)


def watched(n_sequences: int, test: SequentialTest) -> pd.DataFrame:
    """Simulate verdicts of an arena, looked at as they come until they tell a difference."""
    rng = np.random.default_rng(0)
    n_most = 1000
    rows = []
    for difference, tied in product(DIFFERENCES, (0.0, 0.33, 0.9)):
        lost = (1 - tied) / 2 - difference
        if lost < 0:
            continue
        shares = [lost, tied, lost + 2 * difference]
        decisions = []
        n_used = []
        for scores in rng.choice([0.0, 0.5, 1.0], size=(n_sequences, n_most), p=shares):
            for size in range(5, n_most + 1, 5):
                decision = test.decide_anytime(scores[:size])
                if decision in ("better", "worse"):
                    decisions.append(decision)
                    n_used.append(size)
                    break
        row = {"difference": difference, "ties": tied}
        row["better"] = decisions.count("better") / n_sequences
        row["worse"] = decisions.count("worse") / n_sequences
        row["median verdicts"] = float(np.median(n_used)) if n_used else math.nan
        rows.append(row)
    return pd.DataFrame(rows)


def refused(n_sequences: int, test: SequentialTest) -> pd.DataFrame:
    """Simulate a judge that refuses, most of all where the candidate loses."""
    rng = np.random.default_rng(0)
    variance = 0.12
    n_planned = test.scores_needed(PLANNED, variance)
    looks = test.looks(n_planned)
    rows = []
    for difference, refusing in product((0.2, 0.1, 0.0, -0.1, -0.2), (0.02, 0.1, 0.5)):
        probabilities = score_probabilities(EVEN + difference, variance)
        counts = dict.fromkeys(("better", "same", "worse", "undecided", "wrong without"), 0)
        right = "same" if difference == 0 else "better" if difference > 0 else "worse"
        for scores in rng.choice(SCORES, size=(n_sequences, n_planned), p=probabilities):
            # Of questions that it wins the judge refuses a tenth as many.
            refusal_rates = np.where(scores < EVEN, refusing, refusing / 10)
            is_refused = rng.random(n_planned) < refusal_rates
            decision = None
            naive = None
            for look in looks:
                known = scores[:look][~is_refused[:look]]
                decide = partial(test.decide, is_last=look == looks[-1])
                if decision is None:
                    decision = bounded_difference(decide, known, int(is_refused[:look].sum()))
                if naive is None:
                    naive = decide(known)
            counts[decision or "undecided"] += 1
            counts["wrong without"] += naive not in (None, right)
        shares = {name: count / n_sequences for name, count in counts.items()}
        rows.append({"difference": difference, "refused": refusing, **shares})
    return pd.DataFrame(rows)


def liking_length(n_sequences: int) -> pd.DataFrame:
    """Simulate a judge that takes the longer answer, where people prefer it by chance or more."""
    rng = np.random.default_rng(0)
    rows = []
    for share_longer, n_shared in product((0.5, 0.65, 0.8), (30, 50, 100)):
        n_decides = 0
        for _ in range(n_sequences):
            longer = rng.choice(["a", "b"], size=n_shared)
            shorter = np.where(longer == "a", "b", "a")
            preferred = np.where(rng.random(n_shared) < share_longer, longer, shorter)
            tables = []
            for judge, winners in (("person:Ada", preferred), ("m", longer)):
                table = pd.DataFrame({"query_id": [f"q{i}" for i in range(n_shared)]})
                tables.append(table.assign(winner=winners, judge=judge))
            judgments = pd.concat(tables, ignore_index=True)
            judgments = judgments.assign(language="en", system_a="v1", system_b="v2")
            people = agreement_with_people(judgments, ["m"])
            n_decides += people is None or people.bounds[0] > 0
        row = {"people prefer the longer": share_longer, "shared pairs": n_shared}
        rows.append({**row, "may decide": n_decides / n_sequences})
    return pd.DataFrame(rows)


def replayed(ratings: pd.DataFrame, rates: GateRates) -> dict[str, object]:
    """Compare every judged system, as if unseen, with every other."""
    rated = ratings[ratings["arena_rating"].notna() & ratings["surrogate_rating"].notna()]
    as_unseen = rated.assign(
        rating=rated["surrogate_rating"],
        high=rated["surrogate_high"],
        standard_error=rated["surrogate_error"],
    )
    counts = dict.fromkeys(("better", "same", "worse", "cannot say", "against the arena"), 0)
    systems = sorted(rated["system"].unique())
    for candidate_name, baseline_name in permutations(systems, 2):
        candidate = as_unseen[as_unseen["system"] == candidate_name]
        baseline = rated[rated["system"] == baseline_name]
        decision = rating_difference(candidate, baseline, rates, rates.error).difference
        counts[decision or "cannot say"] += 1
        paired = candidate.merge(baseline, on="language", suffixes=("", "_baseline"))
        arena_difference = (paired["arena_rating"] - paired["arena_rating_baseline"]).mean()
        if decision == "better" and arena_difference < 0:
            counts["against the arena"] += 1
        if decision == "worse" and arena_difference > 0:
            counts["against the arena"] += 1
    n_decided = counts["better"] + counts["worse"]
    share = counts["against the arena"] / n_decided if n_decided else math.nan
    return {"systems": len(systems), **counts, "share against": share}


def main() -> None:
    """Print all parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("boards", nargs="*", type=Path)
    parser.add_argument("--sequences", type=int, default=2000)
    options = parser.parse_args()
    rates = GateRates()
    print(simulated(options.sequences, rates.test()).round(3).to_string(index=False))
    print(watched(options.sequences, rates.test()).round(3).to_string(index=False))
    print(refused(options.sequences, rates.test()).round(3).to_string(index=False))
    print(liking_length(options.sequences).round(3).to_string(index=False))
    rows = [
        {"board": path.name, **replayed(read_board_table(RATINGS, path), rates)}
        for path in options.boards
    ]
    if rows:
        print(pd.DataFrame(rows).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
