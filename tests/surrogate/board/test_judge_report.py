"""What a board says of its judge: what an arena's folder knows of it."""

from dataclasses import replace

import pytest

from arena.data.errors import DataError
from arena.quality.judge_label import read_judging_records
from arena.quality.judge_report import MetaEvaluation
from arena.quality.people_agreement import add_metaevaluations
from surrogate import rank_systems


def entry(judge, dataset="memerag", value=0.712):
    return MetaEvaluation(
        judge=judge,
        dataset=dataset,
        metric="balanced_accuracy",
        prompt="p@1",
        value=value,
        standard_error=0.013,
        n=100,
        languages=["en"],
    )


def test_an_entry_belongs_to_the_judge_of_its_name(tmp_path):
    ours = [entry("llm:gpt-4o"), entry("gpt-4o", "grouse"), entry("gpt-4o", "wikieval")]
    add_metaevaluations(tmp_path, [*ours, entry("llm:gpt-4o-mini"), entry("lexical")])
    found = read_judging_records(tmp_path, "gpt-4o").metaevaluations
    assert sorted(found, key=str) == sorted(ours, key=str) == list(found)
    assert read_judging_records(tmp_path, "gpt-4").metaevaluations == ()


def test_a_damaged_file_is_refused(tmp_path):
    (tmp_path / "metaevaluation.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=r"metaevaluation.json"):
        read_judging_records(tmp_path, "m")


@pytest.mark.slow
def test_a_judge_that_always_says_the_same_is_named_first(english_arena, build_quickly):
    sided = english_arena.judgments.assign(winner="a")
    board = build_quickly(replace(english_arena, judgments=sided))
    first, *_ = board.summary.macro.conclusions
    assert first.is_warning
    assert "unreliable" in first.sentence
    assert "whatever the answers are" in first.sentence
    new = english_arena.answers[english_arena.answers["system"] == board.systems[0]]
    placed = rank_systems(
        board,
        new.assign(system="newcomer"),
        english_arena,
        feature_table=board.features[board.features["system"] == board.systems[0]].assign(
            system="newcomer"
        ),
    )
    assert placed.notes[0] == first.sentence
