"""Are the faults that checks find in answers real? A sample of each check's, to be read.

    python benchmarks/fault_precision.py ARENA ... [--samples 100] [--out FILE]

Prints of each arena how many answers each check flags, and of how many it cannot tell. FILE gets a
sample of the flagged answers of all arenas, by check, as JSON lines: whoever reads question and
answer there sees whether the check is right.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from arena import read_arena
from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from surrogate.checks.faults import find_faults

SHOWN = ["check", "arena", *ANSWER_KEY, "query", "answer"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arenas", nargs="+")
    parser.add_argument("--samples", type=int, default=100, help="answers of each check")
    parser.add_argument("--out", type=Path, help="file for the samples")
    options = parser.parse_args()
    parts = []
    for folder in options.arenas:
        arena = read_arena(folder, is_judged=False)
        faults = find_faults(arena, arena.answers)
        counts = {
            "found": faults.found["check"].value_counts(),
            "unchecked": faults.unchecked["check"].value_counts(),
        }
        print(f"\n{arena.info.name}: {len(arena.answers):,} answers")
        print(pd.DataFrame(counts).fillna(0).astype(int).to_string())
        found = faults.found.merge(arena.answers, on=ANSWER_KEY)
        found = found.merge(arena.queries[[*QUESTION_KEY, "query"]], on=QUESTION_KEY)
        parts.append(found.assign(arena=arena.info.name)[SHOWN])
    table = pd.concat(parts, ignore_index=True)
    samples = [
        rows.sample(min(len(rows), options.samples), random_state=0)
        for _, rows in table.groupby("check")
    ]
    if options.out is not None and samples:
        text = pd.concat(samples).to_json(orient="records", lines=True, force_ascii=False)
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
