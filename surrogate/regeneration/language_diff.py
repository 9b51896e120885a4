"""The difference of two boards in one language and one kind of rating."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from surrogate.regeneration.diff_reading import ComparedBoard
from surrogate.regeneration.rating_noise import (
    FEWEST_TOURNAMENTS,
    LEVEL,
    Errors,
    bootstrap_errors,
    chances,
    conformal_errors,
    difference_errors,
    holm_adjusted,
)

Floats = npt.NDArray[np.float64]

SYNTHETIC = "synthetic"
ARENA = "arena"
KINDS = (SYNTHETIC, ARENA)
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
    "ridge": "the prior",
}
_INSTRUMENT = {
    "features": "the features",
    "model": "the surrogate",
    "rows": "the training rows",
}


def incomparable(old: ComparedBoard, new: ComparedBoard, kind: str) -> str:
    """Say why two boards' ratings cannot be compared at all; empty if they can."""
    fields = _SCALE if kind == ARENA else _SCALE | _INSTRUMENT
    differing = [
        words for name, words in fields.items() if old.settings.get(name) != new.settings.get(name)
    ]
    if not differing:
        return ""
    what = "scale" if set(differing) & set(_SCALE.values()) else "measurement"
    return f"another {what}: {', '.join(differing)} changed"


def language_diff(old: ComparedBoard, new: ComparedBoard, kind: str, language: str) -> pd.DataFrame:
    """Compare one language.

    Args:
        old: The earlier board.
        new: The later board.
        kind: ``synthetic`` or ``arena``.
        language: Language code.

    Returns:
        ``DIFF_COLUMNS``, with ``freedom`` of the standard errors and whether the ratings were
        ``recentred`` on the systems of both boards; by rank on the new board, those gone last.
    """
    before, after = (_of_language(board, kind, language) for board in (old, new))
    table = before.merge(after, on="system", how="outer", suffixes=("_old", "_new"))
    table = table.assign(language=language, kind=kind)
    rated = (table["rating_old"].notna() & table["rating_new"].notna()).to_numpy()
    same = before.dropna(subset="rating")["system"].isin(after.dropna(subset="rating")["system"])
    recentred = not (same.all() and rated.sum() == after["rating"].notna().sum())
    table["recentred"] = recentred and bool(rated.any())
    table["rank_change"] = rank_change(table["rank_old"], table["rank_new"], rated)
    table["rating_change"] = _changes(table, rated, recentred)
    errors = [_errors(board, table, kind, language, side) for board, side in _sides(old, new)]
    error, freedom = difference_errors(*errors)
    table["standard_error"], table["freedom"] = error, freedom
    table["reason"] = _reasons(table, incomparable(old, new, kind), [*_sides(old, new)], kind)
    with_verdicts(table)
    return table.sort_values(["rank_new", "rank_old", "system"], kind="stable")


def with_verdicts(table: pd.DataFrame) -> None:
    """Add ``p_value`` and ``verdict`` to a table of changes, and clear what was not tested."""
    comparable = (table["reason"] == "").to_numpy()
    tested = chances(
        table["rating_change"].to_numpy(float),
        table["standard_error"].to_numpy(float),
        table["freedom"].to_numpy(float),
    )
    table["p_value"] = holm_adjusted(np.where(comparable, tested, np.nan))
    untestable = comparable & table["p_value"].isna().to_numpy()
    table.loc[untestable, "reason"] = NO_INTERVAL
    both = zip(_presence(table), table["p_value"], strict=True)
    table["verdict"] = [_verdict(presence, chance) for presence, chance in both]


def rank_change(old: pd.Series, new: pd.Series, both: npt.NDArray[np.bool_]) -> Floats:
    """Places gained among the systems ranked on both boards; NaN for others."""
    ranked = both & old.notna().to_numpy() & new.notna().to_numpy()
    change = np.full(len(old), np.nan)
    places = [side[ranked].rank(method="min").to_numpy(float) for side in (old, new)]
    change[ranked] = places[0] - places[1]
    return change


def _of_language(board: ComparedBoard, kind: str, language: str) -> pd.DataFrame:
    table = board.arena if kind == ARENA else board.synthetic
    return table[table["language"] == language].drop(columns="language").assign(there=True)


def _sides(
    old: ComparedBoard, new: ComparedBoard
) -> tuple[tuple[ComparedBoard, str], tuple[ComparedBoard, str]]:
    return (old, "old"), (new, "new")


def _changes(table: pd.DataFrame, rated: npt.NDArray[np.bool_], recentred: bool) -> Floats:
    """Changes of the ratings; where the boards rate other systems, relative to the common mean."""
    change = (table["rating_new"] - table["rating_old"]).to_numpy(float)
    if recentred and rated.any():
        change = change - change[rated].mean()
    return np.asarray(np.where(rated, change, np.nan))


def _errors(
    board: ComparedBoard, table: pd.DataFrame, kind: str, language: str, side: str
) -> Errors:
    low, high = (table[f"{bound}_{side}"].to_numpy(float) for bound in ("low", "high"))
    if kind == SYNTHETIC:
        return conformal_errors(low, high, board.levels[language])
    if board.tournaments is None or board.tournaments < FEWEST_TOURNAMENTS:
        return Errors(np.full(len(table), np.nan), np.inf)
    return bootstrap_errors(low, high, board.tournaments)


def _reasons(
    table: pd.DataFrame,
    whole: str,
    sides: list[tuple[ComparedBoard, str]],
    kind: str,
) -> list[str]:
    """Say for each system why its change is not tested; empty where it is."""
    few = [
        f"the {side} board holds fewer than {FEWEST_TOURNAMENTS} tournaments"
        for board, side in sides
        if kind == ARENA and (board.tournaments or 0) < FEWEST_TOURNAMENTS
    ]
    board_wide = whole or "; ".join(few)
    return [_reason(row, board_wide) for row in table.to_dict("records")]


def _reason(row: dict[str, object], board_wide: str) -> str:
    if row["there_old"] is not True or row["there_new"] is not True:
        return "it is on one of the boards only"
    if board_wide:
        return board_wide
    notes = {str(row[f"note_{side}"]) for side in ("old", "new")} - {""}
    if notes:
        return "; ".join(sorted(notes))
    return NOT_RATED if pd.isna(row["rating_change"]) else ""


def _presence(table: pd.DataFrame) -> list[str]:
    pairs = zip(table["there_old"], table["there_new"], strict=True)
    return [NEW if old is not True else GONE if new is not True else "" for old, new in pairs]


def _verdict(presence: str, chance: float) -> str:
    if presence:
        return presence
    if np.isnan(chance):
        return NOT_COMPARABLE
    return MOVED if chance < LEVEL else WITHIN_NOISE
