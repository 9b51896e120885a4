"""Any column of the questions parts a board as languages do."""

from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from arena import UsageError, read_arena, write_arena
from surrogate import build_board

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
        ([["law"]], "needs a text as its name"),
    ],
)
def test_what_parts_nothing_is_refused(small_arena, column, said):
    arena = with_topics(small_arena, column or ["law"])
    with pytest.raises(UsageError, match=said):
        build_board(arena, by="topic" if column else "topics")


def test_a_criterion_has_the_board_of_its_judgments(small_arena, quick_features, tmp_path):
    plain = small_arena.select(["en"], systems=small_arena.info.systems[:4])
    swapped = plain.judgments["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    fluency = plain.judgments.assign(winner=swapped).iloc[::2]
    parts = {"faithfulness": plain.judgments, "fluency": fluency}
    judged = pd.concat([rows.assign(criterion=name) for name, rows in parts.items()])
    write_arena(replace(plain, judgments=judged), tmp_path)
    arena = read_arena(tmp_path)
    board = built(arena, quick_features, criterion="faithfulness")
    pd.testing.assert_frame_equal(board.ratings, built(plain, quick_features).ratings)
    named = built(arena, quick_features, judge="simulated-teacher:fluency")
    assert named.summary.judge == "simulated-teacher:fluency"
    with pytest.raises(UsageError, match="teacher:faithfulness, simulated-teacher:fluency"):
        built(arena, quick_features)
    with pytest.raises(UsageError, match="there is faithfulness, fluency"):
        built(arena, quick_features, criterion="fluencies")
