"""Past boards are kept, shown over time, and can be compared with."""

import datetime
import itertools
import json
import re
import shutil
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from page_sentences import filled_in_values, names_on, sentences_of, unrecorded, without

from arena import read_arena, write_arena
from arena.data.errors import UsageError
from arena.data.systems import WITHDRAWN
from arena.data.tables import read_rows, write_rows
from arena.judging.appending import set_state
from surrogate import Board
from surrogate_arena.cli.clock import now
from surrogate_arena.pages.feed import FeedEntry, atom_feed
from surrogate_arena.pages.history import (
    HEIGHT,
    MARGIN,
    WIDTH,
    HistoryEntry,
    Move,
    drawn,
    history_view,
    news_of,
    places,
    without_removed,
)
from surrogate_arena.runs import keeping, making, past_boards
from surrogate_arena.runs.config import read_configuration
from surrogate_arena.runs.keeping import content_digests
from surrogate_arena.runs.past_boards import RECORD_FILE, board_before, read_history
from surrogate_arena.runs.run import bring_up_to_date, restore_board

ATOM = "{http://www.w3.org/2005/Atom}"
DAY = 86_400
BOARD = "[boards.a]\narena = 'arena'\n"
SITE = f"{BOARD}publish = true\n"


def entry(day, standings=None, **fields):
    name = f"2026-01-{day:02}"
    return HistoryEntry(
        name=name,
        date=datetime.date.fromisoformat(name),
        conclusion="x leads.",
        standings=standings or {},
        **fields,
    )


@pytest.fixture(scope="session")
def run_on():
    """Bring boards up to date on a day, counted from 1970."""

    def run(boards, day):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SOURCE_DATE_EPOCH", str(day * DAY))
            report = bring_up_to_date(boards, boards.out)
        assert not [outcome.error for outcome in report.boards if outcome.error]
        return report

    return run


@pytest.fixture
def place(six_systems, tmp_path):
    """A folder with an arena of so many systems that their answers tell on the board."""
    write_arena(six_systems, tmp_path / "arena", ".jsonl")
    return tmp_path


@pytest.fixture(scope="module")
def three_once(six_systems, configure_in, run_on, tmp_path_factory):
    """The folder of a board of three days.

    The second has other settings, the third fewer verdicts.
    """
    folder = tmp_path_factory.mktemp("three")
    write_arena(six_systems, folder / "arena", ".jsonl")
    run_on(configure_in(folder, SITE), 20_000)
    boards = configure_in(folder, SITE + "ridge = 4.0\n")
    run_on(boards, 20_001)
    path = folder / "arena" / "judgments.jsonl"
    lost = six_systems.info.systems[0]
    table = read_rows(path).table
    write_rows(table[(table[["system_a", "system_b"]] != lost).all(axis=1)], path)
    run_on(boards, 20_005)
    return folder


@pytest.fixture
def three(three_once, place):
    """The same in a folder of this test's own."""
    shutil.copytree(three_once, place, dirs_exist_ok=True)
    return read_configuration(place / "boards.toml")


@pytest.mark.slow
def test_past_boards_are_kept_with_what_moved_and_why(three, place, run_on):
    folder = three.out / "a" / "history"
    records = read_history(folder)
    assert [record.entry.name for record in records] == ["2024-10-04", "2024-10-05", "2024-10-09"]
    first, second, third = (record.entry for record in records)
    assert not first.causes
    assert not first.counts
    assert second.causes == ("ridge: 0.1 → 4.0",)
    (cause,) = third.causes
    assert "fewer judgments" in cause
    # A run that changes nothing adds nothing, whatever the day.
    run_on(three, 20_009)
    shutil.rmtree(three.out / "a" / "board")
    run_on(three, 20_009)
    assert read_history(folder) == records
    page = (three.out / "_site" / "a" / "history.html").read_text("utf-8")
    for text in ("ridge: 0.1 → 4.0", 'id="2024-10-09"'):
        assert text in page
    rows = page.split('id="history-table"')[1].split("</table>")[0].split("<tr>")[2:]
    # Three ranks in one line of two stretches. Who has lost all verdicts has no third rank.
    assert sorted(row.count("<circle") for row in rows) == [2, *[3] * (len(rows) - 1)]
    assert sorted(row.count("<path") for row in rows) == [1, *[2] * (len(rows) - 1)]
    index = (three.out / "_site" / "a" / "index.html").read_text("utf-8")
    assert "Board of 2024-10-09" in index


