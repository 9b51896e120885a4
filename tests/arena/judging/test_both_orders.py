"""One verdict from both orders of a pair."""

import pandas as pd
import pytest

from arena.judging import merged_orders
from arena.judging.summary import JUDGMENT_COLUMNS


def row(query_id, a, b, winner, p_a=None, p_b=None):
    share = {"a": p_a, "b": p_b}.get(winner)
    return (query_id, "en", a, b, winner, "j", share, p_a, p_b, "", "v")


def merged(*rows):
    table = pd.DataFrame(rows, columns=JUDGMENT_COLUMNS).astype(
        dict.fromkeys(["probability", "probability_a", "probability_b"], "float64")
    )
    return merged_orders(table)


@pytest.mark.parametrize(
    ("forward", "backward", "winner", "flags"),
    [
        ("a", "b", "a", ""),
        ("b", "a", "b", ""),
        ("tie", "tie", "tie", ""),
        ("a", "a", "tie", "flipped"),
        ("a", "tie", "tie", ""),
    ],
)
def test_verdicts_count_where_they_agree(forward, backward, winner, flags):
    table = merged(row("q", "s", "t", forward), row("q", "t", "s", backward))
    assert list(table[["winner", "flags", "judge"]].iloc[0]) == [winner, flags, "j (both orders)"]
    assert table["probability"].isna().all()


def test_a_judge_that_always_names_a_still_tells_systems_apart():
    table = merged(
        row("q", "t", "s", "a", 0.9, 0.1),
        row("q", "s", "t", "a", 0.7, 0.3),
        row("r", "s", "t", "a", 0.8, 0.2),
        row("r", "t", "s", "a", 0.8, 0.2),
    )
    assert list(table["winner"]) == ["b", "tie"]
    assert table["probability_b"].iloc[0] == pytest.approx(0.6)
    assert list(table["flags"]) == ["flipped", "flipped"]


def test_pairs_of_one_order_are_left_out():
    assert merged(row("q", "s", "t", "a")).empty
    assert merged().empty
