"""Battle tables in the manner of LMArena, with and without what was said."""

import json

import pandas as pd
import pytest

from arena import DataError, UsageError, import_arena, write_arena
from arena.data.languages import language_code
from arena.data.tables import write_rows

BATTLES = {
    "question_id": ["q1", "q1", "q2", "q2", "q1"],
    "model_a": ["x", "y", "x", "y", "z"],
    "model_b": ["y", "x", "z", "z", "x"],
    "winner": ["model_a", "model_b", "tie", "tie (bothbad)", "both_bad"],
    "judge": ["u1", "u1", "u2", "u2", "u3"],
    "language": ["English", "English", "Japanese", "ja", "Klingon"],
    "turn": [1, 1, 2, 1, 3],
}
USER, MODEL = "user", "assistant"


def turns(*contents):
    roles = (USER, MODEL) * len(contents)
    return [{"role": role, "content": text} for role, text in zip(roles, contents, strict=False)]


CONVERSED = {
    "question_id": "q1",
    "model_a": "x",
    "model_b": "y",
    "winner": "model_b",
    "judge": "u1",
    "conversation_a": turns("Hi?", "x says", "Why?", "x adds"),
    "conversation_b": turns("Hi?", "y says", "Why?", "y adds"),
    "language": "English",
}


@pytest.fixture
def battles(tmp_path):
    def read(columns, suffix=".jsonl", **options):
        path = tmp_path / f"battles{suffix}"
        write_rows(pd.DataFrame(columns), path)
        return import_arena("lmarena", [path], **options)

    return read


