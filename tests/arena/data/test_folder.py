"""The arena folder: round trips, real arenas, and what is said of bad content."""

import json
import threading
from pathlib import Path

import pandas as pd
import pytest

from arena import DataError, UsageError, read_arena, write_arena
from arena.data.arena import Arena
from arena.data.folder import ARENA_SUFFIXES, read_own_answers
from arena.data.judges import chosen_judges, judges_named
from arena.data.writing import locked_folder

INFO = {
    "name": "small",
    "languages": ["en", "ja"],
    "systems": ["x", "y", "z"],
    "reference_system": "x",
    "size": 3,
}
QUERIES = [
    {
        "query_id": "q1",
        "language": "en",
        "query": "Why, “really”?\nTell me.",
        "passages": [
            {
                "passage_id": "1#1",
                "text": "Because, \r\n of \u2028…",
                "title": None,
                "relevance": 1,
            },
            {"passage_id": "1#2", "text": "", "title": "T", "relevance": None},
        ],
    },
    {"query_id": "q1", "language": "ja", "query": "なぜ？", "passages": []},
]
ANSWERS = [
    {"query_id": "q1", "language": "en", "system": "x", "answer": "So [1#1].\n\nIndeed."},
    {"query_id": "q1", "language": "en", "system": "y", "answer": ""},
    {"query_id": "q1", "language": "ja", "system": "x", "answer": "だから"},
]
JUDGMENTS = [
    {
        "query_id": "q1",
        "language": "en",
        "system_a": "x",
        "system_b": "y",
        "winner": winner,
        "judge": judge,
        "explanation": text,
    }
    for winner, judge, text in [("a", "gpt", "ü"), ("tie", "gpt", None), ("b", "people", "z")]
]


def jsonl(rows: list[dict]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "arena.json").write_text(json.dumps(INFO), encoding="utf-8-sig")
    (folder / "queries.jsonl").write_text(jsonl(QUERIES))
    (folder / "answers.jsonl").write_text(jsonl(ANSWERS))
    (folder / "judgments.jsonl").write_text(jsonl(JUDGMENTS))
    return folder


def faults(folder: Path) -> list[tuple[str, int | None, str | None]]:
    """Return file, line and field of each problem."""
    with pytest.raises(DataError) as caught:
        read_arena(folder)
    assert all(problem.fault and problem.hint for problem in caught.value.problems)
    names = {"arena.json": "info"}
    return [
        (
            names.get(problem.source, problem.source.removesuffix(".jsonl")),
            problem.line,
            problem.field,
        )
        for problem in caught.value.problems
    ]


def same(first: Arena, second: Arena) -> bool:
    tables = [
        (first.queries, second.queries),
        (first.answers, second.answers),
        (first.judgments, second.judgments),
    ]
    for one, other in tables:
        pd.testing.assert_frame_equal(one, other)
    return first.info == second.info


def test_questions_need_no_column_of_passages_but_a_misnamed_one_is_found(folder: Path):
    without = pd.DataFrame(QUERIES).drop(columns="passages").to_dict("records")
    (folder / "queries.jsonl").write_text(jsonl(without))
    assert list(read_arena(folder).queries["passages"]) == [[], []]
    misnamed = [{**query, "contexts": QUERIES[0]["passages"]} for query in without]
    (folder / "queries.jsonl").write_text(jsonl(misnamed))
    assert faults(folder) == [("queries", None, "passages")]


@pytest.mark.parametrize("suffix", ARENA_SUFFIXES)
def test_an_arena_comes_back_as_written(suffix: str, folder: Path, tmp_path: Path):
    arena = read_arena(folder)
    write_arena(arena, tmp_path / "new" / "copy", suffix)
    write_arena(arena, tmp_path / "two", suffix)
    again = read_arena(tmp_path / "new" / "copy")
    assert same(arena, again)
    assert again.info.model_extra == {"size": 3}
    for path in (tmp_path / "two").iterdir():  # the same bytes
        assert path.read_bytes() == (tmp_path / "new" / "copy" / path.name).read_bytes()


@pytest.mark.parametrize("suffix", ARENA_SUFFIXES)
def test_an_arena_without_judgments_or_answers(suffix: str, folder: Path, tmp_path: Path):
    (folder / "judgments.jsonl").unlink()
    (folder / "answers.jsonl").write_text("")
    arena = read_arena(folder)
    assert arena.judges == ()
    assert list(arena.judgments) == list(JUDGMENTS[0])[:-1]
    write_arena(arena, tmp_path / "copy", suffix)
    assert same(arena, read_arena(tmp_path / "copy"))


def test_an_arena_in_another_format_is_not_written_over(folder: Path):
    arena = read_arena(folder)
    with pytest.raises(UsageError) as caught:
        write_arena(arena, folder, ".parquet")
    assert "holds an arena in another format (queries.jsonl, answers.jsonl, jud" in str(
        caught.value
    )
    assert not list(folder.glob("*.parquet"))


def test_two_files_of_one_table(folder: Path):
    (folder / "answers.csv").write_text("query_id\n")
    with pytest.raises(UsageError, match=r"several times \(answers.jsonl, answers.csv\)"):
        read_arena(folder)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("{", [None]),
        ("[]", [None]),
        ('{"name": "", "systems": [1, "x"]}', ["name", "languages", "systems.0"]),
        ('{"name": "n", "languages": ["en", "EN"], "systems": []}', ["languages.1"]),
        (
            '{"name": "n", "languages": ["en", "en"], "systems": ["x", "y", "x", "y"]}',
            ["languages", "systems"],
        ),
    ],
)
def test_malformed_arena_json(text: str, fields: list[str | None], folder: Path):
    (folder / "arena.json").write_text(text)
    assert faults(folder) == [("info", None, field) for field in fields]


