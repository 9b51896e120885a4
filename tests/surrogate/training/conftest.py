"""A random Llama of two layers with a tokenizer of its own."""

from importlib.util import find_spec

import pytest


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory):
    """Return the folder of a model with weights as safetensors."""
    if find_spec("peft") is None:  # not imported here: that takes seconds
        pytest.skip("needs the extra train: pip install 'surrogate-arena[train]'")
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: place for place, letter in enumerate(letters)}
    vocabulary |= {"<end>": len(letters), "<pad>": len(letters) + 1}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    folder = tmp_path_factory.mktemp("models") / "tiny-llama"
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<end>", pad_token="<pad>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=16_384,
        eos_token_id=vocabulary["<end>"],
        pad_token_id=vocabulary["<pad>"],
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
