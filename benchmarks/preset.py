"""What each difference between ``--preset mirage`` and our defaults does to a board.

    python benchmarks/preset.py [ARENA] [--out effects.csv]

The arena is the simulated one unless one is given. Features are those without a model. The first
line is the preset; the second has R² of fewer tournaments and trees, as ours is, and so have all
below it, each of which changes one more setting to our default; the last is the default board. Tau
is that with the arena (macro), that of unseen systems, and R² the mean on the held-out systems,
where the surrogate learns from single tournaments.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from arena import read_arena
from arena.simulation import simulated_folder
from features import extract, feature_columns
from features.measures.registry import GROUPS
from surrogate import build_board

WITHOUT_MODELS = [feature for feature in GROUPS["paper"] if feature.reading is None]
BY_LIBRARIES = [feature for feature in GROUPS["as-published"] if feature.reading is None]
LINES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("preset mirage", "libraries", {"r2_tournaments": 200, "r2_trees": 100}),
    ("R² of 200 × 100 trees → 50 × 25", "libraries", {}),
    ("langid → py3langid", "identifier", {}),
    ("sacrebleu 13a → own tokens", "bleu", {}),
    ("rouge-score → own words", "rouge_l", {}),
    ("ties drop → half", "libraries", {"ties": "half"}),
    ("ridge 0 → 0.1", "libraries", {"ridge": 0.1}),
    ("missing zero → nan", "libraries", {"missing": "nan"}),
    ("rows overall → system", "libraries", {"rows": "system"}),
    ("arena ratings tournaments → judgments", "libraries", {"arena_ratings": "judgments"}),
    ("random-forest → answers", "libraries", {"surrogate": "answers"}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arena", type=Path, nargs="?", default=simulated_folder())
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    arena = read_arena(options.arena)
    own = {feature.name: feature for feature in WITHOUT_MODELS}
    replaced = {
        "libraries": (),
        "identifier": ("target_language", "english"),
        "bleu": ("bleu",),
        "rouge_l": ("rouge_l",),
    }
    tables = {
        name: extract(
            arena, [own[item.name] if item.name in names else item for item in BY_LIBRARIES]
        )
        for name, names in replaced.items()
    }
    print_features(tables["libraries"], extract(arena, WITHOUT_MODELS))
    rows = []
    for name, table, changed in LINES:
        if changed.get("surrogate") == "answers":
            changed = {**changed, "missing": "nan"}
        changed = {"r2_tournaments": 50, "r2_trees": 25} | changed
        built = build_board(arena, preset="mirage", feature_table=tables[table], **changed)
        rows.append(line(name, built))
    rows.append(line("default board", build_board(arena)))
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format="%.3f"))
    if options.out is not None:
        table.to_csv(options.out, index=False)


def line(name: str, board: Any) -> dict[str, object]:  # noqa: ANN401 - a board
    """Sum a board up in a row."""
    macro = board.summary.macro
    said = {"tau": macro.tau, "unseen": macro.tau_unseen, "r2": macro.holdout_r2_mean}
    print(name, said, file=sys.stderr, flush=True)
    return {"board": name, **said}


def print_features(published: pd.DataFrame, own: pd.DataFrame) -> None:
    """Print the mean of each feature by the libraries and by our default, by language."""
    pairs = zip(feature_columns(published), feature_columns(own), strict=True)
    for one, other in pairs:
        if one != other:
            means = {
                name: table.groupby("language")[name].mean()
                for table, name in ((published, one), (own, other))
            }
            print(pd.DataFrame(means).round(3).T.to_string())


if __name__ == "__main__":
    main()
