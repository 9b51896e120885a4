"""Judging to a budget, against a server: what is asked, when it stops, and going on."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest
from chat_server import completion
from judged_systems import build_arena, shown_answers

from arena import read_arena, write_arena
from arena.data.folder import find_table_file
from arena.data.tables import read_rows, write_rows
from arena.judging import AdaptivePairs, JudgingSettings, judge_pairs
from arena.judging.judging_result import lasting_failures
from arena.llm import Budget, open_store

SYSTEMS = ("a1", "b2", "c3", "d4", "e5")
QUESTIONS = 6
ITEMS = 10 * QUESTIONS


def by_number(prompt, _):
    """The system of the higher number is better, on all questions but one."""
    one, other = shown_answers(prompt)
    is_first = one[1] > other[1]
    odd = "q5?" in prompt
    return completion(f"[[{'A' if is_first != odd else 'B'}]]", usage=(100, 5))


@pytest.fixture
def folder(tmp_path):
    write_arena(build_arena(questions=QUESTIONS, systems=SYSTEMS), tmp_path)
    return tmp_path


def ask(folder, one, budget=None, max_calls=None, prior=None, progress=None, **fields):
    """Judge as verdicts come, and write them; with what is known of the ranking then."""
    arena, calls = read_arena(folder), Budget(max_calls)
    # Each pair once, so that calls and pairs are the same number, unless a test says otherwise.
    stated = {"audit": 0.0, "until": 1e-6, **fields}
    settings = JudgingSettings(name=one.judge, budget=budget, **stated)
    pairs = AdaptivePairs(arena, settings, prior, lasting_failures(folder), calls)
    with open_store(folder / "replies.sqlite") as store:
        judging = judge_pairs(arena, one, pairs, store, budget=calls, progress=progress)
    judging.write(folder)
    return SimpleNamespace(
        judging=judging,
        reason=judging.reason,
        rounds=judging.rounds,
        languages=pairs.progress(),
        ratings=pairs.ratings(),
    )


@pytest.fixture
def run(folder, serve, judge_at):
    """Run to a budget on a server, in any folder of the arena."""
    server = serve(by_number)

    def run(budget=None, where=folder, **fields):
        return ask(where, judge_at(server), budget, **fields)

    run.server = server
    return run


def rewrite(folder, rows):
    """Keep some rows of the judgments, in an order."""
    file = find_table_file(folder, "judgments")
    write_rows(read_rows(file).table.iloc[list(rows)], file)


def asked_in(folder):
    judgments = read_arena(folder).judgments
    return list(judgments[["query_id", "system_a", "system_b", "winner"]].itertuples(index=False))


@pytest.mark.slow
def test_a_budget_is_spent_and_not_exceeded(run, folder):
    done = run(11)
    assert len(asked_in(folder)) == sum(run.server.asked.values()) == 11
    assert done.reason == "the budget of 11 calls is spent"
    assert done.languages["judged"].tolist() == [11]
    assert done.languages["open"].tolist() == [ITEMS - 11]
    summary = done.judging.summaries[0]
    assert (summary.usage.asked, summary.pairs, summary.already_judged) == (11, 11, 0)
    assert summary.usage.tokens_in == 1100
    assert done.ratings["system"].iloc[0] in ("d4", "e5")
    assert (done.ratings["low"] < done.ratings["rating"]).all()


def test_pairs_that_the_budget_has_no_room_for_stay_open(run):
    done = run(5, audit=1.0)  # two calls for each pair, so that the last one is left over
    assert sum(run.server.asked.values()) == 4
    assert done.languages["judged"].tolist() == [2]
    assert done.languages["open"].tolist() == [ITEMS - 2]


@pytest.mark.slow
@pytest.mark.parametrize(("budget", "audit"), [(1_000, 0.3), (20, 0.0)])
def test_progress_counts_towards_what_can_be_asked(run, budget, audit):
    """A budget that no run can spend is no goal."""
    steps = []
    run(budget, audit=audit, progress=lambda _, done, size: steps.append((done, size)))
    n_asked = sum(run.server.asked.values())
    assert all(done <= size <= budget for done, size in steps)
    done, size = steps[-1]
    assert done == n_asked
    assert n_asked <= size <= 1.25 * n_asked


def test_a_fault_within_a_round_is_no_end_of_the_run(folder, serve, judge_at):
    def broken(*_):
        raise StopIteration("broken")

    with pytest.raises(StopIteration, match="broken"):
        ask(folder, judge_at(serve(by_number)), 10, progress=broken)


@pytest.mark.slow
def test_a_run_that_goes_on_asks_what_one_run_would(run, folder, tmp_path_factory):
    whole = tmp_path_factory.mktemp("whole")
    write_arena(read_arena(folder), whole)
    run(14, where=whole)
    rounds = run(14, max_calls=4).rounds  # stops between rounds, as a kill would
    while run(14, max_calls=4).rounds:
        rounds += 1
    assert rounds > 2
    assert asked_in(folder) == asked_in(whole)
    again = run(14)
    assert again.rounds == 0
    assert again.judging.summaries[0].already_judged == 14


@pytest.mark.slow
def test_a_kill_within_a_round_pays_for_nothing_twice(run, folder):
    run(8)
    before = asked_in(folder)
    rewrite(folder, range(6))  # the last round of two had not been written
    calls = sum(run.server.asked.values())
    run(8)
    assert asked_in(folder) == before
    assert sum(run.server.asked.values()) == calls


@pytest.mark.slow
def test_replies_without_a_verdict_count_and_are_not_asked_again(folder, serve, judge_at):
    server = serve(lambda prompt, _: completion("Hm." if "q1?" in prompt else "[[A]]"))
    for _ in range(2):
        done = ask(folder, judge_at(server), 20)
    (row,) = done.languages.to_dict("records")
    assert row["judged"] + row["failed"] == 20 == sum(server.asked.values())
    assert row["failed"] == len(pd.read_json(folder / "failed_judgments.jsonl", lines=True)) > 0


@pytest.mark.slow
def test_identical_answers_are_ties_that_nobody_is_asked(tmp_path, serve, judge_at):
    same = {(f"q{n}", system): "same" for n in range(3) for system in ("good", "fair")}
    write_arena(build_arena(same, questions=3), tmp_path)
    server = serve(lambda *_: completion("[[A]]"))
    done = ask(tmp_path, judge_at(server), 50)
    assert done.reason == "every pair of the questions drawn is judged"
    assert done.judging.summaries[0].identical == 3
    assert sum(done.judging.summaries[0].verdicts.values()) == 9
    assert not any(one == other for one, other in map(shown_answers, server.asked))


@pytest.mark.slow
def test_it_stops_when_the_ranking_is_known(run):
    assert run(4, until=0.25).reason == "the budget of 4 calls is spent"
    done = run(until=0.25)
    assert 4 < done.languages["judged"].sum() < ITEMS
    assert (done.languages["misordered"] <= 0.25).all()
    assert run(5, until=0.25).rounds == 0


@pytest.mark.slow
def test_the_language_whose_order_is_known_least_is_asked_about(tmp_path, serve, judge_at):
    arena = build_arena(questions=QUESTIONS, languages=("en", "sw"), systems=SYSTEMS)
    write_arena(arena, tmp_path)
    prior = pd.DataFrame(
        [("sw", name, 3.0 * int(name[1]), 0.05) for name in SYSTEMS],
        columns=["language", "system", "rating", "standard_error"],
    )
    done = ask(tmp_path, judge_at(serve(by_number)), 10, until=0.01, prior=prior)
    judged = done.languages.set_index("language")["judged"]
    assert judged["sw"] == 0  # its first place is known before
    assert judged["en"] == 10
    sw = done.ratings[done.ratings["language"] == "sw"]
    assert list(sw["system"]) == sorted(SYSTEMS, reverse=True)


def test_failures_in_passing_are_asked_again(folder, serve, judge_at):
    listed = [
        {
            "query_id": query_id,
            "language": "en",
            "system_a": "a1",
            "system_b": "b2",
            "judge": "test-judge",
            "reason": "timeout",
        }
        for query_id in ("q0", "q1")
    ]
    (folder / "failed_judgments.jsonl").write_text("\n".join(map(json.dumps, listed)))
    done = ask(folder, judge_at(serve(by_number)), 10, questions=1)
    assert done.languages["failed"].tolist() == [0]
    assert done.languages["judged"].tolist() == [10]
