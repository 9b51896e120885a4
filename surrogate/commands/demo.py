"""``surrogate-arena demo``: the main job on the simulated sample arena, held against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surrogate.commands.options import JobsOption, SeedOption, TournamentsOption


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder to write the board to.")] = Path(
        "out/demo"
    ),
    tournaments: TournamentsOption = 200,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
) -> None:
    """Build the board of the simulated sample arena and compare it with the known truth."""
    from arena.simulation import sample_folder, sample_truth
    from surrogate.board_folder import read_board
    from surrogate.commands import printing
    from surrogate.commands.board import board
    from surrogate.truth import compare_with_truth

    board(sample_folder(), out, tournaments=tournaments, seed=seed, jobs=jobs)
    compared = compare_with_truth(read_board(out).board, sample_truth())
    printing.print_columns("How close to the known truth (Kendall tau)", compared, list(compared))
