"""The page of quality against cost and latency."""

import itertools
import json
import re
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest
from altered_boards import of_arena, renamed, renamed_arena
from hostile_pages import IN_PAGES
from hypothesis import given
from hypothesis import strategies as st
from page_sentences import filled_in_values, names_on, sentences_of, unrecorded

from surrogate_arena.costs.costs import cost_table
from surrogate_arena.pages.cost_page import cost_page, price_axis
from surrogate_arena.pages.site import write_site

PRICES = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=20)


@pytest.fixture(scope="module")
def priced(board, small_arena):
    """The arena of the board, as if answers had stated costs from 0.001 to 0.1 and latencies."""
    systems = list(small_arena.info.systems)
    costs = dict(zip(systems, np.geomspace(0.1, 0.001, len(systems)), strict=True))
    answers = small_arena.answers
    seconds = np.random.default_rng(1).lognormal(size=len(answers)).round(3)
    stated = answers.assign(cost=answers["system"].map(costs), latency=seconds)
    stated["currency"] = pd.Series("USD", answers.index, dtype=object)
    unpriced = board.systems[-1]
    stated["cost"] = stated["cost"].mask(stated["system"] == unpriced)
    return replace(small_arena, answers=stated)


def points(text, measure):
    """Return the systems that a chart shows, to whether each is on the frontier."""
    chart = text.partition(f'aria-label="Rating against {measure}"')[2].partition("</figure>")[0]
    found = re.findall(r'<a class="point( on)?" .*?aria-label="(.*?)">', chart)
    return {name: bool(is_on) for is_on, name in found}


def test_the_page_shows_every_priced_system_and_the_frontier(board, priced, tmp_path):
    index = write_site(board, tmp_path / "site", priced, questions=0)
    costs = cost_table(board, priced).set_index("system")
    text = (index.parent / "costs.html").read_text(encoding="utf-8")
    for measure in ("cost", "latency"):
        flags = costs[f"on_{measure}_frontier"].dropna()
        assert points(text, measure) == flags.astype(bool).to_dict()
        assert 0 < flags.sum() < len(flags)
    assert "is not drawn" in text
    assert "no cost stated" in text
    assert 'href="costs.html"' in index.read_text(encoding="utf-8")
    write_site(board, tmp_path / "again", priced, questions=0)
    assert (tmp_path / "again" / "costs.html").read_text(encoding="utf-8") == text


def test_the_page_says_nothing_without_a_record(board, priced, tmp_path):
    with filled_in_values():
        index = write_site(board, tmp_path / "site", priced, questions=0)
    remarks = json.loads((index.parent / "board.json").read_text("utf-8"))["remarks"]
    costs = cost_table(board, priced)
    names = {*costs["currency"], "seconds", *names_on(board)}
    page = (index.parent / "costs.html").read_text("utf-8")
    assert unrecorded(page, sentences_of(remarks), names) == []
    [frontier] = [remark for remark in remarks if remark["name"] == "frontier"]
    assert frontier["systems"] == list(costs.loc[costs["on_cost_frontier"].eq(1), "system"])


def test_a_board_without_costs_has_no_such_page(site):
    assert not (site / "costs.html").exists()
    assert "costs.html" not in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_names_from_outside_stay_text(board, priced, tmp_path):
    arena = renamed_arena(board, priced, IN_PAGES)
    hostile = of_arena(renamed(board, IN_PAGES), arena)
    write_site(hostile, tmp_path / "site", arena, questions=0)
    text = (tmp_path / "site" / "costs.html").read_text(encoding="utf-8")
    for name in IN_PAGES:
        assert name not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL) or (
            escape(name) == name
        )


def test_places_follow_the_values_and_the_line_descends_to_the_cheapest(board, priced):
    costs = cost_table(board, priced)
    view = cost_page(board, costs)
    assert [chart["measure"] for chart in view["charts"]] == ["cost", "latency"]
    for chart in view["charts"]:
        rows = costs.set_index("system")[chart["measure"]]
        drawn = sorted(chart["points"], key=lambda point: rows[point["system"]])
        lefts = [point["left"] for point in drawn]
        assert lefts == sorted(lefts)
        by_quality = sorted(chart["points"], key=lambda point: (point["quality"], point["bottom"]))
        bottoms = [point["bottom"] for point in by_quality]
        assert bottoms == sorted(bottoms)
        line = [tuple(map(float, pair.split(","))) for pair in chart["line"].split()]
        assert line[0][1] == 100
        assert line[-1][0] == 100
        for (left, height), (next_left, next_height) in itertools.pairwise(line):
            assert left <= next_left
            assert height >= next_height


@given(PRICES)
def test_axes_hold_all_prices_and_a_few_ticks_in_order(prices):
    axis = price_axis(np.array(prices))
    places = axis.places(np.array(prices))
    assert ((places > 0) & (places < 100)).all()
    ticks = [place for place, _ in axis.ticks()]
    assert len(ticks) == 4
    assert ticks == sorted(ticks)


def test_no_chart_where_quality_is_not_compared(board, priced):
    barred = replace(board, ratings=board.ratings.assign(arena_rating=np.nan))
    view = cost_page(barred, cost_table(barred, priced))
    assert view["charts"] == []
    assert "nobody has judged" in view["sentence"]
