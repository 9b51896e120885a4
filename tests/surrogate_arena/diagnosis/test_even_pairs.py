"""Pairs that count alike, as LMArena's arena-rank weights them: lines of the guide on ratings."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from arena.rating.battles import Battles
from arena.rating.bradley_terry import NormalPrior
from arena.rating.likelihood import BattleLikelihood
from arena.rating.ratings import rate

GUIDE = Path(__file__).parents[3] / "docs" / "reference" / "ratings.md"
NAMES = ["a", "b", "c", "d"]


def with_even_pairs(judgments):
    """Follow the guide's lines on a copy of the judgments."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    [lines] = [block for block in blocks if "clip(lower=50)" in block]
    weighted = judgments.copy()
    exec(textwrap.dedent(lines), {"judgments": weighted})
    return weighted


def judgments(counts):
    """Battles of pairs, evenly won; who wins does not follow one scale: a > b > c > a."""
    golden_ratio = 0.6180339887
    logits = {("a", "b"): 1.0, ("b", "c"): 1.0, ("a", "c"): -0.5, ("a", "d"): 1.0, ("b", "d"): 0.8}
    rows = []
    for (first, second), count in counts.items():
        for number in range(count):
            sides = (first, second) if number % 2 else (second, first)
            is_won = number * golden_ratio % 1 < expit(logits[first, second])
            winner = "a" if is_won == (sides[0] == first) else "b"
            rows.append((f"{first}{second}{number}", *sides, winner))
    return pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])


COUNTS = {("a", "b"): 120, ("b", "c"): 60, ("a", "c"): 900, ("a", "d"): 20, ("b", "d"): 75}


def test_ratings_with_even_pairs_are_those_of_arena_ranks_weights():
    """Its formula, ``1 / max(pair_count, 50)`` over the mean, in a logistic regression."""
    table = judgments(COUNTS)
    pair = table[["system_a", "system_b"]].apply(lambda row: "".join(sorted(row)), axis=1)
    published = 1.0 / np.maximum(pair.map(pair.value_counts()), 50)
    published = published / published.mean()
    weighted = with_even_pairs(table)
    np.testing.assert_allclose(weighted["weight"], published, rtol=1e-12)
    columns = [(table["system_a"] == name) * 1.0 - (table["system_b"] == name) for name in NAMES]
    columns.append(np.full(len(table), 0.5))
    model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=10_000)
    model.fit(np.column_stack(columns), table["winner"] == "a", sample_weight=published)
    likelihood = BattleLikelihood(Battles.from_judgments(weighted).items_by_side)
    mode = likelihood.mode(NormalPrior.ridge(4, 1.0))
    np.testing.assert_allclose(mode, model.coef_[0] * [1, 1, 1, 1, 0.5], atol=1e-5)


def test_a_pair_that_is_sampled_thirty_times_as_often_moves_no_rating():
    def ratings(counts, *, is_even):
        table = judgments(counts)
        table = with_even_pairs(table) if is_even else table
        return rate(table).table.set_index("system")["rating"].sort_index()

    few = dict.fromkeys(COUNTS, 100)
    many = few | {("a", "c"): 3000}
    moved = np.abs(ratings(many, is_even=False) - ratings(few, is_even=False)).max()
    moved_evenly = np.abs(ratings(many, is_even=True) - ratings(few, is_even=True)).max()
    assert moved > 0.25
    assert moved_evenly < 0.05


def test_intervals_with_even_pairs_allow_for_the_weights():
    """Against a bootstrap over battles of the weighted maximum likelihood."""
    table = with_even_pairs(judgments(COUNTS))
    ours = rate(table).table.set_index("system").sort_index()
    bootstrap = rate(table, ridge=0.01, rounds=400).table.set_index("system").sort_index()
    widths = (ours["high"] - ours["low"]) / (bootstrap["high"] - bootstrap["low"])
    assert widths.between(0.8, 1.25).all()


def test_weights_do_not_depend_on_names_sides_or_the_order_of_rows():
    table = judgments(COUNTS)
    expected = with_even_pairs(table)["weight"]
    mirrored = table.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    for changed in (mirrored, table.replace({"a": "z"}), table[::-1]):
        weights = with_even_pairs(changed)["weight"].sort_index()
        np.testing.assert_allclose(weights, expected, rtol=1e-12)
