"""An estimator's results for an arena, and the tables of a board that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import scipy

from arena.computing.codes import coded_judgments
from arena.data.schema import TableSchema
from arena.quality.judge_report import JudgeReport
from arena.quality.preferences import EQUAL_LENGTH
from arena.rating.battles import Battles, pair_records
from arena.rating.intervals import pair_comparisons, ranks_and_tiers
from arena.rating.ratings import TOO_MANY, Ratings
from arena.rating.soft_verdicts import calibrated_judgments
from arena.rating.tournaments import NO_ERRORS
from arena.statistics.bootstrap import SAME_DECIMALS
from features.declare.feature import Feature
from surrogate.board.board import Board
from surrogate.board.ranks import (
    counting_languages,
    mutual_wins,
    overall_means,
    places_by_wins,
    share_bounds,
    variances_by_slopes,
)
from surrogate.board.summary import BoardSummary
from surrogate.board.tables import (
    DIFFERENCES,
    IMPORTANCES,
    OVERALL,
    RATINGS,
    VERDICT_RATINGS,
    WIN_MATRIX,
    empty_board_table,
    typed_board_table,
    typed_features,
)
from surrogate.learning.surrogate import Surrogate

TIER_COLUMNS = ["rank_low", "rank_high", "tier"]
UNCERTAIN = [*TIER_COLUMNS, "wins_low", "wins_high"]


def overall_board(board: pd.DataFrame, covariance: pd.DataFrame | None) -> pd.DataFrame:
    """Average each system's wins over languages of equal weight into ``tables.OVERALL``.

    A rank needs a rank in every counting language; a place needs a rank or a place there.
    """
    counting = counting_languages(board)
    ranking = board[board["language"].isin(counting)]
    table = overall_means(board, counting)
    is_ranked = table["mean_rank"].notna()
    ranked = list(table.index[is_ranked])
    table["rank"] = (
        table.loc[ranked, "wins"].round(SAME_DECIMALS).rank(ascending=False, method="min")
    )
    table["arena_rank"] = table["arena_mean_rank"].rank(method="min").astype("Int64")
    table[TIER_COLUMNS] = np.nan
    table.loc[ranked, UNCERTAIN] = _uncertainty(ranking, covariance, ranked, counting)
    table = table.join(places_by_wins(table[~is_ranked], ranking, ranked))
    table = table.astype(dict.fromkeys(["rank", "rank_low", "rank_high", "tier"], "Int64"))
    ordered = table.reset_index().sort_values(["rank", "place", "system"], kind="stable")
    return ordered[list(OVERALL.columns)].reset_index(drop=True)


def joint_covariance(
    parts: Mapping[str, pd.DataFrame], across: pd.DataFrame | None
) -> pd.DataFrame:
    """Arrange all ratings' covariance over languages; NaN where unknown.

    Ratings absent from ``across`` have the same surrogate's errors in every language.
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


def _uncertainty(
    board: pd.DataFrame,
    covariance: pd.DataFrame | None,
    ranked: Sequence[str],
    languages: Sequence[str],
) -> pd.DataFrame:
    if len(languages) == 1:
        return board.set_index("system").loc[list(ranked), UNCERTAIN].astype(float)
    if covariance is None or not ranked:
        return pd.DataFrame(np.nan, list(ranked), UNCERTAIN)
    ratings = board[board["rank"].notna()].set_index(["language", "system"])["rating"].astype(float)
    known = ratings.reindex(covariance.index).dropna()
    slopes = pd.DataFrame(0.0, list(ranked), known.index)
    wins = np.zeros(len(ranked))
    for language in languages:
        of_language = known.loc[[language]]
        systems = of_language.index.get_level_values("system")
        positions = systems.get_indexer(list(ranked))
        shares, by_rating = mutual_wins(of_language.to_numpy())
        wins += shares[positions] / len(languages)
        slopes.loc[:, of_language.index] = by_rating[positions] / len(languages)
    part = covariance.loc[known.index, known.index]
    variances = variances_by_slopes(slopes.to_numpy(), part)
    low, high = share_bounds(wins, np.diag(variances))
    columns = {**ranks_and_tiers(wins, variances), "wins_low": low, "wins_high": high}
    return pd.DataFrame(columns, list(ranked)).astype(float)


