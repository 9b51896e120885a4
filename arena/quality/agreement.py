"""Verdicts in one orientation, and how far judges agree on the same items: Cohen's kappa."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtri

from arena.data.errors import UsageError, argument
from arena.data.schema import ANSWER_KEY, FLAG_SEPARATOR, IDENTICAL, QUESTION_KEY, VERDICT_FLAGS
from arena.data.types import Floats
from arena.rating.battles import Battles
from arena.rating.judgment_columns import side_codes, sideless_by_name
from arena.rating.posterior import RatingPosterior, battle_posterior
from arena.rating.soft_verdicts import calibrated_judgments, learn_temperatures
from arena.statistics.agreement import (
    Agreement,
    cohen_kappas,
    kendall_tau,
    kendall_taus,
    macro_agreement,
)
from arena.statistics.bootstrap import generator, percentile_interval, resampled_sums
from arena.statistics.codes import distinct, row_keys

GROUP = ["language", "judge"]
"""What a diagnosis is made for."""
PAIR = ["first", "second"]
QUESTION_PAIR = [*QUESTION_KEY, *PAIR]
"""One question and one unordered pair of systems."""
ITEM = [*GROUP, "query_id", *PAIR]
"""One judge, one question, one unordered pair of systems."""

SHOWN_NAMES = 5
"""Number of systems that a remark names."""


def oriented_verdicts(judgments: pd.DataFrame) -> pd.DataFrame:
    """Orient judgments: ``first`` and ``second`` by name."""
    # Sides that were not shown are no order.
    judgments = sideless_by_name(judgments)
    side_a, side_b, names = side_codes(judgments)
    first = pd.Categorical.from_codes(np.minimum(side_a, side_b), names)
    second = pd.Categorical.from_codes(np.maximum(side_a, side_b), names)
    first_on_a = side_a < side_b
    winner = judgments["winner"]
    outcome_of_a = np.asarray(winner == "a", np.int64) - np.asarray(winner == "b", np.int64)
    table = pd.DataFrame(
        {
            "language": judgments["language"],
            "judge": judgments["judge"],
            "query_id": judgments["query_id"],
            "first": first,
            "second": second,
            "outcome": np.where(first_on_a, outcome_of_a, -outcome_of_a),
            "first_on_a": first_on_a,
        },
        index=judgments.index,
    )
    kind = judgments["system_a"].dtype
    if isinstance(kind, pd.CategoricalDtype):
        return table
    return table.astype({"first": kind, "second": kind})


def won_by_a(table: pd.DataFrame) -> pd.Series:
    """Return whether side A won (1), lost (-1) or tied (0)."""
    return table["outcome"].where(table["first_on_a"], -table["outcome"])


def majorities(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Make one verdict per key: a win needs more than half."""
    is_known = table[keys].notna().all(axis=1)
    if not is_known.all():
        table = table[is_known]
    numbers, n_possible = row_keys(table[keys], is_sorted=True)
    counted = distinct(numbers, n_possible)
    outcome = table["outcome"].to_numpy()
    n_verdicts = counted.sums(None)
    has_won = 2 * counted.sums(outcome == 1) > n_verdicts
    has_lost = 2 * counted.sums(outcome == -1) > n_verdicts
    rows = table[keys].iloc[counted.first_rows].reset_index(drop=True)
    return rows.assign(outcome=has_won.astype(np.int64) - has_lost.astype(np.int64))


def without_identical(judgments: pd.DataFrame, answers: pd.DataFrame | None = None) -> pd.DataFrame:
    """Drop ties between identical answers (flagged, or found in ``answers``)."""
    if VERDICT_FLAGS in judgments:
        flags = judgments[VERDICT_FLAGS].fillna("").astype(str).str.split(FLAG_SEPARATOR)
        judgments = judgments[[IDENTICAL not in names for names in flags]]
    if answers is None or judgments.empty:
        return judgments
    is_tie = judgments["winner"].eq("tie").to_numpy()
    texts = answers.drop_duplicates(ANSWER_KEY).set_index(ANSWER_KEY)["answer"]
    sides = []
    for side in ("system_a", "system_b"):
        ties = judgments.loc[is_tie, [*QUESTION_KEY, side]]
        keys = pd.MultiIndex.from_frame(ties, names=ANSWER_KEY)
        sides.append(texts.reindex(keys).to_numpy(dtype=object))
    is_identical = np.zeros(len(judgments), dtype=bool)
    # An absent answer is equal to nothing, itself included.
    is_identical[is_tie] = (sides[0] == sides[1]) & pd.notna(sides[0])
    return judgments[~is_identical]


