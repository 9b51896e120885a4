"""Where the work is done changes nothing."""

import os

import pandas as pd
import pytest
from joblib import parallel_config

from arena import MissingDependencyError, UsageError
from features import extract
from features.engine import measuring, workers
from features.engine.workers import work, worker_pool

FEATURES = "citation_map,bleu,rouge_l,target_language,english,answer_length"


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(measuring, "CHUNK", 2)


def same(table, expected):
    pd.testing.assert_frame_equal(table, expected, check_exact=False, rtol=0, atol=1e-6)


@pytest.mark.parametrize("backend", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_local_backends_agree(small_arena, backend):
    with worker_pool(backend, jobs=2):
        found = extract(small_arena, FEATURES, n_jobs=None)
    same(found, extract(small_arena, FEATURES))


def test_joblibs_own_configuration_is_used(small_arena):
    with parallel_config(backend="threading", n_jobs=2):
        found = extract(small_arena, FEATURES, n_jobs=None)
    same(found, extract(small_arena, FEATURES))


def whose(job):
    return job, os.getpid()


def test_little_work_is_done_here():
    assert list(work(whose, range(4), 2, 4)) == [(job, os.getpid()) for job in range(4)]


def test_no_work_is_done_at_all():
    assert list(work(whose, [], 2, 0)) == []


@pytest.mark.slow
def test_much_work_is_done_by_processes_and_in_order(monkeypatch):
    monkeypatch.setattr(workers, "WORTH_PROCESSES", 0.0)
    first, *others = work(whose, range(4), 2, 4)
    assert first == (0, os.getpid())
    assert [job for job, _ in others] == [1, 2, 3]
    assert os.getpid() not in {process for _, process in others}


@pytest.mark.slow
def test_a_dask_cluster_agrees(small_arena):
    distributed = pytest.importorskip("distributed", reason="needs surrogate-arena[dask]")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as cluster,
        worker_pool("dask", cluster.scheduler_address),
    ):
        found = extract(small_arena, FEATURES, n_jobs=None)
    same(found, extract(small_arena, FEATURES))


@pytest.mark.slow
def test_a_ray_cluster_agrees(small_arena):
    pytest.importorskip("ray", reason="needs surrogate-arena[ray]")
    with worker_pool("ray", jobs=2):
        found = extract(small_arena, FEATURES, n_jobs=None)
    same(found, extract(small_arena, FEATURES))


def refused(*arguments):
    with worker_pool(*arguments):
        pass


def test_wrong_backends_are_refused(monkeypatch):
    with pytest.raises(UsageError, match="unknown backend 'dusk'; use one of processes"):
        refused("dusk")
    with pytest.raises(UsageError, match="scheduler"):
        refused("threads", "tcp://127.0.0.1:1")
    monkeypatch.setattr(workers, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"surrogate-arena\[dask\]"):
        refused("dask")
