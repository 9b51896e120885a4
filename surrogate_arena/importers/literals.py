"""Objects as Python, numpy and pandas print them, read back without running anything.

A list that numpy prints has no commas (``['a' 'b']``). Python itself would join the two texts, so
its own parser must not be used: here adjacent values in a list are elements of it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from arena.data.files import MOST_LEVELS

MOST_PRINTED = 5_000_000
"""Maximum length of a printed object, in characters."""

_QUOTED = r"""'(?:[^'\\\n]++|\\.)*+'|"(?:[^"\\\n]++|\\.)*+\""""
_TOKEN = re.compile(
    rf"""
      (?P<enumeration><[A-Za-z_][\w.]*:\s*(?P<member>{_QUOTED}|-?\d+)>)
    | (?P<missing><NA>)
    | (?P<type><class\ '[^'<>\n]*'>)
    | (?P<text>[bBuU]?(?:{_QUOTED}))
    | (?P<number>[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|(?:inf|Infinity|nan)\b)(?!\w))
    | (?P<name>[A-Za-z_][\w.]*)
    | (?P<mark>\.\.\.|[\[\](){{}},:=])
    """,
    re.VERBOSE | re.DOTALL,
)
_SPACE = re.compile(r"\s*")
_OBJECT_ADDRESS = re.compile(r"<[^<>]* at 0x[0-9A-Fa-f]+>")
_CONSTANTS = {
    "None": None,
    "null": None,
    "NaT": None,
    "nan": None,
    "NaN": None,
    "True": True,
    "true": True,
    "False": False,
    "false": False,
}
_ARRAY = re.compile(
    r"<?\w*Array>?\s*\n\s*(?P<items>\[.*\])\s*\n\s*Length: (?P<length>\d+), dtype: [^\n]*",
    re.DOTALL,
)
"""An array of pandas, such as ``<StringArray>``."""
_CLOSING = {"[": "]", "(": ")", "{": "}"}


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def parsed_literal(text: str) -> Any:  # noqa: ANN401 - whatever was printed
    """Read an object that Python, numpy or pandas printed.

    Args:
        text: A list, tuple, set, dictionary, text, number or constant; ``array([...])`` and other
            constructors, whose only positional argument stands for the whole; or one with keyword
            arguments, such as ``Document(page_content='...')`` or ``page_content='...'`` alone,
            which is a record.

    Returns:
        Lists (also for tuples and sets), dictionaries, texts, numbers, truth values; None for
        ``None``, ``nan``, ``NaT`` and ``<NA>``. Several records without a constructor are a list.

    Raises:
        ValueError: If it is something else, was cut short, is too long or nested too deep. The
            message is a clause that says what is wrong.
    """
    if len(text) > MOST_PRINTED:
        raise ValueError(f"is longer than the {MOST_PRINTED:,} characters read of a printed list")
    array = _ARRAY.fullmatch(text.strip())
    if array is None:
        return _Parser(text).whole()
    items = _Parser(array["items"]).whole()
    if len(items) != int(array["length"]):
        raise ValueError(f"holds {len(items)} items of an array of {array['length']}")
    return items


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._level = 0
        self._next = self._read_token()

    def whole(self) -> Any:  # noqa: ANN401
        value = self._fields_alone() if self._is_keyword() else self._value()
        if self._next.kind != "end":
            self._refuse()
        return value

    def _read_token(self) -> _Token:
        start = _SPACE.match(self._text, self._position).end()  # type: ignore[union-attr]
        if start == len(self._text):
            return _Token("end", "", start, start)
        match = _TOKEN.match(self._text, start)
        if match is None:
            if _OBJECT_ADDRESS.match(self._text, start):
                raise ValueError("holds an object of Python of which only the address was printed")
            raise ValueError(f"is no list that can be read, from character {start + 1} on")
        kind = match.lastgroup or ""
        if match["enumeration"]:
            return _Token("member", match["member"], start, match.end())
        return _Token(kind, match[0], start, match.end())

    def _advance(self) -> _Token:
        token = self._next
        self._position = token.end
        self._next = self._read_token()
        return token

    def _refuse(self) -> NoReturn:
        if self._next.text == "...":
            raise ValueError("was cut short where it was printed ('...')")
        if self._next.kind == "end":
            raise ValueError("is a list that was cut short: it does not end")
        raise ValueError(f"is no list that can be read, from character {self._next.start + 1} on")

    def _take(self, mark: str) -> _Token:
        if self._next.text != mark or self._next.kind != "mark":
            self._refuse()
        return self._advance()

    def _is_mark(self, mark: str) -> bool:
        return self._next.kind == "mark" and self._next.text == mark

    def _is_keyword(self) -> bool:
        if self._next.kind != "name":
            return False
        after = _SPACE.match(self._text, self._next.end).end()  # type: ignore[union-attr]
        return self._text[after : after + 1] == "="

    def _value(self) -> Any:  # noqa: ANN401
        self._level += 1
        if self._level > MOST_LEVELS:
            raise ValueError(f"is nested deeper than {MOST_LEVELS} levels")
        value = self._inner_value()
        self._level -= 1
        return value

    def _inner_value(self) -> Any:  # noqa: ANN401
        token = self._next
        if token.kind == "text":
            return _decoded_text(self._advance().text)
        if token.kind == "number":
            return _decoded_number(self._advance().text)
        if token.kind == "member":
            return ast.literal_eval(self._advance().text)
        if token.kind in ("missing", "type"):
            self._advance()
            return None
        if token.kind == "name":
            return self._named()
        if token.text == "[":
            return self._list()
        if token.text == "(":
            return self._separated("(")
        if token.text == "{":
            return self._braces()
        return self._refuse()

    def _list(self) -> list[Any]:
        """Read a list, with or without commas between its elements: numpy prints none."""
        self._take("[")
        items: list[Any] = []
        end_of_value = -1
        while not self._is_mark("]"):
            if self._next.start == end_of_value:
                # Two texts without a space between them are one text with a quote in it.
                self._refuse()
            items.append(self._value())
            end_of_value = self._position
            if self._is_mark(","):
                self._advance()
                end_of_value = -1
        self._take("]")
        return items

    def _separated(self, opening: str) -> list[Any]:
        """Read values between marks, which commas separate."""
        self._take(opening)
        closing = _CLOSING[opening]
        items: list[Any] = []
        while not self._is_mark(closing):
            items.append(self._value())
            if not self._is_mark(closing):
                self._take(",")
        self._take(closing)
        return items

    def _braces(self) -> Any:  # noqa: ANN401
        """Read a dictionary or a set."""
        self._take("{")
        if self._is_mark("}"):
            self._advance()
            return {}
        keys: list[Any] = []
        values: list[Any] = []
        is_dictionary = False
        while not self._is_mark("}"):
            keys.append(self._value())
            if len(keys) == 1:
                is_dictionary = self._is_mark(":")
            if is_dictionary:
                self._take(":")
                values.append(self._value())
            if not self._is_mark("}"):
                self._take(",")
        self._take("}")
        if not is_dictionary:
            return keys
        return {str(key): value for key, value in zip(keys, values, strict=True)}

    def _named(self) -> Any:  # noqa: ANN401
        """Read a constant, or the arguments of a constructor."""
        if self._next.text in _CONSTANTS:
            return _CONSTANTS[self._advance().text]
        after = self._next.end
        constructor = self._next.text.rpartition(".")[2]
        if self._text[after : after + 1] != "(":
            self._refuse()
        self._advance()
        self._take("(")
        positional: list[Any] = []
        fields: dict[str, Any] = {}
        while not self._is_mark(")"):
            if self._is_keyword():
                name, value = self._field()
                fields[name] = value
            else:
                positional.append(self._value())
            if self._is_mark(","):
                self._advance()
            elif not self._is_mark(")") and not self._is_keyword():
                self._refuse()
        self._take(")")
        if not positional:
            return fields or []
        if constructor == "defaultdict":
            return positional[-1]
        # Python prints these as lists of pairs of a key and a value.
        is_pairs = constructor in ("OrderedDict", "odict_items", "dict_items")
        if is_pairs and len(positional) == 1:
            return _dictionary_of(positional[0])
        return positional[0] if len(positional) == 1 else positional

    def _field(self) -> tuple[str, Any]:
        name = self._advance().text
        self._take("=")
        # Their value may be a bare name, as in dtype=object.
        if name in ("dtype", "tzinfo") and self._next.kind == "name":
            return name, self._advance().text
        return name, self._value()

    def _fields_alone(self) -> Any:  # noqa: ANN401
        """Read the fields of records without their constructors, as ``str`` prints some."""
        records: list[dict[str, Any]] = [{}]
        while self._is_keyword():
            name, value = self._field()
            if name in records[-1]:
                records.append({})
            records[-1][name] = value
            if self._is_mark(","):
                self._advance()
        return records[0] if len(records) == 1 else records


