"""Keeping past boards: what changed since the last, and why."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.languages import language_name
from arena.data.tables import plain_records, write_record
from arena.data.wording import count_of, first_of
from surrogate.board.board import Board
from surrogate.board.remarks import conclusion
from surrogate_arena.cli.clock import now
from surrogate_arena.pages.history import OVERALL, HistoryEntry, Move, news_of
from surrogate_arena.runs.diff import MOVED, diff_boards
from surrogate_arena.runs.past_boards import (
    RECORD_FILE,
    WHOLE,
    Digests,
    PastRecord,
    past_board,
    read_history,
)
from surrogate_arena.runs.records import Ingredients, changes

NOTHING = "no input, setting or library changed"
ANSWERS_OF = "answers of "
NO_CAUSES = ("arena/", "judge:", "site ", "publish:")
"""Start of ingredients that change nothing of a board, or that are causes by other words."""


def keep_board(
    board: Board, past: Path, ingredients: Ingredients, arena: Arena, cause: str = ""
) -> None:
    """Add a board to past ones if it differs from the last.

    ``cause`` says why, if its arena and settings did not change.
    """
    records = read_history(past)
    texts = [table.to_csv(index=False) for table in (board.ratings, board.overall)]
    digest = hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    if records and records[-1].digest == digest:
        return
    record = PastRecord(
        entry=_new_entry(board, [record.entry for record in records]),
        digest=digest,
        ingredients=ingredients,
        contents=content_digests(arena),
    )
    if records:
        old = past_board(past / records[-1].entry.name)
        news = _news(old, records[-1], board, record, cause)
        record = record.model_copy(update={"entry": record.entry.model_copy(update=news)})
    board.save(past / record.entry.name)
    # Written last: a board without it is not among those that were kept.
    write_record(record, past / record.entry.name / RECORD_FILE)
    for older in [*records, record][:-WHOLE]:
        _shorten(older, past / older.entry.name)


def _new_entry(board: Board, earlier: Sequence[HistoryEntry]) -> HistoryEntry:
    # A clock that was set back must not change the order of boards.
    made = now()
    date = max([made.date(), *(entry.date for entry in earlier)])
    name = date.isoformat()
    # Boards of the day may have been removed since: their count may be the number of another.
    numbers = [entry.number for entry in earlier if entry.date == date]
    if numbers:
        name += f"-{max(numbers) + 1}"
    standings = {}
    for row in plain_records(board.overall):
        standings[row["system"]] = (row["rank"], row["mean_rating"])
    return HistoryEntry(
        name=name,
        date=date,
        time=made.time().replace(microsecond=0),
        conclusion=conclusion(board),
        standings=standings,
    )


def _news(
    old: Board, old_record: PastRecord, new: Board, record: PastRecord, cause: str
) -> dict[str, Any]:
    """Return fields of the new entry that say what changed since the last board, and why."""
    causes = (cause,) if cause else tuple(_causes(old, old_record, new, record)) or (NOTHING,)
    news = news_of(
        old_record.entry.standings,
        record.entry.standings,
        has_same_languages=old.languages == new.languages,
    )
    return {**_changes(old, new), "causes": causes, "news": tuple(news)}


def _shorten(record: PastRecord, folder: Path) -> None:
    """Leave of a past board what pages show."""
    shown = record.model_copy(update={"ingredients": {}, "contents": {}})
    write_record(shown, folder / RECORD_FILE)
    for path in folder.iterdir():
        if path.name != RECORD_FILE:
            path.unlink()


def content_digests(arena: Arena) -> Digests:
    """Digest an arena's tables by language, and answers by system."""
    tables = {
        "questions": arena.queries,
        "judgments": arena.judgments,
        "published ratings": arena.published_ratings,
    }
    for system, rows in arena.answers.groupby("system"):
        tables[f"{ANSWERS_OF}{system}"] = rows
    digests: Digests = {}
    for name, table in tables.items():
        for language, rows in table.groupby("language"):
            lines = []
            for record in plain_records(rows):
                # A column that another system brings changes nothing here.
                present = {key: value for key, value in record.items() if value is not None}
                lines.append(json.dumps(present, sort_keys=True))
            text = "\n".join(sorted(lines)).encode("utf-8", "surrogatepass")
            digests.setdefault(name, {})[str(language)] = hashlib.sha256(text).hexdigest()
    return digests


