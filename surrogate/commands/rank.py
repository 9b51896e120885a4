"""``surrogate-arena rank``: place new systems on an existing board."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.commands.options import JobsOption, JsonOption

if TYPE_CHECKING:
    import pandas as pd

    from surrogate.ranking import Placement


def rank(
    answers: Annotated[Path, typer.Argument(help="Answers of the new systems (answers.jsonl).")],
    judge: Annotated[Path, typer.Option("--judge", help="Folder of the board.")],
    arena: Annotated[
        Path | None,
        typer.Option("--arena", help="Arena folder, where it has moved since the board was made."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="CSV file for the board with the new systems.")
    ] = None,
    jobs: JobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Place new systems on a board; its rows stay as they are, and no LLM is called."""
    from arena import read_answers, read_arena
    from arena.rows import write_rows
    from surrogate.board_folder import arena_folder, read_board
    from surrogate.ranking import rank_systems

    published = read_board(judge)
    read = read_arena(arena or arena_folder(judge, published.summary))
    placed = rank_systems(published, read_answers(answers, read.queries), read, n_jobs=jobs)
    if out is not None:
        write_rows(placed.board, out)
    _print_placement(placed, as_json)


def _print_placement(placed: Placement, as_json: bool) -> None:
    from surrogate.commands import printing

    new = set(placed.new["system"])
    if as_json:
        printing.print_json(
            {
                "new": printing.records(placed.new),
                "board": printing.records(placed.board),
                "overall": printing.records(placed.overall),
            }
        )
        return
    languages = sorted(placed.board["language"].unique())
    if len(languages) > 1:
        overall = _marked(placed.overall, new)
        columns = ["rank", "system", "mean_rank", "languages", "coverage", "new"]
        printing.print_columns("Board with the new systems", overall, columns)
    for language in languages:
        board = _marked(placed.board[placed.board["language"] == language], new)
        columns = ["rank", "system", "rating", "coverage", "new", "note"]
        shown = board if len(languages) == 1 else board[board["new"] != ""]
        ranked = int(board["rank"].notna().sum())
        printing.print_columns(f"{language}: {ranked} ranked systems", shown, columns)


def _marked(table: pd.DataFrame, new: set[str]) -> pd.DataFrame:
    return table.assign(new=["new" if system in new else "" for system in table["system"]])
