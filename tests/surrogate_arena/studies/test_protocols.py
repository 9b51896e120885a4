"""Protocols on a simulated arena: good features are found good, and nothing leaks."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena.computing import workers
from arena.data.errors import UsageError
from features import Feature
from surrogate.learning.cross_fitting import Repeats, leave_systems_out, train_and_rate
from surrogate.learning.surrogate import find_surrogate
from surrogate_arena.studies import validate, validation
from surrogate_arena.studies.protocols import best_fold, family_folds

QUICK = "linear"
TOGETHER = "default"
PROTOCOLS = [("leave-systems-out", QUICK), ("leave-language-out", TOGETHER)]
OTHERS = ("sklearn.ensemble.GradientBoostingRegressor(max_depth=2)", "linear")


def flipped(judgments, systems):
    """Turn round every judgment that one of the systems takes part in."""
    touched = judgments["system_a"].isin(systems) | judgments["system_b"].isin(systems)
    turned = judgments["winner"].replace({"a": "b", "b": "a"})
    return judgments.assign(winner=judgments["winner"].where(~touched, turned))


@pytest.mark.parametrize(("protocol", "name"), PROTOCOLS)
def test_a_good_feature_ranks_what_was_not_seen(protocol, name, simulated, table, settings):
    done = validate(simulated.arena, protocol, name, feature_table=table, repeats=2, **settings)
    macro = done.table.iloc[-1]
    assert macro["tau"] > 0.55
    assert macro["tau_low"] <= macro["tau"] <= macro["tau_high"]
    assert macro["pairwise_accuracy"] > 0.75
    assert list(done.table["language"]) == ["en", "sw", "macro"]
    # The reference system is not among the unseen.
    assert set(done.table["systems"]) == {11}


@pytest.mark.slow
def test_systems_without_a_row_of_features_are_left_out_and_counted(simulated, table, settings):
    """With three of them, a fold once held nothing but systems without a row."""
    gone = sorted(simulated.arena.info.systems)[:3]
    is_gone = table["system"].isin(gone) & (table["language"] == "en")
    done = validate(
        *(simulated.arena, "leave-systems-out", TOGETHER),
        **{"feature_table": table[~is_gone], "repeats": 1, **settings},
    )
    assert list(done.table["systems"])[:2] == [9, 11]
    first, second = list(done.table["reason"])[:2]
    assert "3 of 12" in first
    assert all(name in first for name in gone)
    assert second == ""


def test_families_and_the_best_are_held_out_together(simulated, table, settings, data_of):
    arena, data = simulated.arena, data_of(simulated.arena, table)
    names = sorted(arena.info.systems)
    made = pd.DataFrame({"system": names, "family": ["a"] * 4 + ["b"] * 3 + names[7:]})
    families = dict(zip(names, made["family"].map(lambda family: {family}), strict=True))
    held = [fold for _, _, fold in family_folds(data, families)]
    assert sorted(map(tuple, held)) == sorted(
        [tuple(names[:4]), tuple(names[4:7]), *((name,) for name in names[7:])]
    )
    [(_, _, best)] = best_fold(data)
    means = pd.concat([pd.Series(item.arena_ratings, item.systems) for item in data]).groupby(
        level=0
    )
    assert len(best) == 3
    assert set(best) & set(means.mean().nlargest(4).index)
    arena = replace(arena, attributes=made)
    for protocol in ("leave-families-out", "leave-best-out"):
        done = validate(arena, protocol, QUICK, feature_table=table, **settings)
        assert done.table.iloc[-1]["r2"] > 0.6
        assert np.isfinite(done.table.iloc[-1]["tau"])


@pytest.mark.slow
def test_a_feature_that_says_nothing_ranks_nothing(simulated, table, settings, monkeypatch):
    """Systems are split as often as their error needs, which would be a hundred times here."""
    monkeypatch.setattr(validation, "needed_repeats", lambda *_: 8)
    done = validate(
        *(simulated.arena, "leave-systems-out", QUICK),
        **{"feature_table": table.drop(columns="close"), **settings},
    )
    assert "|repeats:8|" in done.signature
    assert abs(done.table.iloc[-1]["tau"]) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random-forest", *OTHERS])
def test_what_is_held_out_has_no_part_in_what_is_learned(name, simulated, table, data_of):
    """Neither judgments of these systems in their ratings, nor one's features in the others'."""
    held = sorted(simulated.arena.info.systems)[:3]
    judged = simulated.arena.judgments
    changed = table.copy()
    changed.loc[changed["system"] == held[0], ["close", "nothing"]] = [1e6, -1e6]
    predictions = []
    for judgments, features in ((judged, table), (flipped(judged, held), table), (judged, changed)):
        data = data_of(replace(simulated.arena, judgments=judgments), features)
        rated, _ = train_and_rate(
            find_surrogate(name, seed=5),
            [item.without_systems(held) for item in data],
            pd.concat([item.rows(held) for item in data]),
        )
        assert np.isfinite(rated["rating"]).all()
        predictions.append(rated.set_index(["language", "system"])["rating"])
    first, turned, other = predictions
    pd.testing.assert_series_equal(turned, first, check_exact=True)
    rest = [name != held[0] for name in first.index.get_level_values("system")]
    pd.testing.assert_series_equal(other[rest], first[rest], check_exact=True)


@pytest.mark.slow
def test_folds_are_rated_on_the_scale_of_the_arena(simulated, table, data_of):
    """A feature that is the rating predicts it, however strong the held-out systems are."""
    exact = pd.concat(
        [
            item.X.assign(
                close=item.X["system"].map(dict(zip(item.systems, item.arena_ratings, strict=True)))
            )
            for item in data_of(simulated.arena, table)
        ]
    )
    data = data_of(simulated.arena, exact[list(table.columns.drop("nothing"))])
    for outcome in leave_systems_out(data, find_surrogate("linear"), Repeats(2, 0)):
        missed = outcome.predicted - outcome.arena_ratings
        # Nobody predicts the reference system.
        assert np.isnan(missed).any(axis=0).sum() == 1
        spread = np.nanmax(outcome.arena_ratings) - np.nanmin(outcome.arena_ratings)
        assert np.nanmax(np.abs(missed)) < 0.1 * spread
        assert np.abs(np.nanmean(missed)) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "name"), PROTOCOLS[:1])
def test_neither_the_order_of_rows_nor_the_jobs_change_a_byte(
    protocol, name, simulated, table, settings, monkeypatch
):
    monkeypatch.setattr(workers, "WORTH_PROCESSES", 0.0)
    arena = simulated.arena
    shuffled = replace(
        arena,
        judgments=arena.judgments.sample(frac=1, random_state=3).reset_index(drop=True),
        answers=arena.answers.sample(frac=1, random_state=4).reset_index(drop=True),
        info=arena.info.model_copy(update={"systems": arena.info.systems[::-1]}),
    )
    common = {"repeats": 1, **settings}
    first = validate(arena, protocol, name, feature_table=table, **common)
    other = table.sample(frac=1, random_state=5).reset_index(drop=True)
    second = validate(shuffled, protocol, name, feature_table=other, n_jobs=2, **common)
    pd.testing.assert_frame_equal(first.table, second.table, check_exact=True)


@pytest.mark.parametrize(
    ("protocol", "options", "named"),
    [
        ("oracle", {}, "'oracle'"),
        ("leave-best-out", {"surrogate": "oracle"}, "'oracle'"),
        ("ablation", {"surrogate": [QUICK, "svr"]}, "one surrogate"),
        ("leave-systems-out", {"surrogate": [QUICK, QUICK]}, "linear"),
        ("leave-systems-out", {"repeats": 0}, "repeats"),
        ("leave-systems-out", {"holdout": ["x"]}, "`holdout`"),
        ("leave-systems-out", {"judged": [1]}, "`judged`"),
    ],
)
def test_what_cannot_be_met_is_said(protocol, options, named, simulated, table, settings):
    with pytest.raises(UsageError, match=named):
        validate(simulated.arena, protocol, **options, feature_table=table, **settings)


def test_an_arena_too_small_is_refused_before_answers_are_measured(simulated, table, settings):
    arena, unread = simulated.arena, lambda _: pytest.fail("measured")
    judged = arena.judgments.query("language == 'en'")
    kept = judged[["system_a", "system_b"]].isin(sorted(arena.info.systems)[:4]).all(axis=1)
    small, own = replace(arena, judgments=judged[kept]), Feature("own", "", "", (), unread)
    for protocol in ("leave-systems-out", "leave-language-out"):
        with pytest.raises(UsageError, match="needs at least"):
            validate(small, protocol, TOGETHER, features=[own], **settings)
    with pytest.raises(UsageError, match="alone"):
        validate(*(arena, "leave-language-out", QUICK), feature_table=table, **settings)
