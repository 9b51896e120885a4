"""Systems better than all learned from are said to be so, others seldom."""

import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from simulations import sample_part

from features import extract, parse_features
from surrogate.learning.cross_fitting import Repeats
from surrogate.learning.names import find_surrogate
from surrogate.validation import TournamentSettings, validate
from surrogate.validation.frontier import FRONTIER, rate_held
from surrogate.validation.study import Study

FEATURES = parse_features("answer_length,content_coverage,citation_recall@10")
SETTINGS = TournamentSettings(tournaments=5, seed=2)


@pytest.fixture(scope="module")
def study():
    arena = sample_part(languages=("en", "es"), questions=8).arena
    unsendable = threading.RLock()  # as displays of progress have one
    return validate(
        arena,
        "frontier",
        features=FEATURES,
        repeats=1,
        tournaments=SETTINGS,
        n_jobs=2,
        progress=lambda *_: unsendable.acquire(),
    )


def test_every_language_and_the_mean_are_told(study):
    assert list(study.table["language"]) == ["en", "es", "macro"]
    assert (study.table["better"] > 0).all()
    assert study.table["others"].le(24).all()
    assert (
        study.table[["flagged", "false_alarms"]]
        .apply(lambda part: part.between(0, 1))
        .all(axis=None)
    )
    mean = study.table.iloc[:2][["flagged", "false_alarms"]].mean()
    pd.testing.assert_series_equal(
        study.table.iloc[2][mean.index].astype(float), mean, check_names=False
    )
    assert "protocol:frontier" in study.signature


def test_judgments_of_what_is_held_out_are_not_learned_from(small_arena):
    held = list(small_arena.info.systems[:3])
    rows = small_arena.judgments
    theirs = rows["system_a"].isin(held) | rows["system_b"].isin(held)
    turned = rows.assign(winner=rows["winner"].where(~theirs, "a"))
    table = extract(small_arena, FEATURES)
    first, second = (
        rate_held(
            Study.of(
                replace(small_arena, judgments=judgments),
                feature_table=table,
                tournaments=SETTINGS,
            ).languages,
            *(find_surrogate(), Repeats(1, 0), FRONTIER, held),
        )
        for judgments in (rows, turned)
    )
    assert set(first["system"]) == set(held)
    np.testing.assert_allclose(first["rating"], second["rating"])
    assert not np.allclose(first["truth"], second["truth"])


def test_better_systems_are_flagged_more_often_than_others(study):
    macro = study.table.set_index("language").loc["macro"]
    assert macro["flagged"] > 2 * macro["false_alarms"]
    assert macro["false_alarms"] < 0.35
