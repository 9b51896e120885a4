"""Where the time of a command goes."""

import json
from itertools import pairwise

import pytest

from surrogate_arena.cli import timings


class Clock:
    """A clock that the test moves."""

    def __init__(self, now):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clocks(monkeypatch):
    wall, processor = Clock(100.0), Clock(1.5)
    monkeypatch.setattr(timings.time, "perf_counter", wall)
    monkeypatch.setattr(timings.time, "process_time", processor)
    return wall, processor


def test_time_belongs_to_the_stage_that_reports_at_its_end(clocks):
    wall, processor = clocks
    recorder = timings.Timings()
    for stage, wall_s, processor_s in (
        ("folds", 4.0, 1.0),
        ("pages", 1.0, 0.25),
        ("folds", 2.0, 0.5),
    ):
        wall.now += wall_s
        processor.now += processor_s
        recorder(stage, 1, 2)
    table = recorder.table().set_index("stage")
    assert table["processor_seconds"].to_dict() == {"start": 1.5, "folds": 1.5, "pages": 0.25}
    assert table["seconds"].dropna().to_dict() == {"folds": 6.0, "pages": 1.0}


def test_a_stage_of_one_step_prints_no_line(clocks, capsys):
    recorder = timings.Timings()
    recorder("folds", 1, 2)
    recorder("pages", 1, 1)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["folds"]


def test_board_reports_its_stages_in_order_on_standard_error(
    run, tiny_folder, quick_options, tmp_path, capsys
):
    options = (*quick_options, "--jobs", 1, "--timings", "--json")
    assert run("board", tiny_folder, "--out", tmp_path / "board", *options) == 0
    printed = capsys.readouterr()
    assert "summary" in json.loads(printed.out)
    table = printed.err[printed.err.index("Seconds by stage") :]
    stages = ("start", "reading", "features", "ratings by verdicts", "surrogate", "tables", "files")
    places = [table.index(f"\n{stage} ") for stage in (*stages, "site", "total")]
    assert all(first < second for first, second in pairwise(places))
