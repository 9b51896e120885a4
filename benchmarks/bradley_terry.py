"""Bradley-Terry fits and bootstraps against choix, evalica and arena-rank, on one thread.

Every peer gets aggregated counts in its own form, prepared beforehand; only its fits are timed.
Ours is timed with everything, the draws of the bootstrap included. Coefficients are centred and
compared on the same counts, to each peer's own tolerance. See benchmarks/README.md.

Run:  python benchmarks/bradley_terry.py [--sizes small,medium,large,scaling] [--repeats 5]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import peers
from threadpoolctl import threadpool_limits
from workloads import (
    Floats,
    Questions,
    centred,
    repeated,
    simulated_codes,
    simulated_questions,
    write_battles,
)

from arena.battle_codes import BattleCodes
from arena.bradley_terry import fit_bradley_terry
from arena.likelihoods import Counts
from arena.outcomes import Outcomes, count_outcomes
from arena.rating_models import RatingModel
from arena.uncertainty import bootstrap, sandwich

MODEL = RatingModel(ties="half", ridge=0.0)
SYSTEMS, QUESTIONS, ROUNDS = 19, 100, 200
PEERS = ("choix", "evalica", "arena-rank")
LARGEST_CHOIX = 50
LARGEST_FROM_BATTLES = 2_000_000
SAMPLED = 5
SANDWICH_AGREEMENT = 1e-4
TARGET = "target: under 15 s and 2 GiB"
MILLION = 1_000_000
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Attributes:
        label: Who did what.
        seconds: Median time.
        difference: Largest difference of coefficients from ours, or None.
        agreement: Difference the peer's own tolerance explains.
        note: How the time was taken, where it was not simply measured.
    """

    label: str
    seconds: float
    difference: float | None = None
    agreement: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Settings:
    """What to measure.

    Attributes:
        libraries: Names of the peers.
        repeats: Repetitions of ours, and of peers that take less than a second.
    """

    libraries: tuple[str, ...]
    repeats: int

    def fitters(self, systems: int) -> list[peers.Peer]:
        """Return the peers that can fit this many systems in reasonable time."""
        found = []
        if "choix" in self.libraries and systems <= LARGEST_CHOIX:
            found.append(peers.choix_peer())
        if "evalica" in self.libraries:
            found += peers.evalica_peers()
        if "arena-rank" in self.libraries:
            found.append(peers.arena_rank_peer())
        return found


def report(title: str, rows: Iterable[Row]) -> None:
    """Print a table; ratios are to its first row, ours."""
    print(f"\n{title}\n{'':40}{'seconds':>11}{'ratio':>12}{'difference':>12}")
    ours = 0.0
    for row in rows:
        ours = ours or row.seconds
        difference = "" if row.difference is None else f"{row.difference:.1e}"
        verdict = row.difference is None or row.difference <= row.agreement
        note = row.note if verdict else f"{row.note} DISAGREES by more than {row.agreement:g}"
        ratio = row.seconds / ours
        line = f"{row.label:40}{row.seconds:11.4f}{ratio:12,.2f}{difference:>12}  {note}"
        print(line.rstrip(), flush=True)


def compared(
    peer: peers.Peer, cells: peers.Cells, counts: tuple[Floats, Floats], expected: Floats
) -> tuple[float, float]:
    """Fit replicates one by one; return the mean seconds and the largest difference."""
    inputs = [peer.prepare(cells, won, met) for won, met in zip(*counts, strict=True)]
    peer.fit(inputs[0])
    start = time.perf_counter()
    fitted = [peer.fit(prepared) for prepared in inputs]
    seconds = (time.perf_counter() - start) / len(inputs)
    return seconds, float(np.abs(centred(np.array(fitted)) - centred(expected)).max())


def small(settings: Settings) -> None:
    """Bootstrapped tournaments over questions, from per-question win counts."""
    held = simulated_questions(SYSTEMS, QUESTIONS, ROUNDS, seed=0)
    fitted, ours = repeated(partial(fit_tournaments, held), 4 * settings.repeats)
    rows = [Row("ours, weighted counts and batched fit", ours)]
    cells = peers.Cells(held.first, held.second, SYSTEMS)
    counts = tournament_counts(held)
    for peer in settings.fitters(SYSTEMS):
        taken = slice(SAMPLED if peer.name == "arena-rank" else ROUNDS)
        chosen = counts[0][taken], counts[1][taken]
        seconds, difference = compared(peer, cells, chosen, fitted[taken])
        rows.append(extrapolated(peer, seconds, difference, len(chosen[0])))
    if "evalica" in settings.libraries:
        rows.append(evalica_on_battles(held))
    report(f"small: {ROUNDS} tournaments, {QUESTIONS} questions, {SYSTEMS} systems", rows)


def tournament_counts(held: Questions) -> tuple[Floats, Floats]:
    weights = held.draws.astype(np.float64)
    return weights @ held.wins, weights @ np.ones_like(held.wins)


