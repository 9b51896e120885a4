"""A panel's verdict, and how far each judge agrees with the others."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arena import UsageError
from arena.judging import aggregate_votes
from arena.judging.panel.aggregation import SPLIT, panel_name

COLUMNS = ["query_id", "language", "system_a", "system_b", "winner", "judge"]


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


def winners(panel):
    return "".join(winner[0] for winner in panel.judgments["winner"])


def test_most_votes_win_and_a_split_is_a_tie():
    votes = {"x": "aaab-", "y": "abtb-", "z": "aab-a"}
    panel = aggregate_votes(judged(votes), ["x", "y", "z"])
    assert winners(panel) == "aatb"
    assert list(panel.judgments["flags"]) == ["", "", SPLIT, ""]
    assert (panel.split, panel.too_few) == (1, 1)
    assert set(panel.judgments["judge"]) == {"panel(majority)"}
    assert set(panel.judgments["prompt"]) == {"panel of x, y, z"}
    np.testing.assert_allclose(panel.judgments["probability"], [1, 2 / 3, 1 / 3, 1], atol=1e-6)


def test_the_order_of_judges_and_rows_makes_no_difference():
    table = judged({"x": "abtab", "y": "bbtaa", "z": "abbab"})
    for aggregate in ("majority", "dawid-skene"):
        one = aggregate_votes(table, ["x", "y", "z"], aggregate)
        other = aggregate_votes(table.sample(frac=1, random_state=0), ["z", "x", "y"], aggregate)
        pd.testing.assert_frame_equal(one.judgments, other.judgments)


def simulated(skills, questions=60, systems=5, seed=0, language="en"):
    """Verdicts of judges of known skill on systems of known order, s0 the best."""
    random = np.random.default_rng(seed)
    rows = []
    for question in range(questions):
        for one in range(systems):
            for other in range(one + 1, systems):
                a, b = (one, other) if random.random() < 0.5 else (other, one)
                truth = "a" if a < b else "b"
                wrong = {"a": "b", "b": "a"}[truth]
                for judge, skill in skills.items():
                    said = truth if random.random() < skill else random.choice([wrong, "tie"])
                    rows.append((f"q{question}", language, f"s{a}", f"s{b}", said, judge))
    return pd.DataFrame(rows, columns=COLUMNS)


def right(panel):
    table = panel.judgments
    return (table["winner"] == np.where(table["system_a"] < table["system_b"], "a", "b")).mean()


@pytest.mark.parametrize(
    "skills",
    [
        {"good": 0.9, "fair": 0.85, "bad": 0.3},
        pytest.param({"good": 0.9, "fair": 0.75, "bad": 0.05}, marks=pytest.mark.slow),
        pytest.param(
            {"good": 0.9, "fair": 0.7, "weak": 0.7, "bad": 0.3, "worse": 0.35},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_dawid_skene_beats_the_majority_where_a_judge_is_bad(skills):
    table = simulated(skills)
    majority = aggregate_votes(table, list(skills))
    fitted = aggregate_votes(table, list(skills), "dawid-skene")
    assert right(fitted) > right(majority) + 0.08
    assert right(fitted) > 0.92
    accuracy = fitted.judges.set_index("judge")["accuracy"]
    assert accuracy.idxmax() == "good"
    np.testing.assert_allclose(accuracy["good"], 0.9, atol=0.05)
    assert set(fitted.judgments["judge"]) == {panel_name("dawid-skene")}


def test_a_judge_is_held_against_the_panel_of_the_others():
    table = simulated({"x": 0.9, "y": 0.9, "z": 0.9})
    turned = table["judge"] == "z"
    swap = {"a": "b", "b": "a", "tie": "tie"}
    table.loc[turned, "winner"] = table.loc[turned, "winner"].map(swap)
    taus = aggregate_votes(table, ["x", "y", "z"]).judges.set_index("judge")["tau"]
    assert taus["z"] == -1
    two = aggregate_votes(table, ["x", "y"]).judges
    assert list(two["tau"]) == [1, 1]


def test_languages_are_by_themselves():
    table = pd.concat([simulated({"x": 0.9, "y": 0.8}, 20, language=name) for name in ("en", "fi")])
    panel = aggregate_votes(table, ["x", "y"], "dawid-skene")
    assert list(panel.judges["language"]) == ["en", "en", "fi", "fi"]
    assert list(panel.judgments["language"].unique()) == ["en", "fi"]


MIRROR = {"a": "b", "b": "a", "tie": "tie"}
ballots = st.lists(st.text("abt-", min_size=3, max_size=3), min_size=1, max_size=12)


@settings(max_examples=10)
@given(ballots, st.sampled_from(["majority", "dawid-skene"]))
def test_mirrored_verdicts_give_the_mirrored_panel(items, aggregate):
    names = "xyz"
    table = judged({name: "".join(ballot[i] for ballot in items) for i, name in enumerate(names)})
    assume(table.groupby("query_id")["judge"].size().ge(2).any())
    sides = {"system_a": "system_b", "system_b": "system_a"}
    mirrored = table.rename(columns=sides).assign(winner=table["winner"].map(MIRROR))
    one, other = (aggregate_votes(each, names, aggregate).judgments for each in (table, mirrored))
    near = (one["probability_a"] - one["probability_b"]).abs() < 1e-5
    assert (one["winner"].map(MIRROR) == other["winner"])[~near].all()


def test_a_ranking_that_is_not_defined_is_missing():
    panel = aggregate_votes(judged({"x": "tt", "y": "aa"}), ["x", "y"])
    assert panel.judges["tau"].isna().all() or (panel.judges["tau"] == 0).any()


@pytest.mark.parametrize(
    ("judges", "aggregate", "message"),
    [
        (["x"], "majority", "two judges at least"),
        (["x", "x"], "majority", "two judges at least"),
        (["x", "y"], "mean", "unknown aggregate 'mean'; use one of majority, dawid-skene"),
        (["p", "q"], "majority", "no pair has verdicts"),
    ],
)
def test_what_is_no_panel_is_refused(judges, aggregate, message):
    with pytest.raises(UsageError, match=message):
        aggregate_votes(judged({"x": "a", "y": "b"}), judges, aggregate)
