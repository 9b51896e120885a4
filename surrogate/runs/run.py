"""Bringing all boards of a configuration up to date, or saying what that would take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from joblib import parallel_config

from arena.data.errors import ArenaError
from arena.data.files import locked_folder, replaced_folder, write_text
from arena.data.folder import read_info
from arena.data.types import Progress
from arena.data.wording import count_of
from arena.llm.awaiting import RepliesAwaitedError
from features.engine.workers import work
from surrogate.publish.pages import filled
from surrogate.publish.site import INDEX
from surrogate.runs.cluster import on_cluster
from surrogate.runs.config import ConfiguredBoard, Leaderboards
from surrogate.runs.stages import BOARD, steps_of
from surrogate.runs.steps import (
    RunManifest,
    Step,
    StepRecord,
    Workplace,
    folder_digests,
    inputs_of,
    read_manifest,
    reasons_to_make,
    write_manifest,
)

LOG_FILE = "run.log"
_LOG_HEADER = (
    "# When steps were made. Clock times are in this file alone: the same boards give the same\n"
    "# bytes in all others.\n"
)
_GENERATOR_TAG = '<meta name="generator" content="surrogate-arena'
"""Tells pages of ours from others."""
State = Literal["made", "current", "failed", "skipped", "awaited", "would run"]
Say = Callable[[str], object]


@dataclass(frozen=True)
class StepOutcome:
    """The outcome of a step, and the reason.

    The state is ``made``, ``current`` (nothing to do), ``failed``, ``skipped`` (a step it rests on
    failed), ``awaited`` (it, or a step it rests on, awaits replies in batches, which the next run
    collects), or ``would run`` in a check; cautions are for readers of what it made.
    """

    board: str
    stage: str
    state: State
    reasons: list[str] = field(default_factory=list)
    error: str = ""
    cautions: tuple[str, ...] = ()
    seconds: float = 0.0

    def __str__(self) -> str:
        text = f"{self.stage} {self.board}: {self.state}"
        if self.state == "made":
            text += f" in {self.seconds:.1f} s"
        reason = self.error or "; ".join(self.reasons)
        if reason:
            text += f" ({reason})"
        return "\n  caution: ".join([text, *self.cautions])


@dataclass(frozen=True)
class RunReport:
    """The outcomes of all steps, board by board."""

    steps: tuple[StepOutcome, ...]

    @property
    def failed(self) -> tuple[StepOutcome, ...]:
        """Steps that failed, and those skipped for it."""
        return tuple(step for step in self.steps if step.state in ("failed", "skipped"))

    @property
    def failing(self) -> list[str]:
        """Boards of which a step failed, or that failed a check of what they are made from."""
        return sorted({step.board for step in self.steps if step in self.failed or step.cautions})

    @property
    def awaited(self) -> tuple[StepOutcome, ...]:
        """Steps that await replies in batches, and those that rest on them."""
        return tuple(step for step in self.steps if step.state == "awaited")

    @property
    def is_current(self) -> bool:
        """Whether nothing was or is to be done."""
        return all(step.state == "current" for step in self.steps)


def bring_up_to_date(
    boards: Leaderboards,
    out: Path | str,
    *,
    check: bool = False,
    n_jobs: int = 1,
    progress: Progress | None = None,
    say: Say = str,
) -> RunReport:
    """Bring all boards up to date.

    A step runs where its inputs, options, versions or outputs differ from what the manifest
    records. The manifest is written after every step, so a run that was killed continues where it
    stopped. A board that fails does not keep the others from being made. Of two runs on the same
    output folder, the second waits. The same boards give the same bytes in every file but
    ``run.log``, which has the clock times.

    Args:
        boards: Boards of the configuration file.
        out: Output folder; created if absent.
        check: Write nothing; report what would be made, and why.
        n_jobs: Processes to use; -1 for all cores. The result is the same.
        progress: Called as a step advances.
        say: Called with a sentence on every step that ended.

    Raises:
        DataError: If the manifest is damaged.
    """
    out = Path(out)
    if check:
        outcomes = _check_all(boards, out, say)
    else:
        out.mkdir(parents=True, exist_ok=True)
        with locked_folder(out):
            manifest = read_manifest(out)
            outcomes = _make_all(boards, manifest, out, n_jobs, progress, say)
            order = [board.name for board in boards.boards]
            # Boards made by workers of a cluster were reported first.
            outcomes.sort(key=lambda outcome: order.index(outcome.board))
            _write_page(boards, manifest, RunReport(tuple(outcomes)), out)
    return RunReport(tuple(outcomes))


def _check_all(boards: Leaderboards, out: Path, say: Say) -> list[StepOutcome]:
    manifest = read_manifest(out)
    outcomes: list[StepOutcome] = []
    for board in boards.boards:
        for outcome in _steps(board, manifest, Workplace(out, out / board.name, out), check=True):
            outcomes.append(outcome)
            say(str(outcome))
    return outcomes


def _make_all(
    boards: Leaderboards,
    manifest: RunManifest,
    out: Path,
    n_jobs: int,
    progress: Progress | None,
    say: Say,
) -> list[StepOutcome]:
    """Make every step that is not current; the manifest on disk follows step by step."""
    outcomes: list[StepOutcome] = []
    elsewhere = _boards_for_workers(boards)
    task = partial(steps_elsewhere, manifest=manifest, out=out.resolve())
    for finished, records in work(task, elsewhere, n_jobs):
        manifest.steps.update(records)
        write_manifest(manifest, out)
        outcomes.extend(finished)
        for outcome in finished:
            _log(outcome, out)
            say(str(outcome))
    names_elsewhere = {board.name for board in elsewhere}
    for board in boards.boards:
        if board.name in names_elsewhere:
            continue
        board_progress = progress and partial(_board_progress, progress, board.name)
        place = Workplace(out, out / board.name, out, n_jobs, board_progress)
        for outcome in _steps(board, manifest, place, check=False):
            if outcome.state == "made":
                write_manifest(manifest, out)
            outcomes.append(outcome)
            _log(outcome, out)
            say(str(outcome))
    return outcomes


def _boards_for_workers(boards: Leaderboards) -> list[ConfiguredBoard]:
    """Return the boards that are whole jobs for the workers of a cluster; none without one.

    Judging is left out: it pays from a store on this machine's disk.
    """
    if not on_cluster():
        return []
    return [
        replace(board, base=board.base.resolve())
        for board in boards.boards
        if board.judging is None
    ]


def steps_elsewhere(
    board: ConfiguredBoard, manifest: RunManifest, out: Path
) -> tuple[list[StepOutcome], dict[str, StepRecord]]:
    """Make the steps of a board as a worker of a cluster; the records are for its manifest."""
    copied = RunManifest(steps=dict(manifest.steps))
    with parallel_config("sequential"):
        outcomes = list(_steps(board, copied, Workplace(out, out / board.name, out), check=False))
    names = [f"{board.name}/{step.stage}" for step in outcomes if step.state == "made"]
    return outcomes, {name: copied.steps[name] for name in names}


def _log(outcome: StepOutcome, out: Path) -> None:
    """Note when a step was made or failed; one that was current leaves the log as it is."""
    if outcome.state == "current":
        return
    path = out / LOG_FILE
    is_new = not path.exists()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with path.open("a", encoding="utf-8", newline="\n") as stream:
        if is_new:
            stream.write(_LOG_HEADER)
        stream.write(f"{now} {outcome}\n")


def _write_page(boards: Leaderboards, manifest: RunManifest, report: RunReport, out: Path) -> None:
    """Write the page over all boards, unless it would be the same or another's is there."""
    rows: list[dict[str, Any]] = []
    for board in boards.boards:
        record = manifest.steps.get(f"{board.name}/{BOARD}", StepRecord())
        steps = [step for step in report.steps if step.board == board.name]
        faults = [f"{step.stage} failed: {step.error}" for step in steps if step.error]
        for step in steps:
            faults.extend(step.cautions)
        site = f"{board.name}/site/{INDEX}"
        link = site if (out / site).is_file() else ""
        rows.append({"name": board.name, "link": link, "faults": faults, **record.page_facts})
    text = filled("boards", (), boards=rows, failing=report.failing)
    page = out / INDEX
    if page.exists():
        present = page.read_text("utf-8", "replace")
        if present == text or _GENERATOR_TAG not in present:
            return
    write_text(text, page)


