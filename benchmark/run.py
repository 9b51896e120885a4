"""Rank with few verdicts: run a method on the benchmark, and score it.

    python benchmark/run.py METHOD.py [--seeds 3] [--tasks rakuda,vicuna80] [--jobs 2] [--out FILE]
    python benchmark/run.py --ceiling         # the ratings by all verdicts that could be asked
    python benchmark/run.py --tables          # writes the tables of README.md from results/

METHOD.py has a function ``method(arena, ask, budget, seed)``, as README.md says. Three tracks: all
systems at 50, 100, 200 and 400 calls; a third of the systems may not be asked about, at 100 calls;
no calls. A budget is left out where a task has fewer recorded pairs. What is printed compares the
method with those in results/ on the same tasks; runs of all tasks are kept there.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed
from result_tables import (
    CEILING,
    difference_table,
    mean_scores,
    read_results,
    with_columns,
    write_tables,
)
from scores import MethodError, Rating, checked_ratings, scores_of
from tasks import TASKS, Ask, Puzzle, Task, puzzle_of

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
BUDGETS = (50, 100, 200, 400)
HIDDEN_BUDGET = 100
SEEDS = 3
Method = Callable[..., Mapping[str, Rating]]


def main() -> None:
    """Run a method, print its scores, and keep them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("method", type=Path, nargs="?", help="Python file with a function method")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="halves of questions a task")
    parser.add_argument("--tasks", help="comma-separated arenas; by default all")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, help="CSV; by default in results/ if all was run")
    parser.add_argument("--ceiling", action="store_true", help="rate by all verdicts instead")
    parser.add_argument("--tables", action="store_true", help="write README.md's tables")
    options = parser.parse_args()
    if options.tables:
        write_tables(FOLDER / "README.md", RESULTS)
        return
    if options.method is None and not options.ceiling:
        parser.error("name a method's file, or give --ceiling or --tables")
    known = list(dict.fromkeys(task.arena for task in TASKS))
    arenas = options.tasks.split(",") if options.tasks else known
    unknown = sorted(set(arenas) - set(known))
    if unknown:
        parser.error(f"--tasks names {unknown[0]}; there are {', '.join(known)}")
    if options.method is not None:
        load_method(options.method)
    tasks = [task for task in TASKS if task.arena in arenas]
    runs = [(task, seed) for task in tasks for seed in range(options.seeds)]
    try:
        results = Parallel(n_jobs=options.jobs)(
            delayed(run_puzzle)(options.method, task, seed) for task, seed in runs
        )
    except MethodError as error:
        raise SystemExit(f"{options.method}: {error}") from None
    name = CEILING if options.ceiling else options.method.stem
    table = pd.DataFrame([row for rows in results for row in rows])
    print(f"Tau, in brackets less that of random pairs, on {', '.join(arenas)}:")
    print(compared(name, table).to_string())
    out = options.out
    if out is None and set(arenas) == set(known) and options.seeds == SEEDS:
        out = RESULTS / f"{name}.csv"
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(out, index=False, float_format="%.4f")
        print(f"{len(table)} runs in {out}")


def compared(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return tau of a method beside those in results/, on its tasks and halves."""
    others = read_results(RESULTS)
    ours = with_columns(table.assign(method=name))
    runs = pd.concat([others[others["method"] != name], ours], ignore_index=True)
    same = runs["task"].isin(table["task"]) & runs["seed"].isin(table["seed"])
    return difference_table(mean_scores(runs[same])["tau"])


def run_puzzle(path: Path | None, task: Task, seed: int) -> list[dict[str, object]]:
    """Run a method on every track of a task; without one, rate by all verdicts."""
    method = None if path is None else load_method(path)
    rows = []
    whole = puzzle_of(task, seed)
    for track, budget, puzzle in tracks_of(whole):
        ask = Ask(puzzle.judgments, budget)
        start = time.process_time()
        ratings: Mapping[str, Rating]
        if method is None:
            ratings = whole.ratings_by_all_verdicts
        else:
            at = f"{task}, half {seed}, {budget} calls"
            ratings = ratings_by(method, puzzle, ask, seed, at)
        seconds = time.process_time() - start
        scores = scores_of(ratings, puzzle)
        cell = {"task": str(task), "seed": seed, "track": track, "budget": budget}
        rows.append(cell | {"calls": budget - ask.left, "seconds": seconds} | scores)
    return rows


def ratings_by(method: Method, puzzle: Puzzle, ask: Ask, seed: int, at: str) -> dict[str, Rating]:
    """Call a method; what it does wrong is told with the run at which it did."""
    try:
        ratings = method(puzzle.arena, ask, ask.budget, seed)
    except Exception as error:
        steps = traceback.format_exception(error)
        raise MethodError(f"failed on {at}\n{''.join(steps)}") from None
    return checked_ratings(ratings, puzzle.systems, at)


def tracks_of(puzzle: Puzzle) -> Iterator[tuple[str, int, Puzzle]]:
    """Yield track, budget and puzzle of every run."""
    for budget in BUDGETS:
        if budget <= puzzle.n_pairs:
            yield "calls", budget, puzzle
    yield "hidden", HIDDEN_BUDGET, puzzle.without_hidden()
    yield "none", 0, puzzle


def load_method(path: Path) -> Method:
    """Return the function ``method`` of a file."""
    if not path.is_file():
        raise SystemExit(f"there is no file {path}")
    specification = importlib.util.spec_from_file_location(f"entry_{path.stem}", path)
    if specification is None or specification.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    if not hasattr(module, "method"):
        raise SystemExit(f"{path} has no function  method(arena, ask, budget, seed)")
    method: Method = module.method
    return method


if __name__ == "__main__":
    main()
