"""Which pairs are judged, and which answer stands on which side."""

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_systems import build_arena

from arena import UsageError
from arena.judging import choose_pairs, pairs_judged_in
from arena.judging.answer_pairs import pair_keys, shown_order, unordered

SYSTEMS = tuple(f"s{n}" for n in range(7))
texts = st.text(st.characters(codec="utf-8"), max_size=8)
answers = st.tuples(texts, texts)


@given(texts, texts, answers, answers, st.integers(0, 5))
def test_the_order_does_not_hang_on_how_a_pair_is_given(language, query_id, one, other, seed):
    order = shown_order(language, query_id, one, other, seed)
    assert sorted(order) == sorted((one[0], other[0]))
    assert shown_order(language, query_id, other, one, seed) == order


def test_the_order_is_golden():
    drawn = [shown_order("en", f"q{n}", ("s", "x"), ("t", "y"))[0] for n in range(12)]
    assert "".join(drawn) == "ssststttstts"


def test_all_pairs_of_all_questions():
    chosen = choose_pairs(build_arena(questions=5, languages=("en", "de")))
    assert len(chosen) == len(chosen.table) == 2 * 5 * 3
    assert chosen.counts == {"en": 5, "de": 5}
    keys = [unordered(key) for key in pair_keys(chosen.table)]
    assert len(set(keys)) == len(keys)


def test_a_further_system_and_other_names_reshuffle_nothing():
    few = choose_pairs(build_arena(questions=20, systems=SYSTEMS[:4]), questions=10)
    more = choose_pairs(build_arena(questions=20, systems=SYSTEMS[:5]), questions=10)
    assert set(pair_keys(few.table)) < set(pair_keys(more.table))


def test_questions_are_drawn_by_their_content():
    def drawn(questions, seed=0):
        arena = build_arena(questions=questions)
        return set(choose_pairs(arena, questions=10, seed=seed).table["query_id"])

    assert len(drawn(100)) == 10
    assert drawn(100) == drawn(100)
    assert drawn(100) != drawn(100, seed=1)
    assert len(drawn(100) & drawn(105)) >= 7
    assert drawn(8) == {f"q{n}" for n in range(8)}


@pytest.mark.parametrize("pairs", [1, 3, 10])
def test_some_pairs_are_even(pairs):
    table = choose_pairs(build_arena(questions=21, systems=SYSTEMS), pairs=pairs).table
    assert (table.groupby("query_id").size() == pairs).all()
    battles = Counter([*table["system_a"], *table["system_b"]])
    assert max(battles.values()) - min(battles.values()) <= 1
    sides = zip(table["system_a"], table["system_b"], strict=True)
    met = Counter(tuple(sorted(pair)) for pair in sides)
    assert max(met.values()) - min(met.get(pair, 0) for pair in met) <= 2


def test_absent_answers_are_not_judged():
    absent = {("q0", "good"): None, ("q1", "good"): None, ("q1", "fair"): None}
    chosen = choose_pairs(build_arena(absent))
    assert len(chosen) == 1 + 0 + 3 + 3
    assert chosen.counts == {"en": 3}


def test_identical_answers_are_told_apart():
    same = {("q0", "good"): "the same ", ("q0", "fair"): "the same"}
    chosen = choose_pairs(build_arena(same), both_orders=True)
    assert len(chosen.identical) == 2
    assert len(chosen.table) == 2 * 11


def test_pairs_of_another_judge_can_be_chosen():
    arena = build_arena()
    judgments = pd.DataFrame(
        [("q1", "en", "poor", "good"), ("q1", "en", "good", "poor"), ("q0", "en", "fair", "good")],
        columns=["query_id", "language", "system_a", "system_b"],
    )
    chosen = pairs_judged_in(arena, judgments)
    expected = {("en", "q0", "fair", "good"), ("en", "q1", "good", "poor")}
    assert {unordered(key) for key in pair_keys(chosen.table)} == expected
    assert len(pairs_judged_in(arena, judgments, both_orders=True)) == 4
    absent = judgments.assign(system_a="nobody")
    with pytest.raises(UsageError, match="nobody"):
        pairs_judged_in(arena, absent)


def test_judged_pairs_are_left_out_in_either_order():
    chosen = choose_pairs(build_arena(questions=1))
    language, query_id, a, b = next(iter(pair_keys(chosen.table)))
    assert len(chosen.without([(language, query_id, b, a)])) == 2
    both = choose_pairs(build_arena(questions=1), both_orders=True)
    assert len(both.without([(language, query_id, b, a)])) == 5
    assert len(both.without(list(pair_keys(both.table)))) == 0
