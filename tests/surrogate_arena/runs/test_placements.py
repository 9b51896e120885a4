"""How placements on one board came true on the next."""

import pandas as pd

from surrogate_arena.runs.placements import placement_remarks, placements


def rows(systems):
    columns = ["system", "rating", "rank", "place", "place_low", "place_high"]
    table = pd.DataFrame(systems, columns=columns).assign(language="en")
    return table.astype(dict.fromkeys(columns[2:], "Int64"))


BEFORE = rows(
    [
        ("a", 2.0, 1, None, None, None),
        ("b", 0.0, 2, None, None, None),
        ("c", -2.0, 3, None, None, None),
        ("inside", 1.0, None, 2, 1, 3),
        ("outside", 3.0, None, 1, 1, 2),
        ("waits", 0.0, None, 2, 1, 4),
    ]
)
AFTER = rows(
    [
        ("a", 2.1, 1, None, None, None),
        ("inside", 0.5, 2, None, None, None),
        ("b", 0.1, 3, None, None, None),
        ("c", -1.9, 4, None, None, None),
        ("outside", -2.5, 5, None, None, None),
        ("waits", 0.0, None, 2, 1, 4),
    ]
)


def test_a_rank_is_among_the_systems_that_were_ranked_when_it_was_placed():
    table = placements(BEFORE, AFTER).set_index("system")
    assert list(table.index) == ["inside", "outside"]
    assert table["rank"].tolist() == [2, 4]
    assert table["is_inside"].tolist() == [True, False]


def test_what_came_true_is_said_with_each_that_did_not():
    first, second = placement_remarks(placements(BEFORE, AFTER))
    assert first.sentence.startswith("1 of 2 placements hold")
    assert "1.5 from the places" in first.sentence
    assert str(second) == "en: outside was placed 1 (1 to 2), and verdicts rank it 4"


def test_without_placements_there_is_nothing_to_say():
    nothing = placements(AFTER[AFTER["rank"].notna()], AFTER)
    assert nothing.empty
    assert list(placement_remarks(nothing)) == []
