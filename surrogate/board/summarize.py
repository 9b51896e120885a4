"""Summing up a board: agreement with the arena, holdout scores, counts of what was skipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from arena.data.folder import Arena, fingerprint
from arena.diagnostics import Diagnosis, diagnose_judgments
from arena.statistics.rank_agreement import Agreement, macro_agreement
from features.engine.extraction import missing_counts
from surrogate.board.intervals import UnseenRatings, rating_intervals
from surrogate.board.language import (
    LanguageData,
    LanguageFits,
    arena_agreement,
    holdout_r2,
    unseen_agreement,
)
from surrogate.board.settings import BoardRecord
from surrogate.board.summary import (
    BoardSummary,
    LanguageSummary,
    MacroSummary,
    RatingInterval,
    Skipped,
)

NO_JUDGMENTS = "no judgments in this language: nothing to learn from"
NO_IMPORTANCES = "no importances of features: forests and linear surrogates have them, not {}"


def summarize(
    arena: Arena,
    judged: Arena,
    table: pd.DataFrame,
    data: Sequence[LanguageData],
    fits: Sequence[LanguageFits],
    ratings: Sequence[pd.DataFrame],
    intervals: Mapping[str, RatingInterval],
    diagnoses: Mapping[str, Diagnosis],
    settings: BoardRecord,
) -> BoardSummary:
    """Sum up a board.

    Args:
        arena: The arena.
        judged: The arena with the judgments of the chosen judge only.
        table: Feature table.
        data: One a judged language.
        fits: What was trained, one a judged language.
        ratings: Synthetic ratings, one a judged language.
        intervals: How wide a rating's interval is, by judged language.
        diagnoses: What is wrong with the judgments, by judged language.
        settings: What reproduces the board.
    """
    agreements = [arena_agreement(item, rated) for item, rated in zip(data, ratings, strict=True)]
    missing = missing_counts(table)
    languages = {
        item.language: _language(
            item,
            fit,
            rated,
            agreed,
            judged,
            missing,
            intervals[item.language],
            _limits(diagnoses[item.language]),
        )
        for item, fit, rated, agreed in zip(data, fits, ratings, agreements, strict=True)
    }
    for language in sorted(set(arena.queries["language"]) - set(languages)):
        languages[language] = _unjudged_language(arena, language)
    return BoardSummary(
        arena=arena.info.name,
        fingerprint=fingerprint(arena),
        settings=settings,
        macro=_macro(agreements, list(languages.values())),
        languages=dict(sorted(languages.items())),
    )


def language_intervals(
    pairs: Sequence[tuple[LanguageData, LanguageFits]],
) -> dict[str, RatingInterval]:
    """Find how wide the interval of a rating is in every judged language."""
    ratings = []
    for data, fits in pairs:
        arena = data.tournaments.mean_coefficients
        unseen = fits.final.unseen if fits.final else np.full(len(arena), np.nan)
        ratings.append(UnseenRatings(data.language, arena, unseen))
    return rating_intervals(ratings)


def language_diagnoses(judged: Arena) -> dict[str, Diagnosis]:
    """Diagnose the judgments of every language."""
    return {
        str(language): diagnose_judgments(
            judgments, judged.answers[judged.answers["language"] == language]
        )
        for language, judgments in judged.judgments.groupby("language")
    }


def _language(
    data: LanguageData,
    fits: LanguageFits,
    ratings: pd.DataFrame,
    agreed: Agreement,
    judged: Arena,
    missing: pd.DataFrame,
    interval: RatingInterval,
    limits: Sequence[str],
) -> LanguageSummary:
    low, high = agreed.interval
    unseen = unseen_agreement(data, fits.final.unseen) if fits.final else None
    answered = data.everything.answered
    return LanguageSummary(
        tau=agreed.tau,
        tau_low=low,
        tau_high=high,
        tau_unseen=unseen,
        holdout=data.holdout,
        holdout_r2=holdout_r2(fits.tournaments),
        interval=interval,
        systems=int(answered.any(axis=1).sum()),
        systems_judged=len(data.tournaments.systems),
        questions=len(data.everything.questions),
        questions_judged=len(data.tournaments.battles.questions),
        questions_per_tournament=data.tournaments.questions_per_tournament,
        judgments=int((judged.judgments["language"] == data.language).sum()),
        skipped=_skipped(data, fits, ratings, missing),
        notes=(*_training_notes(fits), *limits),
    )


def _training_notes(fits: LanguageFits) -> Iterator[str]:
    if fits.failure:
        yield fits.failure
    if fits.judge and np.isnan(list(fits.judge.importances().values())).all():
        yield NO_IMPORTANCES.format(fits.judge.recipe.learner)


def _skipped(
    data: LanguageData, fits: LanguageFits, ratings: pd.DataFrame, missing: pd.DataFrame
) -> Skipped:
    answered = data.everything.answered
    judged = len(data.tournaments.battles.questions)
    unranked = ratings[ratings["note"] != ""]
    rated = data.ratings.table
    unrated = rated[rated["rating"].isna()]
    return Skipped(
        questions_without_judgments=len(data.everything.questions) - judged,
        missing_answers=int((~answered).sum()),
        missing_feature_values=_missing_values(missing[missing["language"] == data.language]),
        features_left_out=dict(fits.judge.left_out) if fits.judge else {},
        systems_unranked=dict(zip(unranked["system"], unranked["note"], strict=True)),
        systems_unrated=dict(zip(unrated["system"], unrated["note"], strict=True)),
        dropped_ties=data.tournaments.dropped_ties,
    )


def _missing_values(missing: pd.DataFrame) -> dict[str, dict[str, int]]:
    return {
        str(feature): {
            str(reason): int(answers)
            for reason, answers in zip(rows["reason"], rows["answers"], strict=True)
        }
        for feature, rows in missing.groupby("feature")
    }


def _limits(diagnosis: Diagnosis) -> list[str]:
    """Return what a diagnosis finds wrong with a language's judgments."""
    return [item.sentence for item in diagnosis.findings if item.severity != "info"]


def _unjudged_language(arena: Arena, language: str) -> LanguageSummary:
    questions = int((arena.queries["language"] == language).sum())
    answers = arena.answers[arena.answers["language"] == language]
    return LanguageSummary(
        systems=answers["system"].nunique(),
        systems_judged=0,
        questions=questions,
        questions_judged=0,
        judgments=0,
        skipped=Skipped(
            questions_without_judgments=questions,
            missing_answers=len(arena.info.systems) * questions - len(answers),
        ),
        notes=(NO_JUDGMENTS,),
    )


def _macro(agreements: Sequence[Agreement], languages: Sequence[LanguageSummary]) -> MacroSummary:
    overall = macro_agreement(agreements)
    low, high = overall.interval
    return MacroSummary(
        languages=sum(np.isfinite(item.tau) for item in agreements),
        tau=overall.tau,
        tau_low=low,
        tau_high=high,
        tau_unseen=_mean(item.tau_unseen for item in languages),
        holdout_r2_mean=_mean(item.holdout_r2.mean for item in languages),
        holdout_r2_median=_mean(item.holdout_r2.median for item in languages),
    )


def _mean(values: object) -> float:
    defined = [value for value in values if value is not None]  # type: ignore[attr-defined]
    return float(np.mean(defined)) if defined else float("nan")
