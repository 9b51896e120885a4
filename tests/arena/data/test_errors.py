"""Counts as sentences have them."""

import pytest

from arena.data.errors import count_of


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ((0, "system"), "0 systems"),
        ((1, "system"), "1 system"),
        ((1200, "system"), "1,200 systems"),
        ((1, "reply", "replies"), "1 reply"),
        ((2, "reply", "replies"), "2 replies"),
    ],
)
def test_one_is_singular(given, shown):
    assert count_of(*given) == shown
