"""CONTRIBUTING.md is true: its recipes work as written, and its layers are the enforced ones."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from documents import ROOT, blocks_of
from simulations import small_simulation

from arena import write_arena

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOLDERS = "arena|features|surrogate|surrogate_arena|tests"
FILE_NAME = re.compile(rf"# ((?:{FOLDERS})/\S+)\n")
COPY = re.compile(r"`(examples/[^`]+)`\s+to\s+`([^`]+/)`")


def section(title):
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def follow(recipe, root):
    """Copy and write the files, and make the changes, that a section of the text names."""
    for example, folder in COPY.findall(recipe):
        path = root / folder / (ROOT / example).name
        assert not path.exists(), "the recipe adds a file"
        shutil.copy(ROOT / example, path)
    for code in blocks_of(recipe, "python"):
        named = FILE_NAME.match(code)
        if named:
            path = root / named[1]
            assert not path.exists(), "the recipe adds a file"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code.removeprefix(named[0]), encoding="utf-8")
            run_in(root, "-m", "ruff", "check", "--config", ROOT / "pyproject.toml", path)
    for table in blocks_of(recipe, "toml"):
        named = FILE_NAME.match(table)
        (root / named[1]).write_text(table.removeprefix(named[0]), encoding="utf-8")
    for diff in blocks_of(recipe, "diff"):
        header, _, hunks = diff.partition("\n")
        path = root / header.removeprefix("--- ")
        for hunk in hunks.split("@@\n"):
            path.write_text(changed(hunk, path.read_text(encoding="utf-8")), encoding="utf-8")


def changed(hunk, content):
    """Replace the lines of a hunk with context or ``-`` by those with context or ``+``."""
    lines = hunk.splitlines()
    before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
    after = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
    assert content.count(f"\n{before}") == 1, f"no single place for:\n{hunk}"
    return content.replace(f"\n{before}", f"\n{after}")


@pytest.fixture
def checkout(tmp_path):
    """A copy of the packages, with an arena beside it."""
    ignored = shutil.ignore_patterns("__pycache__", "nomiracl")
    for package in ("arena", "features", "surrogate", "surrogate_arena"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    write_arena(small_simulation(range(6), ["en"], questions=5).arena, tmp_path / "my-arena")
    return tmp_path


def run_in(folder, *words):
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_a_column_added_as_written_is_on_boards_first_boards_and_of_new_systems(checkout):
    follow(section("Adding a column to the board"), checkout)
    program = """
from arena import read_arena
from surrogate import build_board, rank_systems

arena = read_arena("my-arena")
new = arena.answers[arena.answers["system"] == arena.info.systems[0]].assign(system="new")
board = build_board(arena, features="answer_length", surrogate="linear", tournaments=2)
first = build_board(arena, features="bleu", ratings="consensus")
for table in (board.ratings, first.ratings, rank_systems(board, new, arena).board):
    assert (table["unanswered"] + table["coverage"]).eq(1).all()
"""
    run_in(checkout, "-c", program)


@pytest.mark.slow
def test_a_feature_added_as_written_is_listed_and_measured(checkout):
    """The recipe once left out the decorator, so that the import failed."""
    follow(section("Adding a feature"), checkout)
    assert "capital_share" in run_in(checkout, "-m", "surrogate_arena", "features")
    asked = ("--features", "capital_share", "--out", "measured.parquet")
    run_in(checkout, "-m", "surrogate_arena", "features", "my-arena", *asked)
    program = (
        "import pandas; table = pandas.read_parquet('measured.parquet');"
        "assert table['capital_share'].between(0, 1).all()"
    )
    run_in(checkout, "-c", program)


@pytest.mark.slow
def test_a_regressor_named_as_written_is_validated(checkout):
    recipe, _, _ = section("Adding a surrogate").partition("**Any other surrogate**")
    follow(recipe, checkout)
    measured = ("--config", "features=answer_length")
    asked = ("--surrogate", "ridge", *measured, "--tournaments", 2, "--repeats", 1, "--json")
    validated = run_in(checkout, "-m", "surrogate_arena", "validate", "my-arena", *asked)
    assert "surrogate:ridge" in validated


@pytest.mark.slow
def test_a_surrogate_added_as_written_is_validated_saved_loaded_and_ranked_with(checkout):
    follow(section("Adding a surrogate"), checkout)
    measured = ("--config", "features=answer_length")
    quick = ("--surrogate", "nearest", *measured, "--tournaments", 2)
    asked = ("validate", "my-arena", *quick, "--repeats", 1, "--json")
    validated = run_in(checkout, "-m", "surrogate_arena", *asked)
    assert "surrogate:nearest" in validated
    run_in(
        checkout,
        "-m",
        "surrogate_arena",
        "board",
        "my-arena",
        *quick,
        "--no-site",
        "--out",
        "board",
    )
    signature = json.loads((checkout / "board" / "summary.json").read_text())["signature"]
    assert "surrogate:nearest" in signature
    program = (
        "from arena import read_arena; from surrogate import Board, rank_systems\n"
        "arena = read_arena('my-arena')\n"
        "answers = arena.answers[arena.answers['system'] == arena.info.systems[0]]\n"
        "new = rank_systems(Board.load('board'), answers.assign(system='new'), arena).new\n"
        "assert new['surrogate_rating'].notna().all()"
    )
    run_in(checkout, "-c", program)


SHOWN_ANSWER = re.compile(r"\[The Start of Answer \d+ \w+\]\n(.*?)\n\[The End", re.DOTALL)


@pytest.mark.slow
def test_a_form_of_judging_added_as_written_judges_within_its_calls(checkout, serve):
    from chat_server import completion

    def marks_by_length(prompt, _):
        answers = SHOWN_ANSWER.findall(prompt)
        longest_first = sorted(answers, key=len, reverse=True)
        marks = [str(5 - min(4, longest_first.index(text))) for text in answers]
        return completion(f"[[{', '.join(marks)}]]")

    follow(section("Adding a judge"), checkout)
    server = serve(marks_by_length)
    (checkout / "judge.toml").write_text('form = "joint"\n')
    where = ("--model", "marker", "--base-url", server.url, "--config", "judge.toml")
    run_in(checkout, "-m", "surrogate_arena", "judge", "my-arena", *where, "--budget", 3)
    assert len(server.bodies) == 3
    program = """
