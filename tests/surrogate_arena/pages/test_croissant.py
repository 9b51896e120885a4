"""Descriptions of arenas in Croissant: valid and readable by MLCommons' own program."""

import datetime
import json
import shutil

import pytest
from other_packages import install, run_theirs

from arena import read_arena, sample_arena, write_arena
from surrogate_arena.pages.croissant import croissant_text
from surrogate_arena.pages.site_settings import SiteSettings

PACKAGES = ("mlcroissant==1.1.1", "absl-py", "etils", "jsonpath-rw", "ply", "decorator", "six")
FURTHER = ("rdflib", "pyparsing", "networkx", "pandas-stubs", "importlib_resources", "zipp")
SETTINGS = SiteSettings(
    title="Support bots",
    license="CC-BY-4.0",
    home="https://example.org",
    organization="My Lab",
    date=datetime.date(2026, 11, 29),
)


@pytest.fixture(params=[".jsonl.gz", ".jsonl", ".parquet"])
def folder(tmp_path, request):
    folder = tmp_path / "arena"
    write_arena(sample_arena(), folder, request.param)
    (folder / "croissant.json").write_text(croissant_text(folder, SETTINGS), encoding="utf-8")
    return folder


def test_every_table_is_described_by_its_columns(folder):
    described = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    arena = read_arena(folder)
    names = {table["@id"] for table in described["recordSet"]}
    assert names == {"queries", "answers", "judgments"}
    for table in described["recordSet"]:
        columns = {field["source"]["extract"]["column"] for field in table["field"]}
        assert columns <= set(getattr(arena, table["@id"]))
        assert {"query_id", "language"} <= columns
    files = {file["contentUrl"] for file in described["distribution"]}
    assert files == {path.name for path in folder.iterdir()} - {"arena.json", "croissant.json"}


def test_it_is_published_by_the_command(folder, run, capsys):
    assert run("publish", folder, "--as", "croissant", "--license", "MIT") == 0
    assert json.loads(capsys.readouterr().out)["license"] == "MIT"
    assert run("publish", folder / "absent", "--as", "croissant") == 2
    shutil.move(folder / "arena.json", folder / "other.json")
    assert run("publish", folder, "--as", "croissant") == 2
    assert "is not an arena folder" in capsys.readouterr().err


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = tmp_path_factory.mktemp("croissant")
    install(site, *PACKAGES, *FURTHER)
    return site


@pytest.mark.slow
def test_their_program_accepts_and_reads_it(site, folder):
    words = ["--jsonld", folder / "croissant.json"]
    module = "mlcroissant.scripts.cli"
    said = run_theirs(site, module, "validate", *words)
    assert "Done." in said
    assert "error" not in said
    read = run_theirs(site, module, "load", *words, "--record_set", "answers", "--num_records", 3)
    first = read_arena(folder).answers.iloc[0]
    assert first["system"] in read
    assert first["query_id"] in read