def last_causes(boards):
    return read_history(boards.out / "a" / "history")[-1].entry.causes


def test_a_system_that_joins_changes_no_answers_of_the_others(configure, place, run_on):
    arena = read_arena(place / "arena")
    *before, new = arena.info.systems
    paths = [place / "arena" / f"{name}.jsonl" for name in ("answers", "judgments")]
    tables = [read_rows(path).table for path in paths]
    answers, judgments = tables
    info = json.loads((place / "arena" / "arena.json").read_text("utf-8"))

    def write(systems):
        (place / "arena" / "arena.json").write_text(json.dumps(info | {"systems": systems}))
        write_rows(answers[answers["system"].isin(systems)], paths[0])
        is_of = judgments[["system_a", "system_b"]].isin(systems).all(axis=1)
        write_rows(judgments[is_of], paths[1])

    write(before)
    boards = configure(BOARD)
    run_on(boards, 20_000)
    write([*before, new])
    run_on(boards, 20_000)
    joined = last_causes(boards)
    assert f"{new} joined" in joined
    assert not any("answers" in cause for cause in joined)
    # The answers of one that was there are named, and nobody else's.
    is_first = answers["system"].eq(before[0])
    answers["answer"] = answers["answer"].mask(is_first, answers["answer"] + " Again.")
    write([*before, new])
    run_on(configure(SITE), 20_000)
    assert last_causes(boards) == (f"answers of {before[0]} changed",)
    # Boards of a day have one name on the whole page.
    page = (boards.out / "_site" / "a" / "history.html").read_text("utf-8")
    headings = re.findall(r"<h3><time [^>]*>([^<]+)</time>", page)
    assert headings == ["2024-10-04-3", "2024-10-04-2", "2024-10-04"]
    assert all(f'<th scope="col" class="num">{name}</th>' in page for name in headings)


@pytest.mark.slow
def test_a_system_named_like_an_input_hides_no_change_of_it(configure, place, run_on):
    folder = place / "arena"
    *before, last = read_arena(folder).info.systems
    name = "question-bot"
    info = json.loads((folder / "arena.json").read_text("utf-8"))
    answers = read_rows(folder / "answers.jsonl").table.replace({"system": {last: name}})
    write_rows(answers[answers["system"] != name], folder / "answers.jsonl")
    judgments = read_rows(folder / "judgments.jsonl").table
    is_kept = (judgments[["system_a", "system_b"]] != last).all(axis=1)
    write_rows(judgments[is_kept], folder / "judgments.jsonl")
    (folder / "arena.json").write_text(json.dumps(info | {"systems": before}))
    boards = configure(BOARD)
    run_on(boards, 20_000)
    (folder / "arena.json").write_text(json.dumps(info | {"systems": [*before, name]}))
    write_rows(answers, folder / "answers.jsonl")
    queries = read_rows(folder / "queries.jsonl").table
    write_rows(queries.assign(query=queries["query"] + " Why?"), folder / "queries.jsonl")
    run_on(boards, 20_001)
    assert {f"{name} joined", "questions changed"} <= set(last_causes(boards))


