"""Counts as sentences have them, and names that may be meant."""

import pytest

from arena.data.wording import count_of, did_you_mean


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


def test_a_close_name_is_offered():
    assert did_you_mean("SYSTEM-1", ["system-10", "other"]) == "did you mean 'system-10'?"
    assert did_you_mean("x" * 10_000, ["y" * 10_000] * 10_000) == ""
    assert did_you_mean("de", []) == ""
