"""The qualities of Ragas: formulas by hand, replies of all sorts, what has no value."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from chat_server import ChatServer, broken, completion, filtered, refused

from arena import Arena, ArenaInfo, UsageError
from arena.llm import Completion, LlmSettings, UnparsableError
from features import extract
from features.declare.sample import EMPTY_ANSWER, NO_PASSAGES
from features.measures.registry import FEATURES
from features.models.llm_items import AnswerRelevanceItem, FaithfulnessItem
from features.models.options import ModelOptions
from features.models.ragas import load_ragas
from features.models.ragas_replies import count_copied, find_verdicts, read_statements

FAITHFULNESS = "ragas_faithfulness"
CONTEXT = "ragas_context_relevance"

OSLO = "Oslo is the capital of Norway. It has 720,000 inhabitants. Trams run there."
BERGEN = "Bergen is rainy & <b>green</b>."


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("1. Stated.\n2. Not there.\nFINAL VERDICTS\n1: Yes\n2: No", [True, False]),
        ("**Final verdicts**\n1. **Yes**\n2. no.", [True, False]),
        ("Final verdict for each statement in order: No. Yes.", [False, True]),
        ("FINAL VERDICTS\n2: No\n1: Yes", [True, False]),
        ("Statement 1: Verdict: Yes\nStatement 2: Verdict: No", [True, False]),
        ("1. No one says so.\n2. Yes men.\nFINAL VERDICTS\n1: Yes\n2: Yes", [True, True]),
        (
            "statement: A.\nExplanation: It is.\nVerdict: No\nstatement: B.\n**Verdict:** Yes",
            [False, True],
        ),
    ],
)
def test_verdicts_are_found(text, verdicts):
    assert find_verdicts(text, 2) == verdicts


SENTENCES = ["Oslo is the capital of Norway.", "It has 720,000 inhabitants.", "Trams run there."]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Oslo is the capital of Norway.", 1),
        ("- oslo is the  capital of Norway\n- It has 720,000 inhabitants!", 2),
        ("Oslo is the capital of Norway. It has 720,000 inhabitants. Trams run there.", 3),
        ("Oslo is the capitol of Norway.", 1),
        ("Oslo is the capital of Norway.\nOslo is the capital of Norway.\nIt is old.", 1),
        ("Insufficient Information", 0),
        ("**Insufficient information.**", 0),
    ],
)
def test_copied_sentences_are_counted(text, count):
    assert count_copied(text, SENTENCES) == count


@pytest.mark.parametrize(
    "text",
    [
        "Here are the statements:\n- It was built.\n- It is tall.",
        "Here are the statements of the answer:\nIt was built.\nIt is tall.",
        '["It was built.", "It is tall."]',
        '```json\n{"statements": ["It was built.", "It is tall."]}\n```',
        "| # | Statement |\n|---|---|\n| 1 | It was built. |\n| 2 | It is tall. |",
    ],
)
def test_statements_are_read_from_lists_and_tables(text):
    assert read_statements(Completion(text)) == ["It was built.", "It is tall."]


def test_an_answer_without_a_claim_has_no_statement():
    assert read_statements(Completion("The answer makes no claim.\n\nNONE")) == []
    with pytest.raises(UnparsableError, match="no statement"):
        read_statements(Completion('[{"statement": "It was built."}]'))


def arena_of(*answers):
    """Two questions; the second one has no passages."""
    passages = [{"passage_id": n, "text": text} for n, text in (("1", OSLO), ("2", BERGEN))]
    queries = pd.DataFrame(
        [("q1", "en", "Where is Oslo?", passages), ("q2", "en", "Why?", [])],
        columns=["query_id", "language", "query", "passages"],
    )
    rows = pd.DataFrame(answers, columns=["query_id", "system", "answer"]).assign(language="en")
    judgments = pd.DataFrame(
        columns=["query_id", "language", "system_a", "system_b", "winner", "judge"], dtype=str
    )
    info = ArenaInfo(name="a", languages=["en"], systems=sorted(set(rows["system"])))
    return Arena(info, queries, rows, judgments)


@pytest.fixture
def measure(tmp_path):
    def run(arena, features, behave, **fields):
        with ChatServer(behave) as server:
            quick = {"retries": 1, "api_key_env": None}
            quick["store"] = str(tmp_path / "s.sqlite")
            options = ModelOptions(
                device="cpu",
                llm=LlmSettings(base_url=server.url, **(quick | fields)),
            )
            found = extract(arena, features, models=options).set_index(["query_id", "system"])
            return found, server

    return run


def llm(prompt, _earlier):
    """Finds two statements, supports the first one, and extracts two of four sentences."""
    if "[The Start of the Statements" in prompt:
        return completion("Because.\nFINAL VERDICTS\n1: Yes\n2: No")
    if "Take the answer apart" in prompt:
        return completion("1. Oslo is in Norway.\n2. Oslo is small.")
    if "Copy from the context" in prompt:
        return completion("Oslo is the capital of Norway.\nBergen is rainy & <b>green</b>.")
    return completion("Where is Oslo?")


def test_faithfulness_and_context_relevance_by_hand(measure):
    arena = arena_of(
        ("q1", "s", "##Answer: Oslo is in Norway, and small [1]."),
        ("q2", "s", "So."),
        ("q1", "t", ""),
    )
    found, server = measure(
        arena, (FEATURES["ragas_faithfulness"], FEATURES["ragas_context_relevance"]), llm
    )
    assert found.loc[("q1", "s"), FAITHFULNESS] == 0.5
    assert found.loc[("q1", "s"), CONTEXT] == 0.5
    assert found.loc[("q1", "t"), CONTEXT] == 0.5
    reasons = found[f"{FAITHFULNESS}:missing"]
    assert reasons["q1", "t"] == EMPTY_ANSWER.reason
    assert reasons["q2", "s"] == NO_PASSAGES.reason
    assert found[f"{CONTEXT}:missing"]["q2", "s"] == NO_PASSAGES.reason
    assert sum(server.asked.values()) == 3  # the context is asked about once, whoever answered
    shown = "\n".join(server.asked)
    assert "Bergen is rainy & <b>green</b>." in shown
    assert "Oslo is in Norway, and small ." in shown or "Oslo is in Norway, and small." in shown
    assert "[1]." not in shown


NO_USABLE = "no usable reply by the LLM"


@pytest.mark.parametrize(
    ("feature", "replies", "reason"),
    [
        (
            FEATURES["ragas_faithfulness"],
            {"apart": "NONE"},
            "the LLM finds no statement in the answer",
        ),
        (FEATURES["ragas_faithfulness"], {"Statements": "Hm."}, NO_USABLE),
        (FEATURES["ragas_faithfulness"], {"apart": refused()}, NO_USABLE),
        (FEATURES["ragas_faithfulness"], {"Statements": filtered()}, NO_USABLE),
        (FEATURES["ragas_faithfulness"], {"Statements": broken()}, "the LLM was not reached"),
        (FEATURES["ragas_context_relevance"], {"Copy": "Norway, I think."}, NO_USABLE),
        (FEATURES["ragas_context_relevance"], {"Copy": broken()}, "the LLM was not reached"),
    ],
)
def test_what_has_no_value_says_why(measure, feature, replies, reason):
    def behave(prompt, earlier):
        for part, reply in replies.items():
            if part in prompt and not (
                part == "apart" and "[The Start of the Statements" in prompt
            ):
                return completion(reply) if isinstance(reply, str) else reply
        return llm(prompt, earlier)

    found, _ = measure(arena_of(("q1", "s", "Oslo is in Norway.")), (feature,), behave)
    assert np.isnan(found.loc[("q1", "s"), str(feature)])
    assert found.loc[("q1", "s"), f"{feature}:missing"] == reason


def relevance(model, questions):
    return FEATURES["ragas_answer_relevance"].with_settings(
        {"k": questions, "model": model, "prefix": "none"}
    )


def test_answer_relevance_is_the_mean_cosine_of_real_embeddings(measure, minilm):
    made = ["Where is Oslo?", "How deep is the sea?", "Where is Oslo?"]

    def behave(prompt, earlier):
        return completion(made[earlier])

    feature = relevance(f"m with {minilm}", 3)
    arena = arena_of(("q1", "s", "In Norway."), ("q1", "t", " "))
    found, server = measure(arena, (feature,), behave, concurrency=1)
    from features.models import load_scorer

    vectors = load_scorer("embedder", minilm, ModelOptions(device="cpu")).score(
        [("Where is Oslo?",), ("How deep is the sea?",)]
    )
    cosine = float(vectors[0].astype(float) @ vectors[1].astype(float))
    assert -0.2 < cosine < 0.5
    value = found.loc[("q1", "s"), str(feature)]
    assert value == pytest.approx((2 + cosine) / 3, abs=1e-5)
    assert found.loc[("q1", "t"), f"{feature}:missing"] == EMPTY_ANSWER.reason
    assert [body["seed"] for body in server.bodies] == [0, 1, 2]
    assert {body["temperature"] for body in server.bodies} == {0.7}


def test_an_embedding_model_that_is_not_here_is_said_before_the_llm_is_asked(tmp_path):
    with ChatServer(lambda prompt, _: completion("1. So.\n1: Yes")) as server:
        store = {"store": str(tmp_path / "s.db"), "base_url": server.url, "api_key_env": None}
        scorer = load_ragas("m with ./nowhere", ModelOptions(llm=LlmSettings(**store)))
        items = [
            FaithfulnessItem("packaged", "Q?", "A.", ("P.",)).item,
            AnswerRelevanceItem("packaged", 3, "", "Q?", "A.").item,
        ]
        with pytest.raises(UsageError, match="nowhere"):
            scorer.score(items)
        assert not server.bodies


def test_a_model_that_is_not_here_is_missed_before_an_llm_is_paid(measure, tmp_path):
    asked = []

    def behave(prompt, earlier):
        asked.append(prompt)
        return llm(prompt, earlier)

    arena = arena_of(("q1", "s", "Oslo is in Norway."))
    for last in ("nli_entailment(model={})", "ragas_answer_relevance(model=m with {})"):
        chosen = f"llm_fluency,ragas_faithfulness,{last.format(tmp_path / 'nowhere')}"
        with pytest.raises(UsageError, match="nowhere' is not on this machine"):
            measure(arena, chosen, behave)
    assert not asked
