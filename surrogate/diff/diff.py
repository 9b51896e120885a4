"""The difference of two boards over all the languages they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from arena.data.errors import UsageError
from arena.data.rows import plain_records
from arena.data.wording import guarded_csv
from features.declare.feature import offer
from surrogate.board.board import Board
from surrogate.board.tables import DECIMALS
from surrogate.diff.languages import (
    ARENA,
    BOARD,
    DIFF_COLUMNS,
    GONE,
    KINDS,
    MOVED,
    NEW,
    OVERALL,
    incomparable,
    language_diff,
    rank_change,
    with_verdicts,
)

NOT_IN_ALL = "it is not comparable in every language: {languages}"


def overall_diff(
    old: Board, new: Board, kind: str, languages: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """Compare the ranks over all languages, and test the mean change of the ratings.

    Questions may be translations of each other, and systems are weak in several languages at
    once: the standard error is the mean of the languages', as if their errors were fully
    correlated. That is never below the true one.

    Args:
        old: The earlier board.
        new: The later board.
        kind: ``board`` or ``arena``.
        languages: ``language_diff`` of each language on both boards.

    Returns:
        ``DIFF_COLUMNS`` with ``language`` as ``overall``; ranks are those of the boards, ratings
        means over the shared languages.
    """
    prefix = "arena_" if kind == ARENA else ""
    ranks = [
        board.overall[["system", f"{prefix}rank", f"{prefix}mean_rank"]]
        .set_axis(["system", "rank", "mean_rank"], axis=1)
        .dropna(subset="rank" if kind == ARENA else [])
        .assign(there=True)
        for board in (old, new)
    ]
    table = ranks[0].merge(ranks[1], on="system", how="outer", suffixes=("_old", "_new"))
    both = (table["there_old"].notna() & table["there_new"].notna()).to_numpy()
    stacked = pd.concat(languages, ignore_index=True)
    table = table.merge(_means(stacked), on="system", how="left")
    table["rank_change"] = rank_change(table["mean_rank_old"], table["mean_rank_new"], both)
    table["reason"] = [
        _reason(present, system, stacked)
        for present, system in zip(both, table["system"], strict=True)
    ]
    table = table.assign(language=OVERALL, kind=kind)
    with_verdicts(table)
    return table.sort_values(["rank_new", "rank_old", "system"], kind="stable")


def _means(stacked: pd.DataFrame) -> pd.DataFrame:
    columns = ["rating_old", "rating_new", "rating_change", "standard_error"]
    grouped = stacked.groupby("system")
    count = stacked["language"].nunique()
    means = grouped[columns].mean().where(grouped[columns].count() == count)
    return means.assign(freedom=grouped["freedom"].min()).reset_index()


def _reason(present: bool, system: str, stacked: pd.DataFrame) -> str:
    if not present:
        return "it is on one of the boards only"
    rows = stacked[stacked["system"] == system]
    untested = rows.loc[rows["p_value"].isna(), "language"]
    absent = sorted(set(stacked["language"]) - set(rows["language"]))
    left_out = sorted({*untested, *absent})
    if left_out and stacked["language"].nunique() == 1:
        return str(rows["reason"].iloc[0])
    return NOT_IN_ALL.format(languages=", ".join(left_out)) if left_out else ""


_SAME_QUESTIONS = (
    "both boards rest on the same questions; their errors are taken as independent, "
    "which makes the tests conservative"
)
_OTHER_QUESTIONS = (
    "the boards rest on different questions or reference answers: a change may be theirs, and is "
    "tested as between independent samples"
)
_HOLM = (
    "tested at 5%, Holm-corrected over the systems of a language; with many languages, look at "
    "the rows of all languages together first"
)
_RECENTERD = (
    "{language}: the boards do not rate the same systems ({kind}); changes are relative to the "
    "mean of those on both, and their errors approximate"
)


@dataclass(frozen=True)
class BoardDiff:
    """The difference of two boards.

    Attributes:
        changes: One row a language (``overall`` for all together), kind of rating (``board``, by
            verdicts and surrogate, or ``arena``, by verdicts alone) and system: ``language, kind,
            system, rank_old, rank_new, rank_change, rating_old, rating_new, rating_change,
            standard_error, p_value, verdict, reason``. ``rank_change`` is among the systems on
            both boards, above 0 for up; ``p_value`` is Holm-adjusted; ``verdict`` is ``moved``,
            ``within noise``, ``not comparable``, ``new`` or ``gone``.
        settings: Fields that differ: ``field, old, new``; NaN where a board lacks it.
        notes: Sentences on what limits the comparison.
    """

    changes: pd.DataFrame
    settings: pd.DataFrame
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        """Say how many systems moved, and which, over all languages."""
        own = self.changes[self.changes["language"].eq(OVERALL) & self.changes["kind"].eq(BOARD)]
        counts = ", ".join(
            f"{count} {name}" for name, count in own["verdict"].value_counts().items()
        )
        moved = own[own["verdict"].isin((MOVED, NEW, GONE))]
        names = "; ".join(f"{row.system} {row.verdict}" for row in moved.itertuples())
        return f"<BoardDiff: {counts}{f' ({names})' if names else ''}>"

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
        return guarded_csv(self.changes.round(DECIMALS))

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON, missing ones as None."""
        return {
            "changes": plain_records(self.changes),
            "settings": plain_records(self.settings),
            "notes": list(self.notes),
        }


