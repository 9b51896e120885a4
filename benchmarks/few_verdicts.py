"""The benchmark of ranking with few verdicts, by arena: ours, the best other, and the two anchors.

python benchmarks/tables.py few-verdicts
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

RESULTS = Path(__file__).parents[1] / "benchmark" / "results"
OURS = "surrogate_arena"
ANCHORS = ("random_pairs", "ceiling")
CALLS = 100


def few_verdicts(arena: str) -> list[str]:
    """Return tau at 100 calls; what is first is bold."""
    taus = {}
    for path in RESULTS.glob("*.csv"):
        runs = pd.read_csv(path)
        is_of_arena = runs["task"].str.split(" ").str[0] == arena
        asked = runs[is_of_arena & (runs["track"] == "calls") & (runs["budget"] == CALLS)]
        taus[path.stem] = float(asked.groupby("task")["tau"].mean().mean())
    random, ceiling = (f"{taus.pop(name):.2f}" for name in ANCHORS)
    ours = taus.pop(OURS)
    best = max(sorted(taus), key=lambda name: taus[name])
    own, other = f"{ours:.2f}", f"{taus[best]:.2f}, {best}"
    if ours >= taus[best]:
        own = f"**{own}**"
    else:
        other = f"**{other}**"
    return [own, other, random, ceiling]
