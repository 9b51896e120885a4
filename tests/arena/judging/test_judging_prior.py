"""What judging expects of the systems before the first verdict."""

from dataclasses import replace

import pandas as pd
import pytest
from chat_server import ChatServer, completion
from judged_systems import build_arena

from arena import write_arena
from arena.judging import JudgingSettings, judge_arena
from surrogate import build_board, judge
from surrogate.ranking import judging_prior
from surrogate.ranking.prior import expected_systems

KEYS = ["language", "system"]


@pytest.fixture(scope="module")
def unjudged(small_arena):
    return replace(small_arena, judgments=small_arena.judgments.iloc[:0])


@pytest.fixture(scope="module")
def chat(unjudged):
    empty = pd.Series([[] for _ in range(len(unjudged.queries))], dtype=object)
    return replace(unjudged, queries=unjudged.queries.assign(passages=empty))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unjudged", "chat"])
def test_the_prior_is_that_of_a_first_board_of_the_same_questions(name, request):
    arena = request.getfixturevalue(name)
    prior = judging_prior(arena, JudgingSettings(model="m", questions=10_000))
    expected = expected_systems(build_board(arena), arena)
    prior, expected = (table.sort_values(KEYS, ignore_index=True) for table in (prior, expected))
    # A board's ratings are rounded.
    pd.testing.assert_frame_equal(prior, expected, rtol=0.0, atol=1e-5)


@pytest.mark.slow
def test_judge_starts_from_the_prior_of_the_command(tmp_path):
    pytest.importorskip("openai", reason="needs the extra llm")
    arena = build_arena(questions=8)
    texts = {"good": "A full answer, with reasons for it. " * 3, "fair": "An answer.", "poor": "No"}
    numbers = arena.answers["query_id"].str[1:]
    arena = replace(
        arena, answers=arena.answers.assign(answer=arena.answers["system"].map(texts) + numbers)
    )
    with ChatServer(lambda *_: completion("[[A]]")) as server:
        settings = JudgingSettings(model="m", base_url=server.url, api_key_env=None, budget=3)
        prior = judging_prior(arena, settings)
        write_arena(arena, tmp_path / "arena")
        by_default = judge(tmp_path / "arena", settings, tmp_path / "1.sqlite")
        stated = judge_arena(arena, settings, tmp_path / "2.sqlite", prior=prior)
        flat = judge(arena, settings, tmp_path / "3.sqlite", prior=prior.iloc[:0])
    pd.testing.assert_frame_equal(by_default.ratings, stated.ratings)
    assert not by_default.ratings.equals(flat.ratings)
    assert repr(by_default) == "<Judging by m: 3 new verdicts>"
