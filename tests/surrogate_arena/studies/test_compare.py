"""``compare`` against a paired bootstrap by hand, and what each kind of contender is."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from several_judges import judged_by_many

from arena import UsageError
from arena.rating.tournaments import bootstrap_tournaments
from surrogate.learning.outcomes import Outcome
from surrogate_arena import compare
from surrogate_arena.studies import validate
from surrogate_arena.studies.comparison import PairedTaus
from surrogate_arena.studies.scores import Contender, drawn_ratings, needed_repeats, question_draws

QUICK = "linear"


def tau_b(first, second, groups):
    """Kendall's tau-b over pairs of one group, by its definition."""
    agreement, untied_first, untied_second = 0.0, 0, 0
    for one, other in combinations(range(len(first)), 2):
        if groups[one] == groups[other] and np.isfinite([first[[one, other]]]).all():
            order = np.sign(first[one] - first[other])
            target = np.sign(second[one] - second[other])
            agreement += order * target
            untied_first += order != 0
            untied_second += target != 0
    return agreement / np.sqrt(untied_first * untied_second)


def holm(p_values):
    order = np.argsort(p_values)
    adjusted = np.empty(len(p_values))
    largest = 0.0
    for place, index in enumerate(order):
        largest = max(largest, (len(p_values) - place) * p_values[index])
        adjusted[index] = min(largest, 1.0)
    return adjusted


def test_a_table_equals_a_paired_bootstrap_by_hand():
    """Three contenders rate 9 systems, in two splits into folds of three."""
    random = np.random.default_rng(3)
    truth = random.normal(size=9)
    folds = np.array([random.permutation(9) % 3 for _ in range(2)])
    names = tuple("abcdefghi")
    contenders = {}
    for name, noise in (("good", 0.4), ("fair", 1.0), ("poor", 3.0)):
        predicted = truth + noise * random.normal(size=(2, 9))
        outcome = Outcome("en", names, predicted, np.tile(truth, (2, 1)), folds)
        contenders[name] = Contender([outcome])
    found = PairedTaus.of(contenders, seed=0)
    rows = found.table.set_index(["language", "rated_by"]).loc["en"]
    tested = found.differences().set_index("language").loc["en"]
    assert list(zip(tested["rated_by"], tested["minus"], strict=True)) == [
        *(("good", "fair"), ("good", "poor"), ("fair", "poor"))
    ]

    # The same by other draws: systems with replacement, each in both splits.
    ratings = np.tile(truth, 2)
    groups = np.concatenate([folds[0], folds[1] + 3])
    taus = {name: [] for name in contenders}
    for _ in range(1500):
        drawn = random.integers(9, size=9)
        chosen = np.concatenate([drawn, drawn + 9])
        for name, contender in contenders.items():
            predicted = contender.outcomes[0].predicted.ravel()
            taus[name].append(tau_b(predicted[chosen], ratings[chosen], groups[chosen]))
    values = []
    errors = []
    for first, second in combinations(contenders, 2):
        values.append(rows.loc[first, "tau"] - rows.loc[second, "tau"])
        errors.append(np.std(np.subtract(taus[first], taus[second]), ddof=1))
    for name, contender in contenders.items():
        predicted = contender.outcomes[0].predicted.ravel()
        assert rows.loc[name, "tau"] == pytest.approx(tau_b(predicted, ratings, groups))
        assert rows.loc[name, "standard_error"] == pytest.approx(np.std(taus[name]), rel=0.1)
    assert tested["difference"].to_list() == pytest.approx(values)
    assert tested["standard_error"].to_list() == pytest.approx(errors, rel=0.1)
    p_values = 2 * norm.sf(np.abs(tested["difference"] / tested["standard_error"]))
    assert tested["p"].to_list() == pytest.approx(p_values)
    assert tested["p_holm"].to_list() == pytest.approx(holm(p_values))


def test_contenders_that_order_alike_may_still_differ():
    truth = np.arange(6.0)[None]
    outcome = Outcome("en", tuple("abcdef"), truth, truth)
    found = PairedTaus.of({"one": Contender([outcome]), "other": Contender([outcome])}, seed=0)
    [tested] = found.differences().query("language == 'en'").to_dict("records")
    assert (tested["difference"], tested["p"]) == (0.0, 1.0)
    assert tested["low"] < -0.2
    assert tested["high"] > 0.2


def test_resampled_questions_rate_as_their_judgments_repeated(simulated, table, data_of):
    data = data_of(simulated.arena, table)[0]
    draws = question_draws([data], 0)
    ratings = drawn_ratings(data, draws)
    for index in (0, 7):
        times = data.judgments["query_id"].astype(str).map(draws.iloc[index]).astype(int)
        repeated = data.judgments.loc[data.judgments.index.repeat(times)]
        # A copy of a verdict is a verdict: give each its own question.
        repeated = repeated.astype(object).assign(query_id=np.arange(len(repeated)).astype(str))
        by_hand = bootstrap_tournaments(repeated, tournaments=1, seed=0)
        assert by_hand.battles.items.totals[1].sum() == len(repeated)
        ones = np.ones((1, by_hand.battles.n_questions), dtype=np.int64)
        whole = replace(data, tournaments=by_hand)
        expected = drawn_ratings(whole, pd.DataFrame(ones, columns=by_hand.battles.questions))
        np.testing.assert_allclose(ratings[index], expected[0], atol=1e-6)


