"""The data of a site's pages: plain rows for their templates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from arena.data.languages import language_name
from arena.data.tables import plain_records
from arena.data.wording import count_of
from features.engine.extraction import feature_columns, missing_counts
from surrogate.board.board import Board
from surrogate_arena.cli.shown_numbers import finite
from surrogate_arena.pages.board_page import no_reason

MOST_OPPONENTS = 100
"""Of a system, that its page lists: those it met most often, where there are more."""
Row = dict[str, Any]


def cut_text(text: str, longest: int) -> str:
    """Return a text of at most so many characters, with an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


class SystemPages:
    """The pages of all systems of a board; what they share is computed once."""

    def __init__(self, board: Board, languages: Sequence[str]) -> None:
        self._board = board
        self._place_of = {language: place for place, language in enumerate(languages)}
        self._features = _features(board)
        self._languages = by_system(board.ratings)
        self._ranked = board.ratings.groupby("language")["rank"].count()
        self._overall = {row["system"]: row for row in plain_records(board.overall)}
        self._opponents = by_system(_records(board.win_matrix))
        self._met = board.win_matrix.groupby("system")["opponent"].nunique()

    def page(self, system: str) -> Row:
        """Prepare the page of a system."""
        languages: list[Row] = []
        for row in self._languages.get(system, []):
            language = row["language"]
            note = row["note"]
            if row["rank"] is None and not note:
                note = no_reason(self._board, language)
            n_ranked = int(self._ranked[language])
            languages.append(
                {**row, "name": language_name(language), "ranked": n_ranked, "note": note}
            )
        return {
            "system": system,
            "overall": self._overall.get(system),
            "ranked": int(self._board.overall["rank"].notna().sum()),
            "languages": sorted(languages, key=lambda row: self._place_of[row["language"]]),
            "coverage_differs": any(row["coverage"] != 1 for row in languages),
            "splits_differ": any(row["split"] != "train" for row in languages),
            "features": self._features.get(system, []),
            "opponents": self._opponents.get(system, []),
            "met": int(self._met.get(system, 0)),
        }


def _features(board: Board) -> dict[str, list[Row]]:
    """Return each system's features against the field's quartiles, the most important first."""
    table = board.features
    language_means = group_means(table, ["system", "language"])
    means = group_means(language_means, ["system"])
    shares: dict[Any, float] = (
        board.importances.groupby("feature")["importance"].mean().dropna().to_dict()
    )
    missing = _missing(table)
    rows: dict[str, list[Row]] = {system: [] for system in means.index}
    quartiles = means.quantile([0.25, 0.5, 0.75])
    # A feature without an importance comes after one whose importance is 0.
    for name in sorted(means, key=lambda name: -shares.get(name, -1.0)):
        lower, median, upper = quartiles[name]
        for system, mean in means[name].items():
            rows[str(system)].append(
                {
                    "name": name,
                    "importance": shares.get(name),
                    "mean": finite(mean),
                    "median": finite(median),
                    "lower": finite(lower),
                    "upper": finite(upper),
                    "missing": missing.get((system, name), ""),
                }
            )
    return rows


def group_means(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return the mean of each feature in each group, a row per group."""
    groups = table.groupby(list(keys))
    # Column by column: pandas sums columns that lie together in memory in another order as soon as
    # one of them lacks a value. What lies together differs between a board that was just built and
    # one that was read, and their means would differ in the last digit.
    means = {name: groups[name].mean() for name in feature_columns(table)}
    # The index names the groups where there is no feature, too.
    return pd.DataFrame(means, index=groups.size().index)


def _missing(table: pd.DataFrame) -> dict[tuple[Any, str], str]:
    answers = table["system"].value_counts()
    reasons: dict[tuple[Any, str], list[str]] = {}
    for row in missing_counts(table, by="system").itertuples(index=False):
        n_answers = int(answers[row.system])
        reason = f"{row.reason} ({row.answers:,} of {count_of(n_answers, 'answer')})"
        reasons.setdefault((row.system, row.feature), []).append(reason)
    return {key: "; ".join(parts) for key, parts in reasons.items()}


def by_system(table: pd.DataFrame) -> dict[str, list[Row]]:
    """Return the rows of each system in a table."""
    rows: dict[str, list[Row]] = {}
    for row in plain_records(table):
        rows.setdefault(row["system"], []).append(row)
    return rows


def _records(matrix: pd.DataFrame) -> pd.DataFrame:
    numbers = ["wins", "losses", "ties"]
    counts = matrix.groupby(["system", "opponent"], as_index=False)[numbers].sum()
    battles = counts[numbers].sum(axis=1)
    share = (counts["wins"] + counts["ties"] / 2) / battles
    counts = counts.assign(share=share.astype(float), battles=battles)[battles > 0]
    often = counts.sort_values("battles", ascending=False, kind="stable").groupby("system")
    order = ["system", "share", "opponent"]
    return often.head(MOST_OPPONENTS).sort_values(order, ascending=[True, False, True])