from arena import read_arena

read = read_arena("my-arena")
judged = read.judgments[read.judgments["judge"] == "marker:joint"]
judged = judged[judged["flags"] != "identical"]
assert judged["query_id"].nunique() == 3
lengths = read.answers.set_index(["query_id", "system"])["answer"].str.len()
for row in judged.itertuples():
    length_a = lengths[row.query_id, row.system_a]
    length_b = lengths[row.query_id, row.system_b]
    if length_a != length_b and row.winner != "tie":
        assert row.winner == ("a" if length_a > length_b else "b")
"""
    run_in(checkout, "-c", program)


QUIZ = [
    {"number": 1, "question": "Where?", "team": "red", "reply": "Paris", "points": 2},
    {"number": 1, "question": "Where?", "team": "blue", "reply": "Oslo", "points": 1},
    {"number": 2, "question": "Why?", "team": "red", "reply": "", "points": 0},
    {"number": 2, "question": "Why?", "team": "blue", "reply": "Thus.", "points": 1},
]


@pytest.mark.slow
def test_a_source_added_as_written_is_imported(checkout):
    follow(section("Adding a source to import"), checkout)
    lines = [json.dumps(row) for row in QUIZ]
    (checkout / "quiz.jsonl").write_text("\n".join(lines), encoding="utf-8")
    replies = [{**row, "asked": {"text": row["question"]}} for row in QUIZ]
    export = {"quiz": "capitals", "replies": replies}
    (checkout / "app.json").write_text(json.dumps(export), encoding="utf-8")
    asked = ("import", "quiz", "quiz.jsonl", "--out", "quiz")
    assert "1 answer is empty (red 1)" in run_in(checkout, "-m", "surrogate_arena", *asked)
    run_in(checkout, "-m", "surrogate_arena", "import", "quiz-app", "app.json", "--out", "app")
    program = """
from arena import read_arena
from surrogate_arena.importers.imports import evident_kind

assert evident_kind(["app.json"]) == ("quiz-app", "an export of the quiz app")

for folder in ("quiz", "app"):
    arena = read_arena(folder)
    judgments = arena.judgments.merge(arena.queries, on=["language", "query_id"])
    won = {(row["query"], row["system_" + row["winner"]]) for _, row in judgments.iterrows()}
    assert won == {("Where?", "red"), ("Why?", "blue")}
"""
    run_in(checkout, "-c", program)


def test_every_change_that_a_recipe_shows_has_one_place():
    for diff in blocks_of(TEXT, "diff"):
        header, _, hunks = diff.partition("\n")
        content = (ROOT / header.removeprefix("--- ")).read_text(encoding="utf-8")
        for hunk in hunks.split("@@\n"):
            changed(hunk, content)


NAMED_PATH = re.compile(rf"`((?:{FOLDERS}|benchmarks|docs|examples|notebooks)/[\w./-]*)`")
NAMED_TEST = re.compile(r"`(test_\w+)`")


def test_files_and_tests_that_guides_name_are_there():
    security = (ROOT / "SECURITY.md").read_text()
    text = TEXT + security + "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
    added = set(FILE_NAME.findall(TEXT))
    named = sorted(set(NAMED_PATH.findall(text)) - added)
    assert [path for path in named if not (ROOT / path).exists()] == []
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name in NAMED_TEST.findall(security) if f"def {name}(" not in tests] == []


def test_the_house_is_drawn_as_the_contracts_have_it():
    """``python docs/house_drawing.py`` prints what stands there."""
    done = run_in(ROOT, "docs/house_drawing.py")
    assert done in TEXT
