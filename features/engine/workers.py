"""Where the work is done: by joblib, in processes of this machine or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import LokyBackend, SequentialBackend, get_active_backend
from threadpoolctl import threadpool_limits

from arena.data.errors import MissingDependencyError, UsageError, checked_choice

WORTH_PROCESSES = 6.0
"""Seconds of work that processes are started for: each needs some to import what it works with."""
BACKENDS = ("dask", "ray")
AGAIN = {"max_restarts": -1, "max_task_retries": -1}
"""Of Ray's workers: what one that was lost had to do is done by another, as Dask does."""
LARGE_TASKS = {"distributed.admin.large-graph-warning-threshold": "1 GiB"}

Job = TypeVar("Job")
Done = TypeVar("Done")


def work(
    task: Callable[[Job], Done], jobs: Sequence[Job], n_jobs: int | None = None
) -> Iterator[Done]:
    """Yield what a task gives for the jobs, in their order; as they are done, if joblib can.

    On this machine the first job is done here, and so are all others where they would take less
    time than it is worth to start processes for.

    Args:
        task: What to do, on one thread, which processes can import.
        jobs: What to do it for.
        n_jobs: Workers; None for what ``joblib.parallel_config`` says, 1 for nobody else.
    """
    backend, _ = get_active_backend()
    is_here = isinstance(backend, LokyBackend)
    if n_jobs == 1 or isinstance(backend, SequentialBackend) or not len(jobs):
        yield from (_alone(task, job) for job in jobs)
        return
    if is_here:
        start = perf_counter()
        yield _alone(task, jobs[0])
        seconds, jobs = perf_counter() - start, jobs[1:]
        if seconds * len(jobs) < WORTH_PROCESSES:
            yield from (_alone(task, job) for job in jobs)
            return
    streams = getattr(backend, "supports_return_generator", False)
    with parallel_config("loky", inner_max_num_threads=1) if is_here else nullcontext():
        pool = Parallel(n_jobs=n_jobs, return_as="generator" if streams else "list")
    # A job is part of its call: what Dask hands to workers beside it is lost with a worker.
    yield from pool(delayed(partial(_alone, task, job))() for job in jobs)


def _alone(task: Callable[[Job], Done], job: Job) -> Done:
    with threadpool_limits(limits=1):
        return task(job)


def on_cluster() -> bool:
    """Tell whether work is done by the workers of a cluster."""
    backend, _ = get_active_backend()
    return type(backend).__module__.partition(".")[0] == "ray" or hasattr(backend, "client")


@contextmanager
def cluster(backend: str | None, scheduler: str | None = None) -> Iterator[None]:
    """Let all work be done by the workers of a Dask or Ray cluster.

    They need this package and the folders that are named, at the same paths.

    Args:
        backend: ``dask`` or ``ray``; None for this machine.
        scheduler: Its address; None for one that is started on this machine, for the while.

    Raises:
        UsageError: For another backend, or an address without one or that nobody answers at.
        MissingDependencyError: If the package is not installed.
    """
    if backend is None:
        if scheduler is not None:
            raise UsageError("`scheduler` is the address of a cluster; say of which `backend`")
        yield
        return
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

    own = {"threads_per_worker": 1, "dashboard_address": None} if scheduler is None else {}
    with dask.config.set(LARGE_TASKS):
        try:
            client = Client(scheduler, **own)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise UsageError(f"no Dask scheduler answers at {scheduler} ({error})") from error
        with client, parallel_config("dask"):
            yield


@contextmanager
def _ray(scheduler: str | None) -> Iterator[None]:
    import ray
    from ray.util.joblib import register_ray

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
