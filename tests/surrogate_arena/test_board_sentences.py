"""Pages and the terminal say no sentence on a board that has no record among its remarks."""

import json
import re

import pandas as pd
import pytest
from lxml import html
from page_sentences import filled_in_values, names_on, sentences_of, unrecorded, without

from surrogate import Board
from surrogate_arena.commands.boards import print_board
from surrogate_arena.pages.site import QUESTIONS, write_site

pytestmark = pytest.mark.slow


@pytest.fixture
def sentences(real_board_folder):
    table = pd.read_csv(real_board_folder / "remarks.csv", keep_default_na=False)
    return sentences_of(table.assign(systems=table["systems"].map(json.loads)).to_dict("records"))


@pytest.fixture(scope="module")
def site(real_board_folder, tmp_path_factory):
    """The folder of the pages of a board with its answers, what templates fill in being marked."""
    submissions = "https://example.org/submit"
    out = tmp_path_factory.mktemp("marked") / "site"
    with filled_in_values():
        index = write_site(Board.load(real_board_folder), out, submissions=submissions)
    return index.parent


def test_the_terminal_says_nothing_else(real_board_folder, sentences, capsys):
    print_board(Board.load(real_board_folder), "Next: nothing")
    lines = capsys.readouterr().out.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("─")) + 1
    # A row of the table has columns; notes of rows are those of board.csv.
    below = [line for line in lines[start:] if not re.search(r"\S  +\S", line)]
    text = without(" ".join(below), sentences)
    text = re.sub(r"… and [\d,]+ more( systems?)?; --json has all", "", text)
    notes = pd.read_csv(real_board_folder / "board.csv", keep_default_na=False)["note"]
    for note in {*notes.str.split("; ").explode(), "did not answer every question"}:
        text = re.sub(rf"([a-c]|All|\+): {re.escape(note)}", "", text) if note else text
    by_language = r"(Ranks by language: board\.csv in the board's folder )?"
    assert re.fullmatch(rf"[ .]*{by_language}Board written to \S+ Next: nothing", text), text


def test_pages_say_nothing_else(real_board_folder, site):
    record = json.loads((site / "board.json").read_text("utf-8"))
    said = sentences_of(record["remarks"])
    names = names_on(Board.load(real_board_folder)) | {QUESTIONS, "example.org"}
    paths = list(site.rglob("*.html"))
    assert {path.stem for path in paths} >= {"index", "judge", "method", "submit", "embed"}
    for path in paths:
        assert unrecorded(path.read_text("utf-8"), said, names) == [], path.name
    page = html.fromstring((site / "index.html").read_text("utf-8"))
    for view in json.loads(page.xpath("//script[@id='data']")[0].text)["views"].values():
        for parts in [*view["sentences"], *view["facts"], [view["caution"]]]:
            assert without("".join(parts), said) == ""


def test_counts_of_faults_are_those_of_the_answers(real_board_folder, site):
    arena = real_board_folder.parent / "arena"
    answers = pd.read_json(arena / "answers.jsonl.gz", lines=True, dtype=False)
    queries = pd.read_json(arena / "queries.jsonl.gz", lines=True, dtype=False)
    key = ["language", "query_id"]
    passages = queries.set_index(key)["passages"].reindex(pd.MultiIndex.from_frame(answers[key]))
    answers = answers.assign(is_bare=~passages.astype(bool).to_numpy())
    # Where nothing is said of a check it saw every answer.
    uncited = dict.fromkeys(answers["system"], 0)
    broken = []
    for row in json.loads((site / "board.json").read_text("utf-8"))["remarks"]:
        numbers = [int(text) for text in re.findall(r"\d+", row["sentence"].replace(",", ""))]
        if row["name"] == "broken":
            assert len(answers) in numbers
        if row["name"] not in ("faults", "unchecked"):
            continue
        [system] = row["systems"]
        n_answers = int((answers["system"] == system).sum())
        assert numbers[-1] == n_answers
        assert row["statistic"] <= n_answers or row["name"] == "faults"
        if row["name"] == "unchecked" and "citation" in row["sentence"]:
            uncited[system] = row["statistic"]
        if row["name"] == "faults":
            broken.append(row["statistic"])
    assert len(broken) == answers["system"].nunique()
    own = answers["passages"].map(bool) if "passages" in answers else False
    assert (answers["is_bare"] & ~own).groupby(answers["system"]).sum().to_dict() == uncited


@pytest.mark.parametrize(
    "planted",
    [
        "<p>{{ systems[0] }} is the best.</p>",
        "<p>It is first of {{ systems|length }} systems.</p>",
        "<li>{{ sentence }} And {{ systems[1] }} is next.</li>",
        '<p>{{ "all" if systems else "none" }} of {{ systems|length }}</p>',
        "<p>{% for name in ('beta',) %}{{ name }}, {% endfor %}{{ systems[1] }}</p>",
    ],
)
def test_a_sentence_of_a_template_is_found(planted):
    with filled_in_values() as environment:
        page = environment.from_string(f"<body>{planted}</body>").render(
            systems=["alpha-7b", "beta"], sentence="Alpha is first."
        )
    assert unrecorded(page, {"Alpha is first."}, {"language"})
