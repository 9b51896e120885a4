"""Jobs are done in order, by as many processes as are worth starting."""

import os

import pytest

from arena.computing import workers
from arena.computing.workers import work


def whose(job):
    return job, os.getpid()


def test_little_work_is_done_here():
    assert list(work(whose, range(4), 2)) == [(job, os.getpid()) for job in range(4)]
    assert list(work(whose, [], 2)) == []


@pytest.mark.slow
def test_much_work_is_done_by_processes_and_in_order(monkeypatch):
    monkeypatch.setattr(workers, "WORTH_PROCESSES", 0.0)
    first, *others = work(whose, range(4), 2)
    assert first == (0, os.getpid())
    assert [job for job, _ in others] == [1, 2, 3]
    assert os.getpid() not in {process for _, process in others}
