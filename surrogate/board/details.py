"""Beside the ratings: those by verdicts alone, who won against whom, how far systems differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import SOFT
from arena.data.wording import count_of
from arena.diagnostics.agreement import posteriors_by_language
from arena.rating.battles import Battles
from arena.rating.posterior import RatingPosterior
from arena.rating.published import NO_ERRORS
from arena.rating.ratings import TOO_MANY, Ratings
from arena.statistics.rank_agreement import kendall_tau
from arena.statistics.significance import NORMAL_90
from surrogate.board.tables import ARENA, BY_JUDGE, DIFFERENCES, WIN_MATRIX
from surrogate.learning.estimation.ratings import NOTHING_EXPECTED, posterior_ratings
from surrogate.learning.languages import LanguageData
from surrogate.learning.surrogate import FEWEST_SYSTEMS, Surrogate
from surrogate.learning.training import training_ratings

COMPARED = {"verdicts_alone": "arena_rating", "surrogate_alone": "surrogate_rating"}
"""What is compared with the truth beside the rating, to its column of a board."""
ROUNDING = 1e-12
"""Variances below it are rounding errors of none."""
OTHERWISE = ["system", "difference", "low", "high"]


def arena_table(ratings: Ratings, language: str) -> pd.DataFrame:
    """Arrange the arena's ratings of a language as ``tables.ARENA``, best first.

    ``rank_low, rank_high`` hold all ranks at once at 95%, systems of a ``tier`` (1 the best) are
    not distinguishable from its best one, and ``note`` says why a system has no rating or tier;
    see ``arena.rating.intervals``.
    """
    table = ratings.table.assign(language=language)
    reason = next((note for note in ratings.notes if note in (TOO_MANY, NO_ERRORS)), "")
    told = table["note"].where((table["note"] != "") | table["rating"].isna(), reason)
    return table.assign(note=told)[list(ARENA.names)]


def win_table(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count who won against whom by one judge: whole verdicts, a soft one by its likelier winner.

    Returns:
        ``tables.WIN_MATRIX``, each pair in both directions, sorted; pairs that never met are not
        there.
    """
    parts = [WIN_MATRIX.empty()]
    for language, rows in judgments.drop(columns=SOFT, errors="ignore").groupby("language"):
        parts.append(Battles.from_judgments(rows).outcomes().assign(language=str(language)))
    table = pd.concat(parts[1:] or parts, ignore_index=True)
    table = table.sort_values(["language", "system", "opponent"], ignore_index=True)
    return table[list(WIN_MATRIX.names)]


