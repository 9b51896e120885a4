"""Judging by settings alone: who judges, which pairs, where replies are kept."""

import pytest
from chat_server import completion
from judged_systems import better, build_arena

from arena import UsageError
from arena.judging import JudgingSettings, judge
from arena.llm import open_store


def honest(prompt, _):
    return completion(f"[[{better(prompt)}]]")


def settings_for(server, **fields):
    return JudgingSettings(model="test-judge", base_url=server.url, api_key_env=None, **fields)


def test_settings_and_the_path_of_a_store_are_enough(serve, tmp_path):
    server = serve(honest)
    arena = build_arena()
    judging = judge(arena, settings_for(server), tmp_path / "replies.sqlite")
    assert set(judging.judgments["judge"]) == {"test-judge"}
    assert judging.pairs.both_orders
    assert len(judging.judgments) == sum(server.asked.values()) == 24
    # An open store does as well, and what is in it is not asked again.
    with open_store(tmp_path / "replies.sqlite") as store:
        again = judge(arena, settings_for(server), store)
    assert sum(server.asked.values()) == 24
    assert again.judgments.equals(judging.judgments)


def test_a_panel_has_a_verdict_of_its_own(serve, store):
    settings = settings_for(serve(honest), panel=("second", "third"), name="first")
    judging = judge(build_arena(questions=1), settings, store)
    judges = [summary.judge for summary in judging.summaries]
    assert judges == ["first", "second", "third"]
    assert judging.panel is not None
    assert set(judging.panel.judgments["judge"]) == {settings.judge}


def test_adaptive_pairs_come_with_ratings_and_a_reason(serve, store):
    settings = settings_for(serve(honest), pairs="adaptive", budget=5)
    judging = judge(build_arena(), settings, store)
    assert len(judging.judgments) == 5
    assert judging.ratings["system"].iloc[0] == "good"
    assert list(judging.progress["judged"]) == [5]
    assert "budget" in judging.reason


def test_calls_are_limited_by_the_settings(serve, store):
    server = serve(honest)
    judging = judge(build_arena(), settings_for(server, max_calls=3), store)
    assert sum(server.asked.values()) == 3
    assert judging.usage.failures == {"over_budget": 21}


def test_progress_of_adaptive_pairs_counts_towards_one_total(serve, store):
    steps = []
    settings = settings_for(serve(honest), pairs="adaptive", budget=6)
    judge(build_arena(), settings, store, progress=lambda *step: steps.append(step))
    assert {n_planned for _, _, n_planned in steps} == {6}
    assert [n_done for _, n_done, _ in steps] == sorted(n_done for _, n_done, _ in steps)


@pytest.mark.parametrize(
    "fields", [{"budget": 5}, {"pairs": "adaptive"}, {"form": "listwise", "both_orders": True}]
)
def test_settings_that_contradict_each_other_leave_no_store(fields, serve, tmp_path):
    path = tmp_path / "replies.sqlite"
    with pytest.raises(UsageError):
        judge(build_arena(), settings_for(serve(honest), **fields), path)
    assert not path.exists()


def test_without_a_key_no_store_is_made(monkeypatch, tmp_path):
    monkeypatch.delenv("ABSENT_KEY", raising=False)
    settings = JudgingSettings(
        model="m", base_url="http://example.org/v1", api_key_env="ABSENT_KEY"
    )
    path = tmp_path / "replies.sqlite"
    with pytest.raises(UsageError, match="ABSENT_KEY"):
        judge(build_arena(), settings, path)
    assert not path.exists()
