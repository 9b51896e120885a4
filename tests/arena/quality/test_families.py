"""Which families of models a name speaks of."""

import pytest

from arena.quality.families import model_families


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
