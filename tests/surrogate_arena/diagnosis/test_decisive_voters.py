"""One voter may decide first place."""

import pandas as pd
import pytest
from voters import votes

from surrogate_arena.diagnosis.decisive_voters import decisive_voters


def test_a_voter_who_decides_first_place_is_named():
    table = votes(30, 4, seed=1)
    spam = votes(1, 300).assign(voter="spammer", winner="a", system_a="z", system_b="x")
    spam["query_id"] = [f"s{number}" for number in range(300)]
    [voter] = decisive_voters(pd.concat([table, spam], ignore_index=True))
    assert voter.statistic == pytest.approx(300 / 420)
    assert voter.sentence.startswith("1 of 31 voters, spammer, cast 300 of 420 votes: without")
    assert voter.sentence.endswith("not z")
    assert decisive_voters(table.drop(columns="voter")) == []
    assert decisive_voters(table.assign(voter="one")) == []
