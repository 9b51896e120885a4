"""Verdicts of a judge calibrated to people's: what is fitted, what is gained, what is refused."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from arena import UsageError
from arena.people.calibration import calibrate, pair_scores
from arena.rating.ratings import rate

SYSTEMS = {"s1": 0.9, "s2": 0.3, "s3": -0.2, "s4": -1.0}
QUESTIONS = 60


@pytest.fixture(scope="module")
def judged():
    """People prefer by sigma(d) of the systems' strengths, and a judge is twice as sure."""
    random = np.random.default_rng(5)
    rows = []
    for number in range(QUESTIONS):
        noise = dict(zip(SYSTEMS, random.normal(0, 0.8, len(SYSTEMS)), strict=True))
        for one, other in combinations(SYSTEMS, 2):
            d = SYSTEMS[one] + noise[one] - SYSTEMS[other] - noise[other]
            key = {"query_id": str(number), "language": "en", "system_a": one, "system_b": other}
            p = expit(2.0 * d)
            llm = {"judge": "llm", "winner": "a" if p > 0.5 else "b"}
            rows.append({**key, **llm, "probability_a": p, "probability_b": 1.0 - p})
            if number < QUESTIONS * 2 // 3:
                winner = "a" if random.random() < expit(d) else "b"
                rows.append({**key, "judge": "person:ana", "winner": winner})
    return pd.DataFrame(rows)


def test_an_overconfident_judge_is_found_out(judged):
    found = calibrate(judged, "llm", ["person:ana"])
    assert (found.pairs, found.questions) == (240, 40)
    assert found.errors["after"] < found.errors["before"]
    assert found.errors["high"] < 0
    assert found.low > 0
    assert found.warning is None
    # twice as sure as people are: the slope of the logit is a half
    slopes = logit(found.scores["calibrated"]) / logit(found.scores["score"].clip(0.01, 0.99))
    assert slopes.median() == pytest.approx(0.5, abs=0.1)


def test_platts_slope_is_the_likeliest_one(judged):
    """What has no label is calibrated by the slope that a direct search finds."""
    found = calibrate(judged, "llm", ["person:ana"])
    scores = pair_scores(judged[judged["judge"] == "llm"])
    labels = pair_scores(judged[judged["judge"] == "person:ana"])
    both = scores.merge(labels, on=["language", "query_id", "first", "second"])
    x = logit(both["score_x"].clip(0.01, 0.99)).to_numpy()
    y = both["score_y"].to_numpy()
    target = np.where(y == 1, (len(y) + 1) / (len(y) + 2), 1 / (len(y) + 2))

    def loss(slope):
        p = expit(slope * x)
        return -np.sum(target * np.log(p) + (1 - target) * np.log(1 - p))

    best = minimize_scalar(loss, bounds=(0, 3), method="bounded", options={"xatol": 1e-9}).x
    alone = found.scores.merge(scores[scores["query_id"].astype(int) >= QUESTIONS * 2 // 3])
    wanted = expit(best * logit(alone["score"].clip(0.01, 0.99)))
    np.testing.assert_allclose(alone["calibrated"], wanted, atol=2e-4)


def test_what_sides_are_called_changes_nothing(judged):
    swapped = judged.rename(
        columns={"system_a": "system_b", "system_b": "system_a"}
        | {"probability_a": "probability_b", "probability_b": "probability_a"}
    ).assign(winner=judged["winner"].map({"a": "b", "b": "a"}))
    one, two = (calibrate(table, "llm", ["person:ana"]) for table in (judged, swapped))
    assert one.errors == pytest.approx(two.errors)
    pd.testing.assert_frame_equal(one.judgments(), two.judgments())


def test_boards_can_rest_on_calibrated_verdicts(judged):
    found = calibrate(judged, "llm", ["person:ana"])
    soft = found.judgments()
    assert set(soft["judge"]) == {"calibrated:llm"}
    assert len(soft) == QUESTIONS * 6
    rated = rate(soft).table.set_index("system")["rating"]
    people = rate(judged[judged["judge"] == "person:ana"]).table.set_index("system")
    hard = rate(judged[judged["judge"] == "llm"]).table.set_index("system")["rating"]
    assert list(rated.index) == list(SYSTEMS)
    apart = (rated - people["rating"]).abs().max()
    assert apart < (hard - people["rating"]).abs().max()  # the judge's own are too far apart
    assert apart < 0.4


def test_a_judge_that_people_do_not_share_is_said(judged):
    random = np.random.default_rng(0)
    coin = judged["winner"].to_numpy(dtype=object)
    by_people = (judged["judge"] == "person:ana").to_numpy()
    coin[by_people] = random.choice(["a", "b"], int(by_people.sum()))
    found = calibrate(judged.assign(winner=coin), "llm", ["person:ana"])
    assert found.low <= 0
    assert "do not surely go along with those of person:ana" in found.warning


def test_what_cannot_be_calibrated_is_refused(judged):
    with pytest.raises(UsageError, match="unknown judge 'gpt'"):
        calibrate(judged, "gpt", ["person:ana"])
    with pytest.raises(UsageError, match="reference"):
        calibrate(judged, "llm", ["llm"])
    one = judged[judged["query_id"] == "0"]
    with pytest.raises(UsageError, match="share pairs on 1 question"):
        calibrate(one, "llm", ["person:ana"])
