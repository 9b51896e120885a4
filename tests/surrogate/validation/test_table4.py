"""The paper's groups of features, on an arena whose good feature is known."""

import numpy as np
import pytest

from arena.data.errors import UsageError
from features.measures.registry import GROUPS
from surrogate.learning.names import find_surrogate
from surrogate.validation.table4 import ABSENT, compare_feature_groups, papers_groups


@pytest.mark.parametrize("features", [GROUPS["paper"], GROUPS["as-published"]])
def test_the_papers_features_fall_into_its_groups(features):
    columns = [str(feature) for feature in features]
    groups = papers_groups(columns)
    assert [len(group) for group in groups.values()] == [11, 9, 7, 2]
    assert groups["only LLM-measured"] == ["llm_overlap", "llm_fluency"]
    low = set(columns) - set(groups["without low correlation"])
    assert {name.partition("(")[0] for name in low} == {
        *("target_language", "english", "nli_entailment", "nli_neutral")
    }


@pytest.fixture(scope="module")
def done(simulated, table, settings):
    """The good feature passes for one that an LLM rates, the other for language detection."""
    renamed = table.rename(columns={"close": "llm_overlap", "nothing": "target_language"})
    return compare_feature_groups(
        simulated.arena, "ridge", feature_table=renamed, tournaments=settings
    )


def test_a_group_that_holds_the_good_feature_does_as_well_as_all(done):
    taus = done.table.set_index(["language", "group"])["tau"].loc["macro"]
    assert taus["all features"] > 0.6
    assert taus["only LLM-measured"] == pytest.approx(taus["all features"], abs=0.2)
    assert taus["without low correlation"] == taus["only LLM-measured"]
    assert taus["without LLM-measured"] < taus["all features"] - 0.2
    assert "protocol:table4|" in done.signature


def test_a_group_that_is_not_there_has_no_tau_and_says_why(simulated, table, settings):
    found = compare_feature_groups(
        *(simulated.arena, find_surrogate("ridge", missing="zero")),
        **{"feature_table": table, "tournaments": settings, "repeats": 2},
    )
    absent = found.table[found.table["group"] != "all features"]
    assert absent["tau"].isna().all()
    assert (absent["reason"] == ABSENT).all()
    assert (absent["features"] == 0).all()
    assert np.isfinite(found.table.loc[found.table["group"] == "all features", "tau"]).all()
    assert "surrogate:ridge|missing:zero|repeats:2|" in found.signature


def test_held_out_systems_may_be_named(simulated, table, settings):
    systems = simulated.arena.info.systems[:2]
    found = compare_feature_groups(
        *(simulated.arena, "ridge"),
        **{"feature_table": table, "tournaments": settings, "holdout": systems},
    )
    assert f"|holdout:{','.join(sorted(systems))}|" in found.signature
    with pytest.raises(UsageError, match="cannot hold out nobody"):
        compare_feature_groups(
            *(simulated.arena, "ridge"),
            **{"feature_table": table, "tournaments": settings, "holdout": ["nobody"]},
        )
