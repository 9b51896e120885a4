"""``surrogate-arena diff``: what moved between two boards, and whether it is more than noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surrogate.cli.options import FOLDER, JsonOption

if TYPE_CHECKING:
    from surrogate.runs.diff import BoardDiff


def diff(
    old: Annotated[Path, typer.Argument(help="Folder of the earlier board.", **FOLDER)],
    new: Annotated[Path, typer.Argument(help="Folder of the later board.", **FOLDER)],
    language: Annotated[
        str | None,
        typer.Option("--language", help="One language, or overall; all of them by default."),
    ] = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print the changes as CSV to standard output.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say what moved between two boards, and whether that is more than noise."""
    from arena.data.errors import UsageError
    from surrogate.board.board import Board
    from surrogate.cli.printing import print_json
    from surrogate.runs.diff import diff_boards

    if as_csv and as_json:
        raise UsageError("--csv and --json exclude each other; ask for one of them")
    found = diff_boards(Board.load(old), Board.load(new))
    if language is not None:
        found = found.of_language(language)
    if as_json:
        print_json(found.as_json())
    elif as_csv:
        print(found.as_csv(), end="")
    else:
        _print(found, every_language=language is not None)


def _print(found: BoardDiff, every_language: bool) -> None:
    """Print all of one language; of several, all languages together and what moved in each."""
    from surrogate.cli.printing import print_columns, print_table
    from surrogate.runs.diff import OVERALL

    for (language, kind), rows in found.changes.groupby(["language", "kind"], sort=False):
        in_full = every_language or language == OVERALL
        shown = rows if in_full else rows[rows["verdict"].isin(["moved", "new", "gone"])]
        counts = ", ".join(
            f"{count} {verdict}" for verdict, count in rows["verdict"].value_counts().items()
        )
        title = f"{language}, {kind} rating: {counts}"
        if len(shown):
            cells = [_cells(row) for row in shown.to_dict("records")]
            print_table(title, ["system", "rank", "rating", "p", "verdict", "reason"], cells)
        else:
            print(f"\n{title}")
    if len(found.settings):
        print_columns("Settings that changed", found.settings, list(found.settings))
    for note in found.notes:
        print(f"Note: {note}")


def _cells(row: dict[str, Any]) -> list[object]:
    """Show one system: ``4 → 2 (+2)`` and ``+0.310 ± 0.120``, the change and its error."""
    from surrogate.cli.printing import cell

    rank = f"{cell(row['rank_old'])} → {cell(row['rank_new'])} ({_signed(row['rank_change'], 'd')})"
    error = cell(row["standard_error"])
    rating = f"{_signed(row['rating_change'], '.3f')} ± {error}"
    return [row["system"], rank, rating, row["p_value"], row["verdict"], row["reason"]]


def _signed(value: float | None, form: str) -> str:
    from surrogate.cli.printing import cell, is_missing

    return cell(None) if is_missing(value) else format(value, f"+{form}")
