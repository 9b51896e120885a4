"""Which families of models a name speaks of."""

import pytest

from arena.quality.families import kinship, model_families


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


def test_judges_that_are_systems_or_of_their_family_are_named():
    systems = ["gpt-3.5-turbo", "gpt-4", "claude-v1"]
    assert kinship(["gpt-4"], systems) == ("is one of the systems", ("gpt-4",))
    relation, kin = kinship(["gpt-4o"], systems)
    assert "family as gpt-3.5-turbo" in relation
    assert kin == ("gpt-3.5-turbo", "gpt-4")
    assert kinship(["people"], systems) == ("", ())
