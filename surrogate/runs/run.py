"""Bringing all boards of a configuration up to date, or saying what that would take."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from arena.data.errors import ArenaError, UsageError
from arena.data.files import WRITING, locked_folder, replaced_folder
from arena.data.folder import read_info
from features.declare.feature import offer
from surrogate.runs.config import ConfiguredBoard, Leaderboards
from surrogate.runs.stages import steps_of
from surrogate.runs.steps import (
    Progress,
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

State = Literal["made", "current", "failed", "skipped", "would run"]


@dataclass(frozen=True)
class StepOutcome:
    """What became of a step.

    Attributes:
        board: Name of the board.
        stage: Name of the stage.
        state: ``made``, ``current`` (nothing to do), ``failed``, ``skipped`` (a step it rests on
            failed), or ``would run`` in a check.
        reasons: Why it ran, was skipped, or would run.
        error: What went wrong, in words.
        cautions: What a reader of what it made should know, in words.
        seconds: How long it took.
    """

    board: str
    stage: str
    state: State
    reasons: tuple[str, ...] = ()
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
    """What became of all steps.

    Attributes:
        steps: One a step, board by board.
        left_over: Steps in the manifest that the configuration no longer asks for; their files
            are left as they are.
    """

    steps: tuple[StepOutcome, ...]
    left_over: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[StepOutcome, ...]:
        """Steps that failed, and those skipped for it."""
        return tuple(step for step in self.steps if step.state in ("failed", "skipped"))

    @property
    def is_current(self) -> bool:
        """Whether nothing was or is to be done."""
        return all(step.state == "current" for step in self.steps)

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "steps": [asdict(step) | {"reasons": list(step.reasons)} for step in self.steps],
            "failed": [f"{step.board}/{step.stage}" for step in self.failed],
            "left_over": list(self.left_over),
            "current": self.is_current,
        }


FORCED = "it was asked for"
PATIENCE_S = 0.5

Say = Callable[[str], None]


def check_boards(boards: Leaderboards, out: Path | str, force: Collection[str] = ()) -> RunReport:
    """Say what ``bring_up_to_date`` would make, and why; nothing is written.

    A step whose upstream step would run is said to run as well, though it is current after all
    where that step makes the same again. A board whose arena folder is not there has failed.

    Args:
        boards: What is asked for.
        out: Output folder.
        force: Boards to make again in any case.

    Raises:
        UsageError: For an unknown board in ``force``.
        DataError: If the manifest is damaged.
    """
    _check_forced(boards, force)
    out = Path(out)
    manifest = read_manifest(out)
    outcomes = [
        outcome
        for board in boards.boards
        for outcome in _checked_steps(board, manifest, out, board.name in force)
    ]
    return RunReport(tuple(outcomes), _left_over(boards, manifest))


def bring_up_to_date(
    boards: Leaderboards,
    out: Path | str,
    *,
    force: Collection[str] = (),
    n_jobs: int = 1,
    progress: Progress | None = None,
    say: Say | None = None,
) -> RunReport:
    """Bring all boards up to date.

    A step runs where its inputs, options, versions or outputs differ from what the manifest says
    of it. The manifest is written after every step, so a run that was killed goes on where it
    was. A board that fails does not keep the others from being made. Of two runs on the same
    output folder, the second waits.

    Args:
        boards: What is asked for.
        out: Output folder; created if absent.
        force: Boards to make again in any case.
        n_jobs: Processes to use; -1 for all cores. The result is the same.
        progress: Called as a step advances.
        say: Told in words of every step that ended, and of having to wait.

    Raises:
        UsageError: For an unknown board in ``force``.
        DataError: If the manifest is damaged.
    """
    _check_forced(boards, force)
    tell = say or (lambda _: None)
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    with _sole_run(out, tell):
        manifest = read_manifest(out)
        outcomes: list[StepOutcome] = []
        for board in boards.boards:
            run = _BoardRun(board, out, n_jobs, progress)
            for outcome in run.steps(manifest, board.name in force):
                outcomes.append(outcome)
                tell(str(outcome))
        return RunReport(tuple(outcomes), _left_over(boards, manifest))


class _BoardRun:
    """Makes the steps of one board."""

    def __init__(
        self, board: ConfiguredBoard, out: Path, n_jobs: int, progress: Progress | None
    ) -> None:
        self._board = board
        self._out = out
        self._folder = out / board.name
        self._n_jobs = n_jobs
        self._progress = progress

    def steps(self, manifest: RunManifest, forced: bool) -> Iterator[StepOutcome]:
        """Make each step that is not current, and yield what became of it."""
        failed: set[str] = set()
        for step in steps_of(self._board):
            outcome = self._step(step, manifest, forced, failed)
            if outcome.state in ("failed", "skipped"):
                failed.add(step.stage)
            yield outcome

    def _step(
        self, step: Step, manifest: RunManifest, forced: bool, failed: set[str]
    ) -> StepOutcome:
        blocking = [stage for stage in step.upstream if stage in failed]
        if blocking:
            why = (f"{blocking[0]} failed",)
            return StepOutcome(step.board, step.stage, "skipped", why)
        started = time.perf_counter()
        try:
            reasons = reasons_to_make(step, manifest, self._folder / step.stage)
            reasons = reasons or ([FORCED] if forced else [])
            if not reasons:
                known = manifest.steps[step.name].cautions
                return StepOutcome(step.board, step.stage, "current", cautions=known)
            cautions = self._make(step, manifest, started)
        except Exception as error:  # one board must not take the others with it
            return StepOutcome(step.board, step.stage, "failed", error=_in_words(error))
        took = time.perf_counter() - started
        return StepOutcome(
            step.board, step.stage, "made", tuple(reasons), cautions=cautions, seconds=took
        )

    def _make(self, step: Step, manifest: RunManifest, started: float) -> tuple[str, ...]:
        inputs = inputs_of(step, manifest)  # before it is made: a later change is noticed
        for left_over in self._folder.glob(f"{WRITING}*"):  # by a run that was killed
            shutil.rmtree(left_over, ignore_errors=True)
        with replaced_folder(self._folder / step.stage) as target:
            place = Workplace(self._out, self._folder, target, self._n_jobs, self._shown(step))
            unfinished = step.make(place)
            outputs = folder_digests(target)
        manifest.steps[step.name] = StepRecord(
            inputs=inputs,
            options=dict(step.options),
            versions=dict(step.versions),
            outputs=outputs,
            cautions=tuple(place.cautions),
            unfinished=unfinished or "",
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(time.perf_counter() - started, 3),
        )
        write_manifest(manifest, self._out)
        return tuple(place.cautions)

    def _shown(self, step: Step) -> Progress:
        def show(stage: str, done: int, total: int) -> None:
            if self._progress is not None:
                self._progress(f"{step.name} {stage}", done, total)

        return show


def _in_words(error: Exception) -> str:
    words = " ".join(str(error).split())
    return words if isinstance(error, ArenaError) else f"{type(error).__name__}: {words}"


def _checked_steps(
    board: ConfiguredBoard, manifest: RunManifest, out: Path, forced: bool
) -> Iterator[StepOutcome]:
    running: set[str] = set()
    try:
        read_info(board.arena)
    except (ArenaError, OSError) as error:
        steps = [(step.board, step.stage) for step in steps_of(board)]
        yield StepOutcome(*steps[0], "failed", error=_in_words(error))
        yield from (StepOutcome(*step, "skipped", (f"{steps[0][1]} failed",)) for step in steps[1:])
        return
    for step in steps_of(board):
        reasons = reasons_to_make(step, manifest, out / board.name / step.stage)
        reasons += [f"{stage} is made again" for stage in step.upstream if stage in running]
        reasons = reasons or ([FORCED] if forced else [])
        if reasons:
            running.add(step.stage)
        state: State = "would run" if reasons else "current"
        yield StepOutcome(step.board, step.stage, state, tuple(reasons))


def _left_over(boards: Leaderboards, manifest: RunManifest) -> tuple[str, ...]:
    asked = {step.name for board in boards.boards for step in steps_of(board)}
    return tuple(sorted(manifest.steps.keys() - asked))


def _check_forced(boards: Leaderboards, force: Collection[str]) -> None:
    names: Sequence[str] = [board.name for board in boards.boards]
    for name in force:
        if name not in names:
            raise UsageError(f"no board is named {name!r}; {offer(name, names)}")


@contextmanager
def _sole_run(out: Path, tell: Say) -> Iterator[None]:
    """Hold other runs off the output folder; say so where one has to be waited for."""
    waiting = threading.Timer(PATIENCE_S, tell, ["another run is at work in this folder; waiting"])
    waiting.daemon = True
    waiting.start()
    try:
        with locked_folder(out):
            waiting.cancel()
            yield
    finally:
        waiting.cancel()