def _dictionary_of(pairs: Any) -> Any:  # noqa: ANN401
    """Return the dictionary of a list of pairs; anything else unchanged."""
    if not isinstance(pairs, list):
        return pairs
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise ValueError("is a dictionary whose pairs cannot be read")
    return {str(key): value for key, value in pairs}


def _decoded_text(literal: str) -> str:
    try:
        value = ast.literal_eval(literal)
        return value.decode() if isinstance(value, bytes) else str(value)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise ValueError(f"holds a text that cannot be read ({error})") from None


def _decoded_number(text: str) -> float | int | None:
    try:
        return int(text)
    except ValueError:
        number = float(text)
    return None if number != number else number


_HAYSTACK_CUT = 100
_HAYSTACK_DOCUMENT = re.compile(r"(?:\A|(?<=, ))Document\(id=(?P<id>\w{1,128}), content: '")
_HAYSTACK_FIELDS = ("blob", "meta", "score", "embedding", "sparse_embedding")


def haystack_documents(text: str) -> list[dict[str, str]]:
    """Read documents as Haystack prints them; an empty list if the text is something else.

    Raises:
        ValueError: If a text was cut, as Haystack does after 100 characters.
    """
    inner = text[1:-1].strip() if text.startswith("[") and text.endswith("]") else text
    starts = list(_HAYSTACK_DOCUMENT.finditer(inner))
    if not starts or starts[0].start() > 0:
        return []
    ends = [start.start() for start in starts[1:]] + [len(inner)]
    documents = []
    for start, end in zip(starts, ends, strict=True):
        fields = inner[start.end() : end].rstrip(", ")
        if not fields.endswith(")"):
            return []
        # Haystack escapes no quotes: a text ends before the next field, or with the document.
        places = [fields.find(f"', {name}: ") for name in _HAYSTACK_FIELDS]
        places = [place for place in places if place >= 0]
        if not places and not fields.endswith("')"):
            return []
        content = fields[: min(places, default=len(fields) - len("')"))]
        if len(content) == _HAYSTACK_CUT + len("...") and content.endswith("..."):
            raise ValueError(
                f"was cut after {_HAYSTACK_CUT} characters where Haystack printed it; "
                "export document.content instead"
            )
        documents.append({"passage_id": start["id"], "text": content})
    return documents
