"""Conversations as FastChat, tables and multi-turn RAG sets hold them."""

import json

import pytest

from arena import DataError, import_arena, read_arena
from surrogate_arena.importers import write_import

QUESTIONS = [
    {"question_id": 81, "category": "writing", "turns": ["Write.", "Rewrite."]},
    {"question_id": 82, "category": "math", "turns": ["Add."], "reference": ["2"]},
]
ANSWERS = [
    {"question_id": 81, "model_id": "x", "choices": [{"index": 0, "turns": ["x1", "x2"]}]},
    {"question_id": 82, "model_id": "x", "choices": [{"index": 0, "turns": ["2"]}]},
    {"question_id": 81, "model_id": "y", "choices": [{"index": 0, "turns": ["y1", "y2"]}]},
    {"question_id": 82, "model_id": "y", "choices": [{"index": 0, "turns": ["$ERROR$"]}]},
]
GAMES = {"question_id": 81, "model_1": "x", "model_2": "y", "judge": ["gpt-4", "pair-v2"]}
PAIRS = [
    GAMES | {"g1_winner": "model_1", "g2_winner": "tie", "turn": 1},
    GAMES | {"g1_winner": "model_2", "g2_winner": "model_2", "turn": 2},
    GAMES | {"question_id": 82, "g1_winner": "error", "g2_winner": "model_1", "turn": 1},
]
MARK = {"question_id": 81, "judge": ["gpt-4", "single-v1"], "turn": 2}
MARKS = [MARK | {"model": "x", "score": 7}, MARK | {"model": "y", "score": 9.5}]
MARKS += [MARK | {"model": "x", "score": -1, "turn": 1}]
FILES = {
    "question.jsonl": QUESTIONS,
    "model_answer/both.jsonl": ANSWERS,
    "model_judgment/gpt-4_pair.jsonl": PAIRS,
    "model_judgment/gpt-4_single.jsonl": MARKS,
    "reference_answer/gpt-4.jsonl": [
        {"question_id": 81, "model_id": "gpt-4", "choices": [{"turns": ["r1", "r2"]}]}
    ],
}


def turns(*contents):
    roles = ("user", "assistant") * len(contents)
    return [{"role": role, "content": text} for role, text in zip(roles, contents, strict=False)]


def write(folder, files):
    for name, rows in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_every_turn_of_a_benchmark_is_a_question(tmp_path):
    read = import_arena("fastchat", [write(tmp_path / "mt", FILES)], language="en")
    write_import(read, tmp_path / "arena")
    arena = read_arena(tmp_path / "arena")
    columns = ["query_id", "query", "category", "reference"]
    assert arena.queries[columns].values.tolist() == [
        ["81", "Write.", "writing", "r1"],
        ["81-2", "Rewrite.", "writing", "r2"],
        ["82", "Add.", "math", None],
    ]
    assert arena.info.systems == ("x", "y")
    answers = arena.answers.set_index(["query_id", "system"])
    assert answers["answer"].to_dict() == {
        **{("81", "x"): "x1", ("81-2", "x"): "x2", ("82", "x"): "2"},
        **{("81", "y"): "y1", ("81-2", "y"): "y2"},
    }
    assert answers["history"]["81-2", "y"] == turns("Write.", "y1")
    assert answers["history"]["81", "y"] is None


def test_games_are_judgments_in_both_orders_and_marks_a_judge_of_their_own(tmp_path):
    read = import_arena("fastchat", [write(tmp_path, FILES)])
    judgments = read.arena.judgments.drop(columns="language").values.tolist()
    assert [row for row in judgments if row[-1] == "gpt-4"] == [
        ["81", "x", "y", "a", "gpt-4"],
        ["81", "y", "x", "tie", "gpt-4"],
        ["81-2", "x", "y", "b", "gpt-4"],
        ["81-2", "y", "x", "a", "gpt-4"],
        ["82", "y", "x", "b", "gpt-4"],
    ]
    (mark,) = [row for row in judgments if row[-1] == "gpt-4:pointwise"]
    assert mark[0] == "81-2"
    assert mark[1 + "ab".index(mark[3])] == "y"
    counted = read.skipped[read.skipped["item"] != "column"]
    assert counted["item"].tolist() == ["answer", "judgment", "mark"]


