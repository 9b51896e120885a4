"""Keeping a board among the past ones: what changed since the last of them, and why."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.errors import UsageError
from arena.data.schema import ANSWER_KEY
from arena.data.tables import plain_records, write_record
from arena.data.wording import count_of, first_of
from arena.data.writing import replaced_folder
from surrogate.board.board import Board
from surrogate.board.findings import conclusion
from surrogate_arena.pages.history import OVERALL, HistoryEntry, Move
from surrogate_arena.runs.diff import GONE, MOVED, NEW, diff_boards
from surrogate_arena.runs.past_boards import (
    KEPT,
    RECORD_FILE,
    PastBoard,
    PastRecord,
    read_history,
    today,
)
from surrogate_arena.runs.records import Ingredients, changes

NOTHING = "no input, setting or library changed"
INPUT_NAMES = {
    "queries": "questions",
    "judgments": "judgments",
    "published_ratings": "published ratings",
}
"""Start of the name of an arena's file to what it holds, for those that are causes."""
NO_CAUSES = ("arena/", "judge:", "site ", "publish:")
"""Start of ingredients that change nothing of a board, or that are causes by other words."""


def keep_board(board: Board, past: Path, ingredients: Ingredients, answers: pd.DataFrame) -> None:
    """Add a board to the folder of past ones if it differs from the last of them."""
    records = read_history(past)
    new = PastBoard(board.ratings, board.overall, board.summary)
    texts = [getattr(new, name).to_csv(index=False) for name in KEPT]
    digest = hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    if records and records[-1].digest == digest:
        return
    # A clock that was set back must not change the order of boards.
    date = max([today(), *(record.entry.date for record in records)])
    name = date.isoformat()
    # Boards of the day may have been removed since: their count may be the number of another.
    numbers = [record.entry.number for record in records if record.entry.date == date]
    if numbers:
        name += f"-{max(numbers) + 1}"
    standings = {}
    for row in plain_records(board.overall):
        standings[row["system"]] = (row["rank"], row["mean_rating"])
    entry = HistoryEntry(
        name=name,
        date=date,
        conclusion=conclusion(board),
        standings=standings,
    )
    record = PastRecord(
        entry=entry, digest=digest, ingredients=ingredients, answers=_answer_digests(answers)
    )
    if records:
        last = records[-1]
        old = PastBoard.load(past / last.entry.name)
        causes = tuple(_causes(old, last, new, record)) or (NOTHING,)
        entry = entry.model_copy(update={**_changes(old, new), "causes": causes})
        record = record.model_copy(update={"entry": entry})
    with replaced_folder(past / entry.name) as target:
        new.save(target)
        write_record(record, target / RECORD_FILE)


def _answer_digests(answers: pd.DataFrame) -> dict[str, str]:
    digests = {}
    for system, rows in answers.sort_values(ANSWER_KEY).groupby("system"):
        digest = hashlib.sha256()
        for record in plain_records(rows):
            # A column that another system brings changes nothing here.
            present = {name: value for name, value in record.items() if value is not None}
            digest.update(json.dumps(present, sort_keys=True).encode())
        digests[str(system)] = digest.hexdigest()
    return digests


def _changes(old: PastBoard, new: PastBoard) -> dict[str, Any]:
    try:
        difference = diff_boards(old, new)
    except UsageError as error:
        return {"counts": str(error), "is_comparable": False}
    table = difference.changes
    is_shown = table["language"].eq(OVERALL) & table["verdict"].isin([MOVED, NEW, GONE])
    if len(new.languages) > 1:
        is_shown |= table["verdict"].eq(MOVED)
    fields = [*Move.model_fields]
    moves = [Move(**row) for row in plain_records(table.loc[is_shown, fields])]
    return {
        "counts": str(difference),
        "moves": tuple(moves),
        "is_comparable": difference.is_comparable,
    }


def _causes(
    old: PastBoard, old_record: PastRecord, new: PastBoard, record: PastRecord
) -> Iterator[str]:
    counted = ["judgments", "questions"]
    if old.summary.judge != new.summary.judge:
        yield f"the judge is now {new.summary.judge}, before it was {old.summary.judge}"
        # Verdicts of one judge are not those of another with some added or removed.
        counted = ["questions"]
    differences = {noun: _total(new, noun) - _total(old, noun) for noun in counted}
    for noun, difference in differences.items():
        if difference:
            comparative = "more" if difference > 0 else "fewer"
            yield count_of(abs(difference), f"{comparative} {noun.removesuffix('s')}")
    yield from _causes_by_systems(old, old_record, new, record)
    before, after = old_record.ingredients, record.ingredients
    changed_files = {name for name, _ in before.items() ^ after.items()}
    for stem, noun in INPUT_NAMES.items():
        is_changed = any(name.startswith(f"arena/{stem}.") for name in changed_files)
        # More or fewer rows were counted above.
        if is_changed and not differences.get(noun):
            yield f"{noun} changed"
    yield from changes(_settings(before), _settings(after))


def _causes_by_systems(
    old: PastBoard, old_record: PastRecord, new: PastBoard, record: PastRecord
) -> Iterator[str]:
    systems_before = set(old.ratings["system"])
    systems = set(new.ratings["system"])
    for names, verb in ((systems - systems_before, "joined"), (systems_before - systems, "left")):
        if names:
            yield f"{', '.join(sorted(names))} {verb}"
    both = sorted(old_record.answers.keys() & record.answers.keys())
    changed = [name for name in both if old_record.answers[name] != record.answers[name]]
    if changed:
        yield f"answers of {first_of(changed)} changed"


def _total(board: PastBoard, attribute: str) -> int:
    return sum(getattr(summary, attribute) for summary in board.summary.languages.values())


def _settings(ingredients: Mapping[str, str]) -> Ingredients:
    kept = {}
    for name, value in ingredients.items():
        if not f"{name}:".startswith(NO_CAUSES):
            kept[name] = value
    return kept
