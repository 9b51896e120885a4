"""Reading judgments from folders, files and battle tables."""

from dataclasses import replace

import pandas as pd
import pytest
from simulations import small_simulation

from arena import import_arena, read_arena, write_arena
from arena.data.errors import DataError, UsageError
from arena.data.judge_names import is_person
from arena.data.tables import write_rows
from arena.rating.battles import Battles
from arena.rating.judgments import checked_judgments
from surrogate_arena.importers.judgments import counted_judgments_of, read_judgments

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
    assert set(read["judge"]) == {"unknown"}
    assert read["winner"].tolist() == ["a", "tie"]


def test_an_arena_folder_gives_its_judgments(tmp_path):
    arena = small_simulation(languages=["en"], questions=2).arena
    write_arena(arena, tmp_path)
    pd.testing.assert_frame_equal(read_judgments(tmp_path), arena.judgments[COLUMNS])


def test_probabilities_are_read_as_numbers(tmp_path):
    judgments = table(probability_a=["0.7", "0.2"], probability_b=["0.3", "0.1"])
    path = tmp_path / "judgments.csv"
    write_rows(judgments, path)
    read = read_judgments(path)
    assert read["probability_a"].tolist() == [0.7, 0.2]
    assert set(read) == {*COLUMNS, "probability_a", "probability_b"}


