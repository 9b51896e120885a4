"""Boards for others: ``publish``, ``run`` and the schema of its file, ``diff``."""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option, echo

from arena.data.errors import UsageError, checked_choice
from arena.data.wording import split_names
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.options import FILE, FOLDER, OUT_FOLDER, check_target
from surrogate_arena.cli.printing import (
    MOST_OF_A_TEXT,
    plain,
    print_notes,
    print_table,
    show,
    wrapped,
)
from surrogate_arena.cli.setting_options import takes_settings
from surrogate_arena.cli.timings import printed_timings
from surrogate_arena.pages.site_settings import SiteSettings

if TYPE_CHECKING:
    from surrogate_arena.pages.figures.figure import Drawing

NOT_DONE = 1
"""Exit status where nothing could be drawn, or a board is not current."""
SITE = "site"
FIGURES = "figures"
TABLES = ("csv", "latex")


@takes_settings(
    SiteSettings, "title", "description", "license", "home", "date", "order", "questions"
)
def publish(
    source: Annotated[
        Path,
        Argument(
            exists=True,
            help="Board folder; for figures also the file of a study (validate --json) or of "
            "judges (metaeval --out); for --hub also an arena folder.",
        ),
    ],
    settings: SiteSettings,
    form: Annotated[str, Option("--as", help="site, figures, csv or latex.")] = SITE,
    out: Annotated[
        Path | None,
        Option(
            help="Folder of a site or figures, else file. Default: ./site or ./figures, else "
            "standard output"
        ),
    ] = None,
    language: Annotated[
        str | None,
        Option(help="Figures: language of ratings. Tables: a language, overall (default) or all."),
    ] = None,
    columns: Annotated[
        str | None, Option(help="Tables: comma-separated columns. Default: all (LaTeX: what fits)")
    ] = None,
    signature: Annotated[
        bool, Option("--signature/--no-signature", help="Print the board's signature.")
    ] = True,
    kind: Annotated[
        str | None,
        Option(
            help="Figures of a board: comma-separated heatmap, lollipops, importances, ratings, "
            "costs. "
            "Default: all it has data for"
        ),
    ] = None,
    file_format: Annotated[str, Option("--format", help="Figures: png, svg or pdf.")] = "png",
    hub: Annotated[
        str | None,
        Option(
            metavar="OWNER/NAME",
            help="Upload to the Hugging Face hub: an arena folder as a data set; a board as a data "
            "set, and its pages as a Space; private where new. The token is HF_TOKEN.",
        ),
    ] = None,
    arena: opt.MovedArena = None,
) -> None:
    """Publish a board: as pages, figures or tables, or on the Hugging Face hub."""
    checked_choice(form, (SITE, FIGURES, *TABLES), "form (--as)")
    if hub is not None:
        if form != SITE or out is not None:
            raise UsageError("--hub uploads tables and pages; leave --as and --out out")
        _upload(source, hub, arena, settings)
        return
    if out is not None:
        check_target(out, is_folder=form in (SITE, FIGURES))

    from arena.data.safe_writes import is_stream, write_text
    from surrogate.board.board import Board
    from surrogate_arena.pages.exports import OVERALL, export_text
    from surrogate_arena.pages.figures.board_figures import board_drawings
    from surrogate_arena.pages.site import write_site
    from surrogate_arena.papers.figures import study_drawings

    if form == FIGURES and source.is_file():
        _draw(study_drawings(source), out or Path(FIGURES), file_format, signature)
        return
    board = Board.load(source)
    if form == SITE:
        index = write_site(board, out or Path(SITE), arena, settings)
        print(f"Site written: open {index}")
        return
    if form == FIGURES:
        kinds = split_names(kind)
        drawings = board_drawings(board, kinds, language)
        _draw(drawings, out or Path(FIGURES), file_format, signature, strict=bool(kinds))
        return
    text = export_text(board, form, language or OVERALL, split_names(columns), signature=signature)
    if out is None:
        sys.stdout.write(text)
    else:
        write_text(text, out)
        if not is_stream(out):
            print(out)


def _upload(source: Path, repository: str, arena: Path | None, settings: SiteSettings) -> None:
    """Publish an arena or a board on the hub."""
    from arena.data.folder import read_arena
    from arena.data.schema import INFO_FILE
    from surrogate.board.board import Board
    from surrogate_arena.pages.hub import upload_arena, upload_board

    if (source / INFO_FILE).is_file():
        print(f"Data set: {upload_arena(read_arena(source), repository, settings)}")
        return
    data_set, space = upload_board(Board.load(source), repository, settings, arena)
    print(f"Data set: {data_set}\nSpace: {space}")


