"""A gate of an arena without a board: a candidate against a baseline by their answers alone."""

import json

import pytest
from answer_versions import BROKEN, arena_of, good, other

from arena import UsageError, write_arena
from arena.data.tables import write_rows
from surrogate_arena.gating.gate import gate
from surrogate_arena.gating.rating_difference import GateRates


@pytest.fixture
def folder(tmp_path):
    arena = arena_of({"v1": good, "v2": other, "v3": BROKEN["cut"]})
    write_arena(arena, tmp_path / "arena")
    write_rows(
        arena.answers[arena.answers["system"] == "v1"].assign(system="v4"), tmp_path / "v4.jsonl"
    )
    return tmp_path


def test_a_gate_needs_an_arena_alone(folder):
    found = gate(None, arena=folder / "arena")
    assert (found.verdict, found.by) == ("broken", "answers")
    assert (found.candidate, found.baseline) == ("v3", "v2")
    sound = gate(None, "v2", folder / "arena", "v1")
    assert (sound.verdict, sound.by, sound.ratings) == ("cannot say", "", None)
    said = " ".join(sound.sentences)
    assert "Nothing is broken; which is better needs verdicts" in said
    assert f"About {sound.verdicts_needed:,} verdicts" in said
    accepted = gate(
        None, arena=folder / "arena", rates=GateRates(accepted=("cut", "dead citation"))
    )
    assert accepted.verdict == "cannot say"
    with pytest.raises(UsageError, match="`board`"):
        gate(None, "v2")


def test_the_command_needs_an_arena_alone(run, folder, capsys):
    assert run("gate", "--arena", folder / "arena") == 3
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("v3 against v2: broken. 20 of 20 answers end in mid-sentence;")
    command = ["gate", "--arena", folder / "arena", "--baseline", "v1", "--json"]
    assert run(*command, "--candidate", "v2") == 4
    content = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    (length,) = [row for row in content["checks"]["checks"] if row["name"] == "length"]
    assert length["questions"] == 20
    assert 0 <= length["p_value"] <= 1
    assert "20 of 20 answers are longer" in length["sentence"]
    assert run(*command, "--candidate", folder / "v4.jsonl") == 0
    capsys.readouterr()
    assert run("gate", "--arena", folder / "arena", "--candidate", "v9") == 2
    assert "'v9'; use one of v1, v2, v3" in capsys.readouterr().err
    assert run("gate", "--candidate", "v2") == 2
    assert "--arena" in capsys.readouterr().err
