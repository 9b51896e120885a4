"""Judging by settings alone: who judges, which pairs, where replies are kept."""

from dataclasses import replace

import pytest
from chat_server import completion
from judged_systems import better, build_arena

from arena import UsageError, read_arena, write_arena
from arena.judging import JudgingSettings, judge, questions_to_judge
from arena.llm import Price, open_store


def honest(prompt, _):
    return completion(f"[[{better(prompt)}]]")


def settings_for(server, **fields):
    return JudgingSettings(model="test-judge", base_url=server.url, api_key_env=None, **fields)


@pytest.mark.slow
def test_settings_and_the_path_of_a_store_are_enough(serve, tmp_path):
    server = serve(honest)
    arena = build_arena()
    judging = judge(arena, settings_for(server), tmp_path / "replies.sqlite")
    assert set(judging.judgments["judge"]) == {"test-judge"}
    assert judging.pairs.adaptive
    n_calls = sum(server.asked.values())
    assert len(judging.judgments) == n_calls > 3
    assert judging.reason
    # An open store does as well, and what is in it is not asked again.
    with open_store(tmp_path / "replies.sqlite") as store:
        again = judge(arena, settings_for(server), store)
    assert sum(server.asked.values()) == n_calls
    assert again.judgments.equals(judging.judgments)


@pytest.mark.slow
def test_a_panel_has_a_verdict_of_its_own(serve, store):
    settings = settings_for(serve(honest), panel=("second", "third"), name="first")
    judging = judge(build_arena(questions=1), settings, store)
    judges = [summary.judge for summary in judging.summaries]
    assert judges == ["first", "second", "third"]
    assert judging.derived is not None
    assert set(judging.derived.judgments["judge"]) == {settings.judge}
    assert set(judging.derived.judgments["sides"]) == {"shown"}


def test_a_panel_of_scores_shows_no_sides(serve, store):
    server = serve(lambda *_: completion("[[4]]"))
    settings = settings_for(server, panel=("second",), form="pointwise")
    judging = judge(build_arena(questions=1), settings, store)
    assert judging.derived is not None
    assert set(judging.derived.judgments["sides"]) == {"none"}


@pytest.mark.slow
def test_adaptive_pairs_come_with_ratings_and_a_reason(serve, store):
    settings = settings_for(serve(honest), pairs="adaptive", budget=5)
    judging = judge(build_arena(), settings, store)
    assert 3 <= len(judging.judgments) <= 5
    assert judging.ratings["system"].iloc[0] == "good"
    assert "budget" in judging.reason


def test_calls_are_limited_by_the_settings(serve, store):
    server = serve(honest)
    settings = settings_for(server, pairs="all", audit=1.0, max_calls=3)
    judging = judge(build_arena(), settings, store)
    assert sum(server.asked.values()) == 3
    assert judging.usage.failures == {"over_budget": 21}


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{"pairs": "all"}, {}, {"pairs": 2}])
def test_a_budget_counts_the_calls_of_all_runs_whatever_the_plan(fields, serve, tmp_path):
    server = serve(honest)
    arena = build_arena(questions=30)
    settings = settings_for(server, budget=20, until=0.001, **fields)
    if fields:
        settings = settings_for(server, budget=20, **fields)
    judging = judge(arena, settings, tmp_path / "replies.sqlite")
    assert 18 <= sum(server.asked.values()) <= 20
    assert judging.judgments["query_id"].nunique() > 5
    judged = replace(arena, judgments=judging.judgments)
    again = judge(judged, settings, tmp_path / "replies.sqlite")
    assert len(again.judgments) == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"pairs": "all"},
        pytest.param({"until": 0.001}, marks=pytest.mark.slow),
        {"form": "pointwise"},
        pytest.param({"panel": ("second",)}, marks=pytest.mark.slow),
    ],
)
def test_a_cost_is_not_exceeded_whatever_the_plan(fields, serve, store):
    server = serve(lambda prompt, _: completion("[[A]] [[3]]", usage=(1000, 100)))
    prices = dict.fromkeys(("test-judge", "second"), Price(1.0, 10.0))  # 0.002 a call
    settings = settings_for(server, max_cost=0.06, **fields)
    judging = judge(build_arena(questions=30), settings, store, prices=prices)
    assert 20 <= sum(server.asked.values()) <= 30
    assert judging.usage.failures == {}
    assert "spent" in judging.reason


def test_a_cost_needs_prices_and_tokens(serve, tmp_path):
    server = serve(lambda prompt, _: completion("[[A]]", usage=None))
    settings = settings_for(server, max_cost=0.1)
    with pytest.raises(UsageError, match="test-judge"):
        judge(build_arena(), settings, tmp_path / "replies.sqlite")
    assert not server.asked
    with pytest.raises(UsageError, match="count tokens"):
        judge(
            build_arena(),
            settings,
            tmp_path / "replies.sqlite",
            prices={"test-judge": Price(1.0, 1.0)},
        )


