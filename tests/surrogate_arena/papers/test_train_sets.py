"""Training sets of an arena: what is kept, what is left out and why, and what rows hold."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from chat_server import ChatServer, completion

from arena import read_arena, write_arena
from arena.data.errors import UsageError
from arena.judging.choosing.drawn_questions import is_drawn
from arena.llm.prompts import NO_TEMPLATES, read_templates
from arena.llm.replies import Completion
from surrogate_arena.generation import GenerationSettings, LlmSystem
from surrogate_arena.papers.chats import Sieve
from surrogate_arena.papers.finetune import RECIPES
from surrogate_arena.papers.grouse.joint_prompts import JOINT_PROMPT, JointPrompts
from surrogate_arena.papers.grouse.metrics import JUDGED_METRICS, SCALES
from surrogate_arena.papers.grouse.scoring_prompts import (
    ReplyFields,
    ScoringTask,
)
from surrogate_arena.papers.grouse.training_set import (
    answers_of_arena,
    grouse_examples,
    reply_scores,
)
from surrogate_arena.papers.settings import JudgeOptions, TrainsetSettings
from surrogate_arena.papers.training_sets import make_trainset, mirage_examples

TEACHER = "sim-atlas-large"
ASKED = LlmSystem.of(GenerationSettings())
GOOD = "It was opened to traffic after several years of work, and people came to see it"


def test_the_numbers_are_those_of_the_papers():
    mirage, grouse = RECIPES["mirage"], RECIPES["grouse"]  # table 6; appendix H
    assert (mirage.rank, mirage.batch, mirage.epochs, mirage.max_length) == (16, 32, 1, 6144)
    assert (grouse.rank, grouse.batch, grouse.epochs, grouse.max_length) == (32, 64, 3, 7104)
    assert (grouse.warmup, grouse.is_quantized) == (10, True)


def left_out(sieve):
    return {reason: count for (_, reason), count in sieve.left_out.items()}


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
    sieve = mirage_examples(replace(small_arena, queries=query, answers=rows), TEACHER, ASKED)
    assert len(sieve.examples) == (reason is None)
    assert all(reason in said for said in left_out(sieve))
    assert len(sieve.examples) + sum(sieve.left_out.values()) == 1


def test_the_prompts_show_all_passages_as_the_systems_see_them(small_arena):
    sieve = mirage_examples(small_arena, TEACHER, ASKED, ["en"])
    queries = small_arena.queries.set_index(["language", "query_id"])
    assert sieve.examples
    for example in sieve.examples:
        shown = example.prompt.messages[0].content
        passages = queries.loc[example.key, "passages"]
        assert all(passage["text"] in shown for passage in passages)
    assert mirage_examples(small_arena, TEACHER, ASKED, ["en"]).examples == sieve.examples
    with pytest.raises(UsageError, match="generate ARENA --relevant-passages"):
        mirage_examples(small_arena, "nobody", ASKED)


def test_sets_are_split_by_question_as_select_draws_them(small_arena, run, tmp_path):
    write_arena(small_arena, tmp_path / "arena")
    asked = TrainsetSettings(teacher=TEACHER, questions=6, seed=4)
    made = make_trainset("mirage", tmp_path / "arena", asked, split=True)
    keys = [set(zip(t["language"], t["query_id"], strict=True)) for t in (made.rows, made.unseen)]
    assert not keys[0] & keys[1]
    options = ["--questions", 6, "--seed", 4]
    assert run("select", tmp_path / "arena", "--out", tmp_path / "seen", *options) == 0
    assert run("select", tmp_path / "arena", "--out", tmp_path / "rest", "--others", *options) == 0
    for name, part in zip(("seen", "rest"), keys, strict=True):
        queries = read_arena(tmp_path / name).queries
        assert part <= set(zip(queries["language"], queries["query_id"], strict=True))
    counts = made.counts.set_index("language")
    assert counts["kept"].sum() == len(made.rows) + len(made.unseen)
    assert counts["candidates"].sum() == len(small_arena.queries)
    dropped = made.left_out.groupby("language")["count"].sum().reindex(counts.index, fill_value=0)
    assert (counts["candidates"] == counts["kept"] + dropped).all()


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
    sieve = Sieve()
    graded = answers_of_arena(small_arena, ["sim-cedar-pro"], sieve)[:3]
    options = JudgeOptions(
        base_url=teacher.url, store=str(tmp_path / "store.sqlite"), api_key_env=None
    )
    for _ in range(2):
        grouse_examples(graded, "teacher", prompts, sieve, options)
    assert len(teacher.bodies) == 3 * len(JUDGED_METRICS)
    assert len(sieve.examples) == 6
    reply = json.loads(sieve.examples[0].reply)
    assert reply["answer_2"]["completeness"] == {"justification": "on completeness", "score": 5}
    assert list(reply) == (["answer_2"] if is_own else ["answer_1", "answer_2"])
    expected = {"answer_relevancy": 5, "completeness": 5, "usefulness": None, "faithfulness": 1}
    assert reply_scores(sieve.examples[0].reply) == expected
    for example, (*_, sample) in zip(sieve.examples, [*graded, *graded], strict=True):
        asked = prompts.prompts_for(ScoringTask(JUDGED_METRICS[0], sample))[0]
        assert asked.messages == example.prompt.messages
        for metric, score in expected.items():
            reply = Completion(example.reply)
            assert prompts.read(reply, metric) == score  # as metaeval reads it


def test_the_commands_write_chats_and_say_what_they_left_out(
    small_arena, tmp_path, run, capsys, teacher
):
    write_arena(small_arena, tmp_path / "arena")
    out, unseen = tmp_path / "rows.jsonl", tmp_path / "unseen.jsonl"
    common = ["--out", out, "--questions", 6, "--unseen", unseen, "--json"]
    rare = tmp_path / "rare.toml"
    rare.write_text(f'store = "{tmp_path / "s.sqlite"}"\napi_key_env = "NO_KEY"\n')
    at = ["--teacher", "llm:m", "--base-url", teacher.url, "--config", rare]
    for kind, options in (
        ("mirage", ["--teacher", TEACHER]),
        ("grouse", [*at, "--config", "systems=sim-cedar-pro", "--balance", 12]),
    ):
        assert run("trainset", kind, tmp_path / "arena", *options, *common) == 0, kind
        told = json.loads(capsys.readouterr().out)
        assert told["rows"] == len(pd.read_json(out, lines=True)) > 0
        assert told["unseen"] == len(pd.read_json(unseen, lines=True)) > 0
        assert {row["language"] for row in told["languages"]} == {"en", "sw"}
    assert told["rows"] + told["unseen"] == 12
    asked = len(teacher.bodies)
    for options in ([], ["--questions", 10]):  # nothing would be unseen: nothing is asked
        files = ["--out", out, "--unseen", unseen, *options]
        assert run("trainset", "grouse", tmp_path / "arena", *at, *files) == 2
        assert "none is unseen" in capsys.readouterr().err
    assert len(teacher.bodies) == asked
    assert run("trainset", "mirage", tmp_path / "arena", "--out", out, "--balance", 3) == 2
    assert "mirage takes no --balance" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("has_expected", "name", "message"),
    [
        ("trained", "rows.jsonl", "no answer to an unseen question can be scored"),
        ("unseen", "rows.jsonl", "nothing is left to train on"),
        ("all", "rows.txt", "rows.txt"),
    ],
)
def test_what_no_row_can_come_of_is_said_before_the_teacher_is_asked(
    small_arena, tmp_path, run, capsys, teacher, has_expected, name, message
):
    queries, answers = small_arena.queries, small_arena.answers
    drawn = queries[is_drawn(queries, 2, 0) == (has_expected == "trained")]
    is_expected = answers["system"] == small_arena.info.reference_system
    key = ["language", "query_id"]
    chosen = pd.MultiIndex.from_frame(drawn[key])
    there = pd.MultiIndex.from_frame(answers[key]).isin(chosen) | (has_expected == "all")
    write_arena(replace(small_arena, answers=answers[~is_expected | there]), tmp_path / "arena")
    files = ["--out", tmp_path / name, "--unseen", tmp_path / "unseen.jsonl", "--questions", 2]
    asked = ["--teacher", "llm:m", "--base-url", teacher.url, *files]
    assert run("trainset", "grouse", tmp_path / "arena", *asked) == 2
    assert message in capsys.readouterr().err
    assert not teacher.bodies
