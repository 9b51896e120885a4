"""Bringing all boards of a configuration up to date, or saying what that would take."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from joblib import parallel_config

from arena.data.errors import ArenaError
from arena.data.folder import read_info
from arena.data.progress import finish
from arena.data.safe_writes import locked_folder, replaced_folder
from arena.data.types import Progress
from arena.data.wording import count_of
from arena.llm.awaiting import RepliesAwaitedError
from features.engine.workers import work
from surrogate_arena.cli.cluster import on_cluster
from surrogate_arena.runs.configured import LOG_FILE, ConfiguredBoard, Leaderboards
from surrogate_arena.runs.stages import SITE, overview_steps, steps_of
from surrogate_arena.runs.steps import (
    RunManifest,
    Step,
    StepRecord,
    Workplace,
    folder_digests,
    inputs_of,
    library_versions,
    read_manifest,
    reasons_to_make,
    write_manifest,
)
from surrogate_arena.runs.web_root import check_web_root, remove_withdrawn, write_front

_LOG_HEADER = (
    "# When steps were made. Clock times are in this file alone: the same boards give the same\n"
    "# bytes in all others.\n"
)
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
    site: Path | str | None = None,
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
        site: Folder of all pages, for a web server; by default the configuration's.
        check: Write nothing; report what would be made, and why.
        n_jobs: Processes to use; -1 for all cores. The result is the same.
        progress: Called as a step advances.
        say: Called with a sentence on every step that ended.

    Raises:
        UsageError: If a web server would serve what is not to be published.
        DataError: If the manifest is damaged.
    """
    out = Path(out)
    web = boards.web_root(out) if site is None else Path(site)
    check_web_root(web, out, boards)
    folders = Folders(out, web)
    if check:
        return RunReport(tuple(_check_all(boards, folders, say)))
    out.mkdir(parents=True, exist_ok=True)
    with locked_folder(out):
        manifest = read_manifest(out)
        withdrawn = remove_withdrawn(manifest, _published(boards), web)
        for name in withdrawn:
            say(f"{SITE} {name}: removed (the configuration does not publish it any more)")
        if withdrawn:
            write_manifest(manifest, out)
        outcomes = _make_all(boards, manifest, folders, n_jobs, progress, say)
        order = [name for name, _, _ in _jobs(boards)]
        # Boards made by workers of a cluster were reported first.
        outcomes.sort(key=lambda outcome: order.index(outcome.board))
        write_front(boards, manifest, _faults(outcomes), out, web)
    return RunReport(tuple(outcomes))


@dataclass(frozen=True)
class Folders:
    """Where a run writes: the output folder, and the folder of all pages."""

    out: Path
    web: Path

    def of(self, name: str) -> Workplace:
        """Return the folders of a board or an overview."""
        board = self.out / name
        return Workplace(self.out, board, self.web / name, target=board, before=board)


def _published(boards: Leaderboards) -> set[str]:
    """Return the names of boards and overviews that have pages."""
    names = {board.name for board in boards.boards if SITE in board.options.publish}
    return names | {overview.name for overview in boards.overviews if overview.has_pages}


def _faults(outcomes: Sequence[StepOutcome]) -> dict[str, list[str]]:
    """Return what readers must know of each board; errors may quote an arena, and are no part."""
    faults: dict[str, list[str]] = {}
    for outcome in outcomes:
        of_board = faults.setdefault(outcome.board, [])
        if outcome.error:
            of_board.append(f"This board could not be brought up to date ({outcome.stage} failed).")
        of_board.extend(outcome.cautions)
    return faults


def _check_all(boards: Leaderboards, folders: Folders, say: Say) -> list[StepOutcome]:
    manifest = read_manifest(folders.out)
    outcomes: list[StepOutcome] = []
    for name, steps, arena in _jobs(boards):
        for outcome in _steps(steps, arena, manifest, folders.of(name), outcomes, check=True):
            outcomes.append(outcome)
            say(str(outcome))
    return outcomes


def _jobs(boards: Leaderboards) -> Iterator[tuple[str, Iterable[Step], Path | None]]:
    """Yield each board, then each overview: its name, its steps, and the arena it needs."""
    for board in boards.boards:
        yield board.name, steps_of(board), board.arena
    for overview in boards.overviews:
        yield overview.name, overview_steps(overview), None


def _make_all(
    boards: Leaderboards,
    manifest: RunManifest,
    folders: Folders,
    n_jobs: int,
    progress: Progress | None,
    say: Say,
) -> list[StepOutcome]:
    """Make every step that is not current; the manifest on disk follows step by step."""
    remote_boards = _boards_for_workers(boards)
    outcomes = _make_on_cluster(remote_boards, manifest, folders, n_jobs, say)
    remote_names = {board.name for board in remote_boards}
    for name, steps, arena in _jobs(boards):
        if name in remote_names:
            continue
        board_progress = progress and partial(_board_progress, progress, name)
        workplace = replace(folders.of(name), n_jobs=n_jobs, progress=board_progress)
        for outcome in _steps(steps, arena, manifest, workplace, outcomes, check=False):
            if outcome.state == "made":
                write_manifest(manifest, folders.out)
                finish(board_progress, outcome.stage)
            outcomes.append(outcome)
            _log(outcome, folders.out)
            say(str(outcome))
    return outcomes


