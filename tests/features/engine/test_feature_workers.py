"""Where the work is done changes nothing."""

import os

import pandas as pd
import pytest
from joblib import parallel_config

from features import extract
from features.engine import extraction, workers
from features.engine.workers import work

FEATURES = "citation_map,bleu,rouge_l,target_language,english,answer_length"


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_joblibs_own_configuration_is_used(small_arena, backend, monkeypatch):
    monkeypatch.setattr(extraction, "CHUNK", 2)
    with parallel_config(backend=backend, n_jobs=2):
        found = extract(small_arena, FEATURES, n_jobs=None)
    expected = extract(small_arena, FEATURES)
    pd.testing.assert_frame_equal(found, expected, check_exact=False, rtol=0, atol=1e-6)


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
