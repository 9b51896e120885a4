"""A gate by the verdicts that an arena holds: of people, or of the judge whose board it is."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_systems import build_arena

from arena import write_arena
from arena.data.tables import write_rows
from surrogate_arena.gating import GateRates, gate_markdown
from surrogate_arena.gating.arena_verdicts import balanced_scores
from surrogate_arena.gating.gate import gate
from surrogate_arena.gating.sequential_test import anytime_bounds

NEW, OLD = "poor", "fair"


def verdicts(wins, losses, judge="person:Ada", side=None):
    """Return verdicts on one question each, on alternating sides unless a side is given."""
    rows = []
    for number, is_won in enumerate([True] * wins + [False] * losses):
        is_a = number % 2 == 0 if side is None else side == "a"
        systems = (NEW, OLD) if is_a else (OLD, NEW)
        rows.append((f"q{number}", "en", *systems, "a" if is_won == is_a else "b", judge))
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    return pd.DataFrame(rows, columns=columns)


def gated(*tables, **options):
    arena = build_arena(questions=60)
    judgments = pd.concat([arena.judgments, *tables], ignore_index=True)
    return gate(arena=replace(arena, judgments=judgments), baseline=OLD, **options)


@pytest.mark.parametrize(
    ("wins", "losses", "verdict"), [(45, 15, "better"), (15, 45, "worse"), (33, 27, "cannot say")]
)
def test_votes_decide_where_no_judge_is_asked(wins, losses, verdict):
    result = gated(verdicts(wins, losses))
    assert result.verdict == verdict
    assert result.by == ("" if verdict == "cannot say" else "verdicts")
    assert result.win_rate == pytest.approx(wins / 60)
    assert result.verdicts.low < wins / 60 < result.verdicts.high
    assert "60 verdicts on 60 of 60 questions" in " ".join(result.sentences)


@pytest.mark.parametrize(("n_judged", "is_offered"), [(60, False), (59, True)])
def test_a_vote_is_offered_while_pairs_have_no_verdict(run, tmp_path, capsys, n_judged, is_offered):
    arena = build_arena(questions=60)
    judged = verdicts(33, 27).head(n_judged)
    write_arena(replace(arena, judgments=judged), tmp_path / "arena")
    command = ("gate", "--arena", tmp_path / "arena", "--baseline", OLD, "--candidate", NEW)
    assert run(*command) == 4
    assert ("surrogate-arena vote" in capsys.readouterr().out) == is_offered


def test_votes_that_are_looked_at_once_decide_sooner():
    """As a sign test does: 27 of 39 questions have p = 0.02."""
    votes = verdicts(27, 12)
    watched = gated(votes)
    assert watched.verdict == "cannot say"
    assert 0 < watched.questions_to_decide < 40
    assert f"about {watched.questions_to_decide} more question" in str(watched)
    assert "(95% interval " in watched.sentences[0]
    assert ("--once" in str(watched), "both orders" in str(watched)) == (True, False)
    once = gated(votes, rates=GateRates(once=True))
    assert once.verdict == "better"
    assert "--once" not in str(once)
    assert watched.verdicts.low < once.verdicts.low
    assert gated(verdicts(21, 18), rates=GateRates(once=True)).verdict == "cannot say"


def test_failed_judgments_of_the_folder_are_bounded(tmp_path):
    """A judge that mostly ties what it judges, and gave no verdict on some questions."""
    arena = build_arena(questions=900)
    tied = verdicts(880, 0, judge="m")
    tied["winner"] = ["a" if number % 5 == 0 else "tie" for number in range(880)]
    write_arena(replace(arena, judgments=tied), tmp_path / "arena")
    same = gate(arena=tmp_path / "arena", baseline=OLD)
    assert (same.verdict, same.verdicts.unscored) == ("same", 0)
    questions = [f"q{number}" for number in range(800, 900)]
    failed = verdicts(1, 0, judge="m").drop(columns=["query_id", "winner"])
    rows = failed.merge(pd.DataFrame({"query_id": questions}), how="cross").assign(reason="filter")
    write_rows(rows, tmp_path / "arena" / "failed_judgments.jsonl")
    found = gate(arena=tmp_path / "arena", baseline=OLD)
    assert found.verdicts.unscored == 20
    assert (found.verdict, found.verdicts.high > same.verdicts.high) == ("same", True)
    few = tied[tied["query_id"].isin([f"q{number}" for number in range(780)])]
    write_arena(replace(arena, judgments=few), tmp_path / "few")
    write_rows(rows, tmp_path / "few" / "failed_judgments.jsonl")
    unsure = gate(arena=tmp_path / "few", baseline=OLD)
    assert unsure.verdict == "cannot say"
    assert "100 of the 880 pairs that differ have no verdict" in unsure.reasons[0]


def test_a_cheaper_version_need_not_be_better():
    rates = GateRates(cheaper=True, margin=0.1)
    test = rates.test()
    for wins, difference in ((150, "not worse"), (80, "worse"), (115, None)):
        scores = balanced_scores(verdicts(wins, 260 - wins), NEW)["score"]
        low, high, level = test.anytime_interval(scores)
        assert level == 0.9
        assert test.decide_anytime(scores) == difference
        assert (low > 0.4, high < 0.4) == (difference == "not worse", difference == "worse")


def test_questions_that_every_verdict_gives_the_baseline_are_named():
    votes = pd.concat([verdicts(45, 15), verdicts(46, 14, judge="person:Bo")])
    result = gated(votes)
    # On q45 the two disagree.
    assert [lost.query_id for lost in result.lost] == [f"q{number}" for number in range(46, 60)]
    assert {lost.votes for lost in result.lost} == {2}
    first = result.lost[0]
    assert (first.answer, first.baseline_answer) == ("poor answer to q46", "fair answer to q46")
    lost = "Where to look: 14 questions that every verdict gives the baseline."
    assert lost in result.sentences
    assert result.examples[0] == (
        "en q46 (all 2 verdicts against it): What is q46? -> poor answer to q46 | "
        "baseline: fair answer to q46"
    )
    assert gate_markdown(result).count("| 2 | What is q") == 14


def test_people_go_before_a_machine():
    votes = verdicts(45, 15)
    result = gated(votes, verdicts(5, 55, judge="m"))
    assert (result.verdict, result.judge.judge) == ("better", "person:Ada")
    assert len(result.verdicts.judgments) == len(votes)


def test_verdicts_of_several_machines_are_counted_and_decide_nothing():
    result = gated(verdicts(60, 0, judge="m"), verdicts(60, 0, judge="n"))
    assert (result.verdict, result.win_rate, result.judge) == ("cannot say", None, None)
    assert "several judges (m, n)" in result.reasons[0]


def test_how_many_more_questions_it_takes_is_true_or_not_said():
    for lost in range(1, 10):
        watched = gated(verdicts(0, lost))
        further = watched.questions_to_decide
        if further:
            assert gated(verdicts(0, lost + further)).verdict == "worse"
    assert gated(verdicts(0, 3)).questions_to_decide == 0
    assert gated(verdicts(0, 8)).questions_to_decide > 0


def test_a_question_with_many_votes_counts_once():
    many = verdicts(60, 0).assign(query_id="q0")
    others = verdicts(15, 15).replace({f"q{number}": f"r{number}" for number in range(30)})
    scores = balanced_scores(pd.concat([many, others]), NEW)["score"]
    assert scores.mean() == pytest.approx((1 + 15) / 31, abs=0.01)
    few = balanced_scores(pd.concat([many.head(2), others]), NEW)["score"]
    assert scores.std() == pytest.approx(few.std(), abs=0.02)
    heavy = balanced_scores(pd.concat([many.head(2).assign(weight=30), others]), NEW)["score"]
    assert heavy.tolist() == pytest.approx(few.tolist())


def test_a_system_that_is_always_on_one_side_is_not_told_from_the_side():
    result = gated(verdicts(45, 15, side="a"))
    assert (result.verdict, result.win_rate) == ("cannot say", None)
    assert "poor is side A in 100% of them" in result.reasons[0]


def test_one_verdict_on_the_other_side_is_no_certainty():
    result = gated(pd.concat([verdicts(25, 25, side="a"), verdicts(0, 51, side="b").tail(1)]))
    assert (result.verdict, result.win_rate) == ("cannot say", None)
    assert "poor is side A in 98% of them" in result.reasons[0]


def test_verdicts_on_other_systems_do_not_count():
    others = verdicts(60, 0).replace({OLD: "good"})
    result = gated(others)
    assert result.verdicts is None
    assert "Which is better needs verdicts." in result.sentences


def test_a_judge_that_follows_the_side_makes_no_system_better():
    always_a = pd.concat([verdicts(50, 0, side="a"), verdicts(0, 10, side="b").tail(10)])
    scores = balanced_scores(always_a, NEW)["score"]
    assert scores.mean() == pytest.approx(0.5)


@st.composite
def judgments_of_two(draw):
    """Verdicts on two systems, on both sides, several on some questions."""
    size = draw(st.integers(2, 12))
    cells = st.tuples(st.integers(0, 4), st.booleans(), st.sampled_from(["a", "b", "tie"]))
    rows = draw(st.lists(cells, min_size=size, max_size=size))
    rows += [(0, True, "a"), (1, False, "a")]
    table = [
        (str(question), "en", *((NEW, OLD) if is_a else (OLD, NEW)), winner, "m")
        for question, is_a, winner in rows
    ]
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    return pd.DataFrame(table, columns=columns)


@given(judgments_of_two())
def test_mirroring_and_order_change_no_score_and_the_other_system_has_the_rest(judgments):
    scores = balanced_scores(judgments, NEW)
    mirrored = judgments.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    mirrored["winner"] = mirrored["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    for same in (mirrored, judgments.iloc[::-1]):
        other = balanced_scores(same, NEW)["score"]
        np.testing.assert_allclose(other, scores["score"], atol=1e-12)
    of_other = balanced_scores(judgments, OLD)["score"]
    np.testing.assert_allclose(of_other, 1 - scores["score"], atol=1e-12)


def test_bounds_that_are_looked_at_after_each_score_miss_the_mean_as_rarely_as_stated():
    random = np.random.default_rng(1)
    n_missed = 0
    for scores in random.choice([0.0, 0.5, 1.0], size=(200, 150)):
        for size in range(1, len(scores) + 1):
            low, high = anytime_bounds(scores[:size], 0.2)
            if not low <= 0.5 <= high:
                n_missed += 1
                break
    # 20% are permitted, with which more than 54 of 200 have a probability of 1%.
    assert n_missed <= 54
