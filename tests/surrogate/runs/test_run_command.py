"""``surrogate-arena run`` as a user runs it."""

import json

import pytest


def test_check_exits_with_1_until_all_is_current(run, configure, place, capsys):
    configure("[boards.a]\narena = 'arena'\n")
    config = place / "boards.toml"
    assert run("run", config, "--check") == 1
    assert "board a: would run (it was never made; features is made again)" in (
        capsys.readouterr().out
    )
    assert not (place / "boards").exists()
    assert run("run", config, "--jobs", 1) == 0
    assert "2 made" in capsys.readouterr().out
    assert run("run", config, "--check", "--json") == 0
    told = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert told["current"]
    assert [step["state"] for step in told["steps"]] == ["current", "current"]
    (place / "arena" / "metaevaluation.json").write_text("x")
    assert run("run", config, "--check") == 1
    assert "board a: would run (arena metaevaluation.json is new)" in capsys.readouterr().out


def test_failures_are_told_and_end_with_1(run, configure, place, made, capsys):
    configure("[boards.b]\narena = 'nowhere'\n[boards.a]\narena = 'arena'\n")
    assert run("run", place / "boards.toml", "--json") == 1
    captured = capsys.readouterr()
    told = json.loads(captured.out, parse_constant=pytest.fail)
    assert told["failed"] == ["b/features", "b/board"]
    assert "features b: failed (" in captured.err
    assert "board b: skipped (features failed)" in captured.err
    assert run("run", place / "boards.toml", "--check") == 1
    checked = capsys.readouterr().out
    assert "nowhere is not an arena folder" in checked
    assert "board b: skipped (features failed)" in checked
