"""Ablations, importances and learning curves on an arena whose good feature is known."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest

from arena.data.errors import UsageError
from surrogate.validation import ablate, importances, learning_curves, validate
from surrogate.validation.ablations import feature_families, feature_subsets
from surrogate.validation.frontier import frontier
from surrogate.validation.importances import permuted_answers
from surrogate.validation.learning_curves import AXES, part_left
from surrogate.validation.replication import replication
from surrogate.validation.table3 import compare_surrogates
from surrogate.validation.table4 import compare_feature_groups

QUICK = "ridge"
STUDIES = (
    *(ablate, compare_feature_groups, compare_surrogates, frontier),
    *(importances, learning_curves, replication),
)
GROUPS = {"good": ["close"], "bad": ["nothing"]}


@pytest.fixture(scope="module")
def ablation(simulated, table, settings):
    return ablate(simulated.arena, QUICK, feature_table=table, repeats=1, tournaments=settings)


def rows_by(table, *keys):
    return table.set_index(list(keys))


def test_what_the_good_feature_is_worth_is_found(ablation):
    rows = rows_by(ablation.table, "language", "subset")
    assert set(rows.loc["en"].index) == {
        *("all", "without close", "without nothing", "only close", "only nothing")
    }
    without, alone = rows.loc[("macro", "without close")], rows.loc[("macro", "only close")]
    assert without["difference_high"] < 0
    assert alone["tau"] > 0.6
    assert abs(alone["difference"]) < 0.3
    whole = rows.loc[("macro", "all")]
    assert (whole[["difference", "difference_low", "difference_high"]] == 0).all()


def test_all_features_are_ranked_as_validate_does(ablation, simulated, table, settings):
    done = validate(
        *(simulated.arena, "leave-systems-out", QUICK),
        **{"feature_table": table, "repeats": 1, "tournaments": settings},
    )
    whole = rows_by(ablation.table, "language", "subset").loc[("macro", "all")]
    assert whole["tau"] == done.scores.tau
    assert whole["tau_low"] == done.scores.tau_low
    assert "protocol:ablation|" in ablation.signature


def test_a_subset_without_a_value_has_no_tau_and_says_why(simulated, table, settings):
    empty = table.assign(nothing=np.nan)
    done = ablate(
        *(simulated.arena, QUICK),
        **{"feature_table": empty, "repeats": 1, "tournaments": settings, "groups": GROUPS},
    )
    row = rows_by(done.table, "language", "subset").loc[("en", "only bad")]
    assert np.isnan(row["tau"])
    assert np.isnan(row["difference_low"])
    assert "0 features to train on" in row["reason"]


def test_features_are_grouped_by_what_they_look_at():
    columns = ["bleu", "citation_recall@10", "chrf", "own score", "english(identifier=langid)"]
    assert feature_families(columns) == {
        "overlap": ["bleu", "chrf"],
        "citations": ["citation_recall@10"],
        "own score": ["own score"],
        "language": ["english(identifier=langid)"],
    }


def test_groups_that_cannot_be_compared_are_refused():
    with pytest.raises(UsageError, match="no feature is named z; use a, b"):
        feature_subsets(["a", "b"], {"x": ["a"], "y": ["z"]})
    with pytest.raises(UsageError, match="1 group of features leaves nothing to compare"):
        feature_subsets(["a"], {"x": ["a"]})


def test_the_good_feature_matters_and_the_other_does_not(simulated, table, settings):
    done = importances(
        *(simulated.arena, "random-forest"),
        **{"feature_table": table, "repeats": 1, "permutations": 2, "tournaments": settings},
    )
    rows = rows_by(done.table, "language", "feature")
    for language in ("en", "sw"):
        good, bad = rows.loc[(language, "close")], rows.loc[(language, "nothing")]
        assert good["permutation_low"] > 0.15
        assert good["permutation_low"] <= good["permutation"] <= good["permutation_high"]
        assert abs(bad["permutation"]) < 0.3
        assert good["share"] + bad["share"] == pytest.approx(1)
        assert good["share_low"] > bad["share"]


def test_a_feature_without_values_has_no_importance(simulated, table, settings):
    empty = table.assign(nothing=np.where(table["language"] == "sw", np.nan, table["nothing"]))
    done = importances(
        *(simulated.arena, QUICK),
        **{"feature_table": empty, "repeats": 1, "permutations": 1, "tournaments": settings},
    )
    rows = rows_by(done.table, "language", "feature")
    assert rows.loc[("sw", "nothing")].isna().all()
    assert rows.loc[("sw", "close"), "share"] == 1
    assert rows.loc[("en", "nothing")].notna().all()


def test_the_jobs_change_nothing(simulated, table, settings):
    common = {"feature_table": table, "repeats": 1, "permutations": 1, "tournaments": settings}
    done = importances(simulated.arena, "gaussian-process", **common)
    again = importances(simulated.arena, "gaussian-process", **common, n_jobs=2)
    pd.testing.assert_frame_equal(done.table, again.table)


def test_a_permuted_feature_is_anothers_answer_by_answer(simulated, table, data_of):
    data = data_of(simulated.arena, table)[0]
    held = list(data.systems[:2])
    rows = permuted_answers(data, held, 0, ["close", "nothing"], 2, 0)
    plain = rows[rows["system"].isin(held)]
    pd.testing.assert_frame_equal(
        plain.sort_values(["system", "query_id"])[["close", "nothing"]].reset_index(drop=True),
        data.rows(held)
        .sort_values(["system", "query_id"])[["close", "nothing"]]
        .reset_index(drop=True),
    )
    assert rows["system"].nunique() == 2 * (1 + 2 * 2)
    turned = rows[rows["system"] == f"{held[0]}\x1f1"].set_index("query_id")
    own = plain[plain["system"] == held[0]].set_index("query_id")
    pd.testing.assert_series_equal(turned["nothing"], own["nothing"])
    donors = data.rows().groupby("system")["close"].apply(lambda part: set(part.dropna()))
    given = [name for name, values in donors.items() if set(turned["close"].dropna()) <= values]
    assert len(given) == 1
    assert given != [held[0]]


def test_curves_end_at_what_validate_finds(simulated, table, settings):
    common = {"feature_table": table, "repeats": 1, "tournaments": settings}
    done = learning_curves(simulated.arena, QUICK, shares=(0.1, 1.0), **common)
    rows = rows_by(done.table, "language", "axis", "share")
    whole = validate(simulated.arena, "leave-systems-out", QUICK, **common)
    for axis in AXES:
        assert rows.loc[("macro", axis, 1.0), "tau"] == whole.scores.tau
    few = rows.loc[("en", "systems", 0.1)]
    assert np.isnan(few["tau"])
    assert few["reason"]


@pytest.mark.parametrize("axis", AXES)
def test_parts_grow_and_never_hold_what_is_held_out(axis, simulated, table, data_of):
    data = data_of(simulated.arena, table)[0]
    held = list(data.systems[:3])
    sizes = []
    for share in (0.4, 0.7, 1.0):
        part = part_left(data, held, 0, axis, share, 0)
        assert not set(held) & {*part.systems, *part.X["system"]}
        sizes.append(len(part.judgments))
    assert sizes[0] < sizes[1] < sizes[2]
    assert sizes[2] == len(data.without(held).judgments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axes": ["moon"]}, "unknown axis"),
        ({"shares": [0.0]}, "shares must be above 0"),
        ({"repeats": 0}, "repeats must be at least 1"),
        ({"surrogate": "oracle"}, "unknown surrogate 'oracle'"),
    ],
)
def test_curves_that_cannot_be_drawn_are_refused(options, message, simulated, table):
    with pytest.raises(UsageError, match=message):
        learning_curves(simulated.arena, **options, feature_table=table)


@pytest.mark.parametrize("study", STUDIES)
def test_every_argument_of_a_study_is_told_once(study):
    """By the study itself, or by ``validate``, to which it then refers."""
    own, shared = (
        set(re.findall(r"^        (\w+): ", each.__doc__, re.MULTILINE))
        for each in (study, validate)
    )
    assert set(inspect.signature(study).parameters) <= own | shared
    assert "are those of ``validate``" in study.__doc__
    assert not {"arena", "features", "judge", "feature_table", "n_jobs", "progress"} & own
