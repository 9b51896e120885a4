"""Audits of a judge on each system: fooled, honest, noisy and silent judges."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from surrogate_arena.diagnosis.audit import AUDIT, MARGIN, audit

SYSTEMS = ["a", "b", "c", "d", "e"]
STRENGTHS = dict(zip(SYSTEMS, [-1.0, -0.5, 0.0, 0.5, 1.0], strict=True))


def judged(by_judge, n_questions=100, seed=0):
    """Verdicts of people, and of a judge that is told the two systems and who wins by them."""
    random = np.random.default_rng(seed)
    rows = []
    for question in range(n_questions):
        for first, second in combinations(SYSTEMS, 2):
            chance = expit(STRENGTHS[first] - STRENGTHS[second])
            votes = np.where(random.random(2) < chance, "a", "b")
            winners = {"people": votes[0], "model": by_judge(first, second, votes[1], random)}
            rows += [(f"q{question}", first, second, *row) for row in winners.items()]
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "judge", "winner"])
    return table.assign(language="en")


def honest(first, second, vote, random):
    return vote


def noisy(first, second, vote, random):
    return random.choice(["a", "b"]) if random.random() < 0.4 else vote


def fooled(first, second, vote, random):
    if "b" in (first, second) and random.random() < 0.4:
        return "a" if first == "b" else "b"
    return vote


def verdicts(judgments):
    return audit(judgments, ["people"]).set_index("system")["verdict"]


def test_a_system_that_fools_the_judge_fails_alone():
    table = audit(judged(fooled), ["people"])
    assert list(table.columns) == AUDIT
    first, *others = table.to_dict("records")
    assert (first["system"], first["verdict"]) == ("b", "fail")
    assert first["low"] > 0.05
    assert {row["verdict"] for row in others} <= {"pass", "too few"}


@pytest.mark.parametrize("judge", [honest, noisy])
def test_judges_that_are_alike_on_all_systems_fail_few(judge):
    found = pd.concat([verdicts(judged(judge, seed=seed)) for seed in range(8)])
    assert (found == "fail").mean() <= 0.05


def test_p_values_are_corrected_for_the_systems():
    table = pd.concat([audit(judged(noisy, seed=seed), ["people"]) for seed in range(8)])
    is_shown = table["p"] < 0.05
    assert table.loc[is_shown, "verdict"].isin(["fail", "pass"]).all()
    assert is_shown.mean() <= 0.05


def test_many_pairs_pass_and_few_are_too_few():
    assert set(verdicts(judged(honest, n_questions=300))) == {"pass"}
    table = audit(judged(honest, n_questions=12), ["people"])
    assert set(table["verdict"]) == {"too few"}
    assert (table["detectable"] > MARGIN).all()


def test_differences_are_on_the_scale_of_the_other_systems():
    """People tie half of what the judge decides: the slope of b's and c's points is one half."""
    rows = []
    for question, vote in enumerate(["a", "tie"] * 10):
        rows.append((f"q{question}", "b", "c", "people", vote))
        rows.append((f"q{question}", "b", "c", "model", "a"))
        for other in ("b", "c"):
            rows.append((f"q{question}", "a", other, "people", vote))
            rows.append((f"q{question}", "a", other, "model", "a"))
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "judge", "winner"])
    found = audit(table.assign(language="en"), ["people"]).set_index("system")
    assert found.loc["a", "difference"] == pytest.approx(0)
    table.loc[(table["system_a"] == "a") & (table["judge"] == "people"), "winner"] = "tie"
    found = audit(table.assign(language="en"), ["people"]).set_index("system")
    assert found.loc["a", "difference"] == pytest.approx(0.25)  # a quarter of the points


def test_sides_change_nothing():
    table = judged(fooled)
    turned = table.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    turned["winner"] = turned["winner"].map({"a": "b", "b": "a"})
    pd.testing.assert_frame_equal(audit(turned, ["people"]), audit(table, ["people"]))


def test_a_judge_without_a_scale_or_a_shared_pair_has_too_few():
    table = judged(lambda *_: "tie", n_questions=20)
    found = audit(table, ["people"])
    assert set(found["verdict"]) == {"too few"}
    assert found["p"].isna().all()
    table.loc[table["judge"] == "model", "query_id"] += "x"
    assert audit(table, ["people"]).empty
    assert audit(table[table["judge"] == "people"], ["people"]).empty


def test_a_judge_that_contradicts_people_rates_what_they_like_lower():
    def reversed_vote(first, second, vote, random):
        return "b" if vote == "a" else "a"

    table = audit(judged(reversed_vote), ["people"]).set_index("system")
    assert table.loc["e", "difference"] < -0.15
    assert table.loc["a", "difference"] > 0.05
    assert table.loc[["a", "e"], "verdict"].eq("fail").all()
