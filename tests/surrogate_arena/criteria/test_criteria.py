"""A criterion is a judge's second name: one board each, and an overview by weights."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_sentences import filled_in_values, names_on, unrecorded, without

from arena import UsageError, read_arena, write_arena
from surrogate import build_board
from surrogate.board.board import Board
from surrogate_arena.criteria.overview import build_criteria, save_overview, weighted_overview

SWAPPED = {"a": "b", "b": "a", "tie": "tie"}
WEIGHTS = st.floats(0.01, 100)


@pytest.fixture(scope="module")
def plain(small_arena):
    """Five systems, one language."""
    return small_arena.select(["en"], systems=small_arena.info.systems[:5])


@pytest.fixture(scope="module")
def folder(plain, tmp_path_factory):
    """The same by three criteria: the best are the least fluent, and one verdict is on tone."""
    own = plain.judgments
    others = own.assign(winner=own["winner"].map(SWAPPED)).iloc[::2]
    parts = {"faithfulness": own, "fluency": others, "tone": own.iloc[:1]}
    judged = pd.concat([rows.assign(criterion=name) for name, rows in parts.items()])
    path = tmp_path_factory.mktemp("criteria")
    write_arena(replace(plain, judgments=judged), path)
    return path


@pytest.fixture(scope="module")
def built(folder, quick_features):
    return build_criteria(folder, feature_table=quick_features, tournaments=2)


def test_the_board_of_a_criterion_is_that_of_its_judgments(built, plain, folder, quick_features):
    boards, left_out = built
    assert list(boards) == ["faithfulness", "fluency", "tone"]
    assert not left_out
    alone = build_board(plain, feature_table=quick_features, tournaments=2)
    pd.testing.assert_frame_equal(boards["faithfulness"].ratings, alone.ratings)
    assert boards["fluency"].summary.judge == "simulated-teacher:fluency"
    with pytest.raises(UsageError, match="teacher:faithfulness, simulated-teacher:fluency"):
        build_board(folder, feature_table=quick_features)
    with pytest.raises(UsageError, match="there is faithfulness, fluency, tone"):
        build_board(folder, feature_table=quick_features, criterion="fluencies")


def test_one_verdict_is_counted_and_does_not_count(built):
    found = weighted_overview(*built)
    assert dict(found.left_out) == {"tone": "it ranks 2 systems, by 1 judgment; 3 are needed"}
    assert set(found.weights) == {"faithfulness", "fluency"}
    assert found.table["score"].notna().all()


@settings(max_examples=15)
@given(one=WEIGHTS, other=WEIGHTS, times=WEIGHTS)
def test_scores_are_weighted_means_and_only_shares_matter(built, one, other, times):
    def table(**weights):
        return weighted_overview(*built, weights).table.set_index("system").sort_index()

    mixed = table(faithfulness=one, fluency=other)
    scaled = table(faithfulness=times * one, fluency=times * other)
    ends = [table(faithfulness=1, fluency=0), table(faithfulness=0, fluency=1)]
    numbers = ["score", "low", "high"]
    pd.testing.assert_frame_equal(mixed[numbers], scaled[numbers], atol=2e-6)
    share = one / (one + other)
    mean = share * ends[0][numbers] + (1 - share) * ends[1][numbers]
    pd.testing.assert_frame_equal(mixed[numbers], mean, atol=2e-6, check_dtype=False)
    assert (ends[0]["rank"] == ends[0]["faithfulness_rank"]).all()
    assert np.isclose(ends[0]["score"].std(ddof=0), 1, atol=1e-5)
    assert mixed["rank"].between(mixed["rank_low"], mixed["rank_high"]).all()


@pytest.mark.parametrize(
    "weights",
    [{"fluent": 1}, {"fluency": -1}, {"fluency": "much"}, {"faithfulness": 0, "fluency": 0}],
)
def test_weights_that_say_nothing_are_refused(built, weights):
    with pytest.raises(UsageError, match="weights"):
        weighted_overview(*built, weights)


@pytest.mark.slow
def test_the_page_and_its_remarks_say_what_the_tables_hold(built, folder, tmp_path):
    overview = weighted_overview(*built, {"faithfulness": 2})
    with filled_in_values():
        boards, index = save_overview(overview, tmp_path, folder, read_arena(folder), site=True)
    table = pd.read_csv(tmp_path / "overview.csv")
    remarks = pd.read_csv(tmp_path / "remarks.csv", keep_default_na=False)
    said = set(remarks["sentence"])
    first, *others = remarks.to_dict("records")
    leaders = table.loc[table["rank_low"] == 1, "system"].tolist()
    assert json.loads(first["systems"]) == leaders
    assert first["sentence"].endswith("; weights: faithfulness 2, fluency 1.")
    numbers = list(map(int, re.findall(r"\d+", without(first["sentence"], leaders))))
    assert numbers == [len(leaders), 2, 1]
    # Which criteria rank fewer than three systems, and which judge has a fault, by the boards.
    expected = []
    for name in boards:
        ranks = pd.read_csv(tmp_path / name / "overall.csv")["rank"]
        of_board = pd.read_csv(tmp_path / name / "remarks.csv", keep_default_na=False)
        said |= set(of_board["sentence"])
        if ranks.count() < 3:
            expected.append(("left out", name))
            continue
        if (of_board["name"] == "unreliable").any():
            expected.append(("unreliable", name))
    assert [(row["name"], row["subject"]) for row in others] == expected
    names = {*boards, read_arena(folder).info.name, *names_on(next(iter(boards.values())))}
    assert unrecorded(index.read_text("utf-8"), said, names) == []


def test_the_command_writes_a_board_each_and_an_overview(
    run, folder, tmp_path, capsys, quick_options
):
    out = tmp_path / "boards"
    command = ["board", folder, "--out", out, "--weights", "faithfulness=2", *quick_options]
    assert run(*command) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) <= 20
    assert max(len(line) for line in printed if not line.startswith(("Open", "Next"))) <= 80
    assert "weights: faithfulness 2, fluency 1" in " ".join(printed)
    table = pd.read_csv(out / "overview.csv")
    assert {"score", "rank_low", "faithfulness_rating", "fluency_rank"} <= set(table)
    page = (out / "index.html").read_text()
    assert page.count("<tr>") == 1 + len(table)
    for name in ("faithfulness", "fluency", "tone"):
        assert f'href="{name}/site/index.html"' in page
        assert Board.load(out / name).summary.settings.criterion == name
    alone = ["--judge", "simulated-teacher:fluency", "--no-site", "--json", *quick_options]
    assert run("board", folder, "--out", tmp_path / "one", *alone) == 0
    assert run("board", folder, "--out", tmp_path / "one", *quick_options) == 2
    assert "holds no overview" in capsys.readouterr().err
