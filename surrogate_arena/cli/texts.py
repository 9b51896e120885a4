"""How pandas keeps texts while a command runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def python_texts() -> Iterator[None]:
    """Keep texts as Python objects: Arrow's arrays are slow to make for many small tables."""
    import pandas as pd  # --help needs none

    with pd.option_context("mode.string_storage", "python"):
        yield
