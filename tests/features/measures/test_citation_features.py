import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import Passage
from features import Question, Sample, parse_features
from features.declare.sample import (
    NO_PASSAGES,
    NO_REFERENCE_SYSTEM,
    NO_RELEVANCE_LABELS,
    NO_RELEVANT_PASSAGE,
)
from features.measures.registry import FEATURES


def measure(name, sample):
    (feature,) = parse_features(name)
    return feature.measure(sample)


@pytest.mark.parametrize(
    ("passages", "reason"),
    [
        ([], NO_PASSAGES),
        ([("1", None), ("2", None)], NO_RELEVANCE_LABELS),
        ([("1", 0), ("2", None)], NO_RELEVANT_PASSAGE),
    ],
)
def test_missing_relevance_is_said(passages, reason, make_sample):
    sample = make_sample("[1]", passages=passages)
    assert measure("citation_recall@10", sample) == reason
    assert measure("citation_map@10", sample) == reason


@given(cited=st.lists(st.integers(0, 15), max_size=20), k=st.integers(1, 12))
def test_features_agree_with_trec_eval(cited, k):
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    passages = tuple(
        Passage(passage_id=str(place), text="", relevance=place % 2) for place in range(10)
    )
    sample = Sample(
        Question("en", "q", "?", passages, NO_REFERENCE_SYSTEM),
        " ".join(f"[{place}]" for place in cited),
    )
    ranking = list(dict.fromkeys(map(str, cited)))
    if not ranking:
        return
    run = {"q": {cited_id: float(-rank) for rank, cited_id in enumerate(ranking)}}
    judged = {"q": {passage.passage_id: passage.relevance for passage in passages}}
    measures = {f"map_cut.{k}", f"recall.{k}", "set_P"}
    evaluator = pytrec_eval.RelevanceEvaluator(judged, measures)
    precision = evaluator.evaluate(run)["q"]["set_P"]  # unknown ids count as not relevant
    run["q"] = {cited_id: score for cited_id, score in run["q"].items() if int(cited_id) < 10}
    if not run["q"]:
        return
    scores = evaluator.evaluate(run)["q"]
    assert measure(f"citation_recall@{k}", sample) == pytest.approx(scores[f"recall_{k}"], abs=1e-9)
    assert measure(f"citation_map@{k}", sample) == pytest.approx(scores[f"map_cut_{k}"], abs=1e-9)
    assert FEATURES["citation_precision"].measure(sample) == pytest.approx(precision, abs=1e-9)
