"""The data of a site's pages: plain rows for their templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from arena.data.languages import language_name
from arena.data.tables import plain_records
from arena.data.wording import count_of
from features.engine.extraction import feature_columns, missing_counts
from surrogate.board.board import Board
from surrogate.board.ranks import PLACE_COLUMNS
from surrogate.board.summary import HELD_MARK, HELD_OUT
from surrogate.board.tables import BY_JUDGE
from surrogate_arena.pages.formats import SEQUENTIAL, finite, slugs

SPLIT_NAMES = {"train": "yes", "holdout": "no, held out", "unjudged": "no, not judged"}
"""Whether the surrogate was trained on a system, by its ``split``."""
ROW_COLUMNS = (
    "index",
    "rank",
    "rank_low",
    "rank_high",
    "place",
    "place_low",
    "place_high",
    "tier",
    "rating",
    "low",
    "high",
    "verdict_share",
    "surrogate_rating",
    "arena_rank",
    "arena_rating",
    "coverage",
    "kind",
)
"""Numbers of a language's board, as scripts read them; each row's ``note`` follows."""
MOST_OPPONENTS = 100
"""Of a system, that its page lists: those it met most often, where there are more."""
MOST_SHADED = 100
"""Systems whose ranks by language stand side by side: the best, where there are more."""

Row = dict[str, Any]


def compact_numbers(table: pd.DataFrame) -> list[list[float | int | None]]:
    """Return a table's numbers, row by row, as short as JSON has them."""
    rows: list[list[float | int | None]] = []
    for values in table.astype(float).round(4).to_numpy().tolist():
        # 3 instead of 3.0: most cells of a page are ranks and counts.
        rows.append([int(value) if value.is_integer() else finite(value) for value in values])
    return rows


def cut_text(text: str, longest: int) -> str:
    """Return a text of at most so many characters, with an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def cautions(board: Board) -> list[str]:
    """Return what limits a board, as sentences, what limits most first."""
    warnings = board.summary.macro.warnings
    # A warning that several languages share is one sentence that names them.
    names_by_warning: dict[str, list[str]] = {}
    for code in board.summary.languages:
        for warning in set(language_cautions(board, code)) - set(warnings):
            names_by_warning.setdefault(warning, []).append(language_name(code))
    of_languages = []
    for warning, names in names_by_warning.items():
        of_languages.append(f"{', '.join(names)}: {warning[0].lower()}{warning[1:]}")
    return [*warnings, *sorted(of_languages)]


def language_cautions(board: Board, language: str) -> tuple[str, ...]:
    """Return what limits a language, but for its judge's fault."""
    # Verdicts that are all the same say nothing of any language.
    if board.summary.macro.is_one_sided or language not in board.summary.languages:
        return ()
    return board.summary.warnings_of(board.summary.languages[language])


def overview(
    board: Board, system_slugs: Mapping[str, str], languages: Sequence[str]
) -> dict[str, Any]:
    """Prepare the overview, with languages in the order given.

    ``rows`` are ranked systems, best first, ``unranked`` the others with reasons; ``data`` is what
    scripts read.
    """
    ratings = board.ratings
    ranked = board.overall[board.overall["rank"].notna()]
    system = ranked["system"]
    ranks = ratings.groupby("system")["rank"]
    best_tier = ratings.loc[ratings["tier"] == 1, "system"].value_counts()
    rows = ranked.assign(
        is_tied=ranked["rank"].duplicated(keep=False),
        best=system.map(ranks.min()),
        worst=system.map(ranks.max()),
        top_tiers=system.map(best_tier).fillna(0).astype(int),
    )
    return {
        "rows": plain_records(rows),
        "unranked": _unranked(board, set(system)),
        "languages": {code: language_name(code) for code in languages},
        "data": _overview_data(board, system_slugs),
        "judges": _judges(board),
        # With one language the table would repeat the ranks above it.
        "ranks": _ranks(board, languages) if len(languages) > 1 else [],
    }


def _overview_data(board: Board, system_slugs: Mapping[str, str]) -> Row:
    # Scripts look systems and splits up by number: names would be most of the page.
    system_indices = {name: index for index, name in enumerate(board.systems)}
    split_indices = {name: index for index, name in enumerate(SPLIT_NAMES)}
    numbered = board.ratings.assign(
        index=board.ratings["system"].map(system_indices),
        kind=board.ratings["split"].map(split_indices),
    )
    files = slugs(board.languages)
    languages: dict[str, Row] = {}
    for code, rows in numbered.groupby("language"):
        language = str(code)
        numbers = compact_numbers(rows[list(ROW_COLUMNS)])
        languages[language] = {
            "name": language_name(language),
            "pairs": files[language],
            "caution": next(iter(language_cautions(board, language)), ""),
            "rows": [[*row, note] for row, note in zip(numbers, rows["note"], strict=True)],
        }
    return {
        "scale": board.summary.scale,
        "first": board.summary.is_first,
        "compared": board.summary.is_compared,
        "held": (HELD_MARK, HELD_OUT),
        "systems": [[name, system_slugs[name]] for name in system_indices],
        "splits": list(SPLIT_NAMES.values()),
        "columns": (*ROW_COLUMNS, "note"),
        "languages": languages,
    }


