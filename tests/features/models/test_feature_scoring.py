"""Features that read a model, with real weights: each distinct text is scored once."""

import numpy as np
import pandas as pd
import pytest
from simulations import simulated_part

from features import EMPTY_ANSWER, Feature, Missing, Reading, extract, model, parse_features
from features.models import ModelOptions, scoring
from features.models.embedders import Embedder, cosines


def nearness(name, minilm, other):
    """One's own feature by an embedding model: the cosine of the answer and another text."""

    def items(sample):
        text = other(sample)
        if isinstance(text, Missing) or not sample.text:
            return EMPTY_ANSWER
        return ((sample.text,), (text,))

    def cosine(sample, scores):
        value = float(cosines(scores)[0])
        return Missing("no embedding") if np.isnan(value) else value

    reading = Reading("embedder", items)
    return Feature(name, "", "own", ("answer",), cosine, (model(minilm),), reading=reading)


@pytest.fixture(scope="module")
def chosen(minilm):
    others = {
        "question": lambda sample: sample.question.query,
        "reference": lambda sample: sample.question.reference_text,
    }
    return [nearness(f"near_{name}", minilm, other) for name, other in others.items()]


@pytest.fixture(scope="module")
def simulated():
    return simulated_part(questions=3).arena


@pytest.fixture(scope="module")
def expected(simulated, chosen):
    return extract(simulated, [*chosen, *parse_features("answer_length")])


def same(table, expected):
    pd.testing.assert_frame_equal(table, expected[table.columns], rtol=0, atol=2e-6)


@pytest.fixture
def scored_items(monkeypatch):
    """Every item that a model really scored."""
    items = []
    real = Embedder.score

    def scoring(embedder, job):
        items.extend(job)
        return real(embedder, job)

    monkeypatch.setattr(Embedder, "score", scoring)
    return items


def test_the_reference_is_like_itself(expected, chosen, simulated):
    own = expected[expected["system"] == simulated.info.reference_system]
    assert own[str(chosen[1])].dropna().to_numpy() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.slow
def test_batches_and_jobs_change_nothing(simulated, chosen, expected, monkeypatch):
    monkeypatch.setattr(scoring, "JOB", 5)
    monkeypatch.setattr(scoring, "SLAB", 10)
    same(extract(simulated, chosen, models=ModelOptions("cpu", 7)), expected)


@pytest.mark.slow
def test_a_new_system_is_all_that_is_scored(simulated, chosen, expected, scored_items, tmp_path):
    new = simulated.answers[simulated.answers["system"] == simulated.info.systems[-1]]
    old = simulated.answers.drop(new.index)
    extract(simulated, chosen, old, cache=tmp_path)
    assert len(scored_items) == len(set(scored_items))
    scored_items.clear()
    table = extract(simulated, chosen, cache=tmp_path)
    assert 0 < len(scored_items) <= len(new)
    same(table, expected)
    scored_items.clear()
    extract(simulated, chosen, cache=tmp_path)
    assert scored_items == []


@pytest.mark.slow
def test_failed_scores_are_not_kept_and_a_killed_run_loses_one_job(
    simulated, chosen, monkeypatch, tmp_path
):
    real, calls = Embedder.score, []

    def failing(embedder, job):
        calls.append(job)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(embedder, job) * (np.nan if len(calls) == 1 else 1)

    monkeypatch.setattr(scoring, "JOB", 4)
    monkeypatch.setattr(Embedder, "score", failing)
    with pytest.raises(KeyboardInterrupt):
        extract(simulated, chosen[:1], cache=tmp_path)
    extract(simulated, chosen[:1], cache=tmp_path)
    again = [item for job in calls[3:] for item in job]
    assert set(calls[0]) <= set(again)
    assert not set(calls[1]) & set(again)