def _board_progress(progress: Progress, board: str, stage: str, done: int, total: int) -> None:
    progress(f"{board} {stage}", done, total)


def _steps(
    board: ConfiguredBoard, manifest: RunManifest, workplace: Workplace, check: bool
) -> Iterator[StepOutcome]:
    """Make each step of a board that is not current, and yield what became of it."""
    failed: set[str] = set()
    awaited: set[str] = set()
    to_run: set[str] = set()
    for step in steps_of(board):
        blocking = [f"{stage} failed" for stage in step.upstream if stage in failed]
        if blocking:
            failed.add(step.stage)
            yield StepOutcome(step.board, step.stage, "skipped", blocking)
            continue
        waiting = [f"{stage} awaits replies" for stage in step.upstream if stage in awaited]
        if waiting:
            awaited.add(step.stage)
            yield StepOutcome(step.board, step.stage, "awaited", waiting)
            continue
        place = replace(workplace, target=workplace.board / step.stage, cautions=[], page_facts={})
        # One board must not take the others with it, whatever fails in it.
        try:
            read_info(board.arena)
            reasons = reasons_to_make(step, manifest, place.target)
            if check:
                again = [stage for stage in step.upstream if stage in to_run]
                reasons.extend(f"{stage} is made again" for stage in again)
            outcome = _outcome(step, manifest, place, reasons, check=check)
        except RepliesAwaitedError as error:
            awaited.add(step.stage)
            batches = "; ".join(error.batches)
            reason = f"{count_of(error.n_replies, 'reply', 'replies')}: {batches}"
            outcome = StepOutcome(step.board, step.stage, "awaited", [reason])
        except Exception as error:
            failed.add(step.stage)
            text = " ".join(str(error).split())
            if not isinstance(error, ArenaError):
                text = f"{type(error).__name__}: {text}"
            outcome = StepOutcome(step.board, step.stage, "failed", error=text)
        if outcome.state == "would run":
            to_run.add(step.stage)
        yield outcome


