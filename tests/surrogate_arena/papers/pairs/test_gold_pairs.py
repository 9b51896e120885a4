"""Pairs with a better answer: published columns, votes, and what is faulty."""

import json

import pandas as pd
import pytest

from arena import Arena, DataError, UsageError, write_arena
from surrogate_arena.papers.pairs.gold_pairs import gold_pairs_of_arena
from surrogate_arena.papers.pairs.reader import read_gold_pairs

SPLITS = (
    *("completeness_qa", "completeness_summ", "conciseness_qa", "conciseness_summ"),
    *("faithfulness_qa", "faithfulness_summ", "refusal_answerable", "refusal_unanswerable"),
)
"""Those of ContextualJudgeBench."""


def published(split, n_pairs=3):
    """Rows with the columns of ContextualJudgeBench."""
    return [
        {
            "problem_id": f"{split}_{number}",
            "question": f"Who wrote book {number}?",
            "context": f"Book {number} is by Ada.\n\nIt is long.",
            "positive_response": f"Ada wrote book {number}.",
            "negative_response": "I do not know.",
        }
        for number in range(n_pairs)
    ]


@pytest.fixture
def folder(tmp_path):
    data = tmp_path / "ContextualJudgeBench" / "data"
    data.mkdir(parents=True)
    for split in SPLITS:
        rows = pd.DataFrame(published(split))
        rows.to_parquet(data / f"{split}-00000-of-00001.parquet")
    return data.parent


def test_a_folder_of_splits_is_read_as_published(folder):
    gold = read_gold_pairs(folder)
    assert gold.name == "ContextualJudgeBench"
    assert gold.pairs["split"].value_counts().to_dict() == dict.fromkeys(SPLITS, 3)
    # One question in all splits is one unit of sampling.
    assert gold.pairs["question"].nunique() == 3
    first = gold.arena.queries.set_index("query_id").loc[
        "data/conciseness_qa-00000-of-00001.parquet:1"
    ]
    (passage,) = first["passages"]
    assert passage["text"] == "Book 0 is by Ada.\n\nIt is long."
    answers = gold.arena.answers.set_index(["query_id", "system"])["answer"]
    pair = gold.pairs[gold.pairs["split"] == "conciseness_qa"].iloc[0]
    better = pair[f"system_{pair['better']}"]
    assert answers[pair["query_id"], better] == "Ada wrote book 0."
    assert gold.reference == ()
    assert gold.recorded_judges == []


def test_equal_answers_are_counted_and_languages_chosen(tmp_path):
    rows = [{**row, "language": "de", "split": "hard"} for row in published("any")]
    rows[0]["negative_response"] = rows[0]["positive_response"]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    gold = read_gold_pairs(path)
    assert gold.skipped == {"equal answers": 1}
    assert gold.pairs["query_id"].is_unique
    assert gold.pairs[["language", "split"]].values.tolist() == [["de", "hard"]] * 2
    with pytest.raises(UsageError, match="no pair in fr of which one answer"):
        read_gold_pairs(path, languages=["fr"])
    path.write_text(json.dumps(rows[0]) + "\n")
    with pytest.raises(UsageError, match="no pair of which one answer"):
        read_gold_pairs(path)


def test_faulty_rows_are_all_listed_with_their_lines(tmp_path):
    rows = published("split")
    rows[0]["question"] = " "
    rows[1].pop("negative_response")
    rows[2]["language"] = "Klingonish"
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError) as refused:
        read_gold_pairs(path)
    problems = [(each.line, each.field) for each in refused.value.problems]
    assert problems == [(1, "question"), (2, "negative_response"), (3, "language")]
    assert all(each.hint for each in refused.value.problems)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="there is no file to read"):
        read_gold_pairs(tmp_path / "empty")
    with pytest.raises(UsageError, match="the table says who is better"):
        read_gold_pairs(path, reference="gpt-4")


def votes(*winners, judge):
    return [
        {"query_id": "q", "system_a": "r", "system_b": "s", "winner": winner, "judge": judge}
        for winner in winners
    ]


@pytest.fixture
def voted():
    judgments = [
        *votes("a", "a", "b", judge="people"),
        {"query_id": "q", "system_a": "t", "system_b": "r", "winner": "b", "judge": "people"},
        {"query_id": "q", "system_a": "s", "system_b": "t", "winner": "tie", "judge": "people"},
        *votes("b", judge="gpt"),
        *votes("tie", judge="llama"),
    ]
    answers = [{"query_id": "q", "system": system, "answer": system} for system in "rst"]
    questions = pd.DataFrame([{"query_id": "q", "query": "Why?", "passages": []}])
    tables = (questions, pd.DataFrame(answers), pd.DataFrame(judgments))
    return Arena.from_frames(*tables, language="en", name="voted")


def test_the_majority_of_people_says_which_answer_is_better(voted, tmp_path):
    gold = gold_pairs_of_arena(voted)
    winners = [pair[f"system_{pair['better']}"] for pair in gold.pairs.to_dict("records")]
    assert winners == ["r", "r"]
    assert gold.skipped == {"no majority for either answer": 1}
    assert (gold.reference, gold.recorded_judges) == (("people",), ["gpt", "llama"])
    by_gpt = gold_pairs_of_arena(voted, "gpt")
    assert by_gpt.pairs["better"].tolist() == ["b"]
    write_arena(voted, tmp_path / "arena")
    assert read_gold_pairs(tmp_path / "arena").pairs.equals(gold.pairs)
    with pytest.raises(UsageError, match=r"no language 'de' here.*available: en"):
        read_gold_pairs(tmp_path / "arena", languages=["de"])
    with pytest.raises(UsageError, match="no pair of which one answer"):
        gold_pairs_of_arena(voted, "llama")


def test_an_arena_without_votes_asks_for_a_reference(voted):
    judgments = voted.judgments[voted.judgments["judge"] == "gpt"]
    machines = Arena(voted.info, voted.queries, voted.answers, judgments)
    with pytest.raises(UsageError, match=r"nobody has voted in voted.*reference.*gpt"):
        gold_pairs_of_arena(machines)
