"""Systems that verdicts connect, and ratings without bounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from arena.data.types import Indices
from arena.data.wording import Remark, count_of, first_of
from arena.quality.agreement import PAIR, SHOWN_NAMES
from arena.rating.pairs import connected_groups
from surrogate_arena.diagnosis.judged_counts import CheckResult


def connection_check(part: pd.DataFrame) -> CheckResult:
    """Report what keeps systems off one scale, and whose rating has no finite estimate.

    Ratings have a finite maximum likelihood if and only if wins, or ties, lead from every system to
    every other (Ford, 1957, "Solution of a ranking problem from binary comparisons").
    """
    codes, names = pd.factorize(pd.concat([part["first"], part["second"]]), sort=True)
    first, second = np.split(codes, 2)
    outcome = part["outcome"].to_numpy()
    # Who won against whom; a tie is a win of both.
    winners = np.concatenate([first[outcome >= 0], second[outcome <= 0]])
    losers = np.concatenate([second[outcome >= 0], first[outcome <= 0]])
    n_systems = len(names)
    group = connected_groups(first, second, n_systems)
    strong_group = connected_groups(winners, losers, n_systems, one_way=True)
    median_battles = float(np.median(np.bincount(codes)))
    n_pairs = n_systems * (n_systems - 1) // 2
    n_never_met = n_pairs - len(part[PAIR].drop_duplicates())
    remarks = [
        *_group_remarks(names, group, strong_group),
        *_extreme_remarks(names, winners, losers),
        *_sparse_remarks(median_battles, n_never_met, n_pairs),
    ]
    counts = {
        "systems": n_systems,
        "groups": int(group.max()) + 1,
        "strong_groups": int(strong_group.max()) + 1,
        "battles_median": median_battles,
        "pairs": n_pairs,
        "never_met": n_never_met,
    }
    return CheckResult(counts, remarks)


def _group_remarks(names: pd.Index, group: Indices, strong_group: Indices) -> Iterator[Remark]:
    if group.any():
        sentence = (
            f"no judgments connect the {len(names):,} systems: they fall into {group.max() + 1:,} "
            f"groups, the largest of {(group == 0).sum():,}, which cannot be ranked on one scale; "
            f"outside the largest: {first_of(list(names[group > 0]), SHOWN_NAMES)}"
        )
        yield Remark("connected", "error", sentence)
    elif strong_group.any():
        sentence = (
            f"wins do not lead from every system to every other: the {len(names):,} systems fall "
            f"into {strong_group.max() + 1:,} groups, the largest of "
            f"{(strong_group == 0).sum():,}, between which all wins go one way; only a prior "
            "bounds the distance between them"
        )
        yield Remark("both ways", "warning", sentence)


def _extreme_remarks(names: pd.Index, winners: Indices, losers: Indices) -> Iterator[Remark]:
    for verb, opposite in (("wins", losers), ("loses", winners)):
        is_extreme = np.bincount(opposite, minlength=len(names)) == 0
        if is_extreme.any():
            systems = first_of(list(names[is_extreme]), SHOWN_NAMES)
            sentence = f"{systems}: {verb} every comparison; only a prior bounds the rating"
            yield Remark(f"{verb} all", "warning", sentence)


def _sparse_remarks(median_battles: float, n_never_met: int, n_pairs: int) -> Iterator[Remark]:
    if median_battles < 10:
        sentence = (
            f"half of the systems have at most {median_battles:g} verdicts; one can move a rank"
        )
        yield Remark("battles", "warning", sentence)
    if n_never_met:
        sentence = (
            f"{n_never_met:,} of {count_of(n_pairs, 'pair')} of systems never met; their order "
            "follows from verdicts on others"
        )
        yield Remark("pairs", "info", sentence)
