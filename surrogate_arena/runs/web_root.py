"""The folder that a web server serves: pages of all boards, a page over them, and a feed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.data.errors import ArenaError, UsageError
from arena.data.safe_writes import resolved, write_text
from surrogate.board.tables import FEATURE_CACHE
from surrogate_arena.pages.feed import FEED, FeedEntry, atom_feed
from surrogate_arena.pages.history import HistoryEntry
from surrogate_arena.pages.pages import filled
from surrogate_arena.pages.site import INDEX, check_replaceable
from surrogate_arena.runs.configured import ConfiguredBoard, ConfiguredOverview, Leaderboards
from surrogate_arena.runs.past_boards import HISTORY, readable_history
from surrogate_arena.runs.stages import BOARD, CRITERIA, SITE
from surrogate_arena.runs.steps import RunManifest, StepRecord, read_manifest

OURS = {
    INDEX: '<meta name="generator" content="surrogate-arena',
    FEED: "surrogate-arena</generator>",
}
"""What tells files of ours in the root from others."""


def check_web_root(web: Path, out: Path, boards: Leaderboards) -> None:
    """Check that no store, arena, configuration or file of a board would be served.

    Raises:
        UsageError: If the output folder, an arena or the configuration lies in the root, or the
            root in the folder of a board, also of one that the configuration has no more.
        DataError: If the manifest is damaged.
    """
    root = resolved(web)
    private = {"the output folder": out, "the configuration": boards.file}
    for board in boards.boards:
        private[f"the arena of {board.name}"] = board.arena
    for name, path in private.items():
        if resolved(path).is_relative_to(root):
            raise UsageError(
                f"{name} ({path}) is in {web}, which a web server would serve; name another "
                "folder for the pages"
            )
    names = {board.name for board in boards.boards}
    names |= {overview.name for overview in boards.overviews}
    names |= {step.partition("/")[0] for step in read_manifest(out).steps}
    for name in sorted({*names, FEATURE_CACHE}):
        folder = out / name
        if root.is_relative_to(resolved(folder)):
            raise UsageError(
                f"{web} is in {folder}, which holds files that a web server must not serve; name "
                "another folder for the pages"
            )


def remove_withdrawn(manifest: RunManifest, published: set[str], web: Path) -> list[str]:
    """Remove the pages of boards that are not published any more.

    Only folders that a run wrote and that hold nothing else are removed.

    Returns:
        The names of these boards.
    """
    withdrawn = []
    for step in list(manifest.steps):
        name, _, stage = step.partition("/")
        if stage != SITE or name in published:
            continue
        folder = web / name
        # Pages that somebody added to are theirs to remove.
        try:
            check_replaceable(folder)
        except ArenaError:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        del manifest.steps[step]
        withdrawn.append(name)
    return withdrawn


def write_front(
    boards: Leaderboards,
    manifest: RunManifest,
    faults: Mapping[str, Sequence[str]],
    out: Path,
    web: Path,
) -> None:
    """Write the page over all boards and the feed of their changes.

    A file that would stay the same, or that is another's, is left as it is; so is the feed where
    a past board cannot be read, as readers would lose its entry.

    Args:
        boards: The configuration.
        manifest: How each step was made.
        faults: Board to what readers must know of it.
        out: Output folder.
        web: Folder of the pages.
    """
    web.mkdir(parents=True, exist_ok=True)
    rows = []
    changes: list[FeedEntry] = []
    is_complete = True
    for board in _in_file_order(boards):
        # The step that keeps past boards has failed where there are problems, and named them.
        records, problems = readable_history(out / board.name / HISTORY)
        is_complete &= not problems
        past = [record.entry for record in records]
        rows.append(_row(board, manifest, past, faults.get(board.name, ()), web))
        changes.extend(_changes(board, past, rows[-1]["link"]))
    dates = [row["date"] for row in rows if row["date"]]
    feed = _feed(boards, changes) if is_complete else _text(web / FEED)
    front = filled(
        "boards",
        (),
        title=boards.title,
        settings=boards.site,
        boards=rows,
        failing=sum(bool(row["faults"]) for row in rows),
        date=max(dates, default=None),
        feed=FEED if feed else "",
    )
    _write_ours(front, web / INDEX)
    _write_ours(feed, web / FEED)


def _feed(boards: Leaderboards, changes: Sequence[FeedEntry]) -> str:
    """Return the feed of changes; empty if there is none."""
    if not changes:
        return ""
    site = boards.site
    return atom_feed(changes, title=boards.title, address=site.address, rights=site.license)


def _in_file_order(boards: Leaderboards) -> Iterator[ConfiguredBoard | ConfiguredOverview]:
    """Yield boards as the file has them, each overview before its boards."""
    overviews = {overview.name: overview for overview in boards.overviews}
    for board in boards.boards:
        overview = overviews.pop(board.overview, None)
        if overview is not None:
            yield overview
        yield board


def _row(
    board: ConfiguredBoard | ConfiguredOverview,
    manifest: RunManifest,
    past: Sequence[HistoryEntry],
    faults: Sequence[str],
    web: Path,
) -> dict[str, Any]:
    """Return what the page over all boards says of one."""
    stage = BOARD if isinstance(board, ConfiguredBoard) else CRITERIA
    record = manifest.steps.get(f"{board.name}/{stage}", StepRecord())
    link = f"{board.name}/{INDEX}"
    last = past[-1] if past else None
    return {
        "title": board.pages.title,
        "description": board.pages.description,
        "link": link if (web / link).is_file() else "",
        "conclusion": record.page_facts.get("conclusion", ""),
        "date": None if last is None else last.date,
        "last": last if len(past) > 1 else None,
        "faults": faults,
    }


def _changes(
    board: ConfiguredBoard | ConfiguredOverview, past: Sequence[HistoryEntry], link: str
) -> Iterator[FeedEntry]:
    """Yield the entries of a feed on the states of a board."""
    for entry in past:
        causes = [f"Why: {'; '.join(entry.causes)}."] if entry.causes else []
        sentences = [f"{sentence}." for sentence in entry.sentences]
        yield FeedEntry(
            board=board.pages.title,
            key=f"{board.name} {entry.name}",
            date=entry.date,
            number=entry.number,
            page=f"{board.name}/history.html#{entry.name}" if link else INDEX,
            lead=entry.counts or "The first board that was kept",
            points=(entry.conclusion, *causes, *sentences),
        )


def _write_ours(text: str, path: Path) -> None:
    """Write a file of the root, or remove it where there is no text, unless it is another's."""
    present = _text(path)
    if present == text or (present and OURS[path.name] not in present):
        return
    if text:
        write_text(text, path)
    else:
        path.unlink(missing_ok=True)


def _text(path: Path) -> str:
    """Return the text of a file; empty if there is none."""
    return path.read_text("utf-8", "replace") if path.exists() else ""