def _changes(old: Board, new: Board) -> dict[str, Any]:
    try:
        difference = diff_boards(old, new)
    except UsageError as error:
        return {"counts": str(error)}
    moved = difference.changes[difference.changes["verdict"] == MOVED]
    if len(new.languages) == 1:
        # With one language, its moves are the overall moves.
        moved = moved[moved["language"] == OVERALL]
    moves = [Move(**row) for row in plain_records(moved[[*Move.model_fields]])]
    return {"counts": str(difference), "moves": tuple(moves)}


def _causes(old: Board, old_record: PastRecord, new: Board, record: PastRecord) -> Iterator[str]:
    for languages, verb in (
        (set(new.languages) - set(old.languages), "added"),
        (set(old.languages) - set(new.languages), "removed"),
    ):
        for language in sorted(languages):
            yield f"{language_name(language)} was {verb}"
    shared = sorted(set(old.languages) & set(new.languages))
    counted = ["questions", "judgments"]
    if old.summary.judge != new.summary.judge:
        yield f"the judge is now {new.summary.judge}, before it was {old.summary.judge}"
        # Verdicts of one judge are not those of another with some added or removed.
        counted = ["questions"]
    differences = {}
    for noun in counted:
        differences[noun] = _total(new, noun, shared) - _total(old, noun, shared)
    for noun, difference in differences.items():
        if difference:
            comparative = "more" if difference > 0 else "fewer"
            yield count_of(abs(difference), f"{comparative} {noun.removesuffix('s')}")
    systems_before = set(old.ratings["system"])
    systems = set(new.ratings["system"])
    for names, verb in ((systems - systems_before, "joined"), (systems_before - systems, "left")):
        if names:
            yield f"{', '.join(sorted(names))} {verb}"
    yield from _changed_contents(old_record.contents, record.contents, shared, differences)
    before, after = old_record.ingredients, record.ingredients
    yield from changes(_settings(before), _settings(after))


def _changed_contents(
    before: Digests, after: Digests, languages: Sequence[str], differences: Mapping[str, int]
) -> Iterator[str]:
    """Name what holds other rows than before in a language that both boards have.

    Rows of new systems or questions do not count.
    """
    has_other_questions = bool(differences["questions"])
    has_other_systems = _answering(before) != _answering(after)
    changed = []
    for name in sorted(before.keys() & after.keys()):
        both = [code for code in languages if code in before[name] and code in after[name]]
        if any(before[name][code] != after[name][code] for code in both):
            changed.append(name)
    for name in changed:
        if name == "questions" and not has_other_questions:
            yield "questions changed"
        if name == "judgments" and not (differences.get(name) or has_other_systems):
            yield "judgments changed"
        if name == "published ratings" and not has_other_systems:
            yield "published ratings changed"
    answered = [name.removeprefix(ANSWERS_OF) for name in changed if name.startswith(ANSWERS_OF)]
    if answered and not has_other_questions:
        yield f"answers of {first_of(answered)} changed"


def _answering(contents: Digests) -> set[str]:
    return {name for name in contents if name.startswith(ANSWERS_OF)}


def _total(board: Board, attribute: str, languages: Sequence[str]) -> int:
    parts = [part for code, part in board.summary.languages.items() if code in languages]
    return sum(getattr(part, attribute) for part in parts)


def _settings(ingredients: Mapping[str, str]) -> Ingredients:
    kept = {}
    for name, value in ingredients.items():
        if not f"{name}:".startswith(NO_CAUSES):
            kept[name] = value
    return kept
