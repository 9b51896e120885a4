"""Ranking new systems: placing them by their answers; the board's rows do not move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena, read_own_answers
from arena.data.schema import QUESTION_KEY
from arena.data.wording import Remark
from features.declare.models import Models
from surrogate.board.board import Board, open_board
from surrogate.board.rank_reasons import (
    absence,
    needed_questions,
    with_placed_notes,
)
from surrogate.board.ranks import (
    ARENA_COLUMNS,
    PLACE_COLUMNS,
    RANK_COLUMNS,
    WINS_COLUMNS,
    counting_languages,
    overall_means,
    places_among,
    places_by_wins,
    ranks_and_places,
    wins_against,
    without_ranks,
)
from surrogate.board.rating_rows import (
    POSTERIOR_COLUMNS,
    SUBSTANTIAL_SHARE,
    predicted_estimates,
    ranking_status,
    rated_rows,
)
from surrogate.board.slices import in_slices, sliced
from surrogate.board.summary import fingerprint
from surrogate.board.tables import DECIMALS, RATINGS, typed_board_table
from surrogate.checks.copies import Key, near_copies
from surrogate.checks.faults import find_faults
from surrogate.learning.training_data import with_answers
from surrogate.ranking.new_answers import measure_answers, refuse_taken_names, rows_of_answers
from surrogate.ranking.ranked_systems import JUDGED_COLUMNS, RankedSystems

NO_COPIES: Mapping[Key, str] = MappingProxyType({})
NO_SURROGATE_HERE = "the board has no surrogate here"
RANKED_APART = Remark(
    "ranks", "info", "new systems are ranked among the board's, not among each other"
)
NEW_COLUMNS = [
    "language",
    "system",
    *RANK_COLUMNS,
    *PLACE_COLUMNS,
    *WINS_COLUMNS,
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
    originals: Mapping[Key, str] = NO_COPIES,
    judgments: pd.DataFrame | None = None,
) -> RankedSystems:
    """Rank new systems by a feature table, and by verdicts if any."""
    systems = sorted(table["system"].unique())
    languages = sorted({*board.ratings["language"], *table["language"]})
    n_questions = queries["language"].value_counts().to_dict()
    predictions = board.surrogate.predict(table)
    judged = pd.DataFrame(columns=JUDGED_COLUMNS)
    judgment_remarks: list[Remark] = []
    if judgments is None:
        judgments = pd.DataFrame(columns=[*QUESTION_KEY, "system_a", "system_b", "winner"])
    else:
        from surrogate.ranking.judged import (
            contradiction_remarks,
            judged_ratings,
            judgments_that_count,
        )

        judgments, judgment_remarks = judgments_that_count(board, set(systems), judgments, queries)
        judged = judged_ratings(board, predictions, judgments)
        judgment_remarks.extend(contradiction_remarks(judged))
    by_language = {}
    for language in languages:
        by_language[language] = _estimates(
            board, predictions, judged, language, n_questions[language]
        )
    estimates = pd.concat(by_language, names=["language", "system"])
    status = ranking_status(originals, board.surrogate, table, n_questions, {})
    status = status.reindex(estimates.index)
    parts = []
    for language in languages:
        parts.append(_placed_rows(board, language, estimates.loc[language], status.loc[language]))
    new = pd.concat(parts, ignore_index=True)
    new = new.fillna({"verdict_share": 0.0})
    new = new.sort_values(["language", "rank", "place", "system"])
    unknown = dict.fromkeys(["tier", *ARENA_COLUMNS], np.nan)
    new_rows = typed_board_table(new.assign(**unknown), RATINGS)
    explanations = _explanations(board, table, estimates, status)
    return RankedSystems(
        board=_board_with(board, new_rows),
        overall=_overall_with(board, new_rows),
        features=table.drop(columns="answer", errors="ignore"),
        new=new[NEW_COLUMNS].reset_index(drop=True),
        explanations=explanations.loc[
            pd.MultiIndex.from_frame(new[["language", "system"]])
        ].reset_index(),
        judgments=judgments,
        remarks=(*judgment_remarks, *_remarks(board, new, languages)),
    )


def _estimates(
    board: Board, predictions: pd.DataFrame, judged: pd.DataFrame, language: str, n_questions: int
) -> pd.DataFrame:
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
            reasons.append(NO_SURROGATE_HERE)
        else:
            reasons.append(absence(rating, n_answers))
    counts = verdicts[["judgments", "judged_questions"]].astype(float).fillna(0).astype("int64")
    return estimates.assign(split="new", why=reasons).join(counts)


def _placed_rows(
    board: Board, language: str, estimates: pd.DataFrame, status: pd.DataFrame
) -> pd.DataFrame:
    on_board = board.ratings[board.ratings["language"] == language].set_index("system")
    unproven: pd.Index = pd.Index([])
    if not board.summary.ranks_unseen_in(language):
        unproven = estimates.index[~(estimates["verdict_share"] >= SUBSTANTIAL_SHARE)]
    rows = rated_rows(estimates, board.prediction_interval(language), status, unproven, on_board)
    rows = rows.round(DECIMALS)
    ranked = on_board.loc[on_board["rank"].notna(), "rating"]
    rows = rows.join(wins_against(ranked, rows).round(DECIMALS))
    places = places_among(rows, ranked)
    if board.summary.settings.unjudged == "placed":
        trained = board.surrogate.ratings_.get(language)
        needed = needed_questions(0 if trained is None else trained.items.n_questions)
        rows = with_placed_notes(rows, estimates["judged_questions"], needed)
    rows = rows.join(ranks_and_places(places, rows["is_placed"]))
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


def _remarks(board: Board, new: pd.DataFrame, languages: Sequence[str]) -> Iterator[Remark]:
    has_place = new["rank"].notna() | new["place"].notna()
    if (has_place.groupby(new["language"]).sum() > 1).any():
        yield RANKED_APART
    yield from board.summary.macro.cautions
    if board.summary.macro.is_one_sided:
        return
    trained = _trained_languages(board)
    for language in languages:
        interval = board.prediction_interval(language)
        if interval.limit and language in trained:
            yield Remark("intervals", "info", interval.limit, language)


def _board_with(board: Board, new: pd.DataFrame) -> pd.DataFrame:
    """Add new systems to the rows of a board, each above the systems that it beats."""
    placed = pd.concat([board.ratings, new], ignore_index=True)
    placed["descending_rating"] = -placed["rating"]
    placed = placed.sort_values(
        ["language", "rank", "descending_rating"], kind="stable", ignore_index=True
    )
    return placed.drop(columns="descending_rating")


def _overall_with(board: Board, new: pd.DataFrame) -> pd.DataFrame:
    """Add new systems to the overall rows, which stay as they are.

    A rank needs a rank in every counting language; a place needs a rank or a place there.
    """
    counting = counting_languages(board.ratings)
    means = overall_means(new, counting)
    ranked = board.overall.loc[board.overall["rank"].notna(), "system"]
    counted = board.ratings[board.ratings["language"].isin(counting)]
    places = places_by_wins(means, counted, ranked)
    rows = means.round(DECIMALS).join(ranks_and_places(places, means["mean_rank"].isna()))
    placed = pd.concat([board.overall, rows.rename_axis("system").reset_index()], ignore_index=True)
    return placed.sort_values(["rank", "place"], kind="stable", ignore_index=True)


def rank_systems(
    board: Board | Path | str,
    answers: pd.DataFrame | Path | str,
    arena: Arena | Path | str | None = None,
    n_jobs: int = 1,
    models: Models | None = None,
    *,
    feature_table: pd.DataFrame | None = None,
    judgments: pd.DataFrame | None = None,
) -> RankedSystems:
    """Rank new systems by their answers, and by verdicts if there are any.

    A new system has a place among the ranked systems, which stay; judged on enough questions, it
    has that rank. A near-copy gets its original's rating.

    Args:
        board: The board, or its folder.
        answers: Columns ``query_id, language, system, answer``, or their file.
        arena: The arena it was built from; by default the one that the board knows.
        n_jobs: Processes for feature extraction.
        models: How features' models are run.
        feature_table: Features at hand.
        judgments: Verdicts on new systems.

    Returns:
        Places, ranks, ratings and reasons.

    Raises:
        UsageError: If a system is on the board, or the arena or a feature is missing.
        DataError: For faulty answers or judgments.

    Examples:
        >>> from arena import sample_arena
        >>> from surrogate import build_board
        >>> arena = sample_arena()
        >>> board = build_board(arena, judge="gpt-4o", features="citations", tournaments=5)
        >>> answers = arena.answers[arena.answers["system"] == "llm-news"].assign(system="new")
        >>> rank_systems(board, answers).new["place"].tolist()
        [2]
    """
    board = open_board(board)
    whole_arena = open_arena(board.own_arena() if arena is None else arena, is_judged=False)
    if board.summary.is_first:
        raise UsageError(
            "this is a board without verdicts: no surrogate can place new systems. Add their "
            "answers to the arena and build the board again, or judge some pairs first"
        )
    settings = board.summary.settings
    parted_arena = sliced(whole_arena, settings.by)
    if fingerprint(parted_arena) != board.summary.fingerprint:
        raise UsageError(
            f"the questions or reference answers of arena {whole_arena.info.name!r} are not those "
            f"of arena {board.summary.arena!r} the board was built from; build the board again"
        )
    queries = whole_arena.queries
    new_answers = read_own_answers(answers, queries)
    if judgments is not None:
        # Most new systems come without verdicts.
        from surrogate.ranking.judged import judgments_as_on_board

        judgments = judgments_as_on_board(judgments, queries, settings)
    refuse_taken_names(new_answers["system"], board)
    if feature_table is None:
        table = measure_answers(board, whole_arena, new_answers, n_jobs, models)
    else:
        table = rows_of_answers(new_answers, feature_table)
    table = in_slices(table, queries, settings.by)
    parted_answers = in_slices(new_answers, queries, settings.by)
    originals = near_copies(parted_answers, _judged_answers(board, parted_arena))
    X = with_answers(table, parted_answers)
    placed = place_systems(board, X, parted_arena.queries, originals, judgments)
    return replace(placed, faults=find_faults(whole_arena, new_answers))


def _judged_answers(board: Board, arena: Arena) -> pd.DataFrame:
    has_verdicts = board.ratings["arena_rating"].notna()
    judged = board.ratings.loc[has_verdicts, ["language", "system"]]
    return arena.answers.merge(judged, on=["language", "system"])
