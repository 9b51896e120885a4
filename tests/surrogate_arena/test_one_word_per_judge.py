"""Every command says the same word for the same judge, whatever is wrong with it."""

import hashlib
import json
import re

import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from chat_server import ChatServer, completion
from judged_systems import QUALITY, build_arena, shown_answers

from arena import write_arena
from surrogate import Board

QUESTIONS = 30


def is_longer(first, second):
    return len(first) > len(second)


def is_in_circle(first, second):
    """Good beats fair, fair beats poor, and poor beats good."""
    beaten = {"good": "fair", "fair": "poor", "poor": "good"}
    return beaten[first.split()[0]] == second.split()[0]


def is_heads(first, second):
    return hashlib.sha256(f"{first}|{second}".encode()).digest()[0] < 128


def is_mostly_first(first, second):
    """Name side A of seven pairs in eight: who always does is stopped."""
    return hashlib.sha256(f"{first}|{second}".encode()).digest()[0] < 224


def is_better(first, second):
    return QUALITY[first.split()[0]] > QUALITY[second.split()[0]]


JUDGES = {
    "one-sided": (is_mostly_first, "unreliable"),
    "long-liking": (is_longer, "unreliable"),
    "flipping": (is_heads, "unreliable"),
    "circular": (is_in_circle, "unreliable"),
    "good": (is_better, "consistent with itself but not compared with people"),
}


@pytest.fixture
def folder(tmp_path):
    """Answers whose lengths have nothing to do with their quality."""
    texts = {}
    for number in range(QUESTIONS):
        for system in QUALITY:
            digest = hashlib.sha256(f"{system} {number}".encode()).digest()
            texts[f"q{number}", system] = f"{system} answer" + " word" * (1 + digest[0] % 40)
    write_arena(build_arena(texts, questions=QUESTIONS), tmp_path / "arena")
    return tmp_path / "arena"


def words_of(text):
    """Return what texts say of the judge, up to the end of its label."""
    labels = [words for _, words in JUDGES.values()]
    plain = " ".join(text.split())
    return set(re.findall(f"Judge local is ({'|'.join(map(re.escape, labels))})", plain))


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(JUDGES))
def test_judge_fit_board_gate_and_site_use_one_word(kind, run, folder, capsys):
    prefers_first, words = JUDGES[kind]

    def reply(prompt, _):
        return completion("[[A]]" if prefers_first(*shown_answers(prompt)) else "[[B]]")

    with ChatServer(reply) as server:
        model = ["--model", "local", "--base-url", server.url]
        options = ["--questions", QUESTIONS, "--pairs", 3, "--audit", 1]
        assert run("judge", folder, *model, *options) == 0
        said = {"judge": words_of(capsys.readouterr().out)}
        against = ["--arena", folder, "--candidate", "good", "--baseline", "poor"]
        run("gate", *against, *model)
        said["gate"] = words_of(capsys.readouterr().out)
    assert run("fit", folder) == 0
    said["fit"] = words_of(capsys.readouterr().out)
    assert run("fit", folder, "--json") == 0
    (label,) = json.loads(capsys.readouterr().out)["judges"]
    out = folder.parent / "board"
    assert run("board", folder, "--tournaments", 5, "--out", out) == 0
    capsys.readouterr()
    judge = Board.load(out).summary.macro.judge
    said["board"] = {judge.words}
    said["site"] = words_of(re.sub("<[^>]+>", "", (out / "site" / "judge.html").read_text("utf-8")))
    assert said == {command: {words} for command in said}
    assert label["grade"] == judge.grade
