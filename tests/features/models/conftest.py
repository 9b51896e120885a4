"""Models to score with: real weights from packages, and small ones of real architectures."""

import pytest
from small_models import save_tokenizer, spread_weights


def _packages():
    pytest.importorskip("sentence_transformers", reason="needs surrogate-arena[neural]")


@pytest.fixture(scope="session")
def nli_folder(tmp_path_factory):
    """Makes folders of one small DeBERTa with three labels, named as asked."""
    _packages()
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

    def make(labels, **changes):
        folder = tmp_path_factory.mktemp("nli")
        size = save_tokenizer(folder)
        config = DebertaV2Config(
            vocab_size=size,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=48,
            max_position_embeddings=64,
            type_vocab_size=0,
            relative_attention=True,
            position_buckets=16,
            norm_rel_ebd="layer_norm",
            share_att_key=True,
            pos_att_type=["p2c", "c2p"],
            position_biased_input=False,
            id2label=dict(enumerate(labels)),
            label2id={name: place for place, name in enumerate(labels)},
            **changes,
        )
        spread_weights(DebertaV2ForSequenceClassification(config)).save_pretrained(folder)
        return folder

    return make


@pytest.fixture(scope="session")
def tiny_reranker(tmp_path_factory):
    """A folder of a small XLM-R with one output, as BAAI/bge-reranker-v2-m3 has."""
    _packages()
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

    folder = tmp_path_factory.mktemp("reranker")
    config = XLMRobertaConfig(
        vocab_size=save_tokenizer(folder, model_input_names=["input_ids", "attention_mask"]),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=66,
        type_vocab_size=1,
        pad_token_id=0,
        num_labels=1,
    )
    spread_weights(XLMRobertaForSequenceClassification(config)).save_pretrained(folder)
    return folder
