"""Rankings from fewer judgments, held against the whole arena."""

import numpy as np
import pandas as pd
import pytest
from round_robins import round_robin

from arena.data.errors import UsageError
from surrogate_arena.studies.sampling import COLUMNS, DESIGNS, study_sampling


@pytest.mark.parametrize("design", ["questions", "pairs"])
def test_agreement_grows_with_the_share(design):
    shares = [0.04, 0.2, 0.5, 1.0]
    study = study_sampling(round_robin(), shares=shares, designs=[design], repeats=60)
    assert (np.diff(study.table["tau"]) > 0).all()
    assert (np.diff(study.table["judgments"]) > 0).all()
    assert (study.table["tau_low"] <= study.table["tau"]).all()
    assert (study.table["tau"] <= study.table["tau_high"]).all()


def test_halves_are_compared_with_questions_that_they_do_not_hold():
    designs = ["questions", "halves"]
    study = study_sampling(round_robin(), shares=[0.1, 0.5, 0.8], designs=designs, repeats=60)
    taus = study.table.set_index(["design", "share"])["tau"]
    assert (taus["halves"] < taus["questions"].head(2)).all()
    # There is no part above one half, which would hold some of its target.
    assert list(taus["halves"].index) == [0.1, 0.5]
    assert "their own included" in study.notes[0]


def test_table_holds_a_row_a_language_design_and_share():
    judgments = pd.concat([round_robin(5, 6, language="fi"), round_robin(5, 6, language="en")])
    study = study_sampling(judgments, shares=[0.5, 0.25], repeats=3, seed=7)
    assert list(study.table) == list(COLUMNS)
    assert list(study.table["language"]) == ["en"] * 6 + ["fi"] * 6
    assert list(study.table["design"]) == [name for name in DESIGNS for _ in range(2)] * 2
    assert list(study.table["judgments"]) == [30, 20, 30, 15, 30, 20] * 2
    assert study.signature == "repeats:3|ties:half|ridge:0.1|seed:7"


@pytest.mark.parametrize("design", ["questions", "pairs"])
def test_the_same_seed_gives_the_same_table_whatever_the_order_of_rows(design):
    judgments = round_robin(6, 8)
    swapped = judgments.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    swapped["winner"] = swapped["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    settings = {"shares": [0.1, 0.4], "designs": [design], "repeats": 5}
    table = study_sampling(judgments, **settings, seed=3).table
    shuffled = judgments.sample(frac=1.0, random_state=1)
    pd.testing.assert_frame_equal(study_sampling(shuffled, **settings, seed=3).table, table)
    pd.testing.assert_frame_equal(study_sampling(swapped, **settings, seed=3).table, table)
    assert not study_sampling(judgments, **settings, seed=4).table.equals(table)


def test_too_few_systems_or_judgments_are_refused():
    for judgments in (round_robin(2, 5), round_robin(3, 2).iloc[:0]):
        with pytest.raises(UsageError):
            study_sampling(judgments)
    with pytest.raises(UsageError):
        study_sampling(round_robin(3, 2).assign(winner="tie"), repeats=2)


@pytest.mark.parametrize("settings", [{"shares": [0.0]}, {"shares": [0.5, 1.5]}, {"repeats": 0}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(UsageError):
        study_sampling(round_robin(3, 2), **settings)
