"""The page and the figure of quality against cost and latency."""

import itertools
import re
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest
from altered_boards import about, renamed
from hostile_pages import IN_PAGES
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from arena import UsageError
from surrogate.board.costs import answer_amounts, cost_table
from surrogate.board.savings import savings_table
from surrogate.board.tables import COSTS, SAVINGS
from surrogate_arena.pages.cost_page import cost_page, price_axis
from surrogate_arena.pages.figures.board_figures import board_drawings
from surrogate_arena.pages.figures.cost_figures import draw_costs
from surrogate_arena.pages.figures.figure import save
from surrogate_arena.pages.site import write_site

PRICES = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=20)


@pytest.fixture(scope="module")
def priced(board, small_arena):
    """The board, as if answers had stated costs from 0.001 to 0.1 and latencies."""
    systems = list(small_arena.info.systems)
    costs = dict(zip(systems, np.geomspace(0.1, 0.001, len(systems)), strict=True))
    answers = small_arena.answers
    seconds = np.random.default_rng(1).lognormal(size=len(answers)).round(3)
    stated = answers.assign(cost=answers["system"].map(costs), latency=seconds)
    stated["currency"] = pd.Series("USD", answers.index, dtype=object)
    unpriced = board.systems[-1]
    stated["cost"] = stated["cost"].mask(stated["system"] == unpriced)
    amounts = answer_amounts(replace(small_arena, answers=stated))
    keys = pd.MultiIndex.from_frame(board.ratings[["language", "system"]])
    covariance = pd.DataFrame(np.eye(len(keys)) / 100, keys, keys)
    return replace(
        board,
        costs=COSTS.typed(cost_table(amounts, board.overall, {})),
        savings=SAVINGS.typed(savings_table(amounts, board.ratings, covariance, systems)),
    )


def texts_of(figure):
    return [text.get_text().replace("\n", " ") for text in figure.findobj(Text)]


def points(text, measure):
    """Return the systems that a chart shows, to whether each is on the frontier."""
    chart = text.partition(f'aria-label="Rating against {measure}"')[2].partition("</figure>")[0]
    found = re.findall(r'<a class="point( on)?" .*?aria-label="(.*?)">', chart)
    return {name: bool(is_on) for is_on, name in found}


def test_the_page_shows_every_priced_system_and_the_frontier(priced, tmp_path):
    index = write_site(priced, tmp_path / "site", questions=0)
    text = (index.parent / "costs.html").read_text(encoding="utf-8")
    for measure in ("cost", "latency"):
        flags = priced.costs.set_index("system")[f"on_{measure}_frontier"].dropna()
        assert points(text, measure) == flags.astype(bool).to_dict()
        assert 0 < flags.sum() < len(flags)
    assert "Not drawn: 1 system;" in text
    assert "no cost stated" in text
    assert 'href="costs.html"' in index.read_text(encoding="utf-8")
    write_site(priced, tmp_path / "again", questions=0)
    assert (tmp_path / "again" / "costs.html").read_text(encoding="utf-8") == text


def test_a_board_without_costs_has_no_such_page(site):
    assert not (site / "costs.html").exists()
    assert "costs.html" not in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_names_from_outside_stay_text(priced, tmp_path):
    hostile = renamed(priced, IN_PAGES)
    write_site(hostile, tmp_path / "site", questions=0)
    text = (tmp_path / "site" / "costs.html").read_text(encoding="utf-8")
    for name in IN_PAGES:
        assert name not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL) or (
            escape(name) == name
        )


def test_places_follow_the_values_and_the_line_descends_to_the_cheapest(priced):
    view = cost_page(priced)
    assert [chart["measure"] for chart in view["charts"]] == ["cost", "latency"]
    for chart in view["charts"]:
        rows = priced.costs.set_index("system")[chart["measure"]]
        drawn = sorted(chart["points"], key=lambda point: rows[point["system"]])
        lefts = [point["left"] for point in drawn]
        assert lefts == sorted(lefts)
        by_quality = sorted(chart["points"], key=lambda point: point["quality"])
        bottoms = [point["bottom"] for point in by_quality]
        assert bottoms == sorted(bottoms)
        line = [tuple(map(float, pair.split(","))) for pair in chart["line"].split()]
        assert line[0][1] == 100
        assert line[-1][0] == 100
        for (left, height), (next_left, next_height) in itertools.pairwise(line):
            assert left <= next_left
            assert height >= next_height


