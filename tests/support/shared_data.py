"""Real arenas, cases and papers beside a checkout; tests of them are skipped elsewhere."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared"


def shared_path(path):
    """Return a path below the shared data; the test is skipped where there are none."""
    if not SHARED.is_dir():
        pytest.skip("the shared data are not here")
    return SHARED / path
