"""Summing up a board: agreement, holdout scores, counts of what was skipped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.answer_digests import outdated_remark
from arena.data.arena import Arena
from arena.data.published import published_remarks
from arena.data.types import Floats
from arena.data.wording import Remark
from arena.quality.judge_report import JudgeLabel
from arena.rating.ratings import both_bad_remarks, copies_remark
from arena.rating.tournaments import TOURNAMENTS_REGULARIZED
from arena.statistics.agreement import Agreement, macro_agreement, tau_interval
from arena.statistics.significance import finite_means
from surrogate.board.intervals import unseen_intervals
from surrogate.board.language_study import LanguageStudy, arena_agreement
from surrogate.board.settings import ResolvedSettings
from surrogate.board.summary import (
    BoardSummary,
    LanguageSummary,
    MacroSummary,
    RatingInterval,
    fingerprint,
    plural_part,
)
from surrogate.checks.copies import same_answer_remarks
from surrogate.learning.observations import observe
from surrogate.learning.outcomes import resample_outcomes
from surrogate.learning.replication import Replication
from surrogate.learning.training_data import training_ratings

if TYPE_CHECKING:
    from surrogate.board.judged_board import Learned

NO_JUDGMENTS = Remark("judgments", "error", "no judgments here: nothing to learn from")
BORROWED = Remark(
    "judgments",
    "warning",
    "no judgments here: systems are rated by what verdicts elsewhere show about answers, and "
    "nothing here says how well; judge some questions",
)
BORROWING = (
    "{} judged systems here: all are rated by the verdicts on them and by what those elsewhere "
    "show about answers; judge more systems"
)
PUBLISHED = Remark(
    "published",
    "info",
    "ratings are published, not made from judgments: who won against whom is not known",
)


def summarize_board(learned: Learned, label: JudgeLabel | None) -> BoardSummary:
    """Sum up a board, with its judge's label."""
    arena = learned.arena
    studies = learned.studies
    agreements = {study.language: arena_agreement(study, learned.predictions) for study in studies}
    unseen = [study.unseen for study in studies]
    resampled_taus = resample_outcomes(unseen, learned.surrogate.seed)
    intervals = unseen_intervals(unseen)
    on_answers = remarks_on_answers(learned.judged)
    languages = {}
    for study in studies:
        language = study.language
        languages[language] = _language_summary(
            learned,
            study,
            agreements[language],
            resampled_taus[language],
            intervals[language],
            on_answers.get(language, []),
        )
    judged = list(languages.values())
    for language in sorted(set(arena.queries["language"]) - set(languages)):
        languages[language] = _unjudged_summary(learned, language, on_answers.get(language, []))
    macro = _macro_summary(
        learned, list(agreements.values()), list(resampled_taus.values()), judged
    ).model_copy(update={"judge": label})
    return summary_of(arena, learned.settings, macro, languages)


def _language_summary(
    learned: Learned,
    study: LanguageStudy,
    in_sample: Agreement,
    resampled_taus: Floats,
    interval: RatingInterval,
    on_answers: Sequence[Remark],
) -> LanguageSummary:
    language = study.language
    tournaments = study.data.tournaments
    n_judged_questions = len(tournaments.battles.questions)
    remarks = [
        *on_answers,
        *_training_remarks(study),
        *_verdict_remarks(learned, study),
        *unused_features(learned.surrogate.left_out_.get(language, {})),
    ]
    return LanguageSummary(
        **_agreement_values(in_sample, resampled_taus, [study], learned.halves.of(language)),
        tau_unseen=study.unseen.tau,
        is_untested=interval.is_by_other_arenas,
        r2_unseen=study.unseen.explained,
        coverage_unseen=study.unseen.coverage,
        interval=interval,
        systems_judged=len(study.data.systems),
        questions=question_count(learned.arena, language),
        questions_judged=n_judged_questions,
        judgments=tournaments.battles.judged,
        dropped_ties=tournaments.dropped_ties,
        remarks=tuple(remarks),
    )


def _unjudged_summary(
    learned: Learned, language: str, on_answers: Sequence[Remark]
) -> LanguageSummary:
    is_rated = learned.predictions_in(language)["rating"].notna().any()
    return LanguageSummary(
        questions=question_count(learned.arena, language),
        remarks=(*on_answers, BORROWED if is_rated else NO_JUDGMENTS),
    )


def _macro_summary(
    learned: Learned,
    agreements: Sequence[Agreement],
    resampled_taus: Sequence[Floats],
    languages: Sequence[LanguageSummary],
) -> MacroSummary:
    in_sample = macro_agreement(list(agreements))
    # Resamples hold the same systems in every language, so that means over languages are theirs.
    mean_resampled_taus = finite_means(np.array(resampled_taus))
    mean = ""
    if len(languages) > 1:
        mean = f"mean over {len(languages)} {plural_part(learned.settings.by)}"
    return MacroSummary(
        **_agreement_values(in_sample, mean_resampled_taus, learned.studies, learned.halves),
        tau_unseen=_mean(language.tau_unseen for language in languages),
        is_untested=any(language.is_untested for language in languages),
        r2_unseen=_mean(language.r2_unseen for language in languages),
        coverage_unseen=_mean(language.coverage_unseen for language in languages),
        worth=_worth_in_verdicts(learned.studies),
        mean=mean,
    )


