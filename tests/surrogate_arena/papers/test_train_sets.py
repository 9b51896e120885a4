"""Training sets of an arena: what is kept, what is left out and why, and what rows hold."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from chat_server import ChatServer, completion

from arena import write_arena
from arena.data.errors import UsageError
from arena.llm.prompts import NO_TEMPLATES, read_templates
from arena.llm.replies import Completion
from surrogate_arena.generation import GenerationSettings, LlmSystem
from surrogate_arena.papers.chats import Chats
from surrogate_arena.papers.finetune import RECIPES
from surrogate_arena.papers.grouse.joint_prompts import JOINT_PROMPT, JointPrompts
from surrogate_arena.papers.grouse.metrics import JUDGED_METRICS, SCALES
from surrogate_arena.papers.grouse.scoring_prompts import (
    ReplyFields,
    ScoringTask,
)
from surrogate_arena.papers.grouse.training_set import (
    answers_of_arena,
    grouse_chats,
    reply_scores,
)
from surrogate_arena.papers.mirage.training_set import mirage_chats
from surrogate_arena.papers.settings import JudgeOptions

TEACHER = "sim-atlas-large"
ASKED = LlmSystem.of(GenerationSettings())
GOOD = "It was opened to traffic after several years of work, and people came to see it"


def test_the_numbers_are_those_of_the_papers():
    mirage, grouse = RECIPES["mirage"], RECIPES["grouse"]  # table 6; appendix H
    assert (mirage.rank, mirage.batch, mirage.epochs, mirage.max_length) == (16, 32, 1, 6144)
    assert (grouse.rank, grouse.batch, grouse.epochs, grouse.max_length) == (32, 64, 3, 7104)
    assert (grouse.warmup, grouse.is_quantized) == (10, True)


def left_out(chats):
    return {reason: count for (_, reason), count in chats.left_out.items()}


@pytest.fixture
def relevant(small_arena):
    """Ids of the first English question's passages, by whether they are relevant."""
    query = small_arena.queries[small_arena.queries["language"] == "en"].iloc[0]
    return {
        wanted: [each["passage_id"] for each in query["passages"] if each["relevance"] == wanted]
        for wanted in (0, 1)
    }


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("##Reason: by {good}. ##Answer: " + GOOD + " [{good}].", None),
        ("##Reason: by {good}. ##Answer: " + GOOD + " [{bad}].", "labeled not relevant"),
        ("##Reason: by {good}. ##Answer: " + GOOD + " [999#9].", "cite something"),
        ("##Reason: by {good}. ##Answer: " + GOOD + ".", "cite no passage"),
        ("##Answer: " + GOOD + " [{good}].", "without ##Reason"),
        (GOOD + " [{good}].", "without ##Reason"),
        (
            "##Reason: {good}. ##Answer: Nach mehreren Jahren Arbeit wurde sie für den Verkehr "
            "geöffnet, und viele Leute kamen, um sie zu sehen [{good}].",
            "in another language",
        ),
    ],
)
def test_answers_that_teach_the_wrong_thing_are_left_out(small_arena, relevant, answer, reason):
    text = answer.format(good=relevant[1][0], bad=relevant[0][0])
    query = small_arena.queries[small_arena.queries["language"] == "en"].iloc[[0]]
    rows = small_arena.answers.merge(query[["language", "query_id"]])
    rows = rows[rows["system"] == TEACHER].assign(answer=text)
    chats = mirage_chats(replace(small_arena, queries=query, answers=rows), TEACHER, ASKED)
    assert len(chats.rows) == (reason is None)
    assert all(reason in said for said in left_out(chats))
    assert len(chats.rows) + sum(chats.left_out.values()) == 1


def test_the_prompts_show_all_passages_as_the_systems_see_them(small_arena):
    chats = mirage_chats(small_arena, TEACHER, ASKED)
    queries = small_arena.queries.set_index(["language", "query_id"])
    assert chats.rows
    for row in chats.rows:
        shown = row["messages"][0]["content"]
        passages = queries.loc[(row["language"], row["query_id"]), "passages"]
        assert all(passage["text"] in shown for passage in passages)
    assert mirage_chats(small_arena, TEACHER, ASKED).rows == chats.rows
    kept = chats.outcomes[chats.outcomes["outcome"] == "kept"]
    assert kept["count"].sum() == len(chats.rows)
    assert chats.outcomes["count"].sum() == len(small_arena.queries)
    with pytest.raises(UsageError, match="generate ARENA --relevant-passages"):
        mirage_chats(small_arena, "nobody", ASKED)


