"""Votes as they are cast: a file that is only appended to, and what a crash leaves of it."""

import json
import multiprocessing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulations import simulated_part

from arena import DataError, UsageError, read_arena, write_arena
from arena.data.folder import VOTES_FILE, read_votes
from arena.judging.appending import append_rows, settle_votes
from surrogate_arena.voting.vote_file import append_vote


@pytest.fixture(scope="module")
def arena():
    return simulated_part(range(4), ["en"], questions=3).arena


def vote_on(arena, row, winner="a", judge="person:Ada"):
    pair = arena.judgments.iloc[row]
    keys = ["query_id", "language", "system_a", "system_b"]
    return {**pair[keys].to_dict(), "winner": winner, "judge": judge}


def votes_in(folder):
    judged = read_arena(folder).judgments
    keys = ["judge", "query_id", "system_a", "system_b"]
    people = judged[judged["judge"].str.startswith("person:")]
    return {tuple(row[key] for key in keys): row["winner"] for _, row in people.iterrows()}


def test_a_vote_counts_at_once_and_the_last_one_on_a_pair_counts(arena, folder):
    n_before = len(read_arena(folder).judgments)
    append_vote(folder, vote_on(arena, 0))
    append_vote(folder, vote_on(arena, 1, "b"))
    append_vote(folder, vote_on(arena, 0, "tie"))
    append_vote(folder, vote_on(arena, 0, judge="person:Bo"))
    assert list(votes_in(folder).values()) == ["b", "tie", "a"]
    assert len(read_arena(folder).judgments) == n_before + 3
    assert read_arena(folder, is_judged=False).judgments.empty
    one_question = arena.queries.iloc[:1]
    judged = read_arena(folder, one_question).judgments
    assert set(judged["query_id"]) <= set(one_question["query_id"])


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".parquet"])
def test_whoever_adds_judgments_settles_the_votes(arena, tmp_path, suffix):
    folder = tmp_path / "arena"
    write_arena(arena, folder, suffix)
    append_vote(folder, vote_on(arena, 0, "tie"))
    later = read_arena(folder).judgments.iloc[-1:].assign(winner="b")
    append_rows(folder, "judgments", later, replacing=True)
    assert not (folder / VOTES_FILE).exists()
    assert list(votes_in(folder).values()) == ["b"]
    append_vote(folder, vote_on(arena, 0, "a"))
    settle_votes(folder)
    assert not (folder / VOTES_FILE).exists()
    assert list(votes_in(folder).values()) == ["a"]
    assert len(read_arena(folder).judgments) == len(arena.judgments) + 1


def test_an_arena_that_is_written_has_no_votes_of_a_former_one(arena, folder):
    append_vote(folder, vote_on(arena, 0))
    read = read_arena(folder)
    write_arena(read, folder)
    assert not (folder / VOTES_FILE).exists()
    assert len(read_arena(folder).judgments) == len(read.judgments) == len(arena.judgments) + 1
    (folder / VOTES_FILE).write_text("{}\n")
    write_arena(arena, folder)
    assert len(read_arena(folder).judgments) == len(arena.judgments)


@given(cut=st.integers(0, 10_000))
def test_what_a_crash_leaves_is_a_beginning_of_the_votes(arena, tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("torn")
    lines = [
        json.dumps(vote_on(arena, row, judge="person:Zoë"), ensure_ascii=False) for row in range(3)
    ]
    content = "".join(f"{line}\n" for line in lines).encode()
    torn = content[: cut % (len(content) + 1)]
    (folder / VOTES_FILE).write_bytes(torn)
    n_whole = torn.count(b"\n")
    rows = read_votes(folder)
    assert (0 if rows is None else len(rows.table)) == n_whole
    append_vote(folder, vote_on(arena, 5, judge="person:Zoë"))
    assert len(read_votes(folder).table) == n_whole + 1
    assert (folder / VOTES_FILE).read_bytes().startswith(content[: torn.rfind(b"\n") + 1])


def test_damaged_votes_are_an_error_with_their_place(arena, folder):
    append_vote(folder, vote_on(arena, 0))
    with (folder / VOTES_FILE).open("a") as stream:
        stream.write('{"winner": [1]}\n{"torn\n')
    with pytest.raises(DataError) as caught:
        read_arena(folder)
    assert {problem.line for problem in caught.value.problems} == {2, 3}
    assert {problem.source for problem in caught.value.problems} == {VOTES_FILE}
    (folder / VOTES_FILE).unlink()
    append_vote(folder, vote_on(arena, 0) | {"system_a": "nobody"})
    with pytest.raises(DataError, match=r"votes.jsonl:1: system_a = 'nobody'"):
        read_arena(folder)
    (folder / VOTES_FILE).unlink()
    (folder / VOTES_FILE).mkdir()
    with pytest.raises(UsageError, match="is no file"):
        append_vote(folder, vote_on(arena, 0))


@pytest.mark.parametrize("judge", ["person:\u3164", "person:Jose\u0301"])
def test_a_name_that_is_refused_is_shown_where_it_was_voted(arena, folder, judge):
    append_vote(folder, vote_on(arena, 0, judge="person:Jos\u00e9"))
    append_vote(folder, vote_on(arena, 1, judge=judge))
    with pytest.raises(DataError) as error:
        read_arena(folder)
    (problem,) = error.value.problems
    assert (problem.source, problem.line, problem.field) == (VOTES_FILE, 2, "judge")


def cast(folder, judgments):
    for judgment in judgments:
        append_vote(folder, judgment)


@pytest.mark.slow
def test_processes_that_vote_and_judge_at_once_lose_nothing(arena, folder):
    context = multiprocessing.get_context("spawn")
    rows = range(10)
    voters = []
    for name in ("Ada", "Bo"):
        judgments = [vote_on(arena, row, judge=f"person:{name}") for row in rows]
        voters.append(context.Process(target=cast, args=(folder, judgments)))
    for voter in voters:
        voter.start()
    for row in rows:
        added = arena.judgments.iloc[[row]].assign(judge="late-llm")
        append_rows(folder, "judgments", added)
    for voter in voters:
        voter.join()
    judged = read_arena(folder).judgments["judge"].value_counts()
    assert [judged[name] for name in ("person:Ada", "person:Bo", "late-llm")] == [10, 10, 10]
    votes = read_votes(folder)
    lines = [] if votes is None else (folder / VOTES_FILE).read_text().splitlines()
    assert all(json.loads(line)["winner"] == "a" for line in lines)
