"""Where the work is done: by joblib, in processes of this machine or on a Dask or Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from time import perf_counter
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky import get_reusable_executor
from joblib.parallel import LokyBackend, get_active_backend

from arena.data.errors import MissingDependencyError, UsageError, checked_choice

BACKENDS = {"processes": "loky", "threads": "threading", "dask": "dask", "ray": "ray"}
"""Names of joblib's backends, by ours."""

WORTH_PROCESSES = 6.0
"""Seconds of work that processes are started for: each needs some to import what it works with."""

_CLUSTERS = {"dask": "distributed", "ray": "ray"}

Job = TypeVar("Job")
Done = TypeVar("Done")


@contextmanager
def worker_pool(name: str, scheduler: str | None = None, jobs: int = -1) -> Iterator[None]:
    """Have joblib work elsewhere while the context lasts: ``extract(..., n_jobs=None)``.

    Args:
        name: ``processes`` or ``threads`` of this machine, ``dask`` or ``ray``.
        scheduler: Address of a running Dask scheduler or Ray cluster; without one, they start
            their own on this machine.
        jobs: Jobs at a time, -1 for all cores or all of the cluster.

    Raises:
        UsageError: If there is no backend of that name, or it takes no scheduler.
        MissingDependencyError: If its package is not installed.
    """
    checked_choice(name, BACKENDS, "backend")
    if scheduler is not None and name not in _CLUSTERS:
        raise UsageError("a scheduler is of use to the backends dask and ray only")
    if name in _CLUSTERS and find_spec(_CLUSTERS[name]) is None:
        raise MissingDependencyError(f"backend {name}", _CLUSTERS[name], name)
    with ExitStack() as stack:
        if name == "dask":
            client: Any = import_module("distributed").Client
            stack.enter_context(client(scheduler))
        elif name == "ray":
            ray: Any = import_module("ray")
            ray.init(address=scheduler, ignore_reinit_error=True)
            stack.callback(ray.shutdown)
            import_module("ray.util.joblib").register_ray()
        stack.enter_context(parallel_config(backend=BACKENDS[name], n_jobs=jobs))
        yield


def work(
    task: Callable[[Job], Done],
    jobs: Iterable[Job],
    n_jobs: int | None = None,
    expected: int | None = None,
) -> Iterator[Done]:
    """Yield what a task gives for the jobs, in their order; as they are done, if joblib can.

    Args:
        task: What to do, which processes can import.
        jobs: What to do it for.
        n_jobs: Workers; None for what ``joblib.parallel_config`` says.
        expected: How many jobs there are, if the first may be done here, and all others where
            they would take less time than it is worth to start processes for.
    """
    backend, _ = get_active_backend()
    remaining = iter(jobs)
    if expected is not None and isinstance(backend, LokyBackend):
        start = perf_counter()
        done = [task(job) for job in islice(remaining, 1)]
        seconds = perf_counter() - start
        yield from done
        if seconds * (expected - 1) < WORTH_PROCESSES:
            yield from map(task, remaining)
            return
    streams = getattr(backend, "supports_return_generator", False)
    pool = Parallel(n_jobs=n_jobs, return_as="generator" if streams else "list")
    yield from pool(delayed(task)(job) for job in remaining)


def renew_processes(n_jobs: int | None = None) -> None:
    """Let processes end, so that the next job starts in new ones.

    joblib takes a process that loads a second model for one that leaks, and replaces it in the
    middle of the work.
    """
    if effective_n_jobs(n_jobs) > 1:
        get_reusable_executor().shutdown(wait=True)
