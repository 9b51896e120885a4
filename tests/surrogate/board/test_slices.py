"""Any column of the questions parts a board as languages do."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from arena import UsageError, read_arena, write_arena
from surrogate import build_board
from surrogate.board.board import Board

MT_BENCH = Path(__file__).parents[4] / "shared/data/arenas/mt-bench-ko-en"
FIGURES = ["rating", "low", "high", "verdict_share", "arena_rating"]
"""All but what is drawn for a language by its name, such as tournaments."""
FEW = settings(max_examples=2, phases=[Phase.generate])
TOPICS = ["law", "Café, bar", "=1"]


def with_topics(arena, topics):
    """The arena, its questions dealt to topics in turn."""
    dealt = [topics[place % len(topics)] for place in range(len(arena.queries))]
    return replace(arena, queries=arena.queries.assign(topic=dealt))


def built(arena, features, **options):
    return build_board(arena, feature_table=features, tournaments=2, **options)


def figures(board, names=None):
    table = board.ratings.replace({"language": names or {}})
    return table.set_index(["language", "system"])[FIGURES].sort_index()


@pytest.fixture(scope="module")
def few(bilingual_arena):
    """Five systems, two languages."""
    return bilingual_arena.select(systems=bilingual_arena.info.systems[:5])


@pytest.fixture(scope="module")
def sliced(few, quick_features):
    return built(with_topics(few, TOPICS), quick_features, by="topic")


@pytest.fixture(scope="module")
def whole(few, quick_features):
    """Figures of the board in English without slices."""
    return figures(built(few.select(["en"]), quick_features))


@pytest.mark.slow
@FEW
@given(value=st.one_of(st.text(st.characters(codec="utf-8"), min_size=1), st.integers(), st.none()))
def test_one_slice_is_no_slicing(few, quick_features, whole, value):
    english = few.select(["en"])
    board = built(with_topics(english, [value]), quick_features, by="topic")
    (name,) = board.languages
    pd.testing.assert_frame_equal(figures(board, {name: "en"}), whole)


@pytest.mark.slow
@FEW
@given(names=st.permutations([*TOPICS, "en", "(none)"]).map(lambda names: names[: len(TOPICS)]))
def test_names_of_slices_are_only_names(few, quick_features, sliced, names):
    board = built(with_topics(few, names), quick_features, by="topic")
    told = figures(board, dict(zip(names, TOPICS, strict=True)))
    pd.testing.assert_frame_equal(told, figures(sliced), atol=1e-5)


def test_slices_borrow_from_each_other_and_those_without_a_value_are_one(
    few, quick_features, sliced
):
    assert not figures(sliced)["rating"].isna().any()
    assert sliced.summary.settings.by == "topic"
    assert "|by:topic|" in sliced.summary.signature
    topics = with_topics(few, ["law", None, " "])
    judged = topics.judgments
    asked = judged.merge(topics.queries, how="left")["topic"]
    few = replace(topics, judgments=judged[(asked == "law").to_numpy()])
    board = built(few, quick_features, by="topic")
    assert board.languages == ["(none)", "law"]
    assert [item.questions for item in board.summary.languages.values()] == [8, 4]
    unjudged = board.table("(none)")
    assert unjudged["rating"].notna().all()
    assert (unjudged["verdict_share"] == 0).all()


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (None, "did you mean 'topic'"),
        (range(1000), "several questions each"),
        ([["law"]], "parted by a text each"),
    ],
)
def test_what_parts_nothing_is_refused(small_arena, column, said):
    arena = with_topics(small_arena, column or ["law"])
    with pytest.raises(UsageError, match=said):
        build_board(arena, by="topic" if column else "topics")


@pytest.mark.skipif(not MT_BENCH.is_dir(), reason="needs ../shared/data/arenas/mt-bench-ko-en")
def test_new_systems_find_their_place_on_a_board_by_category(run, tmp_path, capsys):
    arena = read_arena(MT_BENCH)
    kept = arena.queries["category"].isin(["writing", "math"])
    asked = arena.queries[kept & arena.queries["query_id"].str.endswith(("1", "2", "3", "4"))]
    systems, judge = arena.info.systems[:4], "gpt-4o-mini"
    tables = {
        name: getattr(arena, name).merge(asked[["language", "query_id"]])
        for name in ("answers", "judgments")
    }
    cut = replace(arena, queries=asked, **tables).select(systems=systems, judges=[judge])
    write_arena(cut, tmp_path / "arena")
    folder, answers = str(tmp_path / "board"), str(tmp_path / "new.jsonl")
    options = ["--by", "category", "--features", "answer_length", "--out", folder]
    assert run("board", str(tmp_path / "arena"), *options) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) <= 20
    assert max(map(len, printed)) <= 80 + len(str(tmp_path))
    assert "both categories" in " ".join(printed)
    board = Board.load(folder)
    assert board.languages == ["math", "writing"]
    assert set(board.features["query_id"].str[:3]) == {"en:", "ko:"}
    page = (tmp_path / "board/site/index.html").read_text()
    assert "mean rank over 2 categories" in page
    new = arena.answers.merge(asked[["language", "query_id"]])
    new[new["system"] == arena.info.systems[-1]].to_json(answers, orient="records", lines=True)
    run("rank", answers, "--board", folder, "--json")
    placed = json.loads(capsys.readouterr().out)["new"]
    assert [row["language"] for row in placed] == ["math", "writing"]
    assert all(row["surrogate_rating"] is not None for row in placed)
    assert run("advise", answers, "--board", folder, "--json") == 0
    named = json.loads(capsys.readouterr().out)["questions"]
    assert {row["query_id"] for row in named} <= set(board.features["query_id"])
    assert run("gate", "--board", folder, "--candidate", answers, "--json") == 4
    assert json.loads(capsys.readouterr().out)["verdict"] == "cannot say"  # four systems are few
