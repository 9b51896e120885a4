"""Summing up a board: agreement with the arena, holdout scores, counts of what was skipped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.judge_names import judges_named
from arena.diagnostics import Diagnosis
from arena.diagnostics.contents import same_answer_findings
from arena.diagnostics.diagnosis import published_findings
from arena.diagnostics.judge_label import JudgeLabel, label_judge
from arena.rating.tournaments import TOURNAMENTS_REGULARIZED
from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import macro_agreement
from features.engine.columns import missing_counts
from surrogate.board.first_board import FirstRatings
from surrogate.board.intervals import conformal_intervals
from surrogate.board.judge_report import JudgingRecords, recorded_agreement
from surrogate.board.settings import BoardRecord
from surrogate.board.study import LanguageStudy, arena_agreement, holdout_r2
from surrogate.board.summary import (
    BoardSummary,
    LanguageSummary,
    MacroSummary,
    RatingInterval,
    Skipped,
    fingerprint,
)
from surrogate.learning.estimation.observations import observe
from surrogate.learning.estimation.replication import Replication
from surrogate.learning.outcomes import resample_outcomes
from surrogate.learning.surrogate import NO_VALUE, Surrogate
from surrogate.learning.training import finite_means, training_ratings

NOBODY_JUDGED = "no verdict in this arena"
RATED_WITHOUT = (
    "ratings are shares of the other systems' answers to a question that are below a system's, by "
    "{}, mean over these and questions: no logits. Intervals hold 90% over resampled questions, "
    "and say nothing of how far verdicts will differ"
)
NOTHING_AGREES = "no two answers to a question differ in what could be compared without verdicts"
NO_JUDGMENTS = "no judgments here: nothing to learn from"
BORROWED = (
    "no judgments here: systems are rated by what the verdicts elsewhere tell of answers, and "
    "nothing here says how well; judge some questions"
)
BORROWING = (
    "{} judged systems here: all are rated by the verdicts on them and by what those elsewhere "
    "tell of answers; judge more systems"
)
PUBLISHED = "ratings are published, not made from judgments: who won against whom is not known"


def summarize_board(
    arena: Arena,
    table: pd.DataFrame,
    studies: Sequence[LanguageStudy],
    surrogate: Surrogate,
    predicted: pd.DataFrame,
    diagnoses: Mapping[str, Diagnosis],
    settings: BoardRecord,
    records: JudgingRecords,
) -> BoardSummary:
    """Sum up a board.

    Args:
        arena: The arena.
        table: Feature table.
        studies: One a judged language.
        surrogate: The fitted surrogate.
        predicted: What it predicts, of all languages.
        diagnoses: By judged language.
        settings: What reproduces the board.
        records: What the arena's folder holds of its judge.
    """
    agreements = {study.language: arena_agreement(study, predicted) for study in studies}
    resampled = resample_outcomes([study.unseen for study in studies], surrogate.seed)
    intervals = conformal_intervals([study.unseen for study in studies])
    suspect, unused = _suspect_answers(arena), surrogate.left_out_
    languages = {}
    for study in studies:
        code, tournaments = study.language, study.data.tournaments
        asked = len(tournaments.battles.questions)
        limits = (
            [
                item.sentence
                for item in diagnoses[code].findings
                if item.severity != "info" or item.check == "both bad"
            ]
            if code in diagnoses
            else _published_notes(study, arena, settings.judge)
        )
        left_out = unused.get(code, {})
        languages[code] = LanguageSummary(
            tau=agreements[code].tau,
            **_bounds("tau", agreements[code].interval),
            tau_unseen=study.unseen.tau,
            **_bounds("tau_unseen", percentile_interval(resampled[code])),
            r2_unseen=study.unseen.explained,
            coverage_unseen=study.unseen.coverage,
            **_halves(study.halves),
            holdout=study.holdout,
            holdout_r2=holdout_r2(study),
            interval=intervals[code],
            systems_judged=len(study.data.systems),
            questions_judged=asked,
            judgments=len(study.data.judgments),
            notes=(*suspect.get(code, ()), *_training_notes(study), *limits),
            **_counted(arena, table, code, asked, left_out, tournaments.dropped_ties),
        )
    for code in sorted(set(arena.queries["language"]) - set(languages)):
        is_rated = predicted.loc[predicted["language"] == code, "rating"].notna().any()
        note = BORROWED if is_rated else NO_JUDGMENTS
        languages[code] = LanguageSummary(notes=(note,), **_counted(arena, table, code))
    overall = macro_agreement(list(agreements.values()))
    rated = [languages[study.language] for study in studies]
    means = finite_means(np.array(list(resampled.values())))
    macro = MacroSummary(
        judge=_judge_label(arena, settings.judge, records),
        tau=overall.tau,
        **_bounds("tau", overall.interval),
        tau_unseen=_mean(item.tau_unseen for item in rated),
        **_bounds("tau_unseen", percentile_interval(means)),
        r2_unseen=_mean(item.r2_unseen for item in rated),
        coverage_unseen=_mean(item.coverage_unseen for item in rated),
        **_halves(Replication.of_all([study.halves for study in studies])),
        holdout_r2_mean=_mean(item.holdout_r2.mean for item in rated),
        worth=_worth(studies),
    )
    return _summary(arena, settings, macro, languages)


def summarize_first_board(
    arena: Arena, table: pd.DataFrame, found: Mapping[str, FirstRatings], settings: BoardRecord
) -> BoardSummary:
    """Sum up a board without verdicts, from its ratings by language."""
    suspect = _suspect_answers(arena)
    languages = {}
    for code, first in found.items():
        said = RATED_WITHOUT.format(", ".join(first.used)) if first.used else NOTHING_AGREES
        languages[code] = LanguageSummary(
            is_first=True,
            interval=RatingInterval(reason=NOBODY_JUDGED),
            notes=(*suspect.get(code, ()), said),
            **_counted(arena, table, code, left_out=first.left_out),
        )
    return _summary(arena, settings, MacroSummary(is_first=True), languages)


def _summary(
    arena: Arena, settings: BoardRecord, macro: MacroSummary, of: Mapping[str, LanguageSummary]
) -> BoardSummary:
    return BoardSummary(
        arena=arena.info.name,
        fingerprint=fingerprint(arena),
        settings=settings,
        macro=macro,
        languages=dict(sorted(of.items())),
    )


def _counted(
    arena: Arena,
    table: pd.DataFrame,
    language: str,
    asked: int = 0,
    left_out: Mapping[str, str] = MappingProxyType({}),
    dropped_ties: int = 0,
) -> dict[str, Any]:
    """Count a language's systems and questions, and what is missing."""
    rows = table[table["language"] == language]
    questions = int((arena.queries["language"] == language).sum())
    values: dict[str, dict[str, int]] = {}
    for entry in missing_counts(rows).to_dict("records"):
        values.setdefault(entry["feature"], {})[str(entry["reason"])] = int(entry["answers"])
    skipped = Skipped(
        questions_without_judgments=questions - asked,
        missing_answers=len(arena.info.systems) * questions - len(rows),
        missing_feature_values=values,
        features_left_out={
            name: (" or ".join(sorted(values.get(name, ()))) or why) if why == NO_VALUE else why
            for name, why in left_out.items()
        },
        dropped_ties=dropped_ties,
    )
    return {"systems": rows["system"].nunique(), "questions": questions, "skipped": skipped}


