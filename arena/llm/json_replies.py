"""JSON objects in the replies of models: as JSON asks for them, or as models write them.

Models put JSON in code blocks and prose, break lines inside texts, comment, leave commas behind,
write ``None`` for ``null`` or escape what needs no escape. Such objects are repaired. What would
have to be guessed (an object that was cut off, two values for one key, ``"score": 4 or 5``) is
not read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from json_repair import repair_json

MOST_REPAIRED = 100_000
"""Characters of an object beyond which it is read only if it is JSON."""
MOST_STARTS = 100
"""Braces of prose that are tried as the start of an object."""

_QUOTES = {'"': '"', "“": '”“"', "„": '”“"', "'": "'", "‘": "’‘'"}
"""Marks that begin a text, and those that may end it."""
_SPACE = re.compile(r"\s*")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_BARE = re.compile(r"[^\s{}\[\],:\"“”„'‘’#/`]+|/(?![/*])")
_OBJECT_START = re.compile(r"\{\s*(?:[\"“„'‘}]|//|/\*|#|(?P<key>\w{1,80}\s*:))")
_TAIL_OF_REPLY = re.compile(r"\s*(?:```\s*)?\Z")
_CHOICE = re.compile(r"\s*(?:or|/|\|)\s*", re.IGNORECASE)
_NOT_IN_A_KEY = re.compile(r"[\W_]+")
_WORD_BEGINS = re.compile(r"(?<=[a-z])(?=[A-Z\d])")
_CODE_MARK = "```"
_CODE_BLOCK = re.compile(r"\A```\w{0,10}\s*(.*?)\s*```\Z", re.DOTALL)
_MOST_ENCODINGS = 3
"""How often an object may have been encoded as a JSON text."""
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?|true|false|null|none", re.IGNORECASE)
_OPENING = {"{": "}", "[": "]"}
_TEXT, _WORD, _MARK = "text", "word", "mark"


@dataclass(frozen=True, slots=True)
class _Token:
    """A text in quotes, a bare word, or one of the marks that JSON is built of."""

    kind: str
    text: str
    end: int


class JsonReplyError(ValueError):
    """A reply that holds no readable object with the fields asked for; the message says why."""


def last_json_object(text: str, fields: Collection[str], is_whole: bool) -> dict[str, Any]:
    """Return the last JSON object of a reply that has one of the fields asked for.

    Objects inside of others, or inside of their texts, are parts of these. Of each, JSON as it is
    defined is tried first, then the repairs that leave no doubt about what is meant: line breaks
    and tabs in texts, comments, commas before a closing brace, backslashes that escape nothing,
    single or curly quotes, Python's literals, keys without quotes.

    Args:
        text: The reply, without thoughts.
        fields: Names, as ``with_plain_keys`` writes them; objects without any are skipped.
        is_whole: Whether the model ended the reply itself. The last object may then lack its
            closing braces; the end of a reply that was cut off is not completed.

    Returns:
        The object, with plain keys.

    Raises:
        JsonReplyError: If there is no such object, if the reply offers a choice of objects (``{…}
            or {…}``), or if a later object, which may be the one that counts, is malformed.
    """
    text = _without_quotes(text)
    last: dict[str, Any] | JsonReplyError | None = None
    last_end = 0
    for value, start, end in _objects(text, is_whole):
        if isinstance(value, JsonReplyError):
            last = value
            last_end = end
            continue
        record = with_plain_keys(value)
        if len(record) == 1 and record.keys().isdisjoint(fields):
            (inner,) = record.values()
            if isinstance(inner, dict):
                record = with_plain_keys(inner)  # the reply names the object
        if record.keys().isdisjoint(fields):
            continue
        is_choice = last is not None and _CHOICE.fullmatch(text, last_end, start)
        last = record
        if is_choice:
            last = JsonReplyError("the reply leaves a choice between JSON objects")
        last_end = end
    if last is None:
        raise JsonReplyError(f"the reply holds no JSON object with {' or '.join(fields)}")
    if isinstance(last, JsonReplyError):
        raise last
    return last


def json_list(text: str, name: str) -> list[Any] | None:
    """Return the JSON list that a reply is, in a code block or under a name or not; else None."""
    text = _without_quotes(text).strip()
    if not text.endswith(("]", "}", _CODE_MARK)):
        return None
    text = _CODE_BLOCK.sub(r"\1", text)
    try:
        value = json.loads(text, strict=False, object_pairs_hook=_without_contradiction)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, Mapping):
        value = with_plain_keys(value).get(name)
    return value if isinstance(value, list) else None


def _without_quotes(text: str) -> str:
    """Return what a reply holds that is one JSON text, as where an object was encoded twice."""
    for _ in range(_MOST_ENCODINGS):
        stripped = _CODE_BLOCK.sub(r"\1", text.strip())
        if not stripped.startswith('"'):
            break
        try:
            decoded = json.loads(stripped, strict=False)
        except ValueError:
            break
        if not isinstance(decoded, str):
            break
        text = decoded
    return text


def with_plain_keys(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with its keys in lower case, and underscores between their words."""
    plain = {}
    for key, part in value.items():
        words = _WORD_BEGINS.sub("_", str(key)).casefold()
        plain[_NOT_IN_A_KEY.sub("_", words)] = part
    return plain


