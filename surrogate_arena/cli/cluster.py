"""Work done by the workers of a Dask or Ray cluster, through joblib."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from joblib import parallel_config

from arena.data.errors import MissingDependencyError, UsageError, checked_choice

BACKENDS = ("dask", "ray")
SECONDS_TO_START = 60
"""Of Dask's workers, which joblib gives ten."""
AGAIN = {"max_restarts": -1, "max_task_retries": -1}
"""Of Ray's workers: what one that was lost had to do is done by another, as Dask does."""
LARGE_TASKS = {"distributed.admin.large-graph-warning-threshold": "1 GiB"}


@contextmanager
def cluster(backend: str, scheduler: str | None = None) -> Iterator[None]:
    """Let all work be done by the workers of a Dask or Ray cluster, by default one on this machine.

    They need this package and the folders that are named, at the same paths.
    """
    checked_choice(backend, BACKENDS, "backend")
    start: Callable[[str | None], Any] = _dask if backend == "dask" else _ray
    try:
        with start(scheduler):
            yield
    except ImportError as error:
        raise MissingDependencyError(f"the backend {backend}", backend, backend) from error


@contextmanager
def _dask(scheduler: str | None) -> Iterator[None]:
    import dask
    from distributed import Client

    options = {"threads_per_worker": 1, "dashboard_address": None} if scheduler is None else {}
    with dask.config.set(LARGE_TASKS):
        try:
            client = Client(scheduler, **options)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise UsageError(f"no Dask scheduler answers at {scheduler} ({error})") from error
        with client, parallel_config("dask", wait_for_workers_timeout=SECONDS_TO_START):
            yield


@contextmanager
def _ray(scheduler: str | None) -> Iterator[None]:
    import ray
    from ray._private import worker
    from ray.util.joblib import register_ray

    worker._worker_logs_enabled = False  # else its own errors stand among results
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would tell its makers
    try:
        ray.init(address=scheduler, ignore_reinit_error=True, log_to_driver=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"no Ray cluster answers at {scheduler} ({error})") from error
    try:
        register_ray()
        with parallel_config("ray", ray_remote_args=AGAIN):
            yield
    finally:
        ray.shutdown()