def test_a_language_that_is_added_accuses_nobody(configure, place, run_on):
    folder = place / "arena"
    boards = configure(BOARD)
    run_on(boards, 20_000)
    info = json.loads((folder / "arena.json").read_text("utf-8"))
    (folder / "arena.json").write_text(json.dumps(info | {"languages": ["en", "ja"]}))
    for name in ("queries", "answers", "judgments"):
        path = folder / f"{name}.jsonl"
        table = read_rows(path).table
        write_rows(pd.concat([table, table.assign(language="ja")], ignore_index=True), path)
    run_on(boards, 20_001)
    assert last_causes(boards) == ("Japanese was added",)


def test_files_that_hold_the_same_are_no_cause(place, six_systems):
    old = content_digests(read_arena(place / "arena"))
    for path in (place / "arena").glob("*.jsonl"):
        path.unlink()
    write_arena(six_systems, place / "arena", ".jsonl.gz")
    assert content_digests(read_arena(place / "arena")) == old
    shuffled = replace(six_systems, answers=six_systems.answers.iloc[::-1])
    assert content_digests(shuffled) == old


def test_another_judge_is_named_and_its_verdicts_are_not_counted_against_the_first(
    configure, place, run_on
):
    path = place / "arena" / "judgments.jsonl"
    table = read_rows(path).table
    judge = table["judge"].iloc[0]
    boards = configure(BOARD)
    run_on(boards, 20_000)
    # People judge half of the pairs, and become the reference.
    votes = table.iloc[::2].assign(judge="person:Ada")
    write_rows(pd.concat([table, votes], ignore_index=True), path)
    run_on(boards, 20_001)
    causes = last_causes(boards)
    new_judge = Board.load(boards.out / "a" / "board").summary.judge
    assert f"the judge is now {new_judge}, before it was {judge}" in causes
    assert not any("fewer" in cause or cause.startswith("judge:") for cause in causes)


def test_a_board_is_compared_with_any_past_one(three, run, capsys):
    board = three.out / "a" / "board"
    past = three.out / "a" / "history"
    assert run("diff", past / "2024-10-05", board, "--json") == 0
    by_name = json.loads(capsys.readouterr().out)
    assert run("diff", board, "--json") == 0
    assert json.loads(capsys.readouterr().out) == by_name
    assert run("diff", past / "2024-10-04", past / "2024-10-05") == 0
    assert "ridge changed" in capsys.readouterr().out
    assert run("diff", past / "2024-10-09", board, "--json") == 0
    same = pd.DataFrame(json.loads(capsys.readouterr().out)["changes"])
    assert set(same["verdict"]) <= {"within noise", "not comparable"}
    assert run("diff", past / "2024-10-04") == 2
    assert "name two boards" in capsys.readouterr().err


def test_a_damaged_past_board_is_named_and_costs_readers_nothing(three, make, configure):
    folder = three.out / "a" / "history" / "2024-10-09"
    root = three.out / "_site"
    feed = (root / "feed.xml").read_bytes()
    # Another board, so that the damaged one is compared with it.
    boards = configure(SITE + "ridge = 2.0\n")
    damages = [("record.json", "{"), ("record.json", '{"entry": 3}'), ("summary.json", "{")]
    for file, content in damages:
        whole = (folder / file).read_bytes()
        (folder / file).write_text(content)
        (root / "index.html").write_text("")  # what it says of the last damage is no evidence
        outcomes = make(boards)
        assert f"2024-10-09/{file}" in outcomes["a"].error
        assert f"remove the folder {folder}" in outcomes["a"].error
        assert "build the board again" not in outcomes["a"].error
        assert (root / "feed.xml").read_bytes() == feed
        assert "could not be brought up to date" in (root / "index.html").read_text("utf-8")
        (folder / file).write_bytes(whole)


@pytest.mark.slow
def test_without_a_damaged_past_board_the_site_is_made_again(three, make, configure):
    past = three.out / "a" / "history"
    folder = past / "2024-10-09"
    (folder / "record.json").write_text("{")
    boards = configure(SITE + "ridge = 2.0\n")
    assert make(boards)["a"].state == "failed"
    shutil.rmtree(folder)
    assert make(boards)["a"].state == "made"
    names = [record.entry.name for record in read_history(past)]
    assert names[:2] == ["2024-10-04", "2024-10-05"]