def _ranks(
    board: Board, languages: Sequence[str]
) -> list[tuple[str, list[tuple[float | None, ...]]]]:
    """Return of each system, by language: shade, rank, and rank by verdicts alone."""
    ranks = board.by_language("rank")[list(languages)]
    verdict_ranks = board.by_language("arena_rank")[list(languages)]
    # The best rank of a language has the first shade, the worst one the last.
    worst = (ranks.max() - 1).clip(lower=1)
    shades = ((ranks - 1) / worst * (len(SEQUENTIAL) - 1)).round()
    rows: list[tuple[str, list[tuple[float | None, ...]]]] = []
    for system in board.systems[:MOST_SHADED]:
        columns = [map(finite, table.loc[system]) for table in (shades, ranks, verdict_ranks)]
        rows.append((system, list(zip(*columns, strict=True))))
    return rows


def _judges(board: Board) -> dict[str, Any]:
    """Return mean ranks by each judge alone; a board of one judge has no such columns."""
    names = [name for name in board.ratings if name.startswith(BY_JUDGE)]
    ranks = board.ratings.groupby("language")[names].rank(ascending=False, method="min")
    means = ranks.groupby(board.ratings["system"]).mean().reindex(board.systems)
    rows = zip(means.index, means.to_numpy().tolist(), strict=True)
    return {
        "names": [name.removeprefix(BY_JUDGE) for name in names],
        "rows": [(system, list(map(finite, values))) for system, values in rows],
    }


def _unranked(board: Board, ranked: set[str]) -> list[Row]:
    overall = {row["system"]: row for row in plain_records(board.overall)}
    ratings = board.ratings.set_index(["system", "language"])
    ranked_keys = set(ratings.index[ratings["rank"].notna()])
    notes = ratings["note"].to_dict()
    rows = []
    for system in board.systems:
        if system in ranked:
            continue
        n_languages = 0
        reasons: dict[str, list[str]] = {}  # to the languages that it holds in
        for language in board.languages:
            if (system, language) in ranked_keys:
                n_languages += 1
                continue
            reason = _unranked_reason(board, notes.get((system, language), ""), language)
            reasons.setdefault(reason, []).append(language_name(language))
        rows.append(
            {
                "system": system,
                "languages": n_languages,
                "reasons": reasons,
                **{name: overall[system][name] for name in ("coverage", *PLACE_COLUMNS)},
            }
        )
    return rows


def _unranked_reason(board: Board, note: str, language: str) -> str:
    summary = board.summary.languages.get(language)
    if summary is None:
        return "the board gives no reason"
    return note or "; ".join(map(str, summary.remarks)) or "the board gives no reason"


class SystemPages:
    """The pages of all systems of a board; what they share is computed once."""

    def __init__(self, board: Board, languages: Sequence[str]) -> None:
        self._board = board
        self._place_of = {language: place for place, language in enumerate(languages)}
        self._features = _features(board)
        self._languages = _by_system(board.ratings)
        self._ranked = board.ratings.groupby("language")["rank"].count()
        self._overall = {row["system"]: row for row in plain_records(board.overall)}
        self._opponents = _by_system(_records(board.win_matrix))
        self._met = board.win_matrix.groupby("system")["opponent"].nunique()

    def page(self, system: str) -> Row:
        """Prepare the page of a system."""
        languages: list[Row] = []
        for row in self._languages.get(system, []):
            language = row["language"]
            note = row["note"]
            if row["rank"] is None and not note:
                note = _unranked_reason(self._board, note, language)
            n_ranked = int(self._ranked[language])
            languages.append(
                {**row, "name": language_name(language), "ranked": n_ranked, "note": note}
            )
        features, unmeasured = _measured(self._features.get(system, []))
        return {
            "system": system,
            "overall": self._overall.get(system),
            "ranked": int(self._board.overall["rank"].notna().sum()),
            "languages": sorted(languages, key=lambda row: self._place_of[row["language"]]),
            "coverage_differs": any(row["coverage"] != 1 for row in languages),
            "splits_differ": any(row["split"] != "train" for row in languages),
            "features": features,
            "unmeasured": unmeasured,
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
    # A feature without an importance comes after one whose importance is 0.
    for name in sorted(means, key=lambda name: -shares.get(name, -1.0)):
        lower, median, upper = means[name].quantile([0.25, 0.5, 0.75])
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


def _measured(features: Sequence[Row]) -> tuple[list[Row], dict[str, list[str]]]:
    rows: list[Row] = []
    unmeasured: dict[str, list[str]] = {}
    for row in features:
        if row["mean"] is None:
            unmeasured.setdefault(row["missing"] or "no reason is known", []).append(row["name"])
        else:
            rows.append(row)
    return rows, unmeasured


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


def _by_system(table: pd.DataFrame) -> dict[str, list[Row]]:
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
