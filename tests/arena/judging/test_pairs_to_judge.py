"""Which pairs are judged, and which answer stands on which side."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from judged_systems import build_arena

from arena import UsageError
from arena.judging import (
    JudgingSettings,
    LlmJudge,
    choose_pairs,
    dry_run_judge,
    pairs_judged_in,
)
from arena.judging.answer_pairs import draw_pair, pair_keys, unordered
from arena.judging.choosing.chosen_pairs import asked_keys
from arena.judging.choosing.paced_pairs import PacedPairs
from arena.judging.forms import JUDGE_FORMS, prompt_of
from arena.llm.usage import Budget

SYSTEMS = tuple(f"s{n}" for n in range(7))
texts = st.text(st.characters(codec="utf-8"), max_size=8)
answers = st.tuples(texts, texts)


@given(texts, texts, answers, answers, st.integers(0, 5))
def test_draws_do_not_depend_on_how_a_pair_is_given(language, query_id, one, other, seed):
    draw = draw_pair(language, query_id, one, other, seed)
    assert sorted((draw.side_a, draw.side_b)) == sorted((one[0], other[0]))
    assert draw_pair(language, query_id, other, one, seed) == draw


@given(texts, texts, texts, st.integers(0, 5))
def test_draws_do_not_depend_on_the_names_of_systems(query_id, text, other, seed):
    assume(text != other)
    draw = draw_pair("en", query_id, ("s", text), ("t", other), seed)
    renamed = draw_pair("en", query_id, ("z", text), ("a", other), seed)
    assert {"s": "z", "t": "a"}[draw.side_a] == renamed.side_a
    assert (draw.audit, draw.sort_key) == (renamed.audit, renamed.sort_key)


def test_sides_and_audits_are_drawn_evenly_and_apart():
    draws = [draw_pair("en", f"q{n}", ("s", "x"), ("t", "y")) for n in range(2_000)]
    is_first = np.array([draw.side_a == "s" for draw in draws])
    audits = np.array([draw.audit for draw in draws])
    sort_keys = np.array([draw.sort_key for draw in draws])
    assert is_first.mean() == pytest.approx(0.5, abs=0.05)
    assert (audits < 0.1).mean() == pytest.approx(0.1, abs=0.03)
    correlations = np.corrcoef([is_first, audits, sort_keys])
    assert np.abs(correlations[np.triu_indices(3, k=1)]).max() < 0.08


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
    chosen = choose_pairs(build_arena(same), audit=1.0)
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
    assert len(pairs_judged_in(arena, judgments, audit=1.0)) == 4
    absent = judgments.assign(system_a="nobody")
    with pytest.raises(UsageError, match="nobody"):
        pairs_judged_in(arena, absent)


def mirrored(table):
    return table.rename(columns={"system_a": "system_b", "system_b": "system_a"})


def test_judged_pairs_are_left_out_in_either_order():
    chosen = choose_pairs(build_arena(questions=1))
    judged = mirrored(chosen.table.head(1))
    assert len(chosen.without(judged)) == 2
    both = choose_pairs(build_arena(questions=1), audit=1.0)
    assert len(both.without(judged)) == 5
    assert len(both.without(both.table)) == 0


def test_an_audit_asks_some_pairs_in_both_orders_and_a_part_of_them_twice():
    arena = build_arena(questions=200)
    plain = choose_pairs(arena, questions=None)
    audited = choose_pairs(arena, questions=None, audit=0.1)
    first_votes = audited.table[audited.table["repeat"].isna()]
    assert len(audited.table[audited.table["repeat"].notna()]) == pytest.approx(12, abs=8)
    assert len(first_votes) == pytest.approx(660, abs=25)
    assert set(pair_keys(plain.table)) < set(pair_keys(first_votes))
    # A repetition has the sides of the first vote.
    repeated = audited.table[audited.table["repeat"].notna()]
    assert set(pair_keys(repeated)) < set(pair_keys(plain.table))


def test_what_an_audit_takes_is_left_only_once_judged_itself():
    audited = choose_pairs(build_arena(questions=200), questions=None, audit=0.1)
    one_order = choose_pairs(build_arena(questions=200), questions=None)
    left = audited.without(one_order.table)
    assert len(left) == len(audited) - len(one_order)
    assert len(audited.without(audited.table)) == 0


def test_a_limit_keeps_the_first_pairs_with_all_their_orders():
    audited = choose_pairs(build_arena(questions=50), audit=0.5, spread=True)
    for n_calls in range(0, len(audited.table) + 2, 7):
        kept = audited.within(n_calls).table
        assert n_calls - 3 < len(kept) <= n_calls or len(kept) == len(audited.table)
        rest = audited.table.iloc[len(kept) :]
        asked = {unordered(key) for key in pair_keys(kept)}
        assert asked.isdisjoint({unordered(key) for key in pair_keys(rest)})


def test_a_part_of_all_pairs_is_spread_over_questions_and_grows():
    arena = build_arena(questions=30, systems=SYSTEMS)
    spread = choose_pairs(arena, spread=True)
    few, more = spread.within(40), spread.within(80)
    assert set(pair_keys(few.table)) < set(pair_keys(more.table))
    assert few.table["query_id"].nunique() > 15


def test_a_limit_on_marks_and_orders_keeps_whole_questions():
    pairs = choose_pairs(build_arena(questions=10))
    assert JUDGE_FORMS["pointwise"].within(pairs, 7).table["query_id"].nunique() == 2
    assert JUDGE_FORMS["listwise"].within(pairs, 7).table["query_id"].nunique() == 7
    # A call for the facts, and one for each of three answers.
    assert JUDGE_FORMS["nuggets"].within(pairs, 11).table["query_id"].nunique() == 2


@pytest.mark.parametrize("form", JUDGE_FORMS)
def test_a_form_says_how_many_calls_it_takes(form):
    passages = [{"passage_id": "d#1", "text": "Tea.", "title": None, "relevance": 1}]
    arena = build_arena({("q1", "s2"): None}, questions=3, systems=SYSTEMS, passages=passages)
    pairs = choose_pairs(arena)
    settings = JudgingSettings(model="m", form=form)
    n_calls = dry_run_judge(arena, LlmJudge(settings, prompt_of(settings)), pairs).prompts
    assert len(JUDGE_FORMS[form].within(pairs, n_calls)) == len(pairs)
    assert len(JUDGE_FORMS[form].within(pairs, n_calls - 1)) < len(pairs)


@pytest.mark.parametrize("form", JUDGE_FORMS.values())
def test_identical_answers_take_no_call_so_a_limit_keeps_them(form):
    same = {("q3", system): "the same" for system in SYSTEMS}
    pairs = choose_pairs(build_arena(same, questions=4, systems=SYSTEMS))
    assert set(form.within(pairs, 1).identical["query_id"]) == {"q3"}
    paced = PacedPairs(pairs, form, 1, Budget(1_000)).rounds()
    assert sum(map(len, paced)) == len(pairs)  # no limit stopped it


def test_plans_do_not_depend_on_rows_or_names():
    arena = build_arena(questions=12, systems=SYSTEMS)
    new_names = {name: f"x{9 - n}" for n, name in enumerate(SYSTEMS)}
    shuffled = arena.answers.sample(frac=1.0, random_state=3).reset_index(drop=True)
    info = arena.info.model_copy(update={"systems": tuple(sorted(new_names.values()))})
    renamed = replace(
        arena, info=info, answers=shuffled.assign(system=shuffled["system"].map(new_names))
    )
    for options in ({"audit": 0.3}, {"pairs": 4}, {"spread": True, "audit": 0.1}):
        plan = choose_pairs(arena, **options).table
        other = choose_pairs(renamed, **options).table
        for side in ("system_a", "system_b"):
            plan[side] = plan[side].map(new_names)
        assert sorted(asked_keys(plan)) == sorted(asked_keys(other))
