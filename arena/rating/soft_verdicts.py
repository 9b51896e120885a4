"""Soft verdicts: what a judge's probabilities count, at a temperature that is learned.

Temperatures: Guo et al., 2017, "On calibration of modern neural networks". Distributions rather
than their modes: Wang et al., 2025, "Improving LLM-as-a-judge inference with the judgment
distribution".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import scipy

from arena.computing.codes import value_flags
from arena.data.judges import is_derived, is_person
from arena.data.schema import PROBABILITIES, QUESTION_KEY, WINNERS
from arena.data.types import Flags, Floats
from arena.data.wording import Remark, count_of
from arena.rating.judgments import (
    checked_shares,
    copies_of_others,
    side_codes,
    soft_flags,
    winner_codes,
)

DEFAULT_TEMPERATURE = 4.0
"""Temperature of a judge that neither people nor repeated verdicts say anything about.

Strong judges agree with people on some four of five pairs without a tie (Zheng et al., 2023),
whose sides they put 7 to 10 logits apart: that is a temperature of 5 to 7. This one stays between
that and their word."""
SMALLEST_PROBABILITY = 1e-6
"""Probabilities below it are rounded to 0 in files; logits need more."""

TemperatureSource = Literal["people", "repeats", "default"]


class Temperature(NamedTuple):
    """Divisor of a judge's logits: 1 takes probabilities as they are, near 0 is whole verdicts.

    It is learned from ``n_labels`` of ``source``: people's votes, or the judge's own repetitions.
    """

    judge: str
    value: float
    source: TemperatureSource
    n_labels: int

    @property
    def sentence(self) -> str:
        """Say how the judge's verdicts count."""
        name = self.judge or "the judge"
        start = f"verdicts of {name} count by their probabilities, at temperature"
        if self.source == "people":
            votes = count_of(self.n_labels, "vote")
            return f"{start} {self.value:g} (learned from {votes} of people on the same pairs)"
        if self.source == "repeats":
            verdicts = count_of(self.n_labels, "verdict")
            return (
                f"{start} {self.value:g} (learned from {verdicts} on pairs that it judged more "
                "than once; votes of people on the same pairs would say more)"
            )
        return (
            f"{start} {self.value:g} (the default, as neither people nor the judge itself judged "
            "the same pairs again)"
        )


def learn_temperatures(judgments: pd.DataFrame) -> tuple[Temperature, ...]:
    """Learn the temperature of each judge with probabilities, by name.

    With log odds x and labels y, it maximizes the sum of y ln sigma(x/T) + (1 - y) ln sigma(-x/T),
    less ln(T/4)² / 2. Labels are people's votes on the same pair, or else the judge's other verdict
    on it, which can only soften.
    Panels and judges of whole verdicts have none.
    """
    if not soft_flags(judgments).any():
        return ()
    # A file that was joined twice holds no repeated verdicts.
    table = _log_odds(judgments[~copies_of_others(judgments)])
    people = _votes_of_people(table)
    temperatures = []
    for judge, rows in table[table["is_soft"]].groupby("judge"):
        if is_derived(str(judge)) or rows["is_whole"].all():
            continue
        temperatures.append(_temperature_of(str(judge), rows, people))
    return tuple(temperatures)


def values_by_judge(temperatures: Sequence[Temperature]) -> dict[str, float]:
    """Return each judge's divisor of logits."""
    return {temperature.judge: temperature.value for temperature in temperatures}


def calibrated_judgments(
    judgments: pd.DataFrame,
    temperatures: Mapping[str, float] = MappingProxyType({}),
    *,
    hard: bool = False,
) -> pd.DataFrame:
    """Divide logits x of probabilities by a judge's temperature: A gets t/2 + (1 - t) sigma(x/T).

    Whole and panels' verdicts, or all if ``hard``, lose their probabilities: the winner counts.
    """
    if hard:
        return judgments.drop(columns=list(PROBABILITIES), errors="ignore")
    is_soft = soft_flags(judgments)
    if not is_soft.any():
        return judgments
    shares = checked_shares(judgments.loc[is_soft, list(PROBABILITIES)])
    names = _judges(judgments)[is_soft]
    is_whole = _whole_flags(shares)
    counted = np.full((len(judgments), 2), np.nan)
    soft = np.flatnonzero(is_soft)
    for judge in names.unique():
        is_judge = (names == judge).to_numpy()
        rows = soft[is_judge]
        if is_derived(judge) or is_whole[is_judge].all():
            continue
        temperature = temperatures.get(judge, DEFAULT_TEMPERATURE)
        log_odds = _clipped_log_odds(shares[is_judge])
        decided = 1.0 - shares[is_judge, 2]
        counted[rows, 0] = decided * scipy.special.expit(log_odds / temperature)
        counted[rows, 1] = decided * scipy.special.expit(-log_odds / temperature)
    return judgments.assign(**dict(zip(PROBABILITIES, counted.T, strict=True)))


def temperature_remarks(
    temperatures: Sequence[Temperature], judgments: pd.DataFrame
) -> Iterator[Remark]:
    """Say how the verdicts of the judges of some judgments count."""
    if not temperatures:
        return
    names = set(_judges(judgments))
    for temperature in temperatures:
        if temperature.judge in names:
            yield Remark("temperature", "info", temperature.sentence, statistic=temperature.value)


def _judges(judgments: pd.DataFrame) -> pd.Series:
    if "judge" not in judgments:
        return pd.Series("", judgments.index)
    return judgments["judge"].astype(str)


