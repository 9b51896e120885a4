"""Predicted ratings of systems whose wording is that of judged ones."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from arena.sample import sample_arena
from surrogate import build_board, rank_systems
from surrogate.learning.copied_wording import (
    MOSTLY_COPIED,
    beside_originals,
    copied_shares,
)

RATED = np.array([2.0, 0.0, -2.0])


def compared(cosines, is_self):
    """Compare systems with the field on one question."""
    cosines = np.array(cosines)
    return SimpleNamespace(
        is_self=is_self,
        answered=np.ones((len(cosines), 1), dtype=bool),
        mean_cosines=cosines,
        cosines=cosines[None],
    )


def field_of(cosines):
    return compared(cosines, np.eye(3, dtype=bool))


FIELD = field_of([[1.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.5, 0.5, 1.0]])


def rated_with(cosines, prediction, field=FIELD):
    """Rate a system whose own wording, if it were all, would be rated as predicted."""
    view = compared([cosines], np.zeros((1, 3), dtype=bool))
    shares = copied_shares(view, field, np.ones(3, dtype=bool))
    own = np.array([(1 - shares.sum()) * prediction])
    return float(beside_originals(own, view, field, RATED, shares)[0])


@pytest.mark.parametrize("cosines", [[0.5, 0.5, 0.5], [0.4, 0.4, 0.4], [0.1, 0.1, 0.1]])
def test_systems_no_liker_than_judged_ones_are_rated_as_predicted(cosines):
    assert rated_with(cosines, 3.5) == pytest.approx(3.5)


@pytest.mark.parametrize("cosine", [0.8, 0.9, 0.95, 1.0])
def test_a_disguised_copy_is_rated_at_most_as_its_original(cosine):
    assert rated_with([cosine, 0.5, 0.5], 3.5) <= RATED[0]


@pytest.mark.parametrize("known", [0.1, 0.5, 0.9])
def test_a_copy_in_letters_that_nobody_else_writes_is_rated_as_its_original(known):
    assert rated_with([known, 0.5 * known, 0.5 * known], 3.5) <= RATED[0]


def test_a_system_unlike_all_others_gains_nothing_by_the_one_it_is_least_unlike():
    assert rated_with([0.3, 0.1, 0.1], -1.0) == -1.0


def test_a_disguised_copy_that_lost_by_its_disguise_stays_below():
    half = 0.5 + 0.5 * 0.5
    assert rated_with([half, 0.5, 0.5], -1.0) == pytest.approx(0.5)


def test_a_mixture_of_two_moves_towards_both():
    moved = rated_with([0.7, 0.7, 0.5], 3.5)
    assert moved == pytest.approx(0.2 * 3.5 + 0.4 * 2.0 + 0.4 * 0.0)


def test_a_little_of_anothers_wording_moves_a_rating_a_little():
    share = MOSTLY_COPIED / 2
    moved = rated_with([0.5 + 0.5 * share, 0.5, 0.5], 3.0)
    assert moved == pytest.approx((1 - share) * 3.0 + share * 2.0)


def test_a_judged_system_of_another_script_hides_no_copy():
    """It is known by a small part, as a copy in other letters is."""
    field = field_of([[1.0, 0.5, 0.1], [0.5, 1.0, 0.02], [0.1, 0.02, 1.0]])
    assert rated_with([1.0, 0.5, 0.1], 3.5, field) == pytest.approx(RATED[0])


@pytest.fixture(scope="module")
def judged_by_people():
    """The sample without one system, the answers of that system, and the best of the others."""
    arena = sample_arena()
    left_out = arena.info.systems[-1]
    rows = arena.judgments
    is_judged = (rows["system_a"] != left_out) & (rows["system_b"] != left_out)
    names = tuple(name for name in arena.info.systems if name != left_out)
    is_own = arena.answers["system"] == left_out
    others = replace(
        arena,
        info=arena.info.model_copy(update={"systems": names}),
        answers=arena.answers[~is_own].reset_index(drop=True),
        judgments=rows[is_judged].reset_index(drop=True),
    )
    board = build_board(others, features="answer_length,bleu", tournaments=2)
    best = board.ratings.sort_values("rating")["system"].iloc[-1]
    return board, others, arena.answers[is_own], best


def test_answers_of_a_judged_system_count_as_its_rating_and_the_rest_as_predicted(judged_by_people):
    board, others, own, best = judged_by_people
    its_answers = others.answers[others.answers["system"] == best].set_index("query_id")["answer"]
    forms = []
    shares = [0.0, 0.25, 0.5, 0.75, 1.0]
    for share in shares:
        is_copied = (np.arange(len(own)) * share) % 1 + share >= 1
        texts = own["answer"].mask(is_copied, own["query_id"].map(its_answers))
        forms.append(own.assign(system=f"{share}", answer=texts))
    rated = rank_systems(board, pd.concat(forms), others).explanations
    ratings = rated.set_index("system")["expected"][[f"{share}" for share in shares]]
    assert ratings.is_monotonic_increasing
    on_a_line = np.interp(shares, [0, 1], ratings.iloc[[0, -1]])
    spread = board.ratings["rating"].std()
    assert np.abs(ratings - on_a_line).max() < 0.25 * spread
