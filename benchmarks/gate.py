"""How often is a gate wrong, how often does it find a difference, and after how many verdicts?

Two parts are tables (``tables.py gate refusals``). Verdicts: scores of questions (both orders: 0,
0.25, 0.5, 0.75 or 1) of a given mean and a variance of 0.12, as many as find 5 points; how
sequences end, and after how many questions. Refusals: the same, but a judge gives no verdict on
most questions that the candidate loses; how they end by the test with bounds, and how often they
are wrong without them.

This script prints three more. Arena: single verdicts, looked at after every fifth of a thousand;
printed are the shares of sequences that are ever called better or worse, and the median number of
verdicts then. Length: a judge that takes the longer answer, which people prefer by chance (then it
must not decide), or more often; printed is how often it may decide. Surrogate: every judged system
of a board, rated by a surrogate that had not seen it, as a candidate against every other as a
baseline; printed are the statements, and how many of them have the arena's own ratings, noise and
all, against them.

Run:  python benchmarks/gate.py [--sequences 2000] [BOARD ...]
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from functools import partial
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import fsolve
from scipy.special import softmax

from arena.data.types import Floats
from arena.quality.people_agreement import agreement_with_people
from surrogate.board.tables import RATINGS, read_board_table
from surrogate_arena.gating.comparison import bounded_difference
from surrogate_arena.gating.rating_difference import GateRates, rating_difference
from surrogate_arena.gating.sequential_test import EVEN, SequentialTest

SCORES: Floats = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
VARIANCE = 0.12
DIFFERENCES = (0.0, 0.05, 0.1, 0.2)
PLANNED = 0.05
SEQUENCES = 2000


def score_probabilities(mean: float) -> Floats:
    """Return the probability of each score, by the distribution of maximum entropy."""

    def probabilities_of(tilt: Floats) -> Floats:
        distances = SCORES - EVEN
        return np.asarray(softmax(tilt[0] * distances + tilt[1] * distances**2))

    def moment_errors(tilt: Floats) -> list[float]:
        probabilities = probabilities_of(tilt)
        first = float(probabilities @ SCORES)
        second = float(probabilities @ SCORES**2)
        return [first - mean, second - first**2 - VARIANCE]

    return probabilities_of(fsolve(moment_errors, np.zeros(2)))


def first_decision(scores: Floats, test: SequentialTest) -> tuple[str, int]:
    """Return the first decision of a test, and after how many scores it falls."""
    looks = test.looks(len(scores))
    for look in looks:
        decision = test.decide(scores[:look], is_last=look == looks[-1])
        if decision is not None:
            return decision, look
    return "undecided", len(scores)


def planned_sequences(difference: float, test: SequentialTest, rng: np.random.Generator) -> Floats:
    """Draw scores, shape (sequences, questions), as many as find the planned difference."""
    n_planned = test.scores_needed(PLANNED, VARIANCE)
    probabilities = score_probabilities(EVEN + difference)
    return rng.choice(SCORES, size=(SEQUENCES, n_planned), p=probabilities)


def decisions(difference: float) -> list[str]:
    """Return how tests of a true difference end, in percent, and their mean length."""
    test = GateRates().test()
    counts: Counter[str] = Counter()
    n_used = []
    for scores in planned_sequences(difference, test, np.random.default_rng(0)):
        decision, n_scores = first_decision(scores, test)
        counts[decision] += 1
        n_used.append(n_scores)
    shares = [percent(counts[name]) for name in ("better", "same", "worse", "undecided")]
    return [*shares, f"{np.mean(n_used):.0f}"]


def percent(count: int) -> str:
    return f"{100 * count / SEQUENCES:.1f}%"


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


def refused(difference: float, refusing: float) -> list[str]:
    """Return how tests end where a judge refuses, most of all where the candidate loses."""
    test = GateRates().test()
    rng = np.random.default_rng(0)
    counts: Counter[str] = Counter()
    right = "same" if difference == 0 else "better" if difference > 0 else "worse"
    sequences = planned_sequences(difference, test, rng)
    looks = test.looks(sequences.shape[1])
    for scores in sequences:
        # Of questions that it wins the judge refuses a tenth as many.
        is_refused = rng.random(len(scores)) < np.where(scores < EVEN, refusing, refusing / 10)
        decision = None
        naive = None
        for look in looks:
            known = scores[:look][~is_refused[:look]]
            decide = partial(test.decide, is_last=look == looks[-1])
            if decision is None:
                decision = bounded_difference(decide, known, int(is_refused[:look].sum()))
            if naive is None:
                naive = decide(known)
        counts["right"] += decision == right
        counts["wrong"] += decision not in (None, right)
        counts["cannot say"] += decision is None
        counts["wrong without"] += naive not in (None, right)
    names = ("right", "wrong", "cannot say", "wrong without")
    return [f"{refusing:.0%}", *(percent(counts[name]) for name in names)]


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
    parser.add_argument("--sequences", type=int, default=SEQUENCES)
    options = parser.parse_args()
    rates = GateRates()
    print(watched(options.sequences, rates.test()).round(3).to_string(index=False))
    print(liking_length(options.sequences).round(3).to_string(index=False))
    rows = [
        {"board": path.name, **replayed(read_board_table(RATINGS, path), rates)}
        for path in options.boards
    ]
    if rows:
        print(pd.DataFrame(rows).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
