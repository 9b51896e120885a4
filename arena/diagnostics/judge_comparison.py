"""Which of two judges agrees better with a third, and how many more labels would say it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.data.seeds import generator
from arena.data.wording import count_of
from arena.diagnostics.judge_agreement import FEWEST_ITEMS, outcome_cells, outcome_kappas
from arena.diagnostics.verdicts import QUESTION_PAIR, majorities, verdicts
from arena.statistics.bootstrap import percentile_interval, resampled_sums
from arena.statistics.significance import NORMAL_QUANTILE

Floats = npt.NDArray[np.float64]

RESAMPLES = 2000
POWER = 0.8
REFERENCE = "reference"

COMPARISON_COLUMNS = [
    *("judge", "other_judge", "items", "questions", "kappa", "kappa_other"),
    *("difference", "low", "high", "more_labels"),
]
KAPPA_COLUMNS = [
    *("judge", "items", "questions", "agreement", "kappa", "standard_error", "low", "high"),
    "languages",
]


def agreement_with_reference(
    judgments: pd.DataFrame, reference: Sequence[str], seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Hold every judge against a reference, such as people, and every two of them beside it.

    Several verdicts on a pair are one, their majority: of a judge in both orders, and of all
    judges of the reference together. All languages count together. Intervals are by the bootstrap
    over questions. The number of further labels is that at which the difference of two judges, if
    it stays, would be found with power 80% by a two-sided test at 5%, were its variance inversely
    proportional to the labels:  n ((1.96 + 0.84) s / d)^2 - n.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``.
        reference: Judges that are the reference.
        seed: Seed of the bootstrap.

    Returns:
        A table of judges, ``KAPPA_COLUMNS``: items (pairs of answers) shared with the reference,
        share of equal verdicts, Cohen's kappa with its bootstrap standard error and its 95%
        interval (NaN with one question or few items), and the items' languages; and one of every two judges on
        the items that both share with it, ``COMPARISON_COLUMNS``: how much larger the first one's
        kappa is, with its 95% interval, and how many more items the reference would have to judge
        to tell them apart: 0 where they are, missing where no number is known.

    Raises:
        UsageError: If a judge of the reference, or any other, has no judgment.
    """
    table = verdicts(judgments)
    present = set(table["rater"])
    absent = [name for name in reference if name not in present]
    if absent or not reference:
        raise UsageError(
            f"no judge {', '.join(map(repr, absent)) or 'of the reference'} here; the judges are "
            f"{', '.join(sorted(present)) or 'none'}"
        )
    is_reference = table["rater"].isin(set(reference))
    theirs = majorities(table[is_reference], QUESTION_PAIR)[[*QUESTION_PAIR, "outcome"]]
    keys = ["rater", *QUESTION_PAIR]
    own = majorities(table[~is_reference], keys)[[*keys, "outcome"]]
    both = own.merge(theirs, on=QUESTION_PAIR, suffixes=("", f"_{REFERENCE}"))
    names = sorted(both["rater"].unique())
    if not names:
        raise UsageError("no other judge has judged a pair that the reference has")
    shared = {name: both[both["rater"] == name].set_index(QUESTION_PAIR) for name in names}
    kappas = pd.DataFrame(
        [_kappa_row(name, shared[name], seed) for name in names], columns=KAPPA_COLUMNS
    )
    compared = [
        _comparison_row(one, other, shared[one], shared[other], seed)
        for one, other in combinations(names, 2)
    ]
    rows = [row for row in compared if row is not None]
    table = pd.DataFrame(rows, columns=COMPARISON_COLUMNS).astype({"more_labels": "Int64"})
    return kappas, table


def _kappa_row(name: str, items: pd.DataFrame, seed: int) -> list[object]:
    cells = _question_cells(items, items[f"outcome_{REFERENCE}"])
    whole = cells.sum(axis=0)
    error, low, high = math.nan, math.nan, math.nan
    if len(cells) > 1 and len(items) >= FEWEST_ITEMS:
        random = generator(seed, "agreement", name)
        drawn = outcome_kappas(resampled_sums(cells, RESAMPLES, random))
        error = float(np.nanstd(drawn))
        low, high = percentile_interval(drawn)
    agreed = float(np.trace(whole.reshape(3, 3)) / whole.sum())
    kappa = float(outcome_kappas(whole)[0])
    languages = sorted(items.index.unique("language"))
    return [name, len(items), len(cells), agreed, kappa, error, low, high, languages]


def _comparison_row(
    one: str, other: str, ours: pd.DataFrame, theirs: pd.DataFrame, seed: int
) -> list[object] | None:
    """Compare two judges on the items that both share with the reference; None without any."""
    common = ours.index.intersection(theirs.index)
    if not len(common):
        return None
    ours, theirs = ours.loc[common], theirs.loc[common]
    reference = ours[f"outcome_{REFERENCE}"]
    cells = np.hstack([_question_cells(each, reference) for each in (ours, theirs)])
    whole = cells.sum(axis=0)
    first, second = (float(outcome_kappas(part)[0]) for part in (whole[:9], whole[9:]))
    difference, low, high, more = first - second, math.nan, math.nan, None
    if len(cells) > 1 and len(common) >= FEWEST_ITEMS:
        random = generator(seed, "agreement", one, other)
        drawn = resampled_sums(cells, RESAMPLES, random)
        apart = outcome_kappas(drawn[:, :9]) - outcome_kappas(drawn[:, 9:])
        low, high = percentile_interval(apart)
        more = _more_labels(difference, low, high, float(np.nanstd(apart)), len(common))
    counts = [len(common), len(cells)]
    return [one, other, *counts, first, second, difference, low, high, more]


def _more_labels(
    difference: float, low: float, high: float, error: float, items: int
) -> int | None:
    if low > 0 or high < 0:
        return 0
    if not abs(difference) > 1e-9 or not error > 0:
        return None
    reach = (NORMAL_QUANTILE + float(ndtri(POWER))) * error / abs(difference)
    return max(1, math.ceil(items * (reach**2 - 1)))


def _question_cells(items: pd.DataFrame, reference: pd.Series) -> Floats:
    """Count verdicts by the reference's, a row a question, shape (Q, 9)."""
    cells = outcome_cells(items["outcome"], reference)
    table = pd.DataFrame(cells, index=items.index)
    return np.asarray(table.groupby(level=QUESTION_KEY).sum(), dtype=np.float64)


def comparison_sentences(compared: pd.DataFrame) -> Iterator[str]:
    """Say of every two judges which agrees better with the reference, or what would say it."""
    for row in compared.itertuples():
        bounds = f"kappa {row.kappa:.2f} and {row.kappa_other:.2f} on {count_of(row.items, 'pair')}"
        if not np.isnan(row.low):
            bounds += f", difference {row.difference:.2f}, 95% {row.low:.2f} to {row.high:.2f}"
        if pd.isna(row.more_labels):
            said = "how many labels would tell them apart is not known"
        elif row.more_labels == 0:
            better = row.judge if row.difference > 0 else row.other_judge
            said = f"{better} agrees better"
        else:
            said = f"about {row.more_labels:,} more labeled pairs would tell them apart"
        yield f"{row.judge} and {row.other_judge}: {said} ({bounds})"
