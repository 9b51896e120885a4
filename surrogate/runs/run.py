"""Bringing all boards of a configuration up to date, or saying what that would take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
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

OURS = '<meta name="generator" content="surrogate-arena'
"""Tells pages of ours from others."""
State = Literal["made", "current", "failed", "skipped", "would run"]
Say = Callable[[str], object]


@dataclass(frozen=True)
class StepOutcome:
    """What became of a step, and why.

    The state is ``made``, ``current`` (nothing to do), ``failed``, ``skipped`` (a step it rests on
    failed), or ``would run`` in a check; cautions are for readers of what it made.
    """

    board: str
    stage: str
    state: State
    reasons: list[str] = field(default_factory=list)
    error: str = ""
    cautions: tuple[str, ...] = ()
    seconds: float = 0.0

    def __str__(self) -> str:
        took = f" in {self.seconds:.1f} s" if self.state == "made" else ""
        why = self.error or "; ".join(self.reasons)
        said = f"{self.stage} {self.board}: {self.state}{took}{f' ({why})' if why else ''}"
        return "\n  caution: ".join([said, *self.cautions])


@dataclass(frozen=True)
class RunReport:
    """What became of all steps, board by board."""

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

    A step runs where its inputs, options, versions or outputs differ from what the manifest says
    of it. The manifest is written after every step, so a run that was killed goes on where it
    was. A board that fails does not keep the others from being made. Of two runs on the same
    output folder, the second waits.

    Args:
        boards: What is asked for.
        out: Output folder; created if absent.
        check: Write nothing; say what would be made, and why.
        n_jobs: Processes to use; -1 for all cores. The result is the same.
        progress: Called as a step advances.
        say: Told in words of every step that ended.

    Raises:
        DataError: If the manifest is damaged.
    """
    out = Path(out)
    if not check:
        out.mkdir(parents=True, exist_ok=True)
    with nullcontext() if check else locked_folder(out):
        manifest = read_manifest(out)
        outcomes: list[StepOutcome] = []
        # Judging pays from a store on this machine's disk; other boards are whole jobs for workers.
        away = [
            replace(board, base=board.base.resolve())
            for board in (boards.boards if on_cluster() and not check else ())
            if board.judging is None
        ]
        names = {board.name for board in away}
        task = partial(steps_elsewhere, manifest=manifest, out=out.resolve())
        for made, records in work(task, away, n_jobs):
            manifest.steps |= records
            write_manifest(manifest, out)
            outcomes += made
            for outcome in made:
                say(str(outcome))
        for board in boards.boards:
            shown = progress and partial(_shown, progress, board.name)
            place = Workplace(out, out / board.name, out, n_jobs, shown)
            for outcome in () if board.name in names else _steps(board, manifest, place, check):
                if outcome.state == "made":
                    write_manifest(manifest, out)
                outcomes.append(outcome)
                say(str(outcome))
        order = [board.name for board in boards.boards]
        report = RunReport(tuple(sorted(outcomes, key=lambda step: order.index(step.board))))
        if not check:
            _write_page(boards, manifest, report, out)
    return report


def steps_elsewhere(
    board: ConfiguredBoard, manifest: RunManifest, out: Path
) -> tuple[list[StepOutcome], dict[str, StepRecord]]:
    """Make the steps of a board as a worker of a cluster; the records are for its manifest."""
    found = RunManifest(steps=dict(manifest.steps))
    with parallel_config("sequential"):
        made = list(_steps(board, found, Workplace(out, out / board.name, out), check=False))
    names = [f"{board.name}/{step.stage}" for step in made if step.state == "made"]
    return made, {name: found.steps[name] for name in names}


def _write_page(boards: Leaderboards, manifest: RunManifest, report: RunReport, out: Path) -> None:
    """Write the page over all boards, unless it would be the same or another's is there."""
    rows: list[dict[str, Any]] = []
    for board in boards.boards:
        record = manifest.steps.get(f"{board.name}/{BOARD}", StepRecord())
        own = [step for step in report.steps if step.board == board.name]
        faults = [f"{step.stage} failed: {step.error}" for step in own if step.error]
        faults += [caution for step in own for caution in step.cautions]
        site = f"{board.name}/site/{INDEX}"
        link, made = site * (out / site).is_file(), record.finished[:16].replace("T", " ")
        rows.append(
            {"name": board.name, "link": link, "made": made, "faults": faults} | record.told
        )
    text = filled("boards", (), boards=rows, failing=report.failing)
    there = (out / INDEX).read_text("utf-8", "replace") if (out / INDEX).exists() else OURS
    if there != text and OURS in there:
        write_text(text, out / INDEX)


def _shown(progress: Progress, board: str, stage: str, done: int, total: int) -> None:
    progress(f"{board} {stage}", done, total)


def _steps(
    board: ConfiguredBoard, manifest: RunManifest, workplace: Workplace, check: bool
) -> Iterator[StepOutcome]:
    """Make each step of a board that is not current, and yield what became of it."""
    failed: set[str] = set()
    running: set[str] = set()
    for step in steps_of(board):
        place = replace(workplace, target=workplace.board / step.stage, cautions=[], told={})
        told = partial(StepOutcome, step.board, step.stage)
        blocking = [f"{stage} failed" for stage in step.upstream if stage in failed]
        try:
            read_info(board.arena)
            reasons = blocking or reasons_to_make(step, manifest, place.target)
            if check:
                reasons += [f"{stage} is made again" for stage in step.upstream if stage in running]
            if blocking:
                outcome = told("skipped", blocking)
            elif not reasons:
                outcome = told("current", cautions=manifest.steps[step.name].cautions)
            elif check:
                outcome = told("would run", reasons)
            else:
                record = _made(step, manifest, place)
                cautions, seconds = record.cautions, record.seconds
                outcome = told("made", reasons, cautions=cautions, seconds=seconds)
        except Exception as error:  # one board must not take the others with it
            words = " ".join(str(error).split())
            named = words if isinstance(error, ArenaError) else f"{type(error).__name__}: {words}"
            outcome = told("skipped", blocking) if blocking else told("failed", error=named)
        if outcome.state in ("failed", "skipped"):
            failed.add(step.stage)
        elif outcome.state == "would run":
            running.add(step.stage)
        yield outcome


def _made(step: Step, manifest: RunManifest, place: Workplace) -> StepRecord:
    """Make a step, and put its folder in place of the one before."""
    started = time.perf_counter()
    inputs = inputs_of(step, manifest)  # before it is made: a later change is noticed
    with replaced_folder(place.target) as target:
        unfinished = step.make(replace(place, target=target))
        outputs = folder_digests(target)
    record = StepRecord(
        inputs=inputs,
        options=dict(step.options),
        versions=step.versions,
        outputs=outputs,
        cautions=tuple(place.cautions),
        told=place.told,
        unfinished=unfinished or "",
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(time.perf_counter() - started, 3),
    )
    manifest.steps[step.name] = record
    return record