LOW_KAPPA = 0.4
"""Below it, agreement is fair at best (Landis and Koch, 1977)."""
FEWEST_ITEMS = 20
"""Items from which kappa gets an interval: with fewer, the bootstrap's is too narrow."""
MANY_JUDGES = 50
"""Pairs grow with the square of the judges; those with the most judgments are compared."""

RANKED = ["tau", "tau_low", "tau_high", "systems", "decided", "decided_reference"]
DIFFERENCE_COLUMNS = ["system", "difference", "low", "high"]
MEASURED = ["items", "questions", "agreement", "kappa", "standard_error", "low", "high"]


def agreement_table(table: pd.DataFrame, of: Collection[str], seed: int = 0) -> pd.DataFrame:
    """Compare every two judges (with one of ``of``, if any), by majority.

    Of more than ``MANY_JUDGES``, those with the most judgments. Kappa has a bootstrap error and a
    95% interval over questions (NaN with one question or fewer than ``FEWEST_ITEMS`` items).
    """
    counts = table["judge"].value_counts().sort_index().sort_values(ascending=False, kind="stable")
    judges = {*counts.index[:MANY_JUDGES], *of}
    items = majorities(table[table["judge"].isin(judges)], [*QUESTION_PAIR, "judge"])
    # Items of one judge alone would make the join below large for nothing.
    items = items[items.duplicated(QUESTION_PAIR, keep=False)]
    shared = items.merge(items, on=QUESTION_PAIR, suffixes=("", "_other"))
    shared = shared[shared["judge"] < shared["judge_other"]]
    if of:
        shared = shared[shared["judge"].isin(of) | shared["judge_other"].isin(of)]
    rows = []
    for key, part in shared.groupby(["language", "judge", "judge_other"]):
        language, judge, other_judge = key
        random = generator(seed, "agreement", *key)
        row = {"language": language, "judge": judge, "other_judge": other_judge}
        rows.append(row | _measured(part, part["outcome_other"], random))
    return pd.DataFrame(rows, columns=["language", "judge", "other_judge", *MEASURED])


def _measured(
    items: pd.DataFrame, others: pd.Series, random: np.random.Generator
) -> dict[str, object]:
    cells = _question_cells(items, others)
    has_interval = len(cells) > 1 and len(items) >= FEWEST_ITEMS
    # Questions are resampled, not items: verdicts on one question depend on each other.
    replicates = _kappas(resampled_sums(cells, 2000 if has_interval else 0, random))
    replicates = replicates[np.isfinite(replicates)]
    standard_error = float(replicates.std()) if replicates.size else math.nan
    low, high = percentile_interval(replicates)
    return {
        "items": len(items),
        "questions": len(cells),
        "agreement": float((items["outcome"] == others).mean()),
        "kappa": float(_kappas(cells.sum(axis=0))[0]),
        "standard_error": standard_error,
        "low": low,
        "high": high,
    }


def _question_cells(items: pd.DataFrame, others: pd.Series) -> Floats:
    """Count one judge's verdicts by another's, flat 3 x 3 tables, (questions, 9).

    Every item counts half in either orientation, so that relabeling systems changes nothing.
    """
    questions, names = pd.factorize(items["query_id"])
    cells = np.zeros((len(names), 9))
    for sign in (1, -1):
        rows = 1 + sign * items["outcome"]
        columns = 1 + sign * others
        indices = (3 * rows + columns).to_numpy(dtype=np.intp)
        np.add.at(cells, (questions, indices), 0.5)
    return cells


def _kappas(cells: Floats) -> Floats:
    return cohen_kappas(cells.reshape(-1, 3, 3))


