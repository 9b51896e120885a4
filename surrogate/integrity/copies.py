"""New systems whose answers are those of a known one, word for word or nearly so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from sklearn.preprocessing import normalize

from arena.data.schema import QUESTION_KEY
from surrogate.learning.gaussian_process.ngrams import hashed

NEARLY_THE_SAME = 0.9
"""Cosine of character n-grams from which two answers are one: a word in a sentence may differ."""
SHORTEST = 40
"""Characters of an answer that can be copied: shorter ones ("I do not know.") are alike anyway."""
SHARE = 0.5
"""Of a system's answers that make it a copy, when they are one other system's."""


DIGITS = 9
"""Of cosines, so that rounding errors do not say who was copied."""


@dataclass(frozen=True)
class Copy:
    """A system whose answers are those of others.

    Attributes:
        original: The other system it shares most answers with.
        share: Share of its answers that are nearly that one's, of those long enough to tell.
        share_of_any: Share that is nearly some other system's.
    """

    original: str
    share: float
    share_of_any: float

    def __str__(self) -> str:
        if self.share >= SHARE:
            return f"near-copy of {self.original}: {self.share:.0%} of its answers"
        return (
            f"{self.share_of_any:.0%} of its answers are near-copies of judged ones, "
            f"{self.share:.0%} of {self.original}'s"
        )


def near_copies(new: pd.DataFrame, known: pd.DataFrame) -> dict[tuple[str, str], Copy]:
    """Find the new systems that copy a known one, language by language.

    Args:
        new: Columns ``language, system, query_id, answer``.
        known: Likewise, of the known systems.

    Returns:
        Language and new system to the known system it shares most answers with, if half of its own
        or more are nearly those of known systems.
    """
    columns = ["language", "system", "query_id", "answer"]
    written, old = (rows.loc[rows["answer"].map(len) >= SHORTEST, columns] for rows in (new, known))
    pairs = written.assign(place=range(len(written))).merge(
        old.assign(other=range(len(old))), on=QUESTION_KEY, suffixes=("", "_known")
    )
    if pairs.empty:
        return {}
    vectors, others = _unit(written["answer"]), _unit(old["answer"])
    cosines = _cosines(vectors, others, pairs["place"].to_numpy(), pairs["other"].to_numpy())
    pairs = pairs.assign(cosine=cosines.round(DIGITS))
    same = pairs[cosines >= NEARLY_THE_SAME].drop_duplicates(["place", "system_known"])
    sizes = written.groupby(["language", "system"]).size()
    copied = same.drop_duplicates("place").groupby(["language", "system"]).size() / sizes
    shared = same.groupby(["language", "system", "system_known"])["cosine"].agg(["size", "sum"])
    counts = shared.sort_values(["size", "sum"], kind="stable")["size"]
    copies: dict[tuple[str, str], Copy] = {}
    for (language, system, original), count in counts.items():
        share, of_any = count / sizes[language, system], copied[language, system]
        if of_any >= SHARE:
            copies[language, system] = Copy(original, float(share), float(of_any))
    return copies


def _unit(texts: pd.Series) -> sparse.csr_array:
    return sparse.csr_array(normalize(hashed(list(texts))))


def _cosines(
    one: sparse.csr_array,
    other: sparse.csr_array,
    places: npt.NDArray[np.intp],
    others: npt.NDArray[np.intp],
) -> npt.NDArray[np.float64]:
    """Cosine of each pair of rows, shape (P,); in parts, so that memory stays small."""
    parts = [
        np.asarray(one[places[part]].multiply(other[others[part]]).sum(axis=1)).ravel()
        for part in np.array_split(np.arange(len(places)), max(len(places) // 5000, 1))
    ]
    return np.concatenate(parts)
