"""What an arena's folder knows of its judges."""

import pytest

from arena.data.errors import DataError
from arena.quality.judge_report import MetaEvaluation
from surrogate_arena.cli.judging_records import add_metaevaluations, read_judging_records


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
