"""Ratings in parts of the verdicts, which share what they have in common."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from arena.data.errors import UsageError
from arena.rating.ratings import NOT_CONNECTED, rate
from surrogate_arena.diagnosis.parts import NOT_JUDGED_HERE, rate_parts
from surrogate_arena.diagnosis.reversed_orders import pooling_remarks

STRENGTHS = np.array([1.0, 0.4, 0.0, -0.5, -0.9])


def judgments(n_questions=12, parts=("math", "code", "law"), own=0.3, seed=0):
    """Every pair once a question; strengths in a part depart by ``own`` from the common ones."""
    random = np.random.default_rng(seed)
    rows = []
    truth = {}
    for part in parts:
        strengths = STRENGTHS + own * random.normal(size=len(STRENGTHS))
        truth[part] = strengths - strengths.mean()
        for question, (i, j) in itertools.product(
            range(n_questions), itertools.combinations(range(len(STRENGTHS)), 2)
        ):
            if random.random() < 0.5:
                i, j = j, i
            winner = "a" if random.random() < expit(strengths[i] - strengths[j]) else "b"
            rows.append((f"{part}-{question}", f"s{i}", f"s{j}", winner, part))
    columns = ["query_id", "system_a", "system_b", "winner", "category"]
    return pd.DataFrame(rows, columns=columns), truth


def in_parts(ratings):
    return ratings.parts.set_index(["part", "system"])["rating"].sort_index()


def simpson():
    """x wins more against a baseline, but only where that is weak; y is ahead everywhere."""
    counts = {
        ("fr", "x"): (90, 10),
        ("fr", "y"): (19, 1),
        ("en", "x"): (6, 14),
        ("en", "y"): (40, 60),
    }
    rows = []
    for (language, system), (won, lost) in counts.items():
        for number in range(won + lost):
            sides = (system, "base") if number % 2 else ("base", system)
            winner = "a" if (number < won) == (sides[0] == system) else "b"
            rows.append((f"{language}-{system}-{number}", *sides, winner, language))
    columns = ["query_id", "system_a", "system_b", "winner", "language"]
    return pd.DataFrame(rows, columns=columns)


def test_rating_within_languages_keeps_an_order_that_pooling_reverses():
    table = simpson()
    pooled = rate(table, language="all")
    assert pooled.table["system"].iloc[0] == "x"
    (remark,) = pooling_remarks(table, pooled)
    assert remark.name == "languages"
    assert "x is ahead of y" in remark.sentence
    within = rate_parts(table, "language")
    ranks = within.table.set_index("system")["rating"]
    assert ranks["y"] > ranks["x"] > ranks["base"]
    ratings = in_parts(within)
    assert all(ratings[part, "y"] > ratings[part, "x"] for part in ("en", "fr"))
    assert within.test.statistic < 0.01


def test_nothing_is_said_of_languages_that_agree():
    table, _ = judgments(own=0.0)
    table = table.rename(columns={"category": "language"})
    assert pooling_remarks(table, rate(table, language="all")) == []


@pytest.mark.slow
def test_parts_with_few_verdicts_are_rated_better_together_than_alone():
    errors_alone, errors_together = [], []
    table, truth = judgments(n_questions=4, parts=tuple("abcde"), own=0.2)
    together = in_parts(rate_parts(table, "category"))
    for part, rows in table.groupby("category"):
        alone = rate(rows.drop(columns="category")).table.set_index("system")["rating"]
        expected = pd.Series(truth[part], [f"s{i}" for i in range(len(STRENGTHS))])
        errors_alone.append(((alone.reindex(expected.index) - expected) ** 2).mean())
        errors_together.append(((together[part] - expected) ** 2).mean())
    assert np.mean(errors_together) < 0.6 * np.mean(errors_alone)


@pytest.mark.slow
def test_intervals_in_parts_and_over_them_hold_as_stated():
    inside, inside_means = [], []
    for seed in range(40):
        table, truth = judgments(n_questions=10, own=0.4, seed=seed)
        rated = rate_parts(table, "category")
        parts = rated.parts.set_index(["part", "system"])
        for part, strengths in truth.items():
            rows = parts.loc[part].sort_index()
            inside += list((rows["low"] <= strengths) & (strengths <= rows["high"]))
        means = np.mean(list(truth.values()), axis=0)
        rows = rated.table.set_index("system").sort_index()
        inside_means += list((rows["low"] <= means) & (means <= rows["high"]))
    assert 0.85 < np.mean(inside) < 0.96
    assert 0.85 < np.mean(inside_means) < 0.96


def test_with_many_verdicts_a_part_is_rated_as_alone():
    table, _ = judgments(n_questions=300, parts=("a", "b"), own=1.0)
    together = in_parts(rate_parts(table, "category"))
    for part, rows in table.groupby("category"):
        alone = rate(rows.drop(columns="category")).table.set_index("system")["rating"]
        np.testing.assert_allclose(together[part], alone.sort_index(), atol=0.08)


def test_a_system_without_verdicts_in_a_part_is_rated_there_less_surely():
    table, _ = judgments(own=0.1)
    involves = (table["system_a"] == "s0") | (table["system_b"] == "s0")
    table = table[~involves | (table["category"] != "law")]
    rated = rate_parts(table, "category")
    rows = rated.parts[rated.parts["system"] == "s0"].set_index("part")
    assert rows["note"]["law"] == NOT_JUDGED_HERE
    width = rows["high"] - rows["low"]
    assert width["law"] > 1.2 * width.drop("law").max()
    assert rows["rating"]["law"] > 0.3
    assert (rows.loc["law", ["wins", "losses", "ties"]] == 0).all()


def test_systems_that_no_battle_connects_have_no_rating():
    table, _ = judgments(n_questions=4)
    strangers = pd.DataFrame(
        [("z1", "u", "v", "a", "law"), ("z2", "v", "u", "a", "law")], columns=table.columns
    )
    rated = rate_parts(pd.concat([table, strangers]), "category")
    notes = rated.table.set_index("system")["note"]
    assert notes["u"] == notes["v"] == NOT_CONNECTED
    assert "u" not in set(rated.parts["system"])
    assert list(rated.covariance) == list(rated.table["system"][:5])
    assert len(rated.pairs()) == 10


def test_neither_sides_nor_names_nor_the_order_of_rows_change_ratings():
    table, _ = judgments(n_questions=4, parts=("math", "law"))
    expected = in_parts(rate_parts(table, "category"))
    mirrored = table.rename(columns={"system_a": "system_b", "system_b": "system_a"}).assign(
        winner=table["winner"].map({"a": "b", "b": "a"})
    )
    shuffled = table.sample(frac=1, random_state=2)
    names = {"s0": "z", "s4": "b"}
    back = {new: old for old, new in names.items()}
    for changed, renamed in ((mirrored, {}), (shuffled, {}), (table.replace(names), back)):
        found = in_parts(rate_parts(changed, "category")).rename(renamed, level="system")
        np.testing.assert_allclose(found.sort_index(), expected, atol=1e-6)


def test_equal_rows_of_unnamed_judges_are_all_counted_and_few_rows_a_value_refused():
    table, _ = judgments(n_questions=4)
    doubled = pd.concat([table, table])
    assert rate_parts(doubled, "category").table["wins"].sum() == 2 * len(table)
    with pytest.raises(UsageError, match="fewer values"):
        rate_parts(table.assign(row=range(len(table))), "row")
    with pytest.raises(UsageError, match="one value, 'und'"):
        rate_parts(table.assign(language="und"), "language")
    with pytest.raises(UsageError, match="no column 'categories'"):
        rate_parts(table, "categories")


def test_voters_are_no_parts_but_voters_who_judge_several_parts_are_fine():
    table, _ = judgments(n_questions=4)
    named = table.assign(voter=table["category"], user=table["category"])
    with pytest.raises(UsageError, match="'user' names the voters"):
        rate_parts(named, "user")
    assert rate_parts(named.assign(voter="ann"), "category").parts["part"].nunique() == 3
