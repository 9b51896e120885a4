"""Placing new systems on a board whose rows stay as they are."""

from dataclasses import replace

import pandas as pd
import pytest

from arena.data.errors import DataError, UsageError
from surrogate import Board, build_board, rank_systems
from surrogate.board.rank_reasons import NO_ANSWER, ONE_SIDED
from surrogate.ranking.rank import NO_SURROGATE_HERE, RANKED_APART, place_systems


@pytest.fixture(scope="module")
def published(board_folder):
    return Board.load(board_folder)


def copy_of(arena, system, name):
    rows = arena.answers[arena.answers["system"] == system]
    return rows.assign(system=name).reset_index(drop=True)


def test_paths_take_the_place_of_board_arena_and_answers(
    small_arena, arena_folder, quick_board, build_quickly, quick_features, tmp_path
):
    board = build_quickly(arena_folder)
    pd.testing.assert_frame_equal(board.ratings, quick_board.ratings)
    board.save(tmp_path / "board")
    system = small_arena.info.systems[0]
    new, features = (
        rows[rows["system"] == system].assign(system="copy")
        for rows in (small_arena.answers, quick_features)
    )
    new.to_json(tmp_path / "new.jsonl", orient="records", lines=True)
    by_paths = rank_systems(tmp_path / "board", tmp_path / "new.jsonl", feature_table=features)
    for built in (board, quick_board):
        in_memory = rank_systems(built, new, feature_table=features)
        pd.testing.assert_frame_equal(by_paths.new, in_memory.new)
    with pytest.raises(UsageError, match="of type Arena is not a board"):
        rank_systems(small_arena, new)
    with pytest.raises(UsageError, match="there is no file of answers at"):
        rank_systems(board, tmp_path / "absent.jsonl", small_arena)
    with pytest.raises(DataError, match=r"answers\.iloc\[0\]: system = None: is missing"):
        rank_systems(board, new.assign(system=None), small_arena)
    with pytest.raises(UsageError, match="of type DataFrame is not an arena"):
        build_quickly(new)


def test_by_a_judge_that_always_says_a_nothing_has_a_rank_not_even_a_copy(tiny_arena):
    says_a = replace(tiny_arena, judgments=tiny_arena.judgments.assign(winner="a"))
    board = build_board(says_a, features="answer_length", surrogate="linear", tournaments=2)
    assert board.ratings["rank"].isna().all()
    system = tiny_arena.info.systems[0]
    placed = rank_systems(board, copy_of(tiny_arena, system, "copy"), says_a)
    assert placed.new[["rank", "place"]].isna().all(axis=None)
    assert placed.new["note"].str.contains(ONE_SIDED, regex=False).all()


@pytest.mark.slow
def test_by_features_alone_a_copy_has_the_very_rating_and_rank(forest_board, bilingual_arena):
    system = bilingual_arena.info.systems[0]
    placed = rank_systems(forest_board, copy_of(bilingual_arena, system, "copy"), bilingual_arena)
    new = placed.new.set_index("language")
    predicted = forest_board.surrogate.predict(forest_board.features)
    old = predicted[predicted["system"] == system].set_index("language")
    predictions = new["surrogate_rating"].rename("rating")
    pd.testing.assert_series_equal(predictions, old["rating"], atol=1e-6)
    for language, rating in new["rating"].items():
        rows = forest_board.ratings[forest_board.ratings["language"] == language]
        assert new.loc[language, "place"] == 1 + (rows["rating"] > rating).sum()


@pytest.mark.slow
def test_existing_rows_do_not_move(published, small_arena):
    answers = copy_of(small_arena, small_arena.info.systems[0], "newcomer")
    placed = rank_systems(published, answers, small_arena)
    kept = placed.board[placed.board["split"] != "new"].reset_index(drop=True)
    pd.testing.assert_frame_equal(
        kept, published.ratings.sort_values(["language", "rank"], ignore_index=True, kind="stable")
    )
    old = placed.overall[placed.overall["system"] != "newcomer"].reset_index(drop=True)
    pd.testing.assert_frame_equal(old, published.overall)


@pytest.mark.slow
def test_new_systems_share_a_rank_and_a_note_says_what_they_are_ranked_among(
    forest_board, bilingual_arena
):
    system = bilingual_arena.info.systems[0]
    first, second = (copy_of(bilingual_arena, system, name) for name in ("first", "second"))
    alone = rank_systems(forest_board, first, bilingual_arena)
    both = rank_systems(forest_board, pd.concat([first, second]), bilingual_arena)
    places = alone.new.set_index("language")["place"]
    for language, place in both.new.set_index("language")["place"].items():
        assert place == places[language]
    assert RANKED_APART in both.remarks
    assert RANKED_APART not in alone.remarks
    # Where one of them alone has a place there is nothing to mistake.
    silent = second.assign(answer="")
    one_placed = rank_systems(forest_board, pd.concat([first, silent]), bilingual_arena)
    assert one_placed.new["place"].notna().sum() == alone.new["place"].notna().sum()
    assert RANKED_APART not in one_placed.remarks