@given(PRICES)
def test_axes_hold_all_prices_and_at_most_a_few_round_ticks(prices):
    axis = price_axis(np.array(prices))
    places = axis.places(np.array(prices))
    assert ((places > 0) & (places < 100)).all()
    values = [value for value, _ in axis.ticks()]
    assert 1 <= len(values) <= 14
    assert values == sorted(values)
    assert all(axis.low <= value <= axis.high * (1 + 1e-9) for value in values)


def test_the_figure_has_a_panel_for_each_measure_and_repeats_its_bytes(priced, tmp_path):
    figure = draw_costs(priced)
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == ["Cost of 1,000 answers (USD)", "Median latency (seconds)"]
    # A system may state a latency without a cost: it is in one panel.
    gone = priced.costs["system"] == priced.systems[-1]
    blank = priced.costs.assign(on_latency_frontier=priced.costs["on_latency_frontier"].mask(gone))
    drawn = draw_costs(replace(priced, costs=blank))
    assert any("1 system without amounts not drawn" in text for text in texts_of(drawn))
    assert not any("not drawn" in text for text in texts_of(figure))
    save(figure, tmp_path / "one.svg")
    save(draw_costs(priced), tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "costs" in [drawing.name for drawing in board_drawings(priced)]


def named_systems(figure):
    """Return the list of names beside the panels, number to name."""
    listed = figure.subfigs[0].legends[-1]
    return dict(text.get_text().split("  ") for text in listed.get_texts())


def test_numbers_in_the_figure_are_at_the_systems_that_the_list_names(priced):
    figure = draw_costs(priced)
    names = named_systems(figure)
    assert list(names.values()) == [name for name in priced.systems if name in names.values()]
    ratings = priced.overall.set_index("system")["mean_rating"]
    for axes, measure in zip(figure.axes, ("cost", "latency"), strict=True):
        amounts = priced.costs.set_index("system")[measure]
        drawn = {names[text.get_text()]: text.xy for text in axes.texts}
        assert drawn.keys() == set(amounts.dropna().index)
        for name, place in drawn.items():
            assert place == pytest.approx((amounts[name], ratings[name]))


@pytest.mark.slow
def test_names_stand_outside_the_panels(priced):
    names = [f"{number} has a name that is so long that it is cut" for number in priced.systems]
    figure = draw_costs(renamed(priced, names))
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    beside = figure.subfigs[0].legends[-1].get_window_extent(renderer)
    assert beside.x1 <= figure.bbox.x1
    for axes in figure.axes:
        assert axes.get_window_extent(renderer).x1 < beside.x0


def test_of_many_systems_only_those_on_a_frontier_have_a_number(priced, monkeypatch):
    monkeypatch.setattr("surrogate_arena.pages.figures.cost_figures.MOST_NAMED", 1)
    figure = draw_costs(priced)
    on_frontier = priced.costs[["on_cost_frontier", "on_latency_frontier"]].eq(1).any(axis=1)
    assert set(named_systems(figure).values()) == set(priced.costs.loc[on_frontier, "system"])
    assert any("only systems on a frontier" in text for text in texts_of(figure))


def test_no_figure_where_quality_is_not_compared(board, priced):
    assert "costs" not in [drawing.name for drawing in board_drawings(board)]
    with pytest.raises(UsageError, match="no system that is compared states one"):
        draw_costs(board)
    barred = about(priced, ratings="consensus")
    missing = barred.costs.assign(on_cost_frontier=np.nan, on_latency_frontier=np.nan)
    with pytest.raises(UsageError, match="nobody has judged"):
        draw_costs(replace(barred, costs=missing))
    assert cost_page(replace(barred, costs=missing))["charts"] == []
