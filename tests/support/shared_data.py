"""Where real arenas and cases lie beside a checkout; tests of them are skipped elsewhere."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
