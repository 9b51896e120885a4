"""Where the work is done changes nothing."""

import pandas as pd
import pytest

from arena import MissingDependencyError, UsageError
from features import extract
from features.engine import measuring, workers
from features.engine.workers import Backend, checked_backend

FEATURES = "citation_map,bleu,rouge_l,target_language,english,answer_length"


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(measuring, "CHUNK", 2)


@pytest.mark.parametrize("backend", [Backend("threads", jobs=2), Backend("processes", jobs=2)])
def test_local_backends_agree(small_arena, backend):
    found = extract(small_arena, FEATURES, backend=backend)
    pd.testing.assert_frame_equal(found, extract(small_arena, FEATURES), check_exact=True)


def test_a_dask_cluster_agrees(small_arena):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
    ) as cluster:
        backend = Backend("dask", cluster.scheduler_address, jobs=-1)
        found = extract(small_arena, FEATURES, backend=backend)
    pd.testing.assert_frame_equal(found, extract(small_arena, FEATURES), check_exact=True)


def test_a_ray_cluster_agrees(small_arena):
    pytest.importorskip("ray", reason="ray is not installed")
    found = extract(small_arena, FEATURES, backend=Backend("ray", jobs=2))
    pd.testing.assert_frame_equal(found, extract(small_arena, FEATURES), check_exact=True)


def test_wrong_backends_are_refused(monkeypatch):
    with pytest.raises(UsageError, match="unknown backend 'dusk'; use one of processes"):
        checked_backend("dusk")
    with pytest.raises(UsageError, match="number of workers"):
        Backend(jobs=0)
    with pytest.raises(UsageError, match="scheduler"):
        Backend("threads", "tcp://127.0.0.1:1")
    monkeypatch.setattr(workers, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"surrogate-arena\[dask\]"):
        checked_backend("dask")