def fit_tournaments(held: Questions) -> Floats:
    won, met = tournament_counts(held)
    return fit_bradley_terry(won, met, held.first, held.second, SYSTEMS, ridge=0.0).coefficients


def evalica_on_battles(held: Questions) -> Row:
    """Time evalica's own bootstrap, which resamples battles (so no coefficients to compare)."""
    won = held.wins.ravel().astype(bool)
    side_a, side_b = (np.tile(side, QUESTIONS) for side in (held.first, held.second))
    names = tuple(map(str, range(SYSTEMS)))
    winner = np.where(won, 0, 1)
    codes = BattleCodes(names, side_a, side_b, winner, None, len(winner))
    battles = peers.evalica_battles(codes)
    _, seconds = repeated(lambda: peers.evalica_bootstrap(battles, SAMPLED), 1)
    return Row("evalica.bootstrap over battles", seconds * ROUNDS / SAMPLED, note=linearly(SAMPLED))


def linearly(measured: int) -> str:
    return f"{measured} replicates measured, extrapolated linearly"


def extrapolated(peer: peers.Peer, seconds: float, difference: float, measured: int) -> Row:
    note = "" if measured == ROUNDS else linearly(measured)
    label = f"{peer.name}, one by one"
    return Row(label, seconds * ROUNDS, difference, peer.agreement, note)


def crowd(settings: Settings, title: str, battles: int, systems: int) -> None:
    """Fit and bootstrap many single battles."""
    codes = simulated_codes(battles, systems, seed=0)
    outcomes = count_outcomes(codes)
    title = f"{title}: {battles // MILLION} million battles, {systems} systems"
    report(f"{title}; one fit on counts", single_fits(settings, outcomes))
    report(f"{title}; one fit from battles, counting included", from_battles(settings, codes))
    report(f"{title}; {ROUNDS} bootstrap replicates", bootstraps(settings, outcomes))
    if "arena-rank" in settings.libraries:
        report(f"{title}; fit and sandwich intervals", sandwiches(settings, outcomes))


def single_fits(settings: Settings, outcomes: Outcomes) -> Iterable[Row]:
    systems = len(outcomes.systems)
    won, met = peers.points(outcomes.totals)
    cells = (outcomes.first, outcomes.second, systems)
    fit, ours = repeated(
        lambda: fit_bradley_terry(won, met, *cells, ridge=0.0), 2 * settings.repeats
    )
    yield Row("ours, fit_bradley_terry", ours)
    for peer in settings.fitters(systems):
        prepared = peer.prepare(peers.Cells(*cells), won[0], met[0])
        found, seconds = repeated(partial(peer.fit, prepared), settings.repeats)
        yield Row(peer.name, seconds, gap(found, fit.coefficients), peer.agreement)


def gap(found: npt.ArrayLike, expected: npt.ArrayLike) -> float:
    return float(np.abs(centred(found) - centred(expected)).max())


def fit_codes(codes: BattleCodes) -> Floats:
    outcomes = count_outcomes(codes)
    return MODEL.fit(outcomes, outcomes.totals).coefficients


def from_battles(settings: Settings, codes: BattleCodes) -> Iterable[Row]:
    fitted, ours = repeated(partial(fit_codes, codes), settings.repeats)
    yield Row("ours, from integer codes", ours)
    if "evalica" in settings.libraries:
        battles = peers.evalica_battles(codes)
        for peer in peers.evalica_peers():
            found, seconds = repeated(partial(peer.fit, battles), 1)
            yield Row(f"{peer.name}, from lists", seconds, gap(found, fitted), peer.agreement)
        del battles
    if "arena-rank" in settings.libraries:
        yield arena_rank_from_battles(codes)


def arena_rank_from_battles(codes: BattleCodes) -> Row:
    size = min(len(codes.winner), LARGEST_FROM_BATTLES)
    part = BattleCodes(
        codes.systems, codes.side_a[:size], codes.side_b[:size], codes.winner[:size], None, size
    )
    found, seconds = repeated(peers.arena_rank_battles(part), 1)
    times = len(codes.winner) / size
    note = f"{size // MILLION} million battles measured, extrapolated linearly"
    return Row(
        "arena-rank, from a table",
        seconds * times,
        gap(found, fit_codes(part)),
        peers.arena_rank_peer().agreement,
        note if times > 1 else "",
    )


def bootstraps(settings: Settings, outcomes: Outcomes) -> Iterable[Row]:
    _, ours = repeated(partial(bootstrapped, outcomes, ROUNDS), settings.repeats)
    yield Row("ours, fit, draws and batched fits", ours)
    _, draws = repeated(partial(drawn, outcomes, ROUNDS), 1)
    yield Row("  of that, draws", draws)
    counts = first_replicates(outcomes, SAMPLED)
    expected = MODEL.fit(outcomes, counts).coefficients
    systems = len(outcomes.systems)
    cells = peers.Cells(outcomes.first, outcomes.second, systems)
    for peer in settings.fitters(systems):
        seconds, difference = compared(peer, cells, peers.points(counts), expected)
        yield extrapolated(peer, seconds, difference, SAMPLED)


