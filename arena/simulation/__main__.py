"""Write a simulated arena folder: ``python -m arena.simulation FOLDER [--seed N]``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from arena.data.errors import UsageError
from arena.simulation.simulator import SAMPLE_SEED, simulate, write_simulation


def write_sample(arguments: Sequence[str] | None = None) -> None:
    """Simulate an arena and write it with its truth."""
    parser = argparse.ArgumentParser(prog="python -m arena.simulation", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write the arena; created if absent")
    parser.add_argument("--seed", type=int, default=SAMPLE_SEED, help="seed of all draws")
    chosen = parser.parse_args(arguments)
    try:
        write_simulation(simulate(seed=chosen.seed), chosen.folder)
    except UsageError as error:
        parser.error(str(error))


if __name__ == "__main__":
    write_sample()
