"""Ratings of systems from judgments: estimates, intervals, ranks, tiers, and what limits them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import pandas as pd

from arena.computing.codes import coded_judgments
from arena.data import __version__
from arena.data.arena import Arena
from arena.data.frames import frame_of
from arena.data.names import look_alike_remarks
from arena.data.rows import is_true
from arena.data.schema import BOTH_BAD
from arena.data.wording import Remark, count_of, notebook_html
from arena.rating.battles import Battles, system_records
from arena.rating.biases import JudgeBias
from arena.rating.group_ratings import DEFAULT_ROUNDS, GroupRatings, Method, rate_group
from arena.rating.intervals import MOST_COMPARED, expected_shares, pair_comparisons, rating_rows
from arena.rating.judgments import selected_judgments
from arena.rating.pairs import checked_number
from arena.rating.soft_verdicts import (
    Temperature,
    calibrated_judgments,
    learn_temperatures,
    temperature_remarks,
    values_by_judge,
)
from arena.statistics.significance import NORMAL_90

RATING_COLUMNS = (
    "system",
    "rating",
    "low",
    "high",
    "rank",
    "rank_low",
    "rank_high",
    "tier",
    "wins",
    "losses",
    "ties",
    "group",
    "note",
)

TOO_MANY = Remark(
    "systems",
    "info",
    f"rank intervals and tiers compare all pairs: not done above {MOST_COMPARED:,} systems",
)
NOT_CONNECTED = "no verdicts connect it with the largest group of systems: not on one scale"
ALL_WON = "wins every comparison; its rating is bounded by the prior only"
ALL_LOST = "loses every comparison; its rating is bounded by the prior only"
APART = (
    "the systems fall into {} groups that never met: each is rated on a scale of its own, and "
    "ratings and ranks of two groups cannot be compared"
)
BIASES_OF_LARGEST = Remark(
    "connected", "info", "the biases of judges are those in the largest group"
)


@dataclass(frozen=True)
class Ratings:
    """Rated systems.

    Attributes:
        table: Columns ``system, rating, low, high, rank, rank_low, rank_high, tier, wins, losses,
            ties, group, note``, best first; unrated systems last. Ratings are logits, centered on 0
            in each ``group`` of systems that battles connect (1 the largest); groups cannot be
            compared. ``note`` says why a system is unrated, or bounded by the prior only.
        remarks: What limits the ratings.
        signature: Settings that reproduce them.
        biases: Preferences of judges that the ratings are free of.
        covariance: Of the rated systems, best first; NaN without intervals, and between groups.
    """

    table: pd.DataFrame
    remarks: tuple[Remark, ...]
    signature: str
    biases: tuple[JudgeBias, ...] = ()
    covariance: pd.DataFrame = field(default_factory=pd.DataFrame)

    def pairs(self) -> pd.DataFrame:
        """Compare every two rated systems of a group.

        Returns:
            Columns ``system, opponent, difference, low, high, probability`` and ``win_rate``, the
            expected share of points against the opponent.
        """
        parts = []
        for _, rows in self.table[self.table["rating"].notna()].groupby("group"):
            ratings = rows.set_index("system")["rating"]
            covariance = self.covariance.loc[ratings.index, ratings.index]
            parts.append(pair_comparisons(ratings, covariance))
        pairs = pd.concat(parts, ignore_index=True)
        errors = (pairs["high"] - pairs["low"]) / (2 * NORMAL_90)
        shares = expected_shares(pairs["difference"].to_numpy(), errors.to_numpy())
        return pairs.assign(win_rate=shares)

    def _repr_html_(self) -> str:
        return notebook_html("Ratings", self.remarks, self.table, self.signature)

    def __repr__(self) -> str:
        """List the systems with their ratings, best first."""
        entries = [
            f"{system} {rating:.2f}" if pd.notna(rating) else f"{system} –"
            for system, rating in zip(self.table["system"], self.table["rating"], strict=True)
        ]
        return f"<Ratings: {', '.join(entries)}>"


def rate(
    judgments: pd.DataFrame | Arena | Battles,
    *,
    language: str | None = None,
    judge: str | None = None,
    ties: str = "half",
    ridge: float | None = None,
    rounds: int = DEFAULT_ROUNDS,
    seed: int = 0,
) -> Ratings:
    """Rate the systems that judgments compare.

    By the Bradley-Terry posterior, free of judges' biases to a side; with a ridge, by maximum
    likelihood and a bootstrap.

    Args:
        judgments: Columns ``system_a, system_b, winner`` and perhaps others of ``Arena.judgments``;
            or an arena, or battles.
        language: Language to rate, if there are several; or ``all``.
        judge: Judge to rate by, if there are several; or ``all``.
        ties: ``half`` a win for both, or ``drop``.
        ridge: Precision of the plain model's prior; 0 is maximum likelihood.
        rounds: Bootstrap replicates; 0 for no intervals.
        seed: Seed of the resamples.

    Returns:
        Ratings, intervals and ranks.

    Raises:
        UsageError: For an unknown choice, or too few systems.
        ConvergenceError: With a ``ridge`` that leaves the data without maximum.

    Examples:
        >>> from arena import sample_arena
        >>> rate(sample_arena(), judge="people").table["system"][0]
        'llm-bullet'
    """
    method = Method(ties, ridge, rounds, seed)
    if isinstance(judgments, Battles):
        return rate_battles(judgments, method)
    selected, temperatures = counted_judgments(judgments, language, judge)
    battles = Battles.from_judgments(selected)
    rated = rate_battles(battles, method)
    remarks = [*rated.remarks, *input_remarks(selected, battles, temperatures)]
    return replace(rated, remarks=tuple(remarks))


def counted_judgments(
    judgments: pd.DataFrame | Arena, language: str | None, judge: str | None
) -> tuple[pd.DataFrame, tuple[Temperature, ...]]:
    """Select judgments, with probabilities at learned temperatures, which are also returned."""
    if isinstance(judgments, Arena):
        judgments = judgments.judgments
    judgments = coded_judgments(frame_of(judgments, "judgments"))
    # All judges first: the votes of people tell the temperatures of the others.
    temperatures = learn_temperatures(judgments)
    counted = calibrated_judgments(judgments, values_by_judge(temperatures))
    return selected_judgments(counted, language, judge), temperatures


def rate_battles(battles: Battles, method: Method, *, largest_only: bool = False) -> Ratings:
    """Rate battles, each connected group on its own scale."""
    counted = battles.counted(method.ties)
    groups = counted.groups()
    if largest_only or not groups:
        groups = [counted.largest_group()]
    for group in groups:
        checked_number(len(group.systems))
    rated = [rate_group(group, method) for group in groups]
    table = _table(battles, groups, rated)
    # Without duplicates, in the order in which they first appear.
    remarks = list(dict.fromkeys(chain.from_iterable(ratings.remarks for ratings in rated)))
    if len(groups) > 1:
        apart = APART.format(f"{len(groups):,}")
        remarks.insert(0, Remark("connected", "warning", apart, statistic=len(groups)))
        if rated[0].biases:
            remarks.insert(1, BIASES_OF_LARGEST)
    unrated = int(table["rating"].isna().sum())
    if unrated:
        sentence = f"{unrated:,} of {len(battles.systems):,} systems are unrated"
        remarks.append(Remark("connected", "warning", sentence, statistic=unrated))
    if any(len(group.systems) > MOST_COMPARED for group in groups):
        remarks.append(TOO_MANY)
    n_systems = sum(len(group.systems) for group in groups)
    n_battles = sum(group.judged for group in groups)
    n_questions = groups[0].n_questions
    if len(groups) > 1:
        # Groups may share questions, which count once.
        n_questions = counted.on_battled_questions().n_questions
    signature = (
        f"bradley-terry|{rated[0].signature}|systems:{n_systems}"
        f"|battles:{n_battles}|questions:{n_questions}|version:{__version__}"
    )
    return Ratings(
        table, tuple(remarks), signature, rated[0].biases, _covariance(table, groups, rated)
    )


def _covariance(
    table: pd.DataFrame, groups: Sequence[Battles], rated: Sequence[GroupRatings]
) -> pd.DataFrame:
    systems = pd.Index(table.loc[table["rating"].notna(), "system"], dtype=object)
    covariance = np.full((len(systems), len(systems)), np.nan)
    for group, ratings in zip(groups, rated, strict=True):
        rows = systems.get_indexer(list(group.systems))
        covariance[np.ix_(rows, rows)] = ratings.uncertainty.covariance
    return pd.DataFrame(covariance, systems, systems)


def _table(
    battles: Battles, groups: Sequence[Battles], rated: Sequence[GroupRatings]
) -> pd.DataFrame:
    parts = []
    for number, (group, ratings) in enumerate(zip(groups, rated, strict=True), start=1):
        rows = rating_rows(group.systems, ratings.coefficients, ratings.uncertainty)
        parts.append(rows.assign(group=number))
    table = system_records(battles).merge(pd.concat(parts), how="left", on="system")
    reasons = {
        NOT_CONNECTED: table["rating"].isna(),
        ALL_WON: table["losses"] + table["ties"] == 0,
        ALL_LOST: table["wins"] + table["ties"] == 0,
    }
    table["note"] = np.select(list(reasons.values()), list(reasons), "").astype(object)
    return best_first(table)


def input_remarks(
    judgments: pd.DataFrame, battles: Battles, temperatures: Sequence[Temperature]
) -> Iterator[Remark]:
    """Say what ratings leave out, change, or cannot tell apart."""
    if battles.n_copies:
        yield copies_remark(battles.n_copies)
    yield from both_bad_remarks(judgments)
    yield from temperature_remarks(temperatures, judgments)
    yield from look_alike_remarks(battles.systems)


def copies_remark(copies: int) -> Remark:
    """Say how many judgments are exact copies, which count once."""
    sentence = f"{count_of(copies, 'judgment')} left out: exact copies of others by the same judge"
    return Remark("copies", "warning", sentence, statistic=copies)


def both_bad_remarks(judgments: pd.DataFrame, subject: str = "") -> Iterator[Remark]:
    """Say how many ties are of two bad answers, unseen in ratings."""
    if BOTH_BAD not in judgments:
        return
    n_bad = int(is_true(judgments[BOTH_BAD]).sum())
    if not n_bad:
        return
    share = n_bad / len(judgments)
    sentence = (
        f"in {count_of(n_bad, 'judgment')} of {len(judgments):,} ({share:.0%}) neither "
        "answer is good: ratings take these as ties"
    )
    yield Remark("both bad", "info", sentence, subject, share)


def best_first(table: pd.DataFrame) -> pd.DataFrame:
    """Bring ratings to the columns, types and order of ``Ratings.table``."""
    grouped = table if "group" in table else table.assign(group=1)
    # Nullable integers: unrated systems have no rank.
    whole = dict.fromkeys(("rank", "rank_low", "rank_high", "tier", "group"), "Int64")
    ordered = grouped[list(RATING_COLUMNS)].astype(whole)
    return ordered.sort_values(["group", "rank", "system"], kind="stable", ignore_index=True)