def _outcome(
    step: Step, manifest: RunManifest, place: Workplace, reasons: list[str], *, check: bool
) -> StepOutcome:
    """Make a step where there are reasons to, unless it is only checked."""
    if not reasons:
        cautions = manifest.steps[step.name].cautions
        return StepOutcome(step.board, step.stage, "current", cautions=cautions)
    if check:
        return StepOutcome(step.board, step.stage, "would run", reasons)
    started = time.perf_counter()
    record = _made(step, manifest, place)
    seconds = time.perf_counter() - started
    return StepOutcome(
        step.board, step.stage, "made", reasons, cautions=record.cautions, seconds=seconds
    )


def _made(step: Step, manifest: RunManifest, place: Workplace) -> StepRecord:
    """Make a step, and put its folder in place of the one before."""
    # Digested before the step is made, so that a change meanwhile is noticed by the next run.
    inputs = inputs_of(step, manifest)
    with replaced_folder(place.target) as target:
        unfinished = step.make(replace(place, target=target))
        outputs = folder_digests(target)
    record = StepRecord(
        inputs=inputs,
        options=dict(step.options),
        versions=step.versions,
        outputs=outputs,
        cautions=tuple(place.cautions),
        page_facts=place.page_facts,
        unfinished=unfinished or "",
    )
    manifest.steps[step.name] = record
    return record
