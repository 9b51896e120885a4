import numpy as np
import pytest
from small_models import SENTENCES

from arena import UsageError
from features.models import ModelOptions, load_scorer

QUESTIONS = {
    "What is the capital of Finland?": "Helsinki is the capital and largest city of Finland.",
    "Who painted the Mona Lisa?": "The Mona Lisa is a portrait painted by Leonardo da Vinci.",
    "At what temperature does water boil?": "Water boils at 100 °C at sea level.",
    "When was the Eiffel Tower built?": "The Eiffel Tower was built from 1887 to 1889.",
}
FILLER = "The committee met again in spring and approved the minutes of its last meeting. "


def loaded(folder, **options):
    return load_scorer("reranker", str(folder), ModelOptions(device="cpu", **options))


def test_the_relevant_passage_scores_highest(onnx_reranker):
    scorer = loaded(onnx_reranker)
    for question in QUESTIONS:
        scores = scorer.score([(question, passage) for passage in QUESTIONS.values()])
        assert scores.shape == (4, 1)
        assert list(QUESTIONS)[int(scores.argmax())] == question


def test_onnx_rows_do_not_depend_on_batches_order_or_neighbours(onnx_reranker):
    pairs = [(question, passage) for question in QUESTIONS for passage in QUESTIONS.values()]
    pairs += [("", ""), ("\x00\ud800", "a [SEP] b"), (FILLER * 9, FILLER * 20)]
    expected = loaded(onnx_reranker).score(pairs)
    assert np.isfinite(expected).all()
    order = np.random.default_rng(5).permutation(len(pairs))
    for size in (1, 3):
        found = loaded(onnx_reranker, batch_size=size).score([pairs[place] for place in order])
        np.testing.assert_array_equal(found, expected[order])


def test_a_sentence_in_the_midst_of_a_long_passage_is_found(onnx_reranker):
    scorer = loaded(onnx_reranker)
    question, answer = next(iter(QUESTIONS.items()))
    without, within = scorer.score(
        [(question, FILLER * 80), (question, FILLER * 40 + answer + " " + FILLER * 40)]
    )[:, 0]
    assert within > without + 5


def test_scores_are_the_raw_logits_of_a_cross_encoder(tiny_reranker):
    import torch
    from sentence_transformers import CrossEncoder

    pairs = [(first, second) for first in SENTENCES for second in SENTENCES]
    encoder = CrossEncoder(str(tiny_reranker), device="cpu", local_files_only=True)
    expected = encoder.predict(pairs, activation_fn=torch.nn.Identity())
    found = loaded(tiny_reranker).score(pairs)
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-5)
    assert not ((found >= 0) & (found <= 1)).all()


def test_torch_rows_do_not_depend_on_batches_order_or_neighbours(tiny_reranker):
    pairs = [(first, second) for first in SENTENCES for second in SENTENCES]
    pairs.append((" ".join(SENTENCES * 5), " ".join(SENTENCES * 9)))
    expected = loaded(tiny_reranker).score(pairs)
    order = np.random.default_rng(9).permutation(len(pairs))
    for size in (1, 3):
        found = loaded(tiny_reranker, batch_size=size).score([pairs[place] for place in order])
        np.testing.assert_allclose(found, expected[order], atol=2e-5)


def test_positions_of_xlm_r_start_after_the_padding(tiny_reranker):
    """66 positions are 65 tokens here, where the padding is token 0; more would be an error."""
    assert "|tokens=65|" in loaded(tiny_reranker).signature
    assert np.isfinite(loaded(tiny_reranker).score([("a", " ".join(SENTENCES * 5))])).all()


def test_a_model_with_several_outputs_is_no_reranker(nli_folder):
    folder = nli_folder(("entailment", "neutral", "contradiction"))
    with pytest.raises(UsageError, match="has 3 outputs; a reranker has one"):
        loaded(folder)


def test_a_text_of_100_000_characters_is_scored(tiny_reranker):
    text = " ".join(SENTENCES * 350)
    assert len(text) > 90_000
    assert np.isfinite(loaded(tiny_reranker).score([("Paris", text), (text, "Paris")])).all()
