"""Work by joblib: in this process, in processes of this machine or on a cluster; on one thread."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache, partial
from time import process_time
from typing import TypeVar

from threadpoolctl import ThreadpoolController

WORTH_PROCESSES = 6.0
"""Processor seconds from which on processes are started: each spends some on its imports."""

Job = TypeVar("Job")
Done = TypeVar("Done")


def work(
    task: Callable[[Job], Done], jobs: Sequence[Job], n_jobs: int | None = None
) -> Iterator[Done]:
    """Yield each job's result in order, as soon as joblib can.

    This process does the first job, and all others if they take less time than starting processes.
    """
    if n_jobs == 1 or not len(jobs):
        yield from _one_after_another(task, jobs)
        return
    from joblib import Parallel, delayed, parallel_config
    from joblib.parallel import LokyBackend, SequentialBackend, get_active_backend

    backend, _ = get_active_backend()
    is_here = isinstance(backend, LokyBackend)
    if isinstance(backend, SequentialBackend):
        yield from _one_after_another(task, jobs)
        return
    if is_here:
        start = process_time()
        yield _on_one_thread(task, jobs[0])
        seconds = process_time() - start
        jobs = jobs[1:]
        if seconds * len(jobs) < WORTH_PROCESSES:
            yield from _one_after_another(task, jobs)
            return
    streams = getattr(backend, "supports_return_generator", False)
    with parallel_config("loky", inner_max_num_threads=1) if is_here else nullcontext():
        pool = Parallel(
            n_jobs,
            return_as="generator" if streams else "list",
            # Jobs that wait for a process of this machine are held twice, once of them pickled;
            # those for a cluster are on their way meanwhile.
            pre_dispatch="n_jobs" if is_here else "2 * n_jobs",
        )
    # A job is part of the function, not its argument: joblib scatters large arguments to some of
    # Dask's workers, and what a worker that dies alone held cannot be computed again.
    yield from pool(delayed(partial(_in_worker, task, job))() for job in jobs)


def _one_after_another(task: Callable[[Job], Done], jobs: Sequence[Job]) -> Iterator[Done]:
    for job in jobs:
        yield _on_one_thread(task, job)


def _on_one_thread(task: Callable[[Job], Done], job: Job) -> Done:
    with one_thread():
        return task(job)


def _in_worker(task: Callable[[Job], Done], job: Job) -> Done:
    done = _on_one_thread(task, job)
    # glibc keeps freed memory to itself; a worker that waits for its next job should not.
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    return done


def one_thread() -> AbstractContextManager[object]:
    """Keep loaded numerical libraries to one thread."""
    limited: AbstractContextManager[object] = _loaded_libraries(len(sys.modules)).limit(limits=1)
    return limited


@lru_cache(maxsize=1)
def _loaded_libraries(_n_modules: int) -> ThreadpoolController:
    """Look up loaded libraries, again once modules are imported."""
    return ThreadpoolController()
