"""Boards of learners other than the random forest, from the command line to new systems."""

import json
from typing import get_args, get_type_hints

import numpy as np
import pytest

from arena import read_arena
from arena.data.errors import UsageError
from arena.data.rows import write_rows
from surrogate import build_board, place_systems
from surrogate.board.summarize import NO_IMPORTANCES
from surrogate.cli.board import board as board_command
from surrogate.learning.saving import SAVED_LEARNERS
from surrogate.ranking.rank import NO_DRIVERS

FEATURES = "answer_length,content_coverage,citation_recall@10"


@pytest.fixture(scope="module", params=["extra-trees", "ridge"])
def built(request, run, arena_folder, tmp_path_factory):
    """Name of a learner and the folder of its board."""
    folder = tmp_path_factory.mktemp(request.param)
    options = ["--tournaments", 5, "--jobs", 1, "--features", FEATURES]
    assert run("board", arena_folder, "--out", folder, "--surrogate", request.param, *options) == 0
    return request.param, folder


def newcomers(arena_folder, path):
    arena = read_arena(arena_folder)
    rows = arena.answers[arena.answers["system"] == arena.info.systems[0]]
    garbage = rows.assign(system="garbage", answer="qwx zvj " * 400)
    write_rows(rows.assign(system="newcomer"), path)
    write_rows(garbage, path.with_name("garbage.jsonl"))
    return path


def test_the_signature_and_the_site_name_the_learner(built):
    learner, folder = built
    signature = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["signature"]
    assert f"|model:{learner}|rows:system|" in signature
    method = (folder / "site" / "method.html").read_text(encoding="utf-8")
    assert f"--model {learner}" in method


def test_new_systems_are_ranked_with_interval_and_reasons(
    built, run, arena_folder, tmp_path, capsys
):
    _, folder = built
    answers = newcomers(arena_folder, tmp_path / "answers.jsonl")
    assert run("rank", answers, "--judge", folder, "--arena", arena_folder, "--json") == 0
    new = json.loads(capsys.readouterr().out)["new"]
    assert {row["language"] for row in new} == {"en", "sw"}
    system = read_arena(arena_folder).info.systems[0]
    for row in new:
        assert row["low"] < row["rating"] < row["high"]
        assert row["rank_low"] <= row["rank"] <= row["rank_high"]
        assert row["neighbours"][0] == {"neighbour": system, "distance": 0.0}
        assert row["drivers"]
        assert {entry["feature"] for entry in row["drivers"]} <= set(FEATURES.split(","))
    assert run("rank", answers, "--judge", folder, "--arena", arena_folder) == 0
    assert "What moved their ratings" in capsys.readouterr().out


def test_a_system_outside_the_field_is_flagged(built, run, arena_folder, tmp_path, capsys):
    _, folder = built
    newcomers(arena_folder, tmp_path / "answers.jsonl")
    garbage = tmp_path / "garbage.jsonl"
    assert run("rank", garbage, "--judge", folder, "--arena", arena_folder, "--json") == 0
    for row in json.loads(capsys.readouterr().out)["new"]:
        assert row["outside_field"]
        assert row["note"].startswith("unlike the systems")


@pytest.mark.parametrize("command", ["report", "export"])
def test_the_board_is_published_like_any_other(built, run, tmp_path, command):
    _, folder = built
    options = {
        "report": ["--out", tmp_path / "site"],
        "export": ["--format", "csv", "--out", tmp_path / "board.csv"],
    }[command]
    assert run(command, folder, *options) == 0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("svr", "a judge of learner svr cannot be saved"),
        ("xgboost", "use one of random-forest, extra-trees, linear, ridge, elastic-net"),
        ("oracle", "unknown learner 'oracle'"),
    ],
)
def test_a_model_that_cannot_be_saved_is_refused_at_once(run, tmp_path, capsys, model, message):
    assert run("board", tmp_path / "nowhere", "--out", tmp_path / "out", "--model", model) != 0
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_help_names_the_learners_that_can_be_chosen():
    _, option = get_args(get_type_hints(board_command, include_extras=True)["model"])
    assert option.help == f"Learner of the surrogate: {', '.join(SAVED_LEARNERS[:-1])} or " + (
        f"{SAVED_LEARNERS[-1]}."
    )


@pytest.fixture(scope="module")
def table(small_board):
    return small_board.features[["language", "system", "query_id", *FEATURES.split(",")]]


def test_importances_of_a_linear_board_are_shares(small_arena, table):
    board = build_board(
        small_arena, feature_table=table, tournaments=5, surrogate="elastic-net", seed=3
    )
    for _, rows in board.importances.groupby("language"):
        assert rows["importance"].sum() == pytest.approx(1.0, abs=1e-5)
        assert rows["tournament_mean"].between(0.0, 1.0).all()
    assert board.summary.macro.tau > 0.3


def test_a_learner_without_importances_and_drivers_says_so(small_arena, table, tmp_path):
    board = build_board(small_arena, feature_table=table, tournaments=3, surrogate="svr")
    assert board.ratings["rank"].notna().all()
    assert board.importances["importance"].isna().all()
    assert NO_IMPORTANCES.format("svr") in board.summary.languages["en"].notes
    rows = table[table["system"] == small_arena.info.systems[0]].assign(system="newcomer")
    placed = place_systems(board, rows, small_arena.queries)
    assert np.isfinite(placed.new["rating"]).all()
    assert placed.explanations["drivers"].map(len).eq(0).all()
    assert NO_DRIVERS.format("en", "svr") in placed.notes
    with pytest.raises(UsageError, match="a judge of learner svr cannot be saved"):
        board.save(tmp_path / "board")
    assert not (tmp_path / "board").exists()
