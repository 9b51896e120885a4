"""How pages write numbers."""

import pytest

from surrogate_arena.pages.formats import significant


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2.05e-21, "0.000"),
        (-1.7e-14, "0.000"),
        (2.1e-05, "2.10e−05"),
        (0.0417, "0.042"),
        (-7.631, "−7.63"),
        (257.94, "257.9"),
    ],
)
def test_what_rounding_leaves_of_zero_is_zero(value, shown):
    assert significant(value) == shown
