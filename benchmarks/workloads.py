"""Simulated battles of known size, and small helpers of the benchmarks."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import expit

from arena.data.schema import WINNERS
from arena.rating.battles import Battles

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Result = TypeVar("Result")

SPREAD = 0.8
TIES = 0.1


@dataclass(frozen=True)
class Questions:
    """Tournaments over questions on which every pair met once.

    Attributes:
        first: First system of each pair, shape (P,).
        second: Second system of each pair, shape (P,).
        wins: Whether the first system won, shape (Q, P).
        draws: How often each tournament drew each question, shape (T, Q).
    """

    first: Integers
    second: Integers
    wins: Floats
    draws: Integers


def simulated_questions(systems: int, questions: int, tournaments: int, seed: int) -> Questions:
    random = np.random.default_rng(seed)
    strength = random.normal(size=systems)
    pairs = np.array(list(itertools.combinations(range(systems), 2)))
    first, second = pairs[:, 0], pairs[:, 1]
    chance = expit(strength[first] - strength[second])
    wins = (random.random((questions, len(pairs))) < chance).astype(np.float64)
    even = np.full(questions, 1.0 / questions)
    return Questions(first, second, wins, random.multinomial(questions, even, size=tournaments))


def simulated_battles(battles: int, systems: int, seed: int) -> Battles:
    """Simulate battles between systems of unequal popularity, one in ten a tie."""
    random = np.random.default_rng(seed)
    strength = random.normal(scale=SPREAD, size=systems)
    popularity = random.uniform(0.2, 1.0, size=systems)
    side_a = random.choice(systems, battles, p=popularity / popularity.sum())
    side_b = (side_a + random.integers(1, systems, battles)) % systems
    lost = random.random(battles) >= expit(strength[side_a] - strength[side_b])
    winner = np.where(random.random(battles) < TIES, 2, lost.astype(np.int64))
    names = tuple(f"system-{index:04}" for index in range(systems))
    return Battles(names, side_a.astype(np.int64), side_b, winner, None, battles)


def write_battles(battles: Battles, path: Path) -> None:
    """Write battles as a Parquet file of names, as an arena would publish them."""
    names, winners = pa.array(battles.systems), pa.array(WINNERS)
    columns = {
        "system_a": pa.DictionaryArray.from_arrays(battles.side_a.astype(np.int32), names),
        "system_b": pa.DictionaryArray.from_arrays(battles.side_b.astype(np.int32), names),
        "winner": pa.DictionaryArray.from_arrays(battles.winner.astype(np.int32), winners),
    }
    plain = {name: column.cast(pa.string()) for name, column in columns.items()}
    pq.write_table(pa.table(plain), path)


def repeated(function: Callable[[], Result], times: int) -> tuple[Result, float]:
    """Call a function several times; return its last result and the median of its seconds."""
    seconds = []
    for _ in range(max(times, 1)):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return result, statistics.median(seconds)


def centered(coefficients: npt.ArrayLike) -> Floats:
    values = np.atleast_2d(np.asarray(coefficients, dtype=np.float64))
    return np.asarray(values - values.mean(axis=1, keepdims=True))
