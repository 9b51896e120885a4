"""Summing up a board: agreement with the arena, holdout scores, counts of what was skipped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.arena import Arena
from arena.data.rows import plain_records
from arena.data.schema import REFERENCE
from arena.diagnostics import Diagnosis
from arena.diagnostics.bias import self_check
from arena.diagnostics.contents import same_answer_findings
from arena.diagnostics.diagnosis import published_findings
from arena.rating.tournaments import TOURNAMENTS_REGULARIZED
from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import Agreement, macro_agreement
from features.engine.columns import missing_counts
from surrogate.board.first_board import FirstRatings
from surrogate.board.language import LanguageFit, arena_agreement, holdout_r2
from surrogate.board.ratings.intervals import NO_SURROGATE, conformal_intervals, unseen_ratings
from surrogate.board.settings import BoardRecord
from surrogate.board.summary import (
    Agreements,
    BoardSummary,
    LanguageSummary,
    MacroSummary,
    RatingInterval,
    Skipped,
)
from surrogate.learning.outcomes import resample_outcomes
from surrogate.learning.posterior.replication import Replication
from surrogate.learning.surrogate import NO_VALUE, Surrogate
from surrogate.learning.training import finite_means

Floats = npt.NDArray[np.float64]

UNRELIABLE = "By its own verdicts the judge {} is unreliable: {}."
NOBODY_JUDGED = "no verdict in this arena"
RATED_WITHOUT = (
    "ratings are shares of the other systems' answers to a question that are below a system's, by "
    "{}, mean over these and questions: no logits. Intervals hold 90% over resampled questions, "
    "and say nothing of how far verdicts will differ"
)
NOTHING_AGREES = "no two answers to a question differ in what could be compared without verdicts"
NO_JUDGMENTS = "no judgments in this language: nothing to learn from"
BORROWED = (
    "no judgments in this language: systems are rated by what the verdicts in other languages tell "
    "of answers, and nothing here says how well; judge some questions"
)
BORROWING = (
    "{} judged systems in this language: all are rated by the verdicts on them and by what those "
    "in other languages tell of answers; judge more systems"
)
FEW_TO_LEAVE_OUT = "too few judged systems in this language to leave any out"
PUBLISHED = "ratings are published, not made from judgments: who won against whom is not known"
NO_IMPORTANCES = "no importances of features: forests and linear surrogates have them, not {}"


@dataclass(frozen=True)
class Agreed:
    """How far the ratings of a board agree with verdicts they have not seen.

    Attributes:
        languages: Fields of ``Agreements``, by judged language.
        macro: The means over languages.
    """

    languages: Mapping[str, Mapping[str, Any]]
    macro: MacroSummary


def agreements_of(
    fits: Sequence[LanguageFit], predicted: pd.DataFrame, judged: Arena, seed: int
) -> Agreed:
    """Find how far ratings agree with verdicts they have not seen, and whether these can be used.

    Args:
        fits: What was trained, one a judged language.
        predicted: What the surrogate predicts, of all languages.
        judged: The arena with the judgments of the board's judge.
        seed: Seed of the bootstrap.
    """
    agreements = {fit.language: arena_agreement(fit, predicted) for fit in fits}
    resampled = resample_outcomes([fit.unseen for fit in fits], seed)
    found: dict[str, dict[str, Any]] = {}
    for fit in fits:
        agreed = agreements[fit.language]
        low, high = agreed.interval
        found[fit.language] = {
            "tau": agreed.tau,
            "tau_low": low,
            "tau_high": high,
            "tau_unseen": fit.unseen.tau,
            **_bounds("tau_unseen", resampled[fit.language]),
            **_halves(fit.halves),
            "holdout_r2": holdout_r2(fit),
        }
    own = [Agreements(**item) for item in found.values()]
    macro = _macro(list(agreements.values()), own, resampled, fits)
    return Agreed(found, macro.model_copy(update={"judging": _unreliable(judged)}))


def _unreliable(judged: Arena) -> str:
    """Say why the judge is unreliable by its own verdicts; nothing where it is not."""
    if judged.judgments.empty:
        return ""
    checked = self_check(judged.judgments)
    if checked.grade != "unreliable":
        return ""
    return UNRELIABLE.format(judged.judges[0], "; ".join(checked.faults))


def summarize_board(
    arena: Arena,
    table: pd.DataFrame,
    fits: Sequence[LanguageFit],
    surrogate: Surrogate,
    predicted: pd.DataFrame,
    agreed: Agreed,
    ratings: Mapping[str, pd.DataFrame],
    intervals: Mapping[str, RatingInterval],
    diagnoses: Mapping[str, Diagnosis],
    settings: BoardRecord,
) -> BoardSummary:
    """Sum up a board.

    Args:
        arena: The arena.
        table: Feature table.
        fits: What was trained, one a judged language.
        surrogate: The fitted surrogate.
        predicted: What the surrogate predicts, of all languages.
        agreed: How far ratings agree with verdicts they have not seen.
        ratings: Ratings by judged language.
        intervals: How wide a rating's interval is, by judged language.
        diagnoses: What is wrong with the judgments, by judged language.
        settings: What reproduces the board.
    """
    missing = missing_counts(table)
    suspect = _suspect_answers(arena)
    languages = {}
    for fit in fits:
        code, rated, data = fit.language, ratings[fit.language], fit.data
        languages[code] = LanguageSummary(
            **agreed.languages[code],
            holdout=fit.holdout,
            interval=intervals[code],
            systems=int((rated["answers"] > 0).sum()),
            systems_judged=len(data.systems),
            questions=len(data.questions),
            questions_judged=len(data.tournaments.battles.questions),
            questions_per_tournament=data.tournaments.questions_per_tournament,
            judgments=len(data.judgments),
            skipped=_skipped(fit, surrogate, rated, missing[missing["language"] == code]),
            notes=(
                *suspect.get(code, ()),
                *_training_notes(fit, surrogate),
                *(
                    _limits(diagnoses[code])
                    if code in diagnoses
                    else _published_notes(fit, arena, settings.judge)
                ),
            ),
        )
    for language in sorted(set(arena.queries["language"]) - set(languages)):
        languages[language] = _unjudged_language(arena, language, predicted)
    return BoardSummary(
        arena=arena.info.name,
        fingerprint=fingerprint(arena),
        settings=settings,
        macro=agreed.macro,
        languages=dict(sorted(languages.items())),
    )


def summarize_first_board(
    arena: Arena,
    table: pd.DataFrame,
    found: Mapping[str, FirstRatings],
    settings: BoardRecord,
) -> BoardSummary:
    """Sum up a board without verdicts; arguments as of ``summarize_board``.

    Args:
        arena: The arena.
        table: Feature table.
        found: Ratings without verdicts, by language.
        settings: What reproduces the board.
    """
    missing = missing_counts(table)
    suspect = _suspect_answers(arena)
    languages = {}
    for code, first in found.items():
        rows = first.table
        unranked = rows[rows["rank"].isna()]
        questions = int((arena.queries["language"] == code).sum())
        languages[code] = LanguageSummary(
            is_first=True,
            interval=RatingInterval(reason=NOBODY_JUDGED),
            systems=int((rows["answers"] > 0).sum()),
            systems_judged=0,
            questions=questions,
            questions_judged=0,
            judgments=0,
            skipped=Skipped(
                questions_without_judgments=questions,
                missing_answers=int(len(rows) * questions - rows["answers"].sum()),
                missing_feature_values=_missing_values(missing[missing["language"] == code]),
                features_left_out=dict(first.left_out),
                systems_unranked=dict(zip(unranked["system"], unranked["note"], strict=True)),
                systems_unrated=dict.fromkeys(rows["system"], NOBODY_JUDGED),
            ),
            notes=(
                *suspect.get(code, ()),
                RATED_WITHOUT.format(", ".join(first.used)) if first.used else NOTHING_AGREES,
            ),
        )
    macro = MacroSummary(is_first=True, languages=0, holdout_r2_mean=None, holdout_r2_median=None)
    return BoardSummary(
        arena=arena.info.name,
        fingerprint=fingerprint(arena),
        settings=settings,
        macro=macro,
        languages=languages,
    )


def _bounds(name: str, replicates: Floats) -> dict[str, Any]:
    low, high = percentile_interval(replicates)
    return {f"{name}_low": low, f"{name}_high": high}


def _halves(halves: Replication) -> dict[str, Any]:
    """Average over splits, and bound by how much ratings gain on those by verdicts alone."""
    found = halves.summary()
    own = {name: found[name] for name in ("gain", "gain_low", "gain_high")}
    return {"split_half": found["tau"], "split_half_verdicts": found["tau_verdicts"], **own}


def language_intervals(fits: Sequence[LanguageFit]) -> dict[str, RatingInterval]:
    """Find how wide the interval of a rating is in every judged language."""
    unseen = [fit.unseen for fit in fits]
    intervals = conformal_intervals(unseen_ratings(unseen))
    for name in [fit.language for fit in fits if fit.borrows]:
        if intervals[name].reason == NO_SURROGATE:
            intervals[name] = intervals[name].model_copy(update={"reason": FEW_TO_LEAVE_OUT})
    return intervals


def _training_notes(fit: LanguageFit, surrogate: Surrogate) -> Iterator[str]:
    tournaments = fit.data.tournaments
    if tournaments.regularized:
        yield TOURNAMENTS_REGULARIZED.format(tournaments.regularized, len(tournaments.draws))
    if fit.failure:
        yield fit.failure
        return
    if fit.borrows:
        yield BORROWING.format(len(fit.data.systems))
    if np.isfinite(fit.unseen.tau):
        yield from fit.unseen.reasons
    shares = surrogate.importances()
    if shares.loc[shares["language"] == fit.language, "importance"].isna().all():
        yield NO_IMPORTANCES.format(surrogate.name)


def _skipped(
    fit: LanguageFit, surrogate: Surrogate, ratings: pd.DataFrame, missing: pd.DataFrame
) -> Skipped:
    data = fit.data
    unranked = ratings[ratings["rank"].isna() & (ratings["note"] != "")]
    rated = fit.ratings.table
    unrated = rated[rated["rating"].isna()]
    return Skipped(
        questions_without_judgments=len(data.questions) - len(data.tournaments.battles.questions),
        missing_answers=int(len(ratings) * len(data.questions) - ratings["answers"].sum()),
        missing_feature_values=_missing_values(missing),
        features_left_out=_left_out(surrogate.left_out_.get(fit.language, {}), missing),
        systems_unranked=dict(zip(unranked["system"], unranked["note"], strict=True)),
        systems_unrated=dict(zip(unrated["system"], unrated["note"], strict=True)),
        dropped_ties=data.tournaments.dropped_ties,
    )


def _left_out(features: Mapping[str, str], missing: pd.DataFrame) -> dict[str, str]:
    """Say of features without any value why their answers have none."""
    reasons = missing.groupby("feature")["reason"].agg(lambda own: " or ".join(sorted(set(own))))
    return {
        name: reasons.get(name, why) if why == NO_VALUE else why for name, why in features.items()
    }


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


def _published_notes(fit: LanguageFit, arena: Arena, judge: str) -> Iterator[str]:
    """Say what limits published ratings, and which do not belong to answers."""
    yield PUBLISHED
    yield from fit.ratings.notes
    published = arena.published_ratings
    own = published[(published["judge"] == judge) & (published["language"] == fit.language)]
    findings = published_findings(replace(arena, published_ratings=own))
    yield from (item.sentence for item in findings if item.severity != "info")


def _suspect_answers(arena: Arena) -> dict[str, list[str]]:
    """Say, by language, whose answers repeat the question, each other or another system's."""
    said: dict[str, list[str]] = {}
    for finding in same_answer_findings(arena):
        language, _, system = finding.subject.partition(", ")
        sentence = f"{system}: {finding.sentence}" if system else finding.sentence
        said.setdefault(language, []).append(sentence)
    return said


