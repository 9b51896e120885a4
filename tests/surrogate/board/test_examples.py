"""Answers chosen to be shown, with the verdicts on them."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from arena.data.errors import DataError
from surrogate.board.details import choose_examples
from surrogate.board.tables import EXAMPLES_FILE, read_examples


def test_two_a_language_where_there_is_room(small_arena):
    table = choose_examples(small_arena)
    assert (table.groupby(["system", "language"]).size() == 2).all()
    assert set(table["system"]) == set(small_arena.info.systems)
    per_question = table.groupby(["language", "query_id"])["system"].nunique()
    assert (per_question == len(small_arena.info.systems)).all()  # side by side


def test_the_choice_rests_on_seed_and_content_alone(small_arena):
    shuffled = replace(
        small_arena,
        queries=small_arena.queries.sample(frac=1, random_state=1),
        answers=small_arena.answers.sample(frac=1, random_state=2),
        judgments=small_arena.judgments.sample(frac=1, random_state=3),
    )
    chosen = choose_examples(small_arena, seed=5)
    pd.testing.assert_frame_equal(choose_examples(shuffled, seed=5), chosen)
    others = {tuple(choose_examples(small_arena, seed=seed)["query_id"]) for seed in range(5)}
    assert len(others) > 1


def test_judged_questions_come_first(small_arena):
    english = small_arena.judgments[small_arena.judgments["language"] == "en"]
    kept = english[english["query_id"].isin(sorted(english["query_id"].unique())[:2])]
    table = choose_examples(replace(small_arena, judgments=kept))
    english = table[table["language"] == "en"]
    assert set(english["query_id"]) == set(kept["query_id"])
    assert english["verdicts"].map(bool).all()
    assert not table.loc[table["language"] == "sw", "verdicts"].map(bool).any()


def test_verdicts_are_those_of_the_question_seen_from_the_system(small_arena):
    row = choose_examples(small_arena).iloc[0]
    judgments = small_arena.judgments
    asked = judgments[
        (judgments["language"] == row["language"]) & (judgments["query_id"] == row["query_id"])
    ]
    for verdict in row["verdicts"]:
        pair = {row["system"], verdict["opponent"]}
        (found,) = [item for item in asked.itertuples() if {item.system_a, item.system_b} == pair]
        winner = {"a": found.system_a, "b": found.system_b}.get(found.winner)
        expected = "tie" if winner is None else "win" if winner == row["system"] else "loss"
        assert (verdict["outcome"], verdict["judge"]) == (expected, found.judge)
    assert len(row["verdicts"]) == len(small_arena.info.systems) - 1


def test_examples_that_no_file_can_store_are_refused(tmp_path):
    row = {"language": "en", "query_id": "q", "query": "Why?", "system": "s", "answer": "\ud800"}
    (tmp_path / EXAMPLES_FILE).write_text(json.dumps(row))
    with pytest.raises(DataError, match="holds half a surrogate pair"):
        read_examples(tmp_path)