def _objects(
    text: str, is_whole: bool
) -> Iterator[tuple[dict[str, Any] | JsonReplyError, int, int]]:
    """Yield each object, or the error of one that cannot be read, with its start and end."""
    starts = 0
    opening = _OBJECT_START.search(text)
    while opening is not None and starts < MOST_STARTS:
        starts += 1
        start = opening.start()
        end, closing = _end_of_object(text, start)
        if not closing:
            yield _read_object(text[start:end]), start, end
            opening = _OBJECT_START.search(text, end)
        elif opening["key"] is not None:  # prose in braces, rather than an object
            opening = _OBJECT_START.search(text, start + 1)
        else:
            # Objects inside of one that did not end are parts of it: stop here.
            if is_whole and _is_complete(text, start, end):
                yield _read_object(text[start:end] + closing), start, end
            else:
                yield JsonReplyError("the JSON object of the reply is cut off"), start, end
            return


def _tokens(text: str, position: int) -> Iterator[_Token]:
    """Split what looks like JSON into tokens, without spaces and comments.

    A quotation mark ends a text only if valid JSON could follow it, so quotation marks inside a
    text need no backslash.
    """
    while True:
        position = _after_comments(text, position)
        if position >= len(text) or text.startswith(_CODE_MARK, position):
            return
        mark = text[position]
        if mark in _QUOTES:
            end = _end_of_text(text, position + 1, _QUOTES[mark])
            if end is None:
                return
            yield _Token(_TEXT, text[position:end], end)
        elif word := _BARE.match(text, position):
            end = word.end()
            yield _Token(_WORD, word[0], end)
        else:
            end = position + 1
            yield _Token(_MARK, mark, end)
        position = end


def _after_comments(text: str, position: int) -> int:
    while True:
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
        comment = _COMMENT.match(text, position)
        if comment is None:
            return position
        position = comment.end()


def _end_of_text(text: str, position: int, closing: str) -> int | None:
    """Return the position behind the closing mark of a text; None if there is none."""
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 2
            continue
        position += 1
        if character in closing and _may_end(text, position):
            return position
    return None


def _may_end(text: str, position: int) -> bool:
    """Return whether valid JSON could follow a quotation mark."""
    following = _SPACE.match(text, position).end()  # type: ignore[union-attr]
    if following >= len(text) or text[following] in ",:}]" or _COMMENT.match(text, following):
        return True
    # A comma was forgotten at the end of a line.
    return "\n" in text[position:following] and text[following] in _QUOTES


