"""Sites as files: what they hold, what they escape, what they replace."""

import json
import runpy
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import MagicMock
from urllib.parse import unquote, urlsplit

import pytest
from altered_boards import about
from matplotlib.text import Text

from arena import UsageError
from surrogate.board.summary import UNSEEN_BY_CHANCE
from surrogate.publish.exports.cards import dataset_card
from surrogate.publish.figures.ratings import draw_ratings
from surrogate.publish.formats import (
    LinearScale,
    Span,
    decimal,
    interval,
    percent,
    rank_range,
    significant,
    slugs,
    span,
)
from surrogate.publish.site.overview import filter_data
from surrogate.publish.site.site import write_site
from surrogate.publish.view import SPLIT_NAMES

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
        assert "img" not in names
        assert names.count("script") <= 3
        for _, attributes in page.elements:
            assert "src" not in attributes
            assert not any(key.startswith("on") for key in attributes)


def test_hostile_names_are_text(hostile_site):
    text = (hostile_site / "index.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "{{ 7 * 7 }}" in text
    assert "\x00" not in text
    data = text.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    assert "<" not in data
    assert "<script>alert(1)</script>" in [name for name, _ in json.loads(data)["systems"]]


def test_tables_are_semantic(site):
    for page in pages(site).values():
        tags = [tag for tag, _ in page.elements]
        assert tags.count("table") == tags.count("caption")
        assert all("scope" in attributes for tag, attributes in page.elements if tag == "th")


def test_the_same_board_gives_the_same_bytes(board, small_arena, site, tmp_path):
    again = write_site(board, tmp_path / "again", small_arena).parent
    for path in site.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (again / path.relative_to(site)).read_bytes()


def test_the_front_page_leads_with_what_was_not_seen(site, board):
    text = (site / "index.html").read_text(encoding="utf-8")
    macro = board.summary.macro
    facts = text.split('<dl class="facts">')[1].split("</dl>")[0]
    assert f"{macro.split_half:.2f}" in facts
    assert f"verdicts alone {macro.split_half_verdicts:.2f}" in facts
    assert f"{macro.tau_unseen:.2f}" in facts
    assert interval(macro.tau_unseen_low, macro.tau_unseen_high) in facts
    method = (site / "method.html").read_text(encoding="utf-8")
    trained = method.split("trained on</h2>")[1].split("</section>")[0]
    for found in (*board.summary.languages.values(), macro):
        assert f"{found.tau:.2f}" in trained
        assert interval(found.tau_low, found.tau_high) in trained


def test_a_surrogate_that_ranks_by_chance_is_said_at_the_top(board, tmp_path):
    bad = {"tau_unseen": -0.1, "tau_unseen_low": -0.6, "tau_unseen_high": 0.5}
    macro = board.summary.macro.model_copy(update=bad)
    summary = board.summary.model_copy(update={"macro": macro})
    text = write_site(replace(board, summary=summary), tmp_path / "site").read_text("utf-8")
    said = text.index(f"<strong>Caution.</strong> {UNSEEN_BY_CHANCE.sentence}")
    assert said < text.index('<form class="controls"')
    judge = (tmp_path / "site" / "judge.html").read_text("utf-8")
    assert UNSEEN_BY_CHANCE.sentence in judge


def test_boards_by_the_surrogate_alone_say_so_everywhere(board, tmp_path):
    by_surrogate = about(board, ratings="surrogate")
    index = write_site(by_surrogate, tmp_path / "site")
    assert "Ratings are by the trained surrogate." in index.read_text("utf-8")
    method = (index.parent / "method.html").read_text("utf-8")
    assert "also of the systems it was trained on" in method
    assert "Fay and Herriot" not in method
    assert "By the trained surrogate." in (index.parent / "heatmap.html").read_text("utf-8")
    assert "A rating is what the trained surrogate predicts" in dataset_card(by_surrogate, "mit")
    labels = [text.get_text() for text in draw_ratings(by_surrogate, "en").findobj(Text)]
    assert "the trained surrogate" in labels
    assert "verdicts and surrogate" not in labels


def test_a_tau_that_is_not_known_has_no_interval_beside_it(build_quickly, small_arena, tmp_path):
    three, judged = small_arena.info.systems[:3], small_arena.judgments
    few = judged[judged["system_a"].isin(three) & judged["system_b"].isin(three)]
    index = write_site(build_quickly(replace(small_arena, judgments=few)), tmp_path / "site")
    assert "Tau of unseen systems</a></dt><dd>–</dd>" in index.read_text("utf-8")


def test_rows_of_the_filter_are_in_step_with_their_columns(board):
    data = filter_data(board, slugs(board.systems))
    for language, part in data["languages"].items():
        rows = board.ratings[board.ratings["language"] == language].to_dict("records")
        for row, values in zip(rows, part["rows"], strict=True):
            shown = dict(zip(data["columns"], values, strict=True))
            assert data["systems"][shown["index"]][0] == row["system"]
            assert data["splits"][shown["kind"]] == SPLIT_NAMES[row["split"]]
            for name in ("rank", "rank_low", "tier", "rating", "high", "verdict_share"):
                assert shown[name] == pytest.approx(row[name], abs=6e-4)
            for name in ("surrogate_rating", "surrogate_high", "arena_rating", "arena_low"):
                assert shown[name] == pytest.approx(row[name], abs=6e-4)
            assert shown["note"] == row["note"]


def test_a_rating_without_an_upper_bound_runs_to_the_right_end():
    scale = LinearScale(0.0, 2.0)
    assert span(scale, 1.0, 0.0, float("inf")) == Span(50.0, 4.0, 100.0)
    assert span(scale, 1.0, 0.0, None) == Span(50.0, None, None)
    assert span(scale, 1.0, None, float("inf")) == Span(50.0, None, None)


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
    assert "Without an overall rank" in text
    assert "Swahili: no answer at all" in text


def test_the_method_page_names_the_judge_beside_its_meta_evaluation(board, tmp_path):
    noted = about(board, judge="gpt|4o", metaevaluation=("memerag 0.71",))
    index = write_site(noted, tmp_path / "site")
    text = (index.parent / "method.html").read_text(encoding="utf-8")
    assert "judge = &#34;gpt|4o&#34;" in text
    assert "memerag 0.71" in text


def test_a_folder_without_a_board_is_refused(tmp_path, run, capsys):
    assert run("publish", tmp_path, "--out", tmp_path / "site") == 2
    assert "holds no board: board.csv" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_the_command_writes_a_site(board_folder, tmp_path, run, capsys):
    assert run("publish", board_folder, "--out", tmp_path / "a" / "site") == 0
    assert "index.html" in capsys.readouterr().out
    assert (tmp_path / "a" / "site" / "index.html").is_file()


@pytest.mark.parametrize("tool", ["wandb", "mlflow"])
def test_examples_log_the_site_and_no_other_file_of_a_board(board_folder, monkeypatch, tool):
    logged = MagicMock()
    monkeypatch.setitem(sys.modules, tool, logged)
    monkeypatch.setattr(sys, "argv", ["", str(board_folder)])
    runpy.run_path(str(EXAMPLES / f"log_to_{tool}.py"))
    add = logged.Artifact.return_value.add_dir if tool == "wandb" else logged.log_artifacts
    assert [call.args[0] for call in add.call_args_list] == [f"{board_folder}/site"]


def test_a_site_is_replaced_whole_and_other_folders_are_refused(board, tmp_path):
    out = tmp_path / "site"
    write_site(board, out)
    (out / "heatmap.html").write_text("old")
    write_site(board, out)
    assert (out / "heatmap.html").read_text(encoding="utf-8") != "old"
    (out / "mine.txt").write_text("keep")
    with pytest.raises(UsageError, match=r"mine\.txt"):
        write_site(board, out)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("keep")
    with pytest.raises(UsageError, match="not empty and holds no site"):
        write_site(board, tmp_path / "other")
    with pytest.raises(UsageError, match="is a file"):
        write_site(board, tmp_path / "other" / "thesis.tex")
    assert (out / "mine.txt").read_text() == "keep"


def test_a_failure_leaves_the_former_site(board, tmp_path, monkeypatch):
    out = tmp_path / "site"
    write_site(board, out)
    before = (out / "index.html").read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("surrogate.publish.site.site._write", fail)
    with pytest.raises(OSError, match="disk full"):
        write_site(board, out)
    assert (out / "index.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_numbers_as_readers_see_them():
    assert decimal(-0.001) == "0.00"
    assert decimal(-1.5) == "−1.50"
    assert decimal(None) == decimal(float("nan")) == "–"
    assert percent(0.999) == "99%"
    assert percent(1.0) == "100%"
    assert interval(0.1, None) == "–"
    assert rank_range(2, 5) == "2–5"
    assert rank_range(3, 3) == "3"
    assert significant(1234.5) == "1,234"
