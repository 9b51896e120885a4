"""First boards, without any verdict, held against the verdicts that arenas hold.

Kendall's tau-b with the ratings by all verdicts of a judge, mean over languages: of the ratings a
first board has, and of what goes into them, alone.

Run:  python benchmarks/first_board.py ARENA [ARENA ...] [--features FOLDER]

FOLDER holds a feature table ARENA.parquet of each; by default the features are measured.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from arena import Arena, read_arena
from arena.rating.tournaments import DECIMALS
from arena.statistics.rank_agreement import kendall_tau
from features import extract
from features.engine.columns import feature_columns
from surrogate.board.first_board import (
    EVIDENCE,
    REFERENCE_FEATURES,
    first_ratings,
)
from surrogate.board.tables import read_feature_table
from surrogate.learning.languages import (
    TournamentSettings,
    language_data,
    with_answers,
)
from surrogate.learning.posterior.observations import observe
from surrogate.learning.training import training_ratings

PARTS = {
    "references": REFERENCE_FEATURES,
    "labels": ("citation_recall", "citation_map"),
    "consensus": (),
}
MEASURED = "bleu,rouge_l,citation_recall@10,citation_map@10"


def rated(arena: Arena, X: pd.DataFrame, texts: bool = True) -> dict[str, pd.Series]:
    """Return the first ratings of every language; without texts, nobody's answers agree."""
    table = with_answers(X, arena.answers)
    if not texts:
        table = table.assign(answer="")
    found = {}
    for language in sorted(set(table["language"])):
        first = first_ratings(table, language, arena.info.systems, 1, arena.info.reference_system)
        if first.used:
            found[language] = first.table.set_index("system")["rating"]
    return found


def tau(first: dict[str, pd.Series], truth: dict[str, pd.Series]) -> float:
    """Mean over languages; NaN where nothing is rated."""
    taus = [
        kendall_tau(first[language].reindex(own.index).to_numpy(float), own.to_numpy(float))
        for language, own in truth.items()
        if language in first
    ]
    return float(np.mean(taus)) if taus else float("nan")


def verdict_ratings(arena: Arena, judge: str, X: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the ratings by all verdicts of a judge, by language."""
    data = language_data(arena.judged_by(judge), X, TournamentSettings(tournaments=2))
    seen = observe(training_ratings({item.language: item.tournaments for item in data}))
    return {
        language: pd.Series(item.ratings, list(item.systems)).round(DECIMALS)
        for language, item in seen.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("arenas", type=Path, nargs="+", metavar="ARENA")
    parser.add_argument("--features", type=Path)
    arguments = parser.parse_args()
    print(f"{'arena, judge':44}{'systems':>8}{'board':>8}" + "".join(f"{n:>12}" for n in PARTS))
    for path in arguments.arenas:
        arena = read_arena(path)
        if arguments.features is None:
            table = extract(arena, MEASURED)
        else:
            table = read_feature_table(arguments.features / f"{path.name}.parquet")
        told = [name for name in feature_columns(table) if name.split("@")[0] in EVIDENCE]
        told = [name for name in told if name in MEASURED.split(",")]
        keys = ["language", "system", "query_id"]
        ratings = {"board": rated(arena, table[[*keys, *told]])}
        for part, names in PARTS.items():
            own = [name for name in told if name.split("@")[0] in names]
            ratings[part] = rated(arena, table[[*keys, *own]], texts=part == "consensus")
        for judge in arena.judges:
            truth = verdict_ratings(arena, judge, table)
            values = [tau(first, truth) for first in ratings.values()]
            shown = "".join(f"{value:{8 if at == 0 else 12}.2f}" for at, value in enumerate(values))
            name = f"{arena.info.name}, {judge}"
            print(f"{name:44}{len(arena.info.systems):8}{shown}", flush=True)


if __name__ == "__main__":
    main()
