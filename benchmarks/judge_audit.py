"""Does the audit of ``agreement`` find a system that fools a judge, and spare honest ones?

    python benchmarks/tables.py audit

Of several verdicts on a pair, by people or by one judge in both orders, one at random is the
machine's and the others are the reference's, so that the machine is honest; also with 30% of its
verdicts as coin flips. Then a system at random wins 30% of its pairs by the machine, whatever they
are. Measured are percent of systems that fail: honest ones, the fooling one, the fooling one if it
is in the lower half by the machine's points, and the others beside it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from arena import read_arena
from arena.quality.agreement import PAIR, QUESTION_PAIR, oriented_verdicts
from surrogate_arena.diagnosis.audit import audited_systems

DRAWS = 60
FOOLED = 0.3


def audited(folder: Path, judge: str, language: str, flipped: float) -> list[str]:
    """Return the mean number of pairs a system, and percent that fail, over draws."""
    judgments = read_arena(folder).judgments
    is_shown = (judgments["judge"] == judge) & (judgments["language"] == language)
    verdicts = oriented_verdicts(judgments[is_shown]).astype(dict.fromkeys(PAIR, str))
    rng = np.random.default_rng(0)
    honest = []
    fooling = []
    beside = []
    for _ in range(DRAWS):
        items = honest_items(verdicts, rng)
        is_flipped = rng.random(len(items)) < flipped
        items.loc[is_flipped, "by_judge"] = rng.choice([-1.0, 1.0], is_flipped.sum())
        honest.append(has_failed(items).mean())
        points = pd.concat([items["by_judge"], -items["by_judge"]])
        by_system = points.groupby(pd.concat([items[side] for side in PAIR]).to_numpy()).sum()
        system = rng.choice(by_system.index)
        failed = has_failed(planted(items, system, rng))
        fooling.append((by_system[system] < by_system.median(), failed[system]))
        beside.append(failed.drop(system).mean())
    table = pd.DataFrame(fooling, columns=["is_low", "failed"], dtype=float)
    in_lower_half = table.loc[table["is_low"] == 1, "failed"].mean()
    n_pairs = f"{2 * len(items) / len(by_system):.0f}"
    shares = [np.mean(honest), table["failed"].mean(), in_lower_half, np.mean(beside)]
    return [n_pairs, *(f"{100 * share:.0f}" for share in shares)]


def honest_items(verdicts: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Give one verdict on each pair to the machine, the others to the reference."""
    shuffled = verdicts.iloc[rng.permutation(len(verdicts))]
    is_machine = ~shuffled.duplicated(QUESTION_PAIR)
    parts = {}
    for name, part in (
        ("by_judge", shuffled[is_machine]),
        ("by_reference", shuffled[~is_machine]),
    ):
        parts[name] = part.groupby(QUESTION_PAIR)["outcome"].mean()
    return pd.DataFrame(parts).dropna().reset_index()


def planted(items: pd.DataFrame, system: str, rng: np.random.Generator) -> pd.DataFrame:
    """Let a system win some of its pairs by the machine."""
    is_fooled = items[PAIR].eq(system).any(axis=1) & (rng.random(len(items)) < FOOLED)
    outcome = np.where(items["first"] == system, 1.0, -1.0)
    return items.assign(by_judge=items["by_judge"].mask(is_fooled, outcome))


def has_failed(items: pd.DataFrame) -> pd.Series:
    return audited_systems(items).set_index("system")["verdict"] == "fail"
