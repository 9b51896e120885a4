"""How well ratings replicate: half of the questions against the other half, by number judged."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from features.declare.feature import Feature
from features.measures.registry import DEFAULT_FEATURES
from surrogate.learning.cross_fitting import Progress, Repeats
from surrogate.learning.languages import TournamentSettings
from surrogate.learning.names import DEFAULT_SURROGATE, as_surrogate, described
from surrogate.learning.posterior.replication import FEWEST_QUESTIONS, Replication, replicate
from surrogate.learning.surrogate import Surrogate
from surrogate.validation.study import Study, checked_repeats, study_data

REPEATS = 10
MACRO = "macro"
MEANS = ("questions", "judgments", "tau_surrogate", "inside")
TABLE_COLUMNS = [
    *("language", "questions", "judgments", "tau", "tau_low", "tau_high"),
    *("tau_verdicts", "tau_surrogate", "gain", "gain_low", "gain_high", "inside"),
]


def replication(
    arena: Arena,
    surrogate: str | Surrogate = DEFAULT_SURROGATE,
    features: Sequence[Feature] = DEFAULT_FEATURES,
    *,
    judged: Sequence[int | None] = (None,),
    judge: str | None = None,
    feature_table: pd.DataFrame | None = None,
    repeats: int = REPEATS,
    tournaments: TournamentSettings | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Study:
    """Rate by the verdicts on part of the questions, and compare with the verdicts on others.

    The judged questions of every language are split in half. Systems are rated by verdicts on
    (some questions of) one half, by surrogate and verdicts together and by either alone; the
    truth is the rating by the verdicts on the other half: neither these nor the answers to their
    questions are learned from.

    Arguments that are not told here are those of ``validate``.

    Args:
        surrogate: One of ``surrogate.learning.names.SURROGATE_NAMES``.
        judged: Numbers of judged questions to learn from in each language; None for the half.
        repeats: How often to split.
        tournaments: The seed of everything random, and how ties count.

    Returns:
        A row a number of questions and language, and the mean over languages (``macro``): mean
        numbers of ``questions`` and ``judgments`` learned from; Kendall ``tau`` with the other
        half of ratings by both, with a 95% bootstrap interval over systems; of ratings by verdicts
        or surrogate alone; the ``gain`` of both over verdicts alone, with such an interval; and the
        share of the other half's ratings inside the 90% intervals.

    Raises:
        UsageError: If no language has four judged questions.
    """
    times, trained = checked_repeats(repeats), as_surrogate(surrogate)
    data = study_data(
        arena,
        features,
        judge=judge,
        feature_table=feature_table,
        tournaments=tournaments,
        n_jobs=n_jobs,
    )
    tables = []
    for number in judged:
        how = Repeats(times, data.settings.seed, n_jobs, progress)
        found = replicate(data.languages, trained, how, number)
        if found.rows.empty:
            raise UsageError(
                f"no language has {FEWEST_QUESTIONS} judged questions, so there is nothing to halve"
            )
        tables.append(_summary(found))
    told = ",".join("half" if number is None else str(number) for number in judged)
    signature = data.signature("replication", described(trained), times, f"judged:{told}")
    return Study(pd.concat(tables, ignore_index=True), signature)


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
