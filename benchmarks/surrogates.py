"""How well surrogates of all kinds rank unseen systems, by feature sets on one arena, same folds.

    python benchmarks/surrogates.py ARENA [--surrogates S1,S2] [--feature-sets crude,default]
        [--repeats 5] [--tournaments 50] [--jobs -1] [--feature-cache FOLDER] [--json FILE]

Prints Kendall tau of unseen systems (leave-systems-out, five folds a repeat; macro over languages)
with its 95% interval over systems, the paired difference from the crude features, and, as the
limit of what can be expected, how far two halves of the questions agree on the ranking.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

sys.path[0] = str(Path(__file__).parents[1])  # beside this file stands one named features
sys.path.append(str(Path(__file__).parent))

from crude_features import CRUDE_FEATURES  # noqa: E402

from arena import Arena, read_arena  # noqa: E402
from arena.data.seeds import generator  # noqa: E402
from arena.rating.battles import Battles  # noqa: E402
from arena.rating.bradley_terry import DEFAULT_RIDGE  # noqa: E402
from arena.rating.tournaments import fit_coefficients  # noqa: E402
from arena.statistics.bootstrap import percentile_interval  # noqa: E402
from arena.statistics.rank_agreement import kendall_tau  # noqa: E402
from features import Feature, extract, parse_features  # noqa: E402
from surrogate.validation import TournamentSettings, Validation, validate  # noqa: E402
from surrogate.validation.scores import MACRO, replicate_taus  # noqa: E402
from surrogate.validation.study import study_data  # noqa: E402

Floats = npt.NDArray[np.float64]

CRUDE = "crude"
FEATURE_SETS = (CRUDE, "default", "deterministic", "grounding")
SURROGATES = (
    *("random-forest", "extra-trees", "xgboost", "ridge", "relative-ridge", "pairwise-logistic"),
    *("linear", "mlp", "svr", "rank-pairwise"),
)
HALVES = 200


def main() -> None:
    options = read_options()
    arena = read_arena(options.arena)
    settings = TournamentSettings(tournaments=options.tournaments, seed=options.seed)
    tables = {
        name: measured(arena, name, options.feature_cache, options.jobs)
        for name in options.feature_sets.split(",")
    }
    rows = []
    for surrogate in options.surrogates.split(","):
        done = {}
        for name, table in tables.items():
            started = time.perf_counter()
            done[name] = validate(
                arena,
                "leave-systems-out",
                surrogate,
                judge=options.judge,
                feature_table=table,
                repeats=options.repeats,
                tournaments=settings,
                n_jobs=options.jobs,
            )
            crude = done.get(CRUDE)
            rows.append(row(surrogate, name, done[name], crude, options.seed, started))
            print(shown(rows[-1]), flush=True)
    halves = split_half(arena, tables, options.judge, settings)
    for language, (tau, low, high) in halves.items():
        print(f"split-half of the questions, {language}: tau {tau:.3f} [{low:.3f}, {high:.3f}]")
    if options.json is not None:
        content = {"arena": arena.info.name, "rows": rows, "split_half": halves}
        options.json.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arena", type=Path)
    parser.add_argument("--judge")
    parser.add_argument("--surrogates", default=",".join(SURROGATES))
    parser.add_argument("--feature-sets", default=",".join(FEATURE_SETS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tournaments", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--feature-cache", type=Path)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def measured(arena: Arena, name: str, cache: Path | None, jobs: int) -> pd.DataFrame:
    """Measure a feature set; crude features are of no module that workers can import."""
    chosen: Sequence[Feature] = CRUDE_FEATURES if name == CRUDE else parse_features(name)
    started = time.perf_counter()
    table = extract(arena, chosen, n_jobs=1 if name == CRUDE else jobs, cache=cache)
    print(f"{name}: {len(chosen)} features in {time.perf_counter() - started:.1f} s", flush=True)
    return table


def row(
    surrogate: str, name: str, done: Validation, crude: Validation | None, seed: int, started: float
) -> dict[str, object]:
    """Return one line of the table; the difference is paired over the same resamples."""
    found = done.scores
    against: tuple[float | None, float | None, float | None] = (None, None, None)
    if crude is not None and crude is not done:
        replicates = [replicate_taus(item.outcomes, seed)[MACRO] for item in (done, crude)]
        low, high = percentile_interval(replicates[0] - replicates[1])
        against = (found.tau - crude.scores.tau, low, high)
    return {
        "surrogate": surrogate,
        "features": name,
        "tau": found.tau,
        "low": found.tau_low,
        "high": found.tau_high,
        "difference": against[0],
        "difference_low": against[1],
        "difference_high": against[2],
        "pairwise_accuracy": found.pairwise_accuracy,
        "systems": found.n_systems,
        "seconds": time.perf_counter() - started,
    }


def shown(line: dict[str, object]) -> str:
    text = (
        f"{line['surrogate']:<22} {line['features']:<14} tau {line['tau']:.3f} "
        f"[{line['low']:.3f}, {line['high']:.3f}]"
    )
    if line["difference"] is not None:
        text += (
            f"  over crude {line['difference']:+.3f} "
            f"[{line['difference_low']:+.3f}, {line['difference_high']:+.3f}]"
        )
    return f"{text}  {line['seconds']:.0f} s"


def split_half(
    arena: Arena, tables: dict[str, pd.DataFrame], judge: str | None, settings: TournamentSettings
) -> dict[str, tuple[float, float, float]]:
    """Kendall tau of the ratings of two random halves of the questions, with 95% of the splits."""
    data = study_data(
        arena, judge=judge, feature_table=next(iter(tables.values())), tournaments=settings
    )
    found = {}
    for item in data.languages:
        taus = half_taus(item.tournaments.battles, settings.seed)
        found[item.language] = (float(np.nanmean(taus)), *percentile_interval(taus))
    return found


def half_taus(battles: Battles, seed: int) -> Floats:
    random = generator(seed, "split half")
    size = len(battles.questions)
    first = np.array([random.permutation(size) < size // 2 for _ in range(HALVES)], dtype=float)
    halves = []
    for weights in (first, 1 - first):
        halves.append(fit_coefficients(battles, weights, DEFAULT_RIDGE))
    return np.array([kendall_tau(one, other) for one, other in zip(*halves, strict=True)])


if __name__ == "__main__":
    main()
