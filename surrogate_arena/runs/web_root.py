"""The folder that a web server serves: pages of all boards, a page over them, and a feed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.data.errors import ArenaError, DataError, UsageError
from arena.data.files import resolved
from arena.data.writing import write_text
from surrogate.board.tables import FEATURE_CACHE
from surrogate_arena.pages.feed import FEED, FeedEntry, atom_feed
from surrogate_arena.pages.history import HistoryEntry, without_removed
from surrogate_arena.pages.pages import filled
from surrogate_arena.pages.site import INDEX, RECORD
from surrogate_arena.pages.site_folder import check_replaceable
from surrogate_arena.runs.configured import ConfiguredBoard, Leaderboards
from surrogate_arena.runs.past_boards import HISTORY, read_history
from surrogate_arena.runs.records import BoardRecord, RunRecords

OURS = {
    INDEX: '<meta name="generator" content="surrogate-arena',
    FEED: "surrogate-arena</generator>",
}
"""What tells files of ours in the root from others."""


def check_web_root(web: Path, out: Path, boards: Leaderboards) -> None:
    """Check that nothing private would be served."""
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
    names = {board.name for board in boards.boards} | {*RunRecords.read(out).boards}
    for name in sorted({*names, FEATURE_CACHE}):
        folder = out / name
        if root.is_relative_to(resolved(folder)):
            raise UsageError(
                f"{web} is in {folder}, which holds files that a web server must not serve; name "
                "another folder for the pages"
            )


def remove_withdrawn(records: RunRecords, published: set[str], web: Path) -> list[str]:
    """Remove the pages of boards that are not published any more."""
    withdrawn = []
    for name, record in records.boards.items():
        if not record.is_published or name in published:
            continue
        folder = web / name
        # Pages that somebody added to are theirs to remove.
        try:
            check_replaceable(folder)
        except ArenaError:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        records.boards[name] = record.model_copy(update={"is_published": False})
        withdrawn.append(name)
    return withdrawn


def write_front(
    boards: Leaderboards,
    records: RunRecords,
    faults: Mapping[str, Sequence[str]],
    out: Path,
    web: Path,
) -> None:
    """Write the page over all boards and the feed of their changes.

    Where a past board cannot be read, the feed stays.
    """
    web.mkdir(parents=True, exist_ok=True)
    rows = []
    changes: list[FeedEntry] = []
    feed: str | None = ""
    for board in boards.boards:
        past: list[HistoryEntry] = []
        try:
            kept = [record.entry for record in read_history(out / board.name / HISTORY)]
            past = without_removed(kept)
        except DataError:
            # Making the board has failed by it, too, and said so.
            feed = None
        record = records.boards.get(board.name, BoardRecord())
        rows.append(_row(board, record, past, faults.get(board.name, ()), web))
        changes.extend(_changes(board, past, rows[-1]["link"]))
    if feed is None:
        feed = _text(web / FEED)
    elif changes:
        site = boards.site
        feed = atom_feed(changes, title=boards.title, address=site.address, rights=site.license)
    dates = [row["date"] for row in rows if row["date"]]
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


def _row(
    board: ConfiguredBoard,
    record: BoardRecord,
    past: Sequence[HistoryEntry],
    faults: Sequence[str],
    web: Path,
) -> dict[str, Any]:
    link = f"{board.name}/{INDEX}"
    last = past[-1] if past else None
    shown = web / board.name / RECORD
    return {
        "record": json.loads(shown.read_text("utf-8")) if shown.is_file() else None,
        "title": board.pages.title,
        "description": board.pages.description,
        "link": link if (web / link).is_file() else "",
        "conclusion": record.conclusion,
        "date": None if last is None else last.date,
        "last": last if len(past) > 1 else None,
        "faults": faults,
    }


def _changes(
    board: ConfiguredBoard, past: Sequence[HistoryEntry], link: str
) -> Iterator[FeedEntry]:
    for entry in past:
        causes = [f"Why: {'; '.join(entry.causes)}."] if entry.causes else []
        further = [f"{sentence}." for sentence in entry.news[1:]]
        sentences = [f"{sentence}." for sentence in entry.sentences]
        yield FeedEntry(
            board=board.pages.title,
            key=f"{board.name} {entry.name}",
            date=entry.date,
            number=entry.number,
            page=f"{board.name}/history.html#{entry.name}" if link else INDEX,
            time=entry.time,
            lead=next(iter(entry.news), entry.counts) or "The first board that was kept",
            points=(entry.conclusion, *further, *causes, *sentences),
        )


def _write_ours(text: str, path: Path) -> None:
    present = _text(path)
    if present == text or (present and OURS[path.name] not in present):
        return
    if text:
        write_text(text, path)
    else:
        path.unlink(missing_ok=True)


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.exists() else ""
