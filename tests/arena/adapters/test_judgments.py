"""Reading judgments from folders, files and battle tables."""

import pandas as pd
import pytest
from simulations import small_simulation

from arena import write_arena
from arena.adapters.judgments import checked_judgments, read_judgments
from arena.data.errors import DataError, UsageError
from arena.data.rows import write_rows

COLUMNS = ["query_id", "language", "system_a", "system_b", "winner", "judge"]


def table(**columns):
    base = {"system_a": ["x", "y"], "system_b": ["y", "z"], "winner": ["a", "tie"]}
    return pd.DataFrame(base | columns)


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".csv", ".parquet"])
def test_every_format_is_read_and_completed(tmp_path, suffix):
    path = tmp_path / f"battles{suffix}"
    write_rows(table(), path)
    read = read_judgments(path)
    assert list(read) == COLUMNS
    assert read["query_id"].tolist() == ["battle-1", "battle-2"]
    assert set(read["language"]) == {"und"}
    assert set(read["judge"]) == {"judge"}
    assert read["winner"].tolist() == ["a", "tie"]


def test_an_arena_folder_gives_its_judgments(tmp_path):
    arena = small_simulation(languages=["en"], questions=2).arena
    write_arena(arena, tmp_path)
    pd.testing.assert_frame_equal(read_judgments(tmp_path), arena.judgments[COLUMNS])


@pytest.mark.parametrize("further", [{}, {"soft": ["true", "false"]}])
def test_probabilities_are_kept(tmp_path, further):
    told = table(probability_a=["0.7", "0.2"], probability_b=["0.3", "0.1"], **further)
    path = tmp_path / "judgments.csv"
    write_rows(told, path)
    read = read_judgments(path)
    assert read["probability_a"].tolist() == ["0.7", "0.2"]
    assert set(read) == {*COLUMNS, "probability_a", "probability_b", *further}


def test_a_battle_table_is_read(tmp_path):
    path = tmp_path / "battles.csv"
    winners = ["model_a", "model_b", "tie (bothbad)"]
    battles = {"model_a": ["x"] * 3, "model_b": ["y"] * 3, "winner": winners}
    write_rows(pd.DataFrame(battles), path)
    assert read_judgments(path)["winner"].tolist() == ["a", "b", "tie"]
    write_rows(pd.DataFrame(battles | {"winner": [None, "tie", "tie"]}), path)
    with pytest.raises(DataError, match=r"battles\.csv: winner = None: is missing in 1 battles"):
        read_judgments(path)


def test_numbers_become_question_ids_and_an_empty_judge_a_name():
    read = checked_judgments(table(query_id=[7, 8], judge=["", None], language=["en", "fi"]))
    assert read["query_id"].tolist() == ["7", "8"]
    assert set(read["judge"]) == {"judge"}


def test_faults_name_file_line_and_field(tmp_path):
    path = tmp_path / "judgments.csv"
    path.write_text("system_a,system_b,winner\nx,y,A\nx,y,\n,y,a\n")
    with pytest.raises(DataError) as caught:
        read_judgments(path)
    assert [(it.source, it.line, it.field) for it in caught.value.problems] == [
        ("judgments.csv", 2, "winner"),
        ("judgments.csv", 3, "winner"),
        ("judgments.csv", 4, "system_a"),
    ]
    path.write_text("system_a,system_b,winner\nx,y,a\nx,x,a\n")
    with pytest.raises(DataError, match=r"judgments\.csv:3: system_b = 'x': is judged against"):
        read_judgments(path)


def test_a_missing_column_is_named():
    with pytest.raises(DataError, match="winner = None: this column is missing"):
        checked_judgments(table().drop(columns="winner"))


@pytest.mark.parametrize("text", ["", "system_a,system_b,winner\n"])
def test_a_file_without_judgments_is_refused(tmp_path, text):
    path = tmp_path / "judgments.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"judgments\.csv: there is no judgment in it"):
        read_judgments(path)
    with pytest.raises(UsageError, match="there is no file"):
        read_judgments(tmp_path / "absent.csv")


def test_a_broken_file_is_named(tmp_path):
    path = tmp_path / "judgments.jsonl"
    path.write_text("nothing\n")
    with pytest.raises(DataError, match=r"judgments\.jsonl:1: is not JSON"):
        read_judgments(path)
