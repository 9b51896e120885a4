"""Keeping a board among the past ones: what changed since the last of them, and why."""

from __future__ import annotations

import datetime
import hashlib
import json
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.errors import UsageError
from arena.data.schema import ANSWER_KEY
from arena.data.tables import plain_records
from arena.data.wording import count_of, first_of
from surrogate.board import tables
from surrogate.board.board import Board
from surrogate.board.first_place import conclusion
from surrogate.board.settings import BoardSettings
from surrogate_arena.pages.history import OVERALL, HistoryEntry, Move
from surrogate_arena.runs.diff import GONE, MOVED, NEW, ComparedBoard, diff_boards
from surrogate_arena.runs.past_boards import (
    KEPT,
    RECORD_FILE,
    PastBoard,
    PastRecord,
    read_history,
    today,
)
from surrogate_arena.runs.steps import Digests, changed_values

LONGEST_CAUSE = 100
"""Characters of a setting's change that is shown whole."""
NOTHING = "no input, setting or library changed"
FEATURE_TABLE = "feature table"
"""Start of the name under which a run notes the digest of a board's feature table."""
INPUT_NAMES = {
    "queries": "questions",
    "judgments": "judgments",
    "published_ratings": "published ratings",
}
"""Start of a file's name to what it holds."""


def digests_by_system(table: pd.DataFrame) -> Digests:
    """Return each system's digest of its rows of a table of answers, in any order."""
    digests = {}
    for system, rows in table.sort_values(ANSWER_KEY).groupby("system"):
        digest = hashlib.sha256()
        for record in plain_records(rows):
            # A column that another system brings changes nothing here.
            present = {name: value for name, value in record.items() if value is not None}
            digest.update(json.dumps(present, sort_keys=True).encode())
        digests[str(system)] = digest.hexdigest()
    return digests


def _tables_digest(board: PastBoard) -> str:
    texts = [getattr(board, name).to_csv(index=False) for name in KEPT]
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def keep_board(
    board: Board,
    past: Path,
    target: Path,
    inputs: Digests,
    versions: Mapping[str, str],
    answers: pd.DataFrame,
) -> None:
    """Copy the past boards to another folder, and add a board if it differs from the last one.

    Args:
        board: The board as it was just made.
        past: Folder of past boards; it may be absent.
        target: Empty folder to write them to.
        inputs: Digests of what the board was made from.
        versions: Libraries it was made with.
        answers: The answers that it was made from.

    Raises:
        DataError: If a past board is damaged.
    """
    answer_digests = digests_by_system(answers)
    feature_digests: Digests = {}
    if any(name.startswith(FEATURE_TABLE) for name in inputs):
        feature_digests = digests_by_system(board.features)
    records = read_history(past)
    for record in records:
        shutil.copytree(past / record.entry.name, target / record.entry.name)
    new = PastBoard(board.ratings, board.overall, board.summary)
    digest = _tables_digest(new)
    if records and records[-1].digest == digest:
        return
    # A clock that was set back must not change the order of boards.
    date = max([today(), *(record.entry.date for record in records)])
    name = _free_name(date, records)
    standings = {}
    for row in plain_records(board.overall):
        standings[row["system"]] = (row["rank"], row["mean_rating"])
    record = PastRecord(
        entry=HistoryEntry(name=name, date=date, conclusion=conclusion(board), standings=standings),
        digest=digest,
        inputs=inputs,
        versions=dict(versions),
        answers=answer_digests,
        features=feature_digests,
    )
    if records:
        last = records[-1]
        old = PastBoard.load(past / last.entry.name)
        changes = {**_changes(old, new), "causes": tuple(_causes(old, last, new, record))}
        record = record.model_copy(update={"entry": record.entry.model_copy(update=changes)})
    (target / name).mkdir()
    new.save(target / name)
    tables.write_json(record, target / name / RECORD_FILE)


def _free_name(date: datetime.date, records: Sequence[PastRecord]) -> str:
    """Return the name of one more board of a day: the day, with a number from the second on."""
    # Boards of the day may have been removed since: their count may be the number of another.
    numbers = [record.entry.number for record in records if record.entry.date == date]
    return f"{date.isoformat()}-{max(numbers) + 1}" if numbers else date.isoformat()


