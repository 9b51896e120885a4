"""Embeddings by an OpenAI-compatible endpoint: vectors, failures, store and cache."""

import numpy as np
import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from chat_server import Reply, broken, completion, embedding, error
from llm_requests import kept

from arena.llm import LlmSettings, open_store
from features.models import ModelOptions, load_scorer
from features.models.embedders import cosines
from features.models.llm_items import AnswerRelevanceItem
from features.models.ragas import load_ragas
from features.models.scorer import NOT_REACHED, value_of_scores

VECTORS = {"north": [3.0, 4.0], "up": [0.0, 2.0], "east": [5.0, 0.0]}
MODEL = "endpoint:text-embedding-ada-002"


@pytest.fixture
def options_at(tmp_path):
    def options(server):
        quick = {"timeout_s": 5, "retries": 0}
        store = str(tmp_path / "store.sqlite")
        asked = LlmSettings(base_url=server.url, api_key_env=None, store=store, **quick)
        return ModelOptions(llm=asked)

    return options


def by_name(text, _=None):
    return embedding(VECTORS[text])


def test_texts_become_vectors_of_length_1_and_are_paid_for_once(serve, options_at, tmp_path):
    server = serve(by_name)
    scorer = load_scorer("embedder", MODEL, options_at(server))
    items = [("north",), ("up",), ("north",)]
    vectors = scorer.score(items)
    assert vectors.dtype == np.float32
    assert vectors.tolist() == pytest.approx(np.array([[0.6, 0.8], [0, 1], [0.6, 0.8]]))
    assert cosines(vectors).tolist() == pytest.approx([0.8, 1.0])
    assert scorer.score([("up",)]).tolist() == [[0.0, 1.0]]
    assert sorted(server.bodies, key=lambda body: body["input"]) == [
        {"input": text, "model": "text-embedding-ada-002"} for text in ("north", "up")
    ]
    assert server.lines[0].startswith("POST /v1/embeddings ")
    with open_store(tmp_path / "store.sqlite") as store:
        assert len(kept(store)) == 2
        assert sum(row["tokens_in"] for row in kept(store)) == 8


@pytest.mark.parametrize(
    "reply",
    [
        broken(),
        completion("no vector"),
        Reply({"data": []}),
        embedding([]),
        embedding([1.0, "x"]),
        embedding([True, 1.0]),
        Reply(raw=b'{"data": [{"embedding": [NaN, 1.0]}]}'),
        embedding([0.0, 0.0]),
        error(400, "input is too long"),
    ],
)
def test_a_text_without_vector_is_nan_and_the_others_have_theirs(serve, options_at, reply):
    server = serve(lambda text, _: reply if text == "bad" else by_name(text))
    scorer = load_scorer("embedder", MODEL, options_at(server))
    vectors = scorer.score([("up",), ("bad",), ("north",)])
    assert np.isnan(vectors).all(axis=1).tolist() == [False, True, False]


def test_answer_relevance_as_in_the_paper(serve, options_at):
    """Questions by one model, their embeddings by another, at one endpoint: formula 1 by hand."""

    def behave(text, earlier):
        if text in VECTORS:
            return by_name(text)
        if "fails" in text:
            return completion("lost")
        return completion(["up", "north", "east"][earlier])

    server = serve(lambda text, earlier: broken() if text == "lost" else behave(text, earlier))
    options = options_at(server)
    scorer = load_ragas(f"gpt-3.5-turbo-16k with {MODEL}", options)
    items = [
        AnswerRelevanceItem("packaged", 3, "", "up", "An answer.").item,
        AnswerRelevanceItem("packaged", 1, "", "up", "It fails.").item,
    ]
    found = [value_of_scores(row) for row in scorer.score(items)]
    assert found[0] == pytest.approx((1 + 0.8 + 0) / 3)
    assert found[1] == NOT_REACHED
    assert {body["model"] for body in server.bodies} == {
        "gpt-3.5-turbo-16k",
        "text-embedding-ada-002",
    }
