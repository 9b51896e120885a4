"""How far judges agree on the same items, with each other or with a reference: Cohen's kappa."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.data.types import Floats
from arena.data.wording import count_of
from arena.diagnostics.verdicts import (
    QUESTION_PAIR,
    Finding,
    Severity,
    majorities,
    verdicts,
)
from arena.rating.battles import Battles
from arena.rating.posterior import RatingPosterior, battle_posterior
from arena.statistics.agreement import cohen_kappas
from arena.statistics.bootstrap import percentile_interval, resampled_sums
from arena.statistics.rank_agreement import (
    Agreement,
    kendall_tau,
    kendall_taus,
    macro_agreement,
)

RESAMPLES = 2000
LOW_KAPPA = 0.4
"""Below it, agreement is fair at best (Landis and Koch, 1977)."""
FEWEST_ITEMS = 20
"""Items of which kappa gets an interval: the bootstrap of fewer is too sure of itself."""
MANY_JUDGES = 50
"""Pairs grow with the square of the judges; those with the most judgments are compared."""
SAID_ONE_BY_ONE = 6
RANK_DRAWS = 100
"""Of either's ratings; every two of them are compared."""
FEWEST_RANKED = 3
"""Systems that both rated, of which rankings are compared."""

RANKED = ["tau", "tau_low", "tau_high", "systems", "decided", "decided_reference"]
MEASURED = ["items", "questions", "agreement", "kappa", "standard_error", "low", "high"]


def agreement_table(table: pd.DataFrame, seed: int = 0, of: Collection[str] = ()) -> pd.DataFrame:
    """Compare every two judges on the items both judged.

    Several judgments of an item by one judge count as their majority. Of more than
    ``MANY_JUDGES`` judges, those with the most judgments are compared.

    Args:
        table: As ``verdicts`` returns it.
        seed: Seed of the bootstrap.
        of: Judges to hold against all others; by default every two.

    Returns:
        Columns ``language, judge, other_judge`` and ``MEASURED``, sorted: ``agreement`` is the
        share of items with equal verdicts; kappa has a bootstrap standard error and a 95%
        interval over questions (NaN with one question or fewer than ``FEWEST_ITEMS`` items).
    """
    counts = table["judge"].value_counts().sort_index().sort_values(ascending=False, kind="stable")
    kept = {*counts.index[:MANY_JUDGES], *of}
    items = majorities(table[table["judge"].isin(kept)], [*QUESTION_PAIR, "judge"])
    items = items[items.duplicated(QUESTION_PAIR, keep=False)]
    both = items.merge(items, on=QUESTION_PAIR, suffixes=("", "_other"))
    both = both[both["judge"] < both["judge_other"]]
    if of:
        both = both[both["judge"].isin(of) | both["judge_other"].isin(of)]
    rows = [
        [*key, *_measured(part, part["outcome_other"], generator(seed, "agreement", *key))]
        for key, part in both.groupby(["language", "judge", "judge_other"])
    ]
    return pd.DataFrame(rows, columns=["language", "judge", "other_judge", *MEASURED])


def _measured(items: pd.DataFrame, others: pd.Series, random: np.random.Generator) -> list[float]:
    """Return ``MEASURED`` of items with an ``outcome``, held against another judge's."""
    cells = question_cells(items, others)
    is_known = len(cells) > 1 and len(items) >= FEWEST_ITEMS
    drawn = _kappas(resampled_sums(cells, RESAMPLES if is_known else 0, random))
    drawn = drawn[np.isfinite(drawn)]
    error = float(drawn.std()) if drawn.size else math.nan
    agreed = float((items["outcome"] == others).mean())
    kappa = float(_kappas(cells.sum(axis=0))[0])
    return [len(items), len(cells), agreed, kappa, error, *percentile_interval(drawn)]


def question_cells(items: pd.DataFrame, others: pd.Series) -> Floats:
    """Count the verdicts of one judge by another's, a 3 x 3 table a question.

    Which system of a pair is called the first is arbitrary, so every item counts half in either
    orientation: wins and losses have the same share for each judge, and relabeling systems
    changes nothing.

    Args:
        items: Columns ``query_id, outcome`` (1, 0 or -1).
        others: The other judge's outcomes.

    Returns:
        Shape (questions, 9), the rows of each table one after another.
    """
    questions, names = pd.factorize(items["query_id"])
    cells = np.zeros((len(names), 9))
    for sign in (1, -1):
        places = 3 * (1 + sign * items["outcome"]) + 1 + sign * others
        np.add.at(cells, (questions, places.to_numpy(dtype=np.intp)), 0.5)
    return cells


def _kappas(cells: Floats) -> Floats:
    return cohen_kappas(cells.reshape(-1, 3, 3))


