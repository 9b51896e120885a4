"""New systems whose answers are those of a known one, word for word or nearly so."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.preprocessing import normalize

from arena.data.schema import QUESTION_KEY
from surrogate.integrity.coverage import Key
from surrogate.learning.gaussian_process.answer_texts import hashed

NEARLY_THE_SAME = 0.97
"""Cosine of character n-grams from which two answers are one: other numbers or words are not."""
SHORTEST = 40
"""Characters of an answer that can be copied: shorter ones ("I do not know.") are alike anyway."""
SHARE = 0.9
"""Of a system's answers that make it a copy, when they are one other system's."""
DIGITS = 9
"""Of cosines, so that rounding errors do not say who was copied."""
PART = 5000
"""Pairs of answers that are compared at a time."""


def near_copies(new: pd.DataFrame, known: pd.DataFrame) -> dict[Key, str]:
    """Find the new systems that are copies of a known one, language by language.

    Args:
        new: Columns ``language, system, query_id, answer``.
        known: Likewise, of the known systems.

    Returns:
        Language and new system to the known system of which it has nearly all answers.
    """
    columns = ["language", "system", "query_id", "answer"]
    written, old = (rows.loc[rows["answer"].map(len) >= SHORTEST, columns] for rows in (new, known))
    pairs = written.assign(place=range(len(written))).merge(
        old.assign(other=range(len(old))), on=QUESTION_KEY, suffixes=("", "_known")
    )
    if pairs.empty:
        return {}
    one, other = (sparse.csr_array(normalize(hashed(list(rows["answer"])))) for rows in
                  (written, old))  # fmt: skip
    places, others = pairs["place"].to_numpy(), pairs["other"].to_numpy()
    parts = np.array_split(np.arange(len(pairs)), max(len(pairs) // PART, 1))  # memory stays small
    cosines = np.concatenate(
        [one[places[part]].multiply(other[others[part]]).sum(axis=1) for part in parts]
    )
    same = pairs.assign(cosine=cosines.round(DIGITS))[cosines >= NEARLY_THE_SAME]
    sizes = written.groupby(["language", "system"]).size()
    shared = same.groupby(["language", "system", "system_known"])["cosine"].agg(["size", "sum"])
    counts = shared.sort_values(["size", "sum"], kind="stable")["size"]
    return {
        (language, system): original
        for (language, system, original), count in counts.items()
        if count >= SHARE * sizes[language, system]
    }
