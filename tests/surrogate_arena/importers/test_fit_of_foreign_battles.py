"""``fit`` on battles as people bring them, by the command line."""

import json

import pandas as pd
import pytest

from surrogate_arena.cli.app import main


@pytest.fixture
def fitted(tmp_path, capsys):
    def fit(text, *options, name="battles.csv"):
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(SystemExit) as ended:
            main(["fit", str(path), "--json", *options])
        assert not ended.value.code
        found = json.loads(capsys.readouterr().out)
        return {row["system"]: row for row in found["ratings"]}, found

    return fit


def test_columns_of_other_names_are_chosen(fitted):
    text = "home,away,who\np,q,p\nq,r,r\np,r,tie\n"
    columns = ["system_a=home", "system_b=away", "winner=who"]
    options = [part for column in columns for part in ("--column", column)]
    ratings, _ = fitted(text, *options)
    assert [ratings[name]["wins"] for name in "pqr"] == [1, 0, 1]


def test_what_is_not_read_is_said(fitted):
    _, found = fitted("model_a,model_b,winner,tstamp\nx,y,model_a,17.5\nx,y,,3\n")
    reasons = {row["item"]: row["count"] for row in found["skipped"]}
    assert reasons == {"column": 1, "judgment": 1}


def test_names_that_pandas_wrote_as_decimals_are_whole(fitted):
    """Systems called 4 were read as 4 and 4.0 in one table, and winners as points."""
    text = "question,model_a,model_b,winner\nq1,4,5,4.0\nq2,4.0,5.0,5\nq3,4.0,6,4\n"
    ratings, _ = fitted(text)
    assert set(ratings) == {"4", "5", "6"}
    assert (ratings["4"]["wins"], ratings["4"]["losses"]) == (2, 1)
    versions, _ = fitted("model_a,model_b,winner\nv4.0,4.0,v4.0\n")
    assert set(versions) == {"v4.0", "4.0"}


def test_a_column_says_by_true_and_false_whether_side_a_won(fitted):
    text = "question,model_a,model_b,A Wins\n1,x,y,true\n2,x,y,false\n3,y,x,False\n"
    ratings, _ = fitted(text)
    assert (ratings["x"]["wins"], ratings["x"]["losses"]) == (2, 1)


def test_a_weight_counts(fitted):
    text = "question_id,model_a,model_b,winner,weight\n1,x,y,model_a,10\n2,x,y,model_b,1\n"
    ratings, _ = fitted(text)
    assert (ratings["x"]["wins"], ratings["x"]["losses"]) == (10, 1)
    assert ratings["x"]["rating"] > 0.3


@pytest.mark.parametrize("names", [("a", "b", "z1", "z2"), ("z8", "z9", "a1", "a2")])
def test_the_group_with_more_battles_comes_first_whatever_its_name(fitted, names):
    rare, other, first, second = names
    rows = [f"{rare},{other},model_a", *[f"{first},{second},model_a"] * 3]
    ratings, _ = fitted("\n".join(["model_a,model_b,winner", *rows, f"{second},{first},model_a"]))
    assert {name: ratings[name]["group"] for name in names} == {
        rare: 2,
        other: 2,
        first: 1,
        second: 1,
    }


def test_notes_name_options_as_they_are_typed(fitted):
    rows = [f"{question},x,y,{winner}" for question in (1, 2) for winner in ("a", "b")]
    text = "\n".join(["question_id,model_a,model_b,winner", *rows])
    _, found = fitted(text, "--ridge", "0")
    note = next(note for note in found["notes"] if "bootstrap" in note)
    assert "--ridge" in note
    assert all(note.isprintable() for note in found["notes"])


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_system_called_none_keeps_its_wins(suffix, run, tmp_path, capsys):
    winners = ["none"] * 9 + ["rag"] * 3
    table = pd.DataFrame(
        {
            "question_id": [f"q{number}" for number in range(12)],
            "model_a": "none",
            "model_b": "rag",
            "winner": winners,
            "judge": "j",
        }
    )
    path = tmp_path / f"battles.{suffix}"
    if suffix == "parquet":
        table.to_parquet(path)
    elif suffix == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_json(path, orient="records", lines=True)
    assert run("fit", path, "--json") == 0
    ratings = json.loads(capsys.readouterr().out)["ratings"]
    assert {row["system"]: row["wins"] for row in ratings} == {"none": 9, "rag": 3}
