"""``surrogate-arena plot``: figures of a board."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.commands.options import split_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from surrogate.plots.board_figures import Drawing

MISSING_STATUS = 1


def plot(
    board: Annotated[Path, typer.Argument(help="Folder of the board.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the figures; made if absent.")],
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
    memerag: Annotated[
        Path | None,
        typer.Option("--memerag", help="Also draw the file of  metaeval memerag --out."),
    ] = None,
) -> None:
    """Draw a board: ranks, features, importances, ratings, wins, agreement with the arena."""
    from arena import UsageError
    from surrogate.plots.board_figures import KINDS, board_drawings
    from surrogate.plots.figure import FORMATS
    from surrogate.report.board_tables import read_board_tables

    if format not in FORMATS:
        raise UsageError(f"--format is {format!r}; use one of {', '.join(FORMATS)}")
    tables = read_board_tables(board)
    kinds = list(KINDS) if kind is None else split_names(kind)
    drawings = [
        *board_drawings(tables, kinds, language),
        *_others(sampling, memerag, tables.summary.arena),
        *_importances(importances, tables.summary.arena, language),
    ]
    if not drawings:
        raise UsageError(f"nothing is asked for; use --kind with some of {', '.join(KINDS)}")
    out.mkdir(parents=True, exist_ok=True)
    _draw(drawings, out, format, strict=kind is not None)


def _draw(drawings: Sequence[Drawing], out: Path, suffix: str, strict: bool) -> None:
    """Write the figures; where none was named, one that the board cannot give is said."""
    from arena import UsageError

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

    from surrogate.plots import MissingGlyphWarning, save

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MissingGlyphWarning)
        save(figure, path)
    for warning in caught:
        print(f"{path.name}: {warning.message}", file=sys.stderr)


def _others(sampling: Path | None, memerag: Path | None, arena: str) -> Iterator[Drawing]:
    from surrogate.plots.board_figures import Drawing

    if sampling is not None:
        from surrogate.plots import read_sampling, sampling_curves

        table, signature = read_sampling(sampling)
        yield Drawing("sampling", lambda: sampling_curves(table, signature, arena))
    if memerag is not None:
        yield Drawing("memerag", lambda: _memerag(memerag))


def _importances(path: Path | None, arena: str, language: str | None) -> Iterator[Drawing]:
    from surrogate.plots import importance_intervals, read_importances
    from surrogate.plots.board_figures import Drawing

    if path is not None:
        table, signature = read_importances(path)
        name = f"importance-intervals-{language}" if language else "importance-intervals"
        yield Drawing(name, lambda: importance_intervals(table, signature, arena, language))


def _memerag(path: Path) -> Figure:
    from arena.metaevaluation.memerag import mark_best, read_run, score_judges
    from arena.metaevaluation.memerag.balanced_accuracy import REPLICATES
    from arena.metaevaluation.memerag.comparison import PERMUTATIONS
    from surrogate.plots import memerag_bars

    verdicts = read_run(path).verdicts
    scores = mark_best(score_judges(verdicts), verdicts)
    signature = f"dataset:memerag|replicates:{REPLICATES}|permutations:{PERMUTATIONS}|seed:0"
    return memerag_bars(scores, signature)
