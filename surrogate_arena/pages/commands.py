"""Boards for others: ``publish``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option, echo

from arena.data.errors import UsageError, checked_choice
from arena.data.wording import split_names
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.folders import imported
from surrogate_arena.cli.options import check_target
from surrogate_arena.cli.printing import plain_warnings
from surrogate_arena.cli.setting_options import takes_settings
from surrogate_arena.pages.site_settings import SiteSettings

if TYPE_CHECKING:
    from surrogate.board.board import Board
    from surrogate_arena.pages.figures.figure import Drawing

SITE = "site"
FIGURES = "figures"
RECORDS = "eee"
CROISSANT = "croissant"
LATEX = "latex"
FOLDERS = (SITE, FIGURES, RECORDS)
STUDY_DRAWINGS = "papers.figures:study_drawings"
READ_STUDY = "studies.study_table:read_study"


@takes_settings(SiteSettings, "title", "license")
def publish(
    source: Annotated[
        Path,
        Argument(
            exists=True,
            help="Board folder; for figures and latex, also the file of a study "
            "(validate --json); for figures of judges, the file from metaeval --out; "
            "for --hub and croissant, an arena folder.",
        ),
    ],
    settings: SiteSettings,
    form: Annotated[
        str,
        Option(
            "--as",
            help="site, figures, csv, latex, trec, eee (records of Every Eval Ever); of an arena "
            "folder: croissant.",
        ),
    ] = SITE,
    out: Annotated[
        Path | None,
        Option(
            help="Folder of a site, figures or records, else file. Default: ./site, ./figures or "
            "./eee, else standard output"
        ),
    ] = None,
    language: Annotated[
        str | None,
        Option(help="Figures: language of ratings. Tables: a language, overall (default) or all."),
    ] = None,
    columns: Annotated[
        str | None,
        Option(
            help="Tables: comma-separated columns. Default: all (LaTeX: what "
            "fits; trec: rating,wins)"
        ),
    ] = None,
    signature: Annotated[
        bool, Option("--signature/--no-signature", help="Print the board's signature.")
    ] = True,
    file_format: Annotated[str, Option("--format", help="Figures: png, svg or pdf.")] = "png",
    hub: Annotated[
        str | None,
        Option(
            metavar="OWNER/NAME",
            help="Upload to the Hugging Face hub: an arena folder as a data set; a "
            "board as a data set, and its pages as a Space; new ones are "
            "private. The token is HF_TOKEN.",
        ),
    ] = None,
    arena: opt.MovedArena = None,
) -> None:
    """Publish a board: as pages, figures or tables, or on the Hugging Face hub."""
    from surrogate_arena.pages.exports import FORMATS, OVERALL, export_text

    checked_choice(form, (*FOLDERS, *FORMATS, CROISSANT), "form (--as)")
    if hub is not None:
        if form != SITE or out is not None:
            raise UsageError("--hub uploads tables and pages; leave --as and --out out")
        _upload(source, hub, arena, settings)
        return
    if out is not None:
        check_target(out, is_folder=form in FOLDERS)

    if form == CROISSANT:
        from surrogate_arena.pages.croissant import croissant_text

        _write_table(croissant_text(source, settings), out)
        return

    from surrogate.board.board import Board
    from surrogate_arena.pages.site import write_site

    if form == FIGURES:
        _draw(_drawings(source, language), out or Path(FIGURES), file_format, signature)
        return
    if form == LATEX and source.is_file():
        _write_table(imported(READ_STUDY)(source).latex(), out)
        return
    board = Board.load(source)
    if form == SITE:
        index = write_site(board, out or Path(SITE), arena, settings)
        print(f"Site written: open {index}")
        return
    if form == RECORDS:
        _write_records(board, out or Path(RECORDS), settings)
        return
    text = export_text(board, form, language or OVERALL, split_names(columns), signature=signature)
    _write_table(text, out)


def _drawings(source: Path, language: str | None) -> list[Drawing]:
    from surrogate.board.board import Board
    from surrogate_arena.pages.figures.board_figures import board_drawings
    from surrogate_arena.pages.figures.figure import Drawing

    if source.is_file():
        study_drawings = imported(STUDY_DRAWINGS)
        return [Drawing(*drawing) for drawing in study_drawings(source)]
    return list(board_drawings(Board.load(source), language))


def _write_records(board: Board, out: Path, settings: SiteSettings) -> None:
    from surrogate_arena.pages.every_eval_ever import write_records

    for system in write_records(board, out, settings):
        echo(f"{system} left out: it has no rating", err=True)
    print(out)


def _write_table(text: str, out: Path | None) -> None:
    from arena.data.writing import is_stream, write_text

    if out is None:
        sys.stdout.write(text)
        return
    write_text(text, out)
    if not is_stream(out):
        print(out)


def _upload(source: Path, repository: str, arena: Path | None, settings: SiteSettings) -> None:
    from arena.data.folder import read_arena
    from arena.data.schema import INFO_FILE
    from surrogate.board.board import Board
    from surrogate_arena.pages.hub import upload_arena, upload_board

    if (source / INFO_FILE).is_file():
        print(f"Data set: {upload_arena(read_arena(source), repository, settings)}")
        return
    data_set, space = upload_board(Board.load(source), repository, settings, arena)
    print(f"Data set: {data_set}\nSpace: {space}")


def _draw(drawings: Sequence[Drawing], out: Path, suffix: str, signature: bool) -> None:
    from surrogate_arena.pages.figures.figure import FORMATS, write_drawings

    checked_choice(suffix, FORMATS, "format")
    with plain_warnings():
        paths, reasons = write_drawings(drawings, out, suffix, signature=signature)
    for path in paths:
        print(path)
    for name, reason in reasons.items():
        echo(f"{name} left out: {reason}", err=True)
    if not paths:
        raise SystemExit(1)  # nothing could be drawn
