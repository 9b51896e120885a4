"""What an estimator says of an arena's systems, and the tables of a board that follow from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import scipy

from arena.data.types import Floats
from arena.quality.judge_report import JudgeReport
from arena.quality.preferences import EQUAL_LENGTH
from arena.rating.battles import Battles, pair_records
from arena.rating.intervals import pair_comparisons
from arena.rating.ratings import TOO_MANY, Ratings
from arena.rating.soft_verdicts import calibrated_judgments
from arena.rating.tournaments import NO_ERRORS
from arena.statistics.bootstrap import generator, normal_draws
from arena.statistics.significance import NORMAL_90
from features.declare.feature import Feature
from surrogate.board.board import Board
from surrogate.board.ranks import counting_languages, overall_places
from surrogate.board.summary import BoardSummary
from surrogate.board.tables import (
    ARENA,
    DIFFERENCES,
    IMPORTANCES,
    OVERALL,
    WIN_MATRIX,
    empty_board_table,
)
from surrogate.learning.surrogate import Surrogate

DRAWS = 4_000
LEVEL = (5.0, 95.0)
"""Percentiles of a rank over draws: what an interval of 90% holds."""
MOST_RATINGS = 2_000
"""Ratings that are drawn by their joint covariance; time grows as a cube."""
UNCERTAIN = ["rank_low", "rank_high", "probability_best"]


def overall_board(
    board: pd.DataFrame, covariance: pd.DataFrame | None = None, seed: int = 0
) -> pd.DataFrame:
    """Average each system's ranks in ``tables.RATINGS`` over languages of the same weight.

    Args:
        board: Ratings by language.
        covariance: Of all ratings of all languages, see ``joint_covariance``; without it the
            uncertainty of overall ranks is not known.
        seed: Of the draws.

    Returns:
        ``tables.OVERALL``, best first (MIRAGE-Bench, figure 4), then placed systems. Languages
        count by ``counting_languages``. A system that one of them does not rank has no rank here;
        if each places it at least, it has a place, by ``overall_places``. ``rank_low`` and
        ``rank_high`` hold 90% of the ranks in draws of all ratings together (of more than
        ``MOST_RATINGS``, language by language), ``probability_best`` is the share of draws in
        which the system is the first.
    """
    counting = counting_languages(board)
    ranking = board[board["language"].isin(counting)]
    grouped = ranking.groupby("system")
    n_languages = len(counting)

    def complete_mean(column: str) -> pd.Series:
        """Average a column over languages; NaN where a system lacks one of them."""
        means = grouped[column].mean().astype(float)
        return means.where(grouped[column].count() == n_languages)

    table = pd.DataFrame(
        {
            "mean_rank": complete_mean("rank"),
            "mean_rating": complete_mean("rating"),
            "languages": grouped["rank"].count(),
            "coverage": board.groupby("system")["coverage"].mean(),
            "arena_mean_rank": complete_mean("arena_rank"),
        }
    )
    table["rank"] = table["mean_rank"].rank(method="min").astype("Int64")
    table["arena_rank"] = table["arena_mean_rank"].rank(method="min").astype("Int64")
    ranked = list(table.index[table["rank"].notna()])
    uncertainty = pd.DataFrame(np.nan, table.index, UNCERTAIN)
    if covariance is not None and ranked:
        uncertainty.loc[ranked] = _rank_uncertainty(ranking, covariance, ranked, seed)
    table = table.join(uncertainty)
    # Of skewed draws the rank itself may lie outside the percentiles.
    table["rank_low"] = table[["rank_low", "rank"]].min(axis=1, skipna=False)
    table["rank_high"] = table[["rank_high", "rank"]].max(axis=1, skipna=False)
    table = table.astype({"rank_low": "Int64", "rank_high": "Int64"})
    is_unranked = table["rank"].isna()
    unranked = ranking[ranking["system"].isin(table.index[is_unranked])]
    table = table.join(overall_places(unranked, table["mean_rank"], n_languages))
    ordered = table.reset_index().sort_values(["rank", "place", "system"], kind="stable")
    return ordered[list(OVERALL.columns)].reset_index(drop=True)


def joint_covariance(
    parts: Mapping[str, pd.DataFrame], across: pd.DataFrame | None
) -> pd.DataFrame:
    """Arrange how the ratings of all languages vary together.

    Args:
        parts: Language to the covariance of its ratings, systems by systems.
        across: Of those that the posterior of all languages holds, by language and system, see
            ``JointPosterior``. Others are errors of one surrogate, and of a system the same in
            every language, so that more languages make it no surer; by default all are.

    Returns:
        Rows and columns by language and system; NaN where a covariance is not known.
    """
    names: list[tuple[str, str]] = []
    for language, part in parts.items():
        names.extend((language, system) for system in part.index)
    index = pd.MultiIndex.from_tuples(names, names=["language", "system"])
    covariance = np.asarray(scipy.linalg.block_diag(*parts.values()), dtype=np.float64)
    languages = index.get_level_values("language").to_numpy()
    systems = index.get_level_values("system").to_numpy()
    is_other_language = languages[:, None] != languages[None, :]
    is_joint = np.zeros(len(names), dtype=np.bool_)
    if across is not None:
        is_joint = index.isin(across.index)
        joint_cells = np.ix_(is_joint, is_joint)
        joint_values = across.loc[index[is_joint], index[is_joint]].to_numpy()
        # Within a language the rows' own covariance counts: it may hold more than the posterior.
        covariance[joint_cells] = np.where(
            is_other_language[joint_cells], joint_values, covariance[joint_cells]
        )
    deviations = np.sqrt(np.diag(covariance))
    is_same_error = (systems[:, None] == systems[None, :]) & is_other_language
    is_same_error &= ~(is_joint[:, None] | is_joint[None, :])
    products = deviations[:, None] * deviations[None, :]
    return pd.DataFrame(np.where(is_same_error, products, covariance), index, index)


def _rank_uncertainty(
    board: pd.DataFrame, covariance: pd.DataFrame, ranked: Sequence[str], seed: int
) -> Floats:
    """Return ``UNCERTAIN`` of the systems with an overall rank; NaN where errors are not known."""
    rated = board[board["rank"].notna()].set_index(["language", "system"])["rating"]
    rated = rated.reindex(covariance.index).dropna().astype(float)
    positions = covariance.index.get_indexer(rated.index)
    values = covariance.to_numpy(np.float64)
    if len(positions) < len(values):
        values = values[np.ix_(positions, positions)]
    if np.isnan(values).any():
        return np.full((len(ranked), len(UNCERTAIN)), np.nan)
    random = generator(seed, "overall ranks")
    mean_ranks = np.zeros((DRAWS, len(ranked)))
    draw = _joint_draws if len(rated) <= MOST_RATINGS else _draws_by_language
    for systems, ratings in draw(rated, values, random):
        ranks = pd.DataFrame(ratings).rank(axis=1, ascending=False).to_numpy()
        mean_ranks += ranks[:, systems.get_indexer(list(ranked))]
    overall_ranks = pd.DataFrame(mean_ranks).rank(axis=1, method="min").to_numpy()
    low, high = np.percentile(overall_ranks, LEVEL, axis=0, method="nearest")
    is_first = overall_ranks == 1
    best = (is_first / is_first.sum(axis=1, keepdims=True)).mean(axis=0)
    return np.column_stack([low, high, best])


def _joint_draws(
    rated: pd.Series, covariance: Floats, random: np.random.Generator
) -> Iterator[tuple[pd.Index, Floats]]:
    """Draw all ratings together.

    Yields:
        The systems of each language, and draws of their ratings, shape (DRAWS, S).
    """
    draws = normal_draws(rated.to_numpy(), covariance, DRAWS, random)
    languages = rated.index.get_level_values("language")
    for language in languages.unique():
        is_language = languages == language
        yield rated.index[is_language].get_level_values("system"), draws[:, is_language]


def _draws_by_language(
    rated: pd.Series, covariance: Floats, random: np.random.Generator
) -> Iterator[tuple[pd.Index, Floats]]:
    """Draw the ratings of one language after the other, as ``_joint_draws``, of many ratings.

    Within a language the covariance is kept (of over ``MOST_RATINGS`` systems the variances alone).
    Across languages the errors of a system are correlated by as much as on average over systems and
    languages.
    """
    languages = rated.index.get_level_values("language")
    systems = rated.index.get_level_values("system")
    names = systems.unique()
    correlation = _mean_correlation(systems, covariance)
    # Errors of unit variance that a system has in every language; float32 halves the memory.
    shared = random.normal(size=(DRAWS, len(names))).astype(np.float32)
    for language in languages.unique():
        positions = np.flatnonzero(languages == language)
        block = covariance[np.ix_(positions, positions)]
        errors = random.normal(size=(DRAWS, len(positions))) * np.sqrt(1 - correlation)
        columns = names.get_indexer(systems[positions])
        errors += shared[:, columns] * np.sqrt(correlation)
        if len(positions) > MOST_RATINGS:
            errors *= np.sqrt(np.diag(block))
        else:
            errors = errors @ _symmetric_root(block)
        yield systems[positions], rated.to_numpy()[positions] + errors


def _mean_correlation(systems: pd.Index, covariance: Floats) -> float:
    deviations = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    total = 0.0
    n_pairs = 0
    for positions in systems.to_series().groupby(systems).indices.values():
        scale = deviations[positions]
        block = covariance[np.ix_(positions, positions)] / (scale[:, None] * scale)
        n_languages = len(positions)
        total += float(block.sum() - np.trace(block))
        n_pairs += n_languages * (n_languages - 1)
    return min(max(total / max(n_pairs, 1), 0.0), 1.0)


def _symmetric_root(covariance: Floats) -> Floats:
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


Rated = tuple[pd.DataFrame, pd.DataFrame]
"""``tables.RATINGS`` of one language, and the covariance of the ratings."""


@dataclass(frozen=True)
class Estimation:
    """What an estimator says of an arena's systems.

    Attributes:
        rated: Of each language, best first.
        judgments: The verdicts that it learned from.
        report: The quality of their judge.
        summary: Of the board.
        surrogate: For new systems.
        covariance: Of all ratings of all languages; None where the errors of a system's ratings in
            several languages are not known.
        arena_ratings: ``tables.ARENA``: ratings by verdicts alone.
        importances: ``tables.IMPORTANCES``.
    """

    rated: Sequence[Rated]
    judgments: pd.DataFrame
    report: JudgeReport
    summary: BoardSummary
    surrogate: Surrogate
    covariance: pd.DataFrame | None = None
    arena_ratings: pd.DataFrame = field(default_factory=lambda: empty_board_table(ARENA))
    importances: pd.DataFrame = field(default_factory=lambda: empty_board_table(IMPORTANCES))

    def board(self, features: pd.DataFrame, own_features: tuple[Feature, ...] = ()) -> Board:
        """Make a board of it."""
        ratings = stacked([rows for rows, _ in self.rated if not rows.empty])
        return Board(
            ratings=ratings,
            overall=overall_board(ratings, self.covariance, self.summary.settings.seed),
            arena=self.arena_ratings,
            importances=self.importances,
            win_matrix=win_table(self.judgments),
            differences=difference_table(self.rated),
            features=features,
            judge_report=self.report,
            summary=self.summary,
            surrogate_or_file=self.surrogate,
            own_features=own_features,
        )


def stacked(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put tables of several languages one below the other."""
    return pd.concat(parts, ignore_index=True)


