"""Values of cells and fields: numbers, ids, and lists or records that were written as text.

Programs write lists and records into cells as JSON, or as Python, numpy and pandas print them;
often twice. Every table and every tool's export is read by the functions here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from arena.data.cells import finite_number, is_null, is_unstorable, whole_digits
from arena.data.files import MOST_LEVELS, parsed_json
from surrogate_arena.importers.literals import parsed_literal

MISSING_WORDS = frozenset(
    {"", "none", "nan", "-nan", "null", "nat", "<na>", "n/a", "#n/a", "#n/a n/a", "na"}
)
"""What programs write for missing values, in lower case."""
REPLY_TEXTS = (
    "content",
    "answer",
    "response",
    "result",
    "output",
    "output_text",
    "text",
    "reply",
    "generated_text",
    "completion",
)
"""Fields that hold the text of a reply in the objects of programs; the first with a value."""

# A cheap look at the first characters, before any parser: most cells are prose.
_OPENS_VALUE = re.compile(r"""\s*(?:[\[{("']|[A-Za-z_][\w.]*\s*[(=])""")
_COLLECTIONS = (
    r"(?:array|deque|set|frozenset|list|tuple|mappingproxy|namespace|defaultdict|OrderedDict"
    r"|o?dict_(?:values|keys|items))"
)
# Only capitalized names and these collections: "see(below)" is prose.
_CONSTRUCTOR = re.compile(rf"(?:[A-Za-z_]\w*\.)*(?:{_COLLECTIONS}|[A-Z]\w*)\(")
_FIELD_NAMES = r"(?:page_content|pageContent|metadata|id_?|text|node)"
_MESSAGE = r"content=['\"\[]"
_FIELD = re.compile(rf"{_FIELD_NAMES}\s*=\s*['\"\[{{]|{_MESSAGE}")
_ARRAY = re.compile(r"<?\w*Array>?\s*\n\s*\[")
_REPLY_HOLDERS = ("choices", "message", "generations")
_REPLY_LEVELS = 6
_PRINTED_REPLY = re.compile(
    rf"""
    \s*(?:
      content=['"\[].*\s(?:additional_kwargs|response_metadata)=
    | (?:[A-Za-z_]\w*\.)*[A-Z]\w*\(\s*(?:{"|".join((*REPLY_TEXTS, "id", "choices"))})=
    | \[?\{{'(?:{"|".join(REPLY_TEXTS)}|query|question|input)':\s
    )
    """,
    re.VERBOSE | re.DOTALL,
)

_DECIMAL_COMMA = re.compile(r"[-+]?(?:0?,[0-9]+|[0-9]+,(?:[0-9]{1,2}|[0-9]{4,}))")

_PRINTED_TABLE = re.compile(
    r"""
      shape:\s\(\d+,.*                                 # of polars
    | .*\n(?:Name:\s[^\n]*,\s|Length:\s\d+,\s)*dtype:\s[^\n]*   # a series of pandas
    | [^\n]*\n0[ ]{2}[^\n]*(?:\n(?:\d+|\.+)[ ]{2}[^\n]*)*(?:\n+\[\d+\srows\sx[^\n]*)?
    """,
    re.VERBOSE | re.DOTALL,
)
"""A table as programs show it, with texts cut and padded."""
_LOOKS_PRINTED = re.compile(
    rf"""
      \[\s*(?:['"\[{{(\]<]|(?:None|null|nan|NaN)\b|(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*\()
    | \{{\s*['"}}]
    | \(\s*['"\[{{].*\)\Z
    | ['"]\s*[\[{{]\s*[\\'"{{\[\]}}]
    | (?:[A-Za-z_]\w*\.)*{_COLLECTIONS}\(\s*[\[({{<]
    | {_ARRAY.pattern}
    | {_MESSAGE}
    | (?:[A-Za-z_]\w*\.)*[A-Z]\w*\(\s*{_FIELD_NAMES}\s*[=:]
    | {_FIELD_NAMES}\s*=\s*['"{{]
    """,
    re.VERBOSE | re.DOTALL,
)
_ENCLOSED_LIST = re.compile(r"\[[^\[\]]*,[^\[\]]*\]|\{[^{}]*,[^{}]*\}", re.DOTALL)
_OBJECT_ADDRESS = re.compile(r"<[^<>]* at 0x[0-9A-Fa-f]+>")


def is_missing_cell(value: object) -> bool:
    """Return whether a cell is missing: None, NaN, an empty text, or a word for it."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING_WORDS
    return is_null(value)


def name_text(value: object) -> object:
    """Write a number as the name or id it is: 4 and 4.0 are ``4``, 3.5 is ``3.5``.

    Returns:
        The text; anything but a number unchanged.
    """
    digits = whole_digits(value)
    if digits is not None:
        return digits
    if isinstance(value, str):
        return value
    number = read_number(value)
    return value if number is None else str(number)


def decoded(value: object) -> object:
    """Open lists and records that were written as text, at any depth.

    Args:
        value: The value of a cell or field.

    Returns:
        The value, with each text in it replaced by the list or record that it holds: JSON (also
        quoted again), or what Python, numpy or pandas print. Any other text stays.
    """
    return _decoded(value, MOST_LEVELS)


def _decoded(value: object, levels: int) -> object:
    if levels == 0:
        return value
    if isinstance(value, str):
        opened = opened_text(value)
        return value if opened is None else _decoded(opened, levels - 1)
    if isinstance(value, Mapping):
        return {name: _decoded(inner, levels - 1) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_decoded(inner, levels - 1) for inner in value]
    return value


def opened_text(text: str) -> list[Any] | dict[str, Any] | None:
    """Return the list or record that a text holds, or None if it holds none that can be read."""
    try:
        return parsed_text(text.strip(), levels=MOST_LEVELS)
    except ValueError:
        return None


def parsed_text(text: str, levels: int) -> list[Any] | dict[str, Any] | None:
    """Return the list or record that a text holds; None if it does not look like one.

    Raises:
        ValueError: If it begins as one, and cannot be read.
    """
    if levels == 0:
        raise ValueError(f"is nested deeper than {MOST_LEVELS} levels")
    if not _OPENS_VALUE.match(text) and not _ARRAY.match(text):
        return None
    value: object = None
    if text[0] in '[{"':
        with suppress(ValueError):
            value = parsed_json(text)
    if value is None:
        if not _looks_like_literal(text):
            return None
        value = parsed_literal(text)
    if isinstance(value, str):  # quoted again
        return parsed_text(value.strip(), levels - 1)
    return value if isinstance(value, list | dict) else None


def _looks_like_literal(text: str) -> bool:
    if text[0] in "[{('\"":
        return True
    return any(pattern.match(text) for pattern in (_CONSTRUCTOR, _FIELD, _ARRAY))


def looks_like_reply(text: str) -> bool:
    """Return whether a text is a program's object around a reply, as Python prints it."""
    return _PRINTED_REPLY.match(text) is not None


def text_of_reply(text: str) -> str | None:
    """Return the text of a reply that was stored as the object around it.

    Args:
        text: Such as ``content='So.' additional_kwargs={}``, ``AIMessage(content='So.')`` or
            ``{'result': 'So.', 'source_documents': []}``, as Python prints them.

    Returns:
        The value of one of ``REPLY_TEXTS``; None if the text is no such object.
    """
    if not looks_like_reply(text):
        return None
    return _reply_in(opened_text(text), levels=_REPLY_LEVELS)


def _reply_in(value: object, levels: int) -> str | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, Mapping) or levels == 0:
        return None
    for name in REPLY_TEXTS:
        text = content_text(value.get(name))
        if text is not None:
            return text
    for name in _REPLY_HOLDERS:
        text = _reply_in(value.get(name), levels - 1)
        if text is not None:
            return text
    return None


def content_text(value: object) -> str | None:
    """Return a text, or that of its parts (``[{"type": "text", "text": ...}]``); else None."""
    if isinstance(value, str):
        return value
    parts = [value] if isinstance(value, Mapping) else value
    if not isinstance(parts, list) or not parts:
        return None
    texts = []
    for part in parts:
        text = part.get("text") if isinstance(part, Mapping) else None
        # An image or a call beside the text: the parts are no text as a whole.
        if not isinstance(text, str):
            return None
        texts.append(text)
    return "\n".join(texts)


def read_number(value: object) -> float | None:
    """Return the finite number that a cell holds, as ``finite_number`` does, also with a comma.

    A decimal comma is accepted, but not before three digits, where it may separate thousands.
    """
    if isinstance(value, str) and has_decimal_comma(value):
        value = value.replace(",", ".")
    return finite_number(value)


def has_decimal_comma(text: str) -> bool:
    """Return whether a text is a number whose comma can only separate decimals."""
    return _DECIMAL_COMMA.fullmatch(text.strip()) is not None


def id_text(value: object) -> str:
    """Write an id as a text: a whole number in digits, anything else as Python does."""
    return whole_digits(value) or str(value)


def storable(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return a value with U+FFFD for each half of a surrogate pair, at any depth."""
    if isinstance(value, str):
        if not is_unstorable(value):
            return value
        # Whole pairs survive the way through UTF-16; lone halves become U+FFFD.
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {storable(name): storable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [storable(inner) for inner in value]
    return value


def looks_printed(text: str, is_cell: bool) -> bool:
    """Return whether a text was meant as a list or record.

    Inside a parsed list, text that only begins like a list or record remains text.
    """
    if _OBJECT_ADDRESS.fullmatch(text):
        return True
    if _LOOKS_PRINTED.match(text):
        return is_cell or text[-1:] in "])}"
    return is_cell and _ENCLOSED_LIST.fullmatch(text) is not None


def shows_table(text: str) -> bool:
    """Return whether a text is a table as pandas or polars shows it, which may cut its texts."""
    return _PRINTED_TABLE.fullmatch(text) is not None and _ARRAY.match(text) is None