def test_all_bad_rows_of_all_files_are_reported(folder: Path):
    (folder / "queries.jsonl").write_text(
        jsonl([{**QUERIES[0], "language": "EN"}, {**QUERIES[1], "query": " "}]) + "{\n"
    )
    (folder / "answers.jsonl").write_text("\n" + jsonl([{**ANSWERS[0], "answer": None}]))
    (folder / "judgments.jsonl").write_text(
        jsonl([{**JUDGMENTS[0], "winner": winner} for winner in ("A", "a", "Tie", None)])
    )
    assert faults(folder) == [
        ("queries", 1, "language"),
        ("queries", 2, "query"),
        ("queries", 3, None),
        ("answers", 2, "answer"),
        *(("judgments", line, "winner") for line in (1, 3, 4)),
    ]


def test_everything_that_does_not_fit_together_is_reported(folder: Path):
    stranger = {"query_id": "q9", "language": "en"}
    tables = {
        "queries": [*QUERIES, QUERIES[0], {**QUERIES[0], "language": "fr"}],
        "answers": [
            *ANSWERS,
            ANSWERS[0],
            ANSWERS[0],
            {**ANSWERS[0], **stranger},
            {**ANSWERS[0], "system": "w"},
        ],
        "judgments": [
            {**JUDGMENTS[0], **stranger},
            {**JUDGMENTS[0], "system_a": "w"},
            {**JUDGMENTS[0], "system_b": "v"},
            {**JUDGMENTS[0], "system_b": "x"},
        ],
    }
    for name, rows in tables.items():
        (folder / f"{name}.jsonl").write_text(jsonl(rows))
    question, answer = "language+query_id", "language+query_id+system"
    assert faults(folder) == [
        ("queries", 3, question),
        ("answers", 4, answer),
        ("answers", 5, answer),
        ("queries", 4, "language"),
        ("answers", 7, "system"),
        ("answers", 6, question),
        ("judgments", 1, question),
        ("judgments", 2, "system_a"),
        ("judgments", 3, "system_b"),
        ("judgments", 4, "system_b"),
    ]


def test_answers_without_a_language_have_that_of_their_question(folder: Path, tmp_path: Path):
    queries = read_arena(folder).queries
    path = tmp_path / "new.csv"
    path.write_text("query_id,system,answer\nq1,new,a\n")
    with pytest.raises(DataError, match="language = None: this column is missing"):
        read_own_answers(path, queries)  # q1 is asked in two languages
    english = queries[queries["language"] == "en"]
    assert list(read_own_answers(path, english)["language"]) == ["en"]
    path.write_text("query_id,system,answer\nq9,new,a\n")
    with pytest.raises(DataError, match=r"\('und', 'q9'\): this answer is to a question that"):
        read_own_answers(path, english)


def test_bad_answers_of_new_systems(folder: Path, tmp_path: Path):
    queries = read_arena(folder).queries
    path = tmp_path / "new.jsonl"
    row = {"query_id": "q1", "language": "en", "system": "new", "answer": "a"}
    path.write_text(jsonl([row, {**row, "answer": "b"}, {**row, "query_id": "q2"}]))
    with pytest.raises(DataError) as caught:
        read_own_answers(path, queries)
    assert [(problem.line, problem.field) for problem in caught.value.problems] == [
        (2, "language+query_id+system"),
        (3, "language+query_id"),
    ]


def test_judgments_of_one_judge(folder: Path):
    arena = read_arena(folder)
    assert arena.judges == ("gpt", "people")
    assert list(arena.judged_by("people").judgments["winner"]) == ["b"]
    assert arena.judged_by("gpt").judged_by().judges == ("gpt",)
    assert arena.judged_by().judges == ("people",)
    assert arena.judged_by("gpt+people").judges == arena.judges
    with pytest.raises(UsageError, match="no judge 'gpd' here; did you mean 'gpt'"):
        arena.judged_by("gpd")
    (folder / "judgments.jsonl").unlink()
    with pytest.raises(UsageError, match="arena 'small' has no judgments to learn from"):
        read_arena(folder).judged_by()


def test_people_are_the_reference_all_as_one_and_machines_stand_beside_them():
    names = ["bob", "gpt-4", "human 1", "panel(majority)", "person:Ada"]
    people = "people", "bob", "gpt-4"
    assert chosen_judges(names) == people == chosen_judges(names, "all")
    assert judges_named(names, "people") == ("human 1", "person:Ada")
    assert chosen_judges(names, "gpt-4, person:Ada") == ("person:Ada", "gpt-4")
    assert chosen_judges(names, "gpt-4,bob") == ("gpt-4", "bob")
    assert chosen_judges([*names, "a,b"], "a,b") == ("a,b",)
    assert chosen_judges(["people", "gpt"]) == ("people", "gpt")
    assert chosen_judges(["human", "people"]) == ("human+people",)
    with pytest.raises(UsageError, match="several judges; choose one with `judge`"):
        chosen_judges(["ada", "bob"])
    with pytest.raises(UsageError, match="no judge 'people' here"):
        judges_named(["ada", "bob"], "people")


def test_waiting_for_another_command_is_said(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("arena.data.writing.NOTICE_AFTER_S", 0.1)
    waited = threading.Event()

    def wait():
        with locked_folder(tmp_path):
            waited.set()

    with locked_folder(tmp_path):
        other = threading.Thread(target=wait)
        other.start()
        while not caplog.records:
            assert not waited.wait(0.05)
    other.join()
    assert waited.is_set()
    assert caplog.records[0].message == f"Waiting for another command that writes to {tmp_path}"
