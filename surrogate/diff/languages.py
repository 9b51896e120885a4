"""Is the change of a rating more than noise? Welch's t tests on differences, Holm-corrected.

The standard error of a board's rating is read off its 90% interval, that of a rating by verdicts
alone off a 95% percentile interval of T bootstrap rounds. The interval
of a finite sample is narrower than that of the normal distribution, the more so the fewer
rounds there are; its expected width in standard deviations is by Blom's (1958)
approximation of normal order statistics. The spread between two quantiles says less than a
standard deviation of T draws does: it is given 0.55 T degrees of freedom, its efficiency in large
samples.

The two boards are taken as independent. Boards that share questions have errors that go up and
down together, so that the true error of the difference is smaller: the test then misses changes
rather than making them up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm, t

from arena.rating.ratings import DEFAULT_ROUNDS
from arena.statistics.significance import holm_adjusted
from surrogate.board.board import Board
from surrogate.board.summary import LEVEL as INTERVAL_LEVEL
from surrogate.integrity.notes import without_remarks

Floats = npt.NDArray[np.float64]

LEVEL = 0.05
_TAIL = 0.025
_EFFICIENCY = 0.55


def interval_width(rounds: int) -> float:
    """Return the expected width of a 95% percentile interval of T normal draws.

    Args:
        rounds: Draws T.

    Returns:
        In standard deviations: below, and with T toward, 2 x 1.96.
    """
    position = _TAIL * (rounds - 1)  # where numpy's percentile falls among the ordered draws
    below = int(position)
    ranks = np.array([below + 1, min(below + 2, rounds)])
    scores = norm.ppf((ranks - 0.375) / (rounds + 0.25))
    return float(-2 * np.interp(position - below, [0, 1], scores))


@dataclass(frozen=True)
class Errors:
    """How uncertain ratings are.

    Attributes:
        standard: Standard error of each rating, shape (S,); NaN where it is not known.
        freedom: Degrees of freedom it rests on.
    """

    standard: Floats
    freedom: float


def bootstrap_errors(low: Floats, high: Floats, rounds: int) -> Errors:
    """Read errors off 95% percentile intervals over bootstrap rounds."""
    return Errors((high - low) / interval_width(rounds), _EFFICIENCY * rounds)


def normal_errors(low: Floats, high: Floats, level: float) -> Errors:
    """Read errors off intervals of a level, as of normal errors; none without an upper bound."""
    width = np.where(np.isfinite(high), high, np.nan) - low
    return Errors(width / (2 * norm.ppf((1 + level) / 2)), np.inf)


def difference_errors(old: Errors, new: Errors) -> tuple[Floats, Floats]:
    """Return standard errors of independent differences, and Welch's degrees of freedom."""
    parts = np.array([old.standard**2, new.standard**2])
    variance = parts.sum(axis=0)
    spread = (parts**2 / np.array([[old.freedom], [new.freedom]])).sum(axis=0)
    endless = np.full_like(spread, np.inf)
    freedom = np.divide(variance**2, spread, out=endless, where=spread > 0)
    return np.sqrt(variance), np.asarray(freedom)


def p_values(changes: Floats, errors: Floats, freedom: Floats) -> Floats:
    """Return two-sided p-values of changes; 1 for none at all, NaN where the error is not known.

    A change beside an error of 0 has no p-value: an interval without width says nothing.
    """
    known = errors > 0
    ratio = np.divide(np.abs(changes), errors, out=np.full_like(errors, np.nan), where=known)
    return np.asarray(np.where(changes == 0, 1.0, 2 * t.sf(ratio, freedom)))


RATING_COLUMNS = ["system", "rank", "rating", "low", "high", "note"]

BOARD = "board"
ARENA = "arena"
KINDS = (BOARD, ARENA)
"""The board's ratings, by verdicts and surrogate; and those by verdicts alone."""
OVERALL = "overall"

MOVED = "moved"
WITHIN_NOISE = "within noise"
NOT_COMPARABLE = "not comparable"
NEW = "new"
GONE = "gone"

DIFF_COLUMNS = [
    *("language", "kind", "system", "rank_old", "rank_new", "rank_change"),
    *("rating_old", "rating_new", "rating_change", "standard_error", "p_value"),
    *("verdict", "reason"),
]

NO_INTERVAL = "a board holds no interval of this rating"
NOT_RATED = "it has no rating on one of the boards"

_SCALE = {
    "judge": "the judge",
    "ties": "the tie rule",
}
_INSTRUMENT = {
    "ratings": "what rates",
    "ridge": "the prior",
    "features": "the features",
    "surrogate": "the surrogate",
    "rows": "the training rows",
    "missing": "how missing values count",
}
_BY_VERDICTS = {
    "arena_ratings": "what rates",
}


def incomparable(old: Board, new: Board, kind: str) -> str:
    """Say why two boards' ratings cannot be compared at all; empty if they can."""
    fields = _SCALE | (_BY_VERDICTS if kind == ARENA else _INSTRUMENT)
    before, after = (board.summary.settings for board in (old, new))
    if kind == ARENA and before.arena_ratings == "tournaments":
        fields["ridge"] = _INSTRUMENT["ridge"]
    differing = [
        words for name, words in fields.items() if getattr(before, name) != getattr(after, name)
    ]
    if not differing:
        return ""
    what = "scale" if set(differing) & set(_SCALE.values()) else "measurement"
    return f"another {what}: {', '.join(differing)} changed"


