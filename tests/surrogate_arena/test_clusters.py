"""The same bytes on clusters of Dask and Ray, also where a worker is killed in between."""

import os
import signal

import pytest

from arena import write_arena
from features import extract, extract_parts
from surrogate import build_board
from surrogate.board import language_study
from surrogate.board.tables import BOARD_FILES
from surrogate_arena.cli.cluster import cluster
from surrogate_arena.runs.config import read_configuration
from surrogate_arena.runs.run import bring_up_to_date

psutil = pytest.importorskip("psutil", reason="needs the extra dask")
BOARDS = """
[defaults]
arena = "arena"
tournaments = 2
surrogate = "linear"
features = ["answer_length", "citations"]
[boards.one]
[boards.two]
seed = 1
"""
FEATURES = "answer_length,citation_recall,rouge_l"
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # of their own


@pytest.fixture(autouse=True, scope="module")
def usual_splits(few_splits):
    """Split systems as often as the workers of a cluster do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language_study, "SPLITS", few_splits)
        yield


@pytest.fixture(scope="module")
def place(six_systems, tmp_path_factory):
    """An arena whose answers stand in eight part files, its features and boards made here."""
    place = tmp_path_factory.mktemp("cluster")
    write_arena(six_systems, place / "arena", ".parquet")
    answers = place / "arena" / "answers.parquet"
    answers.unlink()
    answers.mkdir()
    for number in range(8):
        six_systems.answers[number::8].to_parquet(answers / f"{number}.parquet", index=False)
    (place / "boards.toml").write_text(BOARDS)
    make(place, "here")
    return place


def make(place, name, watch=None):
    """Measure features, build a board, and bring two others up to date."""
    (place / name).mkdir()
    table = extract(place / "arena", FEATURES, n_jobs=-1, progress=watch)
    table.to_csv(place / name / "features.csv")
    extract_parts(place / "arena", place / name / "parts", FEATURES, n_jobs=-1)
    board = build_board(place / "arena", tournaments=2, n_jobs=-1, progress=watch)
    board.save(place / name / "board", place / "arena")
    report = bring_up_to_date(
        read_configuration(place / "boards.toml"), place / name / "boards", n_jobs=-1
    )
    assert {outcome.state for outcome in report.boards} == {"made"}


def contents(folder):
    names = {*BOARD_FILES, "features.csv", "part-000000.parquet"}
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.name in names
    }


WORKERS_STAGES = {"features", "held-out systems"}


def worker_of(backend):
    """Return a process of a worker that this process has started."""
    mark = {"dask": "spawn_main", "ray": "ray::PoolActor"}[backend]
    started = psutil.Process().children(recursive=True)
    return next(
        process.pid
        for process in started
        if process.status() != psutil.STATUS_ZOMBIE
        if mark in " ".join(process.cmdline())
    )


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_cluster_brings_the_same_bytes_though_a_worker_is_killed(backend, place, capfd):
    pytest.importorskip({"dask": "distributed"}.get(backend, backend))
    killed = []

    def kill(stage, done, _total):
        if done and stage in WORKERS_STAGES and stage not in killed:
            killed.append(stage)
            os.kill(worker_of(backend), signal.SIGKILL)

    with cluster(backend):
        make(place, backend, kill)
    assert capfd.readouterr().out == ""  # where results stand
    assert set(killed) == WORKERS_STAGES
    here, there = contents(place / "here"), contents(place / backend)
    assert list(here) == list(there)
    # The board, and the two of the run, which their histories hold, too.
    assert len(here) == 2 + 5 * len(BOARD_FILES)
    assert [name for name in here if here[name] != there[name]] == []
