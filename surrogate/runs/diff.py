"""The difference of two boards: what moved, and is it more than noise?

The standard error of a rating is read off its 90% interval, as of normal errors, and a change is
tested against the errors of both boards. The two are taken as independent. Boards that share
questions have errors that go up and down together, so that the true error of the difference is
smaller: the test then misses changes rather than making them up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtr

from arena.data.errors import UsageError
from arena.statistics.significance import holm_adjusted
from surrogate.board.board import Board
from surrogate.integrity.notes import without_remarks

SIGNIFICANCE = 0.05
OVERALL = "overall"
MOVED, WITHIN_NOISE, NEW, GONE = "moved", "within noise", "new", "gone"
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
SAME_QUESTIONS = (
    "both boards rest on the same questions; their errors are taken as independent, which makes "
    "the tests conservative"
)
OTHER_QUESTIONS = "the boards rest on different questions or reference answers"
HOLM = "tested at 5%, Holm-corrected over the systems of a language"
RECENTERED = (
    "{language}: the boards do not rate the same systems; changes are relative to the mean of those"
    " on both"
)


@dataclass(frozen=True)
class BoardDiff:
    """What moved between two boards.

    Attributes:
        changes: Columns ``DIFF_COLUMNS``, a row a system and language (``overall`` first): ranks,
            ratings and their change, above 0 for up; ``p_value`` is Holm-adjusted; ``verdict`` is
            ``moved``, ``within noise``, ``not comparable``, ``new`` or ``gone``.
        notes: Sentences on what limits the comparison.
    """

    changes: pd.DataFrame
    notes: tuple[str, ...]

    def __str__(self) -> str:
        """Say of how many systems ranks over all languages moved, or how else they compare."""
        verdicts = self.changes.loc[self.changes["language"].eq(OVERALL), "verdict"]
        return ", ".join(f"{count} {name}" for name, count in verdicts.value_counts().items())


def diff_boards(old: Board, new: Board) -> BoardDiff:
    """Compare two boards system by system.

    Boards of different judges or tie rules have ratings on different scales, and a board's ratings
    by different features, surrogates or priors are different measurements: they are not compared.

    Raises:
        UsageError: If they have no language in common.
    """
    shared = sorted({*old.languages} & {*new.languages})
    if not shared:
        raise UsageError("the boards have no language in common: there is nothing to compare")
    why = _incomparable(old, new)
    notes = [f"ratings are not comparable: {why}"] if why else []
    parts = [_language_diff(old, new, language, why) for language in shared]
    for language, part in zip(shared, parts, strict=True):
        if part["recentered"].any():
            notes.append(RECENTERED.format(language=language))
    tables = [_overall_diff(old, new, pd.concat(parts)), *parts]
    changes = pd.concat([table[DIFF_COLUMNS] for table in tables], ignore_index=True)
    ranks = dict.fromkeys(("rank_old", "rank_new", "rank_change"), "Int64")
    same = old.summary.fingerprint == new.summary.fingerprint
    notes += [SAME_QUESTIONS if same else OTHER_QUESTIONS, HOLM]
    for language in sorted({*old.languages} ^ {*new.languages}):
        side = "old" if language in old.languages else "new"
        notes.append(f"{language} is on the {side} board only")
    return BoardDiff(changes.astype(ranks), tuple(notes))


def _incomparable(old: Board, new: Board) -> str:
    """Say why two boards' ratings cannot be compared at all; empty if they can."""
    before, after = (board.summary.settings for board in (old, new))
    fields = (*SCALE, *MEASUREMENT)
    differing = [name for name in fields if getattr(before, name) != getattr(after, name)]
    what = "scale" if {*differing} & {*SCALE} else "measurement"
    return f"another {what}: {', '.join(differing)} changed" if differing else ""


