"""What can be validated can be built into a board, loaded, ranked with and advised by."""

import json
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from arena import read_arena
from arena.data.rows import write_rows
from features import extract
from surrogate import Board, build_board, place_systems
from surrogate.board import language as board_language
from surrogate.board.rows import BEYOND
from surrogate.learning.languages import TournamentSettings
from surrogate.learning.names import SURROGATE_NAMES, surrogate_name
from surrogate.ranking.advice import advise
from surrogate.validation import validate

BOOSTING = GradientBoostingRegressor(max_depth=2)
FEATURES = "answer_length,content_coverage,citation_recall@10"
SETTINGS = TournamentSettings(tournaments=2, seed=3)


def named(name):
    if name == "xgboost" and find_spec("xgboost") is None:
        pytest.skip("install the extra xgboost")
    return name


@pytest.fixture(scope="module")
def tiny_table(tiny_arena):
    return extract(tiny_arena, FEATURES)


@pytest.mark.parametrize("name", [*SURROGATE_NAMES, BOOSTING])
def test_every_surrogate_is_validated_built_loaded_ranked_and_advised(
    name, tiny_arena, tiny_table, tmp_path
):
    board = build_board(
        tiny_arena, feature_table=tiny_table, tournaments=2, surrogate=named(name), seed=3
    )
    assert board.ratings["rank"].notna().all()
    assert f"|surrogate:{surrogate_name(name)}|rows:system|" in board.summary.signature
    validated = validate(
        *(tiny_arena, "leave-systems-out", name),
        **{"feature_table": tiny_table, "repeats": board_language.SPLITS, "tournaments": SETTINGS},
    )
    for language, item in board.summary.languages.items():
        assert item.tau_unseen == pytest.approx(validated.of(language)["tau"])
    board.save(tmp_path / "board")
    loaded = Board.load(tmp_path / "board")
    rows = tiny_table[tiny_table["system"] == tiny_arena.info.systems[0]].assign(system="newcomer")
    placed, again = (place_systems(item, rows, tiny_arena.queries) for item in (board, loaded))
    assert np.isfinite(placed.new["rating"]).all() or not board.summary.macro.ranks_unseen
    np.testing.assert_allclose(placed.new["rating"], again.new["rating"], atol=1e-6)
    advice = advise(loaded, rows, questions=3)
    assert set(advice.neighbors["side"]) <= {"above", "below"}
    assert advice.questions["uncertainty"].between(0, 0.25).all()


@pytest.fixture(
    scope="module", params=[pytest.param("random-forest", marks=pytest.mark.slow), "linear"]
)
def built(request, run, arena_folder, tmp_path_factory):
    """Name of a surrogate and the folder of its board."""
    folder = tmp_path_factory.mktemp(request.param) / "board"
    options = ["--tournaments", 2, "--jobs", 1, "--features", FEATURES]
    command = ("board", arena_folder, "--out", folder, "--surrogate", request.param)
    assert run(*command, *options) == 0
    return request.param, folder


def newcomers(arena_folder, path):
    arena = read_arena(arena_folder)
    rows = arena.answers[arena.answers["system"] == arena.info.systems[0]]
    garbage = rows.assign(system="garbage", answer="qwx zvj " * 400)
    write_rows(rows.assign(system="newcomer"), path)
    write_rows(garbage, path.with_name("garbage.jsonl"))
    return path


def test_new_systems_are_ranked_with_interval_and_reasons(
    built, run, arena_folder, tmp_path, capsys
):
    _, folder = built
    answers = newcomers(arena_folder, tmp_path / "answers.jsonl")
    assert run("rank", answers, "--board", folder, "--arena", arena_folder, "--json") == 0
    new = json.loads(capsys.readouterr().out)["new"]
    assert {row["language"] for row in new} == {"en", "sw"}
    for row in new:
        assert row["low"] < row["rating"]
        assert row["high"] is None if BEYOND in row["note"] else row["rating"] < row["high"]
        assert row["rank_low"] <= row["rank"] <= row["rank_high"]


def test_a_system_unlike_the_training_systems_is_flagged(
    built, run, arena_folder, tmp_path, capsys
):
    _, folder = built
    newcomers(arena_folder, tmp_path / "answers.jsonl")
    garbage = tmp_path / "garbage.jsonl"
    assert run("rank", garbage, "--board", folder, "--arena", arena_folder, "--json") in (0, 1)
    for row in json.loads(capsys.readouterr().out)["new"]:
        assert row["outside_training"]
        assert "unlike the systems" in row["note"]


def test_a_surrogate_without_importances_says_so(tiny_arena, tiny_table):
    board = build_board(tiny_arena, feature_table=tiny_table, tournaments=2, surrogate="svr")
    assert board.importances["importance"].isna().all()
