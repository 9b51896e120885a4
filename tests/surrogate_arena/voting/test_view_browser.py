"""People who vote at the same time, each in a browser of their own."""

import json
from collections import Counter

import pandas as pd
import pytest
from hostile_pages import watched
from page_sentences import BLIND, shown_texts, without_figures
from view_client import running

from arena import read_arena
from arena.data import __version__
from arena.data.folder import VOTES_FILE
from surrogate import Board
from surrogate_arena.pages.pages import _words
from surrogate_arena.voting.voting import OVERLAP

pytestmark = pytest.mark.slow


def start(page, client, name):
    page.goto(f"{client.origin}/vote.html")
    page.fill("#voter", name)
    page.click("#start button")
    page.wait_for_selector("#voting:not([hidden])")


def shown(page):
    return page.inner_text("#question") + page.inner_text("#side-a") + page.inner_text("#side-b")


def note(ids, sent):
    """Note the pair that a request votes on."""
    if sent.url.endswith("/vote"):
        ids.append(json.loads(sent.post_data)["id"])


def vote(page, key, name, count):
    page.keyboard.press(key)
    page.wait_for_function(
        "text => document.getElementById('place').textContent.startsWith(text)",
        arg=f"{name}, pairs judged: {count}",
    )


def test_two_people_vote_at_once_change_a_vote_and_come_back(browser, client, folders):
    seen = {"Ann": [], "Ben": []}
    replies = []
    with watched(browser, client.origin) as ann, watched(browser, client.origin) as ben:
        pages = {"Ann": ann, "Ben": ben}
        for name, page in pages.items():
            page.on("response", lambda reply: replies.append(reply.text()))
            page.on("request", lambda sent, name=name: note(seen[name], sent))
            start(page, client, name)
        for count in range(1, 7):
            for name, page in pages.items():
                vote(page, "123"[count % 3], name, count)
        assert all(len(set(ids)) == 6 for ids in seen.values())
        assert len({*seen["Ann"]} & {*seen["Ben"]}) == 2  # the fifth pair of each
        last = shown(ann)
        ann.click("#back")
        assert ann.locator('[data-choice="a"]').get_attribute("aria-pressed") == "true"
        assert shown(ann) != last
        vote(ann, "3", "Ann", 6)
        ann.wait_for_function("() => document.getElementById('kept').textContent === ''")
        assert shown(ann) == last
        ann.reload()
        assert ann.input_value("#voter") == "Ann"
        ann.click("#start button")
        ann.wait_for_selector("#voting:not([hidden])")
        assert shown(ann) == last
        assert ann.inner_text("#place") == "Ann, pairs judged: 6"
        with ann.expect_response(lambda reply: reply.url.endswith("/pair")) as waited:
            ann.keyboard.press("s")
        assert waited.value.json()["pair"]["id"] not in seen["Ann"]
    arena = read_arena(folders[1])
    winners = arena.judged_by("person:Ann").judgments["winner"]
    assert Counter(winners) == {"a": 1, "b": 3, "tie": 2}
    assert len(arena.judged_by("person:Ben").judgments) == 6
    for name in arena.info.systems:
        assert not any(name in text for text in replies)


def test_the_page_says_what_was_voted_and_nothing_else(browser, client, folders):
    words = _words()["en"]
    summary = Board.load(folders[0]).summary
    overlap = words["overlap"].format(OVERLAP)
    fixed = without_figures(words) | {summary.arena, f"surrogate-arena {__version__} · {overlap}"}
    with watched(browser, client.origin) as page:
        start(page, client, "Gil")
        for count in range(1, 4):
            with page.expect_response(lambda reply: reply.url.endswith("/pair")) as waited:
                vote(page, "1", "Gil", count)
            votes = pd.read_json(folders[1] / VOTES_FILE, lines=True)
            n_judged = (votes["judge"] == "person:Gil").sum()
            said = {
                words["count"].format("Gil", n_judged),
                words["passages"].format(len(waited.value.json()["pair"]["passages"])),
            }
            shown = shown_texts(page, BLIND)
            assert said <= shown
            assert shown <= fixed | said


def test_what_cannot_be_saved_is_said_and_goes_on_later(browser, folders):
    with browser.new_context() as context:
        page = context.new_page()
        with running(folders) as client:
            port = client.port
            start(page, client, "Cleo")
            vote(page, "1", "Cleo", 1)
        page.keyboard.press("1")
        page.wait_for_selector("#trouble:not([hidden])")
        assert "nothing was saved" in page.inner_text("#trouble")
        assert page.locator('[data-choice="a"]').get_attribute("aria-pressed") == "false"
        with running(folders, port=port):
            vote(page, "1", "Cleo", 2)
            assert page.locator("#trouble").is_hidden()
    assert len(read_arena(folders[1]).judged_by("person:Cleo").judgments) == 2


def test_the_board_says_that_votes_are_new_and_how_to_count_them(browser, client):
    with watched(browser, client.origin) as page:
        start(page, client, "Dan")
        vote(page, "2", "Dan", 1)
        for place in ("index.html", "pairs/en.html"):
            page.goto(f"{client.origin}/{place}")
            page.wait_for_selector("#news:not([hidden])")
            assert "run board again" in page.inner_text("#news")
            assert "surrogate-arena board" in page.inner_text("#news code")
            page.get_by_role("link", name="Vote").click()
            page.wait_for_selector("#start:not([hidden])")


def test_people_choose_the_languages_that_they_read(browser, client):
    with watched(browser, client.origin) as page:
        page.goto(f"{client.origin}/vote.html")
        page.fill("#voter", "Eva")
        page.uncheck('[value="en"]')
        page.click("#start button")
        page.wait_for_selector("#voting:not([hidden])")
        for count in range(1, 4):
            assert page.get_attribute("#question", "lang") != "en"
            vote(page, "1", "Eva", count)


def test_no_other_page_can_vote_and_no_other_script_runs(browser, client):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{client.origin}/vote.html")
        ran = page.evaluate(
            "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
            " document.body.append(s); return window.ran ?? 0; }"
        )
        assert ran == 0
        page.goto("about:blank")
        outcome = page.evaluate(
            "url => fetch(url, {method: 'POST', headers: {'Content-Type': 'application/json'},"
            " body: '{\"voter\": \"Eve\"}'}).then(r => r.status).catch(() => 'refused')",
            f"{client.origin}/pair",
        )
        assert outcome == "refused"


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_it_fits_phones_both_themes_and_screen_readers(browser, client, theme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    size = {"width": width, "height": 844}
    with watched(browser, client.origin, viewport=size, color_scheme=theme) as page:
        page.goto(f"{client.origin}/vote.html")
        for step in ("name", "pair"):
            if step == "pair":
                start(page, client, f"Fay {theme}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            found = axe.Axe().run(page).response["violations"]
            assert [item["id"] for item in found if item["impact"] in {"serious", "critical"}] == []
