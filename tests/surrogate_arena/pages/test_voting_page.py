"""The page on which people vote, in a browser, from a file; and the commands around it."""

import json
import re
from dataclasses import replace

import pytest
from hostile_pages import watched
from page_sentences import BLIND, shown_texts, without_figures
from simulations import simulated_part

from arena import read_arena, write_arena
from arena.data import __version__
from arena.judging import choose_pairs, make_ballot
from surrogate_arena.cli.judging_records import read_judging_records
from surrogate_arena.pages.pages import _words, ballot_page

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> {{ 7 * 7 }} \u2028\x00"


@pytest.fixture(scope="module")
def arena(small_arena):
    answers = small_arena.answers.copy()
    answers.loc[answers["system"] == small_arena.info.systems[0], "answer"] += HOSTILE
    info = small_arena.info.model_copy(update={"name": "<b>arena</b>"})
    return replace(small_arena, info=info, answers=answers)


@pytest.fixture(scope="module")
def ballot(arena):
    return make_ballot(arena, choose_pairs(arena, 2, 4), most=12)


def test_the_page_names_no_system_and_escapes_texts_of_others(arena, ballot):
    page = ballot_page(ballot)
    assert page == ballot_page(ballot)
    answers = " ".join(f"{p.comparison.answer_a} {p.comparison.answer_b}" for p in ballot.pairs)
    assert "onerror=alert" in answers
    for name in arena.info.systems:
        assert name not in page
    assert "<img src=x" not in page
    assert page.count("<script") == 3
    assert "<b>arena</b>" not in page
    assert "&lt;b&gt;arena&lt;/b&gt;" in page
    assert "\x00" not in page
    assert not re.search(r"(?:src|href)=[\"']?https?:", page)
    assert "default-src &#39;none&#39;" in page


def test_people_see_the_turns_before_a_question_and_not_whose_they_are(arena):
    turns = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "</script>Hi"}]
    asked = arena.queries.assign(history=[turns] * len(arena.queries))
    page = ballot_page(
        make_ballot(replace(arena, queries=asked), choose_pairs(arena, 1, 1), most=1)
    )
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page)[1])
    assert [turn["text"] for turn in data["pairs"][0]["turns"]] == ["Hello?", "</script>Hi"]


@pytest.fixture(scope="module")
def folder(arena, tmp_path_factory):
    folder = tmp_path_factory.mktemp("voting") / "arena"
    write_arena(arena, folder)
    return folder


@pytest.fixture(scope="module")
def page_file(folder, run):
    out = folder.parent / "vote.html"
    options = ["--questions", 2, "--pairs", 4, "--most", 12]
    assert run("vote", folder, "--out", out, *options) == 0
    return out


@pytest.fixture
def page(browser):
    with watched(browser) as opened:
        yield opened


@pytest.mark.slow
def test_votes_by_keys_are_kept_exported_and_collected(page, page_file, folder, run, capsys):
    page.goto(page_file.as_uri())
    assert page.inner_text("#place") == "Pair 1 of 12"
    first = page.inner_text("#side-a .text")
    page.keyboard.press("1")
    assert page.inner_text("#place") == "Pair 2 of 12"
    page.keyboard.press("2")
    page.keyboard.press("3")
    page.keyboard.press("s")
    assert page.inner_text("#place") == "Pair 5 of 12"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.locator('[data-choice="b"]').get_attribute("aria-pressed") == "true"
    page.reload()
    assert page.inner_text("#place") == "Pair 4 of 12"
    assert page.inner_text("#counted") == "3 of 12 pairs judged, 9 open."
    page.click("#json")
    assert page.locator("#needs").is_visible()
    page.fill("#voter", 'Ada "1" Ñ')
    with page.expect_download() as waited:
        page.click("#json")
    file = folder.parent / waited.value.suggested_filename
    waited.value.save_as(file)
    content = json.loads(file.read_text(encoding="utf-8"))
    assert [vote["choice"] for vote in content["votes"]] == ["a", "tie", "b"]
    before = len(read_arena(folder).judgments)
    capsys.readouterr()
    assert run("vote", folder, "--collect", file, file, "--json") == 0
    collected = json.loads(capsys.readouterr().out)
    assert (collected["votes"], collected["added"], collected["replaced"]) == (3, 3, 3)
    judged = read_arena(folder).judged_by('person:Ada "1" Ñ').judgments
    assert len(read_arena(folder).judgments) == before + 3
    won = judged[judged["winner"] == "a"].iloc[0]
    texts = read_arena(folder).answers.set_index(["system", "query_id", "language"])["answer"]
    shown = texts[won["system_a"], won["query_id"], won["language"]]
    assert "".join(first.split())[:200] in "".join(shown.split()).replace("\x00", "\ufffd")


