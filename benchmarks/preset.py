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
from surrogate import Board, build_board

WITHOUT_MODELS = [feature for feature in GROUPS["paper"] if feature.reading is None]
BY_LIBRARIES = [feature for feature in GROUPS["as-published"] if feature.reading is None]
DEFAULTS = {feature.name: feature for feature in WITHOUT_MODELS}
OURS = {
    "libraries": (),
    "identifier": ("target_language", "english"),
    "bleu": ("bleu",),
    "rouge_l": ("rouge_l",),
}
"""Feature tables, and their features that are not those by libraries but our defaults."""
LINES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("preset mirage", "libraries", {}),
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
    tables = {}
    for table_name, ours in OURS.items():
        features = [DEFAULTS[f.name] if f.name in ours else f for f in BY_LIBRARIES]
        tables[table_name] = extract(arena, features)
    print_features(tables["libraries"], extract(arena, WITHOUT_MODELS))
    rows = []
    for name, table_name, changed in LINES:
        settings = dict(changed)
        if settings.get("surrogate") == "answers":
            settings["missing"] = "nan"
        table = tables[table_name]
        rows.append(
            line(name, build_board(arena, preset="mirage", feature_table=table, **settings))
        )
    rows.append(line("default board", build_board(arena)))
    effects = pd.DataFrame(rows)
    print(effects.to_string(index=False, float_format="%.3f"))
    if options.out is not None:
        effects.to_csv(options.out, index=False)


def line(name: str, board: Board) -> dict[str, object]:
    """Sum a board up in a row."""
    macro = board.summary.macro
    scores = {"tau": macro.tau, "unseen": macro.tau_unseen, "r2": macro.holdout_r2}
    print(name, scores, file=sys.stderr, flush=True)
    return {"board": name, **scores}


def print_features(by_libraries: pd.DataFrame, by_default: pd.DataFrame) -> None:
    """Print the mean of each feature by the libraries and by our default, by language."""
    columns = zip(feature_columns(by_libraries), feature_columns(by_default), strict=True)
    for library_column, default_column in columns:
        if library_column != default_column:
            means = [
                by_libraries.groupby("language")[library_column].mean(),
                by_default.groupby("language")[default_column].mean(),
            ]
            print(pd.DataFrame(means).round(3).to_string())


if __name__ == "__main__":
    main()
