"""A candidate against a baseline by their answers alone: broken, or merely different."""

import json

import pandas as pd
import pytest

from arena import Arena, UsageError, write_arena
from arena.data.tables import write_rows
from surrogate_arena.gating.gate import gate
from surrogate_arena.gating.rating_difference import GateRates

TOPICS = (
    *("volcano", "glacier", "harbour", "orchard", "library", "satellite", "bakery", "cathedral"),
    *("railway", "lighthouse", "vineyard", "observatory", "aquarium", "quarry", "windmill"),
    *("monastery", "stadium", "theatre", "reservoir", "greenhouse"),
)
ANSWER = (
    "The {0} was built in 19{1:02d} by people of the town. Every visitor of the {0} pays {1} "
    "coins, and the money goes to its repair [1]."
)
OTHER = (
    "People of the town made the {0} in the year 19{1:02d}. Those who come to see the {0} spend "
    "{1} coins on it, which pay for repairs [1]."
)


def arena_of(versions, language="en", passages=True, topics=TOPICS):
    """Return an arena of versions, by name, each a function of a topic and its number."""
    questions = pd.DataFrame(
        {
            "query_id": [f"q{number}" for number in range(len(topics))],
            "query": [f"Who built the {topic}, and what does a visit cost?" for topic in topics],
            "language": language,
        }
    )
    if passages:
        texts = [f"The {topic} of the town was built long ago." for topic in topics]
        questions["passages"] = [[{"passage_id": "1", "text": text}] for text in texts]
    rows = []
    for system, write in versions.items():
        for number, topic in enumerate(topics):
            answer = write(topic, number)
            if answer is not None:
                row = {"query_id": f"q{number}", "system": system, "answer": answer}
                rows.append({**row, "language": language})
    return Arena.from_frames(questions, pd.DataFrame(rows), name="versions")


def good(topic, number):
    return ANSWER.format(topic, number)


def other(topic, number):
    return OTHER.format(topic, number)


BROKEN = {
    "cut": lambda topic, number: good(topic, number)[:60],
    "empty": lambda topic, number: "",
    "other language": lambda topic, number: (
        f"Das Bauwerk {topic} wurde 19{number:02d} von den Bürgern der Stadt errichtet, und wer es "
        "besucht, zahlt dafür einige Münzen [1]."
    ),
    "dead citation": lambda topic, number: f"{good(topic, number)} It is well kept [9].",
    "repetition": lambda topic, number: f"{good(topic, number)}\n\n{good(topic, number)}",
    "refusal": lambda topic, number: f"I'm sorry, I cannot say who built the {topic}.",
    "stock": lambda topic, number: "An error came up while the service was asked for this.",
    "misplaced": lambda topic, number: good(TOPICS[number - 1], number),
}


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
