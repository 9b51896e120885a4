"""What systems take beside how good they are: amounts, frontiers, and who costs less."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import norm

from surrogate import Board
from surrogate.board import tables
from surrogate.board.costs import (
    answer_amounts,
    cost_table,
    pareto_frontier,
    uncompared_board,
)
from surrogate.board.savings import (
    mean_differences,
    median_ratios,
    probability_above,
    saving_sentence,
    savings_table,
)

BOUND = float(logit(0.45))
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


def summed_up(arena):
    """Return ``costs.csv`` and ``savings.csv`` of systems whose ratings fall in their order."""
    systems = list(arena.info.systems)
    ratings = pd.DataFrame(
        {"language": "en", "system": systems, "rating": np.linspace(1, -1, len(systems))}
    )
    keys = pd.MultiIndex.from_frame(ratings[["language", "system"]])
    covariance = pd.DataFrame(np.eye(len(systems)) / 100, keys, keys)
    overall = ratings.rename(columns={"rating": "mean_rating"})
    amounts = answer_amounts(arena)
    costs = tables.COSTS.typed(cost_table(amounts, overall, {}))
    savings = savings_table(amounts, ratings, covariance, systems)
    return costs, tables.SAVINGS.typed(savings)


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


def test_the_probability_is_the_normal_ones_and_certain_without_an_error():
    found = probability_above([0.1, -0.3, 0.1, -0.3], [0.04, 0.04, 0, 0], BOUND)
    assert found == pytest.approx([norm.sf(BOUND, 0.1, 0.2), norm.sf(BOUND, -0.3, 0.2), 1, 0])
    assert np.isnan(probability_above([0.1], [np.nan], BOUND)).all()


def test_over_languages_it_is_the_share_of_joint_draws():
    """Two systems in two languages, whose ratings vary together."""
    index = pd.MultiIndex.from_product([["en", "sw"], ["a", "b"]], names=["language", "system"])
    root = np.random.default_rng(3).normal(size=(4, 4)) / 5
    covariance = pd.DataFrame(root @ root.T, index, index)
    ratings = pd.DataFrame({"rating": [0.3, 0.2, -0.1, 0.0]}, index).reset_index()
    differences, variances = mean_differences(ratings, covariance, ["a", "b"])
    assert differences[0, 1] == pytest.approx(0.0)
    assert variances[0, 0] == pytest.approx(0)
    draws = np.random.default_rng(4).multivariate_normal(ratings["rating"], covariance, 200_000)
    share = ((draws[:, 1] + draws[:, 3] - draws[:, 0] - draws[:, 2]) / 2 > BOUND).mean()
    assert probability_above(differences, variances, BOUND)[1, 0] == pytest.approx(share, abs=0.004)


def test_a_board_states_amounts_ratios_and_how_surely_it_is_not_worse(priced_board, prices):
    board = priced_board
    costs = board.costs.set_index("system")
    assert list(costs.index) == list(board.systems)
    assert costs["cost"].to_dict() == pytest.approx({s: 1000 * p for s, p in prices.items()})
    assert set(costs["currency"]) == {"USD"}
    assert (costs["latency"] <= costs["latency_p95"]).all()
    assert (costs["cost_answers"] == costs["answers"]).all()
    assert not costs["note"].any()
    quality = board.overall.set_index("system")["mean_rating"].reindex(costs.index).to_numpy()
    on_frontier = [not dominated(quality, costs["cost"].to_numpy(), i) for i in range(len(costs))]
    assert costs["on_cost_frontier"].astype(bool).tolist() == on_frontier
    savings = board.savings
    ratios = savings["system"].map(prices) / savings["opponent"].map(prices)
    assert savings["cost_ratio"].to_numpy() == pytest.approx(ratios.to_numpy(), abs=1e-6)
    means = board.overall.set_index("system")["mean_rating"]
    expected = expit(savings["system"].map(means) - savings["opponent"].map(means))
    assert savings["win_rate"].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-5)
    # Whoever is expected to win 45% is as likely above it as below.
    above = savings["win_rate"] > 0.45
    assert (savings["probability"] > 0.5).tolist() == above.tolist()


def test_costs_never_reach_the_surrogate_or_a_rating(priced_board, quick_board, tmp_path):
    """Files of a board with and without costs differ in those on costs alone."""
    assert not {"cost", "currency", "latency", "tokens"} & set(priced_board.features)
    priced_board.save(tmp_path / "priced")
    quick_board.save(tmp_path / "free")
    differing = set()
    for name in tables.BOARD_FILES:
        texts = [(tmp_path / folder / name).read_bytes() for folder in ("priced", "free")]
        if texts[0] != texts[1]:
            differing.add(name)
    assert differing == {tables.COSTS.file, tables.SAVINGS.file}
    assert quick_board.costs.empty
    assert quick_board.savings.empty
    assert saving_sentence(quick_board) == ""
    again = Board.load(tmp_path / "priced")
    pd.testing.assert_frame_equal(again.costs, priced_board.costs)
    pd.testing.assert_frame_equal(again.savings, priced_board.savings)


def test_names_and_the_order_of_rows_change_nothing(tiny_arena, prices):
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
    for own, other in zip(summed_up(arena), summed_up(renamed), strict=True):
        keys = [name for name in ("system", "opponent") if name in own]
        expected = own.assign(**{name: own[name].map(names) for name in keys})
        pd.testing.assert_frame_equal(
            expected.sort_values(keys, ignore_index=True),
            other.sort_values(keys, ignore_index=True),
            check_exact=True,
        )


def test_the_sentence_names_the_cheapest_that_is_likely_enough(priced_board):
    board = priced_board
    leader = board.costs["system"].iloc[0]
    savings = board.savings.assign(probability=0.5)
    cheaper = savings.index[(savings["opponent"] == leader) & (savings["cost_ratio"] < 1)]
    cheapest = savings.loc[cheaper, "cost_ratio"].idxmin()
    savings.loc[cheaper, "probability"] = 0.96
    said = saving_sentence(replace(board, savings=savings))
    assert said.startswith(f"{savings.loc[cheapest, 'system']} costs ")
    assert "(96% likely)" in said
    assert "USD for 1,000 answers" in said
    assert "5 points" in said
    savings.loc[cheaper, "probability"] = 0.94
    savings.loc[cheapest, "probability"] = 0.9
    said = saving_sentence(replace(board, savings=savings))
    assert said.startswith(f"No system that costs less than {leader} is likely (95%) to be")
    assert "94%" in said
    savings["probability"] = np.nan
    assert "is not known" in saving_sentence(replace(board, savings=savings))


def test_cheaper_systems_are_worse_only_where_all_are_likely_so(priced_board):
    board = priced_board
    leader = board.costs["system"].iloc[0]
    savings = board.savings
    cheaper = savings.index[(savings["opponent"] == leader) & (savings["cost_ratio"] < 1)]
    assert len(cheaper) > 1

    def sentence(rows, *probabilities):
        table = savings.loc[rows].assign(probability=probabilities)
        return saving_sentence(replace(board, savings=table))

    one, two = cheaper[:2]
    some = [one, two]
    # Each alone is worse with 96%; that both are so may hold with 92% alone.
    assert sentence(some, 0.04, 0.04).startswith(f"No system that costs less than {leader}")
    assert sentence(some, 0.04, np.nan).startswith("No system that costs less than")
    both = sentence(some, 0.02, 0.02)
    assert both.startswith(f"Every system that costs less than {leader} is likely (95%) to be over")
    name = savings.loc[one, "system"]
    for probability, ending in [
        (0.03, "but is likely to be over 5 points of win rate worse (97%)."),
        (0.4, "whether it is at most 5 points of win rate worse is open (40% likely)."),
        (0.96, "is at most 5 points of win rate worse (96% likely)."),
    ]:
        alone = sentence([one], probability)
        assert alone.startswith(f"{name} costs ")
        assert alone.endswith(ending)


def test_partial_absent_and_mixed_amounts_are_counted_and_said(tiny_arena, prices):
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
    costs, savings = summed_up(arena)
    costs = costs.set_index("system")
    n_answers = int(costs.loc[half, "answers"])
    assert costs.loc[half, "cost"] == pytest.approx(7000)
    assert costs.loc[half, "cost_answers"] == n_answers - 1
    assert costs.loc[half, "note"] == f"cost of {n_answers - 1} of {n_answers} answers"
    assert (np.isnan(costs.loc[none, "cost"]), costs.loc[none, "note"]) == (True, "no cost stated")
    assert costs.loc[mixed, "note"] == "no cost: its answers state EUR and USD"
    assert pd.isna(costs.loc[mixed, "on_cost_frontier"])
    assert costs.loc[whole, ["cost", "cost_answers"]].tolist() == [500, 0]
    assert not {none, mixed} & {*savings["system"], *savings["opponent"]}


def test_costs_in_other_currencies_are_not_compared(tiny_arena, prices):
    arena = priced(tiny_arena, prices)
    one, *others = tiny_arena.info.systems
    is_one = arena.answers["system"] == one
    currency = arena.answers["currency"].mask(is_one, "EUR")
    costs, savings = summed_up(replace(arena, answers=arena.answers.assign(currency=currency)))
    assert one not in {*savings["system"], *savings["opponent"]}
    costs = costs.set_index("system")
    # Alone in its currency, nobody dominates it; nor does it anybody.
    assert costs.loc[one, "on_cost_frontier"] == 1
    quality = -np.arange(len(others))
    amounts = costs.loc[others, "cost"].to_numpy()
    expected = [not dominated(quality, amounts, index) for index in range(len(others))]
    assert costs.loc[others, "on_cost_frontier"].astype(bool).tolist() == expected


def test_ratios_are_over_the_questions_that_state_both(tiny_arena):
    one, other, *_ = tiny_arena.info.systems
    arena = priced(tiny_arena, {one: 1.0, other: 2.0})
    answers = arena.answers
    first = answers.groupby("system").cumcount() == 0
    cost = answers["cost"].mask(answers["system"].eq(one) & first, 100.0)
    cost = cost.mask(answers["system"].eq(other) & first)
    _, savings = summed_up(replace(arena, answers=answers.assign(cost=cost)))
    (row,) = savings.to_dict("records")
    assert (row["system"], row["opponent"], row["cost_ratio"]) == (one, other, 0.5)


def test_nothing_is_said_where_a_board_may_not_compare(tiny_arena, prices, build_quickly):
    arena = priced(tiny_arena, prices)
    unjudged, *_ = tiny_arena.info.systems
    judgments = arena.judgments
    is_of = (judgments[["system_a", "system_b"]] == unjudged).any(axis=1)
    board = build_quickly(replace(arena, judgments=judgments[~is_of].reset_index(drop=True)))
    assert unjudged not in {*board.savings["system"], *board.savings["opponent"]}
    note = board.costs.set_index("system").loc[unjudged, "note"]
    assert note.startswith("not compared: ")
    first = build_quickly(replace(arena, judgments=judgments.iloc[:0]))
    one_sided = build_quickly(replace(arena, judgments=judgments.assign(winner="a")))
    for barred in (first, one_sided):
        assert barred.savings.empty
        assert barred.costs["cost"].notna().all()
        assert barred.costs["on_cost_frontier"].isna().all()
        assert uncompared_board(barred.summary) in saving_sentence(barred)


@pytest.mark.parametrize(("low", "is_barred"), [(-0.2, True), (0.4, False)])
def test_a_surrogate_alone_compares_only_where_it_is_shown_to_work(priced_board, low, is_barred):
    summary = priced_board.summary
    macro = summary.macro.model_copy(update={"tau_unseen": 0.5, "tau_unseen_low": low})
    settings = summary.settings.model_copy(update={"ratings": "surrogate"})
    altered = summary.model_copy(update={"macro": macro, "settings": settings})
    assert bool(uncompared_board(altered)) == is_barred


def test_latencies_are_compared_over_the_questions_that_both_state():
    random = np.random.default_rng(1)
    amounts = random.lognormal(size=(12, 6))
    amounts[random.random(amounts.shape) < 0.3] = np.nan
    amounts[:, 4] = amounts[:, 5] * 2  # the same questions
    amounts[:, 3] = np.where(np.isnan(amounts[:, 3]), np.nan, 0.0)
    ratios = median_ratios(amounts)
    for row, column in itertools.product(range(6), repeat=2):
        both = amounts[~np.isnan(amounts[:, [row, column]]).any(axis=1)][:, [row, column]]
        median, other = np.median(both, axis=0)
        expected = median / other if other > 0 else np.nan
        np.testing.assert_allclose(ratios[row, column], expected)
