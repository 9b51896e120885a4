"""Features that need no model: measured in chunks, on any number of workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from features.declare.feature import Feature, Value
from features.engine.answers import Answers, Measured, Places, no_garbage_collection
from features.engine.cache import AnswerCache, Checkpoint, is_kept
from features.engine.workers import Workers

CHUNK = 512
"""Answers measured together."""

Progress = Callable[[str, int, int], None]
"""Called with the stage, the steps done and the steps in all."""

STAGE = "features"


def measure(
    answers: Answers,
    chosen: Sequence[Feature],
    workers: Workers,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Measured:
    """Measure features that need no model.

    Args:
        answers: N answers.
        chosen: F features.
        workers: Who measures.
        cache: Folder that keeps values between runs.
        progress: Called as answers are done.

    Returns:
        Shape (N, F).
    """
    measured = Measured.empty(len(answers), len(chosen))
    keeper = _Keeper.open(answers, chosen, cache)
    keeper.fill(measured)
    todo = np.flatnonzero(~measured.known.all(axis=1))
    done = len(answers) - len(todo)
    parts = [todo[start : start + CHUNK] for start in range(0, len(todo), CHUNK)]
    work = partial(measure_chunk, chosen=tuple(chosen))
    chunks = (answers.take(part.tolist()) for part in parts)
    try:
        for part, found in zip(parts, workers.map(work, chunks), strict=True):
            measured.put(part, np.arange(len(chosen)), found)
            keeper.add(part, measured)
            done += len(part)
            if progress is not None:
                progress(STAGE, done, len(answers))
    finally:
        keeper.write(measured)
    return measured


def measure_chunk(answers: Answers, chosen: Sequence[Feature]) -> Measured:
    """Measure a chunk on one thread: a sum split over threads differs in its last bits."""
    with threadpool_limits(limits=1), no_garbage_collection():
        rows = _rows(answers, chosen)
    return Measured.of(rows, len(chosen))


def _rows(answers: Answers, chosen: Sequence[Feature]) -> list[list[Value]]:
    """Measure answer by answer; the samples are gone before anybody looks for garbage."""
    samples = answers.samples()
    for feature in chosen:
        feature.prepare_for(samples)
    return [[feature.measure(sample) for feature in chosen] for sample in samples]


@dataclass
class _Keeper:
    """Takes values from a cache, and to it from time to time."""

    keys: list[bytes]
    chosen: Sequence[Feature]
    places: Places
    cache: AnswerCache | None
    checkpoint: Checkpoint
    unwritten: list[Places]

    @classmethod
    def open(cls, answers: Answers, chosen: Sequence[Feature], cache: Path | None) -> _Keeper:
        kept = [place for place, feature in enumerate(chosen) if is_kept(feature)]
        opened = AnswerCache(cache) if cache is not None and kept else None
        keys = answers.keys() if opened else []
        features = [chosen[place] for place in kept]
        return cls(keys, features, np.array(kept, dtype=np.intp), opened, Checkpoint(), [])

    def fill(self, measured: Measured) -> None:
        if self.cache is None:
            return
        found = Measured.empty(len(self.keys), len(self.places))
        self.cache.fill(self.keys, self.chosen, found)
        measured.put(np.arange(len(self.keys)), self.places, found)

    def add(self, part: Places, measured: Measured) -> None:
        self.unwritten.append(part)
        if self.checkpoint.is_due():
            self.write(measured)

    def write(self, measured: Measured) -> None:
        if self.cache is None or not self.unwritten:
            return
        rows = np.concatenate(self.unwritten)
        keys = [self.keys[row] for row in rows]
        self.cache.add(keys, self.chosen, measured.part(rows, self.places))
        self.unwritten.clear()
