"""Which language is a text in? By py3langid, or langid as in MIRAGE-Bench."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

PY3LANGID = "py3langid"
LANGID = "langid"

_SURROGATE = re.compile("[\ud800-\udfff]")


def identify(text: str, identifier: str = PY3LANGID) -> Mapping[str, float]:
    """Return the probability of every language that an identifier knows, by its code.

    Args:
        text: Any text; lone surrogates, which langid refuses, count as U+FFFD.
        identifier: ``py3langid``, or ``langid`` for the probabilities of the paper.
    """
    ranked = _ranker(identifier)(_SURROGATE.sub("\ufffd", text))
    return {str(language): float(probability) for language, probability in ranked}


@lru_cache(maxsize=2)
def _ranker(identifier: str) -> Callable[[str], Any]:
    if identifier == LANGID:
        from langid.langid import LanguageIdentifier, model

        return LanguageIdentifier.from_modelstring(model, norm_probs=True).rank  # type: ignore[no-any-return]
    from py3langid.langid import MODEL_FILE
    from py3langid.langid import LanguageIdentifier as Identifier

    return Identifier.from_model_file(MODEL_FILE, norm_probs=True).rank  # type: ignore[no-any-return]