@pytest.mark.parametrize(
    ("name", "row", "field"),
    [
        ("question.jsonl", {"question_id": 83, "turns": "Why?"}, "turns"),
        ("model_answer/both.jsonl", ANSWERS[0] | {"question_id": 99}, "question_id"),
        ("model_answer/both.jsonl", ANSWERS[0] | {"choices": ["x1"]}, "choices"),
        ("model_answer/both.jsonl", ANSWERS[0] | {"choices": 3}, "choices"),
        ("model_answer/both.jsonl", ANSWERS[0] | {"model_id": {"name": "x"}}, "system"),
        ("model_judgment/gpt-4_pair.jsonl", PAIRS[0] | {"g1_winner": "who?"}, "winner"),
        ("model_judgment/gpt-4_pair.jsonl", PAIRS[0] | {"model_1": None}, "system_a"),
        ("model_judgment/gpt-4_single.jsonl", MARKS[0] | {"score": "good"}, "score"),
    ],
)
def test_what_is_no_row_is_told_with_its_line(tmp_path, name, row, field):
    write(tmp_path, FILES | {name: [*FILES[name], row]})
    with pytest.raises(DataError) as caught:
        import_arena("fastchat", [tmp_path])
    places = [(problem.source, problem.line, problem.field) for problem in caught.value.problems]
    assert (name, len(FILES[name]) + 1, field) in places


def test_answers_without_a_column_of_systems_are_refused(tmp_path):
    name = "model_answer/both.jsonl"
    rows = [{key: row[key] for key in row if key != "model_id"} for row in FILES[name]]
    write(tmp_path, FILES | {name: rows})
    with pytest.raises(DataError) as caught:
        import_arena("fastchat", [tmp_path])
    assert (name, "model_id") in [(each.source, each.field) for each in caught.value.problems]


def test_turns_before_a_question_in_a_table(tmp_path):
    row = {"question": "Why?", "system": "x", "answer": "So.", "history": turns("Hi?", "Hello.")}
    other = row | {"history": turns("Who?", "She.")}
    rows = [row, row | {"system": "y"}, other, other | {"history": None}]
    path = write(tmp_path, {"answers.jsonl": rows}) / "answers.jsonl"
    arena = import_arena("csv", [path]).arena
    assert arena.queries["history"].tolist() == [
        turns("Hi?", "Hello."),
        turns("Who?", "She."),
        None,
    ]
    assert arena.queries["query_id"].nunique() == 3
    assert "history" not in arena.answers
    write(tmp_path, {"answers.jsonl": [row, row | {"system": "y", "history": turns("Hi?")}]})
    with pytest.raises(DataError, match="ends with the user's turn") as caught:
        import_arena("csv", [path])
    assert [(problem.line, problem.field) for problem in caught.value.problems] == [(2, "history")]


def test_a_set_of_conversations_keeps_turns_and_the_passages_of_each(tmp_path):
    spoken = [
        {"speaker": "user", "text": "Who won?"},
        {"speaker": "agent", "text": "The Cardinals."},
        {"speaker": "user", "text": "When?"},
    ]
    tasks = [
        {
            "task_id": f"c::{n}",
            "input": spoken[: 2 * n - 1],
            "predictions": [{"text": f"reply {n}"}],
        }
        | {"contexts": [{"document_id": f"d{n}", "text": f"Passage {n}.", "title": "T"}]}
        | {"targets": [{"speaker": "agent", "text": f"target {n}"}], "model_id": "m"}
        for n in (1, 2)
    ]
    arena = import_arena("mtrag", [write(tmp_path, {"m.jsonl": tasks})]).arena
    first, second = arena.queries.to_dict("records")
    assert (first["query"], second["query"]) == ("Who won?", "When?")
    assert first["history"] is None
    assert second["history"] == turns("Who won?", "The Cardinals.")
    assert [passage["passage_id"] for passage in second["passages"]] == ["d2"]
    assert second["reference"] == "target 2"
    assert arena.answers["answer"].tolist() == ["reply 1", "reply 2"]


