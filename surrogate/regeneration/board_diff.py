"""What moved between two boards, and whether that is more than noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from arena.errors import UsageError
from features.feature import offer
from surrogate.board_folder import DECIMALS
from surrogate.exports.csv_text import guarded
from surrogate.regeneration.diff_reading import ComparedBoard, read_compared
from surrogate.regeneration.language_diff import (
    DIFF_COLUMNS,
    KINDS,
    incomparable,
    language_diff,
)
from surrogate.regeneration.overall_diff import overall_diff

_SAME_QUESTIONS = (
    "both boards rest on the same questions; their errors are taken as independent, so that the "
    "tests rather miss a change than make one up"
)
_OTHER_QUESTIONS = (
    "the boards rest on different questions or reference answers: a change may be theirs, and is "
    "tested as between independent samples"
)
_HOLM = (
    "tested at 5%, Holm-corrected over the systems of a language; with many languages, look at "
    "the rows of all languages together first"
)
_RECENTRED = (
    "{language}: the boards do not rate the same systems ({kind}); changes are relative to the "
    "mean of those on both, and their errors approximate"
)


@dataclass(frozen=True)
class BoardDiff:
    """The difference of two boards.

    Attributes:
        changes: One row a language (``overall`` for all together), kind of rating
            (``synthetic`` or ``arena``) and system: ``language, kind, system, rank_old,
            rank_new, rank_change, rating_old, rating_new, rating_change, standard_error,
            p_value, verdict, reason``. ``rank_change`` is among the systems on both boards,
            above 0 for up; ``p_value`` is Holm-adjusted; ``verdict`` is ``moved``, ``within
            noise``, ``not comparable``, ``new`` or ``gone``.
        settings: Fields that differ: ``field, old, new``; NaN where a board lacks it.
        notes: Sentences on what limits the comparison.
    """

    changes: pd.DataFrame
    settings: pd.DataFrame
    notes: tuple[str, ...]

    def of_language(self, language: str) -> BoardDiff:
        """Keep one language, or ``overall``.

        Raises:
            UsageError: If there is no such language.
        """
        kept = self.changes[self.changes["language"] == language]
        if kept.empty:
            there = list(dict.fromkeys(self.changes["language"]))
            raise UsageError(f"no language {language!r} here; {offer(language, there)}")
        return BoardDiff(kept.reset_index(drop=True), self.settings, self.notes)

    def as_csv(self) -> str:
        """Return the changes as CSV, with texts that a spreadsheet would run guarded."""
        texts = {name: self.changes[name].map(guarded) for name in ("system", "reason")}
        table = self.changes.assign(**texts).round(DECIMALS)
        return str(table.to_csv(index=False, lineterminator="\n"))

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON, missing ones as None."""
        return {
            "changes": _records(self.changes),
            "settings": _records(self.settings),
            "notes": list(self.notes),
        }


def diff_boards(old: Path | str, new: Path | str) -> BoardDiff:
    """Compare two board folders system by system.

    A change of an arena rating is held against the intervals over tournaments, one of a
    synthetic rating against the conformal intervals; see ``rating_noise`` for the test. Boards of
    different judges, tie rules or priors have ratings on different scales, and synthetic ratings
    by different features or surrogates are different measurements: they are not compared.

    Args:
        old: Folder of the earlier board.
        new: Folder of the later one.

    Raises:
        UsageError: If one of them holds no board, or they have no language in common.
        DataError: If a summary is malformed.
    """
    before, after = read_compared(old), read_compared(new)
    shared = sorted(before.languages & after.languages)
    if not shared:
        raise UsageError("the boards have no language in common: there is nothing to compare")
    parts = {
        (kind, language): language_diff(before, after, kind, language)
        for kind in KINDS
        for language in shared
    }
    overall = [
        overall_diff(before, after, kind, [parts[kind, language] for language in shared])
        for kind in KINDS
    ]
    tables = [*overall, *(parts[kind, language] for language in shared for kind in KINDS)]
    changes = pd.concat([_typed(table) for table in tables], ignore_index=True)
    return BoardDiff(changes, _changed_settings(before, after), tuple(_notes(before, after, parts)))


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    ranks = dict.fromkeys(("rank_old", "rank_new", "rank_change"), "Int64")
    return table[DIFF_COLUMNS].astype(ranks)


def _changed_settings(old: ComparedBoard, new: ComparedBoard) -> pd.DataFrame:
    names = [*old.settings, *(name for name in new.settings if name not in old.settings)]
    rows = [
        (name, before, after)
        for name in names
        if (before := old.settings.get(name)) != (after := new.settings.get(name))
    ]
    return pd.DataFrame(rows, columns=["field", "old", "new"], dtype=object)


def _notes(
    old: ComparedBoard, new: ComparedBoard, parts: dict[tuple[str, str], pd.DataFrame]
) -> Iterator[str]:
    for kind in KINDS:
        if why := incomparable(old, new, kind):
            yield f"{kind} ratings are not comparable: {why}"
    same = old.settings["content"] == new.settings["content"]
    yield _SAME_QUESTIONS if same else _OTHER_QUESTIONS
    yield _HOLM
    for language in sorted(old.languages ^ new.languages):
        yield f"{language} is on the {'old' if language in old.languages else 'new'} board only"
    for (kind, language), table in parts.items():
        if table["recentred"].any():
            yield _RECENTRED.format(language=language, kind=kind)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    plain = table.astype(object).where(table.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]
