"""A simulated arena whose true ranking is known, for tests and for templates.

Entities are fictional. Answers hold errors at each system's known rate by language, which tells its
quality; verdicts are drawn by the Bradley-Terry model with ties.
"""

from importlib.resources import files
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.folder import read_arena


def simulated_folder() -> Path:
    """Return the folder of the simulated arena."""
    return Path(str(files(__name__) / "sample"))


def simulated_arena() -> Arena:
    """Read the arena: 12 systems, 6 languages, 24 questions each."""
    return read_arena(simulated_folder())


def simulated_truth() -> pd.DataFrame:
    """Read ``language, system, quality, rank``, 1 the best."""
    types = {"language": "str", "system": "str", "quality": "float64", "rank": "int64"}
    return pd.read_csv(simulated_folder() / "truth.csv", keep_default_na=False, dtype=types)
