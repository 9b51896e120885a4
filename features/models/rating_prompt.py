"""Prompts that ask for a rating of one answer (MIRAGE-Bench, figures 11 and 12)."""

from __future__ import annotations

from typing import Any

from arena.generation.named_language import named_language
from arena.generation.trimming import ByteTrimmer
from arena.llm.prompts import Prompt
from arena.prompts.fences import fence_code
from arena.prompts.templates import PromptTemplate, packaged_prompt
from features.models.rating_items import OVERLAP, RATING_PROMPTS
from features.models.scorer import Item

PASSAGE_TOKENS = 800
"""Tokens of a document that are shown, as for the systems that answered."""

_VERSION = "v1"
_VARIABLES = ("code", "language", "question", "reference", "answer", "passages")


def rating_prompt(item: Item) -> Prompt:
    """Make the prompt for an item of ``features.models.rating_items``."""
    name, _, language, question, answer, *others = item
    values: dict[str, Any] = {
        "code": fence_code(question, answer, *others),
        "language": named_language(language),
        "question": question,
        "answer": answer,
    }
    if name == OVERLAP:
        values["reference"] = others[0]
    else:
        values["passages"] = [ByteTrimmer().trim(text, PASSAGE_TOKENS) for text in others]
    template = _template(name)
    return Prompt.of(template.fill(values), version=template.version)


def prompt_versions() -> str:
    """Return what the texts of all prompts depend on."""
    names = "+".join(_template(name).version for name in RATING_PROMPTS)
    return f"{names}|passages:{PASSAGE_TOKENS}({ByteTrimmer().name})"


def _template(name: str) -> PromptTemplate:
    return packaged_prompt("features.models", f"{name}.{_VERSION}", _VARIABLES)
