"""Ratings by verdicts in parts of a file: categories, groups of users, periods, languages.

A rating is a system's in all parts plus its own in one, as in languages of a board
(``surrogate.learning.ratings``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from arena.data import __version__
from arena.data.arena import Arena
from arena.data.errors import UsageError, argument, checked_choice
from arena.data.schema import ALL
from arena.data.wording import Remark, count_of, did_you_mean
from arena.rating.battles import RECORD, TIE_RULES, Battles, system_records
from arena.rating.intervals import Uncertainty, rating_rows
from arena.rating.judgments import copies_of_others, voter_codes
from arena.rating.posterior import battle_posterior
from arena.rating.ratings import (
    NOT_CONNECTED,
    Ratings,
    best_first,
    counted_judgments,
    input_remarks,
)
from surrogate.board.slices import LANGUAGE, part_names
from surrogate.learning.observations import JointPosterior, centering
from surrogate.learning.ratings import posterior_ratings
from surrogate.learning.training_data import TrainingRatings
from surrogate_arena.diagnosis.lack_of_fit import disagreement_test

NOT_JUDGED_HERE = "no verdicts here: rated by the other parts"


@dataclass(frozen=True)
class PartRatings(Ratings):
    """Rated systems, in each part and over all.

    ``table``, ``covariance`` and ``pairs`` are of the mean over parts of equal weight, ``biases``
    of all together.

    Attributes:
        parts: ``part`` and the columns of ``table`` but ``group``, best first.
        test: Whether parts differ by more than chance, if that can be told.
    """

    parts: pd.DataFrame = field(default_factory=pd.DataFrame)
    test: Remark | None = None


def rate_parts(
    judgments: pd.DataFrame | Arena,
    by: str,
    *,
    language: str | None = None,
    judge: str | None = None,
    ties: str = "half",
    seed: int = 0,
) -> PartRatings:
    """Rate systems by the verdicts in each part, and over all parts.

    A system without verdicts in a part is rated there by the others; systems outside the largest
    connected group are not rated.

    Args:
        judgments: As in ``rate``.
        by: The column whose values are the parts, such as ``category`` or ``language``.
        language: Language to rate, if there are several.
        judge: Judge to rate by, if there are several.
        ties: ``half`` or ``drop``.
        seed: Seed of the test whether the parts differ.

    Returns:
        Ratings by part, and over all parts.

    Raises:
        UsageError: For an unknown choice or column.
    """
    checked_choice(ties, TIE_RULES, "tie rule")
    selected, temperatures = counted_judgments(
        judgments, ALL if by == LANGUAGE else language, judge
    )
    part = _parts_of(selected, by)
    # Copies are told by all columns, of which some are replaced below.
    is_counted = ~copies_of_others(selected)
    rows = selected[is_counted].assign(part=part[is_counted])
    pooled = Battles.from_judgments(selected).counted(ties)
    connected = pooled.largest_group()
    by_part = _battles_by_part(rows, ties, connected.systems)
    joint = _joint_posterior(by_part, connected.systems)
    table, covariance = _over_parts(joint, pooled, connected.systems, len(by_part))
    test = _test_of_parts(rows, by, ties, seed)
    mean = f"mean over {count_of(len(by_part), 'part')} by {by}, which weigh the same"
    remarks = [Remark("parts", "info", mean)]
    if test is not None:
        remarks.append(test)
    return PartRatings(
        table=table,
        remarks=(*remarks, *input_remarks(selected, pooled, temperatures)),
        signature=_signature(connected, by, ties, len(by_part)),
        biases=tuple(bias for bias in battle_posterior(connected).biases if bias.is_known),
        covariance=covariance,
        parts=_part_tables(joint, by_part),
        test=test,
    )


def _battles_by_part(rows: pd.DataFrame, ties: str, systems: Sequence[str]) -> dict[str, Battles]:
    by_part: dict[str, Battles] = {}
    for name, rows_of_part in rows.groupby("part", sort=True):
        battles = Battles.from_judgments(rows_of_part).counted(ties).among(systems)
        if len(battles):
            by_part[str(name)] = battles.largest_group()
    return by_part


def _test_of_parts(rows: pd.DataFrame, by: str, ties: str, seed: int) -> Remark | None:
    # The parts in the place of judges; their rows are numbered, so that none is taken for a copy.
    numbered = rows.assign(judge=rows["part"], number=np.arange(len(rows)))
    battles = Battles.from_judgments(numbered).counted(ties).largest_group()
    return disagreement_test(battles, f"parts by {by}", seed)


def _signature(connected: Battles, by: str, ties: str, n_parts: int) -> str:
    equal = f"|equal:{'+'.join(connected.traits)}" if connected.traits else ""
    return (
        f"bradley-terry|ties:{ties}|posterior{equal}|by:{by}|parts:{n_parts}"
        f"|systems:{len(connected.systems)}|battles:{connected.judged}"
        f"|questions:{connected.n_questions}|version:{__version__}"
    )


def _parts_of(judgments: pd.DataFrame, by: str) -> pd.Series:
    if by not in judgments:
        columns = sorted(map(str, judgments))
        hint = f"{did_you_mean(by, columns)} there is {', '.join(columns)}".lstrip()
        raise UsageError(
            f"the judgments have no column {by!r} to divide them by ({argument('by')}); {hint}"
        )
    parts = part_names(judgments[by].astype(object))
    n_parts = parts.nunique()
    if n_parts == 1:
        raise UsageError(
            f"{by!r} has one value, {parts.iloc[0]!r} ({argument('by')}): there is nothing to part"
        )
    if 2 * n_parts > len(judgments):
        raise UsageError(
            f"{by!r} has {n_parts} values for {count_of(len(judgments), 'judgment')} "
            f"({argument('by')}): parts need several each; take a column with fewer values"
        )
    voter = voter_codes(judgments)
    # Numbered as they appear, parts and voters are the same.
    if voter is not None and np.array_equal(pd.factorize(parts)[0], pd.factorize(voter)[0]):
        raise UsageError(
            f"{by!r} names the voters ({argument('by')}): intervals over parts would not count how "
            f"much voters differ; leave {argument('by')} out, or keep one voter's rows"
        )
    return parts


def _joint_posterior(by_part: Mapping[str, Battles], systems: Sequence[str]) -> JointPosterior:
    """Rate all systems in all parts; each part's ratings are centered on 0."""
    training: dict[str, TrainingRatings] = {}
    for part, battles in by_part.items():
        training[part] = TrainingRatings(
            systems=battles.systems,
            questions=battles.questions,
            draws=np.ones((1, battles.n_questions), dtype=np.intp),
            coefficients=np.zeros((1, len(battles.systems))),
            items=battles.items_by_side,
        )
    # Without answers nothing is expected of a system but what it has in common over the parts.
    keys = pd.MultiIndex.from_product([list(by_part), systems], names=["language", "system"])
    expected = keys.to_frame(index=False).assign(rating=0.0)
    joint = posterior_ratings(None, training, expected)
    order = joint.keys.get_indexer(keys)
    transform = np.kron(np.eye(len(by_part)), centering(len(systems)))
    return JointPosterior(
        keys=keys,
        ratings=transform @ joint.ratings[order],
        covariance=transform @ joint.covariance[np.ix_(order, order)] @ transform,
        shares=joint.shares[order],
    )


