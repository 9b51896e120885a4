"""Tables of how long peers take beside ours, and how far their coefficients lie apart."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import peers
from workloads import Floats, centered

ROUNDS = 200
SAMPLED = 5
LARGEST_CHOIX = 50


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
    return seconds, float(np.abs(centered(np.array(fitted)) - centered(expected)).max())


def linearly(measured: int) -> str:
    return f"{measured} replicates measured, extrapolated linearly"


def extrapolated(peer: peers.Peer, seconds: float, difference: float, measured: int) -> Row:
    note = "" if measured == ROUNDS else linearly(measured)
    label = f"{peer.name}, one by one"
    return Row(label, seconds * ROUNDS, difference, peer.agreement, note)


def gap(found: npt.ArrayLike, expected: npt.ArrayLike) -> float:
    return float(np.abs(centered(found) - centered(expected)).max())
