"""The board over all languages: systems by their mean rank (MIRAGE-Bench, figure 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from arena.data.errors import UsageError
from arena.data.folder import Arena
from arena.data.version import __version__
from arena.diagnostics import Diagnosis
from arena.rating.battles import TieRule, judged_systems
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.tournaments import (
    DEFAULT_QUESTIONS,
    DEFAULT_TOURNAMENTS,
    Tournaments,
    bootstrap_tournaments,
)
from features.declare.feature import Feature
from features.engine.extraction import extract, feature_columns
from features.measures.registry import DEFAULT_FEATURES
from features.models.scorer import ModelOptions
from surrogate.board.board import Board
from surrogate.board.examples import MOST_EXAMPLES, choose_examples
from surrogate.board.holdout import check_holdout, choose_holdout
from surrogate.board.judge_report import JudgingRecords, report_judge
from surrogate.board.language import (
    LanguageData,
    LanguageFits,
    fit_languages,
    importances,
    language_data,
    language_neighbours,
    synthetic_ratings,
)
from surrogate.board.summarize import language_diagnoses, language_intervals, summarize
from surrogate.board.summary import BoardSummary, RatingInterval
from surrogate.board.tiers import tiers_table, win_matrix
from surrogate.learning.surrogates import Recipe, SurrogateJudge


def overall_board(board: pd.DataFrame) -> pd.DataFrame:
    """Average each system's ranks over languages, each language with the same weight.

    Args:
        board: Rows of all languages with ``language, system, rank, rating, coverage,
            arena_rank``.

    Returns:
        Columns ``system, rank, mean_rank, mean_rating, languages, coverage, arena_rank,
        arena_mean_rank``. A system that is unranked in a language is unranked here, with the
        number of languages that rank it and its mean coverage. ``arena_rank`` likewise.
    """
    languages = board["language"].nunique()
    grouped = board.groupby("system")
    table = pd.DataFrame(
        {
            "mean_rank": _complete_mean(grouped["rank"], languages),
            "mean_rating": _complete_mean(grouped["rating"], languages),
            "languages": grouped["rank"].count(),
            "coverage": grouped["coverage"].mean(),
            "arena_mean_rank": _complete_mean(grouped["arena_rank"], languages),
        }
    )
    table["rank"] = table["mean_rank"].rank(method="min").astype("Int64")
    table["arena_rank"] = table["arena_mean_rank"].rank(method="min").astype("Int64")
    columns = ["system", "rank", "mean_rank", "mean_rating", "languages", "coverage"]
    ordered = table.reset_index().sort_values(["rank", "system"], kind="stable")
    return ordered[[*columns, "arena_rank", "arena_mean_rank"]].reset_index(drop=True)


def _complete_mean(grouped: pd.api.typing.SeriesGroupBy, languages: int) -> pd.Series:
    return grouped.mean().astype(float).where(grouped.count() == languages)


Progress = Callable[[str, int, int], None]
"""Called with the stage, the steps done and the steps in all."""


def build_board(
    arena: Arena,
    judge: str | None = None,
    features: Sequence[Feature] = DEFAULT_FEATURES,
    *,
    feature_table: pd.DataFrame | None = None,
    tournaments: int = DEFAULT_TOURNAMENTS,
    questions: int = DEFAULT_QUESTIONS,
    ties: TieRule = "half",
    ridge: float = DEFAULT_RIDGE,
    holdout: Sequence[str] | None = None,
    recipe: Recipe | None = None,
    examples: int = MOST_EXAMPLES,
    records: JudgingRecords | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    models: ModelOptions | None = None,
    feature_cache: Path | str | None = None,
    progress: Progress | None = None,
) -> Board:
    """Build the synthetic leaderboard of an arena (MIRAGE-Bench, section 4.3).

    The same arguments give the same board, whatever ``n_jobs``.

    Args:
        arena: The arena.
        judge: Whose judgments to learn from; may be left out where there is one judge.
        features: Features to extract from every answer.
        feature_table: Features already at hand (published scores, say), used instead of
            extracting ``features``.
        tournaments: Bootstrapped tournaments N_t a language.
        questions: Questions N_q drawn a tournament, at most the number judged.
        ties: How ties count, ``half`` or ``drop``.
        ridge: Precision of the prior on Bradley-Terry coefficients.
        holdout: Systems kept out of training in every language; by default two, drawn by the
            seed; an empty sequence trains on all.
        recipe: Learner and kind of training rows.
        examples: Answers to show of each system at most; 0 for none.
        records: What is known of the judge beside its judgments; see ``read_judging_records``.
        seed: Seed of everything random.
        n_jobs: Processes to use; -1 for all cores.
        models: How features' models are run; see ``features.extract``.
        feature_cache: Folder that keeps what was measured between runs.
        progress: Called as stages advance.

    Raises:
        UsageError: For a choice that the arena does not allow.
        ConvergenceError: With ``ridge`` 0 where a tournament has no maximum likelihood.
    """
    recipe = Recipe() if recipe is None else recipe
    records = JudgingRecords() if records is None else records
    if examples < 0:
        raise UsageError(f"{examples} examples of each system; ask for 0 at least")
    judged = arena.judged_by(judge)
    held = _holdout(judged, holdout, seed)
    held_by_language = _bootstrap_tournaments(judged, tournaments, questions, ties, ridge, seed)
    if feature_table is None:
        table = extract(
            arena, features, n_jobs=n_jobs, progress=progress, models=models, cache=feature_cache
        )
        names = tuple(str(feature) for feature in features)
    else:
        table, names = feature_table, tuple(feature_columns(feature_table))
    data = [
        language_data(
            table, names, arena.info.systems, list(rows["query_id"]), fought, language, held
        )
        for language, rows in arena.queries.groupby("language")
        if (fought := held_by_language.get(str(language))) is not None
    ]
    fits = fit_languages(data, recipe, n_jobs, progress)
    signature = _signature(judged, names, recipe, data, held, records, seed)
    surrogate = SurrogateJudge(
        names,
        {item.language: fit.judge for item, fit in zip(data, fits, strict=True) if fit.judge},
        signature,
    )
    parts = _Parts(arena, judged, table, data, fits, surrogate)
    return _assemble(parts, records, choose_examples(judged, examples, seed), seed)


def _holdout(judged: Arena, holdout: Sequence[str] | None, seed: int) -> tuple[str, ...]:
    systems = judged_systems(judged.judgments)
    if holdout is None:
        return choose_holdout(systems, seed)
    return check_holdout(holdout, systems)


def _bootstrap_tournaments(
    judged: Arena, tournaments: int, questions: int, ties: TieRule, ridge: float, seed: int
) -> dict[str, Tournaments]:
    return {
        str(language): bootstrap_tournaments(judgments, tournaments, questions, ties, ridge, seed)
        for language, judgments in judged.judgments.groupby("language")
    }


def _signature(
    judged: Arena,
    features: Sequence[str],
    recipe: Recipe,
    data: Sequence[LanguageData],
    holdout: Sequence[str],
    records: JudgingRecords,
    seed: int,
) -> str:
    if not data:
        raise UsageError("no language has judgments to learn from")
    drawn = max(item.tournaments.questions_per_tournament for item in data)
    first = data[0].tournaments
    return "|".join(
        [
            f"judge:{judged.judges[0]}",
            *(f"metaevaluation:{entry}" for entry in records.metaevaluations),
            f"features:{','.join(features)}",
            recipe.signature,
            f"tournaments:{len(first.draws)}",
            f"questions:{drawn}",
            f"ties:{first.ties}",
            f"ridge:{first.ridge:g}",
            f"holdout:{','.join(holdout) or 'none'}",
            f"seed:{seed}",
            f"version:{__version__}",
        ]
    )


@dataclass(frozen=True)
class _Parts:
    """What a board is put together from; ``data`` and ``fits`` hold one a judged language."""

    arena: Arena
    judged: Arena
    table: pd.DataFrame
    data: Sequence[LanguageData]
    fits: Sequence[LanguageFits]
    surrogate: SurrogateJudge


def _assemble(parts: _Parts, records: JudgingRecords, examples: pd.DataFrame, seed: int) -> Board:
    pairs = list(zip(parts.data, parts.fits, strict=True))
    intervals = language_intervals(pairs)
    rated = [synthetic_ratings(item, fit.judge, intervals[item.language]) for item, fit in pairs]
    board = pd.concat(rated, ignore_index=True)
    diagnoses = language_diagnoses(parts.judged)
    report = report_judge(
        parts.arena.judgments,
        parts.judged.judges[0],
        diagnoses,
        records,
        seed,
    )
    return Board(
        features=parts.table,
        arena=_stacked(_arena_rows(item) for item in parts.data),
        board=board,
        overall=overall_board(board),
        importances=_stacked(importances(item, fit.judge, fit.tournaments) for item, fit in pairs),
        tiers=_stacked(tiers_table(item.ratings, item.language) for item in parts.data),
        win_matrix=win_matrix(parts.judged.judgments),
        neighbours=_stacked(language_neighbours(item, fit.judge) for item, fit in pairs),
        examples=examples,
        judge=parts.surrogate,
        judge_report=report,
        summary=_summary(parts, rated, intervals, diagnoses),
    )


def _summary(
    parts: _Parts,
    rated: Sequence[pd.DataFrame],
    intervals: Mapping[str, RatingInterval],
    diagnoses: Mapping[str, Diagnosis],
) -> BoardSummary:
    return summarize(
        parts.arena,
        parts.judged,
        parts.table,
        parts.data,
        parts.fits,
        rated,
        intervals,
        diagnoses,
        parts.surrogate,
    )


def _stacked(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(list(tables), ignore_index=True)


def _arena_rows(data: LanguageData) -> pd.DataFrame:
    columns = ["language", "system", "rank", "rating", "low", "high", "note"]
    return data.ratings.table.assign(language=data.language)[columns]
