"""Training surrogates side by side, with the same result for any number of jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, parallel_config
from threadpoolctl import threadpool_limits

from arena.data.errors import UsageError
from arena.data.seeds import seed_sequence
from surrogate.learning.surrogates import Surrogate
from surrogate.learning.tensor import FeatureTensor
from surrogate.learning.training import Field

Floats = npt.NDArray[np.float64]
Progress = Callable[[str, int, int], None]
STAGE = "surrogates"


@dataclass(frozen=True)
class Trial:
    """Systems to rate with a trained surrogate.

    Attributes:
        systems: Features of the systems to rate.
        field: Features of the systems they are compared with.
    """

    systems: FeatureTensor
    field: FeatureTensor


@dataclass(frozen=True)
class Prediction:
    """Ratings of one test, or why there are none.

    Attributes:
        language: Language code.
        systems: The S systems rated.
        values: Shape (S,); NaN without a rating.
        failure: Why nothing could be trained.
    """

    language: str
    systems: tuple[str, ...]
    values: Floats
    failure: str | None = None


def train_and_rate(
    surrogate: Surrogate, fields: Sequence[Field], tests: Sequence[Trial], random_state: int
) -> list[Prediction]:
    """Train a surrogate on fields and rate the systems of each test.

    Without pooling each language is trained for itself, so that one that cannot be trained
    leaves the others as they are.
    """
    if surrogate.pooled:
        return _rate(surrogate, list(fields), tests, random_state)
    own = {field.language: [field] for field in fields}
    return [
        prediction
        for test in tests
        for prediction in _rate(surrogate, own.get(test.systems.language, []), [test], random_state)
    ]


def _rate(
    surrogate: Surrogate, fields: list[Field], tests: Sequence[Trial], random_state: int
) -> list[Prediction]:
    try:
        if not fields:
            raise UsageError("no judgments are left to learn from")
        fitted = surrogate.fit(fields, random_state)
    except UsageError as error:
        return [_missing(test, str(error)) for test in tests]
    return [
        Prediction(
            test.systems.language, test.systems.systems, fitted.predict(test.systems, test.field)
        )
        for test in tests
    ]


def _missing(test: Trial, failure: str) -> Prediction:
    systems = test.systems.systems
    return Prediction(test.systems.language, systems, np.full(len(systems), np.nan), failure)


def run_tasks(tasks: Sequence[Any], n_jobs: int, progress: Progress | None) -> list[Any]:
    """Run delayed calls in processes; results come in the order of the calls.

    Args:
        tasks: What ``joblib.delayed`` gives.
        n_jobs: Processes to use; -1 for all cores.
        progress: Called with ``"surrogates"``, the tasks done and the tasks in all.
    """
    with threadpool_limits(1), parallel_config("loky", inner_max_num_threads=1):
        results = []
        for result in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
            results.append(result)
            if progress is not None:
                progress(STAGE, len(results), len(tasks))
    return results


def learner_state(seed: int, *keys: str) -> int:
    """Return the seed of a learner for one purpose."""
    return int(seed_sequence(seed, "validation", *keys).generate_state(1)[0])
