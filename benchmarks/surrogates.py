"""How well surrogates rank unseen systems: a table of surrogates over arenas.

    python benchmarks/surrogates.py ARENA... --out FILE [--surrogates S1,S2] [--report]
        [--judge ARENA=JUDGE] [--feature-sets crude,default,deterministic] [--feature-cache FOLDER]
        [--repeats 5] [--tournaments 50] [--seed 0] [--jobs 1]

Each result is a line of FILE; what FILE has of the same settings and version is not measured
again, so that a run that was killed goes on. Last comes the table: Kendall tau of unseen systems
(mean over languages, 95% interval over systems), and how far two halves of an arena's questions
agree on its ranking. For surrogates with standard errors it is followed by the share of the
arena's ratings inside their intervals. ``--report`` prints what FILE has.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from crude_features import CRUDE_FEATURES
from judge_options import add_judge_option, pairs_of_names
from reliability import SHARES, SPLITS, coverage, split_half

from arena import Arena, read_arena
from arena.data import __version__
from arena.data.errors import ArenaError
from features import extract
from surrogate.learning.surrogate import SURROGATE_NAMES
from surrogate_arena.studies.scores import outcome_scores
from surrogate_arena.studies.study import Study

Line = dict[str, Any]

CRUDE = "crude"
HALVES = "half of the questions"
OF_HALVES = ("", "")
"""Protocol and features of halves of the questions, which every table shows."""
ARENA_KEY = ("arena", "judge", "surrogate", "features", "protocol")
KEY = (*ARENA_KEY, "repeats", "tournaments", "seed", "version")


def main() -> None:
    options = read_options()
    if not options.report:
        for folder in options.arenas:
            measure_arena(folder, options)
    names = [folder.name for folder in options.arenas]
    lines = [line for line in read_lines(options.out) if line["arena"] in names or not names]
    print(report(lines))


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arenas", type=Path, nargs="*", help="arena folders")
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines, one a result")
    add_judge_option(parser)
    parser.add_argument("--surrogates", default=",".join(SURROGATE_NAMES))
    parser.add_argument("--feature-sets", default="default")
    parser.add_argument("--feature-cache", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tournaments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="measure nothing")
    return parser.parse_args()


def read_lines(path: Path) -> list[Line]:
    """Read the results; a line that was cut off by a kill is measured again."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def measure_arena(folder: Path, options: argparse.Namespace) -> None:
    """Validate each surrogate on each feature set; append what is new to the file."""
    arena = read_arena(folder)
    judge = dict(pairs_of_names(options.judge)).get(folder.name)
    if judge is None and len(arena.judges) != 1:
        sys.exit(f"{folder.name}: --judge {folder.name}=JUDGE, of {', '.join(arena.judges)}")
    done = {identity(line) for line in read_lines(options.out)}

    @cache
    def table(features: str) -> pd.DataFrame:
        if features == CRUDE:  # of no module that workers can import
            return extract(arena, CRUDE_FEATURES)
        return extract(arena, features, n_jobs=options.jobs, cache=options.feature_cache)

    for features in options.feature_sets.split(","):
        for surrogate in (HALVES, *options.surrogates.split(",")):
            line = settings_of(options, features, surrogate)
            line |= {"arena": folder.name, "judge": judge or arena.judges[0]}
            if identity(line) in done:
                continue
            started = time.perf_counter()
            try:
                line |= measured(arena, table(features), line, options.jobs)
            except ArenaError as error:
                line["reason"] = str(error)
            line["seconds"] = time.perf_counter() - started
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(f"{folder.name} {surrogate} {features}: {cell(line)}", flush=True)


def settings_of(options: argparse.Namespace, features: str, surrogate: str) -> Line:
    """Return the settings of a result; halves of the questions know no features and no folds."""
    line = {"surrogate": surrogate, "seed": options.seed, "version": __version__}
    if surrogate == HALVES:
        return {**line, "features": "", "protocol": "", "repeats": SPLITS, "tournaments": 1}
    chosen = {name: getattr(options, name) for name in ("repeats", "tournaments")}
    return {**line, **chosen, "protocol": "leave-systems-out", "features": features}


