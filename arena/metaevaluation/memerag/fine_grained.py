"""Where judges go wrong, by the human fine-grained label (table 13, figure 5)."""

from __future__ import annotations

import pandas as pd

from arena.metaevaluation.memerag.labels import COARSE_OF_FINE

FINE_GRAINED_COLUMNS = [
    *("judge", "prompt", "language", "factuality", "fine_grained_factuality"),
    *("sentences", "accuracy", "errors", "share_of_errors"),
]


def fine_grained_accuracy(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Compute the accuracy of each judge on the sentences of each fine-grained label.

    Args:
        verdicts: As ``judge_sentences`` returns them.

    Returns:
        Columns ``FINE_GRAINED_COLUMNS``, one row a judge, language and label that occurs, in the
        order of table 4. ``share_of_errors`` is the label's share of the judge's errors on
        sentences of the same coarse label, missing where it made none. Sentences without a
        fine-grained label, or that the judge was not asked about, are left out.
    """
    asked = verdicts[verdicts["was_asked"] & verdicts["fine_grained_factuality"].notna()]
    rows = []
    keys = ["judge", "prompt", "language", "factuality"]
    for key, part in asked.groupby(keys, sort=False):
        wrong = part["label"] != part["factuality"]
        for label in _labels_in_order(part):
            is_label = part["fine_grained_factuality"] == label
            sentences, errors = int(is_label.sum()), int((wrong & is_label).sum())
            rows.append(
                (
                    *(*key, label, sentences, 1 - errors / sentences),
                    *(errors, errors / int(wrong.sum()) if wrong.any() else float("nan")),
                )
            )
    return pd.DataFrame(rows, columns=FINE_GRAINED_COLUMNS)


def _labels_in_order(verdicts: pd.DataFrame) -> list[str]:
    there = set(verdicts["fine_grained_factuality"])
    return [label for label in COARSE_OF_FINE if label in there]