def _draw(
    drawings: Iterable[Drawing], out: Path, suffix: str, signature: bool, *, strict: bool = False
) -> None:
    """Write the figures; where no kind was named, those without data are listed."""
    from surrogate_arena.pages.figures.figure import FORMATS, write_drawings

    checked_choice(suffix, FORMATS, "format")
    with _plain_warnings():
        paths, reasons = write_drawings(drawings, out, [suffix], signature=signature)
    for path in paths:
        print(path)
    lines = [f"{name} left out: {reason}" for name, reason in reasons.items()]
    if strict and lines:
        raise UsageError("; ".join(lines))
    for line in lines:
        echo(line, err=True)
    if lines and not paths:
        raise SystemExit(NOT_DONE)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print each warning once, such as of characters without a font, without its line of code."""
    with warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)
        warnings.showwarning = lambda message, *_: echo(str(message), err=True)
        yield


def run(
    configuration: Annotated[
        Path,
        Argument(metavar="CONFIG.toml", help="The boards; paths are relative to the file.", **FILE),
    ],
    out: Annotated[Path | None, Option(help="Default: the file's folder", **OUT_FOLDER)] = None,
    site: Annotated[
        Path | None,
        Option(help="Folder of all pages, for a web server. Default: OUT/_site", **OUT_FOLDER),
    ] = None,
    jobs: opt.Jobs = -1,
    timings: opt.Timings = False,
    _backend: opt.Backend = None,
    _scheduler: opt.Scheduler = None,
    check: Annotated[bool, Option("--check", help="Only report; status 1 if not current.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Bring several boards up to date; only what changed is made again.

    OUT/_site/index.html lists them. The status is 1 where a board or its checks failed, else
    75 where replies are awaited in batches: the next run collects them.
    """
    from arena.llm.awaiting import RepliesAwaitedError
    from surrogate_arena.pages.site import INDEX
    from surrogate_arena.runs.config import read_configuration
    from surrogate_arena.runs.run import bring_up_to_date

    boards = read_configuration(configuration)
    folder = out or boards.out
    if folder is None:
        raise UsageError(f'name a folder by --out, or by  out = "DIR"  in {boards.file.name}')
    with _plain_warnings(), printed_timings(timings) as progress:
        report = bring_up_to_date(
            boards,
            folder,
            site=site,
            check=check,
            n_jobs=jobs,
            progress=progress,
            # Standard output is JSON alone with --json.
            say=lambda text: echo("\n".join(wrapped(text, MOST_OF_A_TEXT)), err=as_json),
        )
    failed = not report.is_current if check else bool(report.failing)
    if as_json:
        content = {
            "steps": report.steps,
            "failed": [f"{step.board}/{step.stage}" for step in report.failed],
            "failing": report.failing,
            "awaited": [f"{step.board}/{step.stage}" for step in report.awaited],
            "current": report.is_current,
        }
        show(content, as_json)
    else:
        counts = Counter(step.state for step in report.steps)
        print(", ".join(f"{count} {state}" for state, count in counts.items()))
        print(f"Output folder: {folder}; failed checks: {', '.join(report.failing) or 'none'}")
        print(f"Pages: {(site or boards.web_root(folder)) / INDEX}")
    if failed:
        raise Exit(NOT_DONE)
    if report.awaited:
        raise Exit(RepliesAwaitedError.exit_status)


def diff(
    old: Annotated[
        Path,
        Argument(help="Folder of the earlier board, or of a past one that run kept.", **FOLDER),
    ],
    new: Annotated[
        Path | None,
        Argument(
            help="Folder of the later board. Default: OLD, compared with the board before it",
            **FOLDER,
        ),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Compare two boards: what moved, and whether that is more than noise."""
    from surrogate_arena.pages.history import OVERALL
    from surrogate_arena.runs.diff import diff_boards
    from surrogate_arena.runs.past_boards import board_before, open_compared

    if new is None:
        old, new = board_before(old), old
    difference = diff_boards(open_compared(old), open_compared(new))
    if as_json:
        show(plain(difference), as_json)
        return
    for language, rows in difference.changes.groupby("language", sort=False):
        printed = rows
        if language != OVERALL:
            printed = rows[rows["verdict"].isin(["moved", "new", "gone"])]
        if language != OVERALL and printed.empty:
            continue
        counts = rows["verdict"].value_counts().items()
        title = f"{language}: {', '.join(f'{count} {verdict}' for verdict, count in counts)}"
        columns = ["system", "rank_old", "rank_new", "rating_change", "p_value", "verdict"]
        reasons = printed.loc[~printed["verdict"].isin(["new", "gone"]), "reason"]
        # A single reason is among the notes.
        if reasons.nunique() > 1:
            columns.append("reason")
        print_table(title, printed, columns)
    print_notes(difference.notes)


def schema(
    kind: Annotated[
        str, Argument(metavar="config|arena", help="A configuration of run, or arena.json.")
    ],
) -> None:
    """Print the JSON schema of a file, by which an editor checks and completes it."""
    from surrogate_arena.runs.configured import SCHEMAS

    content = SCHEMAS[checked_choice(kind, SCHEMAS, "schema")]()
    print(json.dumps(content, indent=2, ensure_ascii=False))
