"""Every board that can be built can be used: saved, read, ranked on, gated, compared, published."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from simulations import small_simulation

from arena import Arena, UsageError, write_arena
from features import extract
from surrogate import Board, build_board, rank_systems
from surrogate.board.rank_reasons import UNPROVEN
from surrogate_arena.gating.gate import gate
from surrogate_arena.pages.exports import ALL, OVERALL, export_text
from surrogate_arena.pages.figures.board_figures import board_drawings
from surrogate_arena.pages.site import write_site
from surrogate_arena.runs.diff import diff_boards

EXPORTS = ("csv", "latex")
LANGUAGES = ("en", "sw")
KEYS = ["language", "query_id", "system"]
REFUSED = ("to learn from", "no language has answers to compare")


@pytest.fixture(scope="module")
def whole():
    return small_simulation(range(6), LANGUAGES, questions=5).arena


@pytest.fixture(scope="module")
def features(whole):
    return extract(whole, "answer_length,content_coverage,bleu")


def part_of(arena: Arena, languages, systems, lost=(), unjudged=(), winner=None) -> Arena:
    """Keep some languages and systems, without some answers and the verdicts on some systems."""
    queries = arena.queries[arena.queries["language"].isin(languages)]
    answers = arena.answers[arena.answers["language"].isin(languages)]
    answers = answers[answers["system"].isin(systems)]
    answers = answers[~np.isin(np.arange(len(answers)), [place % len(answers) for place in lost])]
    judgments = arena.judgments
    there = pd.MultiIndex.from_frame(answers[KEYS])
    for side in ("system_a", "system_b"):
        keys = judgments[["language", "query_id", side]]
        hidden = [key in unjudged for key in keys[["language", side]].itertuples(index=False)]
        judgments = judgments[pd.MultiIndex.from_frame(keys).isin(there) & ~np.array(hidden, bool)]
    if winner is not None:
        judgments = judgments.assign(winner=winner)
    present = tuple(sorted(answers["system"].unique()))
    reference = arena.info.reference_system
    info = arena.info.model_copy(
        update={
            "languages": tuple(languages),
            "systems": present,
            "reference_system": reference if reference in present else None,
        }
    )
    tables = {"queries": queries, "answers": answers, "judgments": judgments}
    return replace(
        arena, info=info, **{name: rows.reset_index(drop=True) for name, rows in tables.items()}
    )


def use(arena: Arena, features: pd.DataFrame, folder, **options) -> Board:
    """Build a board and do with it whatever can be done."""
    write_arena(arena, folder / "arena")
    own = features.merge(arena.answers[KEYS], on=KEYS)
    built = build_board(arena, feature_table=own, tournaments=2, **options)
    built.save(folder / "board", folder / "arena")
    board = Board.load(folder / "board")
    pd.testing.assert_frame_equal(board.ratings, built.ratings)
    board.table()
    first = arena.answers["system"].iloc[0]
    new, of_new = (
        table[table["system"] == first].assign(system="newcomer") for table in (arena.answers, own)
    )
    if not board.summary.is_first:
        rank_systems(board, new, feature_table=of_new)
        gate(board, new, feature_table=of_new)
    assert not (diff_boards(board, built).changes["verdict"] == "moved").any()
    write_site(board, folder / "site")
    for part in (OVERALL, ALL):
        for kind in EXPORTS:
            export_text(board, kind, part)
    for drawing in board_drawings(board):
        try:
            drawing.draw()
        except UsageError:  # what a board does not hold is said
            continue
    return board


@pytest.mark.slow
def test_a_board_whose_best_system_may_be_better_than_all_judged(whole, features, tmp_path):
    best = whole.info.reference_system
    unjudged = {(language, best) for language in LANGUAGES}
    board = use(part_of(whole, LANGUAGES, whole.info.systems, (), unjudged), features, tmp_path)
    assert np.isinf(board.ratings.loc[board.ratings["system"] == best, "surrogate_high"]).any()


def test_systems_without_verdicts_are_unranked_where_the_surrogate_is_not_shown_to_work(
    whole, features, tmp_path
):
    best, *others = whole.info.systems[:4]
    part = part_of(whole, ("en",), [best, *others], (), {("en", best)})
    board = use(part, features, tmp_path, surrogate="linear")
    assert not board.summary.macro.ranks_unseen
    rows = board.ratings.set_index("system")
    assert rows.loc[[best], "rank"].isna().all()
    assert rows.loc[[best], "surrogate_rating"].notna().all()
    assert (rows.loc[[best], "note"] == UNPROVEN).all()
    assert rows.loc[others, "rank"].notna().all()
    assert board.systems[-1] == best
    own = part.answers[part.answers["system"] == best].assign(system="newcomer")
    table = features[features["system"] == best].assign(system="newcomer")
    first = own.iloc[[0]][["language", "query_id"]]
    lost = first.assign(system_a="newcomer", system_b=others[0], winner="b", judge="any")
    for judgments in (None, lost):
        placed = rank_systems(board, own, feature_table=table, judgments=judgments)
        assert placed.new["rank"].isna().all()
        assert placed.new["note"].str.startswith(UNPROVEN).all()
    assert placed.overall.set_index("system")["rank"].isna()["newcomer"]


@pytest.mark.slow
def test_with_three_judged_systems_the_others_have_a_place_that_may_be_any(
    whole, features, tmp_path
):
    best, *others = whole.info.systems[:4]
    part = part_of(whole, ("en",), [best, *others], (), {("en", best)})
    board = use(part, features, tmp_path)
    assert board.summary.macro.standing == "untested"
    assert board.ratings["rank"].notna().sum() == 3
    own = part.answers[part.answers["system"] == best].assign(system="newcomer")
    table = features[features["system"] == best].assign(system="newcomer")
    placed = rank_systems(board, own, feature_table=table)
    places = placed.new[["place_low", "place", "place_high"]].iloc[0]
    assert places["place_low"] == 1
    assert places["place_low"] <= places["place"] <= places["place_high"]
    assert places["place_high"] >= len(others)
    sentences = " ".join(map(str, placed.remarks))
    assert board.summary.languages["en"].interval.limit in sentences
    decision = gate(board, own, baseline=others[0], feature_table=table)
    assert decision.verdict == "cannot say"
    assert np.isfinite([decision.ratings.low, decision.ratings.high]).all()
    assert "3 judged systems" in decision.ratings.reason


@pytest.mark.slow
def test_systems_with_the_same_answers_are_named_on_the_board(whole, features):
    one, other, *_ = whole.info.systems
    texts = whole.answers[whole.answers["system"] == one].set_index(["language", "query_id"])
    said = [
        texts.loc[key, "answer"] if system == other else answer
        for *key, system, answer in whole.answers[[*KEYS, "answer"]].itertuples(index=False)
        for key in [tuple(key)]
    ]
    board = build_board(
        replace(whole, answers=whole.answers.assign(answer=said)),
        feature_table=features,
        tournaments=2,
        surrogate="linear",
    )
    for language in board.summary.languages.values():
        assert "same answer" in str(language.remarks[0])
        assert one in str(language.remarks[0])
        assert other in str(language.remarks[0])


def used_parts(data, whole, features, folder):
    systems = data.draw(st.sets(st.sampled_from(whole.info.systems), min_size=1), "systems")
    languages = data.draw(st.sampled_from([("en",), LANGUAGES]), "languages")
    keys = [(language, system) for language in languages for system in sorted(systems)]
    lost = data.draw(st.sets(st.integers(0, 59), max_size=20), "lost answers")
    unjudged = data.draw(st.sets(st.sampled_from(keys)), "unjudged")
    winner = data.draw(st.sampled_from([None, None, "tie"]), "winner")
    surrogate = data.draw(st.sampled_from(["default", "random-forest"]), "surrogate")
    part = part_of(whole, languages, systems, lost, unjudged, winner)
    try:
        use(part, features, folder, surrogate=surrogate)
    except UsageError as error:
        if not any(why in str(error) for why in REFUSED):
            raise


def cases(count):
    everything = list(HealthCheck)
    phases = (Phase.explicit, Phase.generate)  # to shrink a case would build hundreds of boards
    return settings(max_examples=count, suppress_health_check=everything, phases=phases)


@cases(2)
@given(data=st.data())
def test_whatever_is_judged_and_answered(data, whole, features, tmp_path_factory):
    used_parts(data, whole, features, tmp_path_factory.mktemp("any"))
