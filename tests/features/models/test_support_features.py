import numpy as np
import pytest

from arena import Passage
from features import Question, Sample
from features.declare.sample import (
    EMPTY_PASSAGES,
    NO_CITED_PASSAGES,
    NO_PASSAGES,
    NO_REFERENCE_SYSTEM,
    NO_STATEMENTS,
)
from features.measures.registry import FEATURES

NLI = [FEATURES[f"nli_{name}"] for name in ("entailment", "neutral", "contradiction")]
PASSAGES = (
    Passage(passage_id="1", text="Oslo is in Norway.", title="Oslo"),
    Passage(passage_id="2", text="It has a port."),
    Passage(passage_id="3", text="Whales are mammals.", title=" "),
    Passage(passage_id="4", text=" … "),
)
TEXTS = {
    "1": "Oslo\nOslo is in Norway.",
    "2": "It has a port.",
    "3": "Whales are mammals.",
}


def sample(output, passages=PASSAGES):
    return Sample(Question("en", "q", "?", passages, NO_REFERENCE_SYSTEM), output)


def test_probabilities_are_averaged_over_statements_and_citations():
    answer = sample("Oslo is a port [1][2]. Whales breathe air [3]. All is well.")
    assert FEATURES["nli_entailment"].items(answer) == (
        (TEXTS["1"], "Oslo is a port."),
        (TEXTS["2"], "Oslo is a port."),
        (TEXTS["3"], "Whales breathe air."),
    )
    scores = np.array([(0.5, 0.25, 0.25), (0.75, 0.25, 0), (0.25, 0.25, 0.5)], dtype=np.float32)
    assert FEATURES["nli_entailment"].measure(answer, scores) == 0.5
    assert FEATURES["nli_neutral"].measure(answer, scores) == 0.25
    assert FEATURES["nli_contradiction"].measure(answer, scores) == 0.25


@pytest.mark.parametrize("feature", NLI, ids=str)
def test_what_cannot_be_asked_is_missing(feature):
    assert feature.items(sample("Oslo [1].", passages=())) == NO_PASSAGES
    assert feature.items(sample(" ")) == NO_STATEMENTS


@pytest.mark.parametrize("feature", NLI, ids=str)
def test_an_answer_that_cites_nothing_has_no_support_by_citation(feature):
    assert feature.items(sample("Oslo is in Norway. It is large [9].")) == NO_CITED_PASSAGES
    assert feature.items(sample("Oslo is in Norway [4].")) == EMPTY_PASSAGES
