"""Where the work is done: processes of this machine, or a Dask or Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any, Literal, TypeVar, get_args

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor

from arena.data.errors import MissingDependencyError, UsageError

BackendName = Literal["processes", "threads", "dask", "ray"]
BACKENDS: tuple[BackendName, ...] = get_args(BackendName)

_JOBLIB_NAMES = {"processes": "loky", "threads": "threading", "dask": "dask", "ray": "ray"}
_PACKAGES = {"dask": "distributed", "ray": "ray"}
_RAY_BLOCK = 64
"""Jobs handed to Ray at once: its joblib backend returns results by whole calls only."""

Job = TypeVar("Job")
Done = TypeVar("Done")


@dataclass(frozen=True)
class Backend:
    """Where jobs run; results do not depend on it.

    Attributes:
        name: ``processes`` or ``threads`` of this machine, ``dask`` or ``ray``.
        scheduler: Address of a running Dask scheduler or Ray cluster; without one, Dask and Ray
            start their own on this machine.
        jobs: Jobs at a time, -1 for all cores or all of the cluster.
    """

    name: BackendName = "processes"
    scheduler: str | None = None
    jobs: int = 1

    def __post_init__(self) -> None:
        if self.jobs == 0 or self.jobs < -1:
            raise UsageError("jobs is a number of workers, or -1 for all cores; not 0")
        if self.scheduler is not None and self.name not in _PACKAGES:
            raise UsageError("a scheduler is of use to the backends dask and ray only")
        package = _PACKAGES.get(self.name)
        if package is not None and find_spec(package) is None:
            raise MissingDependencyError(f"backend {self.name}", package, self.name)

    @property
    def is_local(self) -> bool:
        """Whether jobs run on this machine, without a scheduler."""
        return self.name not in _PACKAGES

    @contextmanager
    def workers(self) -> Iterator[Workers]:
        """Start, or reach, the workers."""
        with _cluster(self), parallel_config(backend=_JOBLIB_NAMES[self.name], n_jobs=self.jobs):
            yield Workers(
                block=_RAY_BLOCK if self.name == "ray" else None,
                are_processes=self.name == "processes" and self.jobs != 1,
            )


def checked_backend(name: str, scheduler: str | None = None, jobs: int = -1) -> Backend:
    """Return a backend by name.

    Raises:
        UsageError: If there is none of that name.
        MissingDependencyError: If its package is not installed.
    """
    for known in BACKENDS:
        if known == name:
            return Backend(known, scheduler, jobs)
    raise UsageError(f"unknown backend {name!r}; use one of {', '.join(BACKENDS)}")


@dataclass(frozen=True)
class Workers:
    """Workers that take jobs.

    Attributes:
        block: Jobs handed over together, or None to hand them over one by one.
        are_processes: Whether they are several processes of this machine.
    """

    block: int | None = None
    are_processes: bool = False

    def renew(self) -> None:
        """Let processes of this machine end, so that the next job starts in new ones.

        A process whose memory grows between jobs, as by another model, is taken for leaking and
        replaced in the middle of the work.
        """
        if self.are_processes:
            get_reusable_executor().shutdown(wait=True)

    def map(self, work: Callable[[Job], Done], jobs: Iterable[Job]) -> Iterator[Done]:
        """Yield what the jobs give, in their order, as they are done."""
        if self.block is None:
            yield from Parallel(return_as="generator")(delayed(work)(job) for job in jobs)
            return
        left = iter(jobs)
        while taken := list(islice(left, self.block)):
            yield from Parallel()(delayed(work)(job) for job in taken)


@contextmanager
def _cluster(backend: Backend) -> Iterator[None]:
    if backend.name == "dask":
        client: Any = import_module("distributed").Client
        with client(backend.scheduler):
            yield
    elif backend.name == "ray":
        ray: Any = import_module("ray")
        ray.init(address=backend.scheduler, ignore_reinit_error=True)
        try:
            import_module("ray.util.joblib").register_ray()
            yield
        finally:
            ray.shutdown()
    else:
        yield