def arena_table(ratings: Ratings, language: str, moves: pd.Series) -> pd.DataFrame:
    """Arrange the arena's ratings of a language as ``tables.ARENA``, best first.

    ``rank_low, rank_high`` hold all ranks at once at 95%, systems of a ``tier`` (1 the best) are
    not distinguishable from its best one, and ``note`` says why a system has no rating or tier;
    see ``arena.rating.intervals``.
    """
    reason = ""
    for note in ratings.notes:
        if note in (TOO_MANY, NO_ERRORS):
            reason = note
            break
    table = ratings.table.assign(language=language)
    has_own_note = (table["note"] != "") | table["rating"].isna()
    table["note"] = table["note"].where(has_own_note, reason)
    keys = pd.MultiIndex.from_frame(table[["language", "system"]])
    table[EQUAL_LENGTH] = table["rating"] + moves.reindex(keys).to_numpy(np.float64)
    return table[list(ARENA.columns)]


def win_table(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count who won against whom by one judge: whole verdicts, a soft one by its likelier winner.

    Returns:
        ``tables.WIN_MATRIX``, each pair in both directions, sorted; pairs that never met are not
        there.
    """
    parts = [empty_board_table(WIN_MATRIX)]
    judgments = calibrated_judgments(judgments, hard=True)
    for language, rows in judgments.groupby("language"):
        records = pair_records(Battles.from_judgments(rows))
        parts.append(records.assign(language=str(language)))
    table = pd.concat(parts[1:] or parts, ignore_index=True)
    table = table.sort_values(["language", "system", "opponent"], ignore_index=True)
    return table[list(WIN_MATRIX.columns)]


def difference_table(rated: Iterable[tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """Say of every two systems of a language by how much one is better, and how surely.

    Ratings are taken as jointly normal: Var(a - b) = Var(a) + Var(b) - 2 Cov(a, b).

    Args:
        rated: For each language ``tables.RATINGS``, best first, and the covariance of the ratings,
            systems by systems; NaN where it is not known.

    Returns:
        ``tables.DIFFERENCES``, each pair once, ``system`` the better rated one: its rating less
        the opponent's, the 90% interval of that, and the ``probability`` that it is better; NaN
        where the covariance is. Sorted by language.
    """
    parts = [empty_board_table(DIFFERENCES)]
    for table, covariance in rated:
        ratings = table[table["rating"].notna()].set_index("system")["rating"]
        if len(ratings) < 2:
            continue
        compared = pair_comparisons(ratings, covariance, NORMAL_90)
        compared.insert(0, "language", table["language"].iloc[0])
        parts.append(compared[list(DIFFERENCES.columns)])
    stacked = pd.concat(parts[1:] or parts, ignore_index=True)
    return stacked.sort_values("language", kind="stable", ignore_index=True)
