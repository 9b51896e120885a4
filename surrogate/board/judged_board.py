"""Ratings by verdicts and surrogate in all languages of an arena, and by each judge alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd

from arena.data.answer_digests import outdated_sentence
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.types import Progress, finish
from arena.data.wording import Remark, count_of
from arena.quality.agreement import rating_differences
from arena.quality.judge_label import report_judge
from arena.quality.preferences import equal_length_ratings
from arena.rating.posterior import RatingPosterior
from arena.statistics.agreement import kendall_tau
from surrogate.board.estimation import Estimation, Rated, arena_table, joint_covariance, stacked
from surrogate.board.language_study import (
    importances_table,
    unconnected_remarks,
)
from surrogate.board.learned import Learned, tournament_settings
from surrogate.board.rating_rows import rows_with_verdicts, rows_without_verdicts
from surrogate.board.summary import BoardSummary
from surrogate.board.summary_builder import summarize_board
from surrogate.board.tables import BY_JUDGE
from surrogate.checks.status import CONTRADICTED, joined_texts, without_ranks
from surrogate.learning.language_data import (
    LanguageData,
    language_data,
    others_of,
)
from surrogate.learning.observations import JointPosterior
from surrogate.learning.ratings import NOTHING_EXPECTED, posterior_ratings
from surrogate.learning.surrogate import FEWEST_SYSTEMS, Surrogate, reseeded
from surrogate.learning.training import training_ratings


def comparable_judges(
    arena: Arena, judges: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Remark, ...]]:
    """Leave out other judges who judged too few systems to compare.

    Returns:
        The judges that stay; and a remark on each other one.
    """
    compared = list(judges[:1])
    omissions = []
    for name in judges[1:]:
        judged = arena.judged_by(name)
        n_systems = len(judged.rated_systems)
        if n_systems >= FEWEST_SYSTEMS:
            compared.append(name)
            continue
        verdicts = count_of(len(judged.judgments), "verdict")
        sentence = (
            f"{name} is left out: {verdicts} on {count_of(n_systems, 'system')} of "
            f"{FEWEST_SYSTEMS} needed."
        )
        omissions.append(Remark("judges", "warning", sentence))
    return tuple(compared), tuple(omissions)


def _alone_ratings(
    data: Sequence[LanguageData], surrogate: Surrogate
) -> Mapping[str, RatingPosterior]:
    """Rate by one judge's verdicts and a surrogate, which learns from them unless it has."""
    ratings = training_ratings({part.language: part.tournaments for part in data})
    if not hasattr(surrogate, "ratings_"):
        with suppress(UsageError):  # too few systems to learn from: by the verdicts alone
            surrogate.fit(pd.concat([part.X for part in data]), ratings)
    judged = pd.concat([part.X[part.X["system"].isin(part.systems)] for part in data])
    return posterior_ratings(surrogate, ratings, NOTHING_EXPECTED, judged).by_language()


def _side_by_side(
    by_judge: Mapping[str, Mapping[str, RatingPosterior]], slopes: Mapping[str, float]
) -> tuple[pd.DataFrame, tuple[Remark, ...]]:
    """Arrange the ratings by each judge alone, and compare the others with the first.

    Args:
        by_judge: Ratings by judge, the reference first, and by language.
        slopes: How each other judge's ratings predict the reference's, see ``OtherJudges``.

    Returns:
        A column for each judge, by language and system; and sentences: how well each judge agrees
        with the first, whom it rates otherwise, and whether its verdicts are of use.
    """
    table = _judge_columns(by_judge)
    reference, *other_judges = by_judge
    taus = {judge: _mean_tau(table, reference, judge) for judge in other_judges}
    sentences = []
    if len(taus) > 1:
        listed = ", ".join(f"{judge} {tau:.2f}" for judge, tau in taus.items())
        sentences.append(f"Tau with {reference}: {listed}.")
    for judge, tau in taus.items():
        remarks = _bias_remarks(by_judge[judge], by_judge[reference], reference)
        if not slopes.get(judge):
            remarks.append("adds nothing, for its verdicts are not shown to go along")
        if len(taus) == 1:
            remarks.insert(0, f"tau {tau:.2f} with {reference}")
        if remarks:
            sentences.append(f"{judge}: {'; '.join(remarks)}.")
    return table, tuple(Remark("judges", "info", sentence) for sentence in sentences)


def _mean_tau(table: pd.DataFrame, reference: str, judge: str) -> float:
    taus = []
    for _, rows in table[[f"{BY_JUDGE}{reference}", f"{BY_JUDGE}{judge}"]].groupby("language"):
        first, second = rows.to_numpy(np.float64).T
        taus.append(kendall_tau(first, second))
    return float(np.nanmean(taus))


def _judge_columns(by_judge: Mapping[str, Mapping[str, RatingPosterior]]) -> pd.DataFrame:
    columns = {}
    for judge, posteriors in by_judge.items():
        parts = {}
        for language, posterior in posteriors.items():
            parts[language] = pd.Series(posterior.ratings, list(posterior.systems))
        columns[f"{BY_JUDGE}{judge}"] = pd.concat(parts)
    return pd.DataFrame(columns).rename_axis(["language", "system"])


