"""Recipes and examples turn tables of other shapes into rows that are read."""

import json
import re
import runpy
import shutil
import sys
from pathlib import Path

import choix
import numpy as np
import pandas as pd
import pytest
from shared_data import shared_path

from arena import UsageError, import_arena, read_arena
from arena.rating.ratings import rate
from surrogate_arena.importers.judgments import counted_judgments_of

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "reference" / "recipes.md").read_text(encoding="utf-8")
RECIPES = dict(
    re.findall(
        r"^## ([^\n]+)\n.*?```python\n(.*?)```",
        GUIDE,
        flags=re.DOTALL | re.MULTILINE,
    )
)


@pytest.fixture
def follow(tmp_path, monkeypatch):
    """Run a recipe in a folder, on a case or a table that is written there."""
    monkeypatch.chdir(tmp_path)

    def run(name, file, content):
        if isinstance(content, str):
            shutil.copy(shared_path(content), file)
        elif isinstance(content, pd.DataFrame):
            content.to_csv(file, index=content.index.name is not None)
        else:
            Path(file).write_text(json.dumps(content), encoding="utf-8")
        [recipe] = [code for title, code in RECIPES.items() if title.startswith(name)]
        exec(recipe, {})

    return run


[SHEET_COMMAND] = re.findall(r"```sh\n(.*)\n```", GUIDE)


def write_table(table, path="table.csv"):
    table.to_csv(path, index=False)
    return path


def winners(path="battles.csv"):
    table = counted_judgments_of(Path(path)).table
    sides = table[["system_a", "system_b", "winner"]].astype(str)
    return sorted(sides.itertuples(index=False, name=None))


def test_every_recipe_is_tried():
    assert len(RECIPES) == 7


def test_passages_in_numbered_columns_need_no_recipe():
    path = shared_path("cases/contract/rag/04-names-as-passages.csv")
    columns = {"passages": "[retrieved_cont1, retrieved_cont2]"}
    passages = import_arena("csv", [path], columns=columns).arena.queries["passages"]
    assert all(len(listed) == 2 for listed in passages)
    assert passages[0][1]["text"] == "It has six lanes."


def test_an_evaluation_sheet(follow, run):
    sheet = pd.DataFrame(
        {
            "question": ["When did it open?", "How long is it?"],
            "context": ["It opened in 1932.", "It is 1,149 m long."],
            "old": ["In 1932.", "1,149 m."],
            "new": ["It opened in 1932.", ""],
            "Ann": ["new", "old"],
            "Tom": ["same", ""],
        }
    )
    follow("An evaluation sheet", "sheet.csv", sheet)
    assert run(*SHEET_COMMAND.split()[1:]) == 0
    arena = read_arena("mine")
    assert set(arena.info.systems) == {"old", "new"}
    judgments = arena.judgments
    assert list(judgments["voter"]) == ["Ann", "Ann", "Tom"]
    winners = judgments["system_a"].where(judgments["winner"] == "a", judgments["system_b"])
    assert list(winners[:2]) == ["new", "old"]
    assert judgments["winner"].iloc[2] == "tie"
    assert set(judgments["judge"]) == {"human"}
    assert arena.queries["passages"][1][0]["text"] == "It is 1,149 m long."


def test_answers_and_scores_in_columns(follow):
    sheet = pd.DataFrame(
        {
            "query_id": ["q1", "q2"],
            "question": ["When did it open?", "How long is it?"],
            "old_answer": ["In 1932.", "1,149 m."],
            "old_score": [2, 5],
            "new_answer": ["It opened in 1932.", "It is long."],
            "new_score": [4, 1],
        }
    )
    columns = {"answer": "old_answer,new_answer"}
    with pytest.raises(UsageError, match="'Answers and scores in columns'"):
        import_arena("csv", [write_table(sheet)], columns=columns, scores=["old_score"])
    follow("Answers and scores in columns", "sheet.csv", sheet)
    arena = import_arena("csv", ["answers.csv"], judge="rater").arena
    first_wins = arena.judgments.set_index("query_id")["winner"].eq("a")
    assert set(arena.judgments["judge"]) == {"rater"}
    assert sorted(first_wins) == [False, True]


def test_a_column_beside_several_answers_is_nobodys_score(follow):
    sheet = pd.DataFrame(
        {
            "question": ["When did it open?", "How long is it?"],
            "old": ["It opened in 1932.", "1,149 m."],
            "new": ["In the year 1932.", "It is long."],
            "faithfulness": [0.5, 1.0],
            "latency": [1.0, 2.0],
            "context": ["It opened in 1932.", "It is 1,149 m long."],
        }
    )
    read = import_arena("csv", [write_table(sheet)], columns={"answer": "old,new"})
    assert read.arena.judgments.empty
    assert "latency" not in read.arena.answers
    assert read.arena.queries["passages"].map(len).eq(1).all()
    left_out = read.skipped["reason"].str.cat(sep="; ")
    assert "'faithfulness'" in left_out
    assert "'latency'" in left_out
    with pytest.raises(UsageError, match="'latency'"):
        import_arena("csv", ["table.csv"], columns={"answer": "old,new", "latency": "latency"})


