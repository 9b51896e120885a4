"""Scores of a model for the texts of answers, and the features that are measured on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from arena.data.types import Progress
from arena.llm.batches.awaiting import AwaitedReplies
from features.declare.feature import Feature, Item, Items, Scores, Value
from features.declare.sample import Answer, Memo, Missing, Sample
from features.engine.cache import Cache, content_key
from features.models.scorer import Scorer

SLAB = 4096
"""Answers whose texts are scored together, sorted by length."""
JOB = 256
"""Texts or pairs that a model on this machine scores at a time, before they are kept."""
DECIMALS = 6
"""Scores are rounded, since their last bits depend on the batch they were scored in."""


def measure_by_scores(
    scorer: Scorer,
    answers: Sequence[Answer],
    features: Sequence[Feature],
    cache: Path | None,
    stage: str,
    progress: Progress | None,
) -> dict[Feature, list[Value]]:
    """Measure features that read one model; distinct texts are scored once."""
    # Without a signature, the model is at an endpoint, and its replies are in a store of their own.
    store = Cache(None if scorer.signature is None else cache, scorer.signature or "")
    values: dict[Feature, list[Value]] = {feature: [] for feature in features}
    awaited = AwaitedReplies()
    for start in range(0, len(answers), SLAB):
        memo = Memo()
        samples = [
            Sample(question, output, memo) for question, output in answers[start : start + SLAB]
        ]
        with awaited.gathered():
            for feature, column in _score_samples(samples, features, scorer, store).items():
                values[feature] += column
            if progress is not None:
                progress(stage, start + len(samples), len(answers))
    awaited.require_none()
    return values


def _score_samples(
    samples: Sequence[Sample], features: Sequence[Feature], scorer: Scorer, store: Cache
) -> dict[Feature, list[Value]]:
    readings = {feature: [feature.items(sample) for sample in samples] for feature in features}
    scores = _score_distinct(_distinct_items(readings), scorer, store)
    values: dict[Feature, list[Value]] = {feature: [] for feature in features}
    for feature, column in values.items():
        for sample, items in zip(samples, readings[feature], strict=True):
            if isinstance(items, Missing):
                column.append(items)
            else:
                column.append(feature.measure(sample, _stacked(items, scores)))
    return values


def _distinct_items(readings: Mapping[Feature, Sequence[Items]]) -> dict[bytes, Item]:
    distinct: dict[bytes, Item] = {}
    for rows in readings.values():
        for items in rows:
            if not isinstance(items, Missing):
                distinct.update({content_key(*item): item for item in items})
    return distinct


def _score_distinct(items: dict[bytes, Item], scorer: Scorer, store: Cache) -> dict[bytes, bytes]:
    scores = store.find(list(items))
    # Texts of about one length share a batch, which then needs little padding.
    remaining = sorted(
        items.keys() - scores.keys(), key=lambda key: (sum(map(len, items[key])), key)
    )
    # An endpoint gets all prompts at once, to send many side by side.
    size = JOB if scorer.signature is not None else max(len(remaining), 1)
    for start in range(0, len(remaining), size):
        job = remaining[start : start + size]
        outputs = scorer.score([items[key] for key in job]).round(DECIMALS)
        complete: dict[bytes, bytes] = {}
        for key, row in zip(job, outputs, strict=True):
            scores[key] = row.tobytes()
            if np.isfinite(row).all():  # failed ones are scored again by the next run
                complete[key] = scores[key]
        store.add(complete)
    return scores


def _stacked(items: Sequence[Item], scores: dict[bytes, bytes]) -> Scores:
    rows = [np.frombuffer(scores[content_key(*item)], np.float32) for item in items]
    width = max(map(len, rows), default=0)
    stacked = np.full((len(rows), width), np.nan, np.float32)
    for index, row in enumerate(rows):
        # Where all texts of a batch failed, the number of outputs was unknown, and rows are short.
        if len(row) == width:
            stacked[index] = row
    return stacked
