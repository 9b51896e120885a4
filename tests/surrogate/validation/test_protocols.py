"""Protocols on a simulated arena: good features are found good, and nothing leaks."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena.data.errors import UsageError
from surrogate.learning.cross_fitting import (
    UNMEASURED,
    Repeats,
    leave_systems_out,
    system_folds,
    train_and_rate,
)
from surrogate.learning.names import find_surrogate
from surrogate.validation import PROTOCOLS, validate
from surrogate.validation.protocols import family_folds

QUICK = "ridge"
OTHERS = ("sklearn.ensemble.GradientBoostingRegressor(max_depth=2)", "linear")


def flipped(judgments, systems):
    """Turn round every judgment that one of the systems takes part in."""
    touched = judgments["system_a"].isin(systems) | judgments["system_b"].isin(systems)
    turned = judgments["winner"].replace({"a": "b", "b": "a"})
    return judgments.assign(winner=judgments["winner"].where(~touched, turned))


@pytest.mark.parametrize("protocol", ["leave-systems-out", "leave-language-out", "mirage"])
def test_a_good_feature_ranks_what_was_not_seen(protocol, simulated, table, settings):
    done = validate(
        simulated.arena, protocol, QUICK, feature_table=table, repeats=2, tournaments=settings
    )
    assert done.scores.tau > 0.6
    assert done.scores.tau_low <= done.scores.tau <= done.scores.tau_high
    assert done.scores.pairwise_accuracy > 0.8
    assert set(done.per_language) == {"en", "sw"}
    assert {item.n_systems for item in done.per_language.values()} == {12}


@pytest.mark.parametrize("name", [QUICK, "gaussian-process"])
@pytest.mark.parametrize("protocol", ["leave-systems-out", "mirage"])
def test_systems_without_a_row_of_features_are_left_out_and_counted(
    protocol, name, simulated, table, settings
):
    """With three of them, a fold once held nothing but systems without a row."""
    gone = sorted(simulated.arena.info.systems)[:3]
    is_gone = table["system"].isin(gone) & (table["language"] == "en")
    done = validate(
        *(simulated.arena, protocol, name),
        **{"feature_table": table[~is_gone], "repeats": 1, "tournaments": settings},
    )
    assert done.per_language["en"].n_systems == 9
    assert done.per_language["en"].reason == UNMEASURED.format(3, 12, ", ".join(gone))
    assert (done.per_language["sw"].n_systems, done.per_language["sw"].reason) == (12, None)


@pytest.mark.parametrize("name", [QUICK, "gaussian-process"])
@pytest.mark.parametrize("protocol", ["leave-systems-out", "leave-language-out", "mirage"])
def test_a_language_without_a_row_of_features_does_not_stop_the_others(
    protocol, name, simulated, table, settings
):
    done = validate(
        *(simulated.arena, protocol, name),
        **{"feature_table": table[table["language"] != "sw"], "repeats": 1},
        tournaments=settings,
    )
    assert done.per_language["sw"].n_systems == 0
    assert "12 of 12 judged systems left out" in done.per_language["sw"].reason
    assert (done.per_language["en"].n_systems == 12) == (protocol != "leave-language-out")


def test_a_feature_that_says_nothing_ranks_nothing(simulated, table, settings):
    done = validate(
        *(simulated.arena, "leave-systems-out", QUICK),
        **{"feature_table": table.drop(columns="close"), "tournaments": settings},
    )
    assert abs(done.scores.tau) < 0.5


@pytest.mark.parametrize("name", OTHERS)
def test_surrogates_of_other_kinds_rank_unseen_systems(name, simulated, table, settings):
    done = validate(
        *(simulated.arena, "leave-systems-out", name),
        **{"feature_table": table, "repeats": 1, "tournaments": settings},
    )
    assert done.scores.tau > 0.5


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("name", ["random-forest", "ridge", *OTHERS])
def test_judgments_of_held_out_systems_have_no_part_in_their_ratings(
    name, pooled, simulated, table, data_of
):
    held = sorted(simulated.arena.info.systems)[:3]
    judged = simulated.arena.judgments
    predictions = []
    for judgments in (judged, flipped(judged, held)):
        data = data_of(replace(simulated.arena, judgments=judgments), table)
        rated, _ = train_and_rate(
            find_surrogate(name, pooled=pooled, seed=5),
            [item.without(held) for item in data],
            pd.concat([item.rows(held) for item in data]),
        )
        predictions.append(rated["rating"].to_numpy())
    assert np.isfinite(predictions[0]).all()
    assert predictions[0].tobytes() == predictions[1].tobytes()


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("name", ["random-forest", "ridge", *OTHERS])
def test_a_held_out_system_has_no_part_in_the_ratings_of_others(
    name, pooled, simulated, table, data_of
):
    held = sorted(simulated.arena.info.systems)[:3]
    changed = table.copy()
    changed.loc[changed["system"] == held[0], ["close", "nothing"]] = [1e6, -1e6]
    predictions = []
    for features in (table, changed):
        data = data_of(simulated.arena, features)
        rated, _ = train_and_rate(
            find_surrogate(name, pooled=pooled, seed=5),
            [item.without(held) for item in data],
            pd.concat([item.rows(held) for item in data]),
        )
        predictions.append(rated.loc[rated["system"] != held[0], "rating"].to_numpy())
    assert predictions[0].tobytes() == predictions[1].tobytes()


def test_folds_are_rated_without_their_judgments(simulated, table, data_of):
    data = data_of(simulated.arena, table)
    outcome = leave_systems_out(data, find_surrogate(QUICK), Repeats(1, 0))[0]
    held = system_folds(data, Repeats(1, 0))[0][2]
    turned = replace(simulated.arena, judgments=flipped(simulated.arena.judgments, held))
    again = leave_systems_out(data_of(turned, table), find_surrogate(QUICK), Repeats(1, 0))[0]
    places = [data[0].systems.index(name) for name in held]
    moved = again.predicted[0, places] - outcome.predicted[0, places]
    np.testing.assert_allclose(moved, moved[0], atol=1e-12)  # where the arena's origin is, no more


def test_families_are_held_out_whole_and_each_system_once(
    simulated, table, settings, data_of, monkeypatch
):
    systems = sorted(simulated.arena.info.systems)
    families = dict(zip(systems, "aaaabbbccdef", strict=True))
    monkeypatch.setattr("surrogate.validation.protocols.own_family", families.get)
    folds = family_folds(data_of(simulated.arena, table), Repeats(3, 0))
    for repeat in range(3):
        parts = [fold for of, _, fold in folds if of == repeat]
        assert sorted(name for fold in parts for name in fold) == systems
        held = [{families[name] for name in fold} for fold in parts]
        assert sorted(family for fold in held for family in fold) == list("abcdef")
        assert sorted(map(len, parts)) == [2, 3, 3, 4]
    done = validate(
        *(simulated.arena, "leave-families-out", QUICK),
        **{"feature_table": table, "repeats": 1, "tournaments": settings},
    )
    assert done.scores.n_systems == len(systems)
    assert done.scores.tau > 0.5


def test_one_family_cannot_be_left_out(simulated, table, data_of, monkeypatch):
    monkeypatch.setattr("surrogate.validation.protocols.own_family", lambda name: "Meta")
    with pytest.raises(UsageError, match="all systems are of the family Meta"):
        family_folds(data_of(simulated.arena, table), Repeats(1, 0))


def test_folds_are_rated_on_the_scale_of_the_arena(simulated, table, data_of):
    """A feature that is the rating predicts it, however strong the held-out systems are."""
    exact = pd.concat(
        [
            item.X.assign(
                close=item.X["system"].map(dict(zip(item.systems, item.truth, strict=True)))
            )
            for item in data_of(simulated.arena, table)
        ]
    )
    data = data_of(simulated.arena, exact[list(table.columns.drop("nothing"))])
    for outcome in leave_systems_out(data, find_surrogate("linear"), Repeats(2, 0)):
        missed = outcome.predicted - outcome.truth
        assert np.abs(missed).max() < 0.1 * np.ptp(outcome.truth)
        assert np.abs(missed.mean()) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["leave-systems-out", "leave-language-out", "mirage"])
def test_neither_the_order_of_rows_nor_the_jobs_change_a_byte(protocol, simulated, table, settings):
    arena = simulated.arena
    shuffled = replace(
        arena,
        judgments=arena.judgments.sample(frac=1, random_state=3).reset_index(drop=True),
        answers=arena.answers.sample(frac=1, random_state=4).reset_index(drop=True),
        info=arena.info.model_copy(update={"systems": arena.info.systems[::-1]}),
    )
    common = {"repeats": 1, "tournaments": settings}
    first = validate(arena, protocol, QUICK, feature_table=table, **common)
    other = table.sample(frac=1, random_state=5).reset_index(drop=True)
    second = validate(shuffled, protocol, QUICK, feature_table=other, n_jobs=2, **common)
    assert json.dumps(first.as_json()) == json.dumps(second.as_json())
    for one, two in zip(first.outcomes, second.outcomes, strict=True):
        assert one.predicted.tobytes() == two.predicted.tobytes()


def test_a_surrogate_carries_over_to_another_arena(simulated, table, settings):
    arena = simulated.arena
    systems = sorted(arena.info.systems)
    parts = []
    for names in (systems[:6], systems[6:]):
        judgments = arena.judgments
        kept = judgments["system_a"].isin(names) & judgments["system_b"].isin(names)
        parts.append(replace(arena, judgments=judgments[kept].reset_index(drop=True)))
    common = {"feature_table": table, "test": {"feature_table": table}, "tournaments": settings}
    done = validate(parts[0], "transfer", QUICK, test_arena=parts[1], repeats=1, **common)
    assert done.outcomes[0].systems == tuple(systems[6:])
    assert done.scores.tau > 0.5
    itself = validate(arena, "transfer", QUICK, test_arena=arena, repeats=1, **common)
    assert np.isnan(itself.scores.tau)
    assert "no judgments are left" in itself.per_language["en"].reason
    assert itself.as_json()["tau"] is None


@pytest.mark.parametrize(
    ("protocol", "options", "message"),
    [
        ("oracle", {}, "unknown protocol 'oracle'; use one of mirage, leave-systems-out"),
        ("mirage", {"surrogate": "oracle"}, "unknown surrogate 'oracle'; use one of random-forest"),
        ("mirage", {"repeats": 0}, "repeats must be at least 1"),
        ("mirage", {"holdout": ["x"]}, "cannot hold out x: not judged"),
        ("leave-systems-out", {"holdout": ["x"]}, "only the protocol mirage holds out systems"),
        ("transfer", {}, "a test arena is what the protocol transfer needs"),
    ],
)
def test_what_cannot_be_met_is_said(protocol, options, message, simulated, table, settings):
    with pytest.raises(UsageError, match=message):
        validate(simulated.arena, protocol, **options, feature_table=table, tournaments=settings)


def test_too_few_systems_or_languages_are_said(simulated, table, settings):
    arena = simulated.arena
    few = sorted(arena.info.systems)[:4]
    judgments = arena.judgments
    kept = judgments["system_a"].isin(few) & judgments["system_b"].isin(few)
    small = replace(arena, judgments=judgments[kept & (judgments["language"] == "en")])
    common = {"feature_table": table, "tournaments": settings}
    with pytest.raises(UsageError, match="4 judged systems are too few to leave some out"):
        validate(small, "leave-systems-out", QUICK, **common)
    with pytest.raises(UsageError, match="at least 2 judged languages, there is only en"):
        validate(small, "leave-language-out", QUICK, **common)
    with pytest.raises(UsageError, match="holding out 2 of 4 systems leaves fewer than 3"):
        validate(small, "mirage", QUICK, **common)


def test_the_table_of_protocols_is_complete():
    assert set(PROTOCOLS) == {
        *("mirage", "leave-systems-out", "leave-language-out", "transfer"),
        "leave-families-out",
    }