def _language_diff(old: Board, new: Board, language: str, why: str) -> pd.DataFrame:
    """Compare one language; ``recentered`` if ratings are relative to systems on both boards."""
    sides = []
    for board in (old, new):
        own = board.ratings.loc[board.ratings["language"] == language]
        # A rating without an upper bound has no error that a test could use.
        error = own["standard_error"].where(np.isfinite(own["high"]))
        sides.append(own[["system", "rank", "rating", "note"]].assign(error=error, there=True))
    table = sides[0].merge(sides[1], on="system", how="outer", suffixes=("_old", "_new"))
    change = table["rating_new"] - table["rating_old"]
    rated = [table[f"rating_{side}"].notna() for side in ("old", "new")]
    recentered = bool(change.notna().any() and (rated[0] != rated[1]).any())
    table["rating_change"] = change - change.mean() if recentered else change
    table["rank_change"] = _rank_change(table["rank_old"], table["rank_new"], change.notna())
    table["standard_error"] = np.hypot(table["error_old"], table["error_new"])
    notes = [
        {without_remarks(str(note)) for note in pair} - {""}
        for pair in zip(table["note_old"], table["note_new"], strict=True)
    ]
    stated = pd.Series([why or "; ".join(sorted(found)) for found in notes], table.index)
    table["reason"] = stated.mask(stated.eq("") & change.isna(), NOT_RATED)
    table = table.assign(language=language, recentered=recentered)
    return _with_verdicts(table)


def _overall_diff(old: Board, new: Board, languages: pd.DataFrame) -> pd.DataFrame:
    """Compare the ranks over all languages, and test the mean change of the ratings.

    The standard error is the mean of the languages', as if their errors were fully correlated (the
    same systems, translated questions): never below the true one.
    """
    columns = ["system", "rank", "mean_rank"]
    sides = [board.overall[columns].assign(there=True) for board in (old, new)]
    table = sides[0].merge(sides[1], on="system", how="outer", suffixes=("_old", "_new"))
    both = table["there_old"].notna() & table["there_new"].notna()
    table["rank_change"] = _rank_change(table["mean_rank_old"], table["mean_rank_new"], both)
    numbers = ["rating_old", "rating_new", "rating_change", "standard_error"]
    grouped, codes = languages.groupby("system"), sorted(set(languages["language"]))
    means = grouped[numbers].mean().where(grouped[numbers].count() == len(codes))
    table = table.merge(means.reset_index(), on="system", how="left")
    tested = {
        (row.system, row.language) for row in languages.itertuples() if not np.isnan(row.p_value)
    }
    own = languages.drop_duplicates("system").set_index("system")["reason"]
    reasons = []
    for system in table["system"]:
        names = [code for code in codes if (system, code) not in tested]
        why = f"not comparable in {', '.join(names)}" if names else ""
        reasons.append(own.get(system, ONE_BOARD) if len(codes) == 1 else why)
    table["reason"] = reasons
    return _with_verdicts(table.assign(language=OVERALL))


def _rank_change(old: pd.Series, new: pd.Series, both: pd.Series) -> pd.Series:
    """Places gained among the systems ranked on both boards; NaN for others."""
    ranked = both & old.notna() & new.notna()
    return old[ranked].rank(method="min") - new[ranked].rank(method="min")


def _with_verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Add ``p_value`` and ``verdict`` to a table of changes; two-sided tests, Holm-adjusted.

    A change beside an error of 0 has no p-value: an interval without width says nothing.
    """
    there = [table[f"there_{side}"].notna() for side in ("old", "new")]
    table.loc[~(there[0] & there[1]), "reason"] = ONE_BOARD
    comparable = table["reason"].eq("")
    change, error = table["rating_change"], table["standard_error"]
    tested = pd.Series(2 * ndtr(-change.abs() / error.where(error > 0)), table.index)
    tested = tested.mask(change.eq(0), 1.0).where(comparable)
    table["p_value"] = holm_adjusted(tested.to_numpy(float))
    table.loc[comparable & table["p_value"].isna(), "reason"] = NO_INTERVAL
    moved = table["p_value"].lt(SIGNIFICANCE)
    table["verdict"] = np.select(
        [~there[0], ~there[1], table["p_value"].isna(), moved],
        [NEW, GONE, "not comparable", MOVED],
        WITHIN_NOISE,
    )
    return table.sort_values(["rank_new", "rank_old", "system"], kind="stable")
