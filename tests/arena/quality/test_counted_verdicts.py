"""Verdicts counted by judge, question, pair and order, against majorities of rows."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from arena.quality.agreement import (
    GROUP,
    NOT_SHOWN,
    PAIR,
    CountedVerdicts,
    majorities,
    oriented_verdicts,
)
from arena.rating.judgments import shown_sides

ITEM = [*GROUP, "query_id", *PAIR]
ROWS = st.tuples(
    st.sampled_from(["en", "de"]),
    st.sampled_from(["one", "two", None]),
    st.sampled_from(["q1", "q2"]),
    st.permutations(["x", "y", "z"]),
    st.sampled_from(["a", "b", "tie"]),
    st.sampled_from(["shown", "none"]),
)


@given(st.lists(ROWS, min_size=1, max_size=40))
def test_counts_equal_majorities_of_rows(rows):
    columns = ["language", "judge", "query_id", "system_a", "system_b", "winner", "sides"]
    records = [(*row[:3], *row[3][:2], *row[4:]) for row in rows]
    judgments = pd.DataFrame(records, columns=columns)
    counted = CountedVerdicts.of(judgments)
    items = counted.groups.iloc[counted.group].reset_index(drop=True)
    items["first"] = counted.systems[counted.first]
    items["second"] = counted.systems[counted.second]

    is_shown = counted.order != NOT_SHOWN
    cells = items.iloc[counted.item[is_shown]].reset_index(drop=True)
    cells["first_on_a"] = counted.order[is_shown] == 1
    cells["outcome"] = counted.majority[is_shown]
    by_order = majorities(oriented_verdicts(shown_sides(judgments)), [*ITEM, "first_on_a"])
    pd.testing.assert_frame_equal(cells, by_order[list(cells)], check_dtype=False)

    decided = judgments[judgments["winner"] != "tie"]
    expected = majorities(oriented_verdicts(decided), ITEM)
    items["outcome"] = np.sign(counted.balance)
    both = items.merge(expected, how="left", on=ITEM, suffixes=("", "_expected"))
    assert both["outcome"].tolist() == both["outcome_expected"].fillna(0).tolist()