def _make_on_cluster(
    boards: Sequence[ConfiguredBoard],
    manifest: RunManifest,
    folders: Folders,
    n_jobs: int,
    say: Say,
) -> list[StepOutcome]:
    """Make whole boards by the workers of a cluster, as ``_make_all`` does."""
    outcomes: list[StepOutcome] = []
    # Workers may run in other folders.
    absolute = Folders(folders.out.resolve(), folders.web.resolve())
    task = partial(steps_elsewhere, manifest=manifest, folders=absolute)
    for finished, records in work(task, boards, n_jobs):
        manifest.steps.update(records)
        write_manifest(manifest, folders.out)
        outcomes.extend(finished)
        for outcome in finished:
            _log(outcome, folders.out)
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
    board: ConfiguredBoard, manifest: RunManifest, folders: Folders
) -> tuple[list[StepOutcome], dict[str, StepRecord]]:
    """Make the steps of a board as a worker of a cluster; the records are for its manifest."""
    copied = RunManifest(steps=dict(manifest.steps))
    with parallel_config("sequential"):
        outcomes: list[StepOutcome] = []
        workplace = folders.of(board.name)
        steps = steps_of(board)
        for outcome in _steps(steps, board.arena, copied, workplace, outcomes, check=False):
            outcomes.append(outcome)
    records = {}
    for outcome in outcomes:
        if outcome.state == "made":
            name = f"{outcome.board}/{outcome.stage}"
            records[name] = copied.steps[name]
    return outcomes, records


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


def _board_progress(progress: Progress, board: str, stage: str, done: int, total: int) -> None:
    progress(f"{board} {stage}", done, total)


def _steps(
    steps: Iterable[Step],
    arena: Path | None,
    manifest: RunManifest,
    workplace: Workplace,
    earlier: Sequence[StepOutcome],
    *,
    check: bool,
) -> Iterator[StepOutcome]:
    """Make each step that is not current, and yield what became of it.

    Args:
        steps: Steps of a board or an overview.
        arena: The arena folder that they need; None for none.
        manifest: How each step was made; it follows.
        workplace: Folders of the board.
        earlier: Outcomes so far, to which the caller adds those that are yielded.
        check: Whether only to say what would be made.
    """
    for step in steps:
        states = {f"{outcome.board}/{outcome.stage}": outcome.state for outcome in earlier}
        sources_in: dict[str | None, list[str]] = defaultdict(list)
        for stage, name in step.sources.items():
            state = states.get(name)
            # A stage is skipped because one before it failed.
            sources_in["failed" if state == "skipped" else state].append(stage)
        if sources_in["failed"]:
            reasons = [f"{stage} failed" for stage in sources_in["failed"]]
            yield StepOutcome(step.board, step.stage, "skipped", reasons)
            continue
        if sources_in["awaited"]:
            reasons = [f"{stage} awaits replies" for stage in sources_in["awaited"]]
            yield StepOutcome(step.board, step.stage, "awaited", reasons)
            continue
        folder = workplace.pages if step.stage == SITE else workplace.board / step.stage
        step_workplace = replace(
            workplace, target=folder, before=folder, cautions=[], page_facts={}
        )
        # One board must not take the others with it, whatever fails in it.
        try:
            if arena is not None:
                read_info(arena)
            reasons = reasons_to_make(step, manifest, folder)
            if check:
                reasons += [f"{stage} is made again" for stage in sources_in["would run"]]
            yield _outcome(step, manifest, step_workplace, reasons, check=check)
        except RepliesAwaitedError as error:
            batches = "; ".join(error.batches)
            reason = f"{count_of(error.n_replies, 'reply', 'replies')}: {batches}"
            yield StepOutcome(step.board, step.stage, "awaited", [reason])
        except Exception as error:
            text = " ".join(str(error).split())
            if not isinstance(error, ArenaError):
                text = f"{type(error).__name__}: {text}"
            yield StepOutcome(step.board, step.stage, "failed", error=text)


def _outcome(
    step: Step, manifest: RunManifest, workplace: Workplace, reasons: list[str], *, check: bool
) -> StepOutcome:
    """Make a step where there are reasons to, unless it is only checked."""
    if not reasons:
        cautions = manifest.steps[step.name].cautions
        return StepOutcome(step.board, step.stage, "current", cautions=cautions)
    if check:
        return StepOutcome(step.board, step.stage, "would run", reasons)
    started = time.perf_counter()
    record = _made(step, manifest, workplace)
    seconds = time.perf_counter() - started
    return StepOutcome(
        step.board, step.stage, "made", reasons, cautions=record.cautions, seconds=seconds
    )


def _made(step: Step, manifest: RunManifest, workplace: Workplace) -> StepRecord:
    """Make a step, and put its folder in place of the one before."""
    # Digested before the step is made, so that a change meanwhile is noticed by the next run.
    inputs = inputs_of(step, manifest)
    with replaced_folder(workplace.target) as target:
        unfinished = step.make(replace(workplace, target=target))
        outputs = folder_digests(target)
    record = StepRecord(
        inputs=inputs,
        options=dict(step.options),
        versions=library_versions(),
        outputs=outputs,
        cautions=tuple(workplace.cautions),
        page_facts=workplace.page_facts,
        unfinished=unfinished or "",
    )
    manifest.steps[step.name] = record
    return record
