"""Which family a model's name speaks of."""

import pytest

from arena.diagnostics.families import model_families, own_family


@pytest.mark.parametrize(
    ("name", "families"),
    [
        ("gpt-4o-mini", {"OpenAI"}),
        ("o3-mini", {"OpenAI"}),
        ("openai/gpt-oss-20b", {"OpenAI"}),
        ("claude-3-5-sonnet-20241022", {"Anthropic"}),
        ("meta-llama/Llama-3-70b", {"Meta"}),
        ("Qwen2.5-Coder-0.5B", {"Qwen"}),
        ("mistralai/Mixtral-8x22B", {"Mistral"}),
        ("deepseek-r1-distill-llama-70b", {"DeepSeek", "Meta"}),
        ("rinna/japanese-gpt-neox-3.6b", set()),
        ("gpt-j-6b", set()),
        ("metaphor-7b", set()),
        ("my-system", set()),
    ],
)
def test_names_speak_of_families(name, families):
    assert model_families(name) == families


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("meta-llama/Llama-3.1-8B", "Meta"),
        ("deepseek-r1-distill-llama-70b", "DeepSeek"),
        ("rinna/japanese-gpt-neox-3.6b", "rinna"),
        ("Tulu_2_dpo", "tulu"),
        ("70", "70"),
    ],
)
def test_a_system_is_counted_to_one_family(name, family):
    assert own_family(name) == family
