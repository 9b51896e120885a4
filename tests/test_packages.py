"""What is released: a wheel and a source distribution that work away from the repository."""

import importlib.util
import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LOCKS = ROOT / "locks"


def locked(name):
    """Package to version and hashes of a lock."""
    found, own = {}, []
    for line in (LOCKS / name).read_text().splitlines():
        if not line.startswith(" "):
            requirement = Requirement(line.rstrip("\\ "))
            own = found.setdefault(requirement.name.lower().replace("_", "-"), [])
            own += [str(next(iter(requirement.specifier)).version)]
        else:
            own.append(line.strip(" \\"))
    return found


@pytest.mark.parametrize("name", ["core.txt", "dev.txt", "model.txt"])
def test_every_locked_package_has_a_version_and_hashes(name):
    for package, (version, *hashes) in locked(name).items():
        assert version, package
        assert hashes, package
        assert all(item.startswith("--hash=sha256:") for item in hashes), package


def test_locks_have_the_versions_of_the_constraints():
    pinned = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if line.partition("#")[0].strip():
            requirement = Requirement(line)
            name = requirement.name.lower().replace("_", "-")
            pinned[name] = next(iter(requirement.specifier)).version
    for name in ("core.txt", "dev.txt"):
        for package, (version, *_) in locked(name).items():
            assert pinned.get(package, version) == version, package


def test_locks_hold_what_the_project_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    core = locked("core.txt")
    for text in project["dependencies"]:
        requirement = Requirement(text)
        [version, *_] = core[requirement.name.lower()]
        assert requirement.specifier.contains(version), text


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A wheel, and a source distribution, built without the network."""
    if not importlib.util.find_spec("hatchling"):
        pytest.skip("needs hatchling, which the locked install has")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.mark.slow
def test_the_wheel_runs_the_demo_away_from_the_repository(built, tmp_path):
    """In an environment of its own, which sees the dependencies and not the repository."""
    [wheel] = built.glob("*.whl")
    place = tmp_path / "venv"
    venv.create(place, with_pip=False)
    [site] = place.glob("lib/*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    others = [path for path in sys.path if path.endswith("site-packages")]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    command = "import sys; sys.path += {}; import arena, surrogate; print(arena.__file__); {}"
    run = "from surrogate.cli.app import main; main(sys.argv[1:])"
    done = subprocess.run(
        [
            *(place / "bin" / "python", "-c", command.format(others, run)),
            *("demo", "--out", "demo", "--jobs", "1"),
        ],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(str(site))
    assert "How close to the known truth" in done.stdout
    assert (tmp_path / "demo" / "board.csv").is_file()


@pytest.mark.slow
def test_the_source_distribution_holds_what_the_wheel_does(built):
    [wheel], [source] = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        packaged = {name for name in archive.namelist() if ".dist-info/" not in name}
    with tarfile.open(source) as archive:
        shipped = {name.partition("/")[2] for name in archive.getnames()}
    assert packaged <= shipped
    assert {"LICENSE", "constraints.txt", "pyproject.toml", "locks/core.txt"} <= shipped
    assert not {name for name in packaged if name.startswith(("tests/", "benchmarks/"))}
