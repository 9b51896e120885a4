"""The difference of two boards: what moved, and is it more than noise?

Errors of the two are taken as independent: where boards share questions, the test misses changes
rather than inventing them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtr

from arena.data.errors import UsageError
from arena.data.wording import Remark, count_of
from arena.statistics.significance import holm_adjusted
from surrogate.board.board import Board
from surrogate_arena.pages.history import OVERALL
from surrogate_arena.runs.placements import placement_remarks, placements

SIGNIFICANCE = 0.05
MOVED = "moved"
WITHIN_NOISE = "within noise"
NEW = "new"
GONE = "gone"
DIFF_COLUMNS = [
    "language",
    "system",
    "rank_old",
    "rank_new",
    "rank_change",
    "rating_old",
    "rating_new",
    "rating_change",
    "standard_error",
    "p_value",
    "verdict",
    "reason",
]
SCALE = ("judge", "ties")
MEASUREMENT = ("ratings", "ridge", "features", "surrogate", "rows", "missing")
"""Settings that make a rating another one."""
ONE_BOARD = "it is on one of the boards only"
NO_INTERVAL = "a board holds no interval of this rating"
NOT_RATED = "it has no rating on one of the boards"
INDEPENDENT_ERRORS = Remark(
    "errors",
    "info",
    "both boards rest on the same questions; their errors are taken as independent, which makes "
    "the tests conservative",
)
OTHER_QUESTIONS = Remark(
    "questions", "warning", "the boards rest on different questions or reference answers"
)
HOLM = Remark("tests", "info", "tested at 5%, Holm-corrected over the systems of a language")
RECENTERED = (
    "the boards do not rate the same systems; changes are relative to the mean of those on both"
)


@dataclass(frozen=True)
class BoardDiff:
    """Changes between two boards.

    Attributes:
        changes: ``DIFF_COLUMNS`` by system and language (``overall`` first); changes above 0 are
            up; ``verdict`` is ``moved``, ``within noise``, ``not comparable``, ``new`` or ``gone``.
        placements: ``PLACEMENT_COLUMNS``: how the old board's placements came true.
        remarks: What limits the comparison, and how placements came true.
        is_comparable: Whether the ratings of both boards are on one scale.
    """

    changes: pd.DataFrame
    placements: pd.DataFrame
    remarks: tuple[Remark, ...]
    is_comparable: bool

    def __str__(self) -> str:
        verdicts = self.changes.loc[self.changes["language"].eq(OVERALL), "verdict"]
        counts = verdicts.value_counts().items()
        return ", ".join(f"{count_of(number, 'system')} {name}" for name, number in counts)


def diff_boards(old: Board, new: Board) -> BoardDiff:
    """Compare two boards system by system."""
    shared = sorted({*old.languages} & {*new.languages})
    if not shared:
        raise UsageError("the boards have no language in common: there is nothing to compare")
    changed = []
    for name in (*SCALE, *MEASUREMENT):
        if getattr(old.summary.settings, name) != getattr(new.summary.settings, name):
            changed.append(name)
    reason = ""
    if changed:
        kind = "measurement" if set(changed).isdisjoint(SCALE) else "scale"
        reason = f"another {kind}: {', '.join(changed)} changed"
    parts = [_language_diff(old, new, language, reason) for language in shared]
    tables = [_overall_diff(old, new, pd.concat(parts)), *parts]
    changes = pd.concat([table[DIFF_COLUMNS] for table in tables], ignore_index=True)
    ranks = dict.fromkeys(("rank_old", "rank_new", "rank_change"), "Int64")
    remarks = []
    if reason:
        remarks.append(Remark("scale", "warning", f"ratings are not comparable: {reason}"))
    for language, part in zip(shared, parts, strict=True):
        if part["recentered"].any():
            remarks.append(Remark("systems", "info", RECENTERED, language))
    remarks += _remarks(old, new, is_tested=bool(changes["p_value"].notna().any()))
    came_true = placements(old.ratings, new.ratings)
    remarks += placement_remarks(came_true)
    return BoardDiff(changes.astype(ranks), came_true, tuple(remarks), is_comparable=not reason)


def _remarks(old: Board, new: Board, *, is_tested: bool) -> Iterator[Remark]:
    has_same_questions = old.summary.fingerprint == new.summary.fingerprint
    if not has_same_questions:
        yield OTHER_QUESTIONS
    if is_tested and has_same_questions:
        yield INDEPENDENT_ERRORS
    if is_tested:
        yield HOLM
    for language in sorted({*old.languages} ^ {*new.languages}):
        side = "old" if language in old.languages else "new"
        yield Remark("languages", "warning", f"on the {side} board only", language)


def _language_diff(old: Board, new: Board, language: str, reason: str) -> pd.DataFrame:
    old_rows = _rated_rows(old, language)
    new_rows = _rated_rows(new, language)
    table = old_rows.merge(new_rows, on="system", how="outer", suffixes=("_old", "_new"))
    change = table["rating_new"] - table["rating_old"]
    is_in_both = change.notna()
    same_systems = table["rating_old"].notna().equals(table["rating_new"].notna())
    # Ratings are relative to the mean of a board's systems, which moves with who is among them.
    recentered = bool(is_in_both.any()) and not same_systems
    table["rating_change"] = change - change.mean() if recentered else change
    table["rank_change"] = _rank_change(table["rank_old"], table["rank_new"], is_in_both)
    # The boards are taken as independent, so that variances add up.
    table["standard_error"] = np.hypot(table["error_old"], table["error_new"])
    reasons = []
    for old_note, new_note in zip(table["note_old"], table["note_new"], strict=True):
        notes = {str(old_note), str(new_note)}
        reasons.append(reason or "; ".join(sorted(notes - {""})))
    table["reason"] = pd.Series(reasons, table.index)
    is_unexplained = table["reason"].eq("") & ~is_in_both
    table["reason"] = table["reason"].mask(is_unexplained, NOT_RATED)
    table = table.assign(language=language, recentered=recentered)
    return _with_verdicts(table)


def _rated_rows(board: Board, language: str) -> pd.DataFrame:
    rows = board.ratings[board.ratings["language"] == language]
    # A rating without an upper bound has no error that a test could use.
    errors = rows["standard_error"].where(np.isfinite(rows["high"]))
    return rows[["system", "rank", "rating", "note"]].assign(error=errors, is_present=True)


def _overall_diff(old: Board, new: Board, languages: pd.DataFrame) -> pd.DataFrame:
    """Compare ranks over all languages, and test the mean change of ratings.

    Its standard error is the mean of the languages', never below the true one.
    """
    columns = ["system", "rank", "mean_rank"]
    old_rows = old.overall[columns].assign(is_present=True)
    new_rows = new.overall[columns].assign(is_present=True)
    table = old_rows.merge(new_rows, on="system", how="outer", suffixes=("_old", "_new"))
    is_in_both = table["is_present_old"].notna() & table["is_present_new"].notna()
    table["rank_change"] = _rank_change(table["mean_rank_old"], table["mean_rank_new"], is_in_both)
    numbers = ["rating_old", "rating_new", "rating_change", "standard_error"]
    grouped = languages.groupby("system")[numbers]
    # A mean over some languages only would compare different languages of two systems.
    means = grouped.mean().where(grouped.count() == languages["language"].nunique())
    table = table.merge(means.reset_index(), on="system", how="left")
    table["reason"] = _overall_reasons(table["system"], languages)
    return _with_verdicts(table.assign(language=OVERALL))


def _overall_reasons(systems: pd.Series, languages: pd.DataFrame) -> list[str]:
    codes = sorted(set(languages["language"]))
    if len(codes) == 1:
        reasons = languages.drop_duplicates("system").set_index("system")["reason"]
        return [reasons.get(system, ONE_BOARD) for system in systems]
    is_tested = languages["p_value"].notna()
    tested = languages[is_tested].groupby("system")["language"].agg(set)
    untested = []
    for system in systems:
        names = [code for code in codes if code not in tested.get(system, ())]
        untested.append(f"not comparable in {', '.join(names)}" if names else "")
    return untested


def _rank_change(old: pd.Series, new: pd.Series, is_in_both: pd.Series) -> pd.Series:
    is_ranked = is_in_both & old.notna() & new.notna()
    return old[is_ranked].rank(method="min") - new[is_ranked].rank(method="min")


def _with_verdicts(table: pd.DataFrame) -> pd.DataFrame:
    is_in_old = table["is_present_old"].notna()
    is_in_new = table["is_present_new"].notna()
    table.loc[~(is_in_old & is_in_new), "reason"] = ONE_BOARD
    is_comparable = table["reason"].eq("")
    change = table["rating_change"]
    error = table["standard_error"]
    p_values = pd.Series(2 * ndtr(-change.abs() / error.where(error > 0)), table.index)
    # No change is no evidence of one, even where the error is 0.
    p_values = p_values.mask(change.eq(0), 1.0).where(is_comparable)
    table["p_value"] = holm_adjusted(p_values.to_numpy(float))
    table.loc[is_comparable & table["p_value"].isna(), "reason"] = NO_INTERVAL
    table["verdict"] = np.select(
        [~is_in_old, ~is_in_new, table["p_value"].isna(), table["p_value"].lt(SIGNIFICANCE)],
        [NEW, GONE, "not comparable", MOVED],
        WITHIN_NOISE,
    )
    return table.sort_values(["rank_new", "rank_old", "system"], kind="stable")
