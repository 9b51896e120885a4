"""Sites in a browser, served on the loopback interface."""

from dataclasses import replace

import numpy as np
import pytest
from altered_boards import about, renamed

from arena.quality import JudgeLabel
from arena.quality.judge_report import FirstPlace, JudgeTest
from surrogate.board.summary import HELD_OUT
from surrogate_arena.pages.site import write_site

pytestmark = pytest.mark.slow


def kinds(site):
    system = sorted((site / "systems").iterdir())[0].name
    single = ["index.html", "judge.html", "method.html"]
    return [*single, "pairs/en.html", f"systems/{system}"]


def column(page, table, place):
    return page.eval_on_selector_all(
        f"#{table} tbody tr:not([hidden])", f"rows => rows.map(r => r.cells[{place}].innerText)"
    )


def test_filtering_by_language_and_searching(page, served):
    page.goto(f"{served}/index.html")
    page.select_option("#language", "sw")
    assert page.locator("#overall").is_hidden()
    assert "Swahili" in page.inner_text("#language-caption")
    assert page.url.endswith("#language=sw")
    page.fill("#search", "GPT")
    assert sorted(column(page, "language-table", 1)) == ["GPT", "gpt"]
    assert page.inner_text("#shown").startswith("2 of ")
    page.select_option("#language", "")
    assert sorted(column(page, "overall-table", 1)) == ["GPT", "gpt"]


def test_one_language_shows_what_each_rating_is_by(page, served, board):
    page.goto(f"{served}/index.html#language=sw")
    brief = ["Rank", "System", "Rating", "90% rating interval", "Rank interval", "Tier"]
    assert page.locator("#language-table thead th:visible").all_inner_texts() == brief
    page.check("#details")
    assert page.url.endswith("details=1")
    names = page.eval_on_selector_all(
        "#language-table thead th",
        "all => all.map(h => h.checkVisibility() ? h.innerText.trim() : '')",
    )
    assert [name for name in names if name] == [
        *(*brief, "Own verdicts", "Surrogate alone", "Verdicts alone"),
    ]
    rows = board.ratings[board.ratings["language"] == "sw"].sort_values("rank")
    for name, column in (
        ("Rating", "rating"),
        ("Surrogate alone", "surrogate_rating"),
        ("Verdicts alone", "arena_rating"),
    ):
        shown = [text.replace("−", "-") for text in column_of(page, names.index(name))]
        assert [float(text) for text in shown] == pytest.approx(rows[column].tolist(), abs=0.0056)
    shares = [float(text.rstrip("%")) for text in column_of(page, names.index("Own verdicts"))]
    assert shares == pytest.approx((100 * rows["verdict_share"]).tolist(), abs=0.51)
    bars = page.locator("#language-table .range b").evaluate_all(
        "all => all.map(b => b.style.left)"
    )
    places = [float(bar.rstrip("%")) for bar in bars]
    assert places == sorted(places, reverse=True)
    page.locator("#language-table thead button", has_text="Tier").click()
    assert page.locator("#language-table tr.tier-start").count() == rows["tier"].nunique() - 1


def column_of(page, place):
    return column(page, "language-table", place)


def test_a_column_in_the_middle_of_the_table_moves_no_other(board, small_arena, page, tmp_path):
    """Columns were filled and hidden by their places: one more hid its neighbors."""

    def shown_columns(file):
        page.goto(f"{file.as_uri()}#language=sw&details=1")
        headers = page.locator("#language-table thead th")
        is_shown = "all => all.map(cell => cell.checkVisibility())"
        names = headers.all_text_contents()
        shown = headers.evaluate_all(is_shown)
        rows = page.locator("#language-table tbody tr")
        for row in rows.all():
            assert row.locator("th, td").evaluate_all(is_shown) == shown
        return {name: column_of(page, names.index(name)) for name in np.compress(shown, names)}

    index = write_site(board, tmp_path / "site", small_arena)
    as_written = shown_columns(index)
    html = index.read_text(encoding="utf-8")
    rating = '<th scope="col" data-column="rating"'
    assert html.count(rating) == 1
    added = f'<th scope="col" data-column="added">Added</th>{rating}'
    altered = index.with_name("altered.html")
    altered.write_text(html.replace(rating, added), encoding="utf-8")
    with_added = shown_columns(altered)
    assert set(with_added.pop("Added")) == {""}
    assert with_added == as_written


def test_held_out_systems_are_marked_and_ranks_by_verdicts_stand_beside(
    page, board, small_arena, tmp_path, capsys
):
    """On the page, in the terminal, and in a notebook, where some system was held out."""
    name = board.systems[0]
    held = board.ratings["system"] == name
    split = board.ratings["split"].mask(held, "holdout")
    known = replace(about(board, holdout=(name,)), ratings=board.ratings.assign(split=split))
    index = write_site(known, tmp_path / "site", small_arena)
    for language, table in (("", "overall-table"), ("sw", "language-table")):
        page.goto(f"{index.as_uri()}#language={language}")
        rows = known.table(language or None).sort_values("rank")
        assert column(page, table, 2) == rows["arena_rank"].astype(str).tolist()
        assert [text[-1:] == "*" for text in column(page, table, 1)] == list(rows["system"] == name)
        assert page.get_by_text(HELD_OUT).is_visible()
    from surrogate_arena.commands.boards import print_board

    print_board(known, "")
    said = capsys.readouterr().out
    assert "arena rank" in said
    assert f"a: {HELD_OUT}" in said
    assert f"<td>{name} *</td>" in known._repr_html_()
    assert HELD_OUT not in board._repr_html_()


