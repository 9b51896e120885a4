"""How far win rates by AlpacaEval's own annotations are from its published leaderboard.

Every model's annotations are read as ``fit`` reads a file of battles; its win rate is its share of
the points against the reference. On the leaderboard some go by another name.

    git clone https://github.com/tatsu-lab/alpaca_eval && cd alpaca_eval
    python benchmarks/alpacaeval.py results docs/data_AlpacaEval/alpaca_eval_gpt4_leaderboard.csv
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import pandas as pd

from arena.rating.ratings import rate
from arena.statistics.agreement import kendall_tau
from surrogate_arena.importers.judgments import counted_judgments_of

REFERENCE = "text_davinci_003"
PREFERENCES = "preference:1=a,2=b,0=tie,1.5=tie"


def annotations_of(results: Path) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for path in sorted(results.glob("*/alpaca_eval_gpt4/annotations.json")):
        text = path.read_text(encoding="utf-8")
        # A clone without its large files has empty ones.
        rows += json.loads(text or "[]")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("leaderboard", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "annotations.json"
        path.write_text(json.dumps(annotations_of(options.results)), encoding="utf-8")
        read = counted_judgments_of(path, values=[PREFERENCES])
    print(*read.understood, sep="\n")
    rated = rate(read.table, judge="all")
    table = rated.table.set_index("system")
    battles = table["wins"] + table["losses"] + table["ties"]
    table["win_rate"] = 100 * (table["wins"] + table["ties"] / 2) / battles
    published = pd.read_csv(options.leaderboard, index_col=0).add_prefix("published_")
    both = table.join(published, how="inner").drop(index=REFERENCE, errors="ignore")
    differences = (both["win_rate"] - both["published_win_rate"]).abs()
    print(f"{len(both)} of {len(table) - 1} models are on the leaderboard")
    print(f"with as many battles: {(battles[both.index] == both['published_n_total']).sum()}")
    print(f"largest difference of win rates: {differences.max():.1e} points")
    tau = kendall_tau(both["rating"].to_numpy(), both["published_win_rate"].to_numpy())
    print(f"tau of ratings with published win rates: {tau:.3f}")
    print("\n".join(map(str, rated.remarks)))


if __name__ == "__main__":
    main()
