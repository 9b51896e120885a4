"""What ``agreement`` says of judges beside kappa: one person's vote, biases, and records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.quality.agreement import (
    DIFFERENCE_COLUMNS,
    posteriors_by_language,
    rating_differences,
)
from arena.quality.judge_report import MetaEvaluation
from arena.quality.people_agreement import KAPPA, agreement_among_people
from arena.statistics.significance import NORMAL_95

ONE_VOTE = ["judge", "items", "kappa", "kappa_of_people", "difference", "low", "high"]


def agreement_with_one_vote(judgments: pd.DataFrame, people: Sequence[str]) -> pd.DataFrame:
    """Compare judges with one person's vote, and people with each other, on the same pairs.

    A judge that reaches people's kappa agrees with them as well as they do with each other.

    Returns:
        Columns ``ONE_VOTE``, a row for each other judge who shares enough pairs that several people
        judged: number of these pairs, kappa of judge and one person, kappa of two people, and the
        first less the second with its 95% interval.
    """
    is_by_people = judgments["judge"].isin(people)
    by_people = judgments[is_by_people]
    rows = []
    for judge, by_judge in judgments[~is_by_people].groupby("judge"):
        among_people = agreement_among_people(by_judge, by_people)
        if among_people is None:
            continue
        kappa = among_people.judge_kappa
        difference = kappa - among_people.kappa
        half_width = NORMAL_95 * among_people.difference_error
        bounds = (difference - half_width, difference + half_width)
        rows.append([judge, among_people.items, kappa, among_people.kappa, difference, *bounds])
    return pd.DataFrame(rows, columns=ONE_VOTE)


def agreements(kappas: pd.DataFrame, reference: str) -> tuple[list[MetaEvaluation], dict[str, str]]:
    """Return judges' agreement with a reference, such as ``people``, as meta-evaluations."""
    has_kappa = np.isfinite(kappas[["kappa", "standard_error"]]).all(axis=1)
    entries = []
    for row in kappas[has_kappa].to_dict("records"):
        entry = {
            "judge": row["judge"],
            "dataset": reference,
            "metric": KAPPA,
            "value": row["kappa"],
            "standard_error": row["standard_error"],
            "n": row["items"],
            "languages": row["languages"],
        }
        entries.append(MetaEvaluation.model_validate(entry))
    without = kappas.loc[~has_kappa, "judge"]
    return entries, dict.fromkeys(without, "no kappa with a standard error is known")


def biased_systems(judgments: pd.DataFrame, reference: Sequence[str]) -> pd.DataFrame:
    """Find the systems that a judge rates higher or lower than the reference, beyond the error.

    Returns:
        Columns ``judge, language, system, difference, low, high``; see ``rating_differences``.
    """
    is_reference = judgments["judge"].isin(reference)
    by_reference = posteriors_by_language(judgments[is_reference])
    columns = ["judge", "language", *DIFFERENCE_COLUMNS]
    parts = []
    for judge, rows in judgments[~is_reference].groupby("judge"):
        for language, posterior in posteriors_by_language(rows).items():
            if language not in by_reference:
                continue
            differences = rating_differences(posterior, by_reference[language])
            is_biased = (differences["low"] > 0) | (differences["high"] < 0)
            if is_biased.any():
                part = differences[is_biased].assign(judge=judge, language=language)
                parts.append(part[columns])
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat(parts, ignore_index=True)
