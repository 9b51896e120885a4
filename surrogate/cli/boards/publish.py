"""``surrogate-arena publish``: a board as a site, as figures, as tables, as cards."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.cli.options import FOLDER, checked_option, split_names
from surrogate.cli.targets import check_target

if TYPE_CHECKING:
    from surrogate.publish.figures.figure import Drawing

NOTHING_DRAWN = 1
SITE, FIGURES = "site", "figures"
CARDS = ("dataset-card", "model-card")
TABLES = ("csv", "json", "markdown", "latex", "parquet")
RECORDS = ("ragas", "deepeval")


def publish_command(
    source: Annotated[
        Path,
        typer.Argument(
            exists=True,
            help="Folder of the board; for ragas and deepeval of the arena; for figures also the "
            "file of a study (validate --json) or of judges (metaeval --out).",
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--as",
            help="site; figures; csv, json, markdown, latex or parquet; dataset-card or "
            "model-card; ragas or deepeval (an arena's answers as those tools read them).",
        ),
    ] = SITE,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder of a site or figures, else file. Default: ./site or ./figures, else "
            "standard output.",
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            help="Figures: of one language. Tables: a language, overall (mean ranks, default) or "
            "all. ragas, deepeval: answers in one language.",
        ),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", help="Tables: comma-separated columns.")
    ] = None,
    signature: Annotated[
        bool,
        typer.Option(
            "--signature/--no-signature", help="Tables and figures: print the board's signature."
        ),
    ] = True,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            help="Figures of a board: comma-separated heatmap, lollipops, importances, ratings, "
            "wins. Default: all it has data for.",
        ),
    ] = None,
    file_format: Annotated[str, typer.Option("--format", help="Figures: png or svg.")] = "png",
    arena: Annotated[
        Path | None,
        typer.Option("--arena", help="Site: folder of the arena, if it has moved since.", **FOLDER),
    ] = None,
    questions: Annotated[
        int,
        typer.Option(
            "--questions", min=0, help="Site: questions of a language to show all answers to."
        ),
    ] = 20,
    replication: Annotated[
        Path | None,
        typer.Option(
            "--replication",
            help="Site: study of replication to draw on the judge's page. Default: "
            "replication.json in the board's folder.",
        ),
    ] = None,
    license_name: Annotated[
        str | None,
        typer.Option("--license", help="Cards: license of what is published, such as cc-by-4.0."),
    ] = None,
    systems: Annotated[
        str | None,
        typer.Option(
            "--systems",
            help="ragas, deepeval: comma-separated systems. Default: all but the reference.",
        ),
    ] = None,
) -> None:
    """Publish a board: as pages, figures, tables or cards.

    In CSV, a text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    checked_option("--as", form, (SITE, FIGURES, *TABLES, *CARDS, *RECORDS))
    if out is not None:
        check_target(out, is_folder=form in (SITE, FIGURES))
    if form == SITE:
        _write_site(source, out or Path(SITE), arena, questions, replication)
    elif form == FIGURES:
        drawings = _drawings(source, split_names(kind), language, signature)
        _draw(drawings, out or Path(FIGURES), file_format, strict=kind is not None)
    elif form in TABLES:
        _write_table(source, form, language, split_names(columns), signature, out)
    elif form in CARDS:
        _write_text(_card(source, form, license_name), out)
    else:
        _write_text(_records(source, form, language, split_names(systems)), out)


def _write_site(
    source: Path, out: Path, arena: Path | None, questions: int, replication: Path | None
) -> None:
    from surrogate.board.board import Board
    from surrogate.publish.site import write_site

    board = Board.load(source)
    index = write_site(board, out, arena, questions=questions, replication=replication)
    print(f"Site written: open {index}")


def _drawings(
    source: Path, kinds: Sequence[str], language: str | None, signature: bool
) -> list[Drawing]:
    from surrogate.board.board import Board
    from surrogate.publish.figures.board_figures import KINDS, board_drawings, study_drawings

    if source.is_file():
        return list(study_drawings(source, language))
    return list(board_drawings(Board.load(source), kinds or list(KINDS), language, signature))


def _draw(drawings: Sequence[Drawing], out: Path, suffix: str, strict: bool) -> None:
    """Write the figures; where no kind was named, those without data are listed."""
    import warnings

    from arena.data.errors import UsageError
    from surrogate.publish.figures.figure import FORMATS, MissingGlyphWarning, save

    checked_option("--format", suffix, FORMATS)
    out.mkdir(parents=True, exist_ok=True)
    left_out = []
    for drawing in drawings:
        try:
            figure = drawing.draw()
        except UsageError as error:
            if strict:
                raise
            left_out.append(f"{drawing.name} left out: {error}")
            continue
        path = out / f"{drawing.name}.{suffix}"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", MissingGlyphWarning)
            save(figure, path)
        left_out += [f"{path.name}: {warning.message}" for warning in caught]
        print(path)
    for line in left_out:
        print(line, file=sys.stderr)
    if drawings and not any((out / f"{item.name}.{suffix}").exists() for item in drawings):
        raise SystemExit(NOTHING_DRAWN)


def _write_table(
    source: Path,
    form: str,
    language: str | None,
    columns: Sequence[str],
    signature: bool,
    out: Path | None,
) -> None:
    from surrogate.board.board import Board
    from surrogate.publish.exports import OVERALL, export_text, exported_board, write_export

    exported = exported_board(Board.load(source), language or OVERALL, columns, signature)
    if out is None:
        sys.stdout.write(export_text(exported, form))
    else:
        write_export(exported, form, out)
        print(out)


def _card(source: Path, form: str, license_name: str | None) -> str:
    from surrogate.board.board import Board
    from surrogate.publish.cards import dataset_card, model_card

    card = dataset_card if form == "dataset-card" else model_card
    return card(Board.load(source), license_name or "")


def _records(source: Path, form: str, language: str | None, systems: Sequence[str]) -> str:
    """Return an arena's answers, of one language or all, as a tool's records."""
    from arena.adapters.exports import answer_records, records_text
    from arena.data.errors import checked_choice
    from arena.data.folder import read_arena

    arena = read_arena(source)
    records = answer_records(arena, form, list(systems))
    if language is not None:
        checked_choice(language, arena.info.languages, "language")
        records = [record for record in records if record["language"] == language]
    return records_text(records, form)


def _write_text(text: str, out: Path | None) -> None:
    if out is None:
        sys.stdout.write(text)
        return
    from arena.data.files import write_text

    write_text(text, out)
    print(out)