def identity(line: Line) -> tuple[object, ...]:
    return tuple(line[name] for name in KEY)


def measured(arena: Arena, table: pd.DataFrame, line: Line, jobs: int) -> Line:
    """Return the scores of a surrogate, or of two halves of the questions."""
    settings = {
        "judge": line["judge"],
        "feature_table": table,
        "tournaments": line["tournaments"],
        "seed": line["seed"],
    }
    if line["surrogate"] == HALVES:
        return split_half(Study.of(arena, **settings).languages, line["seed"])
    study = Study.of(arena, line["surrogate"], line["repeats"], n_jobs=jobs, **settings)
    outcomes = study.unseen()
    scores = outcome_scores(outcomes, line["seed"])
    macro: Line = scores.iloc[-1].drop("language").replace({np.nan: None}).to_dict()
    macro["reason"] = "; ".join(dict.fromkeys(filter(None, scores["reason"]))) or None
    return macro | coverage(outcomes, line["seed"])


def report(lines: Sequence[Line]) -> str:
    """Return as Markdown tau by protocol and feature set, coverage, and why there is no result."""
    texts = []
    for protocol, features in dict.fromkeys(map(table_of, lines)):
        if protocol:
            shown_in = ((protocol, features), OF_HALVES)
            table = taus([line for line in lines if table_of(line) in shown_in])
            texts.append(f"{protocol}, features {features} (repeats × tournaments)\n\n{table}")
    texts.append(coverage_table(lines))
    for line in lines:
        if line.get("reason"):
            texts.append(f"{line['arena']}, {line['surrogate']}: {line['reason']}")
    return "\n\n".join(texts)


def table_of(line: Line) -> tuple[str, str]:
    return line["protocol"], line["features"]


def coverage_table(lines: Sequence[Line]) -> str:
    """Return as Markdown what intervals of surrogates with standard errors hold."""
    head = ["arena", "surrogate", "protocol", "features", "repeats × tournaments"]
    head += ["± 1.645 SE", "conformal 90%", "its half-width (SD)"]
    rows = [head]
    for line in lines:
        if line.get("normal_coverage") is not None:
            row = [line[name] for name in ("arena", "surrogate", "protocol", "features")]
            row.append(f"{line['repeats']} × {line['tournaments']}")
            row += [shown(line[name]) for name in SHARES]
            rows.append(row)
    return markdown(rows)


def taus(lines: Sequence[Line]) -> str:
    """Tau of surrogates over arenas, of several those of most repeats; the best in bold."""
    ordered = sorted(lines, key=lambda line: (line["tournaments"], line["repeats"]))
    cells = {(line["surrogate"], line["arena"]): line for line in ordered}
    arenas = list(dict.fromkeys(line["arena"] for line in lines))
    best = {}
    for arena in arenas:
        best[arena] = best_tau(line for line in cells.values() if line["arena"] == arena)
    rows = [["surrogate", *arenas]]
    for surrogate in [*SURROGATE_NAMES, HALVES]:
        results = {}
        for arena in arenas:
            results[arena] = cells.get((surrogate, arena), {"surrogate": surrogate})
        if any("tau" in line for line in results.values()):
            rows.append([surrogate, *[cell(results[arena], best[arena]) for arena in arenas]])
    return markdown(rows)


def best_tau(lines: Iterable[Line]) -> float | None:
    all_taus = [line.get("tau") for line in lines if line["surrogate"] != HALVES]
    return max((tau for tau in all_taus if tau is not None), default=None)


def cell(line: Line, best: float | None = None) -> str:
    if line.get("tau") is None:
        return "–"
    tau = shown(line["tau"])
    size = "" if line["surrogate"] == HALVES else f" {line['repeats']} × {line['tournaments']}"
    if line["tau"] == best:
        tau = f"**{tau}**"
    return f"{tau} [{shown(line['tau_low'])}, {shown(line['tau_high'])}]{size}"


def shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body])


if __name__ == "__main__":
    main()
