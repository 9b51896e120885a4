"""Letting judges judge sentences: one table of verdicts beside the human labels."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from arena.errors import UsageError
from arena.metaevaluation.memerag.claims import Judge, claims_of
from arena.metaevaluation.memerag.labels import JUDGED
from arena.metaevaluation.memerag.reading import SENTENCE_KEY

VERDICT_COLUMNS = [
    *("judge", "prompt", *SENTENCE_KEY),
    *("factuality", "fine_grained_factuality", "label", "failure", "was_asked"),
]


def judge_sentences(
    sentences: pd.DataFrame, judges: Sequence[Judge], limit: int | None = None
) -> pd.DataFrame:
    """Let judges judge every sentence that is not challenging to determine (section 5.1).

    Args:
        sentences: As ``read_memerag`` returns them.
        judges: Judges, each of which sees the sentences without their labels.
        limit: Judge the first so many sentences of each language only.

    Returns:
        Columns ``VERDICT_COLUMNS``, one row a judge and sentence. ``label`` is missing where
        ``failure`` says why; ``was_asked`` is False where the judge could not be reached.

    Raises:
        UsageError: If there is no judge or no sentence, two judges have the same name and prompt,
            or a judge does not return one verdict a sentence.
    """
    judged = judged_sentences(sentences, limit)
    _check_judges(judges)
    return pd.concat([_verdicts(judged, judge) for judge in judges], ignore_index=True)


def judged_sentences(sentences: pd.DataFrame, limit: int | None = None) -> pd.DataFrame:
    """Return the sentences that count: those that people could label, in their order."""
    known = sentences[sentences["factuality"].isin(JUDGED)]
    if limit is not None:
        known = known.groupby("language", sort=False).head(limit)
    if known.empty:
        raise UsageError(
            f"there is no sentence to judge; some must be labelled {' or '.join(JUDGED)}"
        )
    return known.reset_index(drop=True)


def _check_judges(judges: Sequence[Judge]) -> None:
    if not judges:
        raise UsageError("there is no judge; give one at least")
    known = [(judge.name, judge.prompt) for judge in judges]
    repeated = sorted({pair for pair in known if known.count(pair) > 1})
    if repeated:
        raise UsageError(f"the judge {repeated[0][0]} is given twice; give each once")


def _verdicts(sentences: pd.DataFrame, judge: Judge) -> pd.DataFrame:
    verdicts = list(judge.judge(claims_of(sentences)))
    if len(verdicts) != len(sentences):
        raise UsageError(
            f"the judge {judge.name} returned {len(verdicts)} verdicts for {len(sentences)} "
            "sentences; return one for each"
        )
    known = [*SENTENCE_KEY, "factuality", "fine_grained_factuality"]
    return sentences[known].assign(
        judge=judge.name,
        prompt=judge.prompt,
        label=pd.Series([each.label for each in verdicts], dtype=object),
        failure=pd.Series([each.failure for each in verdicts], dtype=object),
        was_asked=[each.was_asked for each in verdicts],
    )[VERDICT_COLUMNS]
