"""What a judge's own verdicts say of it."""

import itertools

import pandas as pd
import pytest

from arena.diagnostics import self_check


def judgments(winner_of, questions=40, both=True):
    """Verdicts on two systems, s the first; ``winner_of(question, side of s)`` is a, b or tie."""
    orders = [("s", "t"), ("t", "s")][: 1 + both]
    rows = [
        (f"q{n}", "en", a, b, winner_of(n, "a" if a == "s" else "b"), "j")
        for n, (a, b) in itertools.product(range(questions), orders)
    ]
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    return pd.DataFrame(rows, columns=columns)


def other(side):
    return "b" if side == "a" else "a"


def mostly_s(n, side):
    return side if n % 3 else other(side)


@pytest.mark.parametrize(
    ("winner_of", "grade", "fault"),
    [
        (mostly_s, "reliable", None),
        (lambda n, side: "a", "unreliable", "80 of 80 verdicts are side A"),
        (lambda n, side: "tie", "unreliable", "80 of 80 verdicts are a tie"),
        (
            lambda n, side: "a" if n % 4 == 0 else mostly_s(n, side),
            "doubtful",
            "40 pairs judged in both orders 10 flip (25.0%, 95% interval 14.2% to 40.2%)",
        ),
        (
            lambda n, side: "b" if n % 4 else mostly_s(n, side),
            "unreliable",
            "40 pairs judged in both orders 30 flip (75.0%",
        ),
        (
            lambda n, side: "b" if n % 2 and side == "a" else "tie" if n % 2 else side,
            "doubtful",
            "side B is favored",
        ),
    ],
)
def test_grades(winner_of, grade, fault):
    found = self_check(judgments(winner_of))
    assert found.grade == grade
    assert bool(found.faults) == (fault is not None)
    assert fault is None or any(fault in sentence for sentence in found.faults)


def test_without_both_orders_flips_are_not_known():
    found = self_check(judgments(mostly_s, both=False))
    assert (found.grade, found.faults) == ("not known", ())
    assert any("--both-orders" in fact for fact in found.facts)


@pytest.mark.parametrize(
    ("invalid", "grade"), [(0, "reliable"), (4, "reliable"), (8, "doubtful"), (100, "unreliable")]
)
def test_replies_without_a_verdict(invalid, grade):
    found = self_check(judgments(mostly_s), invalid)
    assert found.grade == grade
    sentence = f"{invalid} of {80 + invalid} replies hold no verdict"
    assert any(sentence in said for said in [*found.faults, *found.facts])
