"""Cells of tables: missing ones, names, numbers, and lists that were written as text."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from shlex import quote
from types import MappingProxyType
from typing import Any

from arena.data.files import parsed_json
from arena.data.rows import finite_number, is_null, is_unstorable, whole_digits

MISSING_WORDS = frozenset({"", "none", "nan", "null", "nat", "<na>", "n/a", "na", "-"})
"""What programs write for missing values, in lower case."""
_DECIMAL_COMMA = re.compile(r"[-+]?(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))")
_PRINTED_ARRAY = re.compile(r"""\[\s*(?:'[^']*'|"[^"]*")(?:\s+(?:'[^']*'|"[^"]*"))+\s*\]""")
"""Texts in brackets without commas between them: an array as numpy prints it."""
_PRINTED_OBJECT = re.compile(
    r"\[?\s*(?:<[^<>]* at 0x[0-9a-f]+>|(?:[A-Za-z_]\w*\.)*[A-Z]\w*\(\s*[a-z_]+\s*=)"
)
"""An object as Python prints it: ``[Document(page_content=...``."""


def is_missing_cell(value: object) -> bool:
    """Return whether a cell is None, NaN, empty, or a word for missing."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING_WORDS
    return is_null(value)


def is_value(value: object) -> bool:
    """Return whether a cell is neither missing nor an empty collection."""
    if isinstance(value, list | dict):
        return bool(value)
    return not is_missing_cell(value) and value not in ("[]", "{}")


def name_text(value: object) -> object:
    """Write the numbers 4 and 4.0 as ``4``, and dates as ISO 8601; anything else is unchanged."""
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, date):
        # Workbooks hold dates as midnights
        return str(value).removesuffix(" 00:00:00")
    digits = whole_digits(value)
    if digits is not None:
        return digits
    number = finite_number(value)
    return value if number is None else str(number)


def id_text(value: object) -> str:
    """Write an id as text: whole numbers in digits, anything else as Python does."""
    return whole_digits(value) or str(value)


def number_of(value: object) -> float | None:
    """Return a cell's number, also with a decimal comma, or as a percentage."""
    if not isinstance(value, str):
        return finite_number(value)
    text = value.strip()
    if text.endswith("%"):
        percent = number_of(text[:-1])
        return None if percent is None else percent / 100
    # Before three digits a comma may separate thousands, but not after a zero.
    if _DECIMAL_COMMA.fullmatch(text):
        text = text.replace(",", ".")
    return finite_number(text)


@cache
def contract() -> Mapping[str, Any]:
    """Return ``names.toml``."""
    text = files(__package__).joinpath("names.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))


def truth_of(value: object) -> float | None:
    """Return a cell's number, or 1 or 0 for true or false, yes or no, pass or fail."""
    number: float | None = contract()["truths"].get(str(value).strip().casefold())
    return number_of(value) if number is None else number


def mark_of(value: object) -> float | None:
    """Return a cell's number, or that of a word, a label such as ``4 - good``, 4/5 or stars."""
    number = truth_of(value)
    if number is not None or not isinstance(value, str):
        return number
    text = value.strip().casefold()
    marks = contract()["marks"]
    if text in marks["words"]:
        return float(marks["words"][text])
    labeled = re.fullmatch(marks["label"], text)
    if labeled is not None:
        return float(labeled["number"]) / float(labeled["highest"] or 1)
    if text.strip(marks["stars"] + marks["no_stars"]):
        return None
    return float(sum(map(text.count, marks["stars"])))


def is_share(value: object) -> bool:
    """Return whether a cell is a score out of a highest one, such as 4/5 or 80%."""
    text = str(value).strip().casefold()
    labeled = re.fullmatch(contract()["marks"]["label"], text)
    return text.endswith("%") or (labeled is not None and labeled["highest"] is not None)


def opened(value: object) -> object:
    """Open a list or record written as text, in JSON or by Python, but no texts in a list."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text.startswith(("[", "{")):
        if _PRINTED_OBJECT.match(text):
            raise ValueError("is an object as Python prints it; write its text instead")
        return value
    try:
        return parsed_json(text)
    except ValueError:
        pass
    if _PRINTED_ARRAY.fullmatch(text):
        raise ValueError(
            "is an array as numpy prints it, in which texts run together; write lists: "
            "table[column] = table[column].map(list)"
        )
    if _PRINTED_OBJECT.match(text):
        raise ValueError("holds objects as Python prints them; write their texts as a JSON list")
    try:
        literal = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    if isinstance(literal, tuple | set):
        return list(literal)
    return literal if isinstance(literal, list | dict) else value


def opened_or_same(value: object) -> object:
    """Open a list or record written as text; anything else is unchanged."""
    try:
        return opened(value)
    except ValueError:
        return value


_PLACE = re.compile(r"\.(-?\d+)(?=\.|$)")


def with_places(path: str) -> str:
    """Return ``args[0]`` for ``args.0``."""
    return _PLACE.sub(r"[\1]", path)


def path_step(name: str) -> str:
    """Return a name as paths write it: quoted, unless it is a word."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else json.dumps(name)


def unquoted(text: str) -> str:
    """Return a JSON string's text, also if quoted twice; other texts unchanged."""
    most_quoted = 8
    for _ in range(most_quoted):
        stripped = text.strip()
        if len(stripped) < 2 or stripped[0] != '"' or stripped[-1] != '"':
            break
        try:
            inside = parsed_json(stripped)
        except ValueError:
            break
        if not isinstance(inside, str) or not inside.strip():
            break
        text = inside
    return text


def first_text(value: object) -> object:
    """Return a list's first text; anything else is unchanged."""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return value[0]
    return value


def short(value: object) -> str:
    """Return a value on one line, cut for a message."""
    most = 60
    text = " ".join(str(value).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def option(name: str, value: str) -> str:
    """Return an option as a shell reads it: ``--column 'answer=Model output'``."""
    return f"--{name} {quote(value)}"


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