def test_a_column_per_pair(follow):
    follow("A column per pair", "versus.csv", "cases/contract/rag/16-vs-columns.csv")
    read = counted_judgments_of(Path("battles.csv"))
    assert read.table["query_id"].nunique() == 3
    assert len(read.table) == 9
    assert ("alpha", "beta", "tie") in winners()


def test_scores_without_answers(follow):
    table = pd.DataFrame(
        {"question_id": [1, 1, 1], "judge": "m", "model": ["x", "y", "z"], "score": [1, 4, 4]}
    )
    follow("Scores without answers", "scores.csv", table)
    assert winners() == [("x", "y", "b"), ("x", "z", "b"), ("y", "z", "tie")]


def test_a_matrix_of_wins(follow):
    table = pd.DataFrame({"x": [0, 2], "y": [3, 0]}, index=pd.Index(["x", "y"], name="row"))
    follow("A matrix of wins", "wins.csv", table)
    read = counted_judgments_of(Path("battles.csv"))
    wins = {"x": 0, "y": 0}
    for row in read.table.itertuples():
        winner = row.system_a if row.winner == "a" else row.system_b
        wins[winner] += 1
    assert wins == {"x": 3, "y": 2}


def test_rankings_as_lists(follow):
    rows = [{"ranking": ["x", "y", "z"], "voter": "v"}, {"ranking": ["z", "y"], "voter": "w"}]
    table = "\n".join(map(json.dumps, rows))
    Path("rankings.jsonl").write_text(table, encoding="utf-8")
    follow("Rankings as lists", "unused.json", {})
    pairs = [("x", "y", "a"), ("x", "z", "a"), ("y", "z", "a"), ("y", "z", "b")]
    assert winners() == pairs
    table = counted_judgments_of(Path("battles.csv")).table
    assert list(table["query_id"].astype(str)) == ["0", "0", "0", "1"]
    assert list(table["voter"].astype(str)) == ["v", "v", "v", "w"]


ITEMS = np.array(["s0", "s1", "s2", "s3", "s4", "s5"])
STRENGTHS = np.array([1.0, 0.6, 0.2, -0.2, -0.6, -1.0])


def ranked_rows(n_rows):
    """Rankings of five items by the model of Plackett and Luce, the best first; and as a table."""
    random = np.random.default_rng(0)
    orders, rows = [], []
    for _ in range(n_rows):
        items = random.choice(len(ITEMS), 5, replace=False)
        # Gumbel noise: the order of the sums is a ranking by these strengths (Yellott, 1977).
        items = items[np.argsort(-(STRENGTHS[items] + random.gumbel(size=5)))]
        orders.append(tuple(items))
        row = {}
        for number, place in enumerate(random.permutation(5), start=1):
            row |= {f"system{number}Id": ITEMS[items[place]], f"system{number}rank": place + 1}
        rows.append(row)
    return orders, pd.DataFrame(rows)


def test_rankings_in_columns_are_rated_as_by_plackett_and_luce(follow):
    orders, table = ranked_rows(800)
    follow("Rankings in columns", "ranks.csv", table)
    judgments = counted_judgments_of(Path("battles.csv")).table
    assert judgments["query_id"].nunique() == 800
    assert set(judgments["sides"]) == {"none"}
    ours = rate(judgments, ridge=0.0, rounds=0).table.set_index("system")["rating"].sort_index()
    theirs = choix.ilsr_rankings(len(ITEMS), orders, max_iter=20)
    np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=0.1)


def test_missing_ranks_are_no_battle_and_equal_ones_ties(follow):
    columns = {f"system{n}Id": [name] for n, name in enumerate("vwxyz", start=1)}
    columns |= {f"system{n}rank": [rank] for n, rank in enumerate([1, None, 2, 2, 3], start=1)}
    follow("Rankings in columns", "ranks.csv", pd.DataFrame(columns))
    assert winners() == [
        *(("v", "x", "a"), ("v", "y", "a"), ("v", "z", "a")),
        *(("x", "y", "tie"), ("x", "z", "a"), ("y", "z", "a")),
    ]


def test_the_refusal_of_columns_of_ranks_names_the_recipe_that_reads_them(follow):
    path = shared_path("cases/contract/arena/12_five_ranks_wide.csv")
    with pytest.raises(UsageError, match="'Rankings in columns'"):
        counted_judgments_of(path)
    follow("Rankings in columns", "ranks.csv", "cases/contract/arena/12_five_ranks_wide.csv")
    judgments = counted_judgments_of(Path("battles.csv")).table
    assert len(judgments) == 300
    assert judgments["query_id"].nunique() == 30