def _causes(
    old: PastBoard, old_record: PastRecord, new: PastBoard, record: PastRecord
) -> list[str]:
    """Say what a board was made from that the one before was not."""
    counts = _changed_counts(old, new)
    causes = [
        *_changed_settings(old, new),
        *counts.values(),
        *_changed_systems(old, new),
        *_changed_digests("answers", old_record.answers, record.answers),
        *_changed_digests("features", old_record.features, record.features),
        *_changed_inputs(old_record.inputs, record.inputs, counts.keys()),
        *changed_values(old_record.versions, record.versions),
    ]
    return causes or [NOTHING]


def _changes(old: ComparedBoard, new: ComparedBoard) -> dict[str, Any]:
    """Return what moved between two boards, as fields of a ``HistoryEntry``."""
    try:
        difference = diff_boards(old, new)
    except UsageError as error:
        return {"counts": str(error), "is_comparable": False}
    changes = difference.changes
    is_shown = changes["language"].eq(OVERALL) & changes["verdict"].isin([MOVED, NEW, GONE])
    if len(new.languages) > 1:
        is_shown |= changes["verdict"].eq(MOVED)
    fields = [*Move.model_fields]
    moves = [Move(**row) for row in plain_records(changes.loc[is_shown, fields])]
    return {
        "counts": str(difference),
        "moves": tuple(moves),
        "is_comparable": difference.is_comparable,
    }


def _changed_settings(old: PastBoard, new: PastBoard) -> list[str]:
    names = set(BoardSettings.model_fields)
    before = old.summary.settings.model_dump(mode="json", include=names)
    after = new.summary.settings.model_dump(mode="json", include=names)
    causes = []
    if _has_other_judge(old, new):
        causes.append(f"the judge is now {new.summary.judge}, before it was {old.summary.judge}")
        del before["judge"]
        del after["judge"]
    for text in changed_values(before, after):
        name, _, _ = text.partition(":")
        shown = text if len(text) <= LONGEST_CAUSE else f"{name} changed"
        causes.append(shown.replace("_", " "))
    return causes


def _has_other_judge(old: PastBoard, new: PastBoard) -> bool:
    """Return whether both boards rest on verdicts, and these are of different judges."""
    if old.summary.is_first or new.summary.is_first:
        return False
    return old.summary.judge != new.summary.judge


def _changed_counts(old: PastBoard, new: PastBoard) -> dict[str, str]:
    """Return of what a board holds more or less than the one before, by its name."""
    changes = {}
    # Verdicts of one judge are not those of another with some added or removed.
    counted = ("questions",) if _has_other_judge(old, new) else ("judgments", "questions")
    for attribute in counted:
        before = _total(old, attribute)
        after = _total(new, attribute)
        if after != before:
            difference = count_of(abs(after - before), attribute.removesuffix("s"))
            number, _, noun = difference.partition(" ")
            comparative = "more" if after > before else "fewer"
            changes[attribute] = f"{number} {comparative} {noun}"
    return changes


def _total(board: PastBoard, attribute: str) -> int:
    """Return the sum of a number, such as ``questions``, over a board's languages."""
    return sum(getattr(summary, attribute) for summary in board.summary.languages.values())


def _changed_systems(old: PastBoard, new: PastBoard) -> Iterator[str]:
    """Yield which systems a board has that the one before had not, or had."""
    before = set(old.ratings["system"])
    after = set(new.ratings["system"])
    for names, verb in ((after - before, "joined"), (before - after, "left")):
        if names:
            yield f"{', '.join(sorted(names))} {verb}"


def _changed_digests(noun: str, before: Digests, after: Digests) -> Iterator[str]:
    """Yield which systems that were there before have other answers, or features, now."""
    shared = sorted(before.keys() & after.keys())
    changed = [system for system in shared if before[system] != after[system]]
    if changed:
        yield f"{noun} of {first_of(changed)} changed"


def _changed_stems(old: Digests, new: Digests) -> set[str]:
    """Return the start of the names of files that differ, as in ``INPUT_NAMES``."""
    stems = set()
    for name in old.keys() | new.keys():
        if old.get(name) != new.get(name):
            stem = Path(name).name.split(".")[0]
            stems.add(FEATURE_TABLE if name.startswith(FEATURE_TABLE) else stem)
    return stems


def _changed_inputs(old: Digests, new: Digests, counted: Collection[str]) -> Iterator[str]:
    """Yield which inputs changed, but those whose number changed."""
    changed = _changed_stems(old, new)
    for stem, noun in INPUT_NAMES.items():
        if stem in changed and noun not in counted:
            yield f"{noun} changed"