def _unjudged_language(arena: Arena, language: str, predicted: pd.DataFrame) -> LanguageSummary:
    is_rated = predicted.loc[predicted["language"] == language, "rating"].notna().any()
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
        notes=(BORROWED if is_rated else NO_JUDGMENTS,),
    )


def _macro(
    agreements: Sequence[Agreement],
    languages: Sequence[Agreements],
    resampled: Mapping[str, Floats],
    fits: Sequence[LanguageFit],
) -> MacroSummary:
    overall = macro_agreement(agreements)
    low, high = overall.interval
    return MacroSummary(
        languages=sum(np.isfinite(item.tau) for item in agreements),
        tau=overall.tau,
        tau_low=low,
        tau_high=high,
        tau_unseen=_mean(item.tau_unseen for item in languages),
        **_bounds("tau_unseen", finite_means(np.array(list(resampled.values())))),
        **_halves(Replication.of_all([fit.halves for fit in fits])),
        holdout_r2_mean=_mean(holdout_r2(fit).mean for fit in fits),
        holdout_r2_median=_mean(holdout_r2(fit).median for fit in fits),
    )


def _mean(values: object) -> float:
    defined = [value for value in values if value is not None]  # type: ignore[attr-defined]
    return float(np.mean(defined)) if defined else float("nan")


def fingerprint(arena: Arena) -> str:
    """Digest an arena's questions, passages and reference answers.

    Returns:
        The same 16 hexadecimal digits whatever the order of rows.
    """
    reference = arena.answers[arena.answers["system"] == arena.info.reference_system]
    digest = hashlib.sha256(repr(arena.info.reference_system).encode())
    for table in (arena.queries, reference):
        for line in sorted(_lines(table)):
            digest.update(line.encode())
    return digest.hexdigest()[:16]


def _lines(table: pd.DataFrame) -> list[str]:
    columns = sorted(
        set(table.columns) & {"language", "query_id", "query", "passages", REFERENCE, "answer"}
    )
    records = plain_records(table[columns])  # what is not there is no content, column or none
    told = [{name: value for name, value in row.items() if value is not None} for row in records]
    return [json.dumps(record, sort_keys=True, ensure_ascii=True) for record in told]