@pytest.mark.parametrize(("width", "lowest"), [(1280, 540), (390, 700)])
@pytest.mark.parametrize("language", ["", "sw"])
def test_the_first_row_is_seen_without_scrolling(page, site, width, lowest, language):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{(site / 'index.html').as_uri()}#language={language}")
    table = page.locator("#language-table" if language else "#overall-table")
    row = table.locator("tbody tr").first
    assert row.bounding_box()["y"] < lowest
    assert table.evaluate("t => t.scrollWidth <= t.closest('.scroll').clientWidth")
    shown = row.locator("th:visible, td:visible").count()
    assert shown == {1280: 6 if language else 5, 390: 4 if language else 5}[width]
    bar, track = row.locator(".range i").bounding_box(), row.locator(".range").bounding_box()
    assert track["x"] - 1 <= bar["x"] <= bar["x"] + bar["width"] <= track["x"] + track["width"] + 1
    assert page.locator(".told.warning:visible").count() <= 1


def test_intervals_are_titled_by_what_they_are_of(page, site):
    page.goto(f"{site.as_uri()}/index.html")
    assert "90% rank interval" in page.inner_text("#overall-table thead")
    page.goto(f"{site.as_uri()}/index.html#language=en")
    assert "90% rating interval" in page.inner_text("#language-table thead")


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


def test_a_note_is_a_mark_that_opens(board, small_arena, page, tmp_path):
    ratings = board.ratings.assign(note="<b>seen</b>")
    index = write_site(replace(board, ratings=ratings), tmp_path / "site", small_arena)
    page.goto(f"{index.as_uri()}#language=en")
    note = page.locator("#language-table .remark").first
    assert note.is_hidden()
    page.locator("#language-table .mark summary").first.click()
    assert note.inner_text() == "<b>seen</b>"


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


def test_on_a_phone_reasons_have_the_width_of_the_page(board, small_arena, page, tmp_path):
    """The column was a few letters wide and a screen high."""
    overall = board.overall.copy()
    overall["rank"] = overall["rank"].where(overall.index > 0)
    ratings = board.ratings.copy()
    is_first = ratings["system"] == overall.loc[0, "system"]
    ratings.loc[is_first, "rank"] = None
    ratings.loc[is_first, "note"] = "not ranked until somebody has looked at its answers " * 2
    altered = replace(board, ratings=ratings, overall=overall)
    index = write_site(altered, tmp_path / "site", small_arena)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(index.as_uri())
    reason = page.locator("#unranked-table .prose").first.bounding_box()
    assert reason["width"] > 300
    table = page.locator("#unranked-table").bounding_box()
    assert table["height"] < 400
    assert table["width"] <= 390


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


def test_the_fault_of_an_unreliable_judge_is_readable(board, small_arena, page, tmp_path):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    macro = board.summary.macro
    fault = "of 90 pairs judged in both orders 36 flip"
    judge = JudgeLabel("m", "unreliable", (JudgeTest("flips", "unreliable", fault),))
    macro = macro.model_copy(update={"judge": judge})
    summary = board.summary.model_copy(update={"macro": macro})
    index = write_site(replace(board, summary=summary), tmp_path / "site", small_arena)
    for part in ("", "#language=en"):
        page.goto("about:blank")
        page.goto(f"{index.as_uri()}{part}")
        assert page.locator("body").inner_text().count(fault) == 0
        assert fault[1:] in page.inner_text(".verdict")
        assert axe.Axe().run(page).response["violations"] == []


def test_on_a_phone_no_row_is_a_blank_beside_a_column_out_of_sight(page, site):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site.as_uri()}/method.html")
    for row in page.locator("#settings-table tbody tr").all():
        assert row.bounding_box()["width"] <= 390
        assert {cell.bounding_box()["width"] > 100 for cell in row.locator("td").all()} == {True}
    heights = [row.bounding_box()["height"] for row in page.locator("#skipped-table tr").all()]
    assert max(heights) < 120


def test_a_feature_without_values_has_one_dash_for_its_quartiles(
    board, small_arena, page, tmp_path
):
    name = board.summary.settings.features[0]
    empty = replace(board, features=board.features.assign(**{name: np.nan}))
    folder = write_site(empty, tmp_path / "site", small_arena).parent
    for path in (folder / "systems").glob("*.html"):
        assert "– to –" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("theme", "parts"),
    [
        ("dark", ["judge.html", "index.html#language=en"]),
        ("light", None),
        ("dark", None),
    ],
)
def test_no_serious_fault_of_accessibility(page, served, hostile_site, theme, parts):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    page.emulate_media(color_scheme=theme)
    for name in parts or [*kinds(hostile_site), "index.html#language=en"]:
        page.goto("about:blank")
        page.goto(f"{served}/{name}")
        found = axe.Axe().run(page).response["violations"]
        serious = [
            (item["id"], [node["html"][:120] for node in item["nodes"][:3]])
            for item in found
            if item["impact"] in {"serious", "critical"}
        ]
        assert serious == [], name
