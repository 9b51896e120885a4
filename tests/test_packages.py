"""What is released: a wheel and a source distribution that work away from the repository."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LOCKS = ROOT / "locks"
MOST_BYTES = 2_500_000


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


def test_locks_have_hashes_the_versions_of_the_constraints_and_what_the_project_asks_for():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    pinned = {name.lower().replace("_", "-"): version for name, version in pinned.items()}
    for name in ("core.txt", "dev.txt", "model.txt"):
        for package, (version, *hashes) in locked(name).items():
            assert pinned.get(package, version) == version, package
            assert hashes, package
            assert all(item.startswith("--hash=sha256:") for item in hashes), package
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for text in (*project["project"]["dependencies"], *project["build-system"]["requires"]):
        requirement = Requirement(text)
        [version, *_] = locked("core.txt")[requirement.name.lower()]
        assert requirement.specifier.contains(version), text


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A wheel, and a source distribution, built without the network."""
    folder = tmp_path_factory.mktemp("dist")
    hatchling(ROOT, "build", "-d", folder)
    return folder


def hatchling(folder, *arguments):
    for package in ("hatchling", "hatch_vcs"):
        pytest.importorskip(package, reason="needs what the locked install builds with")
    command = [sys.executable, "-m", "hatchling", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_versions_are_those_of_tags(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    assert hatchling(tmp_path, "version") == "0.0.0\n"  # not in a repository
    git = ["git", "-c", "user.name=me", "-c", "user.email=me@example.org"]
    for command in ("init -q", "add .", "commit -q -m first"):
        subprocess.run([*git, *command.split()], cwd=tmp_path, check=True, capture_output=True)
    assert hatchling(tmp_path, "version").startswith("0.0.1.dev1+g")  # without a tag
    subprocess.run([*git, "tag", "v1.2.3"], cwd=tmp_path, check=True)
    assert hatchling(tmp_path, "version") == "1.2.3\n"


@pytest.mark.slow
def test_the_wheel_runs_the_demo_away_from_the_repository(built, tmp_path):
    """From a folder of its own, which holds the wheel; what it depends on is found elsewhere."""
    [wheel] = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
        assert not {name for name in archive.namelist() if name.startswith(("tests/", "docs/"))}
    run = (
        "import sys, arena; print(arena.__file__); from surrogate_arena.cli.app import main; main()"
    )
    command = [sys.executable, "-c", run]
    around = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(tmp_path / "site")}}
    told = {**around, "capture_output": True, "text": True, "check": True}
    done = subprocess.run([*command, "demo", "--out", "demo"], **told)
    assert done.stdout.startswith(str(tmp_path / "site"))
    assert (tmp_path / "demo" / "board.csv").is_file()
    version = subprocess.run([*command, "--version"], **told).stdout.split()[-1]
    assert wheel.name.startswith(f"surrogate_arena-{version}-")


@pytest.mark.slow
def test_the_wheel_is_small_and_holds_the_sample_with_its_attribution(built):
    [wheel] = built.glob("*.whl")
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        described = archive.read(metadata).decode().splitlines()
    sample = {Path(name).name for name in names if name.startswith("arena/sample/nomiracl/")}
    assert {"arena.json", "queries.jsonl.gz", "answers.jsonl.gz", "judgments.jsonl.gz"} < sample
    licenses = {name.partition("/licenses/")[2] for name in names} - {""}
    packaged = {name for name in names if ".dist-info/" not in name}
    attributions = {name for name in packaged if name.endswith("ATTRIBUTION.md")}
    assert licenses == {"LICENSE", *attributions}
    assert "License-Expression: Apache-2.0 AND CC-BY-SA-3.0 AND CC-BY-4.0" in described


@pytest.mark.slow
def test_the_source_distribution_holds_what_the_wheel_does(built):
    [wheel], [source] = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        packaged = {name for name in archive.namelist() if ".dist-info/" not in name}
    with tarfile.open(source) as archive:
        shipped = {name.partition("/")[2] for name in archive.getnames()}
    assert packaged <= shipped
    assert {"LICENSE", "constraints.txt", "pyproject.toml", "locks/core.txt"} <= shipped
    assert not {name for name in shipped if name.startswith(("tests/", "benchmarks/"))}


def test_the_citation_names_the_package_as_it_is():
    """The file is CFF 1.2.0; what it shares with the package's own description is the same."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["title"] == project["name"]
    assert citation["abstract"] == project["description"]
    # The parts of others, which the package's expression also names, are not cited.
    assert citation["license"] == project["license"].split(" AND ")[0]
    assert citation["authors"] == project["authors"]