def _whole_flags(shares: Floats) -> Flags:
    """Return which verdicts are sure, or equal, shape (N,)."""
    return np.asarray((shares.max(axis=1) == 1.0) | (shares[:, 0] == shares[:, 1]))


def _clipped_log_odds(shares: Floats) -> Floats:
    logarithms = np.log(np.maximum(shares[:, :2], SMALLEST_PROBABILITY))
    return logarithms[:, 0] - logarithms[:, 1]


def _log_odds(judgments: pd.DataFrame) -> pd.DataFrame:
    """Orient judgments: the first system by name, with ``log_odds`` and ``share`` of the first.

    ``log_odds`` are infinite for whole verdicts, ``share`` is NaN for ties.
    """
    is_soft = soft_flags(judgments)
    shares = np.eye(len(WINNERS))[winner_codes(judgments)]
    is_whole = np.ones(len(judgments), dtype=np.bool_)
    if is_soft.any():
        shares[is_soft] = checked_shares(judgments.loc[is_soft, list(PROBABILITIES)])
        is_whole[is_soft] = _whole_flags(shares[is_soft])
    decided = 1.0 - shares[:, 2]
    share_of_a = np.full(len(judgments), np.nan)
    np.divide(shares[:, 0], decided, out=share_of_a, where=decided > 0)
    log_odds = _clipped_log_odds(shares)
    side_a, side_b, systems = side_codes(judgments)
    first_on_a = side_a < side_b
    language = "" if "language" not in judgments else judgments["language"].astype(str)
    query_id = np.arange(len(judgments)) if "query_id" not in judgments else judgments["query_id"]
    return pd.DataFrame(
        {
            "language": language,
            "query_id": pd.Series(query_id, judgments.index).astype(str),
            "first": systems.to_numpy()[np.minimum(side_a, side_b)],
            "second": systems.to_numpy()[np.maximum(side_a, side_b)],
            "judge": _judges(judgments),
            "is_soft": is_soft,
            "is_whole": is_whole,
            "log_odds": np.where(first_on_a, log_odds, -log_odds),
            "share": np.where(first_on_a, share_of_a, 1.0 - share_of_a),
        },
        index=judgments.index,
    )


_ITEM = [*QUESTION_KEY, "first", "second"]
"""Columns that name a question and a pair."""


def _votes_of_people(table: pd.DataFrame) -> pd.DataFrame:
    is_vote = value_flags(table["judge"], is_person) & table["share"].notna()
    return table[is_vote].groupby(_ITEM)["share"].agg(votes="size", share="mean").reset_index()


def _temperature_of(judge: str, rows: pd.DataFrame, people: pd.DataFrame) -> Temperature:
    looks = rows.groupby(_ITEM)["log_odds"].transform("size")
    labeled = rows[[*_ITEM, "log_odds"]].assign(looks=looks).merge(people, on=_ITEM)
    n_votes = int(people.merge(rows[_ITEM].drop_duplicates(), on=_ITEM)["votes"].sum())
    if n_votes:
        # Several looks of the judge at one item share its votes.
        weights = (labeled["votes"] / labeled["looks"]).to_numpy(np.float64)
        inverse = _inverse_temperature(
            labeled["log_odds"], labeled["share"], weights, 1.0 / DEFAULT_TEMPERATURE
        )
        return Temperature(judge, _rounded(1.0 / inverse), "people", n_votes)
    repeated = rows[(looks > 1) & rows["share"].notna()]
    grouped = repeated.groupby(_ITEM)["share"]
    n_looks = grouped.transform("size")
    repeated = repeated.assign(looks=n_looks, total=grouped.transform("sum"))[n_looks > 1]
    if repeated.empty:
        return Temperature(judge, DEFAULT_TEMPERATURE, "default", 0)
    others = (repeated["total"] - repeated["share"]) / (repeated["looks"] - 1)
    # Of k looks k - 1 are free: two looks are one repetition.
    weights = (1.0 - 1.0 / repeated["looks"]).to_numpy(np.float64)
    repeatability = _inverse_temperature(repeated["log_odds"], others, weights, 1.0)
    value = DEFAULT_TEMPERATURE / min(repeatability, 1.0)
    return Temperature(judge, _rounded(value), "repeats", len(repeated))


def _rounded(value: float) -> float:
    # Sums in another order of rows differ in their last digits.
    return float(f"{value:.4g}")


def _inverse_temperature(
    log_odds: pd.Series, shares: pd.Series, weights: Floats, center: float
) -> float:
    """Return the likeliest factor of logits (N,), given labels; log-normal about ``center``."""
    # Standard deviation of the logarithm of a temperature about the default, before any label
    log_spread = 1.0
    # Loaded here, as it takes time that arenas without probabilities do not need.
    from scipy.optimize import minimize_scalar

    # Oriented to the side that the judge prefers, so that names of systems decide nothing.
    signs = np.where(log_odds.to_numpy(np.float64) < 0, -1.0, 1.0)
    distances = np.abs(log_odds.to_numpy(np.float64))
    agreeing = np.where(signs < 0, 1.0 - shares, shares) * weights
    opposing = weights - agreeing

    def loss(log_factor: float) -> float:
        scaled = np.exp(log_factor) * distances
        log_likelihood = agreeing @ scipy.special.log_expit(scaled)
        log_likelihood += opposing @ scipy.special.log_expit(-scaled)
        deviation = (log_factor - np.log(center)) / log_spread
        return float(0.5 * deviation**2 - log_likelihood)

    bounds = (np.log(center) - 7.0, np.log(center) + 7.0)
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-7})
    return float(np.exp(found.x))