def write(folder, *rows, name="battles.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_battles_become_judgments_of_questions_known_by_id(battles, suffix):
    read = battles(BATTLES, suffix, name="mine")
    judgments = read.arena.judgments
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    assert list(judgments)[:6] == columns
    assert list(judgments["winner"]) == ["a", "b", "tie", "tie", "tie"]
    assert list(judgments["both_bad"]) == [False, False, False, True, True]
    assert list(judgments["language"]) == ["en", "en", "ja", "ja", "und"]
    assert read.arena.judges == ("u1", "u2", "u3")
    assert read.arena.info.name == "mine"
    assert read.arena.info.systems == ("x", "y", "z")
    assert read.arena.queries.values.tolist() == [
        ["q1", "en", "q1", []],
        ["q2-2", "ja", "q2-2", []],
        ["q2", "ja", "q2", []],
        ["q1-3", "und", "q1-3", []],
    ]
    assert read.arena.answers.empty
    assert read.skipped[["item", "count"]].values.tolist() == [["language", 1]]


def test_the_least_a_table_must_hold(battles):
    least = {name: BATTLES[name] for name in ("model_a", "model_b", "winner")}
    arena = battles(least).arena
    assert list(arena.judgments["query_id"]) == [f"battle-{n}" for n in range(1, 6)]
    assert set(arena.judgments["language"]) == {"und"}
    assert arena.judges == ("unknown",)


def test_failed_battles_are_counted_and_no_ties(battles):
    read = battles(BATTLES | {"winner": ["model_a", None, None, "tie", "tie"]})
    assert list(read.arena.judgments["winner"]) == ["a", "tie", "tie"]
    assert (
        dict(zip(read.skipped["reason"], read.skipped["count"], strict=True))["it has no winner"]
        == 2
    )


def test_every_bad_battle_is_reported(tmp_path):
    rows = [
        *[("q", "x", "y", "who?"), ("\ud800", "x", "y", "tie"), (None, "x", "y", "tie")],
        *[("q", None, "y", "tie"), (" ", "x", "y", "tie"), ("q", ["x"], "y", "tie")],
    ]
    names = ("question_id", "model_a", "model_b", "winner")
    path = write(tmp_path, *(dict(zip(names, row, strict=True)) for row in rows))
    with pytest.raises(DataError) as caught:
        import_arena("lmarena", [path])
    assert [(problem.line, problem.field) for problem in caught.value.problems] == [
        *[(1, "winner"), (2, "question_id"), (3, "question_id"), (4, "model_a")],
        *[(5, "question_id"), (6, "model_a")],
    ]
    path = write(tmp_path, {"question_id": "q", "model_a": "x", "model_b": "x", "winner": "tie"})
    with pytest.raises(DataError, match="model_b = 'x': is judged against itself"):
        import_arena("lmarena", [path])


def test_turns_are_kept(tmp_path):
    failed = CONVERSED | {"question_id": "q2", "winner": None, "conversation_a": None}
    read = import_arena("lmarena", [write(tmp_path, CONVERSED, failed)])
    assert read.arena.queries["query"].tolist() == ["Why?"]
    answers = read.arena.answers.set_index("system")
    assert answers["answer"].to_dict() == {"x": "x adds", "y": "y adds"}
    assert answers["history"].to_dict() == {n: turns("Hi?", f"{n} says") for n in ("x", "y")}
    assert "history" not in read.arena.queries
    assert read.arena.info.note == ""
    assert set(read.skipped["reason"]) == {"it has no winner"}
    write_arena(read.arena, tmp_path / "arena")


def test_parts_of_a_turn_that_are_no_texts_are_left_out(tmp_path):
    parts = [{"role": USER, "content": [None, "Why?", {"text": "How?"}]}, *turns("x")[1:]]
    row = CONVERSED | {"conversation_a": parts, "conversation_b": parts}
    queries = import_arena("lmarena", [write(tmp_path, row)]).arena.queries
    assert queries["query"].tolist() == ["How?"]


def test_turns_that_both_sides_share_are_those_of_the_question(tmp_path):
    conversations = {f"conversation_{side}": turns("Hi?", "Hello.", "Why?", side) for side in "ab"}
    arena = import_arena("lmarena", [write(tmp_path, CONVERSED | conversations)]).arena
    assert arena.queries["history"].tolist() == [turns("Hi?", "Hello.")]
    assert "history" not in arena.answers


def test_an_answer_after_turns_that_are_no_conversation_is_counted(tmp_path):
    replies = {"response_a": ["Hello.", "So."], "response_b": [None, "No."]}
    texts = {"prompt": ["Hi?", "Why?"], **replies}
    battle = {name: CONVERSED[name] for name in ("question_id", "model_a", "model_b", "winner")}
    read = import_arena("lmarena", [write(tmp_path, battle | texts)])
    assert read.arena.answers["answer"].tolist() == ["So."]
    assert read.arena.queries["history"].tolist() == [turns("Hi?", "Hello.")]
    assert len(read.arena.judgments) == 1
    assert "history.1.content" in read.skipped["reason"].item()


def voted(turn, rounds=2, question=81, **others):
    texts = {
        f"conversation_{side}": turns(
            *(text for n in range(1, rounds + 1) for text in (f"Q{n}?", f"{side} says {n}"))
        )
        for side in "ab"
    }
    battle = {"question_id": question, "model_a": "x", "model_b": "y", "winner": "model_a"}
    return battle | texts | {"turn": turn, "judge": "expert_1"} | others


def test_votes_on_turns_go_to_the_answers_of_these_turns(tmp_path):
    path = write(tmp_path, voted(1), voted(2, winner="model_b"))
    arena = import_arena("lmarena", [path], language="en").arena
    answers = arena.answers.set_index(["query_id", "system"])["answer"]
    assert answers["81", "x"] == "a says 1"
    assert answers["81-2", "y"] == "b says 2"
    queries = arena.queries.set_index("query_id")
    assert queries["query"].to_dict() == {"81": "Q1?", "81-2": "Q2?"}
    judgments = arena.judgments.set_index("query_id")["winner"]
    assert judgments.to_dict() == {"81": "a", "81-2": "b"}


def test_votes_on_first_turns_alone_are_seen_from_longer_conversations(tmp_path):
    arena = import_arena("lmarena", [write(tmp_path, voted(1), voted(1, question=82))]).arena
    assert arena.queries["query"].tolist() == ["Q1?", "Q1?"]


def test_a_turn_that_counts_rounds_means_the_last_answer(tmp_path):
    rows = [voted(1, 1, "u1"), voted(3, 3, "u2"), voted(2, 2, "u3")]
    arena = import_arena("lmarena", [write(tmp_path, *rows)]).arena
    assert arena.queries["query_id"].tolist() == ["u1", "u2", "u3"]
    assert arena.queries["query"].tolist() == ["Q1?", "Q3?", "Q2?"]


@pytest.mark.parametrize("name", ["turn", "turn_idx", "turnIndex"])
def test_turns_may_count_from_0(tmp_path, name):
    rows = [voted(0), voted(1), voted(0, rounds=1, question=82)]
    renamed = [
        {name if key == "turn" else key: value for key, value in row.items()} for row in rows
    ]
    arena = import_arena("lmarena", [write(tmp_path, *renamed)]).arena
    counted = import_arena("lmarena", [write(tmp_path, voted(1), voted(2), voted(1, 1, 82))]).arena
    pd.testing.assert_frame_equal(arena.judgments, counted.judgments)
    pd.testing.assert_frame_equal(arena.queries, counted.queries)


def test_conversations_that_python_printed_are_those_of_json(tmp_path):
    row = voted(1)
    printed = row | {name: str(row[name]) for name in ("conversation_a", "conversation_b")}
    expected = import_arena("lmarena", [write(tmp_path, row)]).arena
    read = import_arena("lmarena", [write(tmp_path, printed)]).arena
    pd.testing.assert_frame_equal(read.queries, expected.queries)
    pd.testing.assert_frame_equal(read.answers, expected.answers)


def test_an_index_of_turns_that_may_count_from_0_or_1_is_refused(tmp_path):
    row = voted(1)
    row["turn_idx"] = row.pop("turn")
    with pytest.raises(DataError, match="turn_idx"):
        import_arena("lmarena", [write(tmp_path, row)])
    last = voted(2)
    last["turn_idx"] = last.pop("turn")
    arena = import_arena("lmarena", [write(tmp_path, row, last)]).arena
    assert arena.judgments["query_id"].tolist() == ["81", "81-2"]


def test_turns_that_count_from_0_do_not_go_beyond_the_conversation(tmp_path):
    with pytest.raises(DataError, match=r"battles.jsonl:2: turn = "):
        import_arena("lmarena", [write(tmp_path, voted(0), voted(2))])


@pytest.mark.parametrize("turn", [-1, 3, "last", 1.5])
def test_a_turn_that_is_not_there_is_refused(tmp_path, turn):
    with pytest.raises(DataError, match=r"battles.jsonl:2: turn = "):
        import_arena("lmarena", [write(tmp_path, voted(1), voted(turn))])


def test_votes_that_were_not_blind_can_be_left_out(tmp_path):
    rows = [voted(2, question=n, anony=n != 1, dedup_tag={"sampled": n != 2}) for n in range(4)]
    path = write(tmp_path, *rows)
    read = import_arena("lmarena", [path])
    assert len(read.arena.judgments) == 4
    assert read.skipped["count"].tolist() == [1, 1]
    left = import_arena("lmarena", [path], drop_flagged=True)
    assert left.arena.judgments["query_id"].tolist() == ["0", "3"]
    assert left.skipped["count"].tolist() == [1, 1]


def test_prompts_with_one_column_a_winner(tmp_path):
    rows = [
        ("7", "x", "y", json.dumps(["Who?"]), json.dumps(["She"]), json.dumps([None]), 1, 0, 0),
        ("8", "x", "y", "[1] plain", "One", "Two", 0, 0, 1),
        ("9", "x", "y", "None", "a", "b", 0, 0, 0),
    ]
    columns = ["id", "model_a", "model_b", "prompt", "response_a", "response_b"]
    columns += ["winner_model_a", "winner_model_b", "winner_tie"]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "train.csv", index=False)
    read = import_arena("lmarena", [tmp_path / "train.csv"], language="en")
    assert read.arena.queries["query"].tolist() == ["Who?", "[1] plain"]
    assert read.arena.judgments["winner"].tolist() == ["a", "tie"]
    assert read.arena.answers["answer"].tolist() == ["She", "", "One", "Two"]
    assert read.skipped["reason"].tolist() == ["no column of winners is true"]


