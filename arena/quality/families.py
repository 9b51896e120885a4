"""Families of language models by their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from types import MappingProxyType

from arena.data.wording import first_of

FAMILIES = MappingProxyType(
    {
        "OpenAI": r"gpt-?[345](?!all)|gpt-oss|chatgpt|openai|(?<![a-z0-9])o[134](?![a-z0-9])",
        "Anthropic": r"claude|anthropic",
        "Google": r"gemini|gemma|google|palm-?2|(?<![a-z])bard(?![a-z])",
        "Meta": r"llama|(?<![a-z])meta(?![a-z])|vicuna|alpaca",
        "Qwen": r"qwen|qwq",
        "Mistral": r"mi[sx]tral|ministral|codestral|magistral|pixtral",
        "Cohere": r"cohere|command-?(?:r|a|light|nightly)|(?<![a-z])aya(?![a-z])",
        "DeepSeek": r"deepseek",
        "Microsoft": r"(?<![a-z])phi-?[1-9]|microsoft|wizardlm",
        "xAI": r"grok|(?<![a-z])xai(?![a-z])",
        "Zhipu": r"(?<![a-z])(?:chat)?glm|zhipu",
        "01.AI": r"(?<![a-z])yi-|01-ai",
        "LG": r"exaone",
    }
)
"""Name of each family to a pattern of its models' names."""


def model_families(name: str) -> frozenset[str]:
    """Return the families that a model's name mentions; a distilled model may have two."""
    return frozenset(
        family for family, pattern in FAMILIES.items() if re.search(pattern, name, re.IGNORECASE)
    )


def kinship(judges: Collection[str], systems: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Say how judges are related to systems, and to which; nothing if they are not."""
    own = tuple(name for name in systems if name in judges)
    if own:
        return "is one of the systems", own
    families = frozenset().union(*map(model_families, judges))
    kin = tuple(name for name in systems if families & model_families(name))
    if kin:
        return f"is from the same family as {first_of(kin, 1)}", kin
    return "", ()