@pytest.mark.slow
def test_a_new_board_takes_no_name_of_one_that_is_kept(configure, run_on):
    for ridge in (1.0, 2.0, 3.0):
        boards = configure(f"{BOARD}ridge = {ridge}\n")
        run_on(boards, 20_000)
    past = boards.out / "a" / "history"
    shutil.rmtree(past / "2024-10-04-2")
    run_on(configure(f"{BOARD}ridge = 4.0\n"), 20_000)
    names = [record.entry.name for record in read_history(past)]
    assert names == ["2024-10-04", "2024-10-04-3", "2024-10-04-4"]


@pytest.mark.slow
def test_a_clock_that_was_set_back_keeps_the_order(configure, run_on):
    run_on(configure(BOARD), 20_000)
    boards = configure(BOARD + "ridge = 4.0\n")
    run_on(boards, 10_000)
    names = [record.entry.name for record in read_history(boards.out / "a" / "history")]
    assert names == ["2024-10-04", "2024-10-04-2"]


def test_the_date_may_be_fixed(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert now().date() == datetime.date(1970, 1, 1)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "now")
    with pytest.raises(ValueError, match="seconds since 1970"):
        now()


def test_news_say_who_leads_entered_and_passed_whom():
    old = {"a": (1.0, 2.0), "b": (2.0, 1.0), "c": (3.0, 0.0), "gone": (4.0, -1.0)}
    new = {"a": (2.0, 1.0), "b": (3.0, 0.5), "c": (1.0, 2.0), "d": (None, None)}
    assert list(news_of(old, new, has_same_languages=True)) == [
        "First place: c, before it was a",
        "d entered, predicted",
        "1 system left",
        "c passed a and b, from rank 3 to 1",
    ]
    # Ranks over other languages tell of no passing.
    assert list(news_of(old, old, has_same_languages=False)) == ["First place unchanged"]


def overall_of(folder):
    table = pd.read_csv(folder / "overall.csv", keep_default_na=False, na_values=[""])
    return table.set_index("system")


def news_again(before, after):
    """Names and numbers of all news, from the tables of two boards, read as they lie there."""
    leaders = [sorted(table.index[table["rank"] == 1]) for table in (after, before)]
    yield [] if leaders[0] == leaders[1] else [*leaders[0], *leaders[1]], []
    for system in sorted(set(after.index) - set(before.index)):
        yield [system], after.loc[[system], "rank"].dropna().tolist()
    both = after.index.intersection(before.index)
    old, new = before.loc[both, "rank"], after.loc[both, "rank"]
    for system in sorted(both[old.isna() & new.notna()]):
        yield [system], [new[system]]
    if len(before) > len(both):
        yield [], [len(before) - len(both)]
    for system in new.dropna().sort_values(kind="stable").index:
        passed = new.index[(old < old[system]) & (new > new[system])]
        if len(passed):
            ranks = list(dict.fromkeys([old[system], new[system]]))
            yield [system, *passed[new[passed].argsort()]], ranks


