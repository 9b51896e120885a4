"""The sample arena that comes with the package, and the command that wrote it."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd

from arena.data.folder import read_arena
from arena.simulation import (
    DEFAULT_SYSTEMS,
    LANGUAGES,
    SAMPLE_SEED,
    sample_arena,
    sample_folder,
    sample_truth,
    simulate,
)

TABLES = ("queries", "answers", "judgments")
FILES = {"arena.json", "truth.csv", *(f"{table}.jsonl.gz" for table in TABLES)}


def test_simulating_again_gives_the_sample():
    simulation = simulate(seed=SAMPLE_SEED)
    sample = sample_arena()
    assert simulation.arena.info == sample.info
    for table in TABLES:
        pd.testing.assert_frame_equal(getattr(simulation.arena, table), getattr(sample, table))
    pd.testing.assert_frame_equal(simulation.truth, sample_truth())


def test_the_sample_is_small_and_complete():
    files = list(sample_folder().iterdir())
    assert {path.name for path in files} == FILES
    assert sum(path.stat().st_size for path in files) < 1_500_000


def test_the_truth_ranks_every_system_in_every_language():
    truth = sample_truth()
    assert list(truth.columns) == ["language", "system", "quality", "rank"]
    assert len(truth) == len(LANGUAGES) * len(DEFAULT_SYSTEMS)
    assert truth["quality"].between(0, 1).all()
    for _, rows in truth.groupby("language"):
        assert list(rows["rank"]) == list(range(1, len(DEFAULT_SYSTEMS) + 1))
        assert rows["quality"].is_monotonic_decreasing


def test_the_command_writes_an_arena_with_its_truth(tmp_path):
    folder = tmp_path / "arena"
    command = [sys.executable, "-m", "arena.simulation", str(folder), "--seed", "3"]
    subprocess.run(command, check=True, capture_output=True)
    assert {path.name for path in folder.iterdir()} == FILES
    expected = simulate(seed=3).arena
    written = read_arena(folder)
    assert written.info.source == "arena.simulation, seed 3"
    for table in TABLES:
        pd.testing.assert_frame_equal(getattr(written, table), getattr(expected, table))
