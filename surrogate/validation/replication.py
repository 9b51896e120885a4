"""How well ratings replicate: half of the questions against the other half, by number judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import pandas as pd
from sklearn.base import BaseEstimator

from arena.data.arena import Arena
from arena.data.errors import UsageError
from surrogate.learning.names import DEFAULT_SURROGATE
from surrogate.learning.posterior.replication import FEWEST_QUESTIONS, Replication, replicate
from surrogate.learning.surrogate import Surrogate
from surrogate.validation.study import Study, StudyOptions, StudyTable

REPEATS = 10
MACRO = "macro"
MEANS = ("questions", "judgments", "tau_surrogate", "inside")
TABLE_COLUMNS = [
    *("language", "questions", "judgments", "tau", "tau_low", "tau_high"),
    *("tau_verdicts", "tau_surrogate", "gain", "gain_low", "gain_high", "inside"),
]


def replication(
    arena: Arena,
    surrogate: str | Surrogate | BaseEstimator = DEFAULT_SURROGATE,
    *,
    judged: Sequence[int | None] = (None,),
    repeats: int = REPEATS,
    **options: Unpack[StudyOptions],
) -> StudyTable:
    """Rate by the verdicts on part of the questions, and compare with the verdicts on others.

    The judged questions of every language are split in half. Systems are rated by verdicts on
    (some questions of) one half, by surrogate and verdicts together and by either alone; the
    truth is the rating by the verdicts on the other half: neither these nor the answers to their
    questions are learned from.

    Arguments that are not told here are those of ``validate``.

    Args:
        judged: Numbers of judged questions to learn from in each language; None for the half.
        repeats: How often to split.

    Returns:
        A row a number of questions and language, and the mean over languages (``macro``): mean
        numbers of ``questions`` and ``judgments`` learned from; Kendall ``tau`` with the other
        half of ratings by both, with a 95% bootstrap interval over systems; of ratings by verdicts
        or surrogate alone; the ``gain`` of both over verdicts alone, with such an interval; and the
        share of the other half's ratings inside the 90% intervals.

    Raises:
        UsageError: If no language has four judged questions.
    """
    study = Study.of(arena, surrogate, repeats, **options)
    tables = []
    for number in judged:
        found = replicate(study.languages, study.surrogate, study.repeats, number)
        if found.rows.empty:
            raise UsageError(
                f"no language has {FEWEST_QUESTIONS} judged questions, so there is nothing to halve"
            )
        tables.append(_summary(found))
    told = ",".join("half" if number is None else str(number) for number in judged)
    signature = study.signature("replication", f"judged:{told}")
    return StudyTable(pd.concat(tables, ignore_index=True), signature)


def _summary(found: Replication) -> pd.DataFrame:
    """Average over splits, language by language and over languages."""
    languages = sorted(set(found.rows["language"]))
    parts = {name: found.of(name) for name in languages}
    if len(languages) > 1:
        parts[MACRO] = found
    return pd.DataFrame([_row(name, part) for name, part in parts.items()], columns=TABLE_COLUMNS)


def _row(language: str, part: Replication) -> dict[str, object]:
    means = part.rows.groupby("language")[list(MEANS)].mean().mean()
    return {"language": language, **means.to_dict(), **part.summary()}