def write_lines(name, *rows):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def run_example(name, folder, monkeypatch):
    """Run an example in a folder with its input; it writes its output there."""
    monkeypatch.chdir(folder)
    path = ROOT / "examples" / name
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")


def test_the_example_for_fastchat_reads_what_it_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines("question.jsonl", {"question_id": 81, "turns": ["Write.", "Rewrite."]})
    for model in "xy":
        turns = [f"{model}1", f"{model}2"]
        answer = {"question_id": 81, "model_id": model, "choices": [{"turns": turns}]}
        write_lines(f"model_answer/{model}.jsonl", answer)
    game = {"question_id": 81, "model_1": "x", "model_2": "y", "judge": ["gpt-4", "pair-v2"]}
    write_lines(
        "model_judgment/gpt-4_pair.jsonl",
        game | {"g1_winner": "model_1", "g2_winner": "tie", "turn": 1},
        game | {"g1_winner": "error", "g2_winner": "model_2", "turn": 2},
    )
    run_example("fastchat_battles.py", tmp_path, monkeypatch)
    arena = import_arena("lmarena", ["battles.jsonl"], language="en").arena
    assert arena.queries[["query_id", "query"]].values.tolist() == [
        ["81", "Write."],
        ["81-2", "Rewrite."],
    ]
    answers = arena.answers.set_index(["query_id", "system"])
    assert answers["answer"].to_dict() == {
        **{("81", "x"): "x1", ("81", "y"): "y1"},
        **{("81-2", "x"): "x2", ("81-2", "y"): "y2"},
    }
    assert [turn["content"] for turn in answers["history"]["81-2", "y"]] == ["Write.", "y1"]
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    assert arena.judgments[columns].values.tolist() == [
        ["81", "x", "y", "a", "gpt-4"],
        ["81", "y", "x", "tie", "gpt-4"],
        ["81-2", "y", "x", "a", "gpt-4"],
    ]


def test_strong_verdicts_of_arena_hard_count_three_times_by_the_values_that_are_shown(
    tmp_path, monkeypatch
):
    folder = tmp_path / "case"
    shutil.copytree(shared_path("cases/contract/arena/11_arena_hard_strong"), folder)
    run_example("arena_hard_battles.py", folder, monkeypatch)
    read = import_arena("lmarena", ["battles.jsonl"], language="en")
    [note] = [note for note in read.notes if "20 strong verdicts (>>) count once" in note]
    assert set(read.arena.info.systems) == {"o3-mini-2025-01-31", "cand"}
    values = note.partition("--values '")[2].rstrip("'")
    weighted = import_arena("lmarena", ["battles.jsonl"], language="en", values=[values])
    won = {"o3-mini-2025-01-31": 0, "cand": 0}
    for row in weighted.arena.judgments.to_dict(orient="records"):
        won[row[f"system_{row['winner']}"]] += row.get("weight") or 1
    assert won == {"o3-mini-2025-01-31": 60, "cand": 60}


def test_the_example_for_ragelo_writes_an_arena(tmp_path, monkeypatch):
    tables = {
        "queries": "qid,query\n0, How deep is the lake?\n1, Which fish live in it?\n",
        "answers": "qid,agent,answer\n0, one,40 m.\n0, two,45 m.\n1, one,Pikes.\n1,two,Eels.\n",
        "documents": "qid,did,document\n0,0, The lake is 40 m deep.\n1,1, Pikes live in it.\n",
        "pairwise_answers_evaluations": "qid,agent_a,agent_b,raw_answer,answer\n"
        "0,one,two,So A,A\n1,two,one,Both,C\n",
    }
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    run_example("ragelo_arena.py", tmp_path, monkeypatch)
    arena = read_arena("my-arena")
    assert arena.info.systems == ("one", "two")
    assert arena.queries["query"].tolist()[0] == "How deep is the lake?"
    assert arena.queries["passages"][1][0]["text"] == "Pikes live in it."
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    games = arena.judgments[columns].itertuples(index=False, name=None)
    assert list(games) == [("0", "one", "two", "a", "ragelo"), ("1", "two", "one", "tie", "ragelo")]


def test_answers_beside_their_names(tmp_path):
    path = shared_path("cases/contract/arena/05_response_source_columns.jsonl")
    columns = {"winner": "better_response_id"}
    for side, number in (("a", 0), ("b", 1)):
        columns[f"system_{side}"] = f"response_{number}_source"
        columns[f"answer_{side}"] = f"response_{number}"
    values = ["better_response_id:0=a,1=b"]
    arena = import_arena("lmarena", [path], columns=columns, values=values, language="en").arena
    assert set(arena.info.systems) == {"Alpaca-7B", "WizardLM-7B"}
    first = arena.answers[arena.answers["system"] == "Alpaca-7B"]["answer"].iloc[0]
    assert first == "zero 0 words of an answer"
