"""Answers of new systems: the file that was imported can be ranked."""

import json

import pandas as pd
import pytest
from table_files import write_table

from arena import DataError, UsageError, add_answers, import_arena, read_answers, write_arena
from arena.data.folder import read_arena

TABLE = (
    "User Input,Model,Response,retrieved_contexts,lang\n"
    "How high?,alpha,300 m [1].,\"['It is 300 m.', 'A lynx.']\",pt-BR\n"
    "How high?,beta,330 m.,\"['It is 300 m.', 'A lynx.']\",pt-BR\n"
    "Why?,alpha,So.,,English\n"
)


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_the_file_that_was_imported_is_read_as_the_same_answers(written):
    arena = import_arena("csv", [written]).arena
    answers = read_answers(written, arena.queries)
    key = ["query_id", "language", "system", "answer"]
    assert sorted(answers[key].itertuples(index=False)) == sorted(
        arena.answers[key].itertuples(index=False)
    )
    assert "passages" not in answers  # they are the question's


def test_an_answer_that_is_a_word_for_a_missing_value_stays(written):
    arena = import_arena("csv", [written]).arena
    written.write_text(TABLE.replace("So.", "None").replace("330 m.", ""), encoding="utf-8")
    answers = read_answers(written, arena.queries)
    assert sorted(answers["answer"]) == ["", "300 m [1].", "None"]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet", ".xlsx", ".tsv"])
def test_a_new_system_in_another_form(suffix, written, tmp_path):
    arena = import_arena("csv", [written]).arena
    frame = pd.DataFrame(
        {"query": ["How high?", "Why?"], "system": "new", "output": ["1", "2"], "cost": [1, 2]}
    )
    path = tmp_path / f"new{suffix}"
    write_table(frame, path)
    answers = read_answers(path, arena.queries)
    assert dict(zip(answers["language"], answers["answer"], strict=True)) == {"pt": "1", "en": "2"}


def test_columns_can_be_named_and_the_file_can_name_the_system(written, tmp_path):
    arena = import_arena("csv", [written]).arena
    path = tmp_path / "gamma.jsonl"
    path.write_text('{"title": "Why?", "said": "Thus."}\n', encoding="utf-8")
    columns = {"question": "title", "answer": "said"}
    assert read_answers(path, arena.queries, columns)["system"].tolist() == ["gamma"]
    with pytest.raises(UsageError, match="no column 'x'"):
        read_answers(path, arena.queries, {"answer": "x"})


def test_a_long_name_is_kept_where_nothing_but_the_file_could_name_the_system(written, tmp_path):
    arena = import_arena("csv", [written]).arena
    name = "gpt with retrieval, reranked, and a prompt " * 3
    path = tmp_path / "new.csv"
    path.write_text(f'query,system,output\nHow high?,"{name}",1\n', encoding="utf-8")
    assert read_answers(path, arena.queries)["system"].unique().tolist() == [name.strip()]


def test_answers_to_other_questions_are_refused_with_their_line(written, tmp_path):
    arena = import_arena("csv", [written]).arena
    path = tmp_path / "new.jsonl"
    path.write_text('{"question": "Who?", "system": "n", "answer": "x"}\n', encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_answers(path, arena.queries)
    assert (caught.value.problems[0].line, caught.value.problems[0].field) == (1, "question")
    first = arena.queries["query_id"].iloc[0]
    row = {"query_id": first, "question": "Who?", "system": "n", "answer": "x"}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="question"):
        read_answers(path, arena.queries)


def test_passages_of_an_answers_own_are_kept(written, tmp_path):
    arena = import_arena("csv", [written]).arena
    path = tmp_path / "new.jsonl"
    row = {"question": "Why?", "system": "n", "answer": "x", "contexts": ["Other.", None]}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (passages,) = read_answers(path, arena.queries)["passages"]
    assert [passage["text"] for passage in passages] == ["Other."]


def _added(folder, path):
    return add_answers(folder, read_answers(path, read_arena(folder).queries))


