import numpy as np
import pytest
from small_models import SENTENCES

from arena import UsageError
from features.models import ModelOptions, load_scorer


def loaded(folder, **options):
    return load_scorer("reranker", str(folder), ModelOptions(device="cpu", **options))


def test_scores_are_the_raw_logits_of_a_cross_encoder(tiny_reranker):
    import torch
    from sentence_transformers import CrossEncoder

    pairs = [(first, second) for first in SENTENCES for second in SENTENCES]
    encoder = CrossEncoder(str(tiny_reranker), device="cpu", local_files_only=True)
    expected = encoder.predict(pairs, activation_fn=torch.nn.Identity())
    found = loaded(tiny_reranker).score(pairs)
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-5)
    assert not ((found >= 0) & (found <= 1)).all()


def test_positions_of_xlm_r_start_after_the_padding(tiny_reranker):
    """66 positions are 65 tokens here, where the padding is token 0; more would be an error."""
    assert loaded(tiny_reranker).signature.endswith("|tokens=65")
    assert np.isfinite(loaded(tiny_reranker).score([("a", " ".join(SENTENCES * 5))])).all()


def test_a_model_with_several_outputs_is_no_reranker(nli_folder):
    folder = nli_folder(("entailment", "neutral", "contradiction"))
    with pytest.raises(UsageError, match="has 3 outputs; a reranker has one"):
        loaded(folder)


@pytest.mark.slow
def test_a_text_of_100_000_characters_is_scored(tiny_reranker):
    text = " ".join(SENTENCES * 350)
    assert len(text) > 90_000
    assert np.isfinite(loaded(tiny_reranker).score([("Paris", text), (text, "Paris")])).all()
