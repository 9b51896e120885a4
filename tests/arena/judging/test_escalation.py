"""A cheap judge first, a strong one where that tells most: limits, failures, what is left."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from chat_server import completion, error
from judged_systems import QUALITY, better, build_arena

from arena import UsageError
from arena.data.errors import UnusableRepliesError
from arena.judging import JudgingSettings, forecast, judge
from arena.judging.plans.escalated_pairs import (
    FEWEST_CALIBRATION,
    JUDGE_DIFFERENCE,
    calibrated_prior,
    ratings_by_first,
)
from arena.llm import Price

CHEAP, STRONG = "cheap", "strong"


def settings_for(server, **fields):
    fields = {"escalate": STRONG, "audit": 0.0, **fields}
    return JudgingSettings(model=CHEAP, base_url=server.url, api_key_env=None, **fields)


@pytest.fixture
def models(serve):
    """Start a server whose reply depends on the model that is asked."""

    def start(**behave):
        def reply(prompt, earlier):
            return behave.get(server.bodies[-1]["model"], honest)(prompt, earlier)

        server = serve(reply)
        return server

    return start


def honest(prompt, _):
    return completion(f"[[{better(prompt)}]]", usage=(100, 10))


def calls_of(server, model):
    return sum(body["model"] == model for body in server.bodies)


def n_verdicts(table, judge):
    return int((table["judge"] == judge).sum())


@pytest.mark.slow
def test_the_strong_judge_starts_from_the_cheap_one_and_takes_few_calls(models, tmp_path):
    server = models()
    arena = build_arena(questions=40)
    settings = settings_for(server, pairs="all")
    judging = judge(arena, settings, tmp_path / "store.sqlite")
    assert [summary.judge for summary in judging.summaries] == [CHEAP, STRONG]
    assert n_verdicts(judging.judgments, CHEAP) == calls_of(server, CHEAP) == 120
    # The two agree on all pairs drawn at random, and nothing is left to ask.
    assert n_verdicts(judging.judgments, STRONG) == calls_of(server, STRONG) == FEWEST_CALIBRATION
    assert list(judging.ratings["system"]) == sorted(QUALITY, key=QUALITY.get, reverse=True)
    # The same command asks nothing again, and comes to the same end.
    n_asked = len(server.bodies)
    judged = replace(arena, judgments=judging.judgments)
    again = judge(judged, settings, tmp_path / "store.sqlite")
    assert len(again.judgments) == 0
    assert len(server.bodies) == n_asked
    pd.testing.assert_frame_equal(again.ratings, judging.ratings)


@pytest.mark.slow
def test_a_wrong_cheap_judge_costs_calls_and_is_overruled(models, store):
    def wrong(prompt, _):
        return completion(f"[[{'B' if better(prompt) == 'A' else 'A'}]]")

    settings = settings_for(models(cheap=wrong), pairs="all", until=0.02)
    judging = judge(build_arena(questions=40), settings, store)
    assert list(judging.ratings["system"]) == sorted(QUALITY, key=QUALITY.get, reverse=True)


@pytest.mark.parametrize("pairs", ["all", pytest.param(None, marks=pytest.mark.slow)])
def test_limits_hold_for_both_judges_together(pairs, models, tmp_path):
    arena = build_arena(questions=12)
    server = models()
    settings = settings_for(server, budget=30, pairs=pairs, until=1e-6)
    judge(arena, settings, tmp_path / "calls.sqlite")
    assert calls_of(server, CHEAP) <= 15
    assert calls_of(server, STRONG) > 0
    assert len(server.bodies) <= 30

    prices = {CHEAP: Price(1.0, 1.0), STRONG: Price(10.0, 10.0)}
    paid = models()
    settings = settings_for(paid, max_cost=0.06, pairs=pairs, until=1e-6)
    judging = judge(arena, settings, tmp_path / "cost.sqlite", prices=prices)
    costs = [summary.cost for summary in judging.summaries]
    assert costs[0] <= 0.03
    assert 0 < sum(costs) <= 0.06
    with pytest.raises(UsageError, match=f"price of {STRONG}"):
        judge(arena, settings, tmp_path / "none.sqlite", prices={CHEAP: prices[CHEAP]})
    assert not (tmp_path / "none.sqlite").exists()


def test_a_strong_judge_that_fails_loses_nothing(models, tmp_path):
    arena = build_arena(questions=10)
    refused = models(strong=lambda *_: error(401, "invalid api key"))
    settings = settings_for(refused, budget=30)
    judging = judge(arena, settings, tmp_path / "refused.sqlite")
    assert n_verdicts(judging.judgments, CHEAP) == calls_of(refused, CHEAP) > 0
    assert isinstance(judging.error, UsageError)
    assert f"{STRONG} could not be asked" in judging.reason

    mute = models(strong=lambda *_: completion("No idea."))
    settings = settings_for(mute, budget=30)
    judging = judge(arena, settings, tmp_path / "mute.sqlite")
    assert isinstance(judging.error, UnusableRepliesError)
    assert judging.summaries[1].invalid == n_verdicts(judging.failures, STRONG) > 0
    assert n_verdicts(judging.judgments, CHEAP) > 0


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"escalate": CHEAP}, "name a stronger model"),
        ({"escalate": "me", "name": "me"}, "name a stronger model"),
        ({"panel": ("third",)}, "leave `panel` out"),
        ({"form": "pointwise", "pairs": "all"}, "leave `form` out"),
        ({"batch": True, "pairs": "all"}, "leave `batch` out"),
    ],
)
def test_settings_that_do_not_go_with_two_judges_are_refused(fields, fault, models, store):
    server = models()
    with pytest.raises(UsageError, match=fault):
        judge(build_arena(), settings_for(server, **fields), store)
    assert not server.bodies


def test_the_forecast_states_calls_of_each_judge_and_asks_nothing(models):
    server = models()
    few = forecast(build_arena(questions=40), settings_for(server, pairs="all"))
    assert few.by_judge[CHEAP] == 120
    assert few.by_judge[STRONG] == few.verdicts - 120 > 0
    limited = forecast(build_arena(questions=40), settings_for(server, budget=20))
    assert limited.by_judge[CHEAP] == 10
    assert limited.high <= 20
    assert not server.bodies


def test_the_prior_fades_the_less_the_strong_judge_follows_it():
    first = pd.DataFrame(
        {
            "language": "en",
            "system": ["good", "fair", "poor"],
            "rating": [2.0, 0.0, -2.0],
            "standard_error": 0.1,
        }
    )
    rows = [("en", one, two) for one, two in (("good", "fair"), ("fair", "poor"))] * 6
    table = pd.DataFrame(rows, columns=["language", "system_a", "system_b"])
    agreeing = calibrated_prior(first, table.assign(winner="a"))
    opposed = calibrated_prior(first, table.assign(winner="b"))
    untested = calibrated_prior(first, table.assign(winner="a").iloc[:0])
    np.testing.assert_allclose(untested["rating"], first["rating"])
    np.testing.assert_allclose(untested["standard_error"], np.hypot(0.1, JUDGE_DIFFERENCE))
    assert agreeing["rating"].iloc[0] > 2
    assert opposed["rating"].iloc[0] < 1
    assert opposed["standard_error"].iloc[0] > 1
    # Sides carry nothing.
    mirrored = table.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    pd.testing.assert_frame_equal(calibrated_prior(first, mirrored.assign(winner="b")), agreeing)


def test_ratings_by_the_cheap_judge_are_those_of_its_verdicts():
    rows = [
        (f"q{number}", "en", "good", "poor", "a" if number else "b", CHEAP, judge_of)
        for number, judge_of in enumerate(["x"] * 9)
    ]
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge", "prompt"]
    table = ratings_by_first(pd.DataFrame(rows, columns=columns), CHEAP).set_index("system")
    assert table.loc["good", "rating"] > 0 > table.loc["poor", "rating"]
    np.testing.assert_allclose(table["rating"].sum(), 0, atol=1e-9)
    assert (table["standard_error"] > 0).all()