def _bias_remarks(
    posteriors: Mapping[str, RatingPosterior],
    reference_posteriors: Mapping[str, RatingPosterior],
    reference: str,
) -> list[str]:
    parts = []
    for language, posterior in posteriors.items():
        if language in reference_posteriors:
            parts.append(rating_differences(posterior, reference_posteriors[language]))
    differences = pd.concat(parts)
    remarks = []
    for direction, is_biased in (
        ("higher", differences["low"] > 0),
        ("lower", differences["high"] < 0),
    ):
        systems = differences.loc[is_biased, "system"].unique()
        if len(systems):
            remarks.append(f"rates {', '.join(systems)} {direction} than {reference}")
    return remarks


def estimate_by_verdicts(
    learned: Learned, further_remarks: Sequence[Remark], progress: Progress | None
) -> Estimation:
    """Rate systems by verdicts and surrogate, and sum up."""
    report = report_judge(learned.arena, learned.settings.judge, learned.judging_records)
    summary = summarize_board(learned, report.label)
    finish(progress, "summary")
    rated = _rated_languages(learned, summary)
    equal = equal_length_ratings(learned.judged, learned.settings.ties)
    arena_ratings = stacked(
        [arena_table(study.ratings, study.language, equal.moves) for study in learned.studies]
    )
    is_one_sided = summary.macro.is_one_sided
    if is_one_sided:
        # Verdicts that are all the same tell no ranks and no errors.
        rated = [(without_ranks(rows), covariance * np.nan) for rows, covariance in rated]
        arena_ratings = without_ranks(arena_ratings)
        equal = replace(equal, remarks=())
    by_judge, remarks = _ratings_by_judge(learned)
    if by_judge is not None:
        keys = ["language", "system"]
        rated = [(rows.join(by_judge, on=keys), covariance) for rows, covariance in rated]
    summary = _with_remarks(
        summary,
        *unconnected_remarks(learned.studies),
        *_edited_remarks(learned.judged),
        *remarks,
        *further_remarks,
        *equal.remarks,
    )
    return Estimation(
        rated=rated,
        judgments=learned.judged.judgments,
        report=report,
        summary=summary,
        surrogate=learned.surrogate,
        covariance=_joint_covariance(learned, rated),
        arena_ratings=arena_ratings,
        importances=_importances(learned),
    )


def _with_remarks(summary: BoardSummary, *remarks: Remark) -> BoardSummary:
    macro = summary.macro.model_copy(update={"remarks": remarks})
    return summary.model_copy(update={"macro": macro})


def _edited_remarks(judged: Arena) -> list[Remark]:
    n_outdated = len(judged.outdated)
    if not n_outdated:
        return []
    sentence = f"{outdated_sentence(n_outdated).capitalize()}."
    return [Remark("edited answers", "warning", sentence)]


def _rated_languages(learned: Learned, summary: BoardSummary) -> list[Rated]:
    """Rate all systems in every language, by name of the language.

    Where the surrogate is not shown to work, systems without any verdict have no rank.
    """
    systems = learned.arena.info.systems
    n_questions = learned.arena.queries["language"].value_counts()
    studies = {study.language: study for study in learned.studies}
    status = learned.system_status()
    rated = []
    for language in sorted(n_questions.index):
        unproven: set[str] = set()
        if not summary.ranks_unseen_in(language):
            unproven = set(systems) - learned.judged_systems
        predictions = learned.predictions_in(language)
        study = studies.get(language)
        if study is None:
            rows = rows_without_verdicts(
                language,
                predictions,
                systems,
                int(n_questions[language]),
                unproven,
                learned.settings.unjudged,
            )
        else:
            is_here = status.index.get_level_values("language") == language
            of_language = status[is_here].droplevel("language")
            interval = summary.languages[language].interval
            rows = rows_with_verdicts(
                study,
                predictions,
                systems,
                interval,
                of_language,
                unproven,
                learned.settings.unjudged,
            )
        rated.append((_with_contradictions(rows[0], learned.posteriors), rows[1]))
    return rated


def _with_contradictions(rows: pd.DataFrame, posteriors: JointPosterior) -> pd.DataFrame:
    keys = pd.MultiIndex.from_frame(rows[["language", "system"]])
    is_contradicted = keys.isin(posteriors.contradicted)
    reasons = pd.Series(np.where(is_contradicted, CONTRADICTED, ""), rows.index)
    return rows.assign(note=joined_texts(reasons, rows["note"].fillna("")))


def _ratings_by_judge(learned: Learned) -> tuple[pd.DataFrame | None, tuple[Remark, ...]]:
    data = [study.data for study in learned.studies]
    learned_from_others = others_of(data)
    if learned_from_others is None:
        return None, ()
    settings = learned.settings
    by_judge = {settings.judge: _alone_ratings(data, learned.surrogate)}
    for name in settings.other_judges:
        judged = learned.arena.judged_by(name)
        judged_data = language_data(judged, learned.X, tournament_settings(settings))
        untrained = reseeded(learned.surrogate, learned.surrogate.seed)
        by_judge[name] = _alone_ratings(judged_data, untrained)
    return _side_by_side(by_judge, learned_from_others.slopes)


def _joint_covariance(learned: Learned, rated: Sequence[Rated]) -> pd.DataFrame:
    by_language = {}
    for rows, covariance in rated:
        if not rows.empty:
            by_language[str(rows["language"].iloc[0])] = covariance
    across = None
    if learned.settings.ratings == "posterior":
        across = learned.posteriors.covariance_table()
    return joint_covariance(by_language, across)


def _importances(learned: Learned) -> pd.DataFrame:
    surrogate = learned.surrogate
    importances = surrogate.importances()
    return stacked(
        [importances_table(study, importances, surrogate.features_) for study in learned.studies]
    )