def difference_table(rated: Iterable[tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """Say of each two systems of a language by how much one is better, and how surely.

    Ratings are taken as normal: of their difference the variance is the sum of the two variances
    less twice the covariance. Given are, of each language, ``tables.RATINGS``, best first, and the
    covariance of the ratings, systems by systems; NaN where it is not known.

    Returns:
        ``tables.DIFFERENCES``, each pair once, ``system`` the better rated one: its rating less
        the opponent's, the 90% interval of that, and the ``probability`` that it is better; NaN
        where the covariance is. Sorted by language.
    """
    parts = [DIFFERENCES.empty()]
    for table, covariance in rated:
        rating = table[table["rating"].notna()].set_index("system")["rating"]
        if len(rating) < 2:
            continue
        first, second = np.triu_indices(len(rating), 1)
        names, values = rating.index.to_numpy(object), rating.to_numpy(np.float64)
        known = covariance.loc[rating.index, rating.index].to_numpy(np.float64)
        variances = np.diag(known)
        variance = variances[first] + variances[second] - 2 * known[first, second]
        error = np.sqrt(np.where(variance > ROUNDING, variance, np.nan))
        difference = values[first] - values[second]
        columns = {
            "language": table["language"].iloc[0],
            "system": names[first],
            "opponent": names[second],
            "difference": difference,
            "low": difference - NORMAL_90 * error,
            "high": difference + NORMAL_90 * error,
            "probability": ndtr(difference / error),
        }
        parts.append(pd.DataFrame(columns))
    stacked = pd.concat(parts[1:] or parts, ignore_index=True)
    return stacked.sort_values("language", kind="stable", ignore_index=True)


def rated_otherwise(own: RatingPosterior, reference: RatingPosterior) -> pd.DataFrame:
    """Say whom a judge rates higher, or lower, than the reference does.

    Its ratings are brought to the reference's spread, so that being more decided is no bias.

    Returns:
        Columns ``OTHERWISE``, of systems that both rate (logits about their
        mean): intervals hold 95% for all systems at once (Bonferroni).
    """
    names = [name for name in reference.systems if name in own.systems]
    ratings, variances = [], []
    for known in (own, reference):
        places = [known.systems.index(name) for name in names]
        ratings.append(known.ratings[places] - known.ratings[places].mean())
        variances.append(np.diag(known.covariance)[places])
    spreads = [float(values.std()) for values in ratings]
    scale = spreads[1] / spreads[0] if spreads[0] > 0 else 1.0
    difference = scale * ratings[0] - ratings[1]
    errors = np.sqrt(scale**2 * variances[0] + variances[1])
    reach = float(ndtri(1 - 0.025 / max(len(names), 1))) * errors
    columns = {"difference": difference, "low": difference - reach, "high": difference + reach}
    return pd.DataFrame({"system": names, **columns})


def biases(judgments: pd.DataFrame, reference: Sequence[str]) -> pd.DataFrame:
    """Say whom each judge rates higher, or lower, than the reference, beyond the error.

    Returns:
        Columns ``judge, language, system, difference, low, high``; see ``rated_otherwise``.
    """
    by_reference = posteriors_by_language(judgments[judgments["judge"].isin(reference)])
    found = [pd.DataFrame(columns=["judge", "language", *OTHERWISE])]
    for name, rows in judgments[~judgments["judge"].isin(reference)].groupby("judge"):
        for language, own in posteriors_by_language(rows).items():
            if language in by_reference:
                told = rated_otherwise(own, by_reference[language])
                beyond = told[(told["low"] > 0) | (told["high"] < 0)]
                found.append(beyond.assign(judge=name, language=language)[list(found[0])])
    return pd.concat([part for part in found if len(part)] or found, ignore_index=True)


def judges_beside(arena: Arena, judges: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Leave out other judges with too few systems to compare; return who stays, and why not."""
    kept, said = list(judges[:1]), []
    for name in judges[1:]:
        own = arena.judged_by(name)
        if len(own.rated_systems) >= FEWEST_SYSTEMS:
            kept.append(name)
            continue
        counts = count_of(len(own.judgments), "verdict"), count_of(len(own.rated_systems), "system")
        said.append(f"{name} is left out: {counts[0]} on {counts[1]} of {FEWEST_SYSTEMS} needed.")
    return tuple(kept), tuple(said)


def alone_ratings(
    data: Sequence[LanguageData], surrogate: Surrogate
) -> Mapping[str, RatingPosterior]:
    """Rate by one judge's verdicts and a surrogate, which learns from them unless it has."""
    known = training_ratings({item.language: item.tournaments for item in data})
    if not hasattr(surrogate, "ratings_"):
        with suppress(UsageError):  # too few systems to learn from: by the verdicts alone
            surrogate.fit(pd.concat([item.X for item in data]), known)
    judged = pd.concat([item.X[item.X["system"].isin(item.systems)] for item in data])
    return posterior_ratings(surrogate, known, NOTHING_EXPECTED, judged)


def side_by_side(
    by_judge: Mapping[str, Mapping[str, RatingPosterior]], slopes: Mapping[str, float]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Arrange the ratings by each judge alone, and say how the others rank beside the first.

    Ratings are by judge, the reference first, and language; for slopes see ``OtherJudges``.

    Returns:
        By language and system, a column ``BY_JUDGE`` a judge; and a sentence on all, where there
        are several, and on each: Kendall's tau, mean over languages, who is rated otherwise in any
        beyond the error, and that its verdicts do not go along, if they do not.
    """
    columns = {
        f"{BY_JUDGE}{judge}": pd.concat(
            {code: pd.Series(own.ratings, list(own.systems)) for code, own in rated.items()}
        )
        for judge, rated in by_judge.items()
    }
    table = pd.DataFrame(columns).rename_axis(["language", "system"])
    (reference, first), *others = by_judge.items()
    said: list[str] = []
    told: list[str] = []
    for judge, rated in others:
        pair = table[[f"{BY_JUDGE}{reference}", f"{BY_JUDGE}{judge}"]].groupby("language")
        taus = [kendall_tau(*own.to_numpy(np.float64).T) for _, own in pair]
        shared = [rated_otherwise(rated[code], first[code]) for code in rated if code in first]
        apart = pd.concat(shared)
        ends = {"higher": apart[apart["low"] > 0], "lower": apart[apart["high"] < 0]}
        tau = f"{float(np.nanmean(taus)):.2f}"
        parts = [
            f"rates {', '.join(dict.fromkeys(rows['system']))} {end} than {reference}"
            for end, rows in ends.items()
            if len(rows)
        ]
        if not slopes.get(judge):
            parts.append("adds nothing, for its verdicts are not shown to go along")
        if len(others) == 1:
            parts.insert(0, f"tau {tau} with {reference}")
        said += [f"{judge}: {'; '.join(parts)}."] if parts else []
        told.append(f"{judge} {tau}")
    first_of_all = [f"Tau with {reference}: {', '.join(told)}."] if len(told) > 1 else []
    return table, (*first_of_all, *said)


def compare_with_truth(board: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    """Return Kendall tau-b of the board's ratings, and of others in ``COMPARED``, with the truth.

    The truth has columns ``language, system, quality``. A row a language, and a last row ``macro``
    with the means.
    """
    merged = board.merge(truth, on=["language", "system"], validate="one_to_one")
    columns = {"rating": "rating", **COMPARED}
    taus = {
        language: {
            name: kendall_tau(part[column].to_numpy(float), part["quality"].to_numpy(float))
            for name, column in columns.items()
        }
        for language, part in merged.groupby("language")
    }
    compared = pd.DataFrame(taus).T
    compared.loc["macro"] = compared.mean()
    return compared.rename_axis("language").reset_index()
