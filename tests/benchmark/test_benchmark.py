"""The benchmark of ranking methods: what methods get, how they are scored, what the page shows."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import run as benchmark
from result_tables import write_tables
from scores import scores_of
from tasks import TASKS, Ask, BudgetSpentError, NotRecordedError, puzzle_of

from arena import read_arena

FOLDER = Path(benchmark.__file__).parent
PUZZLE = puzzle_of(TASKS[0], seed=0)


def test_methods_see_no_verdict_no_name_and_no_withheld_question():
    original = read_arena(FOLDER / "arenas" / TASKS[0].arena)
    assert PUZZLE.arena.judgments.empty
    shown = set(PUZZLE.arena.queries["query_id"])
    assert shown == set(PUZZLE.arena.answers["query_id"])
    assert not shown & set(PUZZLE.withheld["query_id"])
    assert not set(PUZZLE.systems) & set(original.info.systems)
    assert not shown & set(original.queries["query_id"])


def test_names_of_systems_change_with_the_halves():
    # By answers, which stay: which name has the same text.
    names = []
    for seed in range(4):
        rows = puzzle_of(TASKS[0], seed).arena.answers
        names.append(dict(zip(rows["answer"], rows["system"], strict=True)))
    shared = set.intersection(*(set(of_seed) for of_seed in names))
    assert shared
    assert any(len({of_seed[text] for of_seed in names}) > 1 for text in shared)


def test_both_halves_hold_all_verdicts():
    original = read_arena(FOLDER / "arenas" / TASKS[0].arena).judgments
    n_recorded = int((original["judge"] == TASKS[0].judge).sum())
    assert len(PUZZLE.judgments) + len(PUZZLE.withheld) == n_recorded


def test_asking_counts_and_answers_in_either_order():
    rows = [("q", "x", "y", "a"), ("q", "x", "z", "tie")]
    recorded = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    ask = Ask(recorded, budget=3)
    assert [ask("q", "x", "y"), ask("q", "y", "x")] == ["a", "b"]
    with pytest.raises(NotRecordedError):
        ask("q", "y", "z")
    assert ask.left == 1
    assert ask("q", "z", "x") == "tie"
    with pytest.raises(BudgetSpentError):
        ask("q", "x", "y")
    assert ask.verdicts["winner"].tolist() == ["a", "b", "tie"]


def test_hidden_systems_cannot_be_asked_about():
    pairs = Ask(PUZZLE.without_hidden().judgments, budget=1).pairs
    assert PUZZLE.hidden
    assert not set(pairs[["system_a", "system_b"]].to_numpy().ravel()) & PUZZLE.hidden
    assert set(PUZZLE.arena.answers["system"]) >= PUZZLE.hidden


def test_truth_is_the_mean_share_of_points():
    system = PUZZLE.systems[0]
    rows = PUZZLE.withheld
    shares = []
    for opponent in PUZZLE.systems[1:]:
        forth = rows[(rows["system_a"] == system) & (rows["system_b"] == opponent)]["winner"]
        back = rows[(rows["system_a"] == opponent) & (rows["system_b"] == system)]["winner"]
        points = [*forth.map({"a": 1, "tie": 0.5, "b": 0}), *back.map({"a": 0, "tie": 0.5, "b": 1})]
        shares.append(np.mean(points))
    assert PUZZLE.truth[system] == pytest.approx(np.mean(shares))


def test_the_truth_scores_best_and_its_reverse_worst():
    best = scores_of(PUZZLE.truth.to_dict(), PUZZLE)
    worst = scores_of((-PUZZLE.truth).to_dict(), PUZZLE)
    assert (best["tau"], worst["tau"]) == (1, -1)
    assert best["soft"] + worst["soft"] == pytest.approx(1)
    assert best["soft"] > 0.5


def test_ratings_without_an_order_score_nothing():
    scores = scores_of({}, PUZZLE)
    assert scores["tau"] == scores["hidden_tau"] == 0
    assert np.isnan(scores["holds"])


def test_a_system_left_out_has_the_mean_of_the_others():
    ratings = PUZZLE.truth.to_dict()
    left_out = PUZZLE.systems[0]
    others = {name: rating for name, rating in ratings.items() if name != left_out}
    mean = float(np.mean(list(others.values())))
    assert scores_of(others, PUZZLE) == pytest.approx(
        scores_of(others | {left_out: mean}, PUZZLE), nan_ok=True
    )


def test_intervals_hold_within_the_joint_error():
    wide = {name: (share, 0.0, 1.0) for name, share in PUZZLE.truth.items()}
    wrong = {name: (1 - share, 1 - share, 1 - share) for name, share in PUZZLE.truth.items()}
    assert scores_of(wide, PUZZLE)["holds"] == 1
    assert scores_of(wide, PUZZLE)["width"] == 1
    assert scores_of(wrong, PUZZLE)["holds"] < 1


def test_a_method_is_run_on_every_track(tmp_path, monkeypatch, capsys):
    out = tmp_path / "out.csv"
    method = FOLDER / "methods" / "win_rate.py"
    run_benchmark(monkeypatch, method, "--out", out)
    table = pd.read_csv(out)
    assert set(table["track"]) == {"calls", "hidden", "none"}
    asked = table[table["track"] == "calls"]
    assert (asked["calls"] == asked["budget"]).all()
    assert "win_rate" in capsys.readouterr().out


def test_the_page_shows_what_the_results_say(tmp_path):
    page = tmp_path / "README.md"
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    write_tables(page, FOLDER / "results")
    assert page.read_text(encoding="utf-8") == text


def test_every_method_has_results():
    methods = {path.stem for path in (FOLDER / "methods").glob("*.py")}
    assert {path.stem for path in (FOLDER / "results").glob("*.csv")} == {*methods, "ceiling"}


METHOD = "def method(arena, ask, budget, seed):\n"
FAULTS = {
    "return {'nobody': 1.0}": "rated 'nobody' on crowd-rag en",
    "return dict.fromkeys(arena.answers['system'], float('nan'))": "as nan on crowd-rag en",
    "return None": "returned NoneType on crowd-rag en",
    "return dict.fromkeys(arena.answers['system'], 'high')": "return a number, or",
    "raise KeyError('what the method lacks')": "what the method lacks",
    "[ask(*pair) for pair in ask.pairs.to_numpy()]": "stop when `ask.left` is 0",
    "ask('no question', 'x', 'y')": "`ask.pairs` holds what may be asked",
}


def run_benchmark(monkeypatch, *arguments):
    options = ["--tasks", "crowd-rag", "--seeds", "1", "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", ["run.py", *map(str, arguments), *options])
    benchmark.main()


@pytest.mark.parametrize(("body", "message"), FAULTS.items())
def test_what_a_method_does_wrong_is_told_with_its_file(body, message, tmp_path, monkeypatch):
    method = tmp_path / "mine.py"
    method.write_text(f"{METHOD}    {body}\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=re.escape(message)) as raised:
        run_benchmark(monkeypatch, method)
    assert "mine.py" in str(raised.value)


def test_files_without_a_method_are_named(tmp_path, monkeypatch):
    method = tmp_path / "mine.py"
    with pytest.raises(SystemExit, match=r"no file .*mine\.py"):
        run_benchmark(monkeypatch, method)
    method.write_text("def methods(): ...\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"mine\.py has no function"):
        run_benchmark(monkeypatch, method)


def test_the_method_of_the_page_runs_and_stands_beside_the_others(tmp_path, monkeypatch, capsys):
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    method = tmp_path / "mine.py"
    method.write_text(page.split("```python\n")[1].split("```")[0], encoding="utf-8")
    run_benchmark(monkeypatch, method)
    rows = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert {"mine", "random_pairs", "ceiling"} <= set(rows)
    assert not (FOLDER / "results" / "mine.csv").exists()
