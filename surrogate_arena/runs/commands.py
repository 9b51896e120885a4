"""Many boards: ``run`` and the schema of its file, ``diff``."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option, echo

from arena.data.errors import UsageError, checked_choice
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.options import FILE, FOLDER, OUT_FOLDER
from surrogate_arena.cli.printing import (
    plain,
    plain_warnings,
    print_remarks,
    print_table,
    progress_lines,
    show,
    wrapped,
)


def run(
    configuration: Annotated[
        Path,
        Argument(
            metavar="CONFIG.toml",
            help="TOML file that lists the boards; its paths are relative to its folder.",
            **FILE,
        ),
    ],
    out: Annotated[Path | None, Option(help="Default: the file's folder", **OUT_FOLDER)] = None,
    site: Annotated[
        Path | None,
        Option(help="Folder of all pages, for a web server. Default: OUT/_site", **OUT_FOLDER),
    ] = None,
    servers: Annotated[
        list[str] | None,
        Option(
            "--base-url",
            help="Judges' server that the file may name; repeatable. OpenAI's and the one in "
            "OPENAI_BASE_URL need no option.",
        ),
    ] = None,
    jobs: opt.Jobs = -1,
    _cluster: opt.Cluster = None,
    restore: Annotated[
        str | None,
        Option(
            metavar="BOARD=DATE",
            help="Only restore a past board, until its arena or settings change.",
        ),
    ] = None,
    check: Annotated[bool, Option("--check", help="Only report; status 1 if not current.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Bring several boards up to date, and rebuild only what changed.

    OUT/_site/index.html lists them. The status is 1 if a board or its checks failed, else 75 if
    replies are awaited in batches: the next run collects them.
    """
    from arena.llm.batches.awaiting import RepliesAwaitedError
    from surrogate_arena.pages.site import INDEX
    from surrogate_arena.runs.config import read_configuration
    from surrogate_arena.runs.configured import WEB_ROOT
    from surrogate_arena.runs.run import bring_up_to_date, restore_board

    boards = read_configuration(configuration, servers or ())
    folder = out or boards.out
    if folder is None:
        raise UsageError(f'name a folder by --out, or by  out = "DIR"  in {boards.file.name}')
    if restore is not None:
        if check or as_json:
            raise UsageError("`--restore` writes a board; leave `--check` and `--json` out")
        name, _, date = restore.partition("=")
        pages = restore_board(boards, name, date, folder, site)
        print(f"The board of {date} is back" + (f": open {pages}" if pages else ""))
        return
    with plain_warnings():
        report = bring_up_to_date(
            boards,
            folder,
            site=site,
            check=check,
            n_jobs=jobs,
            progress=progress_lines(),
            # Standard output is JSON alone with --json.
            say=lambda text: echo("\n".join(wrapped(text)), err=as_json),
        )
    failed = not report.is_current if check else bool(report.failing)
    if as_json:
        content = {
            "boards": report.boards,
            "failing": report.failing,
            "awaited": report.awaited,
            "current": report.is_current,
        }
        show(content, as_json)
    else:
        counts = Counter(outcome.state for outcome in report.boards)
        print(", ".join(f"{count} {state}" for state, count in counts.items()))
        print(f"Output folder: {folder}; failed checks: {', '.join(report.failing) or 'none'}")
        print(f"Pages: {(site or folder / WEB_ROOT) / INDEX}")
    if failed:
        raise Exit(1)
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
    from surrogate.board.board import Board
    from surrogate_arena.pages.history import OVERALL
    from surrogate_arena.runs.diff import diff_boards
    from surrogate_arena.runs.past_boards import board_before

    if new is None:
        old, new = board_before(old), old
    difference = diff_boards(Board.load(old), Board.load(new))
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
        # A single reason is among the remarks.
        if reasons.nunique() > 1:
            columns.append("reason")
        print_table(title, printed, columns)
    print_remarks(difference.remarks)


def schema(
    kind: Annotated[
        str, Argument(metavar="config|arena", help="A configuration of run, or arena.json.")
    ],
) -> None:
    """Print the JSON schema with which an editor checks and completes a file.

    Save it, and name the file in the key "$schema" of arena.json, or begin the configuration with
    #:schema ./FILE.
    """
    from surrogate_arena.runs.configured import SCHEMAS

    content = SCHEMAS[checked_choice(kind, SCHEMAS, "schema")]()
    print(json.dumps(content, indent=2, ensure_ascii=False))
