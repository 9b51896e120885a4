"""Judges of claims on features: grounding, and entailment."""

import os
from pathlib import Path

import numpy as np
import pytest

from features.models import ModelOptions
from surrogate.metaevaluation import judges
from surrogate.metaevaluation.memerag.evaluation import Memerag
from surrogate.metaevaluation.memerag.grounding import (
    GroundingJudge,
    GroundingSettings,
    Rarity,
    ground,
)
from surrogate.metaevaluation.memerag.judges import Claim, NliJudge
from surrogate.metaevaluation.memerag.reading import read_memerag
from surrogate.metaevaluation.memerag.scores import score_judges
from surrogate.metaevaluation.runner import evaluate_judges

SHARED = Path(__file__).parents[4] / "shared" / "data"
YES, NO = "Supported", "Not Supported"
PASSAGES = (
    "The tower in Paris was opened in 1889 and is 330 metres high.",
    "Helsinki became the capital of Finland in 1812.",
)


def claim(sentence, passages=PASSAGES, question="How high is it?", language="en"):
    return Claim(language, question, passages, sentence, sentence)


def grounding(sentence, **fields):
    return ground([claim(sentence, **fields)])[0]


def said(sentence, **fields):
    return GroundingJudge().judge([claim(sentence, **fields)])[0].value


def test_coverage_is_that_of_the_best_passage():
    assert grounding(PASSAGES[0]).coverage == pytest.approx(1)
    assert grounding("the TOWER in  paris").coverage == pytest.approx(1)
    assert grounding("Qwzx vbkj").coverage == 0
    split = grounding("The tower in Paris. Helsinki became the capital.").coverage
    assert 0.3 < split < 0.7


def test_rare_runs_weigh_more():
    rarity = Rarity(["common words", "common things", "common words"])
    assert rarity.weight("commo") < rarity.weight("words") < rarity.weight("never")


def test_numbers_and_names_that_nothing_holds():
    assert grounding("It is 330 metres high since 1.889.").missing_numbers == 0
    assert grounding("It is 331 metres high, 12, 13, 14 and 15.").missing_numbers == 3
    assert grounding("Is it 400?", question="Is it 400 or 500?").missing_numbers == 0
    assert grounding("So Helsinki and Oslo and Rome.").missing_names == pytest.approx(2 / 3)
    assert grounding("So it is.").missing_names == 0
    assert grounding("यह ३३० मीटर ऊँचा है").missing_numbers == 0


def test_verdicts_follow_the_score():
    assert said("The tower in Paris is 330 metres high.") == YES
    assert said("The tower in Paris is 412 metres high.") == NO
    assert said("Bananas are rich in potassium.") == NO
    assert said("Where?", passages=()) == NO
    lenient = GroundingJudge(GroundingSettings(0, 0, 0))
    assert lenient.judge([claim("Bananas.")])[0].value == YES
    assert lenient.prompt != GroundingJudge().prompt


def test_languages_are_counted_apart_and_order_does_not_matter():
    claims = [claim(text, language=code) for code in ("en", "fr") for text in PASSAGES]
    found = ground(claims)
    assert found[:2] == found[2:]
    assert ground(claims[::-1]) == found[::-1]


@pytest.mark.slow
def test_the_grounding_judge_on_real_labels():
    if not (SHARED / "memerag").is_dir():
        pytest.skip(f"no MEMERAG at {os.path.relpath(SHARED / 'memerag')}")
    sentences = read_memerag(SHARED / "memerag")
    scores = score_judges(evaluate_judges(Memerag(sentences), ["grounding"]).verdicts, 200)
    found = scores.set_index("language")["balanced_accuracy"]
    assert found["macro"] == pytest.approx(0.662, abs=0.002)
    assert found.min() > 0.55


class SmallNli:
    """Entails what stands in the passage; counts what it is asked."""

    device, signature = "cpu", "small"

    def __init__(self):
        self.items = []

    def score(self, items):
        self.items += items
        rows = [(0.5, 0.4, 0.1) if said in text else (0.4, 0.1, 0.5) for text, said in items]
        return np.array(rows, dtype=np.float32)


def test_an_nli_model_supports_what_a_passage_entails(monkeypatch):
    model, asked = SmallNli(), []

    def load(*arguments):
        asked.append(arguments)
        return model

    monkeypatch.setattr(judges, "load_scorer", load)
    options = ModelOptions("cpu")
    judge = NliJudge("some/model", options)
    claims = [claim(text) for text in ("Paris", "Finland", "Bananas", "Paris")]
    assert [each.value for each in judge.judge(claims)] == [YES, YES, NO, YES]
    assert asked == [("nli", "some/model", options)]
    assert len(model.items) == len(set(model.items)) == 6
    assert judge.judge([claim("Paris", passages=())])[0].value == NO
    assert (judge.name, judge.prompt) == ("nli:some/model", "a passage entails the sentence")
