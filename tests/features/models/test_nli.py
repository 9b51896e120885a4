import numpy as np
import pytest
from small_models import SENTENCES, renamed

from arena import UsageError
from features.models import ModelOptions, load_scorer

LABELS = ("entailment", "neutral", "contradiction")
PAIRS = [(first, second) for first in SENTENCES for second in SENTENCES[:3]]


def loaded(folder, **options):
    return load_scorer("nli", str(folder), ModelOptions(device="cpu", **options))


@pytest.fixture(scope="session")
def in_order(nli_folder):
    return nli_folder(LABELS)


def test_scores_are_those_of_a_plain_forward_pass(in_order):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(in_order)
    model = AutoModelForSequenceClassification.from_pretrained(in_order, dtype=torch.float32)
    expected = []
    for pair in PAIRS:
        with torch.inference_mode():
            logits = model(**tokenizer(*pair, return_tensors="pt")).logits[0]
        expected.append(torch.softmax(logits, dim=-1).numpy())
    found = loaded(in_order).score(PAIRS)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found.dtype == np.float32
    assert np.ptp(found[:, 0]) > 0.01


@pytest.mark.parametrize(
    "labels",
    [
        ("contradiction", "entailment", "neutral"),
        ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
        ("Contradiction", "Neutral", "Entailment"),
    ],
)
def test_the_order_of_labels_is_read_from_the_config(in_order, labels, tmp_path):
    """The same weights under other names give the same numbers in other places."""
    plain = loaded(in_order).score(PAIRS)
    found = loaded(renamed(in_order, labels, tmp_path / "renamed")).score(PAIRS)
    for place, name in enumerate(labels):
        np.testing.assert_allclose(found[:, LABELS.index(name.lower())], plain[:, place], atol=2e-6)


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (("LABEL_0", "LABEL_1", "LABEL_2"), "0: 'LABEL_0', 1: 'LABEL_1'"),
        (("entailment", "not_entailment"), "0: 'entailment', 1: 'not_entailment'"),
        (("entailment", "neutral", "contradiction", "other"), "3: 'other'"),
        (("entailment", "neutral", "neutral "), "2: 'neutral '"),
    ],
)
def test_labels_that_do_not_tell_are_refused(nli_folder, labels, shown):
    folder = nli_folder(labels)
    with pytest.raises(UsageError, match="does not say which output is which") as caught:
        loaded(folder)
    assert shown in str(caught.value)
    assert "entailment, neutral and contradiction" in str(caught.value)


def test_the_window_with_the_highest_entailment_counts(in_order):
    """A premise of several windows scores as the best of them."""
    scorer = loaded(in_order)
    hypothesis = "the capital of finland"
    best = []
    for turn in range(5):
        premise = " ".join([*SENTENCES[turn:], *SENTENCES, *SENTENCES[:turn]])
        windows = scorer.windows((premise, hypothesis))
        scores = scorer.score(windows)
        best.append(int(scores[:, 0].argmax()))
        found = scorer.score([(premise, hypothesis)])[0]
        np.testing.assert_allclose(found, scores[best[-1]], atol=2e-6)
    assert len(windows) >= 3
    assert len(set(best)) > 1