FAULTY = {
    "outside": ({"probability_a": [0.7, 1.2], "probability_b": [0.1, 0.1]}, "probability_a"),
    "negative": ({"probability_a": [0.7, 0.2], "probability_b": [0.1, -0.1]}, "probability_b"),
    "text": ({"probability_a": [0.7, "much"], "probability_b": [0.1, 0.2]}, "probability_a"),
    "sum": ({"probability_a": [0.7, 0.8], "probability_b": [0.1, 0.3]}, "probability_a"),
    "half": ({"probability_a": [0.7, None], "probability_b": [0.1, 0.3]}, "probability_a"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_faulty_probabilities_name_file_line_and_field(tmp_path, name):
    columns, field = FAULTY[name]
    path = tmp_path / "judgments.jsonl"
    write_rows(table(**columns), path)
    with pytest.raises(DataError) as found:
        read_judgments(path)
    (problem,) = found.value.problems
    assert (problem.source, problem.line) == ("judgments.jsonl", 2)
    assert problem.field.startswith(field)
    assert problem.hint
    # The same in an arena folder.
    arena = small_simulation(languages=["en"], questions=2).arena
    values = {key: [value[0]] * len(arena.judgments) for key, value in columns.items()}
    for key, value in columns.items():
        values[key][1] = value[1]
    write_arena(replace(arena, judgments=arena.judgments.assign(**values)), tmp_path / "arena")
    with pytest.raises(DataError) as found:
        read_arena(tmp_path / "arena")
    (problem,) = found.value.problems
    assert (problem.line, problem.field.startswith(field)) == (2, True)


def test_one_column_of_probabilities_names_the_other(tmp_path):
    judgments = table(probability_a=[0.7, 0.2])
    for name, kept in (("with.csv", judgments), ("without.csv", judgments.drop(columns="winner"))):
        path = tmp_path / name
        write_rows(kept, path)
        with pytest.raises(DataError) as found:
            read_judgments(path)
        (problem,) = found.value.problems
        assert (problem.source, problem.field) == (name, "probability_b")
        assert "probability_a" in problem.hint


def test_a_battle_table_is_read(tmp_path):
    path = tmp_path / "battles.csv"
    winners = ["model_a", "model_b", "tie (bothbad)"]
    battles = {"model_a": ["x"] * 3, "model_b": ["y"] * 3, "winner": winners}
    write_rows(pd.DataFrame(battles), path)
    assert read_judgments(path)["winner"].tolist() == ["a", "b", "tie"]
    write_rows(pd.DataFrame(battles | {"winner": [None, "tie", "tie"]}), path)
    read = counted_judgments_of(path)
    assert read.table["winner"].tolist() == ["tie", "tie"]
    assert read.skipped[["reason", "count"]].values.tolist() == [["it has no winner", 1]]


def test_numbers_become_question_ids_and_an_empty_judge_a_name():
    read = checked_judgments(table(query_id=[7, 8], judge=["", None], language=["en", "fi"]))
    assert read["query_id"].tolist() == ["7", "8"]
    assert set(read["judge"]) == {"unknown"}


def test_faults_name_file_line_and_field(tmp_path):
    path = tmp_path / "judgments.csv"
    path.write_text("system_a,system_b,winner\nx,y,who?\nx,y,\n,y,a\n")
    with pytest.raises(DataError) as caught:
        read_judgments(path)
    assert [(problem.source, problem.line, problem.field) for problem in caught.value.problems] == [
        ("judgments.csv", 2, "winner"),
        ("judgments.csv", 4, "system_a"),
    ]
    path.write_text("system_a,system_b,winner\nx,y,a\nx,x,a\n")
    with pytest.raises(DataError, match=r"judgments\.csv:3: system_b = 'x': is judged against"):
        read_judgments(path)


def written(path, *rows, header="question_id,model_a,model_b,winner"):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("header", "row", "columns"),
    [
        ("left,right,winner", "x,y,left", {}),
        ("agent_a,agent_b,winner", "x,y,A", {}),
        ("model_1,model_2,winner", "x,y,1\nx,y,2\nx,y,tie", {}),
        ("Model A,Model B,Winner", "x,y,Model A", {}),
        ("home,away,who", "x,y,x", {"system_a": "home", "system_b": "away", "winner": "who"}),
        ("generator_1,generator_2,preference", "x,y,1.2\nx,y,1.9", {}),
        ("model_a,model_b,score_a,score_b", "x,y,8,7", {}),
    ],
)
def test_battles_under_other_names_are_read(tmp_path, header, row, columns):
    path = written(tmp_path / "battles.csv", row, header=header)
    table = counted_judgments_of(path, columns=columns).table
    assert table.loc[0, ["system_a", "system_b", "winner"]].tolist() == ["x", "y", "a"]


def test_a_column_that_is_missing_names_the_option(tmp_path):
    path = written(tmp_path / "battles.csv", "x,y,a", header="home,away,winner")
    with pytest.raises(DataError, match=r"--column system_a=NAME; the columns are home, away"):
        read_judgments(path)


def test_names_lose_spaces_at_their_edges_and_it_is_counted(tmp_path):
    rows = ["1,gpt-4o,llama,model_a", "2,gpt-4o ,llama,model_a", "3,llama, gpt-4o,model_b"]
    read = counted_judgments_of(written(tmp_path / "battles.csv", *rows))
    assert {*read.table["system_a"], *read.table["system_b"]} == {"gpt-4o", "llama"}
    assert read.skipped.loc[read.skipped["item"] == "name", "count"].sum() == 2


def test_names_that_are_numbers_are_names(tmp_path):
    path = tmp_path / "battles.jsonl"
    path.write_text(
        '{"question_id": 1, "model_a": 4, "model_b": 3.5, "winner": "model_a"}\n'
        '{"question_id": 2, "model_a": "4", "model_b": 3.5, "winner": "4"}\n'
        '{"question_id": 3, "model_a": 4.0, "model_b": "3.5", "winner": 4}\n'
    )
    table = read_judgments(path)
    assert set(table["system_a"]) == {"4"}
    assert set(table["system_b"]) == {"3.5"}
    assert set(table["winner"]) == {"a"}


def test_weights_are_read_and_bad_ones_refused(tmp_path):
    header = "question_id,model_a,model_b,winner,weight"
    path = written(tmp_path / "b.csv", "1,x,y,model_a,10", '2,x,y,model_b,"0,5"', header=header)
    assert read_judgments(path)["weight"].tolist() == [10, 0.5]
    for weight in ("0", "-1", "nan", "much", ""):
        written(path, "1,x,y,model_a,1", f"2,x,y,model_b,{weight}", header=header)
        with pytest.raises(DataError) as caught:
            read_judgments(path)
        (problem,) = caught.value.problems
        assert (problem.line, problem.field) == (3, "weight")


@pytest.mark.parametrize(
    ("columns", "cells", "judge"),
    [
        ("judge", "gpt-4", "gpt-4"),
        ("judge_model", "judge-x", "judge-x"),
        ("judge_model,source", ",human", "human"),
        ("judge_model,source", ",llm-judge", "unknown"),
        ("annotator", "weighted_alpaca_eval", "weighted_alpaca_eval"),
        ("annotator", "17", "person:17"),
        ("voter", "anna", "person:anna"),
        ("voter", "arena_user_5", "arena_user_5"),
        ("user", "5", "person:5"),
        ("worker_id", "A3X", "person:A3X"),
        ("rater", "anna", "person:anna"),
        ("rater", "gpt-4o", "gpt-4o"),
        ("other", "x", "unknown"),
        ("judge_model_name", "gpt-4o", "gpt-4o"),
        ("evaluator_model", "gpt-4o", "gpt-4o"),
        ("judge", '"[""gpt-4"", ""pair-v2""]"', "gpt-4"),
        ("judge", """"['gpt-4', 'claude']\"""", "gpt-4+claude"),
        ("judge", '"{""model"": ""gpt-4"", ""prompt"": ""p""}"', "gpt-4"),
        ("judge", "anna@example.org", "person:anna@example.org"),
        ("judge", "A1B2C3D4E5F6G", "person:A1B2C3D4E5F6G"),
        ("judge", "5f0abc5f0abc5f0abc5f0abc", "person:5f0abc5f0abc5f0abc5f0abc"),
        ("voter", "Anonymous", "human"),
        ("user_id", "guest", "human"),
        ("judge,voter", "gpt-4,guest", "gpt-4"),
    ],
)
def test_who_judged_is_read(tmp_path, columns, cells, judge):
    header = f"question_id,model_a,model_b,winner,{columns}"
    path = written(tmp_path / "b.csv", f"1,x,y,model_a,{cells}", header=header)
    table = read_judgments(path)
    assert table["judge"].tolist() == [judge]
    machines = {"gpt-4", "gpt-4+claude", "judge-x", "weighted_alpaca_eval", "gpt-4o", "unknown"}
    assert is_person(judge) == (judge not in machines)


def test_a_voter_beside_a_judge_is_kept(tmp_path):
    header = "question_id,model_a,model_b,winner,judge,voter"
    rows = ["1,x,y,model_a,crowd,7", "1,x,y,model_a,crowd,8", "1,x,y,model_a,crowd,8"]
    table = read_judgments(written(tmp_path / "b.csv", *rows, header=header))
    assert table["judge"].unique().tolist() == ["crowd"]
    assert table["voter"].tolist() == ["7", "8", "8"]
    assert len(Battles.from_judgments(table)) == 2


VOTES = ["1,x,y,model_a"] * 3 + ["1,x,y,model_b"]


@pytest.mark.parametrize(
    ("header", "ends", "counted"),
    [
        ("", [""] * 4, 4),
        (",judge", [",gpt-4"] * 4, 2),
        (",judge", [",human"] * 4, 4),
        (",judge", [",arena_user_1"] * 4, 2),
        (",judge,tstamp", [f",gpt-4,{time}" for time in (1, 2, 2, 3)], 3),
        (",judge_model", [",gpt-4", ",gpt-4", ",", ","], 3),
        (",voter", [",anonymous"] * 4, 4),
        (",user", [",guest", ",n/a", ",Unknown", ",anonymous user"], 4),
        (",judge", [",person:anonymous"] * 4, 4),
        (",judge,voter", [",crowd,anon"] * 4, 4),
        (",judge,Unnamed: 0", [f",gpt-4,{number}" for number in (7, 2, 5, 3)], 2),
        (",judge,index", [f",gpt-4,{number}" for number in range(1, 5)], 2),
        (",judge,idx", [f",gpt-4,{number}" for number in (3, 5, 9, 12)], 2),
        (",judge,idx", [f",gpt-4,{number}" for number in (3, 1, 9, 2)], 4),
        (",judge,id", [f",gpt-4,{number}" for number in range(4)], 4),
    ],
)
def test_exact_copies_by_a_named_judge_count_once(tmp_path, header, ends, counted):
    rows = [vote + end for vote, end in zip(VOTES, ends, strict=True)]
    path = written(tmp_path / "b.csv", *rows, header=f"question_id,model_a,model_b,winner{header}")
    assert len(Battles.from_judgments(read_judgments(path))) == counted
    arena = import_arena("lmarena", [path]).arena
    write_arena(arena, tmp_path / "arena")
    assert len(Battles.from_judgments(read_judgments(tmp_path / "arena"))) == counted


def test_the_index_of_pandas_hides_no_copies(tmp_path):
    rows = [f"{number},{vote},gpt-4" for number, vote in enumerate(VOTES)]
    header = ",question_id,model_a,model_b,winner,judge"
    path = written(tmp_path / "b.csv", *rows, header=header)
    assert len(Battles.from_judgments(read_judgments(path))) == 2


@pytest.mark.parametrize(
    "header", ["Winner_Model_A,Winner_Model_B,Winner_Tie", "{0}A,{0}B,winnerTie"]
)
def test_the_case_of_columns_of_winners_does_not_count(tmp_path, header):
    header = "model_a,model_b," + header.format("winnerModel")
    rows = ["x,y,WAHR,FALSCH,FALSCH", "x,y,FALSCH,WAHR,FALSCH", "x,y,FALSCH,FALSCH,WAHR"]
    read = counted_judgments_of(written(tmp_path / "b.csv", *rows, header=header))
    assert read.table["winner"].tolist() == ["a", "b", "tie"]
    assert read.skipped.empty
    rows[1] = "x,y,FALSCH,perhaps,FALSCH"
    with pytest.raises(DataError) as caught:
        counted_judgments_of(written(tmp_path / "b.csv", *rows, header=header))
    (problem,) = caught.value.problems
    assert (problem.line, problem.value) == (3, "perhaps")


PAIRS = "query_id,question,system_a,answer_a,system_b,answer_b,winner"


@pytest.mark.parametrize(
    ("columns", "cells"),
    [
        ("voter", ["17", "17", "anonymous", "anonymous"]),
        ("Annotator ID", ["u1", "u1", "u2", "guest"]),
        ("judge", ["anna@example.org", "anna@example.org", "gpt-4", "human"]),
        ("judge,voter", ["gpt-4,u1", "gpt-4,u1", "crowd,anon", "crowd,anon"]),
    ],
)
def test_pairs_with_answers_have_the_judges_that_battles_have(tmp_path, columns, cells):
    rows = [f"1,q,m1,x,m2,y,{side},{end}" for side, end in zip("aabb", cells, strict=True)]
    path = written(tmp_path / "pairs.csv", *rows, header=f"{PAIRS},{columns}")
    fitted = read_judgments(path)
    imported = import_arena("csv", [path]).arena.judgments
    assert imported["judge"].tolist() == fitted["judge"].tolist()
    assert imported.get("voter", pd.Series()).tolist() == fitted.get("voter", pd.Series()).tolist()
    assert len(Battles.from_judgments(imported)) == len(Battles.from_judgments(fitted)) == 3


def test_a_weight_of_single_answers_is_counted_as_not_read(tmp_path):
    rows = ["q,x,a,1,3", "q,y,b,0,3"]
    path = written(tmp_path / "a.csv", *rows, header="question,system,answer,score,weight")
    read = import_arena("csv", [path])
    assert "weight" not in read.arena.info.note
    assert read.skipped["item"].tolist() == ["column"]


def test_rows_without_a_question_are_no_copies(tmp_path):
    header = "model_a,model_b,winner,judge"
    path = written(tmp_path / "b.csv", *["x,y,model_a,gpt-4"] * 3, header=header)
    assert len(Battles.from_judgments(read_judgments(path))) == 3


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
