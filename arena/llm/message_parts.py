"""The text in a message's content, which may be a text or nested parts of several kinds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from arena.llm.replies import REFUSAL

THOUGHTS = "thoughts"
"""Kind of parts that, like a ``REFUSAL``, are no part of the answer."""
THOUGHTS_FIELDS = ("reasoning_content", "reasoning", "thinking", "thoughts", "reasoning_details")
"""Fields of a message, or of a part, that hold thoughts."""

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_THOUGHTS_PART = re.compile(
    r"thinking|reasoning|thought|summary|analysis|commentary", re.IGNORECASE
)
_TEXT_NAMES = ("text", "content", "parts", "value", "output_text")
_PART_TYPES = re.compile(r"(?:output_|input_)?text|(?:redacted_)?thinking|reasoning|refusal")


def storable_text(value: object) -> str | None:
    """Return a text with U+FFFD for what no store can keep; None for anything else."""
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else None


def parts_of_json(content: object) -> object:
    """Return the parts of which a content is the JSON text; any other content as it is."""
    if not isinstance(content, str) or not content.lstrip().startswith("[{"):
        return content
    try:
        parts = json.loads(content)
    except (ValueError, RecursionError):
        return content
    for part in parts:
        type_name = part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(type_name, str) or not _PART_TYPES.fullmatch(type_name):
            return content
    return parts


def joined_text(content: object, kind: str | None = None) -> str | None:
    """Join the texts of parts of one kind, by default of the answer; None if there are none."""
    if content is None or isinstance(content, str):
        return None
    deepest_part = 5
    texts = list(_texts(content, kind, deepest_part))
    return storable_text("".join(texts)) if texts else None


def _texts(content: object, kind: str | None, depth: int) -> Iterator[str]:
    """Yield the texts of parts: of the answer (None), of thoughts, or of a refusal."""
    if isinstance(content, str):
        if kind is None:
            yield content
        return
    if depth == 0:
        return
    if isinstance(content, list):
        for part in content:
            yield from _texts(part, kind, depth - 1)
        return
    if not isinstance(content, Mapping):
        return
    type_name = content.get("type")
    type_name = type_name if isinstance(type_name, str) else ""
    kinds = f"{type_name} {content.get('channel', '')}"
    part_kind = None
    if content.get("thought") is True or _THOUGHTS_PART.search(kinds):
        part_kind = THOUGHTS
    elif type_name == REFUSAL:
        part_kind = REFUSAL
    for name in (*_TEXT_NAMES, *THOUGHTS_FIELDS, REFUSAL):
        inner = content.get(name)
        if inner is None:
            continue
        if name in THOUGHTS_FIELDS:
            part_kind = THOUGHTS
        elif name == REFUSAL:
            part_kind = REFUSAL
        if part_kind is None:
            yield from _texts(inner, kind, depth - 1)
        elif kind == part_kind:
            yield from _texts(inner, None, depth - 1)
        return
