"""The commands of the guide on reproducing the papers, on small data of the published shape."""

import json
import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from documents import blocks
from simulations import small_simulation

from surrogate.board.board import Board
from surrogate_arena.papers.mirage.published_rows import PUBLISHED_FEATURES
from surrogate_arena.papers.mirage.tournament_fits import holdout_r2

GUIDE = Path(__file__).parents[2] / "docs" / "reference" / "reproducing.md"
BASELINES = (
    *("Qwen/Qwen2-1.5B-Instruct", "Qwen/Qwen2-7B-Instruct", "cohereforai-c4ai-aya-23"),
    *("cohereforai-c4ai-command-r", "cohereforai-c4ai-command-r-plus", "google/gemma-1.1-2b-it"),
    *("google/gemma-1.1-7b-it", "gpt-3.5-turbo-azure", "gpt-4-azure", "gpt-4o-azure"),
    *("meta-llama/Meta-Llama-3-70B-Instruct", "meta-llama/Meta-Llama-3-8B-Instruct"),
    *("microsoft/Phi-3-medium-128k-instruct", "microsoft/Phi-3-mini-128k-instruct"),
    *("microsoft/Phi-3-small-8k-instruct", "mistralai/Mistral-7B-Instruct-v0.2"),
    *("mistralai/Mistral-7B-Instruct-v0.3", "mistralai/Mixtral-8x22B-Instruct-v0.1"),
    "mistralai/Mixtral-8x7B-Instruct-v0.1",
)
"""The paper's 19 models, as the published files and the authors' code name them."""
NEWER = ("meta-llama/Meta-Llama-3.1-70B-Instruct", "google/gemma-2-27b-it")
"""Models of figure 8 (appendix D)."""
REFERENCE = "gpt-4-azure"
COMPETING = (REFERENCE, "gpt-4o-azure", BASELINES[10], BASELINES[5], *BASELINES[15:18])
"""Baselines that the small data holds."""
SHORT = {
    "board": "--tournaments 3 --jobs 1 --no-site",
    "validate": "--jobs 1",
    "table3": "--tournaments 3 --repeats 1 --json",
    "table4": "--tournaments 3",
    "sampling": "--repeats 2",
}
"""Options that make a command short."""
GROUPS = {
    "all features": 11,
    "without LLM-measured": 9,
    "without low correlation": 7,
    "only LLM-measured": 2,
}
VERDICTS = {"a": "A", "b": "B", "tie": "Tie"}


def section(title):
    text = GUIDE.read_text(encoding="utf-8")
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def table_of_tables(title):
    """Item to its commands, of the first table of a section: those below it ask LLMs."""
    first = section(title).split("\n### ")[0]
    rows = re.findall(r"^\| (?!item|---)(.+?) \| (.+) \|$", first, re.MULTILINE)
    return {item: re.findall(r"`(surrogate-arena [^`]+)`", commands) for item, commands in rows}


def prompt_of(row):
    contexts = "\n".join(f"[{item['passage_id']}] {item['text']}" for item in row.passages)
    ids = {kind: [] for kind in (0, 1)}
    for item in row.passages:
        ids[min(item["relevance"], 1)].append(item["passage_id"])
    text = f"Question: {row.query}\n\nContexts:\n{contexts}\n\nInstruction: Answer."
    named = {"positive_ids": ids[1], "negative_ids": ids[0]}
    return {"query_id": row.query_id, "prompt": text, **named}


def outputs_of(answers, quality, random):
    for query_id, own in answers.groupby("query_id"):
        scores = {
            name: {system: quality[system] + 0.2 * random.normal() for system in own["system"]}
            for name in PUBLISHED_FEATURES
        }
        bleu = {system: abs(score) / 9 for system, score in scores["answer_bleu"].items()}
        outputs = [{"model": row.system, "output": row.answer} for row in own.itertuples()]
        yield {"query_id": query_id, "outputs": outputs, **scores, "answer_bleu": bleu}


def pairs_of(judgments):
    for row in judgments.itertuples():
        models = {"model_A": row.system_a, "model_B": row.system_b}
        verdict = {"judge": row.judge, "verdict": VERDICTS[row.winner]}
        yield {"query_id": row.query_id, **verdict, **models}


@pytest.fixture(scope="module")
def clones(tmp_path_factory):
    """A folder with clones of the three data sets as they are published, a file a language."""
    folder = tmp_path_factory.mktemp("mirage")
    made = small_simulation(range(9), questions=5)
    arena = made.arena
    first = arena.info.reference_system
    others = [system for system in arena.info.systems if system != first]
    own = dict(zip((first, *others), (*COMPETING, *NEWER), strict=True))
    quality = made.truth.groupby("system")["quality"].mean().rename(own)
    random = np.random.default_rng(0)
    for language in arena.info.languages:
        tables = {
            name: table[table["language"] == language].replace(own)
            for name, table in (("answers", arena.answers), ("judgments", arena.judgments))
        }
        queries = arena.queries[arena.queries["language"] == language]
        for name, rows in {
            "mirage-bench": map(prompt_of, queries.itertuples()),
            "mirage-bench-output": outputs_of(tables["answers"], quality, random),
            "mirage-bench-pairwise-judgments": pairs_of(tables["judgments"]),
        }.items():
            path = folder / "CLONES" / name / language / "dev-00000-of-00001.jsonl"
            path.parent.mkdir(parents=True)
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def answered(clones, run):
    """What each command that needs no LLM printed, run in the order of the guide."""
    pytest.importorskip("xgboost", reason="table 3 compares it")
    printed = {}
    [setup] = blocks(GUIDE, "sh")
    first = setup.replace("\\\n", " ").splitlines()
    commands = [*first, *chain(*table_of_tables("MIRAGE-Bench").values())]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(clones)
        for command in commands:
            printed[command] = executed(command, run)
    return printed


