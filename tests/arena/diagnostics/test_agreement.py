"""Judges held against people: kappa, its standard error and interval."""

import numpy as np
import pandas as pd
import pytest

from arena.diagnostics.agreement import agreement_with_reference


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


def test_intervals_hold_the_kappa_of_more_labels_about_as_often_as_they_say():
    random = np.random.default_rng(7)
    many = random.choice([1, 0, -1], size=3000, p=[0.45, 0.1, 0.45])
    theirs = noisy(many, 0.4, 8)
    whole = compare(judged(many, "person:ada"), judged(theirs, "m"))["kappa"].iloc[0]
    held = []
    for start in range(0, 3000, 150):
        part = slice(start, start + 150)
        found = compare(judged(many[part], "person:ada"), judged(theirs[part], "m")).iloc[0]
        held.append(found["low"] <= whole <= found["high"])
    assert np.mean(held) >= 0.85


def test_people_count_together_by_majority(truth):
    people = [judged(truth, "person:ada"), judged(truth, "person:bo")]
    people.append(judged(-truth, "person:cy"))
    table = pd.concat([*people, judged(truth, "m")], ignore_index=True)
    names = ["person:ada", "person:bo", "person:cy"]
    kappas = agreement_with_reference(table, names)
    assert list(kappas["judge"]) == ["m"]
    assert kappas["kappa"].iloc[0] == pytest.approx(1.0)
