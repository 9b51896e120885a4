import numpy as np

from arena import Passage
from features import Question, Sample
from features.declare.sample import (
    EMPTY_PASSAGES,
    NO_CITED_PASSAGES,
    NO_PASSAGES,
    NO_REFERENCE_SYSTEM,
)
from features.measures.registry import FEATURES, RELEVANCE_FEATURES

PASSAGES = (
    Passage(passage_id="1", text="Oslo is in Norway.", title="Oslo"),
    Passage(passage_id="2", text="It has a port."),
    Passage(passage_id="3", text=""),
)


def sample(output, passages=PASSAGES):
    return Sample(Question("en", "q", "Where is Oslo?", passages, NO_REFERENCE_SYSTEM), output)


def test_distinct_cited_passages_are_scored_against_the_question_and_averaged():
    answer = sample("It has a port [2]. It is in Norway [1][2] [3] [8].")
    assert FEATURES["reranker_score"].items(answer) == (
        ("Where is Oslo?", "It has a port."),
        ("Where is Oslo?", "Oslo\nOslo is in Norway."),
    )
    scores = np.array([[5.5], [-0.5]], dtype=np.float32)
    assert FEATURES["reranker_score"].measure_scored(answer, scores) == 2.5


def test_citations_after_the_answer_mark_alone():
    answer = sample("##Reason: see [1]. ##Answer: A port [2].")
    part = FEATURES["reranker_score"].with_settings({"part": "answer"})
    assert part.items(answer) == (("Where is Oslo?", "It has a port."),)


def test_nothing_to_score_is_missing():
    assert FEATURES["reranker_score"].items(sample("In Norway.")) == NO_CITED_PASSAGES
    assert FEATURES["reranker_score"].items(sample("In Norway [7].")) == NO_CITED_PASSAGES
    assert FEATURES["reranker_score"].items(sample("In Norway [3].")) == EMPTY_PASSAGES
    assert FEATURES["reranker_score"].items(sample("In Norway [1].", passages=())) == NO_PASSAGES


def test_its_name_tells_the_model_where_it_is_another():
    assert [str(feature) for feature in RELEVANCE_FEATURES] == ["reranker_score"]
    other = FEATURES["reranker_score"].with_settings({"model": "my/reranker"})
    assert str(other) == "reranker_score(model=my/reranker)"
