"""The board over all languages: systems by their mean rank (MIRAGE-Bench, figure 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from arena.data.seeds import by_content
from arena.diagnostics import diagnose_languages
from features.declare.feature import Feature
from features.engine.columns import feature_columns
from features.models.scorer import ModelOptions
from surrogate.board import tables
from surrogate.board.board import Board
from surrogate.board.details import (
    arena_table,
    choose_examples,
    difference_table,
    win_table,
)
from surrogate.board.first_board import first_ratings
from surrogate.board.holdout import check_holdout, choose_holdout
from surrogate.board.judge.report import JudgingRecords, no_judge, report_judge
from surrogate.board.language import (
    LanguageFit,
    fit_languages,
    importances_table,
)
from surrogate.board.ratings.table import (
    RatedBy,
    board_ratings,
    covariance_of_ratings,
    independent_covariance,
    unjudged_ratings,
)
from surrogate.board.settings import (
    NOBODY,
    BoardRecord,
    BoardSettings,
    board_judge,
    chosen_settings,
)
from surrogate.board.summarize import (
    agreements_of,
    language_intervals,
    summarize_board,
    summarize_first_board,
)
from surrogate.board.summary import UNPROVEN
from surrogate.integrity.copies import near_copies
from surrogate.integrity.coverage import variances_of_coverage
from surrogate.integrity.notes import look_at
from surrogate.integrity.standing import Looks, Standing
from surrogate.learning.cross_fitting import Progress
from surrogate.learning.languages import TournamentSettings, language_data, with_answers
from surrogate.learning.names import find_surrogate
from surrogate.learning.surrogate import KEYS, Surrogate


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


def build_board(
    arena: Arena | Path | str,
    settings: BoardSettings | None = None,
    *,
    features: Sequence[Feature | str] | str | None = None,
    feature_table: pd.DataFrame | None = None,
    records: JudgingRecords | None = None,
    n_jobs: int = 1,
    models: ModelOptions | None = None,
    feature_cache: Path | str | None = None,
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401 - fields of BoardSettings, which checks them
) -> Board:
    """Rate every system of an arena by verdicts and surrogate, in all its languages.

    An arena without any verdict or published rating gets a first board; see ``first_board``. The
    same arguments give the same board, whatever ``n_jobs``.

    Args:
        arena: The arena, or the path of its folder.
        settings: What is chosen; by default what ``options`` say.
        features: Features to extract from every answer, instead of those of the settings: as
            values, or by name.
        feature_table: Features already at hand (published scores, say), used instead of
            extracting any.
        records: What is known of the judge beside its judgments; see ``read_judging_records``.
        n_jobs: Processes to use; -1 for all cores.
        models: How features' models are run; see ``features.extract``.
        feature_cache: Folder that keeps what was measured between runs.
        progress: Called as stages advance.
        options: Fields of ``BoardSettings``, such as ``judge="gpt-4o", tournaments=50, seed=1``;
            ``preset="mirage"`` for a board as MIRAGE-Bench was published.

    Raises:
        UsageError: For a choice that the arena does not allow.
    """
    settings = chosen_settings(settings, options)
    arena = open_arena(arena)
    records = JudgingRecords() if records is None else records
    judge = board_judge(arena, settings)
    judged = arena.judged_by(judge) if judge is not None else arena
    surrogate = find_surrogate(  # before anything is measured: what is misspelt costs nothing
        settings.surrogate,
        rows=settings.rows,
        missing=settings.missing,
        seed=settings.seed,
        n_jobs=n_jobs,
    )
    holdout = _holdout(judged, settings.holdout, surrogate) if judge is not None else ()
    table, names = _feature_table(
        arena, settings, features, feature_table, n_jobs, models, feature_cache, progress
    )
    if judge is None:
        return _first_board(arena, table, names, settings)
    record = BoardRecord(
        **settings.model_dump(exclude={"judge", "features", "holdout"}),
        judge=judge,
        features=names,
        holdout=holdout,
        metaevaluation=tuple(map(str, records.metaevaluations)),
    )
    how = TournamentSettings(
        record.tournaments, record.questions, record.ties, record.ridge, record.seed
    )
    X = with_answers(table, arena.answers)
    data = language_data(judged, X, how)
    if not data:
        raise UsageError("no language has judgments or published ratings to learn from")
    fits = fit_languages(data, surrogate, record, n_jobs, progress)
    parts = _Parts(arena, judged, table, X, fits, surrogate, record)
    return _assemble(parts, records, choose_examples(judged, record.examples, record.seed))


def rebuild_board(
    board: Board,
    arena: Arena | Path | str,
    *,
    records: JudgingRecords | None = None,
    n_jobs: int = 1,
    models: ModelOptions | None = None,
    progress: Progress | None = None,
) -> Board:
    """Build a board again with its own settings, of an arena that has grown since.

    Args:
        board: The board, which stays as it is.
        arena: The arena, or the path of its folder.
        records: As for ``build_board``, as are those that follow.
        n_jobs: Processes to use; -1 for all cores.
        models: How features' models are run.
        progress: Called as stages advance.

    Raises:
        UsageError: If the board's features came from a table, or the arena does not allow its
            settings.
    """
    if not board.summary.features_are_declared:
        raise UsageError(
            "the features of this board came from a table, which has none of new answers; build "
            "it again with `feature_table`"
        )
    record = board.summary.settings
    chosen = {name: getattr(record, name) for name in BoardSettings.model_fields}
    if record.ratings == "consensus":
        del chosen["judge"]
    return build_board(
        arena,
        BoardSettings(**chosen),
        records=records,
        n_jobs=n_jobs,
        models=models,
        progress=progress,
    )


def _first_board(
    arena: Arena, table: pd.DataFrame, names: tuple[str, ...], settings: BoardSettings
) -> Board:
    """Build a board without any verdict."""
    X = with_answers(table, arena.answers)
    counts = arena.queries["language"].value_counts().sort_index()
    systems, reference = arena.info.systems, arena.info.reference_system
    found = {
        str(language): first_ratings(
            X, str(language), systems, int(count), reference, settings.seed
        )
        for language, count in counts.items()
        if (X["language"] == language).any()
    }
    if not found:
        raise UsageError("no language has answers to compare")
    record = BoardRecord(
        **settings.model_dump(exclude={"judge", "features", "holdout", "ratings"}),
        judge=NOBODY,
        ratings="consensus",
        features=names,
    )
    ratings = _stacked(item.table for item in found.values())
    nothing = arena.judgments.iloc[:0]
    unlearned = find_surrogate(settings.surrogate, seed=settings.seed)
    unjudged = replace(arena, judgments=nothing)
    return Board(
        ratings=ratings,
        overall=overall_board(ratings),
        arena=tables.ARENA.empty(),
        importances=tables.IMPORTANCES.empty(),
        win_matrix=win_table(nothing),
        differences=_differences((item.table, item.covariance) for item in found.values()),
        examples=choose_examples(unjudged, settings.examples, settings.seed),
        features=table,
        judge_report=no_judge(),
        summary=summarize_first_board(arena, table, found, record),
        surrogate_or_file=unlearned.restore(X.iloc[:0], {}, {}),
    )


def _feature_table(
    arena: Arena,
    settings: BoardSettings,
    features: Sequence[Feature | str] | str | None,
    table: pd.DataFrame | None,
    n_jobs: int,
    models: ModelOptions | None,
    cache: Path | str | None,
    progress: Progress | None,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the features of all answers and their names."""
    if table is not None:
        answered = pd.MultiIndex.from_frame(arena.answers[KEYS])
        own = table[pd.MultiIndex.from_frame(table[KEYS]).isin(answered)]
        return own.reset_index(drop=True), tuple(feature_columns(table))
    from features.engine.extraction import extract  # what measures is loaded where it is needed
    from features.measures.registry import distinct_features, parse_features

    asked = settings.features if features is None else features
    named = [asked] if isinstance(asked, str) else asked
    texts = ",".join(item for item in named if isinstance(item, str))
    values = [item for item in named if not isinstance(item, str)]
    declared = distinct_features([*(parse_features(texts) if texts else ()), *values])
    extracted = extract(
        arena, declared, n_jobs=n_jobs, progress=progress, models=models, cache=cache
    )
    return extracted, tuple(feature_columns(extracted))


