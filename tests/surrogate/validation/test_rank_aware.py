"""Boosted trees that learn an order, with the systems of a tournament as the query group."""

import sys

import numpy as np
import pytest

from arena.data.errors import MissingDependencyError, UsageError
from surrogate.learning.names import find_surrogate
from surrogate.learning.rank_aware import RankAwareSurrogate
from surrogate.validation import validate

NAMES = ("lambdamart", "pooled-lambdamart", "rank-pairwise", "relative-lambdamart")


@pytest.fixture(scope="module")
def arenas(simulated, table, arenas_of):
    return arenas_of(simulated.arena, table)


@pytest.mark.parametrize("name", NAMES)
def test_an_order_is_learned_that_holds_for_unseen_systems(name, simulated, table, settings):
    pytest.importorskip("xgboost", reason="xgboost is an extra")
    done = validate(
        *(simulated.arena, "leave-systems-out", name),
        **{"feature_table": table, "repeats": 1, "tournaments": settings},
    )
    assert done.scores.tau > 0.5


def test_the_systems_of_one_tournament_are_one_group(arenas):
    field = arenas[0].field_without(())
    rows = RankAwareSurrogate()._rows(field)
    systems, tournaments = len(field.answers.systems), len(field.tournaments.draws)
    np.testing.assert_array_equal(rows.groups, np.repeat(np.arange(tournaments), systems))
    first = field.tournaments.coefficients[0]
    best = int(np.argmax(first))
    assert rows.grades[:systems][best] == systems - 1
    np.testing.assert_array_equal(np.argsort(rows.grades[:systems]), np.argsort(first))


def test_languages_are_groups_of_their_own_where_they_share_a_model(arenas):
    pytest.importorskip("xgboost", reason="xgboost is an extra")
    fields = [arena.field_without(arena.systems[:3]) for arena in arenas]
    fitted = find_surrogate("pooled-lambdamart").fit(fields, 4)
    assert len({id(model) for model in fitted.models.values()}) == 1
    for field in fields:
        rated = fitted.predict(field.judged, field.answers)
        assert rated.mean() == pytest.approx(field.targets.mean(), abs=1e-5)
        assert rated.std() == pytest.approx(field.targets.std(), rel=1e-5)
    elsewhere = fitted.predict(
        *[_renamed(tensor) for tensor in (fields[0].judged, fields[0].answers)]
    )
    assert np.isfinite(elsewhere).all()


def _renamed(tensor):
    from dataclasses import replace

    return replace(tensor, language="xx")


@pytest.mark.parametrize("objective", ["rank:ndcg", "rank:pairwise"])
def test_the_same_seed_gives_the_same_bytes(arenas, objective):
    pytest.importorskip("xgboost", reason="xgboost is an extra")
    field = arenas[0].field_without(())
    one, two = (
        RankAwareSurrogate(objective).fit([field], 9).predict(field.judged, field.answers)
        for _ in range(2)
    )
    assert one.tobytes() == two.tobytes()


def test_a_system_without_answers_has_no_rating_and_two_are_too_few(arenas):
    pytest.importorskip("xgboost", reason="xgboost is an extra")
    field = arenas[0].field_without(arenas[0].systems[:1])
    unseen = arenas[0].judged.take(systems=arenas[0].systems[:1])
    unseen.answered[:] = False
    unseen.values[:] = np.nan
    fitted = find_surrogate("lambdamart").fit([field], 0)
    assert np.isnan(fitted.predict(unseen, field.answers)).all()
    with pytest.raises(UsageError, match="at least 3"):
        find_surrogate("lambdamart").fit([arenas[0].field_without(arenas[0].systems[2:])], 0)


def test_xgboost_is_asked_for_by_its_extra(monkeypatch, arenas):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingDependencyError, match=r"surrogate-arena\[xgboost\]"):
        find_surrogate("lambdamart").fit([arenas[0].field_without(())], 0)
