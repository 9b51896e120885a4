"""Judges held against people: kappa, its difference, and how many more labels decide."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from arena.diagnostics.judge_agreement import agreement_with_reference, comparison_sentences


def judged(outcomes, judge, turned=False):
    """Verdicts on systems s and t, one a question: 1 s wins, -1 t, 0 a tie."""
    sides = ("t", "s") if turned else ("s", "t")
    names = {1: "ba"[not turned], -1: "ab"[not turned], 0: "tie"}
    rows = [(f"q{n}", "en", *sides, names[outcome], judge) for n, outcome in enumerate(outcomes)]
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture
def truth():
    return np.random.default_rng(0).choice([1, 0, -1], size=60, p=[0.45, 0.1, 0.45])


def noisy(truth, share, seed):
    random = np.random.default_rng(seed)
    drawn = random.choice([1, 0, -1], size=len(truth), p=[0.45, 0.1, 0.45])
    return np.where(random.random(len(truth)) < share, drawn, truth)


def compare(*parts):
    return agreement_with_reference(pd.concat(parts, ignore_index=True), ["person:ada"])


def test_kappa_is_that_of_scikit_learn_with_both_orientations(truth):
    theirs = noisy(truth, 0.4, 1)
    kappas, compared = compare(judged(truth, "person:ada"), judged(theirs, "m", turned=True))
    (row,) = kappas.to_dict("records")
    both = np.concatenate([truth, -truth]), np.concatenate([theirs, -theirs])
    assert row["kappa"] == pytest.approx(cohen_kappa_score(*both))
    assert row["agreement"] == pytest.approx((truth == theirs).mean())
    assert row["low"] < row["kappa"] < row["high"]
    assert (row["items"], row["questions"]) == (60, 60)
    assert compared.empty


def test_a_better_judge_is_told_from_a_worse_one(truth):
    good, bad = judged(noisy(truth, 0.1, 2), "good"), judged(noisy(truth, 0.9, 3), "bad")
    _, compared = compare(judged(truth, "person:ada"), good, bad)
    (row,) = compared.to_dict("records")
    assert (row["judge"], row["other_judge"]) == ("bad", "good")
    assert row["high"] < 0
    assert row["more_labels"] == 0
    (said,) = comparison_sentences(compared)
    assert said.startswith("bad and good: good agrees better (kappa ")


def test_how_many_labels_decide_is_about_right(truth):
    """Judges that differ a little: with the labels asked for, the difference is mostly found."""
    random = np.random.default_rng(7)
    many = random.choice([1, 0, -1], size=3000, p=[0.45, 0.1, 0.45])
    close = [noisy(many, share, seed) for share, seed in ((0.3, 8), (0.42, 9))]

    def compared_on(places):
        parts = [judged(many[places], "person:ada")]
        parts += [judged(each[places], name) for each, name in zip(close, "xy", strict=True)]
        return compare(*parts)[1].iloc[0]

    planned = [compared_on(np.arange(n, n + 400)) for n in range(0, 2400, 400)]
    asked = [row["more_labels"] for row in planned if not pd.isna(row["more_labels"])]
    needed = 400 + int(np.median([more for more in asked if more]))
    assert 500 < needed < 1500  # 540 by the difference of all 3,000
    found = [compared_on(np.arange(n, n + 700))["more_labels"] == 0 for n in range(0, 2300, 460)]
    assert np.mean(found) >= 0.6


def test_people_count_together_by_majority(truth):
    people = [judged(truth, "person:ada"), judged(truth, "person:bo")]
    people.append(judged(-truth, "person:cy"))
    table = pd.concat([*people, judged(truth, "m")], ignore_index=True)
    names = ["person:ada", "person:bo", "person:cy"]
    kappas, _ = agreement_with_reference(table, names)
    assert list(kappas["judge"]) == ["m"]
    assert kappas["kappa"].iloc[0] == pytest.approx(1.0)
