"""A board from MIRAGE-Bench's published features, and a new model placed on it, by commands."""

import json

import numpy as np
import pandas as pd
import pytest

from arena import UsageError
from arena.adapters.imports import APART_FILE, FEATURES_FILE
from surrogate import Board, rank_systems

NEW = "newcomer"
TABLE, ANSWERS = f"arena/{FEATURES_FILE}", f"arena/{APART_FILE}"
PUBLISHED = {
    "answer_bleu": "bleu",
    "reranker_score": "reranker_score",
    "fluency_score": "llm_fluency",
}
WINNERS = {"a": "A", "b": "B", "tie": "Tie"}


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def prompt_of(row):
    contexts = "\n".join(f"[{item['passage_id']}] {item['text']}" for item in row.passages)
    ids = {kind: [] for kind in (0, 1)}
    for item in row.passages:
        ids[min(item["relevance"], 1)].append(item["passage_id"])
    text = f"Question: {row.query}\n\nContexts:\n{contexts}\n\nInstruction: Answer."
    named = {"positive_ids": ids[1], "negative_ids": ids[0]}
    return {"query_id": row.query_id, "prompt": text, **named}


def outputs_of(rows, quality):
    """One row a question; scores but for support, which is null, and overlap, which is absent."""
    random = np.random.default_rng(0)
    for query_id, own in rows.groupby("query_id"):
        scores = {
            name: {system: quality[system] + 0.1 * random.normal() for system in own["system"]}
            for name in PUBLISHED
        }
        yield {
            "query_id": query_id,
            "outputs": [{"model": row.system, "output": row.answer} for row in own.itertuples()],
            **scores,
            "support_entailment": dict.fromkeys(own["system"]),
        }


def new_features(files):
    features = pd.read_parquet(files / TABLE)
    return features[features["system"] == NEW].reset_index(drop=True)


@pytest.fixture(scope="module")
def files(run, tiny_arena, simulation, tmp_path_factory):
    """An arena, a new model's answers and a table of features, read from files as published."""
    folder = tmp_path_factory.mktemp("published")
    truth = simulation.truth[simulation.truth["language"] == "en"]
    quality = dict(zip(truth["system"], truth["quality"], strict=True))
    best = max(tiny_arena.info.systems, key=quality.get)
    copy = tiny_arena.answers[tiny_arena.answers["system"] == best].assign(system=NEW)
    published = folder / "published" / "en"
    published.mkdir(parents=True)
    write_jsonl(published / "prompts.jsonl", map(prompt_of, tiny_arena.queries.itertuples()))
    scored = outputs_of(
        pd.concat([tiny_arena.answers, copy]), quality | {NEW: quality[best] + 0.05}
    )
    write_jsonl(published / "outputs.jsonl", scored)
    pairs = [
        {"query_id": row.query_id, "judge": row.judge, "verdict": WINNERS[row.winner]}
        | {"model_A": row.system_a, "model_B": row.system_b}
        for row in tiny_arena.judgments.itertuples()
    ]
    write_jsonl(published / "pairs.jsonl", pairs)
    asked = ["import", "mirage", published.parent, "--out", folder / "arena", "--apart", NEW]
    assert run(*asked) == 0
    return folder


@pytest.fixture(scope="module", params=["gaussian-process"])
def board(request, run, files):
    out = files / request.param
    options = ["--surrogate", request.param, "--holdout", "none", "--tournaments", 3]
    table = files / TABLE
    options += ["--feature-table", table, "--jobs", 1, "--no-site"]
    assert run("board", files / "arena", "--out", out, *options) == 0
    return out


def test_a_new_model_is_placed_by_its_published_features(run, board, files, capsys):
    table = files / TABLE
    asked = ["rank", files / ANSWERS, "--board", board, "--feature-table", table, "--json"]
    capsys.readouterr()
    assert run(*asked) == 0
    printed = json.loads(capsys.readouterr().out)
    (new,) = printed["new"]
    assert (new["system"], new["coverage"]) == (NEW, 1.0)
    assert new["rank"] <= 4  # of seven: it is a little better than the best
    published = Board.load(board)
    left_out = published.summary.languages["en"].skipped.features_left_out
    assert {"llm_overlap", "nli_entailment", "nli_neutral"} <= set(left_out)
    answers = pd.read_json(files / ANSWERS, lines=True, dtype=False)
    features = pd.read_parquet(table)
    placed = published.rank(answers, feature_table=features).new
    assert placed["rating"].tolist() == pytest.approx([new["rating"]])


def test_a_table_that_lacks_answers_or_features_is_refused(run, board, files, tmp_path, capsys):
    features = new_features(files)
    asked = ["rank", files / ANSWERS, "--board", board, "--feature-table"]
    for part, message in (
        (features.iloc[1:], f"no row of 1 of {len(features)} answers (first: en, {NEW},"),
        (features.drop(columns=["bleu"]), "the feature table lacks bleu; extract them first"),
    ):
        part.to_parquet(tmp_path / "part.parquet")
        assert run(*asked, tmp_path / "part.parquet") == 2
        assert message in " ".join(capsys.readouterr().err.split())


def test_features_of_others_are_asked_for_as_a_table(build_quickly, quick_features, tiny_arena):
    own = quick_features.merge(tiny_arena.answers[["language", "system", "query_id"]])
    made = build_quickly(tiny_arena, feature_table=own.assign(own=own["answer_length"]))
    with pytest.raises(UsageError, match="`feature_table`: no feature is named 'own'"):
        rank_systems(made, tiny_arena.answers.head(1).assign(system=NEW), tiny_arena)
