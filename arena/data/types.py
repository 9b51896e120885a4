"""Types of arrays and callbacks that all packages share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
"""Places in another array, or codes such as those of ``pandas.factorize``."""
Codes = npt.NDArray[np.signedinteger[Any]]
"""The same in as few bytes as they need, -1 where missing: too few to multiply them."""
Integers = npt.NDArray[np.int64]
"""Counts, which must not depend on the platform's word."""
Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, the steps done and the steps in all."""
Record = dict[str, Any]
"""An object of JSON: a row, a passage, a message."""


def finish(progress: Progress | None, stage: str) -> None:
    """Report the end of a single-step stage."""
    if progress is not None:
        progress(stage, 1, 1)
