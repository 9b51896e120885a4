"""Verdicts in a file of their own join imported answers, by id or by the question's text."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import DataError, UsageError, read_arena
from surrogate_arena.importers import import_arena, write_import

QUESTIONS = {"q1": "Who wrote Faust?", "q2": "Who wrote Emma?", "q3": "Who wrote Ulysses?"}


def answers_of(systems):
    rows = []
    for query_id, question in QUESTIONS.items():
        for system in systems:
            rows.append((query_id, question, system, f"{system} says so."))
    return pd.DataFrame(rows, columns=["query_id", "question", "system", "answer"])


def imported(folder, verdicts, systems=("old", "new"), by_text=False, **options):
    answers = answers_of(systems)
    if by_text:
        answers = answers.drop(columns="query_id")
    answers.to_csv(folder / "answers.csv", index=False)
    pd.DataFrame(verdicts).to_csv(folder / "votes.csv", index=False)
    return import_arena(
        "csv",
        folder / "answers.csv",
        verdicts=folder / "votes.csv",
        **{"language": "en"} | options,
    )


def winners_in(arena):
    names = {"a": "system_a", "b": "system_b"}
    rows = arena.judgments.to_dict(orient="records")
    return {row["query_id"]: row.get(names.get(row["winner"], ""), "tie") for row in rows}


@pytest.mark.parametrize("by_text", [False, True])
def test_verdicts_find_their_questions_by_id_or_text(tmp_path, by_text):
    verdicts = {
        "question" if by_text else "query_id": list(QUESTIONS.values() if by_text else QUESTIONS),
        "left": ["old", "new", "old"],
        "right": ["new", "old", "new"],
        "label": ["left", "right", "equal"],
    }
    columns = {"system_a": "left", "system_b": "right", "winner": "label"}
    read = imported(tmp_path, verdicts, by_text=by_text, columns=columns)
    texts = read.arena.queries.set_index("query_id")["query"]
    found = {texts[query_id]: winner for query_id, winner in winners_in(read.arena).items()}
    assert found == dict(zip(QUESTIONS.values(), ["old", "old", "tie"], strict=True))
    write_import(read, tmp_path / "arena")
    assert read_arena(tmp_path / "arena").judgments.equals(read.arena.judgments)


def test_two_systems_need_no_columns_of_their_own(tmp_path):
    verdicts = {
        "id": ["q1", "q1", "q2"],
        "who": ["Ada", "Bob", "Ada"],
        "preferred": ["new", "old", "same"],
    }
    read = imported(tmp_path, verdicts, columns={"voter": "who", "verdicts.query_id": "id"})
    judgments = read.arena.judgments
    assert list(judgments["voter"]) == ["Ada", "Bob", "Ada"]
    winners = judgments["system_a"].where(judgments["winner"] == "a", judgments["system_b"])
    assert list(winners[:2]) == ["new", "old"]
    assert judgments["winner"].iloc[2] == "tie"
    assert judgments["sides"].eq("none").all()
    assert any("3 verdicts by human" in note for note in read.notes)


def test_among_three_systems_the_two_that_met_have_to_be_named(tmp_path):
    verdicts = {"query_id": ["q1"], "preferred": ["new"]}
    with pytest.raises(UsageError, match="system_a"):
        imported(tmp_path, verdicts, systems=("old", "new", "third"))


def test_letters_are_not_read_as_systems_that_no_column_names(tmp_path):
    with pytest.raises(UsageError, match="system_a"):
        imported(tmp_path, {"query_id": ["q1"], "preferred": ["a"]})


def test_a_verdict_needs_a_question(tmp_path):
    verdicts = {"system_a": ["old"], "system_b": ["new"], "winner": ["a"]}
    with pytest.raises(UsageError, match=r"--column verdicts\.query_id=NAME"):
        imported(tmp_path, verdicts)


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [("query_id", "q9", "query_id"), ("system_b", "newer", "system_b")],
)
def test_strange_questions_and_systems_are_named_by_line(tmp_path, name, value, field):
    verdicts = {
        "query_id": ["q1", "q2"],
        "system_a": ["old", "old"],
        "system_b": ["new", "new"],
        "winner": ["a", "b"],
    }
    verdicts[name] = [verdicts[name][0], value]
    with pytest.raises(DataError) as caught:
        imported(tmp_path, verdicts)
    (problem,) = caught.value.problems
    assert (problem.source, problem.line, problem.field) == ("votes.csv", 3, field)
    assert problem.value == value


def test_one_id_in_two_languages_needs_the_language_of_the_verdict(tmp_path):
    answers = answers_of(["old", "new"])
    both = pd.concat([answers.assign(language="en"), answers.assign(language="de")])
    both.to_csv(tmp_path / "answers.csv", index=False)
    verdict = {"query_id": "q1", "system_a": "old", "system_b": "new", "winner": "a"}
    votes = tmp_path / "votes.jsonl"
    votes.write_text(json.dumps(verdict))
    with pytest.raises(DataError, match="language"):
        import_arena("csv", tmp_path / "answers.csv", verdicts=votes)
    votes.write_text(json.dumps(verdict | {"language": "de"}))
    read = import_arena("csv", tmp_path / "answers.csv", verdicts=votes)
    assert list(read.arena.judgments["language"]) == ["de"]


def test_scores_of_the_answers_stay_judges_beside_verdicts(tmp_path):
    answers = answers_of(["old", "new"])
    answers["faithfulness"] = [0.0, 1.0] * len(QUESTIONS)
    answers.to_csv(tmp_path / "answers.csv", index=False)
    votes = pd.DataFrame(
        {"query_id": ["q1"], "system_a": ["old"], "system_b": ["new"], "winner": ["a"]}
    )
    votes.to_csv(tmp_path / "votes.csv", index=False)
    read = import_arena(
        "csv", tmp_path / "answers.csv", verdicts=tmp_path / "votes.csv", judge="crowd"
    )
    assert read.arena.judgments["judge"].value_counts().to_dict() == {"faithfulness": 3, "crowd": 1}


@given(st.permutations(range(6)))
def test_the_order_of_rows_changes_no_verdict(tmp_path_factory, order):
    folder = tmp_path_factory.mktemp("order")
    rows = [
        (query_id, *sides, winner)
        for query_id, winner in zip(QUESTIONS, ["a", "b", "tie"], strict=True)
        for sides in (("old", "new"), ("new", "old"))
    ]
    names = ["query_id", "system_a", "system_b", "winner"]
    table = pd.DataFrame(rows, columns=names)
    verdicts = table.iloc[list(order)].to_dict(orient="list")
    found = imported(folder, verdicts).arena.judgments[names]
    assert sorted(found.itertuples(index=False, name=None)) == sorted(rows)


def test_a_column_per_system_is_read_when_all_are_named(tmp_path):
    table = answers_of(["old", "new"]).pivot(
        index=["query_id", "question"], columns="system", values="answer"
    )
    table.reset_index().to_csv(tmp_path / "wide.csv", index=False)
    long = imported(tmp_path, {"query_id": ["q1"], "winner": ["new"], "loser": ["old"]})
    wide = import_arena("csv", tmp_path / "wide.csv", columns={"answer": "old,new"}, language="en")
    key = ["system", "query_id"]
    assert wide.arena.answers.sort_values(key, ignore_index=True).equals(
        long.arena.answers.sort_values(key, ignore_index=True)
    )
    with pytest.raises(UsageError, match="--column answer="):
        import_arena("csv", tmp_path / "wide.csv", language="en")
    files = [tmp_path / "wide.csv", tmp_path / "answers.csv"]
    with pytest.raises(UsageError, match="leave out the column that names systems"):
        import_arena("csv", files, columns={"answer": "old, new"})
    (tmp_path / "answers.csv").write_text("question,answer\nWho?,Goethe.\n")
    with pytest.raises(UsageError, match=r"answers.csv has none of the columns old and new"):
        import_arena("csv", files, columns={"answer": "old, new"})
    with pytest.raises(UsageError, match="names systems"):
        import_arena(
            "csv", tmp_path / "wide.csv", columns={"answer": "old,new", "system": "query_id"}
        )


@pytest.mark.parametrize(("name", "unread"), [("wide.csv", ["note"]), ("copy.csv", None)])
def test_of_one_file_the_columns_that_neither_half_reads_are_listed(tmp_path, name, unread):
    rows = [("Who wrote Faust?", "Goethe wrote it.", "Schiller did.", "new", "Ada", "short")]
    columns = ["question", "old", "new", "preferred", "who", "note"]
    for file in ("wide.csv", "copy.csv"):
        pd.DataFrame(rows, columns=columns).to_csv(tmp_path / file, index=False)
    read = import_arena(
        "csv",
        tmp_path / "wide.csv",
        verdicts=tmp_path / name,
        columns={"answer": "old,new", "winner": "preferred", "voter": "who"},
        language="en",
    )
    listed = [reason.split("'")[1] for reason in read.skipped["reason"]]
    assert list(read.arena.judgments["voter"]) == ["Ada"]
    assert sorted(listed) == (unread or ["new", "note", "note", "old", "preferred", "who"])


def test_of_one_file_a_column_that_both_halves_leave_is_listed_whatever_its_name(tmp_path):
    names = ["who", "who' is not read", "who\" or 'note"]
    row = ["Who wrote Faust?", "Goethe wrote it.", "Schiller did.", "new", "Ada", "long", "short"]
    file = tmp_path / "wide.csv"
    pd.DataFrame([row], columns=["question", "old", "new", "preferred", *names]).to_csv(
        file, index=False
    )
    columns = {"answer": "old,new", "winner": "preferred", "voter": "who"}
    read = import_arena("csv", file, verdicts=file, columns=columns, language="en")
    listed = read.skipped.loc[read.skipped["item"] == "column", "reason"]
    assert {reason.rpartition(" is not read")[0] for reason in listed} == set(map(repr, names[1:]))
    assert set(listed) <= set(read.unread.values())


def test_ids_that_no_answer_has_are_refused_with_the_option_that_reads_them(tmp_path):
    answers = answers_of(["old", "new"]).rename(columns={"query_id": "id"})
    answers.to_csv(tmp_path / "answers.csv", index=False)
    votes = pd.DataFrame({"id": ["q1", "q2"], "preferred": ["old", "new"]})
    votes.to_csv(tmp_path / "votes.csv", index=False)
    files = {"paths": tmp_path / "answers.csv", "verdicts": tmp_path / "votes.csv"}
    with pytest.raises(UsageError, match="--column query_id=id"):
        import_arena("csv", language="en", columns={"verdicts.query_id": "id"}, **files)
    read = import_arena("csv", language="en", columns={"query_id": "id"}, **files)
    assert set(read.arena.judgments["query_id"]) == {"q1", "q2"}
    assert any("verdicts.voter=NAME" in note for note in read.notes)


def test_ids_that_differ_by_a_zero_after_the_point_are_two(tmp_path):
    answers = answers_of(["old", "new"])
    answers["query_id"] = answers["query_id"].map({"q1": "1", "q2": "1.0"})
    answers.to_csv(tmp_path / "answers.csv", index=False)
    votes = pd.DataFrame({"query_id": ["1", "1.0"], "winner": ["old", "new"]})
    votes.to_csv(tmp_path / "votes.csv", index=False)
    files = {"paths": tmp_path / "answers.csv", "verdicts": tmp_path / "votes.csv"}
    arena = import_arena("csv", **files, language="en").arena
    assert winners_in(arena) == {"1": "old", "1.0": "new"}


@pytest.mark.parametrize("of_votes", [True, False])
def test_ids_with_a_zero_after_the_point_are_those_without(tmp_path, of_votes):
    answers = answers_of(["old", "new"])
    answers["query_id"] = answers["query_id"].str.removeprefix("q") + ("" if of_votes else ".0")
    answers.to_csv(tmp_path / "answers.csv", index=False)
    votes = pd.DataFrame({"query_id": ["1", "2"], "winner": ["old", "new"]})
    votes["query_id"] += ".0" if of_votes else ""
    votes.to_csv(tmp_path / "votes.csv", index=False)
    files = {"paths": tmp_path / "answers.csv", "verdicts": tmp_path / "votes.csv"}
    arena = import_arena("csv", **files, language="en").arena
    assert list(winners_in(arena).values()) == ["old", "new"]
    assert set(winners_in(arena)) < set(arena.queries["query_id"])