def agreement_findings(agreement: pd.DataFrame) -> Iterator[Finding]:
    """Say how far judges agree, many pairs of judges together."""
    for language, part in agreement.groupby("language"):
        if len(part) <= SAID_ONE_BY_ONE:
            yield from (_pair_finding(str(language), row) for row in part.to_dict("records"))
            continue
        kappas = part["kappa"].dropna()
        sentence = (
            f"{len(part):,} pairs of judges share items; median kappa {kappas.median():.2f}, "
            f"below {LOW_KAPPA} for {(kappas < LOW_KAPPA).sum():,} of {len(kappas):,} pairs"
        )
        severity: Severity = "warning" if kappas.median() < LOW_KAPPA else "info"
        yield Finding(severity, "agreement", str(language), sentence)


def _pair_finding(language: str, row: dict[Any, Any]) -> Finding:
    subject, kappa = f"{language}, {row['judge']} and {row['other_judge']}", row["kappa"]
    share = f"agree on {row['agreement']:.1%} of {count_of(row['items'], 'item')}"
    if math.isnan(kappa):
        sentence = f"{share}; kappa is not defined, for both only tie"
        return Finding("info", "agreement", subject, sentence)
    interval = f", 95% interval {row['low']:.2f} to {row['high']:.2f}"
    shown = f"{share}; kappa {kappa:.2f}{'' if math.isnan(row['low']) else interval}"
    return Finding("warning" if kappa < LOW_KAPPA else "info", "agreement", subject, shown)


def agreement_with_reference(
    judgments: pd.DataFrame, reference: Sequence[str], seed: int = 0
) -> pd.DataFrame:
    """Hold every judge against a reference, such as people: all together, by majority.

    Returns:
        Columns ``judge``, ``MEASURED`` (all languages together), the items' ``languages``, and
        ``RANKED``: Kendall's tau of the rankings by all verdicts of either, mean over languages,
        with its 95% interval for these systems (NaN below three ``systems``); and the
        shares of shared items that the judge, and the reference, decide.

    Raises:
        UsageError: If a judge of the reference, or any other, has no judgment.
    """
    table = verdicts(judgments)
    present = set(table["judge"])
    absent = [name for name in reference if name not in present]
    if absent or not reference:
        raise UsageError(
            f"no judge {', '.join(map(repr, absent)) or 'of the reference'} here; the judges are "
            f"{', '.join(sorted(present)) or 'none'}"
        )
    table["query_id"] = table["language"] + "\x1f" + table["query_id"]
    is_reference = table["judge"].isin(set(reference))
    theirs = majorities(table[is_reference], QUESTION_PAIR)
    own = majorities(table[~is_reference], ["judge", *QUESTION_PAIR])
    both = own.merge(theirs, on=QUESTION_PAIR, suffixes=("", "_reference"))
    if both.empty:
        raise UsageError("no other judge has judged a pair that the reference has")
    by_reference = posteriors_by_language(judgments[judgments["judge"].isin(reference)])
    rows = []
    for name, part in both.groupby("judge"):
        random = generator(seed, "agreement", str(name))
        measured = _measured(part, part["outcome_reference"], random)
        own = posteriors_by_language(judgments[judgments["judge"] == name])
        ranked = _rankings(own, by_reference, random)
        decided = [float((part[side] != 0).mean()) for side in ("outcome", "outcome_reference")]
        rows.append([name, *measured, sorted(part["language"].unique()), *ranked, *decided])
    return pd.DataFrame(rows, columns=["judge", *MEASURED, "languages", *RANKED])


def posteriors_by_language(judgments: pd.DataFrame) -> dict[str, RatingPosterior]:
    """Rate the largest connected group of systems in each language, by verdicts alone."""
    return {
        str(language): battle_posterior(Battles.from_judgments(rows).largest_group())
        for language, rows in judgments.groupby("language")
    }


def _rankings(
    own: Mapping[str, RatingPosterior],
    reference: Mapping[str, RatingPosterior],
    random: np.random.Generator,
) -> list[float]:
    """Return tau with its bounds, mean over languages, and the systems compared in all."""
    found, compared = [], set[str]()
    for language in sorted(own.keys() & reference.keys()):
        names = [name for name in reference[language].systems if name in own[language].systems]
        if len(names) < FEWEST_RANKED:
            continue
        ratings, draws = [], []
        for known in (own[language], reference[language]):
            places = [known.systems.index(name) for name in names]
            ratings.append(known.ratings[places])
            draws.append(known.draws(random, RANK_DRAWS)[:, places])
        taus = kendall_taus(draws[0], draws[1]).ravel()
        found.append(Agreement(kendall_tau(ratings[0], ratings[1]), taus))
        compared |= set(names)
    overall = macro_agreement(found)
    return [overall.tau, *overall.interval, len(compared)]
