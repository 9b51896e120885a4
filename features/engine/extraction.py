"""Measuring features on all answers of an arena."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from arena.adapters.new_answers import open_answers
from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.folder import open_arena
from arena.data.schema import OWN_PASSAGES, QUESTION_KEY, Passage
from arena.data.types import Progress
from features.declare.feature import SENTENCES, Feature, Item, Scores, Value
from features.declare.sample import (
    NO_REFERENCE_ANSWER,
    NO_REFERENCE_SYSTEM,
    Memo,
    Missing,
    Question,
    Sample,
)
from features.engine.cache import Cache, code_digest, content_key
from features.engine.columns import MISSING_SUFFIX, ORDER
from features.engine.workers import work
from features.measures.registry import DEFAULT_FEATURES, asked_features, require, with_templates
from features.models.scorer import KINDS, ModelOptions, load_scorer
from features.text.sentences import require_sentences

CHUNK = 512
"""Answers measured together."""
SLAB = 4096
"""Answers whose texts are scored together, sorted by length."""
JOB = 256
"""Texts or pairs that a model on this machine scores at a time, before they are kept."""
DECIMALS = 6
"""Scores are rounded, since their last bits depend on the batch they were scored in."""
STAGE = "features"

_OURS = ("arena", "features")

Answer = tuple[Question, str]
"""What was asked, and what a system wrote."""


def extract(
    arena: Arena | Path | str,
    features: Sequence[Feature | str] | str = DEFAULT_FEATURES,
    answers: pd.DataFrame | Path | str | None = None,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
    *,
    models: ModelOptions | None = None,
    cache: Path | str | None = None,
) -> pd.DataFrame:
    """Measure features on every answer.

    Args:
        arena: Its questions, its reference answers and, unless others are given, its answers; or
            the path of its folder.
        features: What to measure: features, yours or by their names, or text for
            ``parse_features``.
        answers: Answers of other systems to the arena's questions, with the columns
            ``query_id, language, system, answer``; or the path of their file.
        n_jobs: Processes that measure features without a model, -1 for all cores, None for the
            workers that ``joblib.parallel_config`` names, such as a Dask cluster; results do not
            depend on it.
        progress: Called with the stage, the answers done and the answers in all.
        models: How to run models: device, whether they may be fetched; and templates
            of prompts, which become part of the names of features that read them.
        cache: Folder that keeps values and scores by content: only what is new is measured, and
            a run that was killed goes on where it was.

    Returns:
        One row an answer, sorted by ``language, system, query_id``. After these columns, each
        feature has a column of its name, NaN where it has no value, and a column
        ``<feature>:missing`` with the reason there, None elsewhere.

    Raises:
        UsageError: For unknown features, a feature asked for twice, a model that is not on this
            machine, or ``n_jobs=0``.
        DataError: For malformed or duplicate answers and answers to unknown questions.
        MissingDependencyError: If a feature needs a package that is not installed.
    """
    arena = open_arena(arena)
    options = ModelOptions() if models is None else models
    if n_jobs == 0:
        raise UsageError(f"{argument('n_jobs')} is a number of workers, or -1 for all cores; not 0")
    rows = _rows(arena, answers)
    chosen = with_templates(asked_features(features), options.templates)
    require(chosen, options.download)
    if any(SENTENCES in feature.needs for feature in chosen):
        require_sentences(rows["language"].unique())
    asked, folder = answers_of(arena, rows), None if cache is None else Path(cache)
    values: dict[Feature, Sequence[Value]] = {}
    for own in (True, False):  # what a user's code gives may change, and is never kept
        plain = [each for each in chosen if each.reading is None and is_ours(each) == own]
        if plain:
            found = measure(asked, plain, n_jobs, folder if own else None, progress)
            columns = zip(*found, strict=True) if found else [()] * len(plain)
            values |= zip(plain, columns, strict=True)
    groups = sorted(by_model(chosen).items(), key=lambda each: list(KINDS).index(each[0][0]))
    for (kind, model), reading in groups:  # what is paid last
        values |= score(asked, reading, kind, model, options, folder, progress)
    return _table(rows, {str(feature): values[feature] for feature in chosen})


def measure(
    answers: Sequence[Answer],
    features: Sequence[Feature],
    n_jobs: int | None,
    cache: Path | None,
    progress: Progress | None,
) -> list[Sequence[Value]]:
    """Measure features that need no model; a row an answer, in the order of features."""
    kept = Cache(cache, json.dumps([cache and code_digest(), *map(str, features)]))
    keys = answer_keys(answers) if cache is not None else [b""] * len(answers)
    known = kept.find(keys) if cache is not None else {}
    rows: list[Sequence[Value]] = [_read(known[key]) if key in known else () for key in keys]
    todo = [place for place, key in enumerate(keys) if key not in known]
    parts = [todo[start : start + CHUNK] for start in range(0, len(todo), CHUNK)]
    done = len(answers) - len(todo)
    task = partial(measure_chunk, features=tuple(features))
    chunks = [[answers[place] for place in part] for part in parts]
    for part, chunk in zip(parts, work(task, chunks, n_jobs), strict=True):
        for place, row in zip(part, chunk, strict=True):
            rows[place] = row
        if cache is not None:
            kept.add({keys[place]: _written(row) for place, row in zip(part, chunk, strict=True)})
        done += len(part)
        if progress is not None:
            progress(STAGE, done, len(answers))
    return rows


def measure_chunk(answers: Sequence[Answer], features: Sequence[Feature]) -> list[list[Value]]:
    """Measure a chunk; what its samples share is computed once."""
    memo = Memo()
    samples = (Sample(question, output, memo) for question, output in answers)
    return [[feature.measure(sample) for feature in features] for sample in samples]


def score(
    answers: Sequence[Answer],
    features: Sequence[Feature],
    kind: str,
    model: str,
    options: ModelOptions,
    cache: Path | None,
    progress: Progress | None,
) -> dict[Feature, list[Value]]:
    """Measure features that read one model; each distinct text or pair is scored once."""
    scorer = load_scorer(kind, model, options)
    kept = Cache(None if scorer.signature is None else cache, scorer.signature or "")
    values: dict[Feature, list[Value]] = {feature: [] for feature in features}
    stage = f"{kind} {'/'.join(Path(model).parts[-2:])}"
    for start in range(0, len(answers), SLAB):
        memo = Memo()
        samples = [Sample(*answer, memo) for answer in answers[start : start + SLAB]]
        wanted = [[feature.items(sample) for sample in samples] for feature in features]
        present = (items for row in wanted for items in row if not isinstance(items, Missing))
        items = {content_key(*item): item for item in chain.from_iterable(present)}
        known = kept.find(list(items))
        todo = sorted(items.keys() - known.keys(), key=lambda key: (sum(map(len, items[key])), key))
        size = JOB if scorer.signature is not None else max(len(todo), 1)
        for first in range(0, len(todo), size):
            job = todo[first : first + size]
            scores = scorer.score([items[key] for key in job]).round(DECIMALS)
            added = {key: row.tobytes() for key, row in zip(job, scores, strict=True)}
            kept.add(
                {k: added[k] for k, row in zip(job, scores, strict=True) if np.isfinite(row).all()}
            )
            known |= added
        for feature, row in zip(features, wanted, strict=True):
            values[feature] += [
                each if isinstance(each, Missing) else feature.measure(sample, _scores(each, known))
                for sample, each in zip(samples, row, strict=True)
            ]
        if progress is not None:
            progress(stage, start + len(samples), len(answers))
    return values


def answers_of(arena: Arena, rows: pd.DataFrame) -> list[Answer]:
    """Return rows of answers, in their order, beside the arena's questions."""
    own = rows[OWN_PASSAGES] if OWN_PASSAGES in rows else [None] * len(rows)
    keys = list(zip(rows["language"], rows["query_id"], strict=True))
    shared = _questions(arena, set(keys))
    questions: dict[tuple[tuple[str, str], tuple[Passage, ...]], Question] = {}
    found = []
    for key, given, output in zip(keys, own, rows["answer"], strict=True):
        question = shared[key]
        if isinstance(given, list):
            passages = _passages(given)
            own_question = replace(question, passages=passages, shared=question.passages)
            question = questions.setdefault((key, passages), own_question)
        found.append((question, output))
    return found