def agreement_with_reference(judgments: pd.DataFrame, reference: Sequence[str]) -> pd.DataFrame:
    """Compare every judge with a reference, such as all people, by majority.

    ``MEASURED`` is of all languages together; ``RANKED`` is Kendall's tau of rankings by all
    verdicts, mean over languages, with its 95% interval (NaN below three systems), and the shares
    of shared items that each decides.
    """
    judgments = calibrated_judgments(judgments, learn_temperatures(judgments))
    table = oriented_verdicts(judgments)
    _require_reference(reference, set(table["judge"]))
    # The same id in two languages is of two questions, which are resampled together.
    table["query_id"] = table["language"] + "\x1f" + table["query_id"]
    shared = _shared_items(table, reference)
    if shared.empty:
        hint = ""
        if len(reference) > 1:
            hint = f"; compare these with one of them: {argument('reference')} {min(reference)!r}"
        raise UsageError(f"no other judge has judged a pair that the reference has{hint}")
    reference_posteriors = posteriors_by_language(judgments[judgments["judge"].isin(reference)])
    rows = []
    for judge, part in shared.groupby("judge"):
        random = generator(0, "agreement", str(judge))
        row = {"judge": judge} | _measured(part, part["outcome_reference"], random)
        posteriors = posteriors_by_language(judgments[judgments["judge"] == judge])
        row |= _rankings(posteriors, reference_posteriors, random)
        row["languages"] = sorted(part["language"].unique())
        row["decided"] = float((part["outcome"] != 0).mean())
        row["decided_reference"] = float((part["outcome_reference"] != 0).mean())
        rows.append(row)
    return pd.DataFrame(rows, columns=["judge", *MEASURED, "languages", *RANKED])


def _require_reference(reference: Sequence[str], judges: set[str]) -> None:
    absent = [name for name in reference if name not in judges]
    if absent or not reference:
        raise UsageError(
            f"no judge {', '.join(map(repr, absent)) or 'of the reference'} here; the judges are "
            f"{', '.join(sorted(judges)) or 'none'}"
        )


def _shared_items(table: pd.DataFrame, reference: Sequence[str]) -> pd.DataFrame:
    is_reference = table["judge"].isin(set(reference))
    reference_items = majorities(table[is_reference], QUESTION_PAIR)
    items = majorities(table[~is_reference], ["judge", *QUESTION_PAIR])
    return items.merge(reference_items, on=QUESTION_PAIR, suffixes=("", "_reference"))


def posteriors_by_language(judgments: pd.DataFrame) -> dict[str, RatingPosterior]:
    """Rate the largest group in each language, by verdicts alone."""
    return {
        str(language): battle_posterior(Battles.from_judgments(rows).largest_group())
        for language, rows in judgments.groupby("language")
    }


def _rankings(
    posteriors: Mapping[str, RatingPosterior],
    references: Mapping[str, RatingPosterior],
    random: np.random.Generator,
) -> dict[str, object]:
    agreements: list[Agreement] = []
    compared: set[str] = set()
    for language in sorted(posteriors.keys() & references.keys()):
        posterior = posteriors[language]
        reference = references[language]
        systems = [system for system in reference.systems if system in posterior.systems]
        # Two systems have one order or the other: no ranking to agree on.
        if len(systems) < 3:
            continue
        indices = [posterior.systems.index(system) for system in systems]
        reference_indices = [reference.systems.index(system) for system in systems]
        # Every draw of the one is compared with every draw of the other.
        draws = posterior.draws(random, 100)[:, indices]
        reference_draws = reference.draws(random, 100)[:, reference_indices]
        tau = kendall_tau(posterior.ratings[indices], reference.ratings[reference_indices])
        agreements.append(Agreement(tau, kendall_taus(draws, reference_draws).ravel()))
        compared.update(systems)
    overall = macro_agreement(agreements)
    low, high = overall.interval
    return {"tau": overall.tau, "tau_low": low, "tau_high": high, "systems": len(compared)}


def rating_differences(judge: RatingPosterior, reference: RatingPosterior) -> pd.DataFrame:
    """Compare a judge's ratings, brought to the reference's spread, with it.

    Intervals hold 95% for all systems at once (Bonferroni).
    """
    names = [name for name in reference.systems if name in judge.systems]
    ratings, variances = _centered_ratings(judge, names)
    reference_ratings, reference_variances = _centered_ratings(reference, names)
    spread = float(ratings.std())
    scale = float(reference_ratings.std()) / spread if spread > 0 else 1.0
    difference = scale * ratings - reference_ratings
    errors = np.sqrt(scale**2 * variances + reference_variances)
    quantile = float(ndtri(1 - 0.025 / max(len(names), 1)))
    return pd.DataFrame(
        {
            "system": names,
            "difference": difference,
            "low": difference - quantile * errors,
            "high": difference + quantile * errors,
        }
    )


def _centered_ratings(posterior: RatingPosterior, names: Sequence[str]) -> tuple[Floats, Floats]:
    indices = [posterior.systems.index(name) for name in names]
    ratings = posterior.ratings[indices]
    return ratings - ratings.mean(), np.diag(posterior.covariance)[indices]
