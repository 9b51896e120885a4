"""Digests of answers, by which verdicts name the texts that they were given on."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd

from arena.data.schema import ANSWER_KEY, DIGESTS, QUESTION_KEY
from arena.data.types import Flags, Indices
from arena.data.wording import Remark, count_of

DIGEST_DIGITS = 16
EDITED = "an answer was edited after the verdict; judge these pairs again"
"""Why a verdict does not count whose answers have other texts now."""
_SIDES = dict(zip(("system_a", "system_b"), DIGESTS, strict=True))


def answer_digest(output: str) -> str:
    """Digest an answer without space at its edges."""
    return hashlib.sha256(output.strip().encode()).hexdigest()[:DIGEST_DIGITS]


def outdated_remark(n_judgments: int, subject: str = "") -> Remark:
    """Say how many judgments do not count, and why."""
    sentence = f"{count_of(n_judgments, 'judgment')} left out: {EDITED}"
    return Remark("edited answers", "warning", sentence, subject, n_judgments)


def with_digests(judgments: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Add ``DIGESTS`` of the judged answers to new verdicts."""
    columns = {}
    for side, column in _SIDES.items():
        columns[column] = _digests_of(judgments, side, answers)
    return judgments.assign(**columns)


def without_outdated(
    judgments: pd.DataFrame, answers: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split judgments into counting and outdated ones."""
    is_outdated = outdated_flags(judgments, answers)
    current = judgments[~is_outdated].reset_index(drop=True)
    return current, judgments[is_outdated].reset_index(drop=True)


def outdated_flags(judgments: pd.DataFrame, answers: pd.DataFrame) -> Flags:
    """Return which judgments are on an answer edited since, shape (N,)."""
    is_outdated = np.zeros(len(judgments), dtype=np.bool_)
    for side, column in _SIDES.items():
        if column not in judgments:
            continue
        has_digest = judgments[column].notna().to_numpy()
        judged = judgments[has_digest]
        present = _digests_of(judged, side, answers)
        is_other = present.notna().to_numpy() & (present != judged[column]).to_numpy()
        is_outdated[has_digest] |= is_other
    return is_outdated


def _digests_of(judgments: pd.DataFrame, side: str, answers: pd.DataFrame) -> pd.Series:
    """Return the digest of each answer on one side, None where it is absent, shape (N,)."""
    rows = _answer_rows(judgments, side, answers)
    digests: dict[int, str | None] = {-1: None}
    outputs = answers["answer"].to_numpy(object)
    for row in np.unique(rows[rows >= 0]):
        digests[int(row)] = answer_digest(outputs[row])
    return pd.Series([digests[int(row)] for row in rows], judgments.index, dtype=object)


def _answer_rows(judgments: pd.DataFrame, side: str, answers: pd.DataFrame) -> Indices:
    answer_keys = pd.MultiIndex.from_frame(answers[ANSWER_KEY].astype(object))
    keys = pd.MultiIndex.from_frame(judgments[[*QUESTION_KEY, side]].astype(object))
    return np.asarray(answer_keys.get_indexer(keys), dtype=np.intp)