def _holdout(judged: Arena, holdout: Sequence[str] | None, surrogate: Surrogate) -> tuple[str, ...]:
    """Hold systems out where that says something: for R² of surrogates of single tournaments."""
    if holdout is not None:
        return check_holdout(holdout, judged.rated_systems)
    if not surrogate.learns_tournaments:
        return ()
    return choose_holdout(by_content(judged.rated_systems, judged.answers), surrogate.seed)


@dataclass(frozen=True)
class _Parts:
    """What a board is put together from; ``fits`` holds one a judged language."""

    arena: Arena
    judged: Arena
    table: pd.DataFrame
    X: pd.DataFrame
    fits: Sequence[LanguageFit]
    surrogate: Surrogate
    record: BoardRecord


def _assemble(parts: _Parts, records: JudgingRecords, examples: pd.DataFrame) -> Board:
    fits, surrogate = parts.fits, parts.surrogate
    intervals = language_intervals(fits)
    predicted = surrogate.predict(parts.X)
    looks = _looks(parts)
    by: RatedBy = "surrogate" if parts.record.ratings == "surrogate" else "posterior"
    agreed = agreements_of(fits, predicted, parts.judged, surrogate.seed)
    unproven = () if agreed.macro.ranks_unseen or by == "surrogate" else _never_judged(parts)
    rated = [
        board_ratings(
            *(fit, predicted, parts.arena.info.systems, intervals[fit.language]),
            by,
            _standing(fit, predicted, looks, unproven),
        )
        for fit in fits
    ]
    systems = parts.arena.info.systems
    questions = parts.arena.queries["language"].value_counts().sort_index()
    unjudged = [
        unjudged_ratings(str(language), predicted, systems, int(count))
        for language, count in questions.items()
        if language not in intervals
    ]
    others = [table for table in unjudged if not table.empty]
    ratings = _stacked([*rated, *others])
    ratings = ratings.sort_values("language", kind="stable", ignore_index=True)
    diagnoses = diagnose_languages(parts.judged)
    return Board(
        features=parts.table,
        arena=_stacked(arena_table(fit.ratings, fit.language) for fit in fits),
        ratings=ratings,
        overall=overall_board(ratings),
        importances=_stacked(importances_table(fit, surrogate) for fit in fits),
        win_matrix=win_table(parts.judged.judgments),
        differences=_differences(
            [
                *(
                    (table, covariance_of_ratings(fit, table, by))
                    for fit, table in zip(fits, rated, strict=True)
                ),
                *((table, independent_covariance(table)) for table in others),
            ]
        ),
        examples=examples,
        surrogate_or_file=surrogate,
        judge_report=report_judge(
            parts.arena, parts.record.judge, diagnoses, records, parts.record.seed
        ),
        summary=summarize_board(
            parts.arena,
            parts.table,
            fits,
            surrogate,
            predicted,
            agreed,
            dict(zip(intervals, rated, strict=True)),
            intervals,
            diagnoses,
            parts.record,
        ),
    )


