"""How far judges agree on the same items, with each other or with a reference: Cohen's kappa."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY, is_derived
from arena.data.seeds import generator
from arena.data.wording import count_of
from arena.diagnostics.finding import Finding, Severity, listed, subject_of
from arena.diagnostics.verdicts import ITEM, QUESTION_PAIR, majorities, verdicts
from arena.statistics.agreement import cohen_kappas
from arena.statistics.bootstrap import percentile_interval, resampled_sums
from arena.statistics.significance import NORMAL_QUANTILE

Floats = npt.NDArray[np.float64]

RESAMPLES = 2000

LOW_KAPPA = 0.4
"""Below it, agreement is fair at best (Landis and Koch, 1977)."""

FEWEST_ITEMS = 20
"""Items of which kappa gets an interval: the bootstrap of fewer is too sure of itself."""

MANY_JUDGES = 50
"""Pairs grow with the square of the judges; those with the most judgments are compared."""

SAID_ONE_BY_ONE = 6

_PAIR_OF_JUDGES = ["language", "rater", "rater_other"]

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


def agreement_table(table: pd.DataFrame, seed: int = 0, of: Collection[str] = ()) -> pd.DataFrame:
    """Compare every two judges on the items both judged.

    Several judgments of an item by one judge count as their majority (see ``majorities``). Of
    more than ``MANY_JUDGES`` judges, those with the most judgments are compared.

    Args:
        table: As ``verdicts`` returns it.
        seed: Seed of the bootstrap.
        of: Judges to hold against all others; by default every two.

    Returns:
        Columns ``language, judge, other_judge, items, questions, agreement`` (share of items),
        ``kappa`` and its 95% bootstrap interval over questions, ``low, high`` (NaN with one
        question or fewer than ``FEWEST_ITEMS`` items); sorted.
    """
    shared = _shared_items(_most_active(table))
    if of:
        shared = shared[shared["rater"].isin(of) | shared["rater_other"].isin(of)]
    by_question = _question_tables(shared)
    rows = [
        _compared(key, part.to_numpy(), seed)
        for key, part in by_question.groupby(_PAIR_OF_JUDGES)
        if isinstance(key, tuple)
    ]
    columns = ["language", "judge", "other_judge", "items", "questions"]
    return pd.DataFrame(rows, columns=[*columns, "agreement", "kappa", "low", "high"])


def independent(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Leave out the judges whose verdicts are made of others': they agree with those by their make.

    Args:
        table: As ``verdicts`` returns it.

    Returns:
        The rows of the others, and the judges left out, sorted.
    """
    derived = table["rater"].map(is_derived).astype(bool)
    return table[~derived], sorted(table.loc[derived, "rater"].unique())


def judges_left_out(table: pd.DataFrame) -> int:
    """Count the judges that are too many to be compared pair by pair."""
    return max(0, int(table["rater"].nunique()) - MANY_JUDGES)


def _most_active(table: pd.DataFrame) -> pd.DataFrame:
    if not judges_left_out(table):
        return table
    counts = table["rater"].value_counts().reset_index()
    ordered = counts.sort_values(["count", "rater"], ascending=[False, True])
    return table[table["rater"].isin(ordered["rater"].head(MANY_JUDGES))]


def _shared_items(table: pd.DataFrame) -> pd.DataFrame:
    items = majorities(table, ITEM)[[*QUESTION_PAIR, "rater", "outcome"]]
    if items["rater"].nunique() > 1:
        items = items[items.duplicated(QUESTION_PAIR, keep=False)]
    else:
        items = items.head(0)
    both = items.merge(items, on=QUESTION_PAIR, suffixes=("", "_other"))
    return both[both["rater"] < both["rater_other"]]


def _question_tables(shared: pd.DataFrame) -> pd.DataFrame:
    """Count outcomes by question; see ``outcome_cells``."""
    cells = outcome_cells(shared["outcome"].to_numpy(), shared["outcome_other"].to_numpy())
    keys = [*_PAIR_OF_JUDGES, "query_id"]
    table = pd.DataFrame(cells, index=shared.index).assign(**{key: shared[key] for key in keys})
    return table.groupby(keys).sum()


