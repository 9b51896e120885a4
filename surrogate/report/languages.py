"""Languages as readers see them: their English name and the direction they are written in."""

from __future__ import annotations

import re
from typing import Literal

from arena.languages import LANGUAGE_CODE, MIRACL_LANGUAGES

RIGHT_TO_LEFT = frozenset({"ar", "ckb", "dv", "fa", "he", "ks", "ku", "ps", "sd", "ug", "ur", "yi"})


def language_name(code: str) -> str:
    """Return a language's English name, or its code where the name is not known."""
    return MIRACL_LANGUAGES.get(code, code)


def language_tag(code: str) -> str:
    """Return the value of an HTML ``lang`` attribute; ``und`` for what is no language code."""
    return code if re.fullmatch(LANGUAGE_CODE, code) else "und"


def direction(code: str) -> Literal["rtl", "ltr"]:
    """Return the value of an HTML ``dir`` attribute for text in a language."""
    return "rtl" if code in RIGHT_TO_LEFT else "ltr"
