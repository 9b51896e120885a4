"""What ``systems/*.html`` show: a system's ranks, features and record."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import pandas as pd

from arena.data.rows import plain_records
from arena.data.wording import count_of
from features.engine.columns import feature_columns, missing_counts
from surrogate.board.board import Board
from surrogate.publish.formats import finite, language_name, scale_over, span
from surrogate.publish.view import RATINGS, mean_importances, unranked_reason

QUANTILES = {"least": 0.0, "lower": 0.25, "median": 0.5, "upper": 0.75, "most": 1.0}

Row = dict[str, Any]


class SystemPages:
    """The pages of all systems of a board; what they share is computed once."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._features = _features(board)
        self._languages = _by_system(board.ratings)
        self._ranked = board.ratings.groupby("language")["rank"].count()
        columns = [column for columns in RATINGS.values() for column in columns]
        self._scale = scale_over(board.ratings[columns].to_numpy(float).ravel())
        self._overall = {row["system"]: row for row in plain_records(board.overall)}
        self._opponents = _by_system(_records(board.win_matrix))

    def page(self, system: str) -> Row:
        """Prepare the page of a system, as its template takes it.

        Returns:
            ``overall``: its row over all languages, or None; ``ranked``: systems ranked there;
            ``languages``: its rows by language with ratings on one scale (``both_span``,
            ``surrogate_span``, ``verdicts_span``); ``features`` against the field; ``opponents``:
            its record over all languages, best first.
        """
        languages = [self._language(row) for row in self._languages.get(system, [])]
        return {
            "system": system,
            "overall": self._overall.get(system),
            "ranked": int(self._board.overall["rank"].notna().sum()),
            "languages": sorted(languages, key=itemgetter("name")),
            "coverage_differs": any(row["coverage"] != 1 for row in languages),
            "splits_differ": any(row["split"] != "train" for row in languages),
            "features": self._features.get(system, []),
            "opponents": self._opponents.get(system, []),
        }

    def _language(self, row: Row) -> Row:
        language, note = row["language"], row["note"]
        if row["rank"] is None and not note:
            note = unranked_reason(self._board, row["system"], language)
        spans = {
            f"{name}_span": span(self._scale, *(row[column] for column in columns))
            for name, columns in RATINGS.items()
        }
        named = {"name": language_name(language), "ranked": int(self._ranked[language])}
        return row | named | spans | {"note": note}


def _features(board: Board) -> dict[str, list[Row]]:
    """Return each system's features against the field, the most important first.

    A row has the feature's ``name``, ``importance`` in the surrogates, ``median`` and ``box`` over
    the systems' means, and the system's own ``mean`` (each language with the same weight), its
    ``position`` in per cent, and what is ``missing`` in words.
    """
    table = board.features
    names = feature_columns(table)
    means = table.groupby(["system", "language"])[names].mean().groupby("system").mean()
    shares = mean_importances(board)
    missing = _missing(table)
    rows: dict[str, list[Row]] = {system: [] for system in means.index}
    for name in sorted(names, key=lambda name: -shares.get(name, -1.0)):
        scale = scale_over(means[name])
        box = {mark: scale.at(means[name].quantile(share)) for mark, share in QUANTILES.items()}
        field = {
            "name": name,
            "importance": shares.get(name),
            "median": finite(means[name].median()),
            "box": box,
        }
        for system, mean in means[name].items():
            own = {"mean": finite(mean), "position": scale.at(mean)}
            rows[str(system)].append(field | own | {"missing": missing.get((system, name), "")})
    return rows


def _missing(table: pd.DataFrame) -> dict[tuple[Any, str], str]:
    answers = table["system"].value_counts()
    by_system = table.assign(language=table["system"])  # counted a system instead of a language
    reasons: dict[tuple[Any, str], list[str]] = {}
    for row in missing_counts(by_system).itertuples(index=False):
        reasons.setdefault((row.language, row.feature), []).append(f"{row.answers:,} {row.reason}")
    return {
        key: f"{'; '.join(parts)} (of {count_of(int(answers[key[0]]), 'answer')})"
        for key, parts in reasons.items()
    }


def _by_system(table: pd.DataFrame) -> dict[str, list[Row]]:
    """Return each system's rows, missing values as None."""
    rows: dict[str, list[Row]] = {}
    for row in plain_records(table):
        rows.setdefault(row["system"], []).append(row)
    return rows


def _records(matrix: pd.DataFrame) -> pd.DataFrame:
    """Sum up the battles of every system with every opponent, the best record first."""
    counts = matrix.groupby(["system", "opponent"], as_index=False)[
        ["wins", "losses", "ties"]
    ].sum()
    battles = counts["wins"] + counts["losses"] + counts["ties"]
    share = (counts["wins"] + counts["ties"] / 2) / battles
    counts = counts.assign(share=share.astype(float))[battles > 0]
    return counts.sort_values(["system", "share", "opponent"], ascending=[True, False, True])