def executed(command, run):
    """Run a command of the guide, shortened; return what it printed, and write it where asked."""
    words = shlex.split(command)[1:]
    target = words[words.index(">") + 1] if ">" in words else None
    words = words[: words.index(">")] if target else words
    short = [options for name, options in SHORT.items() if name in words]
    with redirect_stdout(StringIO()) as out:
        assert run(*words, *shlex.split(" ".join(short))) == 0, command
    if target:
        Path(target).write_text(out.getvalue(), encoding="utf-8")
    return out.getvalue()


def printed_for(answered, item):
    rows = table_of_tables("MIRAGE-Bench")
    [name] = [name for name in rows if name.startswith(item)]
    return "\n".join(answered[command] for command in rows[name])


@pytest.mark.slow
def test_tables_2_and_5(answered, clones, monkeypatch):
    monkeypatch.chdir(clones)
    summary = json.loads(Path("my-board/summary.json").read_text())
    assert summary["macro"]["tau"]
    assert all(item["tau"] for item in summary["languages"].values())
    assert holdout_r2(Board.load("my-board"))[["mean", "low"]].notna().all(axis=None)


@pytest.mark.slow
def test_table_3_is_of_five_regressors_and_the_presets_settings(answered):
    printed = printed_for(answered, "table 3")
    names = ("random-forest", "linear", "svr", "mlp", "xgboost")
    assert [name for name in names if name not in printed] == [], printed
    assert "random-forest|rows:overall|missing:zero," in printed
    assert "|tournaments:3|questions:100|ties:drop|ridge:0|" in printed.replace("\n", "")


@pytest.mark.slow
def test_table_4_has_the_papers_four_groups(answered):
    printed = printed_for(answered, "table 4")
    assert all(group in printed for group in GROUPS)


@pytest.mark.slow
def test_table_4_with_all_features_is_tau_of_the_board(answered, clones, run, monkeypatch):
    monkeypatch.chdir(clones)
    [command] = [line for line in answered if "table4" in line]
    table = pd.DataFrame(json.loads(executed(f"{command} --json", run))["table"])
    assert table["group"].unique().tolist() == list(GROUPS)
    assert table.groupby("group")["features"].first().to_dict() == GROUPS
    taus = table[table["group"] == "all features"].set_index("language")["tau"]
    languages = json.loads(Path("my-board/summary.json").read_text())["languages"]
    for language, said in languages.items():
        assert taus[language] == pytest.approx(said["tau"])
    assert taus["macro"] == pytest.approx(np.mean([said["tau"] for said in languages.values()]))


@pytest.mark.slow
def test_tables_7_and_8_and_the_figures(answered, clones):
    coefficients = pd.read_csv(clones / "my-board/verdict_ratings.csv")
    assert (coefficients["low"] <= coefficients["rating"]).all()
    assert (coefficients["rating"] <= coefficients["high"]).all()
    drawn = {path.stem for path in (clones / "figures").iterdir()}
    assert {"heatmap", "ratings-en", "ratings-sw"} <= drawn
    assert any("sampling" in name for name in drawn)


@pytest.mark.slow
def test_figure_8_ranks_the_models_that_were_kept_apart(answered):
    assert all(system in printed_for(answered, "figure 8") for system in NEWER)


@pytest.mark.slow
def test_the_papers_baselines_compete_and_gpt_4_is_the_reference(answered, clones):
    info = json.loads((clones / "mirage" / "arena.json").read_text(encoding="utf-8"))
    assert set(info["systems"]) == set(COMPETING)
    assert info["reference_system"] == REFERENCE


def test_the_guide_names_published_models():
    commands = GUIDE.read_text(encoding="utf-8").replace("\\\n", " ")
    options = re.findall(r"(reference-system |apart |holdout=)([^\s`]+)", commands)
    named = {name.strip(" ="): set(systems.split(",")) for name, systems in options}
    assert named["reference-system"] == {REFERENCE}
    assert named["apart"] == set(NEWER)
    assert named["holdout"] <= set(BASELINES)


def test_every_table_and_figure_of_the_paper_has_its_line():
    items = " ".join(table_of_tables("MIRAGE-Bench"))
    shown = {int(number) for number in re.findall(r"\d+", items)}
    assert {1, 2, 3, 4, 5, 6, 7, 8, 9} <= shown
