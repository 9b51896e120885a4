"""Features that read a model: each distinct text or pair is scored once, whoever asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from features.declare.feature import Feature, Item, Scores, Value
from features.declare.sample import Missing, Sample
from features.engine.answers import Answers, Measured
from features.engine.cache import ScoreCache
from features.engine.measuring import Progress
from features.engine.workers import Workers
from features.models import ModelOptions, load_scorer
from features.models.scorer import PROCESSOR, Scorer

SLAB = 4096
"""Answers whose texts are scored together, sorted by length."""

JOB = 64
"""Items a worker scores at a time."""

Wanted = list[list[tuple[Item, ...] | Missing]]
"""What each answer's features want scored, answer by answer."""


@dataclass(frozen=True)
class ModelUse:
    """A model, and how to run it.

    Attributes:
        kind: One of ``features.models.KINDS``.
        model: Its folder, or its name on the hub.
        options: Device, batch size, whether it may be fetched.
    """

    kind: str
    model: str
    options: ModelOptions

    def load(self) -> Scorer:
        """Load the model; once a process."""
        return load_scorer(self.kind, self.model, self.options)

    def score(self, items: Sequence[Item]) -> Scores:
        """Score items, shape (items, outputs)."""
        return self.load().score(items)


def score(
    answers: Answers,
    chosen: Sequence[Feature],
    workers: Workers,
    options: ModelOptions,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Measured:
    """Measure features that read a model.

    Args:
        answers: N answers.
        chosen: F features, each with a ``reading``.
        workers: Who scores, where the model runs on processors; a GPU is served by this process.
        options: Device, batch size, whether models may be fetched.
        cache: Folder that keeps scores between runs.
        progress: Called as answers are done, a stage a model.

    Returns:
        Shape (N, F).
    """
    measured = Measured.empty(len(answers), len(chosen))
    for (kind, model), places in _by_model(chosen).items():
        run = _Run(ModelUse(kind, model, options), workers, cache)
        features = [chosen[place] for place in places]
        columns = np.array(places, dtype=np.intp)
        for start in range(0, len(answers), SLAB):
            rows = np.arange(start, min(start + SLAB, len(answers)))
            measured.put(rows, columns, run.measure(answers.take(rows.tolist()), features))
            if progress is not None:
                progress(_stage(kind, model), int(rows[-1]) + 1, len(answers))
    return measured


class _Run:
    """One model at work on slab after slab of answers."""

    def __init__(self, use: ModelUse, workers: Workers, cache: Path | None) -> None:
        scorer = use.load()
        self._use = use
        self._workers = workers if scorer.device == PROCESSOR else None
        self._known = ScoreCache(scorer.signature, cache)
        workers.renew()

    def measure(self, answers: Answers, features: Sequence[Feature]) -> Measured:
        samples = answers.samples()
        wanted = [[feature.items(sample) for feature in features] for sample in samples]
        self._score(_items(wanted))
        rows = [
            [
                self._value(feature, sample, items)
                for feature, items in zip(features, row, strict=True)
            ]
            for sample, row in zip(samples, wanted, strict=True)
        ]
        return Measured.of(rows, len(features))

    def _value(self, feature: Feature, sample: Sample, items: tuple[Item, ...] | Missing) -> Value:
        if isinstance(items, Missing):
            return items
        return feature.measure_scored(sample, self._known.scores(items))

    def _score(self, items: Iterable[Item]) -> None:
        """Score what is not known; items of like length side by side, since that is faster."""
        unknown = sorted(self._known.unknown(items), key=_length)
        size = JOB if self._workers else max(len(unknown), 1)
        jobs = [unknown[start : start + size] for start in range(0, len(unknown), size)]
        mapping = self._workers.map if self._workers else map
        try:
            for job, scores in zip(jobs, mapping(self._use.score, jobs), strict=True):
                self._known.add(job, scores)
        finally:
            self._known.write()


def _by_model(chosen: Sequence[Feature]) -> dict[tuple[str, str], list[int]]:
    """Group the places of features by the model they read."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, feature in enumerate(chosen):
        if feature.reading is not None and feature.model is not None:
            groups.setdefault((feature.reading.kind, feature.model), []).append(place)
    return groups


def _stage(kind: str, model: str) -> str:
    """Name the work of a model: its name on the hub, or the last two folders of its path."""
    return f"{kind} {'/'.join(Path(model).parts[-2:])}"


def _items(wanted: Wanted) -> Iterator[Item]:
    for row in wanted:
        for items in row:
            if not isinstance(items, Missing):
                yield from items


def _length(item: Item) -> int:
    return sum(map(len, item))
