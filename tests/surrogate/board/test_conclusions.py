"""What a board says in plain words of its own scores, and the intervals that decide it."""

import numpy as np
import pytest

from arena.quality.judge_report import JudgeLabel, JudgeTest
from features.engine.extraction import feature_columns
from surrogate import build_board
from surrogate.board.conclusions import (
    GAIN_UNSURE,
    GAINED,
    LIKELY,
    LOST,
    NOT_GAINED,
    NOT_SPLIT,
    UNSEEN_BY_CHANCE,
    UNSEEN_BY_DOUBTFUL_JUDGE,
    UNSEEN_CONCLUSIONS,
    UNSEEN_LIKELY,
    UNSEEN_RANKED,
    UNSEEN_UNKNOWN,
    UNSEEN_UNTESTED,
    Agreements,
    of_judge,
    probability_of_use,
)
from surrogate.board.summary import MacroSummary


@pytest.mark.parametrize(
    ("unseen", "low", "high", "meant"),
    [
        (0.6, 0.1, 0.9, UNSEEN_RANKED),
        (0.6, -0.1, 0.9, UNSEEN_LIKELY),  # as in other arenas
        (0.3, -0.4, 0.9, UNSEEN_LIKELY),
        (-0.2, -0.6, 0.2, UNSEEN_BY_CHANCE),
        (0.05, 0.01, 0.2, UNSEEN_RANKED),
        (-0.5, -0.9, -0.1, UNSEEN_BY_CHANCE),
        (0.9, None, None, UNSEEN_UNKNOWN),
        (None, None, None, UNSEEN_UNKNOWN),
    ],
)
def test_intervals_decide_what_is_said_of_unseen_systems(unseen, low, high, meant):
    found = Agreements(tau_unseen=unseen, tau_unseen_low=low, tau_unseen_high=high)
    assert found.conclusions[0] == meant
    assert meant.is_warning == (meant is not UNSEEN_RANKED)


def test_a_judge_with_a_fault_is_not_said_to_be_as_others_are():
    scores = {"tau_unseen": 0.6, "tau_unseen_low": -0.1, "tau_unseen_high": 0.9}
    label = JudgeLabel("m", "doubtful", (JudgeTest("flips", "doubtful", "verdicts flip"),))
    macro = MacroSummary(**scores, judge=label)
    part = Agreements(**scores)
    assert (
        macro.conclusions[0]
        == of_judge(part.conclusions[0], has_fault=True)
        == UNSEEN_BY_DOUBTFUL_JUDGE
    )
    assert of_judge(part.conclusions[0], has_fault=False) == UNSEEN_LIKELY
    assert MacroSummary(**scores).conclusions[0] == UNSEEN_LIKELY


@pytest.mark.parametrize(
    ("gain", "low", "high", "meant"),
    [
        (0.02, 0.01, 0.03, GAINED),
        (0.02, -0.01, 0.04, NOT_GAINED),
        (0.02, -0.2, 0.3, GAIN_UNSURE),
        (0.0, 0.0, 0.0, NOT_GAINED),
        (-0.1, -0.2, -0.05, LOST),
        (float("nan"), None, None, NOT_SPLIT),
    ],
)
def test_intervals_over_systems_decide_what_is_said_of_the_gain(gain, low, high, meant):
    halves = {"split_half": 0.7 + gain, "split_half_verdicts": 0.7}
    found = Agreements(**halves, gain_low=low, gain_high=high)
    assert found.conclusions[1] == meant


@pytest.mark.slow
def test_a_surrogate_is_worth_verdicts_and_no_more_than_there_are(small_arena, small_board):
    macro = small_board.summary.macro
    parts = small_board.summary.languages.values()
    assert 0 < macro.worth <= max(2 * item.judgments / item.systems_judged for item in parts)
    columns = feature_columns(small_board.features)[:5]
    keys = ["language", "system", "query_id"]
    noise = small_board.features[[*keys, *columns]].copy()
    noise[columns] = np.random.default_rng(0).normal(size=noise[columns].shape)
    worse = build_board(small_arena, feature_table=noise, surrogate="linear", tournaments=2)
    assert worse.summary.macro.worth < macro.worth
    said = f"worth about {float(f'{macro.worth:.2g}'):,.0f} verdicts on it"
    assert (said in macro.conclusions[0].sentence) == macro.ranks_unseen