ARENA_HARD_GAMES = [{"score": "B>A"}, {"score": "A>>B"}]
ARENA_HARD = {
    "question.jsonl": [{"uid": "u1", "category": "hard", "prompt": "Why?"}],
    "model_answer/x.jsonl": [
        {
            "uid": "u1",
            "model": "x",
            "messages": [
                {"role": "user", "content": "Why?"},
                {"role": "assistant", "content": {"answer": "x1"}},
            ],
        }
    ],
    "model_answer/base.jsonl": [
        {
            "uid": "u1",
            "model": "base",
            "messages": [
                {"role": "user", "content": "Why?"},
                {"role": "assistant", "content": "b1"},
            ],
        }
    ],
    "model_judgment/j/x.jsonl": [
        {"uid": "u1", "judge": "j", "model": "x", "baseline": "base", "games": ARENA_HARD_GAMES}
    ],
}
EARLIER_ARENA_HARD = {
    "question.jsonl": [{"question_id": "u1", "category": "hard", "turns": [{"content": "Why?"}]}],
    "model_answer/x.jsonl": [
        {"question_id": "u1", "model_id": "x", "choices": [{"turns": [{"content": "x1"}]}]}
    ],
    "model_answer/base.jsonl": [
        {"question_id": "u1", "model_id": "base", "choices": [{"turns": [{"content": "b1"}]}]}
    ],
    "model_judgment/j/x.jsonl": [
        {"question_id": "u1", "judge": "j", "model": "x", "games": ARENA_HARD_GAMES}
    ],
}


@pytest.mark.parametrize("files", [ARENA_HARD, EARLIER_ARENA_HARD])
def test_games_of_arena_hard_are_against_the_baseline_in_both_orders(files, tmp_path):
    arena = import_arena("fastchat", [write(tmp_path / "hard", files)], language="en").arena
    assert arena.queries[["query_id", "query", "category"]].values.tolist() == [
        ["u1", "Why?", "hard"]
    ]
    answers = dict(zip(arena.answers["system"], arena.answers["answer"], strict=True))
    assert answers == {"x": "x1", "base": "b1"}
    columns = ["system_a", "system_b", "winner", "judge"]
    assert sorted(arena.judgments[columns].values.tolist()) == [
        ["base", "x", "b", "j"],
        ["x", "base", "a", "j"],
    ]


def test_games_without_a_baseline_are_refused(tmp_path):
    files = {"x.jsonl": EARLIER_ARENA_HARD["model_judgment/j/x.jsonl"]}
    with pytest.raises(DataError, match="names no baseline"):
        import_arena("fastchat", [write(tmp_path / "hard", files)], language="en")


def test_strong_verdicts_count_three_times_by_the_values_that_are_shown(case):
    folder = case("arena", "11_arena_hard_strong")
    read = import_arena("fastchat", [folder], language="en")
    [note] = [note for note in read.notes if "--values" in note]
    assert note.startswith("20 strong verdicts (A>>B) count once")
    assert "question: Question 0" in read.shown
    values = [note.partition("--values '")[2].rstrip("'")]
    weighted = import_arena("fastchat", [folder], language="en", values=values).arena.judgments
    won = {"o3-mini-2025-01-31": 0, "cand": 0}
    for row in weighted.to_dict(orient="records"):
        won[row[f"system_{row['winner']}"]] += row.get("weight") or 1
    assert won == {"o3-mini-2025-01-31": 60, "cand": 60}