@pytest.mark.parametrize(("true", "false"), [("1", "0"), ("true", "false"), ("TRUE", "FALSE")])
def test_columns_of_winners_are_true_in_any_case(tmp_path, true, false):
    rows = [
        *[(true, false, false), (false, true, false), (false, false, true)],
        *[(true, true, false), (false, false, false)],
    ]
    lines = [f"x,y,{','.join(row)}" for row in rows]
    header = "model_a,model_b,winner_model_a,winner_model_b,winner_tie"
    path = tmp_path / "train.csv"
    path.write_text("\n".join([header, *lines]))
    read = import_arena("lmarena", [path])
    assert read.arena.judgments["winner"].tolist() == ["a", "b", "tie"]
    assert read.skipped["reason"].nunique() == 2
    assert read.skipped["count"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("winners", "read_as"),
    [
        (["Model A", "MODEL_B", "Tie"], "abt"),
        (["left", "Right", "draw"], "abt"),
        (["A", "B", "C"], "abt"),
        ([1, 0, 0.5], "abt"),
        (["m1", "m2", "neither"], "abt"),
        (["model_a", "tie (inconsistent)", ""], "at"),
    ],
)
def test_winners_in_words_of_the_field(tmp_path, winners, read_as):
    rows = [{"model_a": "m1", "model_b": "m2", "winner": winner} for winner in winners]
    arena = import_arena("lmarena", [write(tmp_path, *rows)]).arena
    assert "".join(winner[0] for winner in arena.judgments["winner"]) == read_as