def test_rows_are_in_the_order_people_read(published, small_arena):
    answers = copy_of(small_arena, small_arena.info.systems[4], "<i>newcomer</i>")
    placed = rank_systems(published, answers, small_arena)
    for _, rows in placed.board.groupby("language"):
        assert rows["rank"].dropna().is_monotonic_increasing
        for is_ranked in (True, False):
            part = rows[rows["rank"].notna() == is_ranked]
            assert part["rating"].dropna().is_monotonic_decreasing
    assert placed.overall.dropna(subset="rank")["wins"].is_monotonic_decreasing
    assert list(placed.board.columns) == list(published.ratings.columns)
    html = placed._repr_html_()
    assert "&lt;i&gt;newcomer&lt;/i&gt;" in html
    assert "<i>" not in html
    assert repr(placed).startswith("<RankedSystems by rank: <i>newcomer</i> (en): ")


@pytest.mark.slow
def test_partial_and_absent_answers_are_shown_with_their_coverage(published, small_arena):
    answers = copy_of(small_arena, small_arena.info.systems[0], "partial")
    half = answers[answers["language"] == "en"].head(5)
    placed = rank_systems(published, half, small_arena)
    new = placed.new.set_index("language")
    assert new.loc["en", "coverage"] == 0.5
    assert NO_ANSWER not in new.loc["en", "note"]
    assert new.loc["sw", "note"] == NO_ANSWER
    assert pd.isna(new.loc["sw", "rank"])
    row = placed.overall.set_index("system").loc["partial"]
    assert pd.isna(row["rank"])
    assert row["languages"] == 0


def test_a_language_without_a_surrogate_is_said(published, small_board, small_arena):
    table = small_board.features
    foreign = table[table["language"] == "en"].assign(language="fi", system="finn")
    queries = pd.concat([small_arena.queries, small_arena.queries.head(10).assign(language="fi")])
    new = place_systems(published, foreign, queries).new.set_index("language")
    assert new.loc["fi", "note"] == NO_SURROGATE_HERE
    assert pd.isna(new.loc["fi", "rank"])


@pytest.mark.slow
def test_a_rating_comes_with_the_boards_interval_and_the_ranks_it_allows(published, small_arena):
    answers = copy_of(small_arena, small_arena.info.systems[4], "newcomer")
    for row in rank_systems(published, answers, small_arena).new.itertuples():
        interval = published.summary.languages[row.language].interval
        assert row.high - row.rating == pytest.approx(row.rating - row.low, abs=2e-6)
        assert 0 < row.rating - row.low < 20 * interval.half_width
        field = published.ratings[published.ratings["language"] == row.language]["rating"]
        assert row.place_low == 1 + (field > row.high).sum()
        assert row.place_high == 1 + (field > row.low).sum()
        assert row.place_low <= row.place <= row.place_high


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "qwx zvj kkpt " * 4])
def test_a_system_unlike_the_others_is_less_sure_than_a_copy_and_both_are_explained(
    published, small_arena, text
):
    system = small_arena.info.systems[0]
    trained = next(
        name for name in small_arena.info.systems if name in published.surrogate.systems_["en"]
    )
    answers = pd.concat(
        [
            copy_of(small_arena, system, "garbage").assign(answer=text),
            copy_of(small_arena, trained, "copy"),
        ],
        ignore_index=True,
    )
    placed = rank_systems(published, answers, small_arena)
    explained = placed.explanations.set_index("system")
    assert explained.loc["garbage", "moved_by"].map(len).min() > 0
    told = explained.loc["copy"].iloc[0]
    won, lost = set(told["like_winners"]), set(told["like_losers"])
    assert won | lost <= set(answers["query_id"])
    assert won | lost
    assert not won & lost


def test_a_name_already_on_the_board_is_refused(published, small_arena):
    with pytest.raises(UsageError, match="already on the board"):
        rank_systems(published, small_arena.answers.head(3), small_arena)


def test_another_arena_is_refused(published, small_arena):
    queries = small_arena.queries.assign(query=lambda table: table["query"] + "?")
    answers = copy_of(small_arena, small_arena.info.systems[0], "newcomer")
    with pytest.raises(UsageError, match=r"are not those of arena .* build the board again"):
        rank_systems(published, answers, replace(small_arena, queries=queries))
