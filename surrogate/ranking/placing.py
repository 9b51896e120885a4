"""Placing new systems on a board by their features and verdicts; the board's rows do not move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from arena.data.schema import QUESTION_KEY
from surrogate.board.board import Board
from surrogate.board.rating_rows import (
    POSTERIOR_COLUMNS,
    SUBSTANTIAL_SHARE,
    VERDICT_COLUMNS,
    predicted_estimates,
    rated_rows,
)
from surrogate.board.tables import DECIMALS, RATINGS
from surrogate.checks.notes import Findings
from surrogate.checks.status import absence, ranking_status, without_ranks
from surrogate.ranking.judged import (
    JUDGED_COLUMNS,
    counted_judgments,
    interval_of,
    judged_ratings,
)
from surrogate.ranking.ranked_systems import RankedSystems

NOTHING_FOUND = Findings()
NO_SURROGATE = "the board has no surrogate here"
RANKED_APART = "new systems are ranked among the board's, not among each other"
NEW_COLUMNS = [
    "language",
    "system",
    "rank",
    "rank_low",
    "rank_high",
    "rating",
    "low",
    "high",
    "standard_error",
    "surrogate_rating",
    "judgments",
    "verdict_share",
    "coverage",
    "answers",
    "note",
]


def place_systems(
    board: Board,
    table: pd.DataFrame,
    queries: pd.DataFrame,
    findings: Findings = NOTHING_FOUND,
    judgments: pd.DataFrame | None = None,
) -> RankedSystems:
    """Rank new systems by a feature table already at hand, and by verdicts where there are some.

    Args:
        board: The board.
        table: Feature table of the new systems' answers, with the board's features; with a column
            ``answer`` where the surrogate reads them.
        queries: The arena's questions, for coverage.
        findings: On their answers.
        judgments: Verdicts on the new systems; see ``judged_ratings``.
    """
    systems = sorted(table["system"].unique())
    languages = sorted({*board.ratings["language"], *table["language"]})
    n_questions = queries["language"].value_counts().to_dict()
    predictions = board.surrogate.predict(table)
    judged = pd.DataFrame(columns=JUDGED_COLUMNS)
    judgment_notes: list[str] = []
    if judgments is None:
        judgments = pd.DataFrame(columns=[*QUESTION_KEY, "system_a", "system_b", "winner"])
    else:
        judgments, judgment_notes = counted_judgments(board, set(systems), judgments, queries)
        judged = judged_ratings(board, predictions, judgments)
    by_language = {}
    for language in languages:
        by_language[language] = _estimates(
            board, predictions, judged, language, n_questions[language]
        )
    estimates = pd.concat(by_language, names=["language", "system"])
    status = ranking_status(findings, board.surrogate, table, n_questions, {})
    status = status.reindex(estimates.index)
    parts = []
    for language in languages:
        parts.append(_placed_rows(board, language, estimates.loc[language], status.loc[language]))
    new = pd.concat(parts, ignore_index=True)
    new = new.fillna({"verdict_share": 0.0}).sort_values(["language", "rank", "system"])
    explanations = _explanations(board, table, estimates, status)
    return RankedSystems(
        board=_board_with(board, new),
        overall=_overall_with(board.overall, new, board.ratings["language"].nunique()),
        features=table.drop(columns="answer", errors="ignore"),
        new=new[NEW_COLUMNS].reset_index(drop=True),
        explanations=explanations.loc[
            pd.MultiIndex.from_frame(new[["language", "system"]])
        ].reset_index(),
        judgments=judgments,
        notes=(*judgment_notes, *_rank_notes(new), *_notes(board, languages)),
    )


def _estimates(
    board: Board, predictions: pd.DataFrame, judged: pd.DataFrame, language: str, n_questions: int
) -> pd.DataFrame:
    """Arrange predictions and verdicts on the new systems as ``rated_rows`` takes them."""
    systems = sorted(predictions["system"].unique())
    predicted = predictions[predictions["language"] == language].set_index("system")
    verdicts = judged[judged["language"] == language].set_index("system").reindex(systems)
    estimates = predicted_estimates(predicted, systems, n_questions)
    columns = ["rating", "standard_error", "verdict_share"]
    estimates[POSTERIOR_COLUMNS] = verdicts[columns].astype(float)
    ratings = estimates["posterior"].fillna(estimates["predicted"])
    is_trained = language in _trained_languages(board)
    reasons = []
    for rating, n_answers in zip(ratings, estimates["answers"], strict=True):
        if np.isnan(rating) and not is_trained:
            reasons.append(NO_SURROGATE)
        else:
            reasons.append(absence(rating, n_answers))
    n_judgments = verdicts["judgments"].astype(float).fillna(0).astype("int64")
    return estimates.assign(split="new", why=reasons, judgments=n_judgments)


def _placed_rows(
    board: Board, language: str, estimates: pd.DataFrame, status: pd.DataFrame
) -> pd.DataFrame:
    on_board = board.ratings[board.ratings["language"] == language].set_index("system")
    unproven: pd.Index = pd.Index([])
    if not board.summary.ranks_unseen_in(language):
        unproven = estimates.index[~(estimates["verdict_share"] >= SUBSTANTIAL_SHARE)]
    rows = rated_rows(estimates, interval_of(board, language), status, unproven, on_board)
    rows = rows.round(DECIMALS)
    # The better the rating, the lower the rank: an interval's high end gives the lowest rank.
    columns = {"rank": "rating", "rank_low": "high", "rank_high": "low"}
    for rank_column, rating_column in columns.items():
        ratings = rows[rating_column]
        ranks = [1 + (on_board["rating"] > rating).sum() for rating in ratings]
        rows[rank_column] = pd.Series(ranks, rows.index, "Int64").mask(ratings.isna())
    if board.summary.macro.is_one_sided:
        rows = without_ranks(rows)
    rows["judgments"] = estimates["judgments"]
    return rows.assign(language=language).rename_axis("system").reset_index()


def _explanations(
    board: Board, table: pd.DataFrame, estimates: pd.DataFrame, status: pd.DataFrame
) -> pd.DataFrame:
    explanations = pd.DataFrame(
        {
            "expected": estimates["posterior"].fillna(estimates["predicted"]),
            "original": status["original"].fillna(""),
        },
        estimates.index,
    )
    explained = board.surrogate.explain(table).set_index(["language", "system"])
    return explanations.join(explained)


def _trained_languages(board: Board) -> set[str]:
    return set(board.surrogate.systems_) - set(board.surrogate.failures_)


def _rank_notes(new: pd.DataFrame) -> Iterator[str]:
    """Say what several new systems are ranked among: two of them may have the same rank."""
    if (new.groupby("language")["rank"].count() > 1).any():
        yield RANKED_APART


def _notes(board: Board, languages: Sequence[str]) -> Iterator[str]:
    yield from board.summary.macro.cautions
    if board.summary.macro.is_one_sided:
        return
    trained = _trained_languages(board)
    for language in languages:
        interval = interval_of(board, language)
        if interval.reason and language in trained:
            yield f"no interval of ratings in {language}: {interval.reason}"
        if interval.narrowing:
            yield f"intervals in {language} are wide: {interval.narrowing}"


def _board_with(board: Board, new: pd.DataFrame) -> pd.DataFrame:
    """Add new systems to the rows of a board, each above the systems that it beats."""
    unknown = dict.fromkeys(["tier", *VERDICT_COLUMNS], np.nan)
    rows = RATINGS.typed(new.assign(**unknown))
    placed = pd.concat([board.ratings, rows], ignore_index=True)
    placed["descending_rating"] = -placed["rating"]
    placed = placed.sort_values(
        ["language", "rank", "descending_rating"], kind="stable", ignore_index=True
    )
    return placed.drop(columns="descending_rating")


def _overall_with(overall: pd.DataFrame, new: pd.DataFrame, n_languages: int) -> pd.DataFrame:
    """Put new systems among the overall rows; the board's own stay as they are.

    The interval of an overall rank is as if a system's errors were the same in every language.
    """
    rank_columns = ["rank", "rank_low", "rank_high"]
    ranked_rating = new["rating"].where(new["rank"].notna())
    grouped = new.assign(rating=ranked_rating).groupby("system")
    means = grouped[[*rank_columns, "rating", "coverage"]].mean().astype(float).round(DECIMALS)
    n_ranked = grouped["rank"].count()
    means.loc[n_ranked < n_languages, [*rank_columns, "rating"]] = np.nan
    has_all_bounds = grouped["rank_low"].count() >= n_languages
    means.loc[~has_all_bounds, ["rank_low", "rank_high"]] = np.nan
    rows = pd.DataFrame(
        {
            "coverage": means["coverage"],
            "languages": n_ranked,
            "mean_rank": means["rank"],
            "mean_rating": means["rating"],
        }
    )
    for column in rank_columns:
        ranks = [1 + (overall["mean_rank"] < mean).sum() for mean in means[column]]
        rows[column] = pd.Series(ranks, rows.index, "Int64").mask(means[column].isna())
    placed = pd.concat([overall, rows.reset_index()], ignore_index=True)
    return placed.sort_values(["rank", "mean_rank"], kind="stable", ignore_index=True)
