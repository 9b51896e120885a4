"""How often is a jury of recorded judges right, with and without weights?

    python benchmarks/tables.py juries

On the pairs that all judges of an arena judged and its reference decides: percent on which the best
judge (chosen on other questions), the majority, and the jury of ``agreement`` (weights learned on
other questions) decide as the reference does, and what the jury gains, with 95% intervals.
"""

from __future__ import annotations

from pathlib import Path

from arena import read_arena
from surrogate_arena.diagnosis.jury import BEST, MAJORITY, WEIGHTED, jury

JURY_COLUMNS = ["best judge", "majority", "jury", "more than the best", "more than the majority"]


def with_jury(folder: Path, reference: str, language: str) -> list[str]:
    """Return the number of pairs, percent right, and gains."""
    judgments = read_arena(folder).judgments
    table = jury(judgments[judgments["language"] == language], [reference]).set_index("judge")
    right = [f"{100 * table.loc[name, 'right']:.1f}" for name in (BEST, MAJORITY, WEIGHTED)]
    gains = []
    for name in (BEST, MAJORITY):
        gain, low, high = 100 * table.loc[name, ["jury_gain", "low", "high"]].to_numpy(float)
        gains.append(f"{gain:z.1f} ({low:z.0f} to {high:z.0f})")
    return [str(table.loc[WEIGHTED, "pairs"]), *right, *gains]
