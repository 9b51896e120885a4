"""Past boards: what is kept of each, what changed, and why."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, ConfigDict

from arena.data.errors import ArenaError, DataError, Problem, UsageError
from arena.data.schema import ANSWER_KEY
from arena.data.tables import plain_records
from arena.data.wording import count_of, first_of
from surrogate.board import tables
from surrogate.board.board import Board
from surrogate.board.first_place import conclusion
from surrogate.board.settings import BoardSettings
from surrogate.board.summary import BoardSummary
from surrogate.publish.history import OVERALL, HistoryEntry, Move
from surrogate.runs.diff import GONE, MOVED, NEW, ComparedBoard, diff_boards
from surrogate.runs.steps import Digests, changed_values

EPOCH = "SOURCE_DATE_EPOCH"
"""Environment variable that fixes the date; see https://reproducible-builds.org."""
HISTORY = "history"
"""Folder of a board's past in the output folder of a run."""
RECORD_FILE = "record.json"
KEPT = ("ratings", "overall")
"""Tables that are kept of a past board: those that two boards are compared by."""
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


@dataclass(frozen=True, eq=False)
class PastBoard:
    """What is kept of a board: enough to compare it with another."""

    ratings: pd.DataFrame
    overall: pd.DataFrame
    summary: BoardSummary

    @property
    def languages(self) -> list[str]:
        """Languages with ratings."""
        return sorted(self.ratings["language"].unique())

    @classmethod
    def load(cls, folder: Path) -> PastBoard:
        """Read a past board.

        Raises:
            DataError: If a file of it is absent or damaged.
        """
        names = [tables.TABLES[name].file for name in KEPT]
        absent = [name for name in (*names, tables.SUMMARY_FILE) if not (folder / name).is_file()]
        with _damage_named(folder):
            if absent:
                raise DataError(
                    [Problem(name, None, None, None, "is missing", "") for name in absent]
                )
            read = {name: tables.TABLES[name].read(folder) for name in KEPT}
            summary = tables.read_json(BoardSummary, folder / tables.SUMMARY_FILE)
        return cls(summary=summary, **read)

    def save(self, folder: Path) -> None:
        """Write it to a folder that is there; the same board gives the same bytes."""
        for name in KEPT:
            tables.TABLES[name].write(getattr(self, name), folder)
        # Where the arena lies says nothing of what it was.
        summary = self.summary.model_copy(update={"arena_folder": None})
        tables.write_json(summary, folder / tables.SUMMARY_FILE)


class PastRecord(BaseModel):
    """``record.json`` of a past board: what pages show of it, and what it was made from.

    Attributes:
        digest: Digest of its tables; a board that is made again with the same ones is no new one.
        inputs: Digests of the files it was made from.
        versions: Versions of the libraries it was made with.
        answers: System to the digest of its rows of answers, see ``digests_by_system``.
        features: System to the digest of its features; empty unless they are of a file.
    """

    model_config = ConfigDict(frozen=True)

    entry: HistoryEntry
    digest: str
    inputs: Digests = {}
    versions: dict[str, str] = {}
    answers: Digests = {}
    features: Digests = {}


def open_compared(folder: Path) -> Board | PastBoard:
    """Read a board that is to be compared: a board folder, or a past board that ``run`` kept.

    Raises:
        UsageError: If the folder holds neither.
        DataError: If a file is damaged.
    """
    if (folder / RECORD_FILE).is_file():
        return PastBoard.load(folder)
    return Board.load(folder)


def board_before(folder: Path) -> Path:
    """Return the folder of the board before the one that a run made, or before a past one.

    Raises:
        UsageError: If there is none.
    """
    folder = folder.resolve()
    past = folder.parent if (folder / RECORD_FILE).is_file() else folder.parent / HISTORY
    names = [record.entry.name for record in read_history(past)]
    # The board itself is the last of those that are kept.
    place = names.index(folder.name) if folder.name in names else len(names) - 1
    if place < 1:
        raise UsageError(f"no board before {folder} was kept; name two boards")
    return past / names[place - 1]


def today() -> datetime.date:
    """Return the day in UTC, or that of ``SOURCE_DATE_EPOCH`` (seconds since 1970) if it is set.

    Raises:
        UsageError: If the variable is no such number.
    """
    text = os.environ.get(EPOCH)
    if not text:
        return datetime.datetime.now(datetime.UTC).date()
    try:
        return datetime.datetime.fromtimestamp(int(text), datetime.UTC).date()
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"{EPOCH} is {text!r}; set it to seconds since 1970") from None


def read_history(folder: Path) -> list[PastRecord]:
    """Return the records of the past boards in a folder, oldest first; none if it is absent.

    Raises:
        DataError: If one is damaged.
    """
    records, problems = readable_history(folder)
    if problems:
        raise DataError(problems)
    return records


def readable_history(folder: Path) -> tuple[list[PastRecord], list[Problem]]:
    """Return the records that can be read, oldest first, and what is wrong with the others."""
    records: list[PastRecord] = []
    problems: list[Problem] = []
    for path in sorted(folder.glob(f"*/{RECORD_FILE}")):
        try:
            records.append(_read_record(path))
        except DataError as error:
            problems.extend(error.problems)
    records.sort(key=lambda record: (record.entry.date, record.entry.number))
    return records, problems


def _read_record(path: Path) -> PastRecord:
    with _damage_named(path.parent):
        record = tables.read_json(PastRecord, path)
        if record.entry.name != path.parent.name:
            fault = f"is the record of {record.entry.name}"
            raise DataError.of_file(path.name, fault, hint="")
    return record


@contextmanager
def _damage_named(folder: Path) -> Iterator[None]:
    """Name the folder of a past board in errors about its files, and what to do about it."""
    try:
        yield
    except ArenaError as error:
        problems = [Problem("", None, None, None, str(error), "")]
        if isinstance(error, DataError):
            problems = list(error.problems)
        hint = f"remove the folder {folder}; the other past boards stay"
        raise DataError(
            [
                replace(problem, source=f"{folder.name}/{problem.source}", hint=hint)
                for problem in problems
            ]
        ) from error


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
    # Boards of the day may have been removed since: their count may be the number of another.
    of_day = [record.entry.number for record in records if record.entry.date == date]
    name = date.isoformat() + (f"-{max(of_day) + 1}" if of_day else "")
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
    names = [*BoardSettings.model_fields]
    values = [
        board.summary.settings.model_dump(mode="json", include=set(names)) for board in (old, new)
    ]
    causes = []
    if _has_other_judge(old, new):
        judge, judge_before = (board.summary.judge for board in (new, old))
        causes.append(f"the judge is now {judge}, before it was {judge_before}")
        for fields in values:
            del fields["judge"]
    for text in changed_values(*values):
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
        before, after = (
            sum(getattr(item, attribute) for item in board.summary.languages.values())
            for board in (old, new)
        )
        if after != before:
            noun = count_of(abs(after - before), attribute.removesuffix("s"))
            number, _, word = noun.partition(" ")
            changes[attribute] = f"{number} {'more' if after > before else 'fewer'} {word}"
    return changes


def _changed_systems(old: PastBoard, new: PastBoard) -> Iterator[str]:
    """Yield which systems a board has that the one before had not, or had."""
    systems_before, systems_after = (set(board.ratings["system"]) for board in (old, new))
    for names, verb in (
        (systems_after - systems_before, "joined"),
        (systems_before - systems_after, "left"),
    ):
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
