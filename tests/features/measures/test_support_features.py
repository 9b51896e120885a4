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
from features.measures.registry import FEATURES, SUPPORT_FEATURES

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
YES, PERHAPS, NO = (0.7, 0.2, 0.1), (0.3, 0.6, 0.1), (0.1, 0.2, 0.7)


def sample(output, passages=PASSAGES):
    return Sample(Question("en", "q", "?", passages, NO_REFERENCE_SYSTEM), output)


def joined(*ids):
    return "\n".join(TEXTS[name] for name in ids)


def measured(feature, answer, verdicts):
    """Measure with scores for each premise, given by the ids of its passages."""
    premises = {joined(*ids): scores for ids, scores in verdicts.items()}
    rows = [premises[premise] for premise, _ in feature.items(answer)]
    scores = np.array(rows, dtype=np.float32).reshape(len(rows), 3)
    return feature.measure_scored(answer, scores)


def test_probabilities_are_averaged_over_statements_and_citations():
    answer = sample("Oslo is a port [1][2]. Whales breathe air [3]. All is well.")
    assert FEATURES["nli_entailment"].items(answer) == (
        (TEXTS["1"], "Oslo is a port."),
        (TEXTS["2"], "Oslo is a port."),
        (TEXTS["3"], "Whales breathe air."),
    )
    scores = np.array([(0.5, 0.25, 0.25), (0.75, 0.25, 0), (0.25, 0.25, 0.5)], dtype=np.float32)
    assert FEATURES["nli_entailment"].measure_scored(answer, scores) == 0.5
    assert FEATURES["nli_neutral"].measure_scored(answer, scores) == 0.25
    assert FEATURES["nli_contradiction"].measure_scored(answer, scores) == 0.25


@pytest.mark.parametrize("feature", SUPPORT_FEATURES, ids=str)
def test_what_cannot_be_asked_is_missing(feature):
    assert feature.items(sample("Oslo [1].", passages=())) == NO_PASSAGES
    assert feature.items(sample(" ")) == NO_STATEMENTS


@pytest.mark.parametrize(
    "feature",
    [FEATURES["nli_entailment"], FEATURES["nli_neutral"], FEATURES["support_precision"]],
    ids=str,
)
def test_an_answer_that_cites_nothing_has_no_support_by_citation(feature):
    assert feature.items(sample("Oslo is in Norway. It is large [9].")) == NO_CITED_PASSAGES
    assert feature.items(sample("Oslo is in Norway [4].")) == EMPTY_PASSAGES


def test_recall_is_the_share_of_supported_statements():
    answer = sample("Oslo is a port [1][2]. Whales breathe air [3]. All is well.")
    verdicts = {("1", "2"): YES, ("1",): NO, ("2",): NO, ("3",): PERHAPS}
    assert measured(FEATURES["support_recall"], answer, verdicts) == pytest.approx(1 / 3)


def test_recall_of_an_answer_that_cites_nothing_is_zero():
    answer = sample("Oslo is in Norway. It is large [4].")
    assert FEATURES["support_recall"].items(answer) == ()
    assert FEATURES["support_recall"].measure_scored(answer, np.empty((0, 3), np.float32)) == 0


@pytest.mark.parametrize(
    ("alone", "rest", "expected"),
    [
        # Passages 1, 2 and 3 are cited together and entail the statement.
        ((YES, YES, YES), (YES, YES, YES), 1),
        ((YES, NO, PERHAPS), (YES, YES, YES), 1 / 3),  # 1 suffices: 2 and 3 are irrelevant
        ((NO, NO, NO), (NO, NO, NO), 1),  # only all together entail it
        ((NO, NO, NO), (NO, NO, YES), 2 / 3),  # 1 and 2 without 3 do: 3 is irrelevant
        ((NO, NO, NO), (YES, YES, YES), 0),
    ],
)
def test_precision_leaves_irrelevant_citations_out(alone, rest, expected):
    answer = sample("Oslo is a port [1][2][3].")
    verdicts = {
        ("1", "2", "3"): YES,
        **dict(zip([("1",), ("2",), ("3",)], alone, strict=True)),
        **dict(zip([("2", "3"), ("1", "3"), ("1", "2")], rest, strict=True)),
    }
    assert len(FEATURES["support_precision"].items(answer)) == 7
    assert measured(FEATURES["support_precision"], answer, verdicts) == pytest.approx(expected)


def test_support_without_citations_takes_the_best_passage_of_each_statement():
    answer = sample("Oslo is a port. Whales breathe air [2].")
    assert len(FEATURES["uncited_support"].items(answer)) == 6
    entailment = np.array([0.5, 0.25, 0, 0, 0.125, 1], dtype=np.float32)
    scores = np.stack([entailment, 1 - entailment, 0 * entailment], axis=1)
    assert FEATURES["uncited_support"].measure_scored(answer, scores) == 0.75
    assert (
        FEATURES["uncited_support"].items(sample("Oslo.", passages=PASSAGES[3:])) == EMPTY_PASSAGES
    )