Rated = tuple[pd.DataFrame, pd.DataFrame]
"""``tables.RATINGS`` of one language, and the covariance of the ratings."""


@dataclass(frozen=True)
class Estimation:
    """Results for an arena, languages' best first."""

    rated: Sequence[Rated]
    judgments: pd.DataFrame
    report: JudgeReport
    summary: BoardSummary
    surrogate: Surrogate
    covariance: pd.DataFrame | None = None
    verdict_ratings: pd.DataFrame = field(
        default_factory=lambda: empty_board_table(VERDICT_RATINGS)
    )
    importances: pd.DataFrame = field(default_factory=lambda: empty_board_table(IMPORTANCES))

    def board(self, features: pd.DataFrame, own_features: tuple[Feature, ...] = ()) -> Board:
        """Make a board of it."""
        ratings = stacked([rows for rows, _ in self.rated if not rows.empty])
        overall = overall_board(ratings, self.covariance)
        return Board(
            ratings=typed_board_table(ratings, RATINGS),
            overall=typed_board_table(overall, OVERALL),
            verdict_ratings=typed_board_table(self.verdict_ratings, VERDICT_RATINGS),
            importances=typed_board_table(self.importances, IMPORTANCES),
            win_matrix=typed_board_table(win_table(self.judgments), WIN_MATRIX),
            differences=typed_board_table(difference_table(self.rated), DIFFERENCES),
            features=typed_features(features),
            judge_report=self.report,
            summary=self.summary,
            surrogate_or_file=self.surrogate,
            own_features=own_features,
        )


def stacked(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put tables of several languages one below the other."""
    return pd.concat(parts, ignore_index=True)


def _stacked_as(schema: TableSchema, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return stacked(parts)[list(schema.columns)] if parts else empty_board_table(schema)


def verdict_rating_table(ratings: Ratings, language: str, moves: pd.Series) -> pd.DataFrame:
    """Arrange a language's ratings by verdicts as ``tables.VERDICT_RATINGS``, best first."""
    reason = ""
    for remark in ratings.remarks:
        if remark in (TOO_MANY, NO_ERRORS):
            reason = remark.sentence
            break
    table = ratings.table.assign(language=language)
    has_own_note = (table["note"] != "") | table["rating"].isna()
    table["note"] = table["note"].where(has_own_note, reason)
    keys = pd.MultiIndex.from_frame(table[["language", "system"]])
    table[EQUAL_LENGTH] = table["rating"] + moves.reindex(keys).to_numpy(np.float64)
    return table[list(VERDICT_RATINGS.columns)]


def win_table(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count who won against whom, in both directions, soft ones whole."""
    parts = []
    judgments = calibrated_judgments(coded_judgments(judgments), hard=True)
    for language, rows in judgments.groupby("language"):
        records = pair_records(Battles.from_judgments(rows))
        parts.append(records.assign(language=str(language)))
    table = _stacked_as(WIN_MATRIX, parts)
    return table.sort_values(["language", "system", "opponent"], ignore_index=True)


def difference_table(rated: Iterable[Rated]) -> pd.DataFrame:
    """Return how much better one of every two systems is, and how surely.

    Ratings are jointly normal: Var(a - b) = Var(a) + Var(b) - 2 Cov(a, b). NaN where unknown.
    """
    parts = []
    for table, covariance in rated:
        ratings = table[table["rating"].notna()].set_index("system")["rating"]
        if len(ratings) < 2:
            continue
        compared = pair_comparisons(ratings, covariance)
        parts.append(compared.assign(language=table["language"].iloc[0]))
    return _stacked_as(DIFFERENCES, parts).sort_values("language", kind="stable", ignore_index=True)
