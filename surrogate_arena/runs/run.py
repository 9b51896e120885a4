"""Bringing all boards of a configuration up to date, or saying what that takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from arena.data.errors import ArenaError, checked_choice
from arena.data.folder import read_info
from arena.data.types import Progress, finish
from arena.data.wording import count_of
from arena.data.writing import locked_folder
from arena.llm.batches.awaiting import RepliesAwaitedError
from surrogate_arena.pages.site import INDEX
from surrogate_arena.runs.configured import WEB_ROOT, ConfiguredBoard, Leaderboards
from surrogate_arena.runs.making import BOARD, ingredients_of, make_board, restored_board
from surrogate_arena.runs.records import BoardRecord, RunRecords, changes
from surrogate_arena.runs.web_root import check_web_root, remove_withdrawn, write_front

State = Literal["made", "current", "failed", "awaited", "would run"]
Say = Callable[[str], object]


@dataclass(frozen=True)
class BoardOutcome:
    """The outcome of a board, and the reason.

    ``awaited`` are replies in batches, which the next run collects.
    """

    board: str
    state: State
    reasons: list[str] = field(default_factory=list)
    error: str = ""
    cautions: tuple[str, ...] = ()
    seconds: float = 0.0

    def __str__(self) -> str:
        text = f"{self.board}: {self.state}"
        if self.state == "made":
            text += f" in {self.seconds:.1f} s"
        reason = self.error or "; ".join(self.reasons)
        if reason:
            text += f" ({reason})"
        return "\n  caution: ".join([text, *self.cautions])

    @property
    def faults(self) -> tuple[str, ...]:
        """Faults for readers; an error may quote an arena, and is not for them."""
        if self.error:
            return ("This board could not be brought up to date.", *self.cautions)
        return self.cautions


@dataclass(frozen=True)
class RunReport:
    """The outcomes of all boards."""

    boards: tuple[BoardOutcome, ...]

    @property
    def failing(self) -> list[str]:
        """Boards that failed, or whose checks did."""
        return sorted(outcome.board for outcome in self.boards if outcome.faults)

    @property
    def awaited(self) -> list[str]:
        """Boards that await replies in batches."""
        return [outcome.board for outcome in self.boards if outcome.state == "awaited"]

    @property
    def is_current(self) -> bool:
        """Return whether nothing was or is to be done."""
        return all(outcome.state == "current" for outcome in self.boards)


def bring_up_to_date(
    boards: Leaderboards,
    out: Path | str,
    *,
    site: Path | str | None = None,
    check: bool = False,
    n_jobs: int = 1,
    progress: Progress | None = None,
    say: Say = str,
) -> RunReport:
    """Bring all boards up to date.

    A board is made again where its arena, settings or the libraries differ from the manifest, which
    is written after every board. Others are made if one fails. Of two runs on one folder, the
    second waits.

    Args:
        boards: Boards of the configuration file.
        out: Output folder.
        site: Folder of all pages; by default ``_site`` in the output folder.
        check: Only report.
        n_jobs: Processes to use; -1 for all cores.
        progress: Called as stages advance.
        say: Called with a sentence on every board.

    Raises:
        UsageError: If private files would be served.
        DataError: If the manifest is damaged.
    """
    out = Path(out)
    web = out / WEB_ROOT if site is None else Path(site)
    check_web_root(web, out, boards)
    outcomes: list[BoardOutcome] = []
    if check:
        records = RunRecords.read(out)
        for board in boards.boards:
            outcomes.append(_checked(board, records, out, web))
            say(str(outcomes[-1]))
        return RunReport(tuple(outcomes))
    out.mkdir(parents=True, exist_ok=True)
    with locked_folder(out):
        records = RunRecords.read(out)
        withdrawn = remove_withdrawn(records, boards.published, web)
        for name in withdrawn:
            say(f"pages of {name}: removed (the configuration does not publish it any more)")
        if withdrawn:
            records.write(out)
        for board in boards.boards:
            outcome = _checked(board, records, out, web)
            if outcome.state == "would run":
                outcome = _made(board, outcome.reasons, records, out, web, n_jobs, progress)
            if outcome.state == "made":
                records.write(out)
            outcomes.append(outcome)
            say(str(outcome))
        faults = {outcome.board: outcome.faults for outcome in outcomes}
        write_front(boards, records, faults, out, web)
    return RunReport(tuple(outcomes))


def restore_board(
    boards: Leaderboards, name: str, date: str, out: Path | str, site: Path | str | None = None
) -> Path | None:
    """Bring back a board that ``history/DATE`` keeps; return its first page, if any.

    Raises:
        UsageError: If there is no such board.
        DataError: If it is damaged.
    """
    out = Path(out)
    web = out / WEB_ROOT if site is None else Path(site)
    check_web_root(web, out, boards)
    by_name = {board.name: board for board in boards.boards}
    board = by_name[checked_choice(name, by_name, "board of the configuration")]
    with locked_folder(out):
        records = RunRecords.read(out)
        record = records.boards.get(name, BoardRecord())
        records.boards[name] = restored_board(board, date, out, web, record)
        records.write(out)
        faults = {other: record.cautions for other, record in records.boards.items()}
        write_front(boards, records, faults, out, web)
    return web / name / INDEX if board.options.publish else None


def _checked(board: ConfiguredBoard, records: RunRecords, out: Path, web: Path) -> BoardOutcome:
    record = records.boards.get(board.name)
    # One board must not take the others with it, whatever fails in it.
    try:
        read_info(board.arena)
        if record is None or not (out / board.name / BOARD).is_dir():
            return BoardOutcome(board.name, "would run", ["it was never made"])
        reasons = list(changes(record.ingredients, ingredients_of(board)))
    except Exception as error:
        return BoardOutcome(board.name, "failed", error=_error_text(error))
    if record.unfinished:
        reasons.append(record.unfinished)
    if record.is_published and not (web / board.name).is_dir():
        reasons.append("its pages are gone")
    if reasons:
        return BoardOutcome(board.name, "would run", reasons)
    return BoardOutcome(board.name, "current", cautions=record.cautions)


def _made(
    board: ConfiguredBoard,
    reasons: list[str],
    records: RunRecords,
    out: Path,
    web: Path,
    n_jobs: int,
    progress: Progress | None,
) -> BoardOutcome:
    started = time.perf_counter()

    def board_progress(stage: str, done: int, total: int) -> None:
        if progress is not None:
            progress(f"{board.name} {stage}", done, total)

    try:
        record = make_board(board, out, web, n_jobs, board_progress)
    except RepliesAwaitedError as error:
        batches = "; ".join(error.batches)
        reason = f"{count_of(error.n_replies, 'reply', 'replies')}: {batches}"
        return BoardOutcome(board.name, "awaited", [reason])
    except Exception as error:
        return BoardOutcome(board.name, "failed", error=_error_text(error))
    records.boards[board.name] = record
    finish(board_progress, "board")
    seconds = time.perf_counter() - started
    return BoardOutcome(board.name, "made", reasons, cautions=record.cautions, seconds=seconds)


def _error_text(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, ArenaError) else f"{type(error).__name__}: {text}"