def diff_boards(old: Board, new: Board) -> BoardDiff:
    """Compare two boards system by system.

    A change of a board's rating is held against its 90% intervals, one of a rating by verdicts
    alone against the bootstrap's; see ``diff.languages`` for the test. Boards of different judges
    or tie rules have ratings on different scales, and a board's ratings by different features,
    surrogates or priors are different measurements: they are not compared.

    Args:
        old: The earlier board.
        new: The later one.

    Raises:
        UsageError: If they have no language in common.
    """
    shared = sorted({*old.languages} & {*new.languages})
    if not shared:
        raise UsageError("the boards have no language in common: there is nothing to compare")
    parts = {
        (kind, language): language_diff(old, new, kind, language)
        for kind in KINDS
        for language in shared
    }
    overall = [
        overall_diff(old, new, kind, [parts[kind, language] for language in shared])
        for kind in KINDS
    ]
    tables = [*overall, *(parts[kind, language] for language in shared for kind in KINDS)]
    changes = pd.concat([_typed(table) for table in tables], ignore_index=True)
    return BoardDiff(changes, _changed_settings(old, new), tuple(_notes(old, new, parts)))


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    ranks = dict.fromkeys(("rank_old", "rank_new", "rank_change"), "Int64")
    return table[DIFF_COLUMNS].astype(ranks)


def _changed_settings(old: Board, new: Board) -> pd.DataFrame:
    before, after = _settings(old), _settings(new)
    rows = [
        (name, before.get(name), after.get(name))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]
    return pd.DataFrame(rows, columns=["field", "old", "new"], dtype=object)


def _settings(board: Board) -> dict[str, str]:
    summary = board.summary
    fields = {"arena": summary.arena, "content": summary.fingerprint}
    for name, text, _ in summary.settings.fields():
        fields[name] = f"{fields[name]}; {text}" if name in fields else text
    return fields


def _notes(old: Board, new: Board, parts: dict[tuple[str, str], pd.DataFrame]) -> Iterator[str]:
    for kind in KINDS:
        if why := incomparable(old, new, kind):
            yield f"{kind} ratings are not comparable: {why}"
    same = old.summary.fingerprint == new.summary.fingerprint
    yield _SAME_QUESTIONS if same else _OTHER_QUESTIONS
    yield _HOLM
    for language in sorted({*old.languages} ^ {*new.languages}):
        yield f"{language} is on the {'old' if language in old.languages else 'new'} board only"
    for (kind, language), table in parts.items():
        if table["recentered"].any():
            yield _RECENTERD.format(language=language, kind=kind)