def outcome_cells(outcomes: npt.ArrayLike, others: npt.ArrayLike) -> Floats:
    """Place items in a 3 x 3 table, the verdicts of one judge by another's.

    Which system of a pair is called the first is arbitrary, so every item counts half in either
    orientation: wins and losses have the same share for each judge, and relabeling systems
    changes nothing.

    Args:
        outcomes: 1, 0 or -1, shape (N,).
        others: The other judge's.

    Returns:
        Shape (N, 9), the rows of the table one after another.
    """
    verdict, other = np.asarray(outcomes), np.asarray(others)
    cells = np.zeros((len(verdict), 9))
    rows = np.arange(len(verdict))
    for sign in (1, -1):
        cells[rows, 3 * (1 + sign * verdict) + 1 + sign * other] += 0.5
    return cells


def _compared(key: tuple[str, ...], questions: Floats, seed: int) -> list[object]:
    random = generator(seed, "diagnostics", "agreement", *key)
    agreed, kappa, _, low, high = _measured(questions, random)
    return [*key, round(questions.sum()), len(questions), agreed, kappa, low, high]


def _spread(replicates: Floats) -> float:
    """Return the standard deviation of those that are known; NaN for none."""
    known = replicates[np.isfinite(replicates)]
    return float(known.std()) if known.size else math.nan


def _measured(questions: Floats, random: np.random.Generator) -> tuple[float, ...]:
    """Return the share of equal verdicts, and kappa with its standard error and interval."""
    whole = questions.sum(axis=0)
    agreed = float(np.trace(whole.reshape(3, 3)) / whole.sum())
    error, low, high = math.nan, math.nan, math.nan
    if len(questions) > 1 and round(whole.sum()) >= FEWEST_ITEMS:
        drawn = outcome_kappas(resampled_sums(questions, RESAMPLES, random))
        error = _spread(drawn)
        low, high = percentile_interval(drawn)
    return agreed, float(outcome_kappas(whole)[0]), error, low, high


def outcome_kappas(tables: Floats) -> Floats:
    """Return Cohen's kappa of sums of ``outcome_cells``, shape (N, 9)."""
    return cohen_kappas(tables.reshape(-1, 3, 3))


def agreement_findings(
    agreement: pd.DataFrame, left_out: int = 0, derived: Sequence[str] = ()
) -> Iterator[Finding]:
    """Say how far judges agree, many pairs of judges together, and who is not compared."""
    for language, part in agreement.groupby("language"):
        if len(part) <= SAID_ONE_BY_ONE:
            yield from map(_pair_finding, part.itertuples())
        else:
            yield _summary_finding(str(language), part)
    if left_out:
        sentence = f"the {MANY_JUDGES} most active are compared, {left_out:,} are not"
        yield Finding("info", "agreement", "judges", sentence)
    if derived:
        sentence = "not held against other judges, being made of their verdicts"
        yield Finding("info", "agreement", listed(derived), sentence)


def _pair_finding(row: object) -> Finding:
    language, judge, other, items, _, agreed, kappa, low, high = tuple(row)[1:]  # type: ignore[arg-type, var-annotated]
    subject = subject_of(language, f"{judge} and {other}")
    share = f"agree on {agreed:.1%} of {count_of(items, 'item')}"
    if np.isnan(kappa):
        sentence = f"{share}; kappa is not defined, for both only tie"
        return Finding("info", "agreement", subject, sentence)
    interval = "" if np.isnan(low) else f", 95% interval {low:.2f} to {high:.2f}"
    severity: Severity = "warning" if kappa < LOW_KAPPA else "info"
    return Finding(severity, "agreement", subject, f"{share}; kappa {kappa:.2f}{interval}")


def _summary_finding(language: str, part: pd.DataFrame) -> Finding:
    weighted = part.dropna(subset="kappa").sort_values("kappa")
    low = int((weighted["kappa"] < LOW_KAPPA).sum())
    median = weighted["kappa"].median()
    sentence = (
        f"{len(part):,} pairs of judges share items; median kappa {median:.2f}, "
        f"below {LOW_KAPPA} for {low:,} of {len(weighted):,} pairs"
    )
    severity: Severity = "warning" if median < LOW_KAPPA else "info"
    return Finding(severity, "agreement", language, sentence)


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
        interval (NaN with one question or few items), and the items' languages; and one of every
        two judges on the items that both share with it, ``COMPARISON_COLUMNS``: how much larger the
        first one's kappa is, with its 95% interval, and how many more items the reference would
        have to judge
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
    agreed, kappa, *bounds = _measured(cells, generator(seed, "agreement", name))
    languages = sorted(items.index.unique("language"))
    return [name, len(items), len(cells), agreed, kappa, *bounds, languages]


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
        more = _more_labels(difference, low, high, _spread(apart), len(common))
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
