"""The recipes tune a random Llama of two layers: what the last message says becomes likelier."""

import json
import math
from importlib.util import find_spec

import pytest

from surrogate_arena.papers.finetune import finetune

pytestmark = [
    pytest.mark.slow,  # the import of trl takes half of the time
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # of transformers, about settings of trl
]
if find_spec("trl") is None:
    pytest.skip(
        "needs the extra train: pip install 'surrogate-arena[train]'", allow_module_level=True
    )

PROMPT, REPLY = "Say it.", "yes"
TEMPLATE = (
    "{% for message in messages %}{{ message.role }}:{{ message.content }}{{ eos_token }}"
    "{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"
)


@pytest.fixture(scope="module")
def tiny_llama(tmp_path_factory):
    """The folder of a random Llama of two layers with a tokenizer of bytes, as safetensors."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: place for place, letter in enumerate([*letters, "<end>", "<pad>"])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", pad_token="<pad>")
    fast.chat_template = TEMPLATE
    folder = tmp_path_factory.mktemp("models") / "tiny-llama"
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        eos_token_id=vocabulary["<end>"],
        pad_token_id=vocabulary["<pad>"],
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture
def rows(tmp_path):
    messages = [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": REPLY}]
    row = {"messages": messages, "language": "en", "query_id": "1"}
    (tmp_path / "rows.jsonl").write_text("\n".join([json.dumps(row)] * 8))
    return tmp_path / "rows.jsonl"


def loss_of_reply(model, tokenizer):
    import torch

    prompt = f"user:{PROMPT}<end>assistant:"
    start = len(tokenizer(prompt)["input_ids"])
    tokens = torch.tensor([tokenizer(f"{prompt}{REPLY}<end>")["input_ids"]])
    labels = tokens.clone()
    labels[:, :start] = -100
    with torch.inference_mode():
        return float(model.eval()(input_ids=tokens, labels=labels).loss)


@pytest.mark.parametrize(("recipe", "rank"), [("mirage", 16), ("grouse", 32)])
def test_a_recipe_teaches_the_last_message_with_an_adapter_on_every_linear_layer(
    recipe, rank, rows, tiny_llama, tmp_path
):
    from peft import AutoPeftModelForCausalLM
    from transformers import AutoModelForCausalLM, AutoTokenizer

    out = tmp_path / "tuned"
    changes = {"num_train_epochs": 10, "gradient_accumulation_steps": 4, "learning_rate": 0.03}
    finetune(rows, str(tiny_llama), out, recipe, **changes, use_cpu=True)

    adapter = json.loads((out / "adapter_config.json").read_text())
    assert (adapter["r"], adapter["lora_alpha"], adapter["lora_dropout"]) == (rank, 16, 0.05)
    assert len({name.rpartition(".")[2] for name in adapter["target_modules"]}) == 7
    tokenizer = AutoTokenizer.from_pretrained(out)
    tuned = loss_of_reply(AutoPeftModelForCausalLM.from_pretrained(out), tokenizer)
    base = loss_of_reply(AutoModelForCausalLM.from_pretrained(tiny_llama), tokenizer)
    assert math.isfinite(tuned)
    assert tuned < base - 0.3