@pytest.mark.slow
def test_a_repetition_is_asked_anew_and_kept_apart(serve, tmp_path):
    replies = iter("ABAB" * 1_000)
    server = serve(lambda prompt, _: completion(f"[[{next(replies)}]]"))
    arena = build_arena(questions=60)
    settings = settings_for(server, pairs="all", audit=0.5, questions=60)
    judging = judge(arena, settings, tmp_path / "replies.sqlite")
    repeats = judging.judgments[judging.judgments["repeat"].notna()]
    assert set(repeats["repeat"]) == {"2"}
    assert len(repeats) == pytest.approx(18, abs=12)
    assert sum(server.asked.values()) == len(judging.judgments)
    assert "asked twice" in str(judging.summaries[0].check)
    write_arena(arena, tmp_path / "arena")
    judging.write(tmp_path / "arena")
    assert judging.write(tmp_path / "arena")[1] == 0
    assert len(read_arena(tmp_path / "arena").judgments) == len(judging.judgments)


@pytest.mark.slow
def test_the_plan_is_the_same_for_other_names_rows_and_workers(serve, tmp_path):
    server = serve(lambda prompt, _: completion("[[A]]" if len(prompt) % 3 else "[[B]]"))
    arena = build_arena(questions=20, systems=("s1", "s2", "s3", "s4"))
    texts = {"s1": "one", "s2": "two", "s3": "three", "s4": "four"}
    answers = arena.answers.assign(
        answer=arena.answers["query_id"] + " " + arena.answers["system"].map(texts)
    )
    arena = replace(arena, answers=answers)
    names = {"s1": "d", "s2": "a", "s3": "c", "s4": "b"}
    shuffled = answers.sample(frac=1.0, random_state=5)
    renamed = replace(
        arena,
        info=arena.info.model_copy(update={"systems": ("a", "b", "c", "d")}),
        answers=shuffled.assign(system=shuffled["system"].map(names)),
    )
    plans = []
    for number, (judged, workers) in enumerate([(arena, 1), (renamed, 8)]):
        settings = settings_for(server, budget=30, concurrency=workers)
        judging = judge(judged, settings, tmp_path / f"{number}.sqlite")
        plans.append(judging.judgments)
    first = plans[0].replace({"system_a": names, "system_b": names})
    columns = ["query_id", "system_a", "system_b", "winner", "repeat"]
    asked, asked_of_renamed = (
        sorted(map(str, table[columns].to_numpy())) for table in (first, plans[1])
    )
    assert asked == asked_of_renamed


@pytest.mark.slow
def test_progress_of_adaptive_pairs_counts_towards_one_total(serve, store):
    steps = []
    settings = settings_for(serve(honest), pairs="adaptive", budget=6)
    judge(build_arena(), settings, store, progress=lambda *step: steps.append(step))
    assert max(n_planned for _, _, n_planned in steps) == 6
    assert [n_done for _, n_done, _ in steps] == sorted(n_done for _, n_done, _ in steps)


@pytest.mark.parametrize(
    "fields",
    [
        {"pairs": "all", "until": 0.1},
        {"pairs": "adaptive", "form": "pointwise"},
    ],
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


@pytest.mark.slow
def test_adaptive_pairs_start_from_the_prior(serve, tmp_path):
    from surrogate import judging_prior

    arena = build_arena(questions=8)
    texts = {"good": "A full answer, with reasons for it. " * 3, "fair": "An answer.", "poor": "No"}
    numbers = arena.answers["query_id"].str[1:]
    arena = replace(
        arena, answers=arena.answers.assign(answer=arena.answers["system"].map(texts) + numbers)
    )
    settings = settings_for(serve(lambda *_: completion("[[A]]")), pairs="adaptive", budget=3)
    prior = judging_prior(arena, questions_to_judge(arena, settings))
    write_arena(arena, tmp_path / "arena")
    expected = judge(tmp_path / "arena", settings, tmp_path / "1.sqlite", prior=prior)
    flat = judge(arena, settings, tmp_path / "2.sqlite")
    assert not expected.ratings.equals(flat.ratings)
    assert expected.ratings["system"].iloc[0] == "good"
    assert repr(expected) == "<Judging by test-judge: 3 new verdicts>"


def test_a_board_named_as_prior_has_to_be_made_a_table(serve, tmp_path):
    settings = settings_for(serve(honest), pairs="adaptive", prior="out/board")
    with pytest.raises(UsageError, match="pass the table that judging_prior makes"):
        judge(build_arena(), settings, tmp_path / "replies.sqlite")