def test_a_mean_over_languages_is_not_stated_of_the_languages(small_board):
    """Some languages may show less than the mean, and their cautions say so next to it."""
    numbers = Agreements(tau_unseen=0.6, tau_unseen_low=0.3, tau_unseen_high=0.8)
    fields = small_board.summary.macro.model_dump(exclude={"judge"})
    fields |= numbers.model_dump()
    for mean in ("", "mean over 4 languages"):
        macro = MacroSummary(**{**fields, "mean": mean, "worth": 48})
        sentence = macro.conclusions[0].sentence
        assert sentence.startswith("In the mean over 4 languages the surrogate ranks") == bool(mean)
        assert "about 48 verdicts" in sentence
    one, none = (MacroSummary(**{**fields, "worth": worth}).conclusions[0] for worth in (1.2, 0.3))
    assert "worth about 1 verdict on it" in one.sentence
    assert "worth less than a verdict on it" in none.sentence
    fields |= {"tau_unseen": -0.2, "tau_unseen_low": -0.6, "tau_unseen_high": 0.2}
    unproven = MacroSummary(**{**fields, "mean": "mean over 2 languages"}).conclusions[0]
    # Whether a system without verdicts has a rank is decided in each language.
    assert unproven.is_warning
    assert "has no rank" not in unproven.sentence
    assert small_board.summary.macro.mean == "mean over 2 languages"


@pytest.mark.parametrize(
    ("tau", "low", "high", "systems", "standing"),
    [
        (0.6, 0.1, 0.9, 6, "shown"),
        (0.65, -0.05, 1.0, 6, "likely"),  # as good as most arenas
        (0.0, -0.6, 0.6, 6, "likely"),  # six systems can hardly speak against the others
        (-0.3, -0.4, -0.2, 5, "likely"),  # resamples of so few systems are no evidence
        (-0.9, -1.0, -0.3, 9, "unproven"),
        (0.0, -0.2, 0.2, 40, "unproven"),  # many systems, and it is 0
        (0.1, -0.05, 0.25, 40, "unproven"),
        (None, None, None, 0, "unknown"),
    ],
)
def test_few_systems_are_ranked_unless_they_speak_against_other_arenas(
    tau, low, high, systems, standing
):
    found = Agreements(
        tau_unseen=tau, tau_unseen_low=low, tau_unseen_high=high, systems_compared=systems
    )
    assert found.standing == standing
    assert found.ranks_unseen == (standing in ("shown", "likely"))
    assert found.conclusions[0] == UNSEEN_CONCLUSIONS[standing]


def test_systems_are_ranked_with_a_caution_where_too_few_are_judged_to_test():
    found = Agreements(is_untested=True)
    assert found.standing == "untested"
    assert found.ranks_unseen
    assert found.conclusions[0] == UNSEEN_UNTESTED
    assert UNSEEN_UNTESTED.is_warning


@pytest.mark.parametrize(("systems", "most", "fewest"), [(6, 0.9, 0.9), (40, 0.2, 0.95)])
def test_only_many_systems_tell_a_useless_surrogate_from_a_useful_one(systems, most, fewest):
    rng = np.random.default_rng(0)
    error = np.sqrt(2 * (2 * systems + 5) / (9 * systems * (systems - 1)))
    shares = {}
    for truth in (0.0, 0.65):
        taus = np.clip(rng.normal(truth, error, 2000), -1, 1)
        probabilities = [probability_of_use(tau, error, systems) for tau in taus]
        shares[truth] = np.mean(np.array(probabilities) >= LIKELY)
    assert shares[0.0] < most
    assert shares[0.65] > fewest


def test_a_language_ranks_by_its_own_standing_or_by_all_where_that_is_unknown(quick_board):
    summary = quick_board.summary
    own, other = list(summary.languages)[:2]
    unproven = {"tau_unseen": 0.0, "tau_unseen_low": -0.1, "tau_unseen_high": 0.1}
    unproven["systems_compared"] = 40
    unknown = dict.fromkeys(["tau_unseen", "tau_unseen_low", "tau_unseen_high"])
    shown = {"tau_unseen": 0.6, "tau_unseen_low": 0.4, "tau_unseen_high": 0.8}
    languages = dict(summary.languages)
    languages[own] = languages[own].model_copy(update=unproven)
    languages[other] = languages[other].model_copy(update=unknown)
    for macro, ranks in ((shown, True), (unproven, False)):
        altered_macro = summary.macro.model_copy(update=macro)
        changed = summary.model_copy(update={"languages": languages, "macro": altered_macro})
        assert not changed.ranks_unseen_in(own)
        assert changed.ranks_unseen_in(other) == ranks