def _end_of_object(text: str, start: int) -> tuple[int, str]:
    """Return the end of the object that begins here, and the braces that it lacks."""
    try:
        return json.JSONDecoder().raw_decode(text, start)[1], ""
    except (ValueError, RecursionError):
        pass
    open_ones: list[str] = []
    end = start
    for token in _tokens(text[: start + MOST_REPAIRED], start):
        end = token.end
        if token.kind != _MARK:
            continue
        if token.text in _OPENING:
            open_ones.append(_OPENING[token.text])
        elif token.text in _OPENING.values():
            if open_ones.pop() != token.text:
                return end, "".join(reversed([*open_ones, token.text]))
            if not open_ones:
                return end, ""
    return end, "".join(reversed(open_ones))


def _is_complete(text: str, start: int, end: int) -> bool:
    """Return whether an object lacks nothing but closing braces at the end of the reply."""
    if _TAIL_OF_REPLY.match(text, end) is None:
        return False
    last, before = _Token(_MARK, "{", start), _Token(_MARK, "{", start)
    for token in _tokens(text, start):
        before, last = last, token
        if token.end >= end:
            break
    if last.kind == _MARK:
        return last.text in "}]"
    # A number or a word at the very end may be the beginning of a longer one.
    is_ended = last.kind == _TEXT or (end < len(text) and _SCALAR.fullmatch(last.text) is not None)
    return is_ended and before.kind == _MARK and before.text in ":["


def _read_object(source: str) -> dict[str, Any] | JsonReplyError:
    """Read one object, or say why it cannot be read."""
    try:
        try:
            # Not strict: models write line breaks and tabs into texts as they are.
            value = json.loads(source, strict=False, object_pairs_hook=_without_contradiction)
        except json.JSONDecodeError:
            value = _repaired(source)
    except JsonReplyError as error:
        return error
    except (ValueError, RecursionError) as error:
        return JsonReplyError(f"the JSON object of the reply cannot be read ({error})")
    if not isinstance(value, dict):
        return JsonReplyError("the JSON of the reply is no object")
    return value


def _without_contradiction(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, part in pairs:
        if key in value and value[key] != part:
            raise JsonReplyError(f"the JSON object of the reply has two values for {key[:40]!r}")
        value[key] = part
    return value


def _repaired(source: str) -> object:
    """Repair an object, if nothing in it has to be guessed; else a ValueError."""
    if len(source) > MOST_REPAIRED:
        raise JsonReplyError(f"the reply is no JSON, and too long to repair ({len(source)})")
    tokens = list(_tokens(source, 0))
    _refuse_doubtful_values(tokens)
    value = repair_json(source, return_objects=True, skip_json_loads=True, strict=True)
    if isinstance(value, dict):
        _refuse_lost_keys(tokens, value)
    return value


def _refuse_doubtful_values(tokens: list[_Token]) -> None:
    """Refuse a value of several bare words, such as ``4 or 5``: a repair would take the first."""
    for first, second in pairwise(tokens):
        if first.kind == _WORD and second.kind == _WORD:
            shown = f"{first.text} {second.text}"[:40]
            raise JsonReplyError(f"the JSON object of the reply has no single value at {shown!r}")


def _refuse_lost_keys(tokens: list[_Token], value: Mapping[str, Any]) -> None:
    """Refuse an object some of whose keys are gone, because they stood there twice."""
    written: Counter[str] = Counter()
    for token, following in pairwise(tokens):
        if token.kind != _MARK and following.text == ":" and following.kind == _MARK:
            written[token.text.strip("\"'“”„‘’")] += 1
    if sum(written.values()) != _count_keys(value):
        raise JsonReplyError("a key appears twice in the JSON object of the reply")


def _count_keys(value: object) -> int:
    if isinstance(value, Mapping):
        return len(value) + sum(map(_count_keys, value.values()))
    if isinstance(value, list):
        return sum(map(_count_keys, value))
    return 0