@pytest.mark.slow
def test_the_page_says_what_is_in_its_ballot_and_nothing_else(page, page_file, ballot):
    words = _words()["en"]
    fixed = without_figures(words) | {"<b>arena</b>"}
    fixed.add(f"surrogate-arena {__version__} · {words['nothing_sent']}")
    page.goto(page_file.as_uri())
    n_pairs = len(ballot.pairs)
    for n_judged, pair in enumerate(ballot.pairs):
        comparison = pair.comparison
        said = {
            words["pair_of"].format(n_judged + 1, n_pairs),
            words["passages"].format(len(comparison.passages)),
            words["some_open"].format(n_judged, n_pairs, n_pairs - n_judged).strip("."),
        }
        shown = shown_texts(page, BLIND)
        assert said <= shown
        assert shown <= fixed | said
        page.keyboard.press("1")
    assert page.inner_text("#counted") == words["none_open"].format(n_pairs)


@pytest.mark.slow
def test_texts_run_in_the_direction_of_their_language(page, tmp_path):
    arena = simulated_part((0, 11), ["ar"], questions=3).arena
    (tmp_path / "vote.html").write_text(ballot_page(make_ballot(arena, choose_pairs(arena))))
    page.goto((tmp_path / "vote.html").as_uri())
    for text in ("#question", "#side-a .text", "#side-b .text"):
        assert page.locator(text).evaluate("text => getComputedStyle(text).direction") == "rtl"


@pytest.mark.slow
def test_passages_are_mentioned_only_of_questions_that_have_some(page, tmp_path):
    arena = simulated_part((0, 11), ["en"], questions=3).arena
    bare = arena.queries.assign(passages=[[] for _ in range(len(arena.queries))])
    for name, shown in (("with", arena), ("bare", replace(arena, queries=bare))):
        file = tmp_path / f"{name}.html"
        file.write_text(ballot_page(make_ballot(shown, choose_pairs(shown))))
        page.goto(file.as_uri())
        assert page.locator("#passages").is_visible() == (name == "with")
        assert ("passages are what" in page.inner_text(".lead")) == (name == "with")


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_fault_of_accessibility(page, page_file, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    page.goto(page_file.as_uri())
    page.emulate_media(color_scheme=theme)
    page.keyboard.press("1")
    page.keyboard.press("ArrowLeft")
    page.click("#passages summary")
    found = axe.Axe().run(page).response["violations"]
    serious = [
        (item["id"], [node["html"][:120] for node in item["nodes"][:3]])
        for item in found
        if item["impact"] in {"serious", "critical"}
    ]
    assert serious == []


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_it_fits_phones_and_both_themes(browser, page_file, theme, width):
    size = {"width": width, "height": 844}
    with watched(browser, viewport=size, color_scheme=theme) as page:
        page.goto(page_file.as_uri())
        page.click('[data-choice="tie"]')
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for button in page.locator(".choices button").all():
            box = button.bounding_box()
            assert box["height"] >= 44
            assert box["y"] + box["height"] <= 844


def test_people_decide_between_judges(arena, run, tmp_path, capsys):
    """Votes that follow one judge: ``agreement`` says how far, and what more labels would say."""
    folder = tmp_path / "arena"
    write_arena(arena, folder)
    assert run("agreement", folder) == 2
    assert "nobody has voted here" in capsys.readouterr().err
    write_arena(replace(arena, judgments=arena.judgments[:0]), tmp_path / "unjudged")
    assert run("agreement", tmp_path / "unjudged") == 2
    assert "unjudged: there is no judgment in it" in capsys.readouterr().err
    own = make_ballot(arena, choose_pairs(arena, 10, 4), most=60)
    judge = arena.judges[0]
    rows = arena.judgments.set_index(["language", "query_id"])
    votes = []
    for pair in own.pairs:
        language, query_id, one, other = pair.comparison.key
        part = rows.loc[[(language, query_id)]]
        met = part[part[["system_a", "system_b"]].isin([one, other]).all(axis=1)].iloc[0]
        winner = {"a": met["system_a"], "b": met["system_b"]}.get(met["winner"])
        votes.append({"id": pair.id, "choice": {one: "a", other: "b"}.get(winner, "tie")})
    content = {"format": "surrogate-arena votes", "ballot": own.id, "voter": "Bo", "votes": votes}
    (tmp_path / "bo.json").write_text(json.dumps(content))
    assert run("vote", folder, "--collect", tmp_path / "bo.json") == 0
    assert f"Added: {len(votes)}" in capsys.readouterr().out
    assert run("agreement", folder, "--json") == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["reference"] == ["person:Bo"]
    (row,) = found["judges"]
    assert (row["judge"], row["items"], row["kappa"]) == (judge, len(votes), 1.0)
    assert run("agreement", folder, "--write", "--json") == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["written"] == str(folder / "metaevaluation.json")
    (noted,) = read_judging_records(folder, judge).metaevaluations
    assert (noted.dataset, noted.metric) == ("people", "kappa")
    assert (noted.value, noted.n) == (1.0, len(votes))
    assert noted.languages == sorted({pair.comparison.key[0] for pair in own.pairs})
    assert run("agreement", next(folder.glob("judgments*")), "--write") == 2
    assert "--write needs an arena folder" in capsys.readouterr().err
