"""Answers that a rating rests on are inspected, all of them."""

import numpy as np
import pandas as pd
import pytest

from surrogate.checks import inspection
from surrogate.checks.inspection import inspect_answers
from surrogate.learning import training
from surrogate.learning.answers_surrogate import AnswersSurrogate
from surrogate.learning.regression import RegressionSurrogate
from surrogate.learning.training import MOST_QUESTIONS

JUDGED = ["one", "two", "three", "four"]
N_QUESTIONS = MOST_QUESTIONS + 60
RATINGS = pd.DataFrame({"language": "en", "system": JUDGED, "rating": [1.0, 0.5, -0.5, -1.0]})


def made_answers(system, seed):
    """Return answers of words drawn at random, so that nobody's explain another's."""
    words = np.random.default_rng(seed).integers(500, size=(N_QUESTIONS, 20)).astype(str)
    query_ids = [f"q{number:03}" for number in range(N_QUESTIONS)]
    texts = [" ".join(row) for row in words]
    rows = pd.DataFrame({"query_id": query_ids, "answer": texts, "answer_length": words[:, 0]})
    return rows.assign(language="en", system=system).astype({"answer_length": float})


@pytest.fixture(scope="module")
def judged_answers():
    return pd.concat(
        [made_answers(system, seed) for seed, system in enumerate(JUDGED)], ignore_index=True
    )


@pytest.fixture(scope="module")
def surrogate(judged_answers):
    return AnswersSurrogate().fit(judged_answers, RATINGS)


def measures_noted(judged_answers, surrogate, copied_ids, original="one"):
    """Return the notes on a system that copies another's answers to some questions."""
    texts = judged_answers[judged_answers["system"] == original].set_index("query_id")["answer"]
    new = made_answers("new", seed=99)
    new = new[new["query_id"].isin(judged_answers["query_id"])]
    is_copied = new["query_id"].isin(copied_ids)
    new["answer"] = new["answer"].mask(is_copied, new["query_id"].map(texts))
    queries = new[["language", "query_id"]].assign(query="What?", passages=[[]] * len(new))
    compared = pd.concat([judged_answers, new], ignore_index=True)
    judged = {"en": list(judged_answers["system"].unique())}
    findings = inspect_answers(compared, judged, queries, surrogate)
    return {note.name for note in findings.notes.get(("en", "new"), ())}


@pytest.mark.slow
def test_every_question_that_the_surrogate_learned_from_is_inspected(judged_answers, surrogate):
    learned_ids = sorted(surrogate.used_rows(judged_answers)["query_id"].unique())
    assert learned_ids == sorted(surrogate.fields_["en"].tensor.questions)
    assert len(learned_ids) == MOST_QUESTIONS
    # Whatever part of these questions the copies are on, they are noted.
    for remainder in range(3):
        copied_ids = [name for name in learned_ids if int(name[1:]) % 3 == remainder]
        assert "shared" in measures_noted(judged_answers, surrogate, copied_ids)
    # No rating rests on answers to the other questions.
    unused_ids = sorted(set(judged_answers["query_id"]) - set(learned_ids))
    assert measures_noted(judged_answers, surrogate, unused_ids) == set()


def test_answers_in_a_language_without_verdicts_are_used(judged_answers, surrogate):
    foreign = judged_answers.assign(language="de")
    pd.testing.assert_frame_equal(surrogate.used_rows(foreign), foreign)


@pytest.mark.slow
def test_surrogates_of_features_use_every_answer(judged_answers):
    surrogate = RegressionSurrogate("linear").fit(judged_answers, RATINGS)
    copied_ids = [f"q{number:03}" for number in range(1, N_QUESTIONS, 2)]
    assert "shared" in measures_noted(judged_answers, surrogate, copied_ids)


def test_every_judged_system_that_the_surrogate_learned_from_is_compared(monkeypatch):
    monkeypatch.setattr(training, "MOST_SYSTEMS", 4)
    monkeypatch.setattr(inspection, "MOST_SYSTEMS", 4)
    names = [f"system{number}" for number in range(12)]
    judged_answers = pd.concat(
        [made_answers(system, seed)[:40] for seed, system in enumerate(names)], ignore_index=True
    )
    ratings = pd.DataFrame(
        {"language": "en", "system": names, "rating": np.linspace(1.0, -1.0, len(names))}
    )
    surrogate = AnswersSurrogate().fit(judged_answers, ratings)
    copied_ids = [f"q{number:03}" for number in range(0, 40, 3)]
    is_noted = {
        system: "shared" in measures_noted(judged_answers, surrogate, copied_ids, system)
        for system in names
    }
    assert {system for system in names if is_noted[system]} == set(surrogate.systems_["en"])
    assert len(surrogate.systems_["en"]) == 4
