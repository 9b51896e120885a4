"""Verdicts know the answers that they were given on, and do not count once these are edited."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import Arena, read_arena, write_arena
from arena.data.answer_digests import outdated_flags, with_digests
from arena.data.folder import ARENA_SUFFIXES
from arena.data.schema import DIGESTS

SYSTEMS = ("x", "y", "z")
QUESTIONS = ("q0", "q1")


def answer_table(texts):
    keys = [(question, system) for question in QUESTIONS for system in SYSTEMS]
    rows = [(q, "en", s, text) for (q, s), text in zip(keys, texts, strict=True)]
    return pd.DataFrame(rows, columns=["query_id", "language", "system", "answer"])


def judgment_table(judge="gpt"):
    rows = [(q, "en", a, b, "a", judge) for q in QUESTIONS for a, b in permutations(SYSTEMS, 2)]
    return pd.DataFrame(
        rows, columns=["query_id", "language", "system_a", "system_b", "winner", "judge"]
    )


def arena_of(texts, judgments):
    questions = pd.DataFrame({"query_id": QUESTIONS, "query": ["Why?", "How?"], "language": "en"})
    return Arena.from_frames(questions, answer_table(texts), judgments)


TEXTS = st.lists(st.text(alphabet="ab \n", max_size=4), min_size=6, max_size=6)


@pytest.mark.slow
@given(before=TEXTS, after=TEXTS, order=st.permutations(range(12)))
def test_exactly_the_verdicts_on_edited_answers_are_outdated(before, after, order):
    judged = with_digests(judgment_table(), answer_table(before)).iloc[order]
    now = answer_table(after)
    edited = {
        (row.query_id, row.system)
        for row, text in zip(now.itertuples(), before, strict=True)
        if row.answer.strip() != text.strip()
    }
    expected = [
        (row.query_id, row.system_a) in edited or (row.query_id, row.system_b) in edited
        for row in judged.itertuples()
    ]
    assert outdated_flags(judged, now).tolist() == expected
    mirrored = judged.rename(
        columns={"system_a": "system_b", "system_b": "system_a", **dict([DIGESTS, DIGESTS[::-1]])}
    )
    assert outdated_flags(mirrored, now).tolist() == expected


def test_verdicts_without_digests_and_on_absent_answers_count():
    answers = answer_table("abcdef")
    judged = with_digests(judgment_table(), answers)
    is_of_x = judged[["system_a", "system_b"]].eq("x").any(axis=1)
    absent = answers[answers["system"] != "x"].assign(answer="other")
    assert outdated_flags(judged, absent)[~is_of_x].all()
    # Of a pair with an absent answer the other one is compared all the same.
    assert outdated_flags(judged, answers[answers["system"] != "x"]).sum() == 0
    assert not outdated_flags(judgment_table(), absent).any()
    unknown = judged.assign(**dict.fromkeys(DIGESTS, None))
    assert not outdated_flags(unknown, absent).any()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [*ARENA_SUFFIXES])
def test_outdated_verdicts_stay_in_the_file_and_do_not_count(suffix, tmp_path):
    texts = ["one", "two", "three", "four", "five", "six"]
    arena = arena_of(texts, judgment_table())
    judged = with_digests(arena.judgments, arena.answers)
    write_arena(replace(arena, judgments=judged), tmp_path, suffix)
    assert len(read_arena(tmp_path).outdated) == 0

    (tmp_path / f"answers{suffix}").unlink()
    edited = arena_of(["ONE", *texts[1:]], judgment_table())
    write_arena(replace(edited, judgments=judged), tmp_path, suffix)
    read = read_arena(tmp_path)
    is_on_x = np.isin(read.outdated[["system_a", "system_b"]], "x").any(axis=1)
    assert (len(read.judgments), len(read.outdated)) == (8, 4)
    assert is_on_x.all()
    assert set(read.outdated["query_id"]) == {"q0"}


def test_parts_of_an_arena_have_their_outdated_verdicts_alone():
    judgments = pd.concat([judgment_table("gpt"), judgment_table("person:ann")])
    judged = with_digests(judgments, answer_table("abcdef"))
    arena = arena_of("Abcdef", judged)
    assert len(arena.outdated) == 8
    assert set(arena.judged_by("gpt").outdated["judge"]) == {"gpt"}
    assert len(arena.select(systems=["y", "z"]).outdated) == 0
    assert len(arena.select(systems=["x", "z"]).outdated) == 4
