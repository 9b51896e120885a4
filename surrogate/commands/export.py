"""``surrogate-arena export``: a board for papers, sheets, other programs and hubs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from surrogate.report.board_tables import BoardTables

TABLES = ("csv", "json", "markdown", "latex", "parquet")
CARDS = ("dataset-card", "model-card")


def export(
    board: Annotated[Path, typer.Argument(help="Folder of the board.")],
    format: Annotated[
        str,
        typer.Option(
            "--format", help="csv, json, markdown, latex, parquet, dataset-card or model-card."
        ),
    ],
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            help="A language; overall (mean ranks, the default); or all, every language's rows.",
        ),
    ] = None,
    license_name: Annotated[
        str | None,
        typer.Option("--license", help="For cards: licence of what is published, as cc-by-4.0."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write; standard output by default.")
    ] = None,
) -> None:
    """Write a board as a table, or the card that publishes it.

    In CSV, a text that a spreadsheet would run as a formula (it begins with =, +, - or @) or that
    begins with an apostrophe gets an apostrophe in front; taking one off gives it back.
    """
    from arena import UsageError
    from surrogate.report.board_tables import read_board_tables

    if format not in TABLES + CARDS:
        raise UsageError(f"--format is {format!r}; use one of {', '.join(TABLES + CARDS)}")
    if format in CARDS and language is not None:
        raise UsageError("a card is of the whole board; leave --language out")
    if format not in CARDS and license_name is not None:
        raise UsageError("--license is for cards; leave it out")
    tables = read_board_tables(board)
    if format == "parquet":
        _write_parquet(tables, language, out)
        return
    text = (
        _card(board, tables, format, license_name)
        if format in CARDS
        else _table(tables, format, language)
    )
    _write(text, out)


def _table(tables: BoardTables, kind: str, language: str | None) -> str:
    from surrogate import exports

    writers = {
        "csv": exports.csv_text,
        "json": exports.json_text,
        "markdown": exports.markdown_table,
        "latex": exports.latex_table,
    }
    return writers[kind](exports.exported_board(tables, language or exports.OVERALL))


def _card(folder: Path, tables: BoardTables, kind: str, license_name: str | None) -> str:
    from surrogate import exports

    writer = exports.dataset_card if kind == "dataset-card" else exports.model_card
    return writer(folder, tables, license_name or "")


def _write_parquet(tables: BoardTables, language: str | None, out: Path | None) -> None:
    from arena import UsageError
    from surrogate import exports

    if out is None:
        raise UsageError("parquet is no text; name a file with --out")
    exports.write_parquet(exports.exported_board(tables, language or exports.OVERALL), out)
    print(out)


def _write(text: str, out: Path | None) -> None:
    """Write UTF-8, with line ends as they are, to a file or to standard output."""
    from arena.streams import atomic_path

    if out is None:
        sys.stdout.write(text)
        return
    with atomic_path(out) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
    print(out)
