"""Tables of ``agreement``: kappa and rankings, one person's vote, records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from arena.data.errors import UsageError, argument
from arena.data.wording import first_of
from arena.quality.agreement import MEASURED, measured_agreement, oriented_verdicts, shared_items
from arena.quality.judge_report import MetaEvaluation
from arena.quality.people_agreement import KAPPA, agreement_among_people
from arena.rating.battles import Battles
from arena.rating.posterior import RatingPosterior, battle_posterior
from arena.rating.soft_verdicts import calibrated_judgments, learn_temperatures, values_by_judge
from arena.statistics.agreement import Agreement, kendall_tau, kendall_taus, macro_agreement
from arena.statistics.bootstrap import generator
from arena.statistics.significance import NORMAL_95

ONE_VOTE = ["judge", "items", "kappa", "kappa_of_people", "difference", "low", "high"]
RANKED = ["tau", "tau_low", "tau_high", "systems", "decided", "decided_reference"]


def agreement_with_reference(judgments: pd.DataFrame, reference: Sequence[str]) -> pd.DataFrame:
    """Compare every judge with a reference, such as all people, by majority.

    ``MEASURED`` is of all languages together; ``RANKED`` is Kendall's tau of rankings, mean over
    languages, with its 95% interval (NaN below three systems), and the shares of items that each
    decides.
    """
    judgments = calibrated_judgments(judgments, values_by_judge(learn_temperatures(judgments)))
    _require_reference(reference, set(judgments["judge"]))
    shared = shared_items(oriented_verdicts(judgments), reference)
    if shared.empty:
        hint = ""
        if len(reference) > 1:
            hint = f", or compare these judges: {argument('reference')} {min(reference)!r}"
        raise UsageError(
            f"no other judge has judged the pairs of {first_of(reference)}, so there is nothing to "
            f"compare; ask another one about them (surrogate-arena judge){hint}"
        )
    reference_posteriors = _posteriors_by_language(judgments[judgments["judge"].isin(reference)])
    rows = []
    for judge, part in shared.groupby("judge"):
        random = generator(0, "agreement", str(judge))
        row = {"judge": judge} | measured_agreement(part, part["outcome_reference"], random)
        posteriors = _posteriors_by_language(judgments[judgments["judge"] == judge])
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


def _posteriors_by_language(judgments: pd.DataFrame) -> dict[str, RatingPosterior]:
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


def agreement_with_one_vote(judgments: pd.DataFrame, people: Sequence[str]) -> pd.DataFrame:
    """Compare judges with one person's vote, and people with each other, on the same pairs.

    Returns:
        ``ONE_VOTE`` by judge who shares enough pairs that several people judged: their number,
        kappa of judge and one person, of two people, and the difference with its 95% interval.
    """
    is_by_people = judgments["judge"].isin(people)
    by_people = judgments[is_by_people]
    rows = []
    for judge, by_judge in judgments[~is_by_people].groupby("judge"):
        among_people = agreement_among_people(by_judge, by_people)
        if among_people is None:
            continue
        kappa = among_people.judge_kappa
        difference = kappa - among_people.kappa
        half_width = NORMAL_95 * among_people.difference_error
        bounds = (difference - half_width, difference + half_width)
        rows.append([judge, among_people.items, kappa, among_people.kappa, difference, *bounds])
    return pd.DataFrame(rows, columns=ONE_VOTE)


def agreements(kappas: pd.DataFrame, reference: str) -> tuple[list[MetaEvaluation], dict[str, str]]:
    """Return judges' agreement with a reference, such as ``people``, as meta-evaluations."""
    has_kappa = np.isfinite(kappas[["kappa", "standard_error"]]).all(axis=1)
    entries = []
    for row in kappas[has_kappa].to_dict("records"):
        entry = {
            "judge": row["judge"],
            "dataset": reference,
            "metric": KAPPA,
            "value": row["kappa"],
            "standard_error": row["standard_error"],
            "n": row["items"],
            "languages": row["languages"],
        }
        entries.append(MetaEvaluation.model_validate(entry))
    without = kappas.loc[~has_kappa, "judge"]
    return entries, dict.fromkeys(without, "no kappa with a standard error is known")