def test_answers_are_added_to_a_folder(written, tmp_path):
    write_arena(import_arena("csv", [written]).arena, tmp_path / "arena")
    path = tmp_path / "new.csv"
    path.write_text("prompt,model,response\nWhy?,new,Thus.\n", encoding="utf-8")
    assert _added(tmp_path / "arena", path)[1:] == (1, 0)
    assert "new" in read_arena(tmp_path / "arena").info.systems


def test_repeated_questions_are_read_as_where_the_arena_was_imported(tmp_path):
    rows = [
        ("Why?", "old", "So."),
        ("Why?", "old", "Thus."),
        ("Why?", "old", "Hence."),
        ("How?", "old", "By hand."),
    ]
    table = pd.DataFrame(rows, columns=["question", "system", "answer"])
    table.insert(0, "query_id", ["q1", "q1", "q1", "q2"])
    table.to_csv(tmp_path / "old.csv", index=False)
    table.assign(system="new").to_csv(tmp_path / "new.csv", index=False)
    queries = import_arena("csv", [tmp_path / "old.csv"], repeats="each").arena.queries
    with pytest.raises(DataError):
        read_answers(tmp_path / "new.csv", queries)
    answers = read_answers(tmp_path / "new.csv", queries, repeats="each")
    assert dict(zip(answers["query_id"], answers["answer"], strict=True)) == {
        "q1": "So.",
        "q1-2": "Thus.",
        "q1-3": "Hence.",
        "q2": "By hand.",
    }
    first = read_answers(tmp_path / "new.csv", queries, repeats="first")
    assert first["answer"].tolist() == ["So.", "By hand."]
    with pytest.raises(UsageError, match="use one of first, each"):
        read_answers(tmp_path / "new.csv", queries, repeats="last")


@pytest.mark.parametrize("name", ["аlpha", "a1pha", "Alpha"])
def test_no_new_system_may_be_taken_for_a_known_one(name, written, tmp_path):
    write_arena(import_arena("csv", [written]).arena, tmp_path / "arena")
    path = tmp_path / "new.csv"
    path.write_text(f"prompt,model,response\nWhy?,{name},Thus.\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"look alike.*'alpha'"):
        _added(tmp_path / "arena", path)
    assert name not in read_arena(tmp_path / "arena").info.systems


def test_a_known_system_gets_further_answers_although_its_name_looks_like_another(tmp_path):
    before = pd.DataFrame({"question": ["One?", "Two?"], "system": ["bot", "Bot"], "answer": "So."})
    before.to_csv(tmp_path / "before.csv", index=False)
    write_arena(import_arena("csv", [tmp_path / "before.csv"]).arena, tmp_path / "arena")
    later = pd.DataFrame({"question": ["Two?"], "system": ["bot"], "answer": ["Thus."]})
    later.to_csv(tmp_path / "later.csv", index=False)
    assert _added(tmp_path / "arena", tmp_path / "later.csv")[1:] == (1, 0)


def test_an_answer_that_stands_there_for_several_judges_is_one_answer(written, tmp_path):
    arena = import_arena("csv", [written]).arena
    path = tmp_path / "judged.csv"
    text = "question,model,answer,score,judge\nWhy?,new,So.,1,ann\nWhy?,new,So.,0,bob\n"
    path.write_text(text, encoding="utf-8")
    assert read_answers(path, arena.queries)["answer"].tolist() == ["So."]
    path.write_text(text.replace("So.,0", "No.,0"), encoding="utf-8")
    with pytest.raises(DataError):
        read_answers(path, arena.queries)


@pytest.mark.parametrize("repeats", [None, "first", "each"])
@pytest.mark.parametrize("field", ["system", "answer"])
def test_a_list_in_place_of_a_text_is_refused_with_its_line(field, repeats, written, tmp_path):
    arena = import_arena("csv", [written]).arena
    path = tmp_path / "new.jsonl"
    row = {"question": "Why?", "system": "n", "answer": "x", field: ["y", "z"]}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_answers(path, arena.queries, repeats=repeats)
    (problem,) = caught.value.problems
    assert (problem.line, problem.field) == (1, field)
