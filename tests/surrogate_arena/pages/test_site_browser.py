"""Sites in a browser, served on the loopback interface."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from altered_boards import about, renamed
from lxml import html
from page_sentences import sentences_of, shown_texts, without

from arena.quality import JudgeLabel
from arena.quality.judge_report import FirstPlace, JudgeTest
from surrogate.board.summary import HELD_OUT
from surrogate_arena.cli.shown_numbers import decimal, percent
from surrogate_arena.pages.site import write_site

pytestmark = pytest.mark.slow


def kinds(site):
    system = sorted((site / "systems").iterdir())[0].name
    single = ["index.html", "judge.html", "method.html"]
    return [*single, "pairs/en.html", f"systems/{system}"]


SHOWN = "#board-table tr[data-index]:visible"


def shown_systems(page):
    return page.locator(f"{SHOWN} .name").all_inner_texts()


def cells(page, name):
    return page.locator(f"{SHOWN} [data-cell={name}]").all_inner_texts()


def test_filtering_by_language_and_searching(page, served):
    page.goto(f"{served}/index.html")
    everybody = len(shown_systems(page))
    page.select_option("#language", "sw")
    assert page.inner_text("#sentence").startswith("In Swahili, ")
    assert page.inner_text("#facts").split()[3] == "questions"
    assert page.url.endswith("#language=sw")
    page.fill("#search", "GPT")
    assert sorted(shown_systems(page)) == ["GPT", "gpt"]
    assert page.inner_text("#shown").startswith("2 of ")
    # The table of all ranks is searched, too.
    assert page.locator("#ranks-table tbody tr:visible").count() == 2
    page.fill("#search", "no such system")
    assert page.inner_text("#shown") == "No system matches."
    page.fill("#search", "")
    page.select_option("#language", "")
    assert len(shown_systems(page)) == everybody


def test_a_language_shows_its_own_numbers_and_details_what_each_rating_is_by(page, served, board):
    page.goto(f"{served}/index.html#language=sw")
    headers = page.locator("#board-table thead th:visible")
    assert headers.all_inner_texts()[:3] == ["Place", "System", "Wins"]
    page.check("#details")
    assert page.url.endswith("details=1")
    rows = board.ratings[board.ratings["language"] == "sw"].sort_values("rank")
    for column in ("rating", "surrogate_rating", "arena_rating"):
        shown = [float(text.replace("\N{MINUS SIGN}", "-")) for text in cells(page, column)]
        assert shown == pytest.approx(rows[column].tolist(), abs=0.0056)
    shares = [float(text.rstrip("%")) for text in cells(page, "verdict_share")]
    assert shares == pytest.approx((100 * rows["verdict_share"]).tolist(), abs=0.51)
    wins = [float(text.partition("%")[0]) for text in cells(page, "wins")]
    assert wins == pytest.approx((100 * rows["wins"]).tolist(), abs=0.51)
    dots = page.locator("#judged .drawn b").evaluate_all(
        "all => all.map(dot => dot.getBoundingClientRect().x)"
    )
    assert dots == sorted(dots, reverse=True)
    tier_starts = page.locator("#judged tr.tier-start")
    assert tier_starts.count() == rows["tier"].nunique() - 1
    page.locator("#board-table thead").get_by_role("button", name="System").click()
    assert tier_starts.count() == 0
    page.locator("#board-table thead").get_by_role("button", name="Place").click()
    assert tier_starts.count() == rows["tier"].nunique() - 1


@pytest.fixture
def halves(board):
    """A board whose numbers lie in the middle between two that may be shown."""
    halves = {"wins": 0.805, "wins_low": 0.795, "wins_high": 0.835, "coverage": 0.995}
    overall = board.overall.assign(mean_rating=-1.125, **halves)
    overall.loc[0, ["wins", "wins_low", "wins_high"]] = [0.9996, 0.99865, 1.0]
    return replace(board, overall=overall)


def test_scripts_write_the_numbers_of_the_table_as_templates_do(
    browser, halves, small_arena, tmp_path
):
    index = write_site(halves, tmp_path / "site", small_arena)

    def texts(**options):
        context = browser.new_context(**options)
        opened = context.new_page()
        opened.goto(index.as_uri())
        rows = opened.locator("#board-table tr[data-index]")
        found = rows.locator(".name, [data-cell]").all_text_contents()
        context.close()
        return found

    written = texts(java_script_enabled=False)
    assert {"80% 80 to 84", "99.9% 99.9 to 100.0", "−1.12", "99%"} <= set(written)
    assert written == texts()


def test_scripts_round_as_templates_do(page, site):
    page.goto((site / "index.html").as_uri())
    halves = np.arange(-40, 41) / 8
    random = np.random.default_rng(0)
    values = [*halves, *(halves / 100), *random.normal(0, 2000, 200).round(4), 1.005, 0.285, 2.675]
    shares = [*np.arange(0, 1.0051, 0.005), 0.9949, 0.9996, 1.0]
    for digits in (0, 1, 2):
        script = f"numbers => numbers.map(number => site.fixed(number, {digits}))"
        shown = page.evaluate(script, list(map(float, values)))
        assert shown == [decimal(value, digits) for value in values]
        script = f"shares => shares.map(share => site.percent(share, {digits}))"
        shown = page.evaluate(script, list(map(float, shares)))
        assert shown == [percent(share, digits) for share in shares]


def test_scripts_say_nothing_but_remarks_and_counts_of_the_table(page, site, board):
    remarks = json.loads((site / "board.json").read_text("utf-8"))["remarks"]
    said = sentences_of(remarks)
    in_language = board.ratings[board.ratings["language"] == "sw"]
    n_found = in_language["system"].str.contains("ali").sum()
    shown = f"{n_found} of {len(board.systems)} systems shown"
    cells = "td, th, option, blockquote, h3, code, #sentence, #facts, #caution"
    for place, expected in (("index.html#language=sw&find=ali", {shown}), ("pairs/sw.html", set())):
        path = site / place.partition("#")[0]
        page.goto(f"{path.as_uri()}#{place.partition('#')[2]}")
        written = {text.strip(" .,") for text in html.parse(path).getroot().itertext()}
        texts = shown_texts(page, cells) - written - set(board.systems)
        assert {text for text in texts if re.search(r"\d", text)} == expected
    page.goto(f"{(site / 'index.html').as_uri()}#language=sw")
    assert without(page.inner_text("#sentence"), said) == ""
    assert without(page.inner_text("#facts"), said) == ""
    assert without(page.inner_text("#caution span"), said) == ""


def test_two_ticked_systems_are_compared(page, served):
    page.goto(f"{served}/index.html#language=sw")
    picks = page.locator(f"{SHOWN} .pick input")
    names = shown_systems(page)[:2]
    for place in (0, 1):
        picks.nth(place).check()
    assert picks.nth(2).is_disabled()
    page.locator("#compare a").click()
    assert "/pairs/sw.html" in page.url
    assert all(name in page.inner_text("#versus-table") for name in names)


def with_placed(board, system):
    """Return a board that has only a place for a system."""
    placed = board.ratings["system"] == system
    ranks = ["rank", "rank_low", "rank_high", "tier"]
    places = ["place", "place_low", "place_high"]
    ratings = board.ratings.copy()
    ratings.loc[placed, places] = 2
    ratings.loc[placed, ranks] = pd.NA
    overall = board.overall.copy()
    is_placed = overall["system"] == system
    overall.loc[is_placed, places] = [2, 1, 4]
    overall.loc[is_placed, ranks] = pd.NA
    return replace(board, ratings=ratings, overall=overall)


LINES = """cell => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  return text.getClientRects().length;
}"""
"""Counts the lines of a cell."""


def test_what_nobody_judged_stands_in_a_band_of_its_own(page, board, small_arena, tmp_path):
    name = board.systems[1]
    index = write_site(with_placed(board, name), tmp_path / "site", small_arena)
    page.goto(index.as_uri())
    assert page.locator("#predicted .name").all_inner_texts() == [name]
    assert page.locator("#predicted .place").inner_text() == "about 1\N{EN DASH}4"
    assert name not in page.inner_text("#sentence")
    page.locator("[data-group=predicted]").click()
    assert shown_systems(page) == [name]
    assert page.url.endswith("#show=predicted")
    page.locator("[data-group=judged]").click()
    assert name not in shown_systems(page)
    assert page.locator("#predicted .band").is_hidden()
    page.locator("[data-group='']").click()
    page.set_viewport_size({"width": 390, "height": 844})
    place = page.locator("#predicted .place")
    assert place.evaluate(LINES) == 1
    assert place.evaluate("cell => cell.scrollWidth <= cell.clientWidth")


def test_held_out_systems_are_marked_and_ranks_by_verdicts_stand_beside(
    page, board, small_arena, tmp_path, capsys
):
    """On the page, in the terminal, and in a notebook, where some system was held out."""
    name = board.systems[0]
    held = board.ratings["system"] == name
    split = board.ratings["split"].mask(held, "holdout")
    known = replace(about(board, holdout=(name,)), ratings=board.ratings.assign(split=split))
    index = write_site(known, tmp_path / "site", small_arena)
    for language in ("", "sw"):
        page.goto(f"{index.as_uri()}#language={language}")
        rows = known.table(language or None).sort_values("rank")
        assert cells(page, "arena_rank") == rows["arena_rank"].astype(str).tolist()
        marked = page.locator(f"{SHOWN}:has(.tie) .name").all_inner_texts()
        assert marked == [name]
        assert page.get_by_text(HELD_OUT).is_visible()
    boards = pytest.importorskip("surrogate_arena.commands.boards", reason="needs the commands")
    boards.print_board(known, "")
    said = capsys.readouterr().out
    assert "arena rank" in said
    assert f"a: {HELD_OUT}" in said
    assert f"<td>{name} *</td>" in known._repr_html_()
    assert HELD_OUT not in board._repr_html_()


@pytest.mark.parametrize(("width", "lowest"), [(1280, 560), (390, 900)])
@pytest.mark.parametrize("language", ["", "sw"])
def test_the_first_row_is_seen_early_and_its_interval_within_the_axis(
    page, site, width, lowest, language
):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{(site / 'index.html').as_uri()}#language={language}")
    row = page.locator("#judged tr").first
    assert row.bounding_box()["y"] < lowest
    assert page.locator("#board-box").evaluate("box => box.scrollWidth <= box.clientWidth + 1")
    bar = row.locator(".drawn i").bounding_box()
    track = row.locator(".drawn > span").bounding_box()
    assert track["width"] > 0.35 * width
    assert track["x"] - 1 <= bar["x"] <= bar["x"] + bar["width"] <= track["x"] + track["width"] + 1
    assert page.locator(".told.warning:visible").count() <= 1


def test_the_head_of_the_table_stays_in_sight(page, site):
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 300})
        page.goto((site / "index.html").as_uri())
        page.locator("#judged tr").last.scroll_into_view_if_needed()
        assert 0 <= page.locator("#board-table .axis").bounding_box()["y"] < 60


def test_a_phone_breaks_no_rank_and_leaves_room_for_names(board, small_arena, page, tmp_path):
    """Two digits of a rank stood below each other, and names a few letters a line."""
    overall = board.overall.assign(rank=board.overall["rank"] + 10)
    ratings = board.ratings.assign(rank=board.ratings["rank"] + 10)
    places = [
        FirstPlace(
            language=language,
            judge="m",
            first=board.systems[0],
            successor=board.systems[1],
            verdicts=1584,
            dropped=28,
            decisive=(),
        )
        for language in board.languages
    ]
    report = board.judge_report.model_copy(update={"first_places": tuple(places)})
    altered = replace(board, overall=overall, ratings=ratings, judge_report=report)
    index = write_site(altered, tmp_path / "site", small_arena)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(index.as_uri())
    ranks = page.locator("#ranks-table tbody td").first
    line = ranks.evaluate("cell => parseFloat(getComputedStyle(cell).lineHeight)")
    assert ranks.bounding_box()["height"] < 2 * line
    page.goto((index.parent / "judge.html").as_uri())
    for cell in page.locator("#first-table tbody td.other").all():
        assert cell.bounding_box()["width"] > 100


def test_a_note_stands_below_the_name(board, small_arena, page, tmp_path):
    ratings = board.ratings.assign(note="<b>seen</b>")
    index = write_site(replace(board, ratings=ratings), tmp_path / "site", small_arena)
    page.goto(f"{index.as_uri()}#language=en")
    page.locator("#judged .remark").get_by_text("<b>seen</b>", exact=True).first.wait_for()


def test_a_phone_never_scrolls_sideways(page, served, hostile_site):
    page.set_viewport_size({"width": 360, "height": 740})
    for path in sorted(hostile_site.rglob("*.html")):
        page.goto(f"{served}/{path.relative_to(hostile_site).as_posix()}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path.name


LANDMARKS = """[...document.querySelectorAll(
    'section[aria-label],section[aria-labelledby],[role=region],aside,nav'
)].filter(part => part.checkVisibility()).map(part => {
    const by = document.getElementById(part.getAttribute('aria-labelledby'))
    return part.tagName + ' ' + (part.getAttribute('aria-label') || by?.textContent)
}).map(name => name.replace(/^(SECTION|DIV) /, ''))"""


def test_no_two_landmarks_of_a_page_have_one_name(page, site):
    """A table scrolled in a region of the same name as the section around it."""
    for name in [*kinds(site), "index.html#language=en"]:
        page.goto(f"{site.as_uri()}/{name}")
        names = page.evaluate(LANDMARKS)
        assert names
        assert sorted(set(names)) == sorted(names), name


def test_on_a_phone_names_of_a_usual_length_are_whole(board, page, tmp_path):
    """Two systems that differed in their last letters looked the same."""
    stem = "splade.trec_rag_2025.decomp_true.rerank-Qwen3-Reranker-8B-FUSED.setr-100-gemma-27b"
    names = [f"{stem}.{number:02}" for number in range(len(board.systems))]
    named = renamed(board, names)
    index = write_site(named, tmp_path / "site", questions=0)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(index.as_uri())
    is_cut = "all => all.filter(name => name.scrollHeight > name.clientHeight + 1).length"
    assert page.locator(".name:visible").evaluate_all(is_cut) == 0


def test_the_fault_of_an_unreliable_judge_is_seen_and_stated_on_its_page(
    board, small_arena, page, tmp_path
):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    macro = board.summary.macro
    fault = "of 90 pairs judged in both orders, 36 flip"
    judge = JudgeLabel("m", "unreliable", (JudgeTest("flips", "unreliable", fault),))
    macro = macro.model_copy(update={"judge": judge})
    summary = board.summary.model_copy(update={"macro": macro})
    index = write_site(replace(board, summary=summary), tmp_path / "site", small_arena)
    for part in ("", "#language=en"):
        page.goto("about:blank")
        page.goto(f"{index.as_uri()}{part}")
        assert page.inner_text(".chips .error") == "The judge is unreliable"
        assert axe.Axe().run(page).response["violations"] == []
    page.locator(".chips .error a").click()
    assert fault[1:] in page.inner_text("main")


def test_a_search_finds_systems_by_what_is_stated_of_them(page, board, small_arena, tmp_path):
    first, second = board.systems[:2]
    attributes = pd.DataFrame({"system": [first, second], "license": ["MIT", "proprietary"]})
    described = replace(small_arena, attributes=attributes)
    page.goto(write_site(board, tmp_path / "site", described).as_uri())
    page.locator("#search").fill("mit")
    assert shown_systems(page) == [first]
    heat = page.locator("#ranks-table tbody tr:visible .name")
    assert heat.count() == 0 or heat.all_inner_texts() == [first]
