"""Who is shown which pair when several people vote at the same time."""

from collections import Counter
from dataclasses import replace

import pytest
from simulations import simulated_part

from arena import UsageError, read_arena
from arena.judging.ballots import NamedVote
from arena.judging.choosing.drawn_pairs import pairs_for_people
from surrogate_arena.voting.voting import HELD_S, MOST_VOTERS, OVERLAP, Voting


@pytest.fixture(scope="module")
def arena():
    return simulated_part(range(5), ["ar", "en"], questions=6).arena


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def opened(folder, clock=None):
    return Voting(read_arena(folder), folder, clock or Clock())


def judge(voting, name, count, choice="a"):
    ids = []
    for _ in range(count):
        pair = voting.next_pair(name, voting.languages)
        voting.cast(NamedVote(id=pair.id, choice=choice, voter=name))
        ids.append(pair.id)
    return ids


def test_people_share_every_fifth_pair_and_no_other(folder):
    voting = opened(folder)
    judge(voting, "Ada", 4 * OVERLAP)
    of_bo = judge(voting, "Bo", 4 * OVERLAP)
    of_ada = set(voting._voters["person:Ada"].choices)
    is_shared = [pair in of_ada for pair in of_bo]
    assert is_shared == [place % OVERLAP == 0 for place in range(1, 4 * OVERLAP + 1)]
    assert voting.n_votes == 8 * OVERLAP


def test_twins_of_voters_judges_and_systems_are_refused(folder):
    voting = opened(folder)
    judge(voting, "Ann", 2)
    assert voting.n_judged("Ann") == 2
    arena = read_arena(folder)
    machine = next(name for name in arena.judges if not name.startswith("person:"))
    system = arena.info.systems[0]
    twins = ["\u0410nn", "ANN", "ann", "A\uff4en"]
    for name in (*twins, machine, machine.upper(), system, system.upper()):
        for use in (voting.next_pair, lambda name, _: judge(voting, name, 1)):
            with pytest.raises(UsageError, match="may be taken for") as caught:
                use(name, voting.languages)
        assert "Ann" not in str(caught.value)
    # Those of the file, too, once the server is started again.
    voting = opened(folder)
    with pytest.raises(UsageError, match="write your name as before"):
        voting.next_pair("ANN", voting.languages)
    assert voting.n_judged("Ann") == 2
    judge(voting, "Ann", 1)
    judge(voting, "Anna", 1)


def test_two_who_look_at_the_same_time_see_different_pairs_until_one_leaves(folder):
    clock = Clock()
    voting = opened(folder, clock)
    of_ada = voting.next_pair("Ada", voting.languages).id
    assert voting.next_pair("Ada", voting.languages).id == of_ada
    of_bo = voting.next_pair("Bo", voting.languages).id
    assert of_bo != of_ada
    clock.now = HELD_S + 1
    assert voting.next_pair("Cy", voting.languages).id == of_ada


def test_a_server_that_starts_again_goes_on_where_it_was(folder):
    voting = opened(folder)
    ids = judge(voting, "Ada", 7, "tie")
    voting.cast(NamedVote(id=ids[0], choice="b", voter="Ada"))
    again = opened(folder)
    assert again.n_judged("Ada") == again.n_votes == 7
    assert again.next_pair("Ada", again.languages).id not in ids
    assert again.next_pair("Ada", again.languages) == voting.next_pair("Ada", voting.languages)
    winners = read_arena(folder).judged_by("person:Ada").judgments["winner"]
    assert Counter(winners) == {"tie": 6, "b": 1}


def test_nobody_is_shown_a_pair_twice_and_all_are_shown(folder):
    voting = opened(folder)
    seen = []
    skipped = None
    while (pair := voting.next_pair("Ada", ["en"], skipped)) is not None:
        seen.append(pair)
        skipped = None
        if len(seen) % 3:
            voting.cast(NamedVote(id=pair.id, choice="b", voter="Ada"))
        else:
            skipped = pair.id
    keys = {pair.comparison.key for pair in seen}
    assert len(keys) == len(seen) > 30
    assert {key[0] for key in keys} == {"en"}
    assert voting.next_pair("Ada", ["ar"]).comparison.key[0] == "ar"
    assert voting.next_pair("Bo", ["en"]) is not None


def test_the_same_vote_again_is_not_written_again(folder):
    voting = opened(folder)
    (pair,) = judge(voting, "Ada", 1)
    size = (folder / "votes.jsonl").stat().st_size
    voting.cast(NamedVote(id=pair, choice="a", voter="Ada"))
    assert (folder / "votes.jsonl").stat().st_size == size


def test_many_votes_move_into_the_judgments(folder, monkeypatch):
    from surrogate_arena.voting import voting as module

    monkeypatch.setattr(module, "MOST_VOTE_BYTES", 500)
    voting = opened(folder)
    judge(voting, "Ada", 20)
    path = folder / "votes.jsonl"
    assert not path.exists() or path.stat().st_size <= 500
    assert len(read_arena(folder).judged_by("person:Ada").judgments) == 20


def test_names_are_bounded_and_pairs_are_those_of_the_arena(folder):
    voting = opened(folder)
    with pytest.raises(UsageError, match="not judged here"):
        voting.cast(NamedVote(id="0" * 20, choice="a", voter="Ada"))
    for number in range(MOST_VOTERS):
        voting.next_pair(f"voter {number}", ["en"])
    with pytest.raises(UsageError, match="people have voted"):
        voting.next_pair("one more", ["en"])


def test_people_are_asked_about_pairs_that_machines_judged(arena):
    judged = arena.judgments[arena.judgments["query_id"].isin(arena.queries["query_id"][:3])]
    chosen = pairs_for_people(replace(arena, judgments=judged))
    keys = ["query_id", "system_a", "system_b"]
    asked = {(row[0], frozenset(row[1:])) for row in chosen.table[keys].itertuples(index=False)}
    known = {(row[0], frozenset(row[1:])) for row in judged[keys].itertuples(index=False)}
    languages = set(judged["language"])
    in_judged = chosen.table["language"].isin(languages)
    rows = chosen.table.loc[in_judged, keys].itertuples(index=False)
    assert {(row[0], frozenset(row[1:])) for row in rows} <= known
    assert set(chosen.table["language"]) == {"ar", "en"}
    unjudged = pairs_for_people(replace(arena, judgments=arena.judgments[:0]))
    assert len(unjudged.table) > len(asked)


def test_who_is_shown_what_does_not_depend_on_names_of_systems(arena):
    renamed = {name: f"s{number}" for number, name in enumerate(arena.info.systems[::-1])}
    # Names decide between equal answers alone.
    texts = [f"{text} {row}" for row, text in enumerate(arena.answers["answer"])]
    arena = replace(arena, answers=arena.answers.assign(answer=texts))
    info = arena.info.model_copy(update={"systems": tuple(sorted(renamed.values()))})
    columns = ["system", "system_a", "system_b"]
    other = replace(
        arena,
        info=info,
        answers=arena.answers.replace({"system": renamed}),
        judgments=arena.judgments.replace(dict.fromkeys(columns, renamed)),
    )
    pairs = pairs_for_people(arena).table.replace(dict.fromkeys(columns, renamed))
    assert pairs.to_numpy().tolist() == pairs_for_people(other).table.to_numpy().tolist()