def _agreement_values(
    in_sample: Agreement,
    resampled_taus: Floats,
    studies: Sequence[LanguageStudy],
    halves: Replication,
) -> dict[str, Any]:
    n_systems = _rated_unseen(studies)
    unseen_low, unseen_high = tau_interval(resampled_taus, n_systems)
    replication = halves.summary()
    return {
        "systems_compared": n_systems,
        "tau": in_sample.tau,
        "tau_low": in_sample.interval[0],
        "tau_high": in_sample.interval[1],
        "tau_unseen_low": unseen_low,
        "tau_unseen_high": unseen_high,
        "split_half": replication["tau"],
        "split_half_verdicts": replication["tau_verdicts"],
        "gain_low": replication["gain_low"],
        "gain_high": replication["gain_high"],
    }


def _rated_unseen(studies: Sequence[LanguageStudy]) -> int:
    unseen = pd.concat([study.unseen_ratings for study in studies])
    return int(unseen.loc[unseen["rating"].notna(), "system"].nunique())


def summary_of(
    arena: Arena,
    settings: ResolvedSettings,
    macro: MacroSummary,
    languages: Mapping[str, LanguageSummary],
) -> BoardSummary:
    """Return a board's summary, with what reproduces it."""
    return BoardSummary(
        arena=arena.info.name,
        fingerprint=fingerprint(arena),
        settings=settings,
        macro=macro,
        languages=dict(sorted(languages.items())),
    )


def question_count(arena: Arena, language: str) -> int:
    """Count the questions of a language."""
    return int((arena.queries["language"] == language).sum())


def unused_features(left_out: Mapping[str, str]) -> Iterator[Remark]:
    """Say which features tell nothing here, and why."""
    features: dict[str, list[str]] = {}
    for feature, reason in left_out.items():
        features.setdefault(reason, []).append(feature)
    for reason, names in features.items():
        sentence = f"features not used: {', '.join(names)}: {reason}"
        yield Remark("features", "info", sentence, statistic=len(names))


def _mean(values: Iterable[float | None]) -> float:
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else float("nan")


def _worth_in_verdicts(studies: Sequence[LanguageStudy]) -> float:
    """Return the n at which a rating's variance, falling as 1/n, is predictions' squared error."""
    with_verdicts = [study for study in studies if len(study.data.judgments)]
    ratings = {study.language: study.data.tournaments for study in with_verdicts}
    observations = observe(training_ratings(ratings))
    information = 0.0
    squared_error = 0.0
    for study in with_verdicts:
        if study.language not in observations:
            continue
        residuals = study.unseen.predicted - study.unseen.arena_ratings
        residuals = residuals[np.isfinite(residuals)]
        if not residuals.size:
            continue
        sampling_variance = float(np.diag(observations[study.language].noise).mean())
        n_verdicts = 2 * study.data.tournaments.battles.judged  # each is on two systems
        information += sampling_variance * n_verdicts / len(study.data.systems)
        # The arena's ratings have errors of their own, which are not the surrogate's.
        prediction_variance = float((residuals**2).mean()) - sampling_variance
        squared_error += max(prediction_variance, sampling_variance)
    return information / squared_error if squared_error else float("nan")


def _training_remarks(study: LanguageStudy) -> Iterator[Remark]:
    tournaments = study.data.tournaments
    if tournaments.regularized:
        sentence = TOURNAMENTS_REGULARIZED.format(tournaments.regularized, len(tournaments.draws))
        yield Remark("tournaments", "info", sentence)
    if study.failure:
        yield Remark("surrogate", "error", study.failure)
        return
    if study.borrows:
        yield Remark("judgments", "warning", BORROWING.format(len(study.data.systems)))
    if np.isfinite(study.unseen.tau):
        for reason in study.unseen.reasons:
            yield Remark("surrogate", "warning", reason)


def _verdict_remarks(learned: Learned, study: LanguageStudy) -> Iterator[Remark]:
    judgments = learned.judged.judgments
    judgments = judgments[judgments["language"] == study.language]
    if judgments.empty:
        yield from _remarks_on_published(study, learned.arena, learned.settings.judge)
        return
    n_copies = study.data.tournaments.battles.n_copies
    if n_copies:
        yield copies_remark(n_copies)
    yield from both_bad_remarks(judgments)


def _remarks_on_published(study: LanguageStudy, arena: Arena, judge: str) -> Iterator[Remark]:
    yield PUBLISHED
    yield from study.ratings.remarks
    published = arena.published_ratings
    is_own = (published["judge"] == judge) & (published["language"] == study.language)
    for remark in published_remarks(replace(arena, published_ratings=published[is_own])):
        if remark.is_warning:
            yield replace(remark, subject="")


def remarks_on_answers(arena: Arena) -> dict[str, list[Remark]]:
    """Count verdicts on edited answers and name copies, by language."""
    remarks: dict[str, list[Remark]] = {}
    for language, outdated in arena.outdated.groupby("language"):
        remarks.setdefault(str(language), []).append(outdated_remark(len(outdated)))
    for remark in same_answer_remarks(arena):
        language, _, system = remark.subject.partition(", ")
        subject = f"answers of {system}" if system else ""
        remarks.setdefault(language, []).append(replace(remark, subject=subject))
    return remarks
