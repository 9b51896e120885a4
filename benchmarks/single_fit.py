"""Rating by millions of verdicts, with intervals, against libraries that give ratings alone.

Each row is a process of its own: it reads the same Parquet file of simulated verdicts (10% ties,
5,000 questions), and prints processor seconds of reading, of rating (the least of several repeats)
and the peak of memory. Peers get the columns that they take, with winners in their form, so that
theirs is the fit alone; ours reads checked judgments, counts copies, and estimates intervals, ranks
and the advantage of side A too. ``newton`` is the least that can be done: counts by ``numpy``, and
Newton's method for the plain likelihood.

    python benchmarks/single_fit.py --battles 1000000 --systems 200 [--only ours,evalica]

``--form`` writes the same verdicts as other programs do: with further columns, as LMArena, as CSV
or as JSON lines.

``--peers`` is the Python of an environment that holds peers (``pip install arena-rank evalica``).
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import expit

QUESTIONS = 5_000
TIES = 0.1
WRITTEN_AT_ONCE = 1_000_000


def write_battles(path: Path, n_battles: int, n_systems: int) -> None:
    """Write simulated verdicts to a Parquet file, a row group at a time."""
    rng = np.random.default_rng(0)
    strengths = rng.normal(size=n_systems)
    systems = pa.array([f"system-{number:04}" for number in range(n_systems)])
    questions = pa.array([f"q{number:05}" for number in range(QUESTIONS)])
    writer = None
    for start in range(0, n_battles, WRITTEN_AT_ONCE):
        size = min(WRITTEN_AT_ONCE, n_battles - start)
        side_a = rng.integers(n_systems, size=size)
        side_b = (side_a + rng.integers(1, n_systems, size=size)) % n_systems
        is_won = rng.random(size) < expit(strengths[side_a] - strengths[side_b])
        winner = np.where(rng.random(size) < TIES, 2, np.where(is_won, 0, 1))
        table = pa.table(
            {
                "query_id": questions.take(pa.array(rng.integers(QUESTIONS, size=size))),
                "language": pa.array(["en"]).take(pa.array(np.zeros(size, dtype=np.int64))),
                "system_a": systems.take(pa.array(side_a)),
                "system_b": systems.take(pa.array(side_b)),
                "winner": pa.array(["a", "b", "tie"]).take(pa.array(winner)),
                "judge": pa.array(["simulated"]).take(pa.array(np.zeros(size, dtype=np.int64))),
            }
        )
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def write_form(plain: Path, path: Path, form: str) -> None:
    """Write plain verdicts in another form."""
    table = pd.read_parquet(plain)
    rng = np.random.default_rng(1)
    size = len(table)
    if form == "further":
        table["confidence"] = rng.random(size).round(3)
        table["explanation"] = [f"A cites source {row} and B does not" for row in range(size)]
        table["time"] = pd.date_range("2026-01-01", periods=size, freq="s")
    if form == "lmarena":
        words = {"a": "model_a", "b": "model_b", "tie": "tie (bothbad)"}
        voters = rng.integers(max(size // 5, 1), size=size)
        columns = {
            "conversation_id": [f"{row * 2_654_435_761 % 2**64:032x}" for row in range(size)],
            "model_a": table["system_a"],
            "model_b": table["system_b"],
            "winner": table["winner"].map(words),
            "judge": [f"arena_user_{voter}" for voter in voters],
            "turn": rng.integers(1, 4, size=size),
            "anony": rng.random(size) < 0.9,
            "language": rng.choice(["English", "German", "unknown"], size),
            "tstamp": rng.random(size),
        }
        table = pd.DataFrame(columns)
    if form == "csv":
        table.to_csv(path, index=False)
    elif form == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_parquet(path, index=False)


def ours(path: Path) -> Callable[[], pd.Series]:
    """Rate from the checked file."""
    from arena.rating.ratings import rate
    from surrogate_arena.importers.judgments import counted_judgments_of

    judgments = counted_judgments_of(path).table
    return lambda: rate(judgments, language="all").table.set_index("system")["rating"]


def ours_from_texts(path: Path) -> Callable[[], pd.Series]:
    """Rate from a table of texts in memory, which peers take too."""
    from arena.rating.ratings import rate

    judgments = pd.read_parquet(path)
    return lambda: rate(judgments).table.set_index("system")["rating"]


def evalica(path: Path) -> Callable[[], pd.Series]:
    """Fit by evalica's core in Rust."""
    import evalica

    judgments = pd.read_parquet(path)
    forms = {"a": evalica.Winner.X, "b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    winners = [forms[winner] for winner in judgments["winner"]]

    def fit() -> pd.Series:
        fitted = evalica.bradley_terry(judgments["system_a"], judgments["system_b"], winners)
        return fitted.scores

    return fit


def evalica_core(path: Path) -> Callable[[], pd.Series]:
    """Fit by evalica's core in Rust alone, from codes and weights that are ready."""
    import evalica

    judgments = pd.read_parquet(path)
    forms = {"a": evalica.Winner.X, "b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    codes_a, codes_b, index = evalica.indexing(judgments["system_a"], judgments["system_b"])
    arguments: dict[str, Any] = {
        "xs": codes_a,
        "ys": codes_b,
        "winners": [forms[winner] for winner in judgments["winner"]],
        "weights": np.ones(len(judgments)),
        "total": len(index),
        "win_weight": 1.0,
        "tie_weight": 0.5,
        "tolerance": 1e-6,
        "limit": 100,
    }
    return lambda: pd.Series(evalica._brzo.bradley_terry(**arguments)[0], index)


def arena_rank(path: Path) -> Callable[[], pd.Series]:
    """Fit by arena-rank, with its standard errors."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    judgments = pd.read_parquet(path, columns=["system_a", "system_b", "winner"])
    names = {"system_a": "model_a", "system_b": "model_b"}
    battles = judgments.rename(columns=names).replace({"winner": {"a": "model_a", "b": "model_b"}})

    def fit() -> pd.Series:
        dataset = PairDataset.from_pandas(battles)
        model = BradleyTerry(n_competitors=len(dataset.competitors))
        fitted = model.compute_ratings_and_cis(dataset)
        return pd.Series(fitted["ratings"], fitted["competitors"])

    return fit


def newton(path: Path) -> Callable[[], pd.Series]:
    """Count by numpy, from integer codes that are ready, and maximize the plain likelihood."""
    from arena.rating.bradley_terry import NormalPrior, PenalizedLikelihood, solve
    from arena.rating.pairs import Pairs

    judgments = pd.read_parquet(path)
    code_a, names = pd.factorize(judgments["system_a"], sort=True)
    code_b = names.get_indexer(judgments["system_b"])
    points = judgments["winner"].map({"a": 1.0, "b": 0.0, "tie": 0.5}).to_numpy(np.float64)
    size = len(names)

    def fit() -> pd.Series:
        cells = code_a * size + code_b
        counts = np.bincount(cells, minlength=size**2)
        won = np.bincount(cells, points, size**2)
        met = np.flatnonzero(counts)
        pairs = Pairs(*np.divmod(met, size), size)
        met_won = won[met][:, None].astype(np.float64)
        prior = NormalPrior.ridge(size, 0.0)
        problem = PenalizedLikelihood(pairs, met_won, counts[met][:, None].astype(float), prior)
        fitted = solve(problem).checked()
        return pd.Series(fitted.coefficients[0], names)

    return fit


METHODS: dict[str, Callable[[Path], Callable[[], Any]]] = {
    "ours": ours,
    "ours-texts": ours_from_texts,
    "evalica": evalica,
    "evalica-core": evalica_core,
    "arena-rank": arena_rank,
    "newton": newton,
}
SUFFIXES = {"plain": ".parquet", "further": ".parquet", "lmarena": ".parquet"}
SUFFIXES |= {"csv": ".csv", "jsonl": ".jsonl"}
"""Ending of the file of each form."""
PEERS = ("evalica", "evalica-core", "arena-rank")


def measure(method: str, path: Path, repeats: int) -> None:
    """Print processor seconds of reading and of rating, and the peak of memory."""
    start = time.process_time()
    rate = METHODS[method](path)
    reading = time.process_time() - start
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        ratings = rate()
        seconds.append(time.process_time() - start)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    best = ratings.idxmax()
    row = f"{method:14} {reading:8.2f} {min(seconds):8.2f} {gigabytes:6.2f} GB"
    print(f"{row}   best {best}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--battles", type=int, default=1_000_000)
    parser.add_argument("--systems", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="ours,ours-texts,evalica,evalica-core,arena-rank,newton")
    parser.add_argument("--form", choices=SUFFIXES, default="plain", help="of the file")
    parser.add_argument("--file", type=Path, help="of an earlier run; by default a new one")
    parser.add_argument("--peers", default=sys.executable, help="Python that has the peers")
    parser.add_argument("--measured", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measured:
        measure(options.measured, options.file, options.repeats)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder) / "battles.parquet"
        if not path.exists():
            write_battles(path, options.battles, options.systems)
        if options.form != "plain":
            plain = path
            path = Path(folder) / f"{options.form}{SUFFIXES[options.form]}"
            write_form(plain, path, options.form)
        print(f"{'':14} {'reading':>8} {'rating':>8} seconds of the processor", flush=True)
        for method in options.only.split(","):
            python = options.peers if method in PEERS else sys.executable
            measured = ["--measured", method, "--file", str(path)]
            command = [python, __file__, *measured, "--repeats", str(options.repeats)]
            if subprocess.run(command, check=False).returncode:
                print(f"{method:14} failed", flush=True)


if __name__ == "__main__":
    main()
