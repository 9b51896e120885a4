"""Sites as files: what they hold, what they escape, what they replace."""

import json
import re
import runpy
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import MagicMock
from urllib.parse import unquote, urlsplit

import numpy as np
import pandas as pd
import pytest
from hostile_pages import HOSTILE
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from arena import UsageError, write_arena
from arena.data.systems import HELD, WITHDRAWN
from arena.judging.appending import set_state
from surrogate import build_board
from surrogate.board.board import Board
from surrogate_arena.pages import board_page, pairs, views
from surrogate_arena.pages import site as sites
from surrogate_arena.pages.formats import LONGEST, slugs
from surrogate_arena.pages.site import write_site

EXAMPLES = Path(__file__).parents[3] / "examples"
MEGABYTE = 1_000_000


class Page(HTMLParser):
    """Links, identifiers and elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.elements = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.elements.append((tag, found))
        if tag == "a":
            self.links.append(found["href"])
        if "id" in found:
            assert found["id"] not in self.ids
            self.ids.add(found["id"])


def pages(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["site", "hostile_site"])
def test_links_resolve_and_pages_are_small(name, request):
    read = pages(request.getfixturevalue(name))
    assert len(read) > 4
    for path, page in read.items():
        assert path.stat().st_size < MEGABYTE
        for link in page.links:
            parts = urlsplit(link)
            assert not parts.scheme
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target in read, link
            if parts.fragment and not parts.fragment.startswith(("language=", "a=")):
                assert parts.fragment in read[target].ids


def test_nothing_is_loaded_and_only_our_scripts_run(hostile_site):
    for page in pages(hostile_site).values():
        names = [tag for tag, _ in page.elements]
        assert names.count("script") <= 3
        for tag, attributes in page.elements:
            assert tag not in {"img", "iframe", "object"}
            assert not any(key == "src" or key.startswith("on") for key in attributes)


def test_ranks_by_language_stand_side_by_side(board, site):
    text = (site / "index.html").read_text(encoding="utf-8")
    table = text.split('id="ranks-table"')[1].split("</table>")[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in table.split("<tr>")[2:]]
    ranks = board.ratings.pivot(index="system", columns="language", values="rank")
    ranks = ranks.reindex(index=board.systems, columns=board.languages)
    assert rows == ranks.map("{:.0f}".format).replace("nan", "–").to_numpy().tolist()


def test_hostile_names_are_text(hostile_site):
    text = (hostile_site / "index.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "{{ 7 * 7 }}" in text
    assert "\x00" not in text
    data = text.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    assert "<" not in data
    assert "<script>alert(1)</script>" in [name for name, _ in json.loads(data)["systems"]]
    text = (hostile_site / "judge.html").read_text(encoding="utf-8")
    row = text.split('id="people-table"')[1].split("<tbody>")[1].split("</tbody>")[0]
    assert re.findall(r"<bdi>(.*?)</bdi>", row) == [escape(HOSTILE)]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert cells == [escape(HOSTILE), "balanced accuracy", "0.810", "0.020", "240"]


@pytest.mark.slow
def test_the_same_board_gives_the_same_bytes(board, small_arena, site, tmp_path):
    again = write_site(board, tmp_path / "again", small_arena).parent
    for path in site.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (again / path.relative_to(site)).read_bytes()


@pytest.mark.slow
@pytest.mark.slow
def test_copies_of_verdicts_change_nothing_but_that_they_are_counted(tiny_arena, tmp_path):
    joined = pd.concat([tiny_arena.judgments, tiny_arena.judgments[:20]], ignore_index=True)
    records = []
    for name, arena in (("once", tiny_arena), ("twice", replace(tiny_arena, judgments=joined))):
        board = build_board(arena, surrogate="linear", features="answer_length", tournaments=2)
        write_site(board, tmp_path / name, arena)
        record = json.loads((tmp_path / name / "board.json").read_text("utf-8"))
        records.append([remark["sentence"] for remark in record["remarks"]])
    (copies,) = set(records[1]) - set(records[0])
    assert copies.startswith("20 judgments left out: exact copies")
    records[1].remove(copies)
    assert records[0] == records[1]
    for path in (tmp_path / "once").rglob("*.html"):
        other = tmp_path / "twice" / path.relative_to(tmp_path / "once")
        assert (path.read_bytes() == other.read_bytes()) == (path.name != "method.html")


def test_a_board_that_was_just_built_and_one_that_was_read_have_the_same_feature_means(
    small_board, small_arena, tmp_path
):
    features = small_board.features.assign(absent_in_english=1.0)
    features.loc[features["language"] == "en", "absent_in_english"] = np.nan
    built = replace(small_board, features=features)
    index = write_site(built, tmp_path / "built", small_arena)
    built.save(tmp_path / "board")
    index_of_read = write_site(Board.load(tmp_path / "board"), tmp_path / "read", small_arena)
    for path in index.parent.rglob("*.html"):
        other = index_of_read.parent / path.relative_to(index.parent)
        assert path.read_bytes() == other.read_bytes()


def test_a_missing_value_of_one_feature_moves_no_digit_of_another_ones_mean():
    keys = pd.MultiIndex.from_product(
        [range(9), ["ar", "de", "en", "fr", "sw"], range(12)],
        names=["query_id", "language", "system"],
    )
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(20, 80, (len(keys), 20)), index=keys, dtype=float)
    table.columns = table.columns.map("feature_{}".format)
    table = table.reset_index()
    with_missing = table.copy()
    with_missing.loc[with_missing["language"] == "en", "feature_19"] = np.nan
    means = [
        views.group_means(views.group_means(features, ["system", "language"]), ["system"])
        for features in (table, with_missing)
    ]
    whole, partial = (columns.drop(columns="feature_19") for columns in means)
    pd.testing.assert_frame_equal(whole, partial, check_exact=True)


def test_without_features_each_system_has_a_page(tiny_board, tiny_arena, tmp_path):
    keys = ["language", "system", "query_id"]
    for features in (tiny_board.features[keys], tiny_board.features[keys].iloc[:0]):
        bare = replace(tiny_board, features=features, importances=tiny_board.importances.iloc[:0])
        index = write_site(bare, tmp_path / f"{len(features)} answers", tiny_arena)
        assert len(list((index.parent / "systems").glob("*.html"))) == len(tiny_board.systems)


def test_features_without_a_value_have_a_reason(tiny_board, tiny_arena, tmp_path):
    features = tiny_board.features.assign(**{"never": np.nan, "never:missing": "none", "zero": 0.0})
    index = write_site(replace(tiny_board, features=features), tmp_path / "site", tiny_arena)
    page = next((index.parent / "systems").glob("*.html")).read_text("utf-8")
    table = page.split('id="features-table"')[1].split("</table>", 1)[0]
    assert "<code>zero</code>" in table
    row = table.split("<code>never</code>")[1].split("</tr>")[0]
    assert "none (" in row


def test_of_many_systems_pages_hold_a_part_and_say_so(board, small_arena, tmp_path, monkeypatch):
    for module in (pairs, sites):
        monkeypatch.setattr(module, "MOST_SYSTEMS", 3)
    monkeypatch.setattr(views, "MOST_OPPONENTS", 2)
    monkeypatch.setattr(board_page, "MOST_SHADED", 4)
    write_site(board, tmp_path / "site", small_arena)
    read = {path.stem: path.read_text("utf-8") for path in (tmp_path / "site").rglob("*.html")}
    language, systems = board.languages[0], list(board.table(board.languages[0])["system"])
    assert "The best systems have a row" in read["index"]
    assert "The best of them are here" in read[language]
    others = [name for name in systems[3:] if f'"{name}"' in read[language]]
    page = read[slugs(board.systems)[systems[0]]]
    assert not others
    assert "opponents that it met most often" in page


def test_unranked_systems_are_shown_with_the_reason(board, tmp_path):
    first = board.overall["system"] == board.overall.loc[0, "system"]
    overall = board.overall.copy()
    overall.loc[first, ["rank", "mean_rank", "mean_rating"]] = None
    gone = (board.ratings["system"] == overall.loc[0, "system"]) & (
        board.ratings["language"] == "sw"
    )
    ratings = board.ratings.copy()
    ratings.loc[gone, ["rank", "rating"]] = None
    ratings.loc[gone, "note"] = "no answer at all"
    unranked = replace(board, overall=overall, ratings=ratings)
    text = write_site(unranked, tmp_path / "site").read_text(encoding="utf-8")
    assert "Without a place" in text
    assert "Swahili: no answer at all" in text


@pytest.mark.parametrize("tool", ["wandb", "mlflow"])
def test_examples_log_the_site_and_no_other_file_of_a_board(board_folder, monkeypatch, tool):
    logged = MagicMock()
    monkeypatch.setitem(sys.modules, tool, logged)
    monkeypatch.setattr(sys, "argv", ["", str(board_folder)])
    runpy.run_path(str(EXAMPLES / f"log_to_{tool}.py"))
    add = logged.Artifact.return_value.add_dir if tool == "wandb" else logged.log_artifacts
    assert [call.args[0] for call in add.call_args_list] == [f"{board_folder}/site"]


def test_a_site_is_replaced_whole_and_other_folders_are_refused(tiny_board, tmp_path):
    out = tmp_path / "site"
    write_site(tiny_board, out)
    (out / "judge.html").write_text("old")
    write_site(tiny_board, out)
    assert (out / "judge.html").read_text(encoding="utf-8") != "old"
    (out / "mine.txt").write_text("keep")
    with pytest.raises(UsageError, match=r"mine\.txt"):
        write_site(tiny_board, out)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("keep")
    with pytest.raises(UsageError, match="holds no site"):
        write_site(tiny_board, tmp_path / "other")
    with pytest.raises(UsageError, match="is a file"):
        write_site(tiny_board, tmp_path / "other" / "thesis.tex")
    assert (out / "mine.txt").read_text() == "keep"


def test_a_failure_leaves_the_former_site(board, tmp_path, monkeypatch):
    out = tmp_path / "site"
    write_site(board, out)
    before = (out / "index.html").read_bytes()

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr("surrogate_arena.pages.site.filled", fail)
    with pytest.raises(OSError, match="disk full"):
        write_site(board, out)
    assert (out / "index.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@given(st.sets(st.text(max_size=80), max_size=30))
def test_slugs_are_safe_and_unique(names):
    found = slugs(names)
    assert set(found) == names
    assert len(set(found.values())) == len(names)
    for slug in found.values():
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", slug)
        assert len(slug) <= LONGEST


def test_plain_names_stay_and_others_are_told_apart():
    found = slugs(["gpt-4", "GPT-4", "con", "CON", "../x", "<script>", "n" * 300, "日本"])
    assert found["gpt-4"] == "gpt-4"
    assert found["GPT-4"].startswith("gpt-4-")
    assert found["con"] != "con"
    assert found["日本"].startswith("system-")
    assert found["GPT-4"] == slugs(["GPT-4"])["GPT-4"]


@pytest.mark.slow
def test_the_command_that_rebuilds_a_board_names_its_arenas_folder(
    small_board, small_arena, tmp_path
):
    write_arena(small_arena, tmp_path / "my arena")
    saved = small_board.save(tmp_path / "board", tmp_path / "my arena")
    method = (write_site(saved, tmp_path / "site").parent / "method.html").read_text()
    assert "surrogate-arena board &#39;my arena&#39; --out board" in method


@pytest.mark.slow
def test_a_shared_link_shows_the_first_systems(board, small_arena, tmp_path):
    pytest.importorskip("matplotlib")
    plain, shared = tmp_path / "plain", tmp_path / "shared"
    write_site(board, plain, small_arena)
    write_site(board, shared, small_arena, address="https://boards.example.org/a/")
    assert 'property="og:image"' not in (plain / "index.html").read_text("utf-8")
    for path in shared.rglob("*.html"):
        described = [
            found.get("property") or found.get("name")
            for tag, found in Page(path.read_text("utf-8")).elements
            if tag == "meta" and found.get("content")
        ]
        assert "description" in described
        assert "og:image" in described or path.name == "embed.html"
    page = (shared / "index.html").read_text("utf-8")
    assert 'content="https://boards.example.org/a/preview.png"' in page
    # A PNG begins with its size.
    size = (shared / "preview.png").read_bytes()[16:24]
    assert (int.from_bytes(size[:4]), int.from_bytes(size[4:])) == (1200, 630)


@pytest.mark.slow
def test_the_first_page_counts_systems_that_are_not_on_the_board(board, small_arena, tmp_path):
    write_arena(small_arena, tmp_path / "arena")
    board.save(tmp_path / "board", tmp_path / "arena")
    first, *others = small_arena.info.systems[-3:]
    set_state(tmp_path / "arena", [first], HELD)
    set_state(tmp_path / "arena", others, WITHDRAWN)
    index = write_site(Board.load(tmp_path / "board"), tmp_path / "site", small_arena)
    strip = index.read_text("utf-8").split('class="strip"')[1].split("</p>")[0]
    assert "<bdi>1</bdi></b> system held" in strip
    assert "<bdi>2</bdi></b> systems withdrawn" in strip


@pytest.mark.slow
@pytest.mark.parametrize("questions", [0, 5])
def test_the_page_on_how_to_submit_is_made_from_the_settings(
    board, small_arena, tmp_path, questions
):
    address = "https://example.org/new"
    index = write_site(
        board, tmp_path / "site", small_arena, submissions=address, questions=questions
    )
    assert 'href="submit.html"' in index.read_text("utf-8")
    page = (tmp_path / "site" / "submit.html").read_text("utf-8")
    assert f'href="{address}"' in page
    counts = page.split('id="states-table"')[1].split("</table>")[0]
    judged = int(board.overall["rank"].notna().sum())
    assert re.search(rf"Judged.*?>{judged}<", counts)
    # Private questions are published in no file.
    asked = tmp_path / "site" / "questions.csv"
    assert asked.exists() == bool(questions)
    if questions:
        listed = pd.read_csv(asked, dtype=str)["query_id"]
        assert set(listed) == set(small_arena.queries["query_id"])