def _looks(parts: _Parts) -> Looks:
    """Look at everybody's answers, beside the judged systems'."""
    answers, fits = parts.arena.answers, parts.fits
    unjudged = _unjudged(answers, fits)
    questions = {fit.language: len(fit.data.questions) for fit in fits}
    judged = {fit.language: fit.data.systems for fit in fits}
    return Looks(
        look_at(answers, judged, parts.arena.queries),
        near_copies(unjudged, answers.drop(unjudged.index)),
        variances_of_coverage(parts.surrogate, _unjudged(parts.X, fits), questions),
    )


def _unjudged(rows: pd.DataFrame, fits: Sequence[LanguageFit]) -> pd.DataFrame:
    """Keep the rows of systems without verdicts in their language."""
    judged = {(fit.language, system) for fit in fits for system in fit.data.systems}
    keys = zip(rows["language"], rows["system"], strict=True)
    return rows[np.array([key not in judged for key in keys], np.bool_)]


def _standing(
    fit: LanguageFit, predicted: pd.DataFrame, looks: Looks, unproven: Sequence[str]
) -> Standing:
    own = predicted[predicted["language"] == fit.language]
    answers = dict(zip(own["system"], own["answers"].astype(int), strict=True))
    found = looks.standing(fit.language, answers, len(fit.data.questions))
    return found.without_proof(unproven, UNPROVEN)


def _never_judged(parts: _Parts) -> list[str]:
    """Return the systems without a verdict in any language."""
    judged = {system for fit in parts.fits for system in fit.data.systems}
    return [system for system in parts.arena.info.systems if system not in judged]


def _differences(rated: Iterable[tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """Tell how far systems are apart, from each language's ratings and their covariance."""
    parts = [
        difference_table(known.set_index("system")["rating"], covariance, str(language))
        for table, covariance in rated
        for language, known in table[table["rating"].notna()].groupby("language")
    ]
    empty = tables.DIFFERENCES.empty()
    stacked = _stacked([table for table in parts if not table.empty] or [empty])
    return stacked.sort_values("language", kind="stable", ignore_index=True)


def _stacked(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(list(tables), ignore_index=True)
