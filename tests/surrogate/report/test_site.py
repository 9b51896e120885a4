"""Sites as files: what they hold, what they escape, what they replace."""

import json
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pandas as pd
import pytest

from arena import DataError, UsageError
from surrogate.board.signature import signature_fields
from surrogate.publish.formats import decimal, interval, percent, rank_range, significant
from surrogate.publish.site.site import write_site

LATER = (
    *("tiers.csv", "win_matrix.csv", "neighbours.csv", "examples.jsonl", "judge_report.json"),
    *("importances.csv", "features.parquet", "judge.skops", "arena.csv"),
)
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
            if parts.fragment and not parts.fragment.startswith("language="):
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


def test_the_same_board_gives_the_same_bytes(board_folder, site, tmp_path):
    again = write_site(board_folder, tmp_path / "again").parent
    for path in site.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (again / path.relative_to(site)).read_bytes()


def test_an_older_board_says_what_it_lacks(board_folder, tmp_path):
    folder = tmp_path / "old"
    shutil.copytree(board_folder, folder)
    for name in LATER:
        (folder / name).unlink(missing_ok=True)
    site = write_site(folder, tmp_path / "site").parent
    text = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.html"))
    for name in LATER[:5]:
        assert f"This board has no {name}" in text


def test_unranked_systems_are_shown_with_the_reason(board_folder, tmp_path):
    folder = tmp_path / "board"
    shutil.copytree(board_folder, folder)
    overall = pd.read_csv(folder / "overall.csv")
    overall.loc[0, ["rank", "mean_rank", "mean_rating"]] = None
    overall.to_csv(folder / "overall.csv", index=False)
    board = pd.read_csv(folder / "board.csv")
    gone = (board["system"] == overall.loc[0, "system"]) & (board["language"] == "sw")
    board["note"] = board["note"].astype(object)
    board.loc[gone, ["rank", "rating"]] = None
    board.loc[gone, "note"] = "no answer at all"
    board.to_csv(folder / "board.csv", index=False)
    text = write_site(folder, tmp_path / "site").read_text(encoding="utf-8")
    assert "Without an overall rank" in text
    assert "Swahili: no answer at all" in text


def test_a_folder_without_a_board_is_refused(tmp_path, run, capsys):
    assert run("report", tmp_path, "--out", tmp_path / "site") == 2
    assert "holds no board: board.csv" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_the_command_writes_a_site(board_folder, tmp_path, run, capsys):
    assert run("report", board_folder, "--out", tmp_path / "a" / "site") == 0
    assert "index.html" in capsys.readouterr().out
    assert (tmp_path / "a" / "site" / "index.html").is_file()


def test_a_site_is_replaced_whole_and_other_folders_are_refused(board_folder, tmp_path):
    out = tmp_path / "site"
    write_site(board_folder, out)
    (out / "heatmap.html").write_text("old")
    write_site(board_folder, out)
    assert (out / "heatmap.html").read_text(encoding="utf-8") != "old"
    (out / "mine.txt").write_text("keep")
    with pytest.raises(UsageError, match=r"mine\.txt"):
        write_site(board_folder, out)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("keep")
    with pytest.raises(UsageError, match="not empty and holds no site"):
        write_site(board_folder, tmp_path / "other")
    with pytest.raises(UsageError, match="is a file"):
        write_site(board_folder, tmp_path / "other" / "thesis.tex")
    assert (out / "mine.txt").read_text() == "keep"


def test_a_failure_leaves_the_former_site(board_folder, tmp_path, monkeypatch):
    out = tmp_path / "site"
    write_site(board_folder, out)
    before = (out / "index.html").read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("surrogate.publish.site.site._write", fail)
    with pytest.raises(OSError, match="disk full"):
        write_site(board_folder, out)
    assert (out / "index.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_damaged_tables_are_named(board_folder, tmp_path):
    folder = tmp_path / "board"
    shutil.copytree(board_folder, folder)
    (folder / "tiers.csv").write_text("language,system,tier,rank_low,rank_high\nen,a,first,1,2\n")
    with pytest.raises(DataError, match=r"tiers\.csv:2: tier = 'first': is no number"):
        write_site(folder, tmp_path / "site")
    (folder / "tiers.csv").write_text("language,system\nen,a\n")
    with pytest.raises(DataError, match="there is no such column"):
        write_site(folder, tmp_path / "site")


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


def test_a_signature_is_taken_apart_even_with_bars_in_names():
    fields = signature_fields("judge:a|b:c|features:x,y|holdout:m|n|seed:0")
    assert [(field.name, field.value) for field in fields] == [
        ("judge", "a|b:c"),
        ("features", "x,y"),
        ("holdout", "m|n"),
        ("seed", "0"),
    ]
