"""Two systems head to head, states in addresses and downloads, in a browser."""

import io
import re
from urllib.parse import urlencode

import pandas as pd
import pytest
from hostile_pages import HOSTILE, IN_PAGES, watched

pytestmark = pytest.mark.slow

PAIR = ("GPT", "gpt")


def head_to_head(served, a, b, **state):
    return f"{served}/pairs/en.html#{urlencode({'a': a, 'b': b, **state})}"


def chosen(page):
    return [page.locator(f"#system-{side} option:checked").inner_text() for side in "ab"]


def numbers(text):
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-"))]


def downloaded(page, table):
    tools = page.locator(f"#{table} + .tools, .scroll:has(#{table}) + .tools")
    with page.expect_download() as waiting:
        tools.get_by_text("Download CSV").click()
    return waiting.value, pd.read_csv(
        io.StringIO(waiting.value.path().read_text("utf-8")), dtype=str, keep_default_na=False
    )


def test_two_systems_head_to_head(page, served, hostile_board):
    page.goto(head_to_head(served, *PAIR))
    assert chosen(page) == list(PAIR)
    rows = hostile_board.differences.set_index(["language", "system", "opponent"])
    a, b = PAIR if ("en", *PAIR) in rows.index else PAIR[::-1]
    row = rows.loc[("en", a, b)]
    share = row["probability"] if a == PAIR[0] else 1 - row["probability"]
    met = hostile_board.win_matrix.set_index(["language", "system", "opponent"]).loc[("en", *PAIR)]
    cells = page.locator("#ahead-table tbody td").all_inner_texts()
    assert numbers(" ".join(cells[:2])) == pytest.approx([100 * share, 100 - 100 * share], abs=0.11)
    assert cells[2:] == [str(met[name]) for name in ("wins", "losses", "ties", "ties")]
    of_question = page.eval_on_selector_all(
        "#questions-table tbody tr",
        "rows => rows.map(r => [1, 2, 3].map(c => +r.cells[c].innerText))",
    )
    assert [sum(column) for column in zip(*of_question, strict=True)] == [
        *(met["wins"], met["ties"], met["losses"])
    ]


def test_answers_stand_side_by_side_with_verdict_and_reason(page, served, hostile_arena):
    page.goto(head_to_head(served, *PAIR))
    question = page.locator("#question option:checked").get_attribute("value")
    shown = page.locator(".asked:not([hidden])")
    assert shown.count() == 1
    names = shown.locator(".answer:not([hidden]) h4").all_inner_texts()
    assert sorted(names) == sorted(PAIR)
    answers = hostile_arena.answers.set_index(["language", "query_id", "system"])["answer"]
    for name in PAIR:
        answer = shown.locator(".answer:not([hidden])", has=page.get_by_text(name, exact=True))
        text = answer.locator("blockquote").inner_text()
        assert text.split() == answers["en", question, name].split()
    judged = hostile_arena.judgments
    here = (judged["language"] == "en") & (judged["query_id"] == question)
    row = judged[here & judged["system_a"].isin(PAIR) & judged["system_b"].isin(PAIR)].iloc[0]
    said = shown.locator(".said").inner_text()
    better = {"a": row["system_a"], "b": row["system_b"]}.get(row["winner"])
    assert said.startswith("A tie" if better is None else f"{better} is better")
    assert f"{row['system_a']} was shown first" in said
    assert f"because {HOSTILE}" in said
    left, right = (
        shown.locator(f".answer:not([hidden]){kind}").bounding_box()["x"]
        for kind in (":not(.second)", ".second")
    )
    assert left < right


def test_a_citation_opens_its_passage(page, served):
    page.goto(head_to_head(served, *PAIR))
    before = page.url
    cited = page.locator(".asked:not([hidden]) .answer:not([hidden]) a.cite").first
    passage = page.locator(f"[id='{cited.get_attribute('href')[1:]}']")
    assert passage.is_hidden()
    cited.click()
    assert passage.is_visible()
    assert passage.evaluate("item => item.classList.contains('lit')")
    assert passage.locator("strong").inner_text().startswith(f"[{cited.inner_text().strip('[]')}")
    assert page.url == before


