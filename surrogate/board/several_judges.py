"""Several judges on one board: the ratings by each alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import Remark
from arena.quality.agreement import rating_differences
from arena.rating.posterior import RatingPosterior
from arena.statistics.agreement import kendall_tau
from surrogate.board.judged_board import Learned, tournament_settings
from surrogate.board.tables import BY_JUDGE
from surrogate.learning.language_data import (
    LanguageData,
    language_data,
    others_of,
)
from surrogate.learning.ratings import NOTHING_EXPECTED, posterior_ratings
from surrogate.learning.surrogate import Surrogate, reseeded
from surrogate.learning.training_data import training_ratings


def ratings_by_judge(learned: Learned) -> tuple[pd.DataFrame | None, tuple[Remark, ...]]:
    """Rate by each judge alone, and compare with the board's."""
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


def _alone_ratings(
    data: Sequence[LanguageData], surrogate: Surrogate
) -> Mapping[str, RatingPosterior]:
    ratings = training_ratings({part.language: part.tournaments for part in data})
    if not hasattr(surrogate, "ratings_"):
        with suppress(UsageError):  # too few systems to learn from: by the verdicts alone
            surrogate.fit(pd.concat([part.X for part in data]), ratings)
    judged = pd.concat([part.X[part.X["system"].isin(part.systems)] for part in data])
    return posterior_ratings(surrogate, ratings, NOTHING_EXPECTED, judged).by_language()


def _side_by_side(
    by_judge: Mapping[str, Mapping[str, RatingPosterior]], slopes: Mapping[str, float]
) -> tuple[pd.DataFrame, tuple[Remark, ...]]:
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
            remarks.append("adds nothing: its verdicts are not shown to agree")
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
