"""Ballots of blind pairs, and votes read back as untrusted input."""

import json
from dataclasses import replace

import pytest

from arena import Arena, ArenaInfo, DataError, UsageError
from arena.data.arena import checked_arena
from arena.data.frames import as_rows
from arena.judging import choose_pairs, collect_votes, make_ballot
from arena.judging.ballots import FORMAT, pairs_by_id

SYSTEMS = ("left-llm", "right-llm", "third-llm")


@pytest.fixture
def arena():
    import pandas as pd

    queries = pd.DataFrame(
        [(f"q{n}", "en", f"What is {n}?", []) for n in range(5)],
        columns=["query_id", "language", "query", "passages"],
    )
    answers = pd.DataFrame(
        [(f"q{n}", "en", name, f"{place} of {n}") for n in range(5)
         for place, name in enumerate(SYSTEMS)],
        columns=["query_id", "language", "system", "answer"],
    )  # fmt: skip
    none = pd.DataFrame(columns=["query_id", "language", "system_a", "system_b", "winner", "judge"])
    return Arena(
        ArenaInfo(name="small", languages=("en",), systems=SYSTEMS), queries, answers, none
    )


@pytest.fixture
def ballot(arena):
    return make_ballot(arena, choose_pairs(arena))


def written(tmp_path, made, voter="Ada", name="votes.json", **changes):
    choices = ["a", "b", "tie"]
    votes = [{"id": pair.id, "choice": choices[n % 3]} for n, pair in enumerate(made.pairs)]
    content = {"format": FORMAT, "ballot": made.id, "voter": voter, "votes": votes} | changes
    path = tmp_path / name
    path.write_text(json.dumps(content))
    return path


def test_a_ballot_names_no_system_and_its_order_is_drawn(arena, ballot):
    assert len(ballot.pairs) == 15
    shown = [(pair.comparison.answer_a, pair.comparison.answer_b) for pair in ballot.pairs]
    assert shown != sorted(shown)
    assert len({pair.id for pair in ballot.pairs}) == 15
    again = make_ballot(arena, choose_pairs(arena))
    assert again == ballot
    short = make_ballot(arena, choose_pairs(arena), most=4)
    assert (len(short.pairs), short.left_out) == (4, 11)
    assert short.id != ballot.id
    assert {pair.id for pair in ballot.pairs} <= set(pairs_by_id(arena))


def test_votes_come_back_as_judgments(arena, ballot, tmp_path):
    judgments, _ = collect_votes(arena, [written(tmp_path, ballot)])
    assert len(judgments) == 15
    assert set(judgments["judge"]) == {"person:Ada"}
    by_key = judgments.set_index(["query_id", "system_a", "system_b"])["winner"]
    for place, pair in enumerate(ballot.pairs):
        _, query_id, system_a, system_b = pair.comparison.key
        assert by_key[query_id, system_a, system_b] == ("a", "b", "tie")[place % 3]
    tables = (arena.queries, arena.answers, judgments)
    whole = checked_arena(arena.info, *(as_rows(table, "t") for table in tables))
    assert whole.judges == ("person:Ada",)


def test_a_later_file_of_a_person_counts(arena, ballot, tmp_path):
    votes = [{"id": ballot.pairs[0].id, "choice": "tie"}]
    paths = [
        written(tmp_path, ballot),
        written(tmp_path, ballot, "Bo", "bo.json"),
        written(tmp_path, ballot, name="again.json", votes=votes),
    ]
    judgments, replaced = collect_votes(arena, paths)
    assert (len(judgments), replaced) == (30, 1)
    assert judgments["judge"].value_counts().to_dict() == {"person:Ada": 15, "person:Bo": 15}
    first = judgments.iloc[0]
    assert (first["judge"], first["winner"]) == ("person:Ada", "tie")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"voter": "x" * 81}, "voter"),
        ({"voter": "A\u202eda"}, "printable characters"),
        ({"format": "votes"}, "format"),
        ({"extra": 1}, "extra"),
        ({"votes": [{"id": "0" * 20, "choice": "a"}]}, "is not a pair of this arena"),
        ({"votes": [{"id": "0" * 20, "choice": "a"}] * 1001}, "votes"),
    ],
)
def test_what_is_no_vote_is_refused_with_file_and_field(arena, ballot, tmp_path, changes, fault):
    path = written(tmp_path, ballot, **changes)
    with pytest.raises(DataError, match=r"votes\.json") as error:
        collect_votes(arena, [path])
    assert fault in str(error.value)


def test_votes_on_answers_that_changed_are_refused(arena, ballot, tmp_path):
    path = written(tmp_path, ballot)
    changed = arena.answers.assign(answer=arena.answers["answer"] + "!")
    other = Arena(arena.info, arena.queries, changed, arena.judgments)
    with pytest.raises(DataError, match="15 problems"):
        collect_votes(other, [path])


def test_a_ballot_needs_a_pair(arena):
    same = Arena(arena.info, arena.queries, arena.answers.assign(answer="one"), arena.judgments)
    with pytest.raises(UsageError, match="no pair of answers that differ"):
        make_ballot(same, choose_pairs(same))


def test_a_voter_is_the_judge_of_the_same_name_in_any_form(arena, ballot, tmp_path):
    path = written(tmp_path, ballot, voter="Jose\u0301")
    table, _ = collect_votes(arena, [path])
    assert set(table["judge"]) == {"person:Jos\u00e9"}
    typed = replace(arena, judgments=table.assign(judge="person:Jose\u0301"))
    for voter in ("Jos\u00e9", "Jose\u0301"):
        again, _ = collect_votes(typed, [written(tmp_path, ballot, voter=voter)])
        assert set(again["judge"]) == {"person:Jose\u0301"}