def test_nothing_hostile_runs_and_all_of_it_is_shown(page, served):
    for place in ("pairs/en.html", "pairs/sw.html", "index.html", "judge.html"):
        page.goto(f"{served}/{place}")
        assert (
            page.locator(
                "img[onerror], img[src=x], iframe, object, [onerror], [onmouseover]"
            ).count()
            == 0
        )
        assert page.locator("a[href^='javascript']").count() == 0
    page.goto(head_to_head(served, IN_PAGES[0], IN_PAGES[8]))
    assert HOSTILE in page.inner_text(".asked:not([hidden]) h3")
    assert HOSTILE in page.locator(".answer:not([hidden]) blockquote").first.inner_text()
    assert page.locator("#x").count() == 0


@pytest.mark.parametrize("language", ["", "#language=sw"])
def test_sorting_and_finding_stay_in_the_address(page, served, browser, language):
    page.goto(f"{served}/index.html{language}")
    page.locator("#board-table thead button", has_text="System").click()
    page.fill("#search", "g")
    cells = "#board-table tbody tr:not(.band):visible th .name"
    seen = page.locator(cells).all_inner_texts()
    assert seen
    assert "sort-board=System%2Cascending" in page.url
    assert "find=g" in page.url
    with watched(browser, served) as other:
        other.goto(page.url)
        assert other.locator(cells).all_inner_texts() == seen
    page.goto(f"{served}/index.html")
    ranks = page.eval_on_selector_all(
        "#judged tr:not(.band)", "rows => rows.map(r => +r.cells[0].dataset.v)"
    )
    assert ranks == sorted(ranks)


def test_tables_download_as_csv_that_no_spreadsheet_runs(page, served, hostile_board):
    page.goto(f"{served}/index.html#language=en")
    sent, table = downloaded(page, "board-table")
    assert sent.suggested_filename == "simulated-multilingual-board-en.csv"
    rows = hostile_board.ratings[hostile_board.ratings["language"] == "en"].sort_values("rank")
    assert table["Rating"].astype(float).tolist() == pytest.approx(
        rows["rating"].tolist(), abs=6e-4
    )
    bounds = table[["90% interval, from", "90% interval, to"]].astype(float)
    assert bounds.to_numpy().tolist() == [
        pytest.approx(pair, abs=6e-4) for pair in rows[["low", "high"]].to_numpy().tolist()
    ]
    wins = table[["Wins", "Wins, from", "Wins, to"]].astype(float)
    assert wins.to_numpy().tolist() == [
        pytest.approx(values, abs=6e-4)
        for values in rows[["wins", "wins_low", "wins_high"]].to_numpy().tolist()
    ]
    assert not table["System"].str.match(r"\s*[=+@-]").any()
    assert "'=1+../x" in set(table["System"])
    names = {name.removeprefix("'") for name in table["System"]}
    assert {"<script>alert(1)</script>", "GPT", '" onmouseover="alert(1)'} <= names


def test_pages_work_from_a_folder(page, hostile_site):
    page.goto((hostile_site / "pairs" / "en.html").as_uri() + "#a=gpt&b=GPT")
    assert chosen(page) == ["gpt", "GPT"]
    page.click("#swap")
    assert page.url.endswith("#a=GPT&b=gpt")
    page.select_option("#language", "sw")
    page.wait_for_url("**/pairs/sw.html#*")
    assert chosen(page) == ["GPT", "gpt"]


def test_without_scripts_all_pairs_and_answers_are_there(browser, served, hostile_arena):
    with watched(browser, served, java_script_enabled=False) as page:
        page.goto(f"{served}/pairs/en.html")
        systems = len(hostile_arena.info.systems)
        assert page.locator("#pairs-table tbody tr").count() == systems * (systems - 1) / 2
        assert page.locator(".answer:visible").count() == systems * 10
        assert page.locator("form:visible, #versus:visible, .tools").count() == 0
        page.locator("summary").first.click()
        assert page.locator(".passages li").first.is_visible()
