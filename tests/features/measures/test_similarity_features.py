import numpy as np
import pytest

from arena import Passage
from features import Question, Sample
from features.declare.sample import (
    EMPTY_PASSAGES,
    EMPTY_REFERENCE,
    NO_PASSAGES,
    NO_REFERENCE_ANSWER,
    NO_REFERENCE_SYSTEM,
)
from features.measures.registry import FEATURES

SIMILARITY = [feature for name, feature in FEATURES.items() if name.startswith("similarity_")]
PASSAGES = (
    Passage(passage_id="1", text="Oslo is in Norway.", title="Oslo"),
    Passage(passage_id="2", text="It has a port."),
    Passage(passage_id="3", text=""),
)


def sample(output, passages=PASSAGES, reference="##Answer: In Norway [1]."):
    return Sample(Question("en", "q", "Where is Oslo?", passages, reference), output)


def test_the_answer_part_without_citations_is_compared():
    answer = sample("##Reason: see [1]. ##Answer: It lies in Norway [1].")
    own = ("query: It lies in Norway.",)
    assert FEATURES["similarity_reference"].items(answer) == (own, ("query: In Norway.",))
    assert FEATURES["similarity_question"].items(answer) == (own, ("query: Where is Oslo?",))
    plain = FEATURES["similarity_passages"].with_settings({"prefix": "none"})
    assert plain.items(answer) == (
        ("It lies in Norway.",),
        ("Oslo\nOslo is in Norway.",),
        ("It has a port.",),
    )


def test_similarity_is_the_cosine():
    vectors = np.array([[3, 4], [4, 3], [0, -2]], dtype=np.float32)
    answer = sample("In Norway.")
    assert FEATURES["similarity_question"].measure(answer, vectors[:2]) == pytest.approx(0.96)
    assert FEATURES["similarity_passages"].measure(answer, vectors) == pytest.approx(0.96)


def test_the_same_text_is_no_nearer_than_one():
    vector = np.array([[0.1, 0.7, 0.3]] * 2, dtype=np.float32)
    assert 1 - 1e-12 < FEATURES["similarity_reference"].measure(sample("a"), vector) <= 1


def test_what_there_is_nothing_to_compare_with_is_missing():
    for reason in (NO_REFERENCE_SYSTEM, NO_REFERENCE_ANSWER):
        assert FEATURES["similarity_reference"].items(sample("Oslo", reference=reason)) == reason
    assert (
        FEATURES["similarity_reference"].items(sample("Oslo", reference="[1]")) == EMPTY_REFERENCE
    )
    assert FEATURES["similarity_passages"].items(sample("Oslo", passages=())) == NO_PASSAGES
    assert (
        FEATURES["similarity_passages"].items(sample("Oslo", passages=PASSAGES[2:]))
        == EMPTY_PASSAGES
    )
