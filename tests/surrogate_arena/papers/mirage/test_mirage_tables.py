"""MIRAGE-Bench's tables 3 and 4 on a simulated arena."""

import numpy as np
import pytest

pytest.importorskip("surrogate_arena.studies", reason="needs the folder of studies")

from arena.data.errors import UsageError
from features.declare.feature import Feature
from features.measures.registry import GROUPS
from surrogate.learning.surrogate import find_surrogate
from surrogate_arena.papers.mirage.tables import papers_groups
from surrogate_arena.studies import validate


@pytest.mark.parametrize("surrogates", ["linear", ["linear"]])
def test_table_3_refuses_an_arena_too_small_before_answers_are_measured(simulated, surrogates):
    arena = simulated.arena
    small = arena.select(systems=list(arena.info.systems[:6]))
    unread = Feature("own", "", "", (), lambda _: pytest.fail("measured"))
    with pytest.raises(UsageError, match="needs at least 7"):
        validate(small, "table3", surrogates, 1, features=[unread])


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


def test_a_group_that_holds_the_good_feature_does_as_well_as_all(simulated, table, settings):
    """The good feature passes for one that an LLM rates, the other for language detection."""
    renamed = table.rename(columns={"close": "llm_overlap", "nothing": "target_language"})
    done = validate(simulated.arena, "table4", "linear", feature_table=renamed, **settings)
    taus = done.table.set_index(["language", "group"])["tau"].loc["macro"]
    assert taus["all features"] > 0.6
    assert taus["only LLM-measured"] == pytest.approx(taus["all features"], abs=0.2)
    assert taus["without low correlation"] == taus["only LLM-measured"]
    assert taus["without LLM-measured"] < taus["all features"] - 0.2
    assert "protocol:table4|" in done.signature


def test_a_group_that_is_not_there_has_no_tau_and_says_why(simulated, table, settings):
    held = simulated.arena.info.systems[:2]
    surrogate = find_surrogate("linear", missing="zero")
    found = validate(
        simulated.arena, "table4", surrogate, 2, holdout=held, feature_table=table, **settings
    )
    absent = found.table[found.table["group"] != "all features"]
    assert absent["tau"].isna().all()
    assert (absent["reason"] != "").all()
    assert (absent["features"] == 0).all()
    assert np.isfinite(found.table.loc[found.table["group"] == "all features", "tau"]).all()
    assert "surrogate:linear|rows:system|missing:zero|repeats:2|" in found.signature
    assert f"|holdout:{','.join(sorted(held))}|" in found.signature


def test_the_papers_tables_are_protocols_like_the_others(english_arena, quick_features):
    own = quick_features[quick_features["language"] == "en"]
    quick = {"repeats": 1, "tournaments": 2, "feature_table": own}
    compared = validate(english_arena, "table3", ["linear", "svr"], **quick)
    assert list(compared.table["surrogate"]) == ["linear", "svr"]
    by_groups = validate(english_arena, "table4", "linear", **quick)
    assert "protocol:table4|" in by_groups.signature
    with pytest.raises(UsageError, match="holdout"):
        validate(english_arena, "table3", "linear", holdout=["a", "b"], **quick)
    with pytest.raises(UsageError, match="table4 studies one surrogate"):
        validate(english_arena, "table4", ["linear", "svr"], **quick)
    with pytest.raises(UsageError, match="hold out x"):
        validate(english_arena, "table4", "linear", holdout=["x"], **quick)