@pytest.fixture(scope="module")
def known(simulated, table, settings):
    return {"feature_table": table, **settings}


def test_surrogates_features_budgets_and_scores_are_compared(simulated, known):
    done = compare(
        *(simulated.arena, [QUICK]),
        budgets=[0.5, 1.0],
        scores=["close", "nothing"],
        against="close",
        repeats=1,
        **known,
    )
    contenders = ["linear, 0.5 of questions", "linear, 1 of questions", "close", "nothing"]
    assert list(done.table["rated_by"])[:4] == contenders
    macro = done.table.set_index(["language", "rated_by"]).loc["macro"]
    assert macro.loc["close", "tau"] > 0.6 > macro.loc["nothing", "tau"]
    assert np.isnan(macro.loc["close", "r2"])  # a score is not on the scale of ratings
    whole = validate(simulated.arena, "leave-systems-out", QUICK, 1, **known)
    assert macro.loc["linear, 1 of questions", "tau"] == whole.table.iloc[-1]["tau"]
    tested = done.differences.query("language == 'macro'")
    assert set(tested["minus"]) == {"close"}
    worse = tested.set_index("rated_by").loc["nothing"]
    assert worse["high"] < 0
    assert worse["p"] <= worse["p_holm"] < 0.05
    assert r"\toprule" in done.latex()
    assert len(done.draw().axes) == 3  # two languages and their mean


def test_errors_over_questions_and_both(simulated, known):
    errors = {}
    for over in ("systems", "questions", "both"):
        options = {"scores": ["close", "nothing"], "over": over, **known}
        done = compare(simulated.arena, [], **options)
        macro = done.table.query("language == 'macro'").set_index("rated_by")
        assert (macro["tau_low"] <= macro["tau"]).all()
        assert (macro["tau"] <= macro["tau_high"]).all()
        errors[over] = macro["standard_error"]
    assert (errors["both"] > errors["questions"]).all()
    assert (errors["both"] > 0.9 * errors["systems"]).all()


def test_several_arenas_have_a_mean(simulated, table, settings):
    first = simulated.arena
    info = first.info.model_copy(update={"name": "other"})
    other = replace(first, info=info)
    sets = {"lengths": "answer_length", "coverage": "content_coverage"}
    done = compare([first, other], QUICK, features=sets, repeats=1, **settings)
    assert list(dict.fromkeys(done.table["arena"])) == [first.info.name, "other", "mean"]
    rows = done.differences.set_index(["arena", "language"])
    own, mean = rows.loc[(first.info.name, "macro")], rows.loc[("mean", "macro")]
    assert (mean["rated_by"], mean["minus"]) == ("linear, lengths", "linear, coverage")
    assert mean["difference"] == pytest.approx(own["difference"])
    # Errors of arenas are independent, also of two with as many systems.
    alone = own["standard_error"]
    assert mean["standard_error"] == pytest.approx(alone / np.sqrt(2), rel=0.1)
    with pytest.raises(UsageError, match="name of its own"):
        compare([first, first], [], scores=["answer_length", "citations"], repeats=1, **settings)
    with pytest.raises(UsageError, match="of one arena"):
        compare([first, other], QUICK, feature_table=table)


def test_other_judges_are_compared_with_the_arenas(settings):
    arena = judged_by_many()
    rated = {"judge": "gpt <4>", "judges": ["person:Ada", "coin"], "over": "both"}
    done = compare(
        arena, [], scores=["answer_length"], features="answer_length", **rated, **settings
    )
    macro = done.table.query("language == 'macro'").set_index("rated_by")
    assert list(macro.index) == ["answer_length", "person:Ada", "coin"]
    assert macro.loc["person:Ada", "tau"] > macro.loc["coin", "tau"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"surrogates": [QUICK]}, "at least two"),
        ({"surrogates": [QUICK, QUICK]}, "once: linear"),
        ({"scores": ["closed", "nothing"]}, "did you mean 'close'"),
        ({"scores": ["close", "nothing", "close"]}, "names of their own: close"),
        ({"scores": ["close", "nothing"], "against": "clos"}, "unknown contender"),
        ({"scores": ["close"], "over": "people"}, "systems"),
        ({"budgets": [0.0, 1.0]}, "share"),
        ({"budget": [1.0]}, "budget"),
    ],
)
def test_what_cannot_be_compared_is_said(options, named, simulated, known):
    with pytest.raises(UsageError, match=named):
        compare(simulated.arena, **{"surrogates": [], "repeats": 1, **options}, **known)


@pytest.mark.parametrize(("error", "needed"), [(0.005, 5), (0.03, 45), (0.3, 100), (np.nan, 5)])
def test_systems_are_split_until_the_second_decimal_of_tau_holds(error, needed):
    table = pd.DataFrame({"language": ["en", "macro"], "split_error": [1.0, error]})
    assert max(needed_repeats(table, 5), 5) == needed


def test_more_splits_have_a_smaller_error(simulated, known):
    errors = []
    for repeats in (2, 8):
        done = validate(simulated.arena, "leave-systems-out", QUICK, repeats, **known)
        errors.append(done.table.iloc[-1]["split_error"])
    assert errors[1] < errors[0]