def bootstrapped(outcomes: Outcomes, rounds: int) -> Floats:
    fit = MODEL.fit(outcomes, outcomes.totals)
    random = np.random.default_rng(1)
    return bootstrap(outcomes, MODEL, fit.parameters[0], rounds, random).replicates


def drawn(outcomes: Outcomes, rounds: int) -> int:
    return sum(len(counts.wins) for counts in outcomes.resampled(rounds, np.random.default_rng(1)))


def first_replicates(outcomes: Outcomes, size: int) -> Counts:
    return next(outcomes.resampled(size, np.random.default_rng(1))).take(np.arange(size))


def sandwiches(settings: Settings, outcomes: Outcomes) -> Iterable[Row]:
    found, ours = repeated(partial(sandwich_widths, outcomes), settings.repeats)
    yield Row("ours", ours)
    theirs, seconds = repeated(peers.arena_rank_sandwich(outcomes), min(settings.repeats, 3))
    difference = float(np.abs(theirs / found - 1.0).max())
    yield Row("arena-rank", seconds, difference, SANDWICH_AGREEMENT, "relative, of half widths")


def sandwich_widths(outcomes: Outcomes) -> Floats:
    fit = MODEL.fit(outcomes, outcomes.totals)
    found = sandwich(outcomes, MODEL, fit.parameters[0], np.random.default_rng(0))
    return np.asarray((found.high - found.low) / 2)


def end_to_end(battles: int, systems: int, repeats: int) -> None:
    """From a Parquet file to a bootstrap, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.parquet"
        write_battles(simulated_codes(battles, systems, seed=0), path)
        megabytes = path.stat().st_size / 1e6
        found, wall = repeated(partial(run_end_to_end, path), repeats)
    stages = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in found["seconds"].items())
    print(
        f"\nend to end: {battles // MILLION} million battles ({megabytes:.0f} MB of Parquet), "
        f"{systems} systems, {ROUNDS} replicates ({TARGET})\n"
        f"  {wall:.1f} s of wall time, peak memory {found['peak_bytes'] / 2**30:.2f} GiB\n"
        f"  seconds: {stages}"
    )


def run_end_to_end(path: Path) -> dict[str, Any]:
    script = Path(__file__).with_name("end_to_end.py")
    command = [sys.executable, str(script), str(path), "--rounds", str(ROUNDS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def scaling(settings: Settings) -> None:
    """Time by the number of battles and of replicates."""
    systems = 200
    codes = [simulated_codes(n * MILLION, systems, seed=0) for n in (1, 2, 4, 8)]
    print_scaling(
        "million battles counted and fitted",
        {len(c.winner) // MILLION: partial(fit_codes, c) for c in codes},
        settings.repeats,
    )
    outcomes = count_outcomes(codes[1])
    print_scaling(
        "replicates of 2 million battles",
        {rounds: partial(bootstrapped, outcomes, rounds) for rounds in (50, 100, 200, 400)},
        settings.repeats,
    )


def print_scaling(unit: str, jobs: dict[int, Callable[[], Floats]], repeats: int) -> None:
    print(f"\nscaling: {unit}\n{'':10}{'seconds':>11}{'each':>12}{'to the smallest':>18}")
    smallest = 0.0
    for size, job in jobs.items():
        seconds = repeated(job, repeats)[1]
        each = seconds / size
        smallest = smallest or each
        print(f"{size:10}{seconds:11.4f}{each:12.5f}{each / smallest:18.2f}", flush=True)


def medium(settings: Settings) -> None:
    crowd(settings, "medium", 2 * MILLION, 200)


def large(settings: Settings) -> None:
    repeats = min(settings.repeats, 3)
    crowd(replace(settings, repeats=repeats), "large", 10 * MILLION, 500)
    end_to_end(10 * MILLION, 500, repeats)


SIZES: dict[str, Callable[[Settings], None]] = {
    "small": small,
    "medium": medium,
    "large": large,
    "scaling": scaling,
}


def names(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Split a list of names.

    Raises:
        SystemExit: For one that is not known.
    """
    chosen = tuple(name for name in text.split(",") if name)
    unknown = set(chosen) - set(known)
    if unknown:
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--peers", default=",".join(PEERS), help="empty for ours alone")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    os.environ.update(ONE_THREAD)
    settings = Settings(names(arguments.peers, PEERS), arguments.repeats)
    with threadpool_limits(1):
        for size in names(arguments.sizes, SIZES):
            SIZES[size](settings)


if __name__ == "__main__":
    main()