def answer_keys(answers: Sequence[Answer]) -> list[bytes]:
    """Return the key of each answer: of all that a feature may see of it."""
    digests = {
        place: content_key(
            *(each.language, each.query, each.reference_ids),
            [str(each.reference)] if isinstance(each.reference, Missing) else each.reference,
            [[own.model_dump() for own in of] for of in (each.passages, each.shared or ())],
            each.shared is None,
        ).hex()
        for place, each in {id(question): question for question, _ in answers}.items()
    }
    return [content_key(digests[id(question)], output) for question, output in answers]


def _questions(arena: Arena, asked: set[tuple[str, str]]) -> dict[tuple[str, str], Question]:
    references = {
        (language, query_id): (
            answer,
            tuple(each.passage_id for each in _passages(own)) if isinstance(own, list) else None,
        )
        for language, query_id, answer, own in arena.references[
            [*QUESTION_KEY, "answer", OWN_PASSAGES]
        ].itertuples(index=False, name=None)
    }
    absent = NO_REFERENCE_ANSWER if references else NO_REFERENCE_SYSTEM
    columns = arena.queries[[*QUESTION_KEY, "query", "passages"]]
    return {
        (language, query_id): Question(
            language, query_id, query, _passages(passages), reference, reference_ids=ids
        )
        for language, query_id, query, passages in columns.itertuples(index=False, name=None)
        if (language, query_id) in asked
        for reference, ids in [references.get((language, query_id), (absent, None))]
    }