@pytest.mark.slow
def test_news_are_computed_again_from_the_tables_of_two_dates(configure, place, run_on):
    path = place / "arena" / "judgments.jsonl"
    table = read_rows(path).table
    boards = configure(SITE)
    # The second board lacks a system's verdicts; in the third all verdicts are turned round.
    lost = table["system_a"].iloc[0]
    run_on(boards, 20_000)
    write_rows(table[(table[["system_a", "system_b"]] != lost).all(axis=1)], path)
    run_on(boards, 20_001)
    turned = table["winner"].replace({"a": "b", "b": "a"})
    write_rows(table.assign(winner=turned), path)
    run_on(boards, 20_002)
    past = boards.out / "a" / "history"
    entries = [record.entry for record in read_history(past)]
    for old, new in itertools.pairwise(entries):
        before, after = overall_of(past / old.name), overall_of(past / new.name)
        systems = sorted({*before.index, *after.index}, key=len, reverse=True)
        told = []
        for sentence in new.news:
            names = re.findall("|".join(map(re.escape, systems)), sentence)
            told.append((names, list(map(int, re.findall(r"\d+", without(sentence, systems))))))
        assert told == list(news_again(before, after))
        n_judgments = []
        for entry in (old, new):
            wins = pd.read_csv(past / entry.name / "win_matrix.csv")[["wins", "losses", "ties"]]
            n_judgments.append(wins.to_numpy().sum() // 2)
        assert re.match(r"\d+", new.causes[0])[0] == str(abs(n_judgments[1] - n_judgments[0]))
        changes = after["mean_rating"] - before["mean_rating"]
        for move in new.moves:
            ranks = before["rank"].get(move.system), after["rank"].get(move.system)
            assert (move.rank_old, move.rank_new) == ranks
            change = changes[move.system]
            assert move.rating_change == pytest.approx(change, abs=1e-5)
        remarks = pd.read_csv(past / new.name / "remarks.csv", keep_default_na=False)
        assert without(new.conclusion, set(remarks["sentence"])) == ""


def test_moves_are_said_in_words():
    up = Move(system="x", rank_old=3, rank_new=1, rating_change=0.5, p_value=0.0001)
    assert up.sentence == "x moved up, from rank 3 to 1 (rating by 0.50, p below 0.001)"
    down = Move(system="x", rank_old=3, rank_new=3, rating_change=-0.5, p_value=0.04)
    assert down.sentence == "x moved down, rank 3 (rating by −0.50, p 0.040)"


@given(st.lists(st.one_of(st.none(), st.integers(1, 300)), min_size=1, max_size=8))
def test_a_line_keeps_to_its_place_and_breaks_where_there_is_no_rank(ranks):
    columns = [index / max(len(ranks) - 1, 1) for index in range(len(ranks))]
    last_rank = max([rank for rank in ranks if rank is not None], default=1)
    line = drawn(ranks, columns, last_rank, [False] * len(ranks))
    assert len(line.points) == sum(rank is not None for rank in ranks)
    for x, y, _, _ in line.points:
        assert MARGIN <= x <= WIDTH - MARGIN
        assert MARGIN <= y <= HEIGHT - MARGIN
    joined = [pair for pair in itertools.pairwise(ranks) if None not in pair]
    assert len(line.paths) == len(joined)


@given(st.lists(st.integers(1, 28), min_size=1, max_size=12).map(sorted))
def test_boards_lie_in_the_order_of_their_days(days):
    columns = places([entry(day) for day in days])
    assert columns == sorted(columns)
    assert columns[-1] == 1
    assert min(columns) >= 0
    if len(set(days)) == len(days) > 1:
        span = days[-1] - days[0]
        assert columns == pytest.approx([(day - days[0]) / span for day in days])


def test_systems_that_are_gone_stay_in_the_past():
    entries = [
        entry(1, {"x": (1, 0.5), "gone": (2, -0.5)}),
        entry(2, {"new": (1, 0.4), "x": (2, -0.4)}),
    ]
    view = history_view(entries, ["new", "x"])
    assert [row["system"] for row in view["rows"]] == ["new", "x", "(removed system)"]
    assert view["rows"][2]["cells"] == [(None, None), (2, -0.5)]
    assert view["rows"][1]["ranks"].text == "1, 2"


def feed_of(text):
    return etree.fromstring(text.encode(), etree.XMLParser(resolve_entities=False))


def required_by_rfc_4287(feed):
    """Check the elements that RFC 4287 requires, sections 4.1.1 and 4.1.2."""
    for parent in (feed, *feed.findall(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            assert len(parent.findall(ATOM + name)) == 1
            assert parent.findtext(ATOM + name).strip()
        moment = datetime.datetime.fromisoformat(parent.findtext(f"{ATOM}updated"))
        assert moment.tzinfo is not None
        assert parent.findtext(f"{ATOM}id").startswith("urn:uuid:")
        links = [(link.get("rel"), link.get("type")) for link in parent.findall(f"{ATOM}link")]
        assert len(set(links)) == len(links)
    assert feed.tag == f"{ATOM}feed"
    # One author of the feed is the author of every entry.
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    ids = [item.findtext(f"{ATOM}id") for item in (feed, *feed.findall(f"{ATOM}entry"))]
    assert len(set(ids)) == len(ids)
    for item in feed.findall(f"{ATOM}entry"):
        content = item.find(f"{ATOM}content")
        assert content.get("type") == "xhtml"
        (division,) = content
        assert division.tag == "{http://www.w3.org/1999/xhtml}div"


@pytest.mark.slow
def test_the_feed_of_a_run_has_a_change_each(three, configure, run_on):
    path = three.out / "_site" / "feed.xml"
    feed = feed_of(path.read_text("utf-8"))
    required_by_rfc_4287(feed)
    entries = feed.findall(f"{ATOM}entry")
    assert [item.findtext(f"{ATOM}updated")[:10] for item in entries] == [
        *("2024-10-09", "2024-10-05", "2024-10-04"),
    ]
    assert "ridge: 0.1 → 4.0" in "".join(entries[1].itertext())
    assert entries[0].find(f"{ATOM}link").get("href") == "a/history.html#2024-10-09"
    ids = [item.findtext(f"{ATOM}id") for item in entries]
    run_on(configure(SITE + "ridge = 4.0\n[boards.b]\narena = 'arena'\n"), 20_010)
    later = feed_of(path.read_text("utf-8"))
    required_by_rfc_4287(later)
    assert later.findtext(f"{ATOM}id") == feed.findtext(f"{ATOM}id")
    assert [item.findtext(f"{ATOM}id") for item in later.findall(f"{ATOM}entry")][1:] == ids


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_title_and_text_gives_a_well_formed_feed(title, text):
    change = FeedEntry(
        board=f"a{title}",
        key="a 2026-01-02",
        date=datetime.date(2026, 1, 2),
        page="a/history.html#2026-01-02",
        lead=text,
        points=("]]> <b>&amp;", text),
    )
    written = atom_feed([change], title=f"t{title}", address="https://x.org", rights=text)
    feed = feed_of(written)
    required_by_rfc_4287(feed)
    links = {link.get("rel"): link.get("href") for link in feed.findall(f"{ATOM}link")}
    assert links == {
        "self": "https://x.org/feed.xml",
        "alternate": "https://x.org/index.html",
    }
    assert "]]> <b>&amp;" in "".join(feed.itertext())


def test_the_feed_keeps_the_latest_of_a_day_in_their_order():
    day = datetime.date(2026, 1, 2)
    changes = [
        FeedEntry(
            board="a",
            key=f"a 2026-01-02-{number}",
            date=day,
            page=f"a/history.html#{number}",
            lead="x",
            number=number,
        )
        for number in range(1, 61)
    ]
    entries = feed_of(atom_feed(changes[::-1], title="t")).findall(f"{ATOM}entry")
    pages = [item.find(f"{ATOM}link").get("href") for item in entries]
    assert pages == [f"a/history.html#{number}" for number in range(60, 10, -1)]


@pytest.mark.slow
def test_a_dated_board_comes_back_with_its_pages_until_something_changes(three, run_on):
    past = three.out / "a" / "history"
    first, *_, last = read_history(past)
    before = Board.load(past / first.entry.name)
    index = restore_board(three, "a", first.entry.name, three.out)
    restored = Board.load(three.out / "a" / "board")
    pd.testing.assert_frame_equal(restored.ratings, before.ratings)
    assert restored.arena_folder().resolve() == three.boards[0].arena.resolve()
    *kept, newest = read_history(past)
    assert [record.entry.name for record in kept][-1] == last.entry.name
    assert newest.entry.causes == (f"the board of {first.entry.name} was restored",)
    assert json.loads((index.parent / "board.json").read_text("utf-8"))["title"] == "a"
    # The fix is a change of the arena or the settings: until then the board stays.
    assert run_on(three, 20_009).boards[0].state == "current"
    with pytest.raises(UsageError, match=r"unknown date of a '2020-01-01'; use one of 2024-10-04"):
        restore_board(three, "a", "2020-01-01", three.out)
    # What was withdrawn since must not come back with an old board.
    withdrawn = before.systems[1]
    set_state(three.boards[0].arena, [withdrawn], WITHDRAWN)
    with pytest.raises(UsageError, match=f"has '{withdrawn}', which is withdrawn"):
        restore_board(three, "a", first.entry.name, three.out)


@pytest.mark.slow
def test_pages_say_of_the_past_what_its_records_say(three):
    past = three.out / "a" / "history"
    with filled_in_values():
        index = restore_board(three, "a", read_history(past)[-2].entry.name, three.out)
    remarks = json.loads((index.parent / "board.json").read_text("utf-8"))["remarks"]
    said = sentences_of(remarks)
    names = {"Leaderboards", *names_on(Board.load(three.out / "a" / "board"))}
    for one in without_removed([record.entry for record in read_history(past)]):
        said |= {one.conclusion, one.counts, *one.news, *one.causes, *one.sentences}
        names |= {one.name, str(one.date), f"Board of {one.date}", "a"}
    for page in (index.parent / "history.html", index.parent.parent / "index.html"):
        assert unrecorded(page.read_text("utf-8"), said, names) == []


@pytest.mark.slow
def test_of_old_boards_the_records_stay(three, configure, run_on, monkeypatch):
    for module in (keeping, making, past_boards):
        monkeypatch.setattr(module, "WHOLE", 2)
    past = three.out / "a" / "history"
    before = [record.entry for record in read_history(past)]
    restore_board(three, "a", before[-2].name, three.out)
    records = read_history(past)
    assert [record.entry for record in records[:-1]] == before
    for record in records:
        names = {path.name for path in (past / record.entry.name).iterdir()}
        assert (names == {RECORD_FILE}) == (record in records[:-2])
    assert board_before(past / records[-1].entry.name) == past / records[-2].entry.name
    with pytest.raises(UsageError, match="was kept whole"):
        board_before(past / records[-2].entry.name)
    # Asked of it again, a killed run would shorten it again.
    restore_board(three, "a", records[-2].entry.name, three.out)
    assert [record.entry for record in read_history(past)][: len(before)] == before
    with pytest.raises(UsageError, match=f"unknown date of a '{before[0].name}'"):
        restore_board(three, "a", before[0].name, three.out)


def test_systems_that_left_are_named_nowhere():
    left = entry(
        1, {"a": (1.0, 0.0), "b": (2.0, 0.0)}, news=("a entered at rank 1",), causes=("a joined",)
    )
    now_there = entry(2, {"b": (1.0, 0.0)})
    shown_first, _ = without_removed([left, now_there])
    assert shown_first.news == ("(removed system) entered at rank 1",)
    # No other word is taken for a name.
    assert shown_first.causes == ("(removed system) joined",)
    assert shown_first.conclusion == "x leads."
    view = history_view([left, now_there], ["b"])
    assert [row["system"] for row in view["rows"]] == ["b", "(removed system)"]


def test_news_say_that_a_predicted_system_was_judged():
    old = {"a": (1.0, 0.0), "b": (None, None)}
    new = {"a": (1.0, 0.0), "b": (2.0, 0.0)}
    assert "b was judged: rank 2" in list(news_of(old, new, has_same_languages=True))
