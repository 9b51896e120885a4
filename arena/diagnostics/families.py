"""Families of language models, by their names: a judge may prefer its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from types import MappingProxyType

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
    }
)
"""Name of each family to a pattern of its models' names."""

_PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in FAMILIES.items()}

_FIRST_WORD = re.compile(r"[^\W\d_]+")

SHOWN_SYSTEMS = 5


def model_families(name: str) -> frozenset[str]:
    """Return the families that a model's name speaks of; a distilled model may have two."""
    return frozenset(family for family, pattern in _PATTERNS.items() if pattern.search(name))


def own_family(name: str) -> str:
    """Return the one family that a system is counted to.

    That of its model, of two the first by name; where the name tells of none, its first word:
    runs of one laboratory begin alike.
    """
    word = _FIRST_WORD.search(name.casefold())
    return min(model_families(name), default=word[0] if word else name)


def self_preference_warnings(judge: str, systems: Iterable[str]) -> Iterator[str]:
    """Warn where a judge is of one family with systems it judges.

    Judges prefer answers of their own kind (Panickssery et al., 2024, "LLM evaluators recognize
    and favor their own generations").
    """
    contestants = sorted(systems)
    for family in sorted(model_families(judge)):
        kin = [system for system in contestants if family in model_families(system)]
        if kin:
            more = f" and {len(kin) - SHOWN_SYSTEMS} more" if len(kin) > SHOWN_SYSTEMS else ""
            yield (
                f"{judge} judges its own family ({family}: {', '.join(kin[:SHOWN_SYSTEMS])}{more});"
                " it may prefer it: compare with a judge of another family"
            )