def _bounds(name: str, interval: tuple[float, float]) -> dict[str, Any]:
    return {f"{name}_low": interval[0], f"{name}_high": interval[1]}


def _halves(halves: Replication) -> dict[str, Any]:
    """Average over splits, and bound by how much ratings gain on those by verdicts alone."""
    found = halves.summary()
    own = {name: found[name] for name in ("gain", "gain_low", "gain_high")}
    return {"split_half": found["tau"], "split_half_verdicts": found["tau_verdicts"], **own}


def _mean(values: Iterable[float | None]) -> float:
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else float("nan")


def _worth(studies: Sequence[LanguageStudy]) -> float:
    """Say how many verdicts on a system tell as much of it as a surrogate that has not seen it.

    The variance of a rating by verdicts alone is as one over their number: it is as many as bring
    it to the squared error of the predictions, at most as many as there are. NaN without verdicts.
    """
    judged = [item.data for item in studies if len(item.data.judgments)]
    known = observe(training_ratings({item.language: item.tournaments for item in judged}))
    told, missed = 0.0, 0.0
    for data, unseen in ((item.data, item.unseen) for item in studies if item.language in known):
        away = (unseen.predicted - unseen.truth)[np.isfinite(unseen.predicted + unseen.truth)]
        if away.size:
            noise = float(np.diag(known[data.language].noise).mean())
            told += noise * 2 * len(data.judgments) / len(data.systems)
            missed += max(float((away**2).mean()) - noise, noise)
    return told / missed if missed else float("nan")


def _judge_label(arena: Arena, judge: str, records: JudgingRecords) -> JudgeLabel | None:
    """Say what may be said of the judge; None where ratings are published."""
    names = judges_named(arena.judges, judge)
    if not arena.judgments["judge"].isin(names).any():
        return None
    people = recorded_agreement(records.metaevaluations, judge)
    return label_judge(judge, arena.judgments, arena.answers, people=people)


def _training_notes(study: LanguageStudy) -> Iterator[str]:
    tournaments = study.data.tournaments
    if tournaments.regularized:
        yield TOURNAMENTS_REGULARIZED.format(tournaments.regularized, len(tournaments.draws))
    if study.failure:
        yield study.failure
        return
    if study.borrows:
        yield BORROWING.format(len(study.data.systems))
    if np.isfinite(study.unseen.tau):
        yield from study.unseen.reasons


def _published_notes(study: LanguageStudy, arena: Arena, judge: str) -> Iterator[str]:
    """Say what limits published ratings, and which do not belong to answers."""
    yield PUBLISHED
    yield from study.ratings.notes
    published = arena.published_ratings
    own = published[(published["judge"] == judge) & (published["language"] == study.language)]
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
