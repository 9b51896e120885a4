"""Measuring chunks of answers: what was measured before is looked up, the rest goes to workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from features.declare.feature import Feature, Item, Scores, Value
from features.declare.sample import Missing, Sample
from features.engine.answers import Answers, Measured, no_gc
from features.engine.cache import AnswerCache, ScoreCache
from features.engine.source_digest import source_digest
from features.engine.workers import renew_processes, work
from features.models.scorer import AT_ENDPOINT, PROCESSOR, ModelOptions, Scorer

CHUNK = 512
"""Answers measured together."""

SLAB = 4096
"""Answers whose texts are scored together, sorted by length."""

JOB = 64
"""Texts or pairs that a worker scores at a time."""

STAGE = "features"

Progress = Callable[[str, int, int], None]
"""Called with the stage, the steps done and the steps in all."""


def measure(
    answers: Answers,
    chosen: Sequence[Feature],
    n_jobs: int | None,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Measured:
    """Measure features that need no model.

    Args:
        answers: N answers.
        chosen: F features.
        n_jobs: Workers; None for what ``joblib.parallel_config`` says.
        cache: Folder that keeps values between runs.
        progress: Called as answers are done.

    Returns:
        Shape (N, F).
    """
    measured = Measured.empty(len(answers), len(chosen))
    known = AnswerCache.open(cache, answers, chosen)
    known.fill(measured)
    todo = np.flatnonzero(~measured.known.all(axis=1))
    done = len(answers) - len(todo)
    parts = [todo[start : start + CHUNK] for start in range(0, len(todo), CHUNK)]
    chunks = (answers.take(part.tolist()) for part in parts)
    task = partial(measure_chunk, chosen=tuple(chosen))
    try:
        for rows, chunk in zip(parts, work(task, chunks, n_jobs, len(parts)), strict=True):
            measured.put(rows, np.arange(len(chosen)), chunk)
            known.add(rows, measured)
            done += len(rows)
            if progress is not None:
                progress(STAGE, done, len(answers))
    finally:
        known.write(measured)
    return measured


def measure_chunk(answers: Answers, chosen: Sequence[Feature]) -> Measured:
    """Measure a chunk on one thread, since workers are processes."""
    with threadpool_limits(limits=1), no_gc():
        rows = _rows(answers, chosen)
    return Measured.of(rows, len(chosen))


def _rows(answers: Answers, chosen: Sequence[Feature]) -> list[list[Value]]:
    """Measure answer by answer; the samples are gone before gc runs again."""
    return [[feature.measure(sample) for feature in chosen] for sample in answers.samples()]


def measure_with_models(
    answers: Answers,
    chosen: Sequence[Feature],
    n_jobs: int | None,
    options: ModelOptions,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Measured:
    """Measure features that read a model; each distinct text or pair is scored once.

    Args:
        answers: N answers.
        chosen: F features, each with a ``reading``.
        n_jobs: Workers, where the model runs on processors; a GPU is served by this process.
        options: Device, batch size, whether models may be fetched.
        cache: Folder that keeps scores between runs.
        progress: Called as answers are done, a stage a model.

    Returns:
        Shape (N, F).
    """
    measured = Measured.empty(len(answers), len(chosen))
    for (kind, model), columns in _by_model(chosen).items():
        run = _ModelRun(ModelUse(kind, model, options), n_jobs, cache)
        features = [chosen[column] for column in columns]
        for start in range(0, len(answers), SLAB):
            rows = np.arange(start, min(start + SLAB, len(answers)))
            slab = run.measure(answers.take(rows.tolist()), features)
            measured.put(rows, np.array(columns), slab)
            if progress is not None:
                progress(_stage(kind, model), int(rows[-1]) + 1, len(answers))
    return measured


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
        from features.models.kinds import load_scorer

        return load_scorer(self.kind, self.model, self.options)

    def score(self, items: Sequence[Item]) -> Scores:
        """Score items, shape (items, outputs)."""
        return self.load().score(items)


class _ModelRun:
    """One model at work on slab after slab of answers."""

    def __init__(self, use: ModelUse, n_jobs: int | None, cache: Path | None) -> None:
        scorer = use.load()
        self._use = use
        self._n_jobs = n_jobs
        self._has_workers = scorer.device == PROCESSOR
        self._known = ScoreCache(_kept_by(scorer), cache)
        renew_processes(n_jobs)

    def measure(self, answers: Answers, features: Sequence[Feature]) -> Measured:
        samples = answers.samples()
        wanted = [[feature.items(sample) for feature in features] for sample in samples]
        self._score(item for row in wanted for items in row for item in _present(items))
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
        unknown = sorted(self._known.unknown(items), key=lambda item: sum(map(len, item)))
        size = JOB if self._has_workers else max(len(unknown), 1)
        jobs = [unknown[start : start + size] for start in range(0, len(unknown), size)]
        task = self._use.score
        done: Iterator[Scores]
        done = work(task, jobs, self._n_jobs) if self._has_workers else map(task, jobs)
        try:
            for job, scores in zip(jobs, done, strict=True):
                self._known.add(job, scores)
        finally:
            self._known.write()


def _kept_by(scorer: Scorer) -> str:
    """Return what scores are kept by.

    Of a model at an endpoint the code that reads replies is a part: those are in the store, so that
    other code costs no call. What a model on this machine gave is too dear to be measured again.
    """
    if scorer.device != AT_ENDPOINT:
        return scorer.signature
    return f"{scorer.signature}|code={source_digest(type(scorer).__module__)}"


def _present(items: tuple[Item, ...] | Missing) -> tuple[Item, ...]:
    return () if isinstance(items, Missing) else items


def _by_model(chosen: Sequence[Feature]) -> dict[tuple[str, str], list[int]]:
    """Group the columns of features by the model they read."""
    groups: dict[tuple[str, str], list[int]] = {}
    for column, feature in enumerate(chosen):
        if feature.reading is not None and feature.model is not None:
            groups.setdefault((feature.reading.kind, feature.model), []).append(column)
    return groups


def _stage(kind: str, model: str) -> str:
    """Name the work of a model: its name on the hub, or the last two folders of its path."""
    return f"{kind} {'/'.join(Path(model).parts[-2:])}"
