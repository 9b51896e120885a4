"""The main job: from an arena to a validated synthetic leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from arena import Arena, UsageError, __version__
from arena.battles import TieRule, judged_systems
from arena.bradley_terry import DEFAULT_RIDGE
from arena.tournaments import DEFAULT_QUESTIONS, DEFAULT_TOURNAMENTS, Tournaments, hold_tournaments
from features import DEFAULT_FEATURES, Feature, extract, feature_columns
from features.models.options import ModelOptions
from surrogate.board_summary import summarise
from surrogate.holdout import check_holdout, choose_holdout
from surrogate.judge import Recipe, SurrogateJudge
from surrogate.language_board import LanguageData, importances, language_data, synthetic_ratings
from surrogate.overall import overall_board
from surrogate.parallel_fits import LanguageFits, fit_languages
from surrogate.summary import BoardSummary

Progress = Callable[[str, int, int], None]
"""Called with the stage, the steps done and the steps in all."""


@dataclass(frozen=True)
class Board:
    """A synthetic leaderboard with everything it rests on.

    Attributes:
        features: Feature table, one row an answer.
        arena: Arena ratings: ``language, system, rank, rating, low, high, note``.
        board: Synthetic ratings a language; see ``language_board.synthetic_ratings``.
        overall: Ranks over all languages; see ``overall.overall_board``.
        importances: Feature importances a language.
        judge: The surrogate judge, for new systems.
        summary: Agreement, holdout scores, what was skipped, signature.
    """

    features: pd.DataFrame
    arena: pd.DataFrame
    board: pd.DataFrame
    overall: pd.DataFrame
    importances: pd.DataFrame
    judge: SurrogateJudge
    summary: BoardSummary


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
    judged = arena.judged_by(judge)
    held = _holdout(judged, holdout, seed)
    held_by_language = _hold_tournaments(judged, tournaments, questions, ties, ridge, seed)
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
    signature = _signature(judged, names, recipe, data, held, seed)
    surrogate = SurrogateJudge(
        names,
        {item.language: fit.judge for item, fit in zip(data, fits, strict=True) if fit.judge},
        signature,
    )
    return _assemble(arena, judged, table, data, fits, surrogate)


def _holdout(judged: Arena, holdout: Sequence[str] | None, seed: int) -> tuple[str, ...]:
    systems = judged_systems(judged.judgments)
    if holdout is None:
        return choose_holdout(systems, seed)
    return check_holdout(holdout, systems)


def _hold_tournaments(
    judged: Arena, tournaments: int, questions: int, ties: TieRule, ridge: float, seed: int
) -> dict[str, Tournaments]:
    return {
        str(language): hold_tournaments(judgments, tournaments, questions, ties, ridge, seed)
        for language, judgments in judged.judgments.groupby("language")
    }


def _signature(
    judged: Arena,
    features: Sequence[str],
    recipe: Recipe,
    data: Sequence[LanguageData],
    holdout: Sequence[str],
    seed: int,
) -> str:
    if not data:
        raise UsageError("no language has judgments to learn from")
    drawn = max(item.tournaments.questions_per_tournament for item in data)
    first = data[0].tournaments
    return "|".join(
        [
            f"judge:{judged.judges[0]}",
            f"features:{','.join(features)}",
            recipe.signature,
            f"tournaments:{len(first.draws)}",
            f"questions:{drawn}",
            f"ties:{first.battles.ties}",
            f"ridge:{first.ridge:g}",
            f"holdout:{','.join(holdout) or 'none'}",
            f"seed:{seed}",
            f"version:{__version__}",
        ]
    )


def _assemble(
    arena: Arena,
    judged: Arena,
    table: pd.DataFrame,
    data: Sequence[LanguageData],
    fits: Sequence[LanguageFits],
    surrogate: SurrogateJudge,
) -> Board:
    pairs = list(zip(data, fits, strict=True))
    rated = [synthetic_ratings(item, fit.judge) for item, fit in pairs]
    board = pd.concat(rated, ignore_index=True)
    shares = [importances(item, fit.judge, fit.tournaments) for item, fit in pairs]
    return Board(
        features=table,
        arena=pd.concat([_arena_rows(item) for item in data], ignore_index=True),
        board=board,
        overall=overall_board(board),
        importances=pd.concat(shares, ignore_index=True),
        judge=surrogate,
        summary=summarise(arena, judged, table, data, fits, rated, surrogate),
    )


def _arena_rows(data: LanguageData) -> pd.DataFrame:
    ratings = data.tournaments.ratings()
    columns = ["language", "system", "rank", "rating", "low", "high", "note"]
    return ratings.assign(language=data.language)[columns]
