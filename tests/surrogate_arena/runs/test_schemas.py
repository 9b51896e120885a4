"""Schemas for editors accept and refuse what the reader does."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from arena import DataError, write_arena
from arena.data.folder import read_info
from arena.data.schema import ArenaInfo
from surrogate.board.settings import BoardSettings
from surrogate_arena.runs.config import read_configuration
from surrogate_arena.runs.configured import (
    SCHEMAS,
    BoardOptions,
    Configuration,
    arena_schema,
    configuration_schema,
)

ROOT = Path(__file__).parents[3]
CONFIGURATION = Draft202012Validator(configuration_schema())
ARENA = Draft202012Validator(arena_schema())
GOOD = {
    "text lists": '[boards.a]\narena = "x"\nfeatures = "bleu,rouge_l"\nholdout = "none"',
    "arena of defaults": '[defaults]\narena = "x"\n[boards.a]\n[boards.B-2]\nseed = 3',
    "nested": '[boards.a]\narena = "x"\n[boards.a.judging]\nmodel = "m"\npairs = 3\nomit = "top_p"',
    "preset": '[boards.a]\narena = "x"\npreset = "mirage"\nridge = 1',
    "pages": '[site]\ntitle = "t"\nquestions = 0\n[boards.a]\narena = "x"\nsite = {title = "u"}',
    "published": '[boards.a]\narena = "x"\npublish = true',
}
BAD = {
    "unknown key": '[boards.a]\narena = "x"\nsede = 1',
    "unknown table": '[board.a]\narena = "x"',
    "below the least": '[boards.a]\narena = "x"\nseed = -1',
    "above the most": '[boards.a]\narena = "x"\ntournaments = 1000000',
    "kind": '[boards.a]\narena = "x"\ntournaments = "many"',
    "publish is no list": '[boards.a]\narena = "x"\npublish = ["poster"]',
    "unknown word": '[boards.a]\narena = "x"\nties = "third"',
    "name of a board": '[boards."../a"]\narena = "x"',
    "nested key": '[boards.a]\narena = "x"\n[boards.a.judging]\nmodel = "m"\nmodell = "m"',
    "key of the pages": '[site]\ntitel = "t"\n[boards.a]\narena = "x"',
    "list of numbers": '[boards.a]\narena = "x"\nfeatures = [1]',
}


@pytest.mark.parametrize("path", [ROOT / "examples" / "leaderboards.toml"], ids=lambda p: p.name)
def test_the_example_is_valid(path):
    CONFIGURATION.validate(tomllib.loads(path.read_text(encoding="utf-8")))


def test_configurations_of_the_guides_are_valid():
    shown = []
    for guide in (ROOT / "docs").rglob("*.md"):
        for block in re.findall(r"```toml\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL):
            content = tomllib.loads(block)
            if "boards" in content:
                CONFIGURATION.validate(content)
                shown.append(guide.name)
    assert "publishing.md" in shown


@pytest.mark.parametrize("name", [*GOOD, *BAD])
def test_it_accepts_and_refuses_what_the_reader_does(name, tmp_path):
    text = {**GOOD, **BAD}[name]
    path = tmp_path / "boards.toml"
    path.write_text(text, encoding="utf-8")
    assert CONFIGURATION.is_valid(tomllib.loads(text)) == (name in GOOD)
    if name in GOOD:
        read_configuration(path)
    else:
        with pytest.raises(DataError):
            read_configuration(path)


def test_the_arena_of_the_package_and_one_that_is_written_are_valid(simulated, tmp_path):
    sample = ROOT / "arena" / "sample" / "nomiracl" / "arena.json"
    ARENA.validate(json.loads(sample.read_text(encoding="utf-8")))
    write_arena(simulated.arena, tmp_path / "arena")
    content = json.loads((tmp_path / "arena" / "arena.json").read_text(encoding="utf-8"))
    ARENA.validate(content)
    # An editor finds the schema by a key that the reader lets pass.
    content["$schema"] = "../arena.schema.json"
    (tmp_path / "arena" / "arena.json").write_text(json.dumps(content), encoding="utf-8")
    assert read_info(tmp_path / "arena").systems == simulated.arena.info.systems


@pytest.mark.parametrize(
    "change", [{"name": ""}, {"systems": ["a", "a"]}, {"systems": "a"}, {"languages": None}]
)
def test_a_faulty_arena_json_is_refused_by_both(change, tmp_path):
    content = {"name": "n", "languages": ["en"], "systems": ["a", "b"]}
    assert ARENA.is_valid(content)
    content.update(change)
    assert not ARENA.is_valid(content)
    (tmp_path / "arena.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(DataError):
        read_info(tmp_path)


def test_every_setting_is_explained():
    for model in (ArenaInfo, BoardSettings, BoardOptions, Configuration):
        assert all(field.description for field in model.model_fields.values()), model


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_command_prints_a_valid_schema(run, name, capsys):
    assert run("schema", name) == 0
    printed = json.loads(capsys.readouterr().out)
    Draft202012Validator.check_schema(printed)
    assert printed == SCHEMAS[name]()
    assert run("schema", "boards") == 2
    assert "use one of config, arena" in capsys.readouterr().err
