"""The label in an LLM's reply: what stands between its last ``<answer>`` tags."""

from __future__ import annotations

import re
import unicodedata

from arena.llm.failures import UnparsableError
from arena.metaevaluation.memerag.labels import NOT_SUPPORTED, SUPPORTED

_THOUGHTS = re.compile(
    r"<(think|thinking|rationale)>.*?</\1>|<think(?:ing)?>.*\Z", re.DOTALL | re.IGNORECASE
)
_OPENING = re.compile(r"<answer>", re.IGNORECASE)
_CLOSING = re.compile(r"</\s*answer\s*>", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
_NEGATIVE = ("unsupported", "notsupported", "nonsupported")
_SEPARATED_NEGATIVE = (("not", "supported"), ("non", "supported"), ("un", "supported"))
_ROOT = "support"


def parse_label(text: str) -> str | None:
    """Read the label of a reply.

    The last ``<answer>`` counts, outside of thoughts and rationales; where no tag was written, the
    whole reply may be the label. What stands there must begin with one of the labels and hold no
    further word on support: ``Not Supported``, ``unsupported``, ``**Supported**.``; case, marks
    and line breaks do not matter. Anything else is no label, never a guess.

    Args:
        text: What the model replied.

    Returns:
        ``Supported``, ``Not Supported`` or None.
    """
    own = _THOUGHTS.sub(" ", text)
    openings = list(_OPENING.finditer(own))
    stated = own[openings[-1].end() :] if openings else own
    if openings:
        return _label(_CLOSING.split(stated, maxsplit=1)[0], may_explain=True)
    return _label(stated, may_explain=False)


def read_label(text: str) -> str:
    """Read the label of a reply.

    Raises:
        UnparsableError: If it has none.
    """
    label = parse_label(text)
    if label is None:
        raise UnparsableError(
            f"the reply has no label; expected <answer>{SUPPORTED}</answer> "
            f"or <answer>{NOT_SUPPORTED}</answer>"
        )
    return label


def _label(text: str, *, may_explain: bool) -> str | None:
    words = [word.casefold() for word in _LETTERS.findall(unicodedata.normalize("NFKC", text))]
    label, length = _leading_label(words)
    rest = words[length:]
    if rest and (not may_explain or any(_ROOT in word for word in rest)):
        return None
    return label


def _leading_label(words: list[str]) -> tuple[str | None, int]:
    """Return the label that words begin with, and how many words it takes."""
    if tuple(words[:2]) in _SEPARATED_NEGATIVE:
        return NOT_SUPPORTED, 2
    if words[:1] and words[0] in _NEGATIVE:
        return NOT_SUPPORTED, 1
    if words[:1] == ["supported"]:
        return SUPPORTED, 1
    return None, 0
