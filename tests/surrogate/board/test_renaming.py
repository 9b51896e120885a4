"""What systems are called changes nothing but their names, whatever is drawn among them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from surrogate import build_board

DIGITS = 5
"""Of a board's numbers, of which six are written: sums in another order differ in the last."""


def renamed(table, names, *columns):
    return table.assign(**{name: table[name].map(names) for name in columns})


def called(arena, names):
    """The arena with other names."""
    reference = arena.info.reference_system
    return replace(
        arena,
        info=arena.info.model_copy(
            update={
                "systems": tuple(sorted(names[name] for name in arena.info.systems)),
                "reference_system": names.get(reference),
            }
        ),
        answers=renamed(arena.answers, names, "system"),
        judgments=renamed(arena.judgments, names, "system_a", "system_b"),
        published_ratings=renamed(arena.published_ratings, names, "system"),
    )


@pytest.fixture(scope="module")
def names(english_arena):
    systems = sorted(english_arena.info.systems)
    order = np.random.default_rng(2).permutation(len(systems))
    return {name: systems[place] for name, place in zip(systems, order, strict=True)}


@pytest.fixture(scope="module")
def published(english_arena, simulation):
    """The arena with ratings as published, and no judgments."""
    truth = simulation.truth[simulation.truth["language"] == "en"]
    ratings = truth.rename(columns={"quality": "rating"})
    table = ratings[["language", "system", "rating"]].assign(judge="people", standard_error=0.2)
    return replace(english_arena, judgments=english_arena.judgments[:0], published_ratings=table)


@pytest.fixture
def arenas(small_arena, english_arena, published):
    judgments = small_arena.judgments
    unjudged = small_arena.info.systems[3]
    without = judgments[(judgments[["system_a", "system_b"]] != unjudged).all(axis=1)]
    return {
        "judged": english_arena,
        "some unjudged in two languages": replace(small_arena, judgments=without),
        "published": published,
        "without verdicts": replace(english_arena, judgments=english_arena.judgments[:0]),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "surrogate"),
    [
        ("without verdicts", "linear"),
        ("judged", "default"),
        ("judged", "random-forest"),
        ("some unjudged in two languages", "default"),
        ("published", "random-forest"),
    ],
)
def test_a_renaming_changes_nothing_but_names(arenas, kind, names, quick_features, surrogate):
    arena, options = arenas[kind], {"surrogate": surrogate, "tournaments": 2, "seed": 5}
    features = quick_features[quick_features["language"].isin(arena.info.languages)]
    one = build_board(arena, feature_table=features, **options)
    features = renamed(features, names, "system")
    two = build_board(called(arena, names), feature_table=features, **options)
    for table in ("ratings", "overall", "verdict_ratings", "importances"):
        ours, theirs = getattr(one, table), getattr(two, table)
        if "system" in ours:
            ours = renamed(ours, names, "system")
        keys = [name for name in ("language", "system", "feature") if name in ours]
        pd.testing.assert_frame_equal(
            *(item.sort_values(keys, ignore_index=True) for item in (ours, theirs)),
            atol=10**-DIGITS,
            rtol=10**-DIGITS,
        )
    for language, said in one.summary.languages.items():
        other = two.summary.languages[language]
        for name in ("tau", "tau_low", "tau_high", "tau_unseen", "tau_unseen_low"):
            assert getattr(other, name) == pytest.approx(getattr(said, name), nan_ok=True)
