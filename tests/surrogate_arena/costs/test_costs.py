"""What systems cost: amounts, and who is on a frontier."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surrogate.board import tables
from surrogate_arena.costs.costs import (
    cost_table,
    frontier_remark,
    pareto_frontier,
    write_costs,
)
from surrogate_arena.costs.uncompared import uncompared_board

NUMBERS = st.integers(0, 4) | st.just(float("nan"))


def priced(arena, costs, currency="USD", **columns):
    """Give every answer of a system the same cost."""
    answers = arena.answers
    cells = pd.Series(currency, answers.index, dtype=object)
    cost = answers["system"].map(costs).astype(float)
    return replace(arena, answers=answers.assign(cost=cost, currency=cells, **columns))


@pytest.fixture(scope="module")
def prices(small_arena):
    """The first system is the dearest, and no two cost the same."""
    return {name: (30 - place) / 1000 for place, name in enumerate(small_arena.info.systems)}


@pytest.fixture(scope="module")
def priced_board(small_arena, prices, build_quickly):
    random = np.random.default_rng(1)
    seconds = np.round(random.lognormal(size=len(small_arena.answers)), 3)
    return build_quickly(priced(small_arena, prices, latency=seconds, tokens=8))


@pytest.fixture
def summed_up(quick_board):
    """Return the costs of systems whose ratings fall in their order."""

    def sum_up(arena):
        systems = list(arena.info.systems)
        ratings = np.linspace(1, -1, len(systems))
        rows = pd.DataFrame({"language": "en", "system": systems, "arena_rating": ratings})
        overall = pd.DataFrame({"system": systems, "mean_rating": ratings, "rank": 1})
        template = quick_board.ratings.iloc[: len(systems)].reset_index(drop=True)
        board = replace(
            quick_board,
            ratings=template.assign(**rows.to_dict("series")),
            overall=quick_board.overall.iloc[: len(systems)]
            .reset_index(drop=True)
            .assign(**overall.to_dict("series")),
        )
        return cost_table(board, arena)

    return sum_up


def dominated(quality, prices, index):
    better = (quality >= quality[index]) & (prices <= prices[index])
    return bool((better & ((quality > quality[index]) | (prices < prices[index]))).any())


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12), st.randoms(use_true_random=False))
def test_the_frontier_holds_exactly_those_that_nobody_dominates(points, random):
    quality, prices = np.array(points, dtype=float).reshape(-1, 2).T
    found = pareto_frontier(quality, prices)
    for index, is_on in enumerate(found):
        is_known = not np.isnan(quality[index] + prices[index])
        assert is_on == (is_known and not dominated(quality, prices, index))
    order = random.sample(range(len(points)), len(points))
    assert pareto_frontier(quality[order], prices[order]).tolist() == found[order].tolist()


def test_a_board_states_amounts_and_who_is_on_the_frontier(priced_board, prices):
    board = priced_board
    costs = cost_table(board, board.own_arena()).set_index("system")
    assert list(costs.index) == list(board.systems)
    assert costs["cost"].to_dict() == pytest.approx({s: 1000 * p for s, p in prices.items()})
    assert set(costs["currency"]) == {"USD"}
    assert (costs["latency"] <= costs["latency_p95"]).all()
    assert not costs["note"].any()
    quality = board.overall.set_index("system")["mean_rating"].reindex(costs.index).to_numpy()
    on_frontier = [not dominated(quality, costs["cost"].to_numpy(), i) for i in range(len(costs))]
    assert costs["on_cost_frontier"].astype(bool).tolist() == on_frontier


def test_costs_reach_no_file_of_a_board(priced_board, quick_board, tmp_path):
    priced_board.save(tmp_path / "priced")
    quick_board.save(tmp_path / "free")
    for name in tables.BOARD_FILES:
        texts = [(tmp_path / folder / name).read_bytes() for folder in ("priced", "free")]
        assert texts[0] == texts[1], name


def test_they_are_written_beside_the_board_where_any_are_stated(
    priced_board, quick_board, small_arena, tmp_path
):
    folder = tmp_path / "board"
    priced_board.save(folder)
    costs = write_costs(priced_board, priced_board.own_arena(), folder)
    read = pd.read_csv(folder / "costs.csv")
    assert read["cost"].tolist() == pytest.approx(costs["cost"].tolist())
    # A board of the same folder whose answers state none has no such file.
    assert write_costs(quick_board, small_arena, folder).empty
    assert not (folder / "costs.csv").exists()


def test_the_sentence_names_the_systems_on_the_frontier(priced_board, quick_board, small_arena):
    costs = cost_table(priced_board, priced_board.own_arena())
    sentence = frontier_remark(costs).sentence
    first = costs[costs["on_cost_frontier"].eq(1)].iloc[0]
    assert f"{first['system']} ({first['cost']:.3g} USD)" in sentence
    by_time = frontier_remark(costs.assign(cost=np.nan)).sentence
    fastest = costs.loc[costs["latency"].idxmin()]
    assert f"{fastest['system']} ({fastest['latency']:.3g} seconds)" in by_time
    assert frontier_remark(cost_table(quick_board, small_arena)).sentence == ""


def test_names_and_the_order_of_rows_change_nothing(tiny_arena, prices, summed_up):
    random = np.random.default_rng(6)
    seconds = random.lognormal(size=len(tiny_arena.answers))
    arena = priced(tiny_arena, prices, latency=seconds)
    systems = arena.info.systems
    names = {name: f"s{place}" for place, name in enumerate(reversed(systems))}
    shuffled = arena.answers.sample(frac=1, random_state=5)
    renamed = replace(
        arena,
        info=arena.info.model_copy(update={"systems": tuple(names[name] for name in systems)}),
        answers=shuffled.assign(system=shuffled["system"].map(names)).reset_index(drop=True),
    )
    costs = summed_up(arena)
    expected = costs.assign(system=costs["system"].map(names))
    pd.testing.assert_frame_equal(expected, summed_up(renamed), check_exact=True)


def test_partial_absent_and_mixed_amounts_are_counted_and_said(tiny_arena, prices, summed_up):
    half, none, mixed, whole, *_ = tiny_arena.info.systems
    arena = priced(tiny_arena, prices)
    answers = arena.answers
    first = answers.groupby("system").cumcount() == 0
    cost = answers["cost"].mask(answers["system"].isin([none, whole]))
    cost = cost.mask(answers["system"].eq(half) & first)
    cost = cost.mask(answers["system"].eq(half) & ~first, 7.0)
    currency = answers["currency"].mask(answers["system"].eq(mixed) & first, "eur")
    attributes = pd.DataFrame({"system": [whole], "cost": ["0.5"], "currency": ["USD"]})
    arena = replace(
        arena, answers=answers.assign(cost=cost, currency=currency), attributes=attributes
    )
    costs = summed_up(arena).set_index("system")
    n_answers = int((answers["system"] == half).sum())
    assert costs.loc[half, "cost"] == pytest.approx(7000)
    assert costs.loc[half, "note"] == f"cost of {n_answers - 1} of {n_answers} answers"
    assert (np.isnan(costs.loc[none, "cost"]), costs.loc[none, "note"]) == (True, "no cost stated")
    assert costs.loc[mixed, "note"] == "no cost: its answers state EUR and USD"
    assert pd.isna(costs.loc[mixed, "on_cost_frontier"])
    assert costs.loc[whole, "cost"] == 500
    assert costs.loc[whole, "note"] == "cost stated for the system, not by answer"


def test_costs_in_other_currencies_are_not_compared(tiny_arena, prices, summed_up):
    arena = priced(tiny_arena, prices)
    one, *others = tiny_arena.info.systems
    is_one = arena.answers["system"] == one
    currency = arena.answers["currency"].mask(is_one, "EUR")
    costs = summed_up(replace(arena, answers=arena.answers.assign(currency=currency)))
    costs = costs.set_index("system")
    # Alone in its currency, nobody dominates it; nor does it anybody.
    assert costs.loc[one, "on_cost_frontier"] == 1
    quality = -np.arange(len(others))
    amounts = costs.loc[others, "cost"].to_numpy()
    expected = [not dominated(quality, amounts, index) for index in range(len(others))]
    assert costs.loc[others, "on_cost_frontier"].astype(bool).tolist() == expected


def test_nothing_is_said_where_a_board_may_not_compare(tiny_arena, prices, build_quickly):
    arena = priced(tiny_arena, prices)
    unjudged, *_ = tiny_arena.info.systems
    judgments = arena.judgments
    is_of = (judgments[["system_a", "system_b"]] == unjudged).any(axis=1)
    board = build_quickly(replace(arena, judgments=judgments[~is_of].reset_index(drop=True)))
    costs = cost_table(board, board.own_arena()).set_index("system")
    assert costs.loc[unjudged, "note"].startswith("not compared: ")
    first = build_quickly(replace(arena, judgments=judgments.iloc[:0]))
    one_sided = build_quickly(replace(arena, judgments=judgments.assign(winner="a")))
    for barred in (first, one_sided):
        costs = cost_table(barred, barred.own_arena())
        assert costs["cost"].notna().all()
        assert costs["on_cost_frontier"].isna().all()
        assert costs["note"].str.contains(uncompared_board(barred)).all()


@pytest.mark.parametrize(("low", "is_barred"), [(-0.2, True), (0.4, False)])
def test_a_surrogate_alone_compares_only_where_it_is_shown_to_work(priced_board, low, is_barred):
    summary = priced_board.summary
    macro = summary.macro.model_copy(update={"tau_unseen": 0.5, "tau_unseen_low": low})
    settings = summary.settings.model_copy(update={"ratings": "surrogate"})
    altered = summary.model_copy(update={"macro": macro, "settings": settings})
    assert bool(uncompared_board(replace(priced_board, summary=altered))) == is_barred
