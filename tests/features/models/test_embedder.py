import numpy as np
import pytest
from small_models import SENTENCES

from arena import UsageError
from features.models import ModelOptions, load_scorer

pytestmark = pytest.mark.slow


def loaded(folder, **options):
    return load_scorer("embedder", str(folder), ModelOptions(device="cpu", **options))


def items(texts):
    return [(text,) for text in texts]


def test_vectors_are_those_of_sentence_transformers(minilm):
    from sentence_transformers import SentenceTransformer

    texts = [*SENTENCES, " ".join(SENTENCES * 20)]
    model = SentenceTransformer(minilm, device="cpu", local_files_only=True)
    expected = model.encode(texts, normalize_embeddings=True)
    np.testing.assert_allclose(loaded(minilm).score(items(texts)), expected, atol=1e-5)


def test_rows_do_not_depend_on_batches_order_or_neighbours(minilm):
    texts = [*SENTENCES, "", "\x00\ud800", "ab " * 5_000, "नमस्ते", "one", "two words"]
    expected = loaded(minilm).score(items(texts))
    assert np.isfinite(expected).all()
    order = np.random.default_rng(1).permutation(len(texts))
    found = loaded(minilm).score(items(texts[place] for place in order))
    np.testing.assert_allclose(found, expected[order], atol=2e-6)


def test_a_classifier_is_no_embedder(tiny_reranker):
    with pytest.raises(UsageError, match="no sentence-transformers model"):
        loaded(tiny_reranker)


def test_pairs_are_refused(minilm):
    with pytest.raises(UsageError, match="single texts"):
        loaded(minilm).score([("a", "b")])
    assert len(loaded(minilm).score([])) == 0
