"""Sides that were not shown, or that cannot be told from strength."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.data.errors import UsageError
from arena.quality.judge_label import label_judge
from arena.rating.battles import Battles
from arena.rating.biases import SIDES_NOT_TOLD
from arena.rating.posterior import battle_posterior
from arena.rating.ratings import rate

NAMES = ("ant", "bee", "cow", "dog")
TURNED = {"a": "b", "b": "a", "tie": "tie"}

battle = st.tuples(
    st.integers(0, 5),
    st.permutations(range(4)),
    st.sampled_from(["a", "b", "tie"]),
    st.sampled_from(["shown", "none"]),
    st.booleans(),
)


def table_of(battles, names, *, turns):
    """Write battles between named systems; where turned, those without sides the other way."""
    rows = []
    for question, systems, winner, sides, is_turned in battles:
        first, second = names[systems[0]], names[systems[1]]
        if turns and is_turned and sides == "none":
            first, second, winner = second, first, TURNED[winner]
        rows.append((f"q{question}", "en", first, second, winner, "gpt", sides))
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge", "sides"]
    return pd.DataFrame(rows, columns=columns)


@settings(max_examples=8)
@given(battles=st.lists(battle, min_size=4, max_size=14), order=st.permutations(range(4)))
def test_neither_names_nor_the_order_of_a_pair_without_sides_change_anything(battles, order):
    table = table_of(battles, NAMES, turns=False)
    names = [NAMES[position] for position in order]
    other = table_of(battles, names, turns=True)
    renaming = dict(zip(NAMES, names, strict=True))
    rated = rate(table)
    again = rate(other)
    numbers = ["rating", "low", "high", "rank", "rank_low", "rank_high", "tier", "wins", "losses"]
    before = rated.table.assign(system=rated.table["system"].map(renaming)).set_index("system")
    after = again.table.set_index("system").loc[before.index]
    # Groups that are as large, and of as many battles, are numbered by name.
    np.testing.assert_allclose(
        before[numbers].astype(float), after[numbers].astype(float), atol=1e-7
    )
    assert set(map(str, rated.remarks)) == set(map(str, again.remarks))
    if before["group"].nunique() == 1:
        biases = [[bias.coefficient for bias in found.biases] for found in (rated, again)]
        np.testing.assert_allclose(*biases, atol=1e-7)
    labels = [label_judge("gpt", judgments) for judgments in (table, other)]
    assert labels[0] == labels[1] or str(labels[0]) == str(labels[1])


def repeated(system_a, system_b, won, lost, sides="shown"):
    rows = pd.DataFrame({"winner": ["a"] * won + ["b"] * lost})
    return rows.assign(system_a=system_a, system_b=system_b, sides=sides)


def judged(*parts):
    table = pd.concat(parts, ignore_index=True)
    ids = [f"q{number}" for number in range(len(table))]
    return table.assign(query_id=ids, language="en", judge="gpt")


def test_without_sides_nobody_has_a_side_and_no_label_speaks_of_one():
    table = judged(repeated("x", "y", 60, 40, "none"), repeated("y", "z", 60, 40, "none"))
    assert rate(table).biases == ()
    assert label_judge("gpt", table).test("side") is None
    mixed = pd.concat([table, judged(repeated("x", "z", 30, 10)).assign(judge="other")])
    assert [bias.judge for bias in battle_posterior(Battles.from_judgments(mixed)).biases] == [
        "gpt",
        "other",
    ]


@pytest.mark.parametrize(("won", "grade"), [(31, "not known"), (99, "doubtful")])
def test_a_baseline_that_is_always_first_tells_nothing_of_the_judge(won, grade):
    table = judged(*(repeated("base", f"m{number}", 100 - won, won) for number in range(3)))
    rated = rate(table)
    assert rated.biases == ()
    assert SIDES_NOT_TOLD in map(str, rated.remarks)
    label = label_judge("gpt", table)
    assert (label.is_one_sided, label.grade) == (False, grade)
    assert all(SIDES_NOT_TOLD in fault for fault in label.faults)
    if won == 99:
        assert list(rated.table["rank_high"]) == [3, 3, 3, 4]


def test_a_judge_of_one_side_is_known_where_systems_change_sides():
    table = judged(repeated("x", "y", 20, 0), repeated("y", "x", 20, 0))
    label = label_judge("gpt", table)
    assert label.is_one_sided
    assert rate(table).biases[0].bounds[0] > 0


def test_other_words_for_sides_are_refused():
    table = judged(repeated("x", "y", 3, 1, "left"))
    with pytest.raises(UsageError, match="shown or none, not 'left'"):
        rate(table)
