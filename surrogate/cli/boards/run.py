"""``surrogate-arena run``: all boards of a configuration, brought up to date."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.cli.options import FILE, JobsOption, JsonOption
from surrogate.cli.targets import OUT_FOLDER

if TYPE_CHECKING:
    from surrogate.runs.config import Leaderboards
    from surrogate.runs.run import RunReport

NOT_CURRENT = 1


def run(
    configuration: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG.toml",
            help="Which boards there are; paths are relative to the file.",
            **FILE,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Folder to write to, instead of the one the file names.", **OUT_FOLDER
        ),
    ] = None,
    jobs: JobsOption = -1,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Make nothing; say what would be made and why, and exit with status 1 if "
            "anything would be, 0 if all is current.",
        ),
    ] = False,
    force: Annotated[
        list[str] | None,
        typer.Option(
            "--force", metavar="BOARD", help="Make a board again in any case. May be repeated."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Bring several boards up to date; only what changed is made again.

    A board that fails does not keep the others from being made; the status is 1 then.
    """
    from surrogate.cli.printing import print_json, progress_bar
    from surrogate.runs.config import read_configuration
    from surrogate.runs.run import bring_up_to_date, check_boards

    boards = read_configuration(configuration)
    folder = _output_folder(boards, out)
    if check:
        report = check_boards(boards, folder, force or ())
        failed = not report.is_current
        if not as_json:
            print("\n".join(map(str, report.steps)))
    else:
        with progress_bar() as progress, _warnings_in_words():
            report = bring_up_to_date(
                *(boards, folder),
                force=force or (),
                n_jobs=jobs,
                progress=progress,
                say=lambda text: typer.echo(text, err=as_json),
            )
        failed = bool(report.failed)
    if as_json:
        print_json(report.as_json())
    else:
        _print(report, folder)
    if failed:
        raise typer.Exit(NOT_CURRENT)


@contextmanager
def _warnings_in_words() -> Iterator[None]:
    """Say each warning once, such as of characters without a font, and not where the code is."""
    with warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)
        warnings.showwarning = lambda message, *_: typer.echo(str(message), err=True)
        yield


def _output_folder(boards: Leaderboards, out: Path | None) -> Path:
    from arena.data.errors import UsageError

    folder = out or boards.out
    if folder is None:
        raise UsageError(f'name a folder by --out, or by  out = "DIR"  in {boards.file.name}')
    return folder


def _print(report: RunReport, folder: Path) -> None:
    counts = Counter(step.state for step in report.steps)
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    if report.left_over:
        print(f"Left as they are, no longer asked for: {', '.join(report.left_over)}")
    print(f"Output folder: {folder}")