def language_diff(old: Board, new: Board, kind: str, language: str) -> pd.DataFrame:
    """Compare one language.

    Args:
        old: The earlier board.
        new: The later board.
        kind: ``board`` or ``arena``.
        language: Language code.

    Returns:
        ``DIFF_COLUMNS``, with ``freedom`` of the standard errors and whether the ratings were
        ``recentered`` on the systems of both boards; by rank on the new board, those gone last.
    """
    before, after = (_of_language(board, kind, language) for board in (old, new))
    table = before.merge(after, on="system", how="outer", suffixes=("_old", "_new"))
    table = table.assign(language=language, kind=kind)
    rated = (table["rating_old"].notna() & table["rating_new"].notna()).to_numpy()
    same = before.dropna(subset="rating")["system"].isin(after.dropna(subset="rating")["system"])
    recentered = not (same.all() and rated.sum() == after["rating"].notna().sum())
    table["recentered"] = recentered and bool(rated.any())
    table["rank_change"] = rank_change(table["rank_old"], table["rank_new"], rated)
    table["rating_change"] = _changes(table, rated, recentered)
    errors = [_errors(table, board, kind, side) for side, board in (("old", old), ("new", new))]
    error, freedom = difference_errors(*errors)
    table["standard_error"], table["freedom"] = error, freedom
    table["reason"] = _reasons(table, incomparable(old, new, kind))
    with_verdicts(table)
    return table.sort_values(["rank_new", "rank_old", "system"], kind="stable")


def with_verdicts(table: pd.DataFrame) -> None:
    """Add ``p_value`` and ``verdict`` to a table of changes, and clear what was not tested."""
    comparable = (table["reason"] == "").to_numpy()
    tested = p_values(
        table["rating_change"].to_numpy(float),
        table["standard_error"].to_numpy(float),
        table["freedom"].to_numpy(float),
    )
    table["p_value"] = holm_adjusted(np.where(comparable, tested, np.nan))
    untestable = comparable & table["p_value"].isna().to_numpy()
    table.loc[untestable, "reason"] = NO_INTERVAL
    both = zip(_presence(table), table["p_value"], strict=True)
    table["verdict"] = [_verdict(presence, p_value) for presence, p_value in both]


def rank_change(old: pd.Series, new: pd.Series, both: npt.NDArray[np.bool_]) -> Floats:
    """Places gained among the systems ranked on both boards; NaN for others."""
    ranked = both & old.notna().to_numpy() & new.notna().to_numpy()
    change = np.full(len(old), np.nan)
    ranks = [side[ranked].rank(method="min").to_numpy(float) for side in (old, new)]
    change[ranked] = ranks[0] - ranks[1]
    return change


def _of_language(board: Board, kind: str, language: str) -> pd.DataFrame:
    table = board.arena if kind == ARENA else board.ratings
    return table.loc[table["language"] == language, RATING_COLUMNS].assign(there=True)


def _changes(table: pd.DataFrame, rated: npt.NDArray[np.bool_], recentered: bool) -> Floats:
    """Changes of the ratings; where the boards rate other systems, relative to the common mean."""
    change = (table["rating_new"] - table["rating_old"]).to_numpy(float)
    if recentered and rated.any():
        change = change - change[rated].mean()
    return np.asarray(np.where(rated, change, np.nan))


def _errors(table: pd.DataFrame, board: Board, kind: str, side: str) -> Errors:
    low, high = (table[f"{bound}_{side}"].to_numpy(float) for bound in ("low", "high"))
    if kind == BOARD:
        return normal_errors(low, high, INTERVAL_LEVEL)
    settings = board.summary.settings
    by_tournaments = settings.arena_ratings == "tournaments"
    return bootstrap_errors(low, high, settings.tournaments if by_tournaments else DEFAULT_ROUNDS)


def _reasons(
    table: pd.DataFrame,
    whole: str,
) -> list[str]:
    """Say for each system why its change is not tested; empty where it is."""
    return [_reason(row, whole) for row in table.to_dict("records")]


def _reason(row: dict[str, object], board_wide: str) -> str:
    if row["there_old"] is not True or row["there_new"] is not True:
        return "it is on one of the boards only"
    if board_wide:
        return board_wide
    notes = {without_remarks(str(row[f"note_{side}"])) for side in ("old", "new")} - {""}
    if notes:
        return "; ".join(sorted(notes))
    return NOT_RATED if pd.isna(row["rating_change"]) else ""


def _presence(table: pd.DataFrame) -> list[str]:
    pairs = zip(table["there_old"], table["there_new"], strict=True)
    return [NEW if old is not True else GONE if new is not True else "" for old, new in pairs]


def _verdict(presence: str, p_value: float) -> str:
    if presence:
        return presence
    if np.isnan(p_value):
        return NOT_COMPARABLE
    return MOVED if p_value < LEVEL else WITHIN_NOISE
