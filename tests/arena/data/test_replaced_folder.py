"""Files and folders are replaced whole, and killed writers leave nothing for good."""

import signal
import subprocess
import sys

import pytest

from arena.data.writing import atomic_path, replaced_folder

pytest.importorskip("fcntl", reason="needs a system that locks files")

KILLED_WRITER = """
import os, signal, sys
from pathlib import Path
from arena.data.writing import atomic_path, replaced_folder

folder = Path(sys.argv[1])
if sys.argv[2] == "file":
    with atomic_path(folder) as new:
        new.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
with replaced_folder(folder) as new:
    (new / "half").write_text("written")
    if sys.argv[2] == "between":
        folder.rename(new.with_name(new.name + "-old"))
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("first")
    return folder


def kill_a_writer(folder, when="before"):
    command = [sys.executable, "-c", KILLED_WRITER, str(folder), when]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_killed_writers_left_is_removed_by_the_next_one(site):
    kill_a_writer(site)
    kill_a_writer(site)
    # The second has removed what the first had left.
    assert len(list(site.parent.glob(".writing-site-????????"))) == 1
    assert (site / "index.html").read_text() == "first"
    with replaced_folder(site) as new:
        (new / "index.html").write_text("second")
    assert names(site.parent) == ["site"]
    assert names(site) == ["index.html"]
    assert (site / "index.html").read_text() == "second"


def test_what_a_killed_writer_of_a_file_left_is_removed_by_the_next_one(tmp_path):
    file = tmp_path / "figure.png"
    kill_a_writer(file, "file")
    assert not file.exists()
    assert names(tmp_path)
    with atomic_path(file) as new:
        new.write_text("whole")
    assert names(tmp_path) == ["figure.png"]
    assert file.read_text() == "whole"


def test_the_only_copy_is_put_back_where_the_exchange_was_interrupted(site):
    kill_a_writer(site, "between")
    assert not site.exists()
    with pytest.raises(OSError, match="no space"), replaced_folder(site):
        raise OSError("no space")
    assert names(site.parent) == ["site"]
    assert (site / "index.html").read_text() == "first"


def test_a_writer_that_is_alive_is_left_alone(site):
    with replaced_folder(site) as slow:
        with replaced_folder(site) as fast:
            (fast / "index.html").write_text("fast")
        assert slow.is_dir()
        (slow / "index.html").write_text("slow")
    assert names(site.parent) == ["site"]
    assert (site / "index.html").read_text() == "slow"


def test_folders_of_others_are_left_alone(site):
    names_of_others = [
        ".writing-site-12345678",
        ".writing-other-12345678",
        ".writing-site-x-12345678",
    ]
    for name in names_of_others:
        (site.parent / name).mkdir()
    locks = [f"{name}.lock" for name in names_of_others[1:]]
    for name in locks:
        (site.parent / name).touch()
    with replaced_folder(site) as new:
        (new / "index.html").write_text("second")
    assert names(site.parent) == sorted([*names_of_others, *locks, "site"])


def test_the_new_folder_is_readable_as_others_are(tmp_path):
    with replaced_folder(tmp_path / "site"):
        pass
    (tmp_path / "plain").mkdir()
    modes = [(tmp_path / name).stat().st_mode for name in ("site", "plain")]
    assert modes[0] == modes[1]