def test_winners_that_can_be_read_in_two_ways_are_refused(tmp_path):
    rows = [{"model_a": "m1", "model_b": "m2", "winner": winner} for winner in (1, 0)]
    with pytest.raises(DataError, match=r"battles.jsonl: winner.*several ways"):
        import_arena("lmarena", [write(tmp_path, *rows)])


def test_several_files_are_read_together(tmp_path):
    write(tmp_path, CONVERSED, name="one.jsonl")
    write(tmp_path, CONVERSED | {"question_id": "q2", "model_a": "z"}, name="two.jsonl")
    arena = import_arena("lmarena", [tmp_path], judge="crowd").arena
    assert arena.info.systems == ("x", "y", "z")
    assert set(arena.judgments["judge"]) == {"crowd"}
    assert len(arena.answers) == 4


@pytest.mark.parametrize(
    ("cell", "fault"),
    [
        ("[{", "holds a turn without a role and content"),
        (5, "is not a list of turns"),
        ([{"role": USER}], "holds a turn without a role and content"),
    ],
)
def test_what_is_no_conversation_is_told(tmp_path, cell, fault):
    path = write(tmp_path, CONVERSED, CONVERSED | {"question_id": "q2", "conversation_b": cell})
    with pytest.raises(DataError, match=rf"battles.jsonl:2: conversation_a = .*: {fault}"):
        import_arena("lmarena", [path])


def test_a_code_given_by_the_caller_is_checked(battles):
    with pytest.raises(UsageError, match="'jp' is not a language code; did you mean 'ja'"):
        battles(BATTLES, language="jp")


def test_language_names():
    names = [
        "English",
        "chinese",
        " Portuguese ",
        "Farsi",
        "Norwegian Bokmål",
        "yo",
        "yue",
        "x",
        "",
    ]
    codes = ["en", "zh", "pt", "fa", "nb", "yo", "yue", None, None]
    assert [language_code(name) for name in names] == codes
