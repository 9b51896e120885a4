"""Answers that say that they do not answer: that nothing is known, was retrieved, or is allowed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from features.text.tokens import tokens_per_word, words

MOST_WORDS = 40
"""Words of a refusal, or parts of words twice: a longer text answers after all."""
OPENING = 200
"""Characters in which a refusal says that it is one."""


@cache
def phrases() -> Mapping[str, Sequence[str]]:
    """Return the patterns of what refusals say, by language."""
    text = files("features.text").joinpath("refusals.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))


def refuses(text: str, language: str) -> bool | None:
    """Return whether an answer only says that it does not answer.

    Args:
        text: The answer, without citations.
        language: Language code of its question.

    Returns:
        None for languages whose refusals are not listed.
    """
    if language not in phrases():
        return None
    if _pattern(language).search(text[:OPENING].replace("’", "'")) is None:
        return False
    tokens = words(text)
    return len(tokens) <= MOST_WORDS * tokens_per_word(tokens)


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """Return the pattern of a language, and of English, in which models often fall back."""
    return re.compile("|".join([*phrases()[language], *phrases()["en"]]), re.IGNORECASE)
