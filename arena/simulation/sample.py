"""The sample arena that comes with the package, and writing simulated arenas like it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pandas as pd

from arena.folder import Arena, read_arena, write_arena
from arena.rows import read_rows, write_rows
from arena.simulation.simulator import Simulation

SAMPLE_SEED = 0
"""Seed that the sample was simulated with, all else left at the defaults of ``simulate``."""

TRUTH_FILE = "truth.csv"


def sample_folder() -> Path:
    """Return the arena folder that comes with the package."""
    return Path(str(files("arena.simulation") / "sample"))


def sample_arena() -> Arena:
    """Read the sample: 12 simulated systems, 6 languages, 24 questions each, all pairs judged."""
    return read_arena(sample_folder())


def sample_truth() -> pd.DataFrame:
    """Read the true qualities of the sample's systems.

    Returns:
        Columns ``language, system, quality, rank``; see ``Simulation``.
    """
    types = {"language": "str", "system": "str", "quality": "float64", "rank": "int64"}
    return read_rows(sample_folder() / TRUTH_FILE).table.astype(types)


def write_simulation(simulation: Simulation, folder: Path | str) -> None:
    """Write a simulated arena as an arena folder, with its truth as ``truth.csv``.

    Raises:
        UsageError: If the folder holds an arena in another format.
    """
    folder = Path(folder)
    write_arena(simulation.arena, folder)
    write_rows(simulation.truth, folder / TRUTH_FILE)
