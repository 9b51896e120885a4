"""How far judges agree on the same items, beyond chance: Cohen's kappa."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.schema import is_derived
from arena.data.seeds import generator
from arena.data.wording import count_of
from arena.diagnostics.finding import Finding, Severity, listed, subject_of
from arena.diagnostics.verdicts import ITEM, QUESTION_PAIR, majorities
from arena.statistics.agreement import kappa_of_tables
from arena.statistics.bootstrap import percentile_interval, resampled_sums

Floats = npt.NDArray[np.float64]

RESAMPLES = 1000

LOW_KAPPA = 0.4
"""Below it, agreement is fair at best (Landis and Koch, 1977)."""

FEWEST_ITEMS = 20
"""Items of which kappa gets an interval: the bootstrap of fewer is too sure of itself."""

MANY_JUDGES = 50
"""Pairs grow with the square of the judges; those with the most judgments are compared."""

SAID_ONE_BY_ONE = 6

_PAIR_OF_JUDGES = ["language", "rater", "rater_other"]


def agreement_table(table: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Compare every two judges on the items both judged.

    Several judgments of an item by one judge count as their majority (see ``majorities``). Of
    more than ``MANY_JUDGES`` judges, those with the most judgments are compared.

    Args:
        table: As ``verdicts`` returns it.
        seed: Seed of the bootstrap.

    Returns:
        Columns ``language, judge, other_judge, items, questions, agreement`` (share of items),
        ``kappa`` and its 95% bootstrap interval over questions, ``low, high`` (NaN with one
        question or fewer than ``FEWEST_ITEMS`` items); sorted.
    """
    by_question = _question_tables(_shared_items(_most_active(table)))
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
    table = questions.sum(axis=0)
    items, agreed = round(table.sum()), float(np.trace(table.reshape(3, 3)))
    low, high = float("nan"), float("nan")
    if len(questions) > 1 and items >= FEWEST_ITEMS:
        random = generator(seed, "diagnostics", "agreement", *key)
        low, high = percentile_interval(
            outcome_kappas(resampled_sums(questions, RESAMPLES, random))
        )
    return [*key, items, len(questions), agreed / items, float(outcome_kappas(table)[0]), low, high]


def outcome_kappas(tables: Floats) -> Floats:
    """Return Cohen's kappa of sums of ``outcome_cells``, shape (N, 9)."""
    return kappa_of_tables(tables.reshape(-1, 3, 3), np.eye(3))


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
