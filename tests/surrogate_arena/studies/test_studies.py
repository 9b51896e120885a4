"""Studies by part of the features or judgments, on an arena whose good feature is known."""

from dataclasses import replace

import numpy as np
import pytest

from arena.data.errors import UsageError
from surrogate_arena.studies import Study, validate
from surrogate_arena.studies.feature_groups import (
    feature_families,
    feature_subsets,
)
from surrogate_arena.studies.protocols import AXES, part_left

QUICK = "linear"


@pytest.fixture(scope="module")
def ablation(simulated, table, settings):
    return validate(simulated.arena, "ablation", QUICK, 1, feature_table=table, **settings)


def rows_by(table, *keys):
    return table.set_index(list(keys))


def test_what_the_good_feature_is_worth_is_found(ablation):
    rows = rows_by(ablation.table, "language", "rated_by")
    subsets = {"without close", "without nothing", "close alone", "nothing alone"}
    assert set(rows.loc["en"].index) == {"all", *subsets}
    assert rows.loc[("macro", "close alone"), "tau"] > 0.6
    assert set(ablation.differences["minus"]) == {"all"}
    differences = rows_by(ablation.differences, "language", "rated_by")
    assert set(differences.loc["en"].index) == subsets
    assert differences.loc[("macro", "without close"), "difference"] < 0
    assert abs(differences.loc[("macro", "close alone"), "difference"]) < 0.35


def test_features_are_grouped_by_what_they_look_at():
    columns = ["bleu", "citation_recall@10", "rouge_l", "own score", "english(identifier=langid)"]
    assert feature_families(columns) == {
        "overlap": ["bleu", "rouge_l"],
        "citations": ["citation_recall@10"],
        "own score": ["own score"],
        "language": ["english(identifier=langid)"],
    }
    with pytest.raises(UsageError, match="1 family"):
        feature_subsets(["bleu"], reads_texts=False)
    assert list(feature_subsets(["bleu"], reads_texts=True)) == [
        *("all", "without texts", "without overlap", "texts alone", "overlap alone")
    ]


@pytest.mark.slow
def test_texts_are_a_family_of_a_surrogate_that_reads_them(simulated, table, settings):
    """A family alone once had the texts beside it: features without a value ranked as they do."""
    done = validate(simulated.arena, "ablation", repeats=1, feature_table=table, **settings)
    rows = rows_by(done.table, "language", "rated_by")
    assert set(rows.loc["macro"].index) == {
        *("all", "without texts", "without close", "without nothing"),
        *("texts alone", "close alone", "nothing alone"),
    }
    blank = replace(simulated.arena, answers=simulated.arena.answers.assign(answer=""))
    unread = validate(blank, "ablation", repeats=1, feature_table=table, **settings)
    without = rows_by(unread.table, "language", "rated_by")
    alone = rows.loc["macro"]
    whole = without.loc[("macro", "all"), "tau"]
    assert alone.loc["without texts", "tau"] == pytest.approx(whole, abs=0.15)
    assert alone.loc["close alone", "tau"] > 0.6 > alone.loc["nothing alone", "tau"]
    for name in ("texts alone", "without texts"):
        assert np.isnan(without.loc[("macro", name), "tau"])
        assert without.loc[("en", name), "reason"] == "no answer has a value of texts"


@pytest.mark.parametrize("surrogate", [pytest.param("default", marks=pytest.mark.slow), QUICK])
def test_a_family_without_any_value_is_marked_and_not_scored(surrogate, simulated, table, settings):
    gone = table.assign(absent=np.nan)
    gone.loc[gone["language"] == "sw", "nothing"] = np.nan
    done = validate(simulated.arena, "ablation", surrogate, 1, feature_table=gone, **settings)
    rows = rows_by(done.table, "language", "rated_by")
    differences = rows_by(done.differences, "language", "rated_by")
    tested = ["difference", "standard_error", "low", "high", "p", "p_holm"]
    taus = ["tau", "standard_error", "tau_low", "tau_high"]
    for subset in ("without absent", "absent alone"):
        for language in ("en", "sw", "macro"):
            assert rows.loc[(language, subset), taus].isna().all()
            assert differences.loc[(language, subset), tested].isna().all()
        assert rows.loc[("en", subset), "reason"] == "no answer has a value of absent"
    for subset in ("without nothing", "nothing alone"):
        assert np.isnan(rows.loc[("sw", subset), "tau"])
        assert rows.loc[("sw", subset), "reason"] == "no answer has a value of nothing"
        # The mean over languages is of those where the family has values.
        english, macro = rows.loc[("en", subset)], rows.loc[("macro", subset)]
        assert macro[taus].to_list() == pytest.approx(english[taus].to_list(), nan_ok=True)
        english, macro = differences.loc[("en", subset)], differences.loc[("macro", subset)]
        assert macro["difference"] == english["difference"]
    without, everything = rows.loc[("en", "without close")], rows.loc[("en", "all")]
    difference = differences.loc[("en", "without close"), "difference"]
    assert difference == pytest.approx(without["tau"] - everything["tau"])


@pytest.mark.slow
def test_curves_end_at_what_validate_finds(simulated, table, settings):
    common = {"feature_table": table, "repeats": 1, **settings}
    done = Study.of(simulated.arena, QUICK, **common).learning_curves(shares=(0.1, 1.0))
    rows = rows_by(done.table, "language", "axis", "share")
    whole = validate(simulated.arena, "leave-systems-out", QUICK, **common)
    for axis in AXES:
        assert rows.loc[("macro", axis, 1.0), "tau"] == whole.table.iloc[-1]["tau"]
    # A part too small to learn from has no tau, and takes no systems from the others.
    few = rows.loc[("en", "systems", 0.1)]
    assert np.isnan(few["tau"])
    assert few["reason"]
    assert done.differences["minus"].str.startswith("1 of ").all()


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
    assert sizes[2] == len(data.without_systems(held).judgments)