def _passages(records: Iterable[object]) -> tuple[Passage, ...]:
    return tuple(Passage.model_validate(record) for record in records)


def is_ours(feature: Feature) -> bool:
    """Tell whether a feature's code is this project's, whose digest is known."""
    module = getattr(feature.measurement, "__module__", None) or ""
    return str(module).partition(".")[0] in _OURS


def _read(kept: bytes) -> list[Value]:
    return [Missing(each) if isinstance(each, str) else each for each in json.loads(kept)]


def _written(row: Iterable[Value]) -> bytes:
    return json.dumps([str(each) if isinstance(each, Missing) else each for each in row]).encode()


def _scores(items: Sequence[Item], known: dict[bytes, bytes]) -> Scores:
    rows = [np.frombuffer(known[content_key(*item)], np.float32) for item in items]
    width = max(map(len, rows), default=0)
    # Where all of a batch failed, nobody knows how many numbers there should have been.
    return np.array(
        [row if len(row) == width else np.full(width, np.nan) for row in rows], np.float32
    )


def by_model(features: Iterable[Feature]) -> dict[tuple[str, str], list[Feature]]:
    """Return the features that read a model, by its kind and name."""
    groups: dict[tuple[str, str], list[Feature]] = {}
    for feature in features:
        if feature.reading is not None:
            groups.setdefault((feature.reading.kind, str(feature.model)), []).append(feature)
    return groups


def _rows(arena: Arena, answers: pd.DataFrame | Path | str | None) -> pd.DataFrame:
    """Return the answers to measure, those to one question side by side."""
    given = arena.answers if answers is None else open_answers(answers, arena.queries)
    columns = [*QUESTION_KEY, "system", "answer", OWN_PASSAGES]
    return given.filter(columns).sort_values([*QUESTION_KEY, "system"])


def _table(rows: pd.DataFrame, values: dict[str, Sequence[Value]]) -> pd.DataFrame:
    columns: dict[str, object] = {name: rows[name].astype("str").to_numpy() for name in ORDER}
    for name, column in values.items():
        numbers = [np.nan if isinstance(each, Missing) else each for each in column]
        columns[name] = np.array(numbers, np.float64)
    for name, column in values.items():
        reasons = [str(each) if isinstance(each, Missing) else None for each in column]
        columns[f"{name}{MISSING_SUFFIX}"] = pd.Series(reasons, dtype=object)
    table = pd.DataFrame(columns).astype(dict.fromkeys(ORDER, "str"))
    return table.sort_values(ORDER, ignore_index=True)
