"""Reading WikiEval: which text is the better one, and files that are damaged."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest
from wikieval_samples import HEADERS, QUESTIONS, published_rows, rows_of, write_wikieval

from arena import DataError, UsageError
from surrogate.metaevaluation.wikieval.pairs import CRITERIA, read_wikieval

REAL = Path(__file__).parents[4] / "shared" / "data" / "wikieval"


def by_criterion(pairs, criterion):
    return pairs[pairs["criterion"] == criterion].set_index("question")


@pytest.mark.parametrize("flipped", [(), (0,), (0, 1, 2)])
def test_the_better_text_is_told_by_where_it_comes_from(tmp_path, flipped):
    pairs = read_wikieval(write_wikieval(tmp_path, rows_of(flipped)))
    assert list(pairs["criterion"].drop_duplicates()) == list(CRITERIA)
    assert len(pairs) == 9
    for question, texts in QUESTIONS.items():
        row = by_criterion(pairs, "faithfulness").loc[question]
        assert (row["better"], row["worse"]) == (texts["answer"], texts["ungrounded"])
        assert row["context"] == texts["context"]
        row = by_criterion(pairs, "answer_relevance").loc[question]
        assert (row["better"], row["worse"]) == (texts["answer"], texts["poor"])
        assert row["context"] is None
        row = by_criterion(pairs, "context_relevance").loc[question]
        assert (row["better"], row["worse"]) == (
            texts["context"],
            texts["context"] + texts["added"],
        )


def test_a_text_whose_encoding_suffered_is_known_again(tmp_path):
    files = rows_of()
    files["cr"] = [[row[0], row[1].replace("ł", "Å‚"), row[2]] for row in files["cr"]]
    pairs = read_wikieval(write_wikieval(tmp_path, files), ["context_relevance"])
    assert len(pairs) == 3
    assert (pairs["better"].str.len() < pairs["worse"].str.len()).all()


def changed(name, place, column, value):
    files = rows_of()
    files[name][place][HEADERS[name].index(column)] = value
    return files


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (changed("ar", 0, "answer", " "), r"ar\.csv:2: answer = ' ': is empty; give it a value"),
        (changed("cr", 0, "context", ""), r"cr\.csv:2: context = None: is missing"),
        (changed("ar", 3, "question", "Who?"), r"ar\.csv:5: question = 'Who\?': stands in 1 row"),
        (changed("ff", 0, "context", "Else."), r"ff\.csv:2: context = .*: differs from that of"),
        (rows_of() | {"cr": []}, r"cr\.csv: holds nothing"),
        (
            changed("ar", 3, "answer", "Else."),
            r"no one answer of it is the one in",
        ),
    ],
)
def test_damaged_files_are_refused(tmp_path, files, message):
    with pytest.raises(DataError, match=message):
        read_wikieval(write_wikieval(tmp_path, files))


def test_the_real_files():
    if not REAL.is_dir():
        pytest.skip(f"no WikiEval at {os.path.relpath(REAL)}")
    pairs = read_wikieval(REAL)
    assert pairs["criterion"].value_counts().to_dict() == dict.fromkeys(CRITERIA, 25)
    contexts = by_criterion(pairs, "context_relevance")
    assert (contexts["better"].str.len() < contexts["worse"].str.len()).all()


@pytest.mark.parametrize("where", ["rows.parquet", "clone/data/train-00000-of-00001.parquet"])
def test_the_published_rows_hold_the_pairs_of_the_recast(tmp_path, where):
    file = tmp_path / where
    file.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(published_rows()).to_parquet(file)
    found = read_wikieval(file if where == "rows.parquet" else tmp_path / "clone")
    recast = read_wikieval(write_wikieval(tmp_path / "recast"))
    pd.testing.assert_frame_equal(found, recast)
    assert (
        list(read_wikieval(file, ["context_relevance"])["criterion"]) == ["context_relevance"] * 3
    )


def test_published_rows_that_are_faulty_are_told(tmp_path):
    file = tmp_path / "wikieval.jsonl"
    rows = published_rows()
    rows[1]["context_v2"] = []
    rows[2]["question"] = rows[0]["question"]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError) as refused:
        read_wikieval(file)
    assert [(each.line, each.field) for each in refused.value.problems] == [
        (2, "context_v2"), (3, "question")
    ]  # fmt: skip
    file.write_text("")
    with pytest.raises(DataError, match="holds nothing"):
        read_wikieval(file)
    (tmp_path / "other.csv").write_text("question\nWhy?\n")
    with pytest.raises(UsageError, match=r"holds other\.csv, wikieval\.jsonl; name the one"):
        read_wikieval(tmp_path)
