"""Commands that publish a board: report, plot, export."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.cli.options import FOLDER, BoardArgument, checked_option, split_names
from surrogate.cli.targets import OUT_FILE, OUT_FOLDER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from surrogate.publish.figures.board_figures import Drawing

MISSING_STATUS = 1


def plot(
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the figures; made if absent.", **OUT_FOLDER)
    ],
    board: Annotated[
        Path | None,
        typer.Argument(help="Folder of the board; none to draw only what options name.", **FOLDER),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            help="Comma-separated figures: heatmap, lollipops, importances, ratings, wins, "
            "scatter; by default all that the board can give.",
        ),
    ] = None,
    format: Annotated[str, typer.Option("--format", help="png or svg.")] = "png",
    language: Annotated[
        str | None,
        typer.Option("--language", help="Language to take; by default all, together or each."),
    ] = None,
    sampling: Annotated[
        Path | None,
        typer.Option("--sampling", help="Also draw what  sampling --json  printed into a file."),
    ] = None,
    importances: Annotated[
        Path | None,
        typer.Option(
            "--importances",
            help="Also draw what  validate --protocol importances --json  printed into a file.",
        ),
    ] = None,
    replication: Annotated[
        Path | None,
        typer.Option(
            "--replication",
            help="Also draw what  validate --protocol replication --json  printed into a file: "
            "the quality of ratings against judged questions.",
        ),
    ] = None,
    memerag: Annotated[
        Path | None,
        typer.Option("--memerag", help="Also draw the file of  metaeval memerag --out."),
    ] = None,
    grouse: Annotated[
        Path | None,
        typer.Option(
            "--grouse",
            help="Also draw the file of  metaeval grouse --out.",
        ),
    ] = None,
) -> None:
    """Draw a board, and studies of arenas and judges.

    Of a board: ranks, features, importances, ratings, wins, agreement with the arena.
    """
    from arena.data.errors import UsageError
    from surrogate.board.board import Board
    from surrogate.publish.figures.board_figures import KINDS, board_drawings
    from surrogate.publish.figures.figure import FORMATS

    checked_option("--format", format, FORMATS)
    read = None if board is None else Board.load(board)
    kinds = list(KINDS) if kind is None else split_names(kind)
    if read is None and kind is not None:
        raise UsageError("--kind is of a board; name the board's folder, too")
    arena = "arena" if read is None else read.summary.arena
    drawings = [
        *(() if read is None else board_drawings(read, kinds, language)),
        *_others(sampling, memerag, grouse, arena),
        *_studies(importances, replication, "" if read is None else arena, language),
    ]
    if not drawings:
        raise UsageError(
            "nothing is asked for; name a board, with --kind some of "
            f"{', '.join(KINDS)}, or a file to draw"
        )
    out.mkdir(parents=True, exist_ok=True)
    _draw(drawings, out, format, strict=kind is not None)


def _draw(drawings: Sequence[Drawing], out: Path, suffix: str, strict: bool) -> None:
    """Write the figures; where none was named, one that the board cannot give is said."""
    from arena.data.errors import UsageError

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
        _save(figure, path)
        print(path)
    for line in left_out:
        print(line, file=sys.stderr)
    if len(left_out) == len(drawings):
        raise SystemExit(MISSING_STATUS)


def _save(figure: Figure, path: Path) -> None:
    """Write a figure; characters without a font are said in a line."""
    import warnings

    from surrogate.publish.figures.figure import MissingGlyphWarning, save

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MissingGlyphWarning)
        save(figure, path)
    for warning in caught:
        print(f"{path.name}: {warning.message}", file=sys.stderr)


def _others(
    sampling: Path | None, memerag: Path | None, grouse: Path | None, arena: str
) -> Iterator[Drawing]:
    from surrogate.publish.figures.board_figures import Drawing
    from surrogate.publish.figures.judge_runs import grouse_drawings, memerag_drawings

    if sampling is not None:
        from surrogate.publish.figures.studies import read_sampling, sampling_curves

        table, signature = read_sampling(sampling)
        yield Drawing("sampling", lambda: sampling_curves(table, signature, arena))
    if memerag is not None:
        yield from memerag_drawings(memerag)
    if grouse is not None:
        yield from grouse_drawings(grouse)


def _studies(
    importances: Path | None, replication: Path | None, arena: str, language: str | None
) -> Iterator[Drawing]:
    """Draw studies of ``validate``, of one language where one is named."""
    from functools import partial

    from surrogate.publish.figures.board_figures import Drawing
    from surrogate.publish.figures.importances import importance_intervals, read_importances
    from surrogate.publish.figures.studies import read_replication, replication_curves

    part = f"-{language}" if language else ""
    if importances is not None:
        read = read_importances(importances)
        yield Drawing(
            f"importance-intervals{part}", partial(importance_intervals, *read, arena, language)
        )
    if replication is not None:
        read = read_replication(replication)
        yield Drawing(f"replication{part}", partial(replication_curves, *read, arena, language))


CARDS = ("dataset-card", "model-card")


def export_command(
    folder: Annotated[
        Path, typer.Argument(help="Folder of the board; for ragas and deepeval, arena.", **FOLDER)
    ],
    format: Annotated[
        str,
        typer.Option(
            "--format",
            help="csv, json, markdown, latex, parquet, dataset-card or model-card of a board; "
            "ragas (JSON lines) or deepeval (JSON), an arena's answers as those tools read them.",
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
        typer.Option("--license", help="For cards: license of what is published, as cc-by-4.0."),
    ] = None,
    systems: Annotated[
        str | None,
        typer.Option(
            "--systems",
            help="For answers: comma-separated systems; all but the reference by default.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File to write; standard output by default.", **OUT_FILE),
    ] = None,
) -> None:
    """Write a board as a table, or the card that publishes it; or an arena's answers as records.

    In CSV, a text that a spreadsheet would run as a formula (it begins with =, +, - or @) or that
    begins with an apostrophe gets an apostrophe in front; taking one off gives it back.
    """
    from arena.adapters.records.exports import RECORD_FORMATS
    from arena.data.errors import UsageError
    from surrogate.publish.exports.tables import EXPORT_FORMATS

    checked_option("--format", format, (*EXPORT_FORMATS, *CARDS, *RECORD_FORMATS))
    if format not in (*EXPORT_FORMATS, *RECORD_FORMATS) and language is not None:
        raise UsageError("a card is of the whole board; leave --language out")
    if format not in CARDS and license_name is not None:
        raise UsageError("--license is for cards; leave it out")
    if format not in RECORD_FORMATS and systems is not None:
        raise UsageError("--systems is for the answers of an arena; leave it out")
    if format in RECORD_FORMATS:
        text: str | None = _records_text(folder, format, language, split_names(systems))
    else:
        text = _board_text(folder, format, language, license_name, out)
    if text is None or out is None:
        sys.stdout.write(f"{out}\n" if text is None else text)
        return
    from arena.data.files import atomic_path

    with atomic_path(out) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")  # line ends stay as they are
    print(out)


def _records_text(folder: Path, form: str, language: str | None, systems: list[str]) -> str:
    """Return an arena's answers, of one language or all, as a tool's records."""
    from arena.adapters.records.exports import answer_records, records_text
    from arena.data.errors import checked_choice
    from arena.data.folder import read_arena

    arena = read_arena(folder)
    records = answer_records(arena, form, systems)
    if language is not None:
        checked_choice(language, arena.info.languages, "language")
        records = [record for record in records if record["language"] == language]
    return records_text(records, form)


def _board_text(
    folder: Path, form: str, language: str | None, license_name: str | None, out: Path | None
) -> str | None:
    """Return a board as text; None where it is written to a file, being none."""
    from arena.data.errors import UsageError
    from surrogate.board.board import Board
    from surrogate.publish.exports.cards import dataset_card, model_card
    from surrogate.publish.exports.tables import (
        EXPORT_FORMATS,
        OVERALL,
        exported_board,
        write_parquet,
    )

    read = Board.load(folder)
    if form in CARDS:
        card = dataset_card if form == "dataset-card" else model_card
        return card(read, license_name or "")
    exported = exported_board(read, language or OVERALL)
    text_of = EXPORT_FORMATS[form][1]
    if text_of is not None:
        return text_of(exported)
    if out is None:
        raise UsageError("parquet is no text; name a file with --out")
    write_parquet(exported, out)
    return None


def report(
    board: BoardArgument,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Folder to write the site to; a site there is replaced whole.",
            **OUT_FOLDER,
        ),
    ] = Path("site"),
    arena: Annotated[
        Path | None,
        typer.Option(
            "--arena",
            help="Folder of the board's arena, for its answers and verdicts; by default where it "
            "was when the board was built.",
            **FOLDER,
        ),
    ] = None,
    questions: Annotated[
        int,
        typer.Option(
            "--questions",
            min=0,
            help="Questions of a language to show all answers to, while a page has room for them; "
            "0 for none.",
        ),
    ] = 20,
    replication: Annotated[
        Path | None,
        typer.Option(
            "--replication",
            help="Draw what  validate --protocol replication --json  printed into a file as "
            "learning curve; by default replication.json of the board's folder, if it is there.",
        ),
    ] = None,
) -> None:
    """Write a board as HTML pages that need neither a server nor the network."""
    from surrogate.board.board import Board
    from surrogate.publish.site.site import write_site

    index = write_site(Board.load(board), out, arena, questions=questions, replication=replication)
    print(f"Site written: open {index}")
