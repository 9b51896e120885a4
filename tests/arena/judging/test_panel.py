"""A panel's verdict: that of most of its judges."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.judging import panel_verdicts
from arena.judging.plans.panel import SPLIT

COLUMNS = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
MIRROR = {"a": "b", "b": "a", "tie": "tie"}
ballots = st.lists(st.text("abt-", min_size=3, max_size=3), min_size=1, max_size=12)


def judged(votes, language="en"):
    """One row a judge and item from ``{judge: "ab-t"}``; a dash stands for no verdict."""
    names = {"a": "a", "b": "b", "t": "tie"}
    rows = [
        (f"q{item}", language, "s", "t", names[vote], judge)
        for judge, row in votes.items()
        for item, vote in enumerate(row)
        if vote != "-"
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_most_votes_win_and_a_split_is_a_tie():
    votes = {"x": "aaab-", "y": "abtb-", "z": "aab-a"}
    panel = panel_verdicts(judged(votes), ["x", "y", "z"])
    assert "".join(winner[0] for winner in panel.judgments["winner"]) == "aatb"
    assert list(panel.judgments["flags"]) == ["", "", SPLIT, ""]
    assert list(panel.counts.values()) == [4, 1, 1]
    assert set(panel.judgments["judge"]) == {"panel(majority)"}
    assert set(panel.judgments["prompt"]) == {"panel of x, y, z"}
    np.testing.assert_allclose(panel.judgments["probability"], [1, 2 / 3, 1 / 3, 1], atol=1e-6)


@pytest.mark.slow
@settings(max_examples=10)
@given(ballots)
def test_mirrored_verdicts_in_any_order_give_the_mirrored_panel(items):
    table = judged({name: "".join(ballot[i] for ballot in items) for i, name in enumerate("xyz")})
    sides = {"system_a": "system_b", "system_b": "system_a"}
    mirrored = table.rename(columns=sides).assign(winner=table["winner"].map(MIRROR))
    one = panel_verdicts(table, "xyz").judgments
    other = panel_verdicts(mirrored.sample(frac=1, random_state=0), "zxy").judgments
    assert list(one["winner"].map(MIRROR)) == list(other["winner"])