def _over_parts(
    joint: JointPosterior, pooled: Battles, systems: Sequence[str], n_parts: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    n_systems = len(systems)
    ratings = joint.ratings.reshape(n_parts, n_systems).mean(axis=0)
    blocks = joint.covariance.reshape(n_parts, n_systems, n_parts, n_systems)
    covariance = blocks.mean(axis=(0, 2))
    rated = rating_rows(systems, ratings, Uncertainty.normal(ratings, covariance))
    table = system_records(pooled).merge(rated, how="left", on="system")
    table["note"] = np.where(table["rating"].isna(), NOT_CONNECTED, "").astype(object)
    table = best_first(table.assign(group=np.where(table["rating"].isna(), np.nan, 1.0)))
    best = list(table.loc[table["rating"].notna(), "system"])
    return table, pd.DataFrame(covariance, systems, systems).loc[best, best]


def _part_tables(joint: JointPosterior, by_part: Mapping[str, Battles]) -> pd.DataFrame:
    tables = []
    for part, battles in by_part.items():
        posterior = joint[part]
        uncertainty = Uncertainty.normal(posterior.ratings, posterior.covariance)
        rated = rating_rows(posterior.systems, posterior.ratings, uncertainty)
        records = system_records(battles).set_index("system")
        is_judged = rated["system"].isin(battles.systems)
        table = rated.assign(note=np.where(is_judged, "", NOT_JUDGED_HERE).astype(object))
        table[RECORD] = records.reindex(table["system"], fill_value=0).to_numpy()
        ordered = best_first(table)
        ordered.insert(0, "part", part)
        tables.append(ordered.drop(columns="group"))
    return pd.concat(tables, ignore_index=True)