@pytest.fixture
def teacher():
    """A server that scores by all metrics but usefulness, with reasons."""
    pytest.importorskip("openai", reason="needs the extra llm")

    def behave(prompt, _):
        asked = server.bodies[-1]["messages"][0]["content"]
        metric = next(
            name for name in JUDGED_METRICS if f"Score the {name.replace('_', ' ')} of" in asked
        )
        score = None if metric == "usefulness" else SCALES[metric][-1]
        answer = {"justification": f"on {metric}", "score": score}
        return completion("So: " + json.dumps({"answer_1": answer, "answer_2": answer}))

    with ChatServer(behave) as server:
        yield server


@pytest.mark.parametrize("is_own", [True, False])
def test_an_llms_reasons_are_joined_and_asked_for_once(small_arena, tmp_path, teacher, is_own):
    file = tmp_path / "brief.jinja"
    file.write_text("{{ question }} {{ answer_1 }} {{ answer_2 }}")
    own = read_templates([f"all={file}"], [JOINT_PROMPT]) if is_own else NO_TEMPLATES
    prompts = JointPrompts("text", ReplyFields(()), own)
    chats = Chats()
    graded = answers_of_arena(small_arena, ["sim-cedar-pro"], chats)[:3]
    options = JudgeOptions(
        base_url=teacher.url, store=str(tmp_path / "store.sqlite"), api_key_env=None
    )
    for _ in range(2):
        grouse_chats(graded, "teacher", prompts, chats, options)
    assert len(teacher.bodies) == 3 * len(JUDGED_METRICS)
    assert len(chats.rows) == 6
    said = [row["messages"][-1]["content"] for row in chats.rows]
    reply = json.loads(said[0])
    assert reply["answer_2"]["completeness"] == {"justification": "on completeness", "score": 5}
    assert list(reply) == (["answer_2"] if is_own else ["answer_1", "answer_2"])
    expected = {"answer_relevancy": 5, "completeness": 5, "usefulness": None, "faithfulness": 1}
    assert reply_scores(said[0]) == expected
    for row, (*_, sample) in zip(chats.rows, [*graded, *graded], strict=True):
        asked = prompts.prompts_for(ScoringTask(JUDGED_METRICS[0], sample))[0]
        assert [message.content for message in asked.messages] == [
            message["content"] for message in row["messages"][:-1]
        ]
        for metric, score in expected.items():
            reply = Completion(row["messages"][-1]["content"])
            assert prompts.read(reply, metric) == score  # as metaeval reads it


def test_the_commands_write_chats_and_say_what_they_left_out(
    small_arena, tmp_path, run, capsys, teacher
):
    write_arena(small_arena, tmp_path / "arena")
    out = tmp_path / "rows.jsonl"
    rare = tmp_path / "rare.toml"
    rare.write_text(f'store = "{tmp_path / "s.sqlite"}"\napi_key_env = "NO_API_KEY"\n')
    at = ["--teacher", "llm:m", "--base-url", teacher.url, "--config", rare]
    for kind, options in (
        ("mirage", ["--teacher", TEACHER]),
        ("grouse", [*at, "--config", "systems=sim-cedar-pro", "--balance", 12]),
    ):
        asked = ["trainset", kind, tmp_path / "arena", *options, "--out", out, "--json"]
        assert run(*asked) == 0, kind
        told = json.loads(capsys.readouterr().out)
        assert told["rows"] == len(pd.read_json(out, lines=True)) > 0
        assert {row["language"] for row in told["outcomes"]} == {"en", "sw"}
    assert told["rows"] == 12
    assert run("trainset", "mirage", tmp_path / "arena", "--out", out, "--balance", 3) == 2
    assert "mirage takes no --balance" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("has_expected", "name", "message"),
    [(False, "rows.jsonl", "nothing is left to train on"), (True, "rows.txt", "rows.txt")],
)
def test_what_no_row_can_come_of_is_said_before_the_teacher_is_asked(
    small_arena, tmp_path, run, capsys, monkeypatch, teacher, has_expected, name, message
):
    monkeypatch.chdir(tmp_path)
    answers = small_arena.answers
    is_expected = answers["system"] == small_arena.info.reference_system
    if not has_expected:
        # One expected answer, to a question that nobody else answered.
        answers = answers[~is_expected | (answers["query_id"] == answers["query_id"].iloc[0])]
        answers = answers[
            (answers["system"] == small_arena.info.reference_system)
            | (answers["query_id"] != answers["query_id"].iloc[0])
        ]
    write_arena(replace(small_arena, answers=answers), tmp_path / "arena")
    asked = ["--teacher", "llm:m", "--base-url", teacher.url, "--out", tmp_path / name]
    assert run("trainset", "grouse", tmp_path / "arena", *asked) == 2
    assert message in capsys.readouterr().err
    assert not teacher.bodies
