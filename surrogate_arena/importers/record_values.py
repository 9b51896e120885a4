"""Values in the records of other programs: what a path leads to, and its text, turns or number.

Programs log calls in many manners: plain texts, messages, parts of messages, completions,
arguments of functions; and each of them again as JSON text, at any level.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from surrogate_arena.importers.values import number_of, opened_or_same

USER = ("user", "human")
ASSISTANT = ("assistant", "ai", "model", "chatbot", "agent", "gpt")

_OTHER_ROLES = ("system", "developer", "tool", "function")
_ROLES = frozenset({*USER, *ASSISTANT, *_OTHER_ROLES})
_LEVELS = 8

_MOST_OPENED = 256
# The paths of several fields lead through the same JSON text of a record.


@lru_cache(maxsize=_MOST_OPENED)
def _opened_text(text: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    # Programs quote JSON again, also several times.
    return opened_or_same(unquoted(text))


def opened_value(value: object) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the list or record that a value is, or that its text holds; else the value."""
    if not isinstance(value, str):
        return value
    return _opened_text(value)


def opened_list(value: object) -> list[Any]:
    """Return the list that a value is, or that its text holds; else an empty one."""
    inside = opened_value(value)
    return inside if isinstance(inside, list) else []


def opened_record(value: object) -> Mapping[str, Any]:
    """Return the record that a value is, or that its text holds; else an empty one."""
    inside = opened_value(value)
    return inside if isinstance(inside, Mapping) else {}


_INDEX = re.compile(r"-?\d+")


def at(record: object, path: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value at a path such as ``vars.question`` or ``messages.-1.content``, or None.

    Names may hold dots themselves, as the columns ``inputs.question`` of a table do. A number is a
    place in a list, counted from 0, or from the end where it is negative. Lists and records that
    are written as JSON text are opened on the way.
    """
    inside = opened_value(record)
    if isinstance(inside, list):
        return _at_index(inside, path)
    if not isinstance(inside, dict):
        return None
    if path in inside:
        return inside[path]
    # A name may end at any of the dots: the shortest name that leads to a value counts.
    end = path.find(".")
    while end > 0:
        name = path[:end]
        if name in inside:
            value = at(inside[name], path[end + 1 :])
            if value is not None:
                return value
        end = path.find(".", end + 1)
    return None


def _at_index(items: list[Any], path: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    first, _, rest = path.partition(".")
    if not _INDEX.fullmatch(first):
        return None
    index = int(first)
    if not -len(items) <= index < len(items):
        return None
    return at(items[index], rest) if rest else items[index]


def first_at(record: Mapping[str, Any], paths: Iterable[str]) -> Any:  # noqa: ANN401 - of JSON
    """Return the first value at one of some paths that is neither None nor an empty text."""
    for path in paths:
        value = at(record, path)
        if value not in (None, ""):
            return value
    return None


_BRACKETS = re.compile(r"\[(-?\d+)\]")


def dotted(path: str) -> str:
    """Return a path with its places in lists as names: ``args.0`` of ``args[0]``."""
    return _BRACKETS.sub(r".\1", path).lstrip(".")


_SHOWN_ITEMS = 2


def paths_of(record: object, levels: int = _LEVELS) -> Iterator[tuple[str, object]]:
    """Yield the paths of a record that hold something, each with its value.

    Lists are yielded themselves, and with the paths of their first items.
    """
    inside = opened_value(record)
    items: Iterable[tuple[object, object]] = ()
    if isinstance(inside, Mapping):
        items = inside.items()
    elif isinstance(inside, list):
        items = enumerate(inside[:_SHOWN_ITEMS])
    for name, value in items if levels else ():
        if value is None:
            continue
        opened = opened_value(value)
        if not isinstance(opened, Mapping) or not opened:
            yield str(name), value
        for path, inner in paths_of(value, levels - 1):
            yield f"{name}.{path}", inner


_INNER = (
    "content",
    "text",
    "parts",
    "messages",
    "kwargs",
    "data",
    "choices",
    "message",
    "generations",
    "candidates",
    "contents",
)
"""Where records of a call hold a text, or what holds it."""
_ALTERNATIVES = frozenset({"choices", "generations", "candidates"})
"""Lists of which the first element is the reply, and others are further tries."""
_LOGS = frozenset({"messages", "choices", "generations", "candidates", "contents", "parts"})
_CALL = frozenset({"args", "kwargs"})
_NO_TEXTS = frozenset(
    {
        "reasoning",
        "thinking",
        "redacted_thinking",
        "tool_call",
        "tool_use",
        "tool_result",
        "tool_call_response",
        "function_call",
    }
)
"""Types of parts that are no words of the one who speaks."""


def text_of(value: object, roles: Sequence[str]) -> str | None:
    """Return the text of a value as programs log it, or None if it holds none.

    Args:
        value: A text; a message or a list of them, of which the last by one of ``roles`` counts;
            parts of a text; a completion with ``choices``; the arguments of a call with one text
            among them; one of these in a record, or as JSON text. A text of any other JSON is the
            text that it is.
        roles: Whose messages count.
    """
    if isinstance(value, str):
        inside = opened_value(value)
        if not isinstance(inside, str) and is_log(inside):
            return text_of(inside, roles)
        return value if value.strip() else None
    if isinstance(value, Mapping):
        return _text_of_record(value, roles)
    if isinstance(value, list):
        return _text_of_list(value, roles)
    return None


def _texts_of(values: Iterable[object], roles: Sequence[str]) -> list[str]:
    """Return the texts of those values that hold one."""
    texts = (text_of(value, roles) for value in values)
    return [text for text in texts if text is not None]


def is_log(value: list[Any] | Mapping[str, Any]) -> bool:
    """Return whether JSON is a log of messages, rather than an answer in JSON."""
    if isinstance(value, Mapping):
        if value.keys() == _CALL or _role(value) is not None:
            return True
        return any(isinstance(value.get(name), list) for name in _LOGS)
    if not value:
        return False
    if _named_pairs(value) is not None:
        return True
    if all(isinstance(element, Mapping) for element in value):
        return all(_role(element) is not None or _is_part(element) for element in value)
    return all(isinstance(element, list) and is_log(element) for element in value)


def _is_part(record: Mapping[str, Any]) -> bool:
    kind = record.get("type")
    has_text = "text" in record or "content" in record
    return isinstance(kind, str) and (has_text or kind in _NO_TEXTS)


def _text_of_record(record: Mapping[str, Any], roles: Sequence[str]) -> str | None:
    if record.keys() == _CALL:
        texts = _texts_of(_arguments(record), roles)
        return texts[0] if len(texts) == 1 else None
    if _role(record) not in (None, *roles) or record.get("thought") is True:
        return None
    kind = record.get("type")
    if isinstance(kind, str) and kind in _NO_TEXTS:
        return None
    for name in _INNER:
        inner = record.get(name)
        if name in _LOGS:
            inner = opened_value(inner)
        if name in _ALTERNATIVES:
            inner = _first_alternative(inner)
        text = text_of(inner, roles)
        if text is not None:
            return text
    if len(record) == 1:
        (only,) = record.values()
        return text_of(only, roles) if isinstance(only, str) else None
    return None


def _arguments(call: Mapping[str, Any]) -> list[Any]:
    """Return the arguments of a call, those by place and those by name."""
    return [*opened_list(call["args"]), *opened_record(call["kwargs"]).values()]


def named_argument(record: Mapping[str, Any], names: Sequence[str]) -> Any:  # noqa: ANN401
    """Return the value that the arguments of a call have under the first of some names.

    Args:
        record: ``args`` and ``kwargs`` of a call; anything else has no arguments.
        names: Names of an argument, or of a field of an argument that is a record.

    Returns:
        The value; None if nothing has one of the names, or several have.
    """
    if record.keys() != _CALL:
        return None
    holders = [opened_record(value) for value in (record["kwargs"], *_arguments(record))]
    for name in names:
        values = [holder[name] for holder in holders if holder.get(name) not in (None, "", [], {})]
        if values:
            return values[0] if len(values) == 1 else None
    return None


def _first_alternative(value: object) -> object:
    """Return the first of a completion's alternatives; of a batch of several prompts nothing."""
    if not isinstance(value, list) or not value:
        return None
    if isinstance(value[0], list):
        return _first_alternative(value[0]) if len(value) == 1 else None
    return value[0]


def _text_of_list(values: list[Any], roles: Sequence[str]) -> str | None:
    messages = _named_pairs(values)
    if messages is not None:
        return _text_of_list(messages, roles)
    if len(values) == 1 and isinstance(values[0], str | list):
        return text_of(values[0], roles)
    records = [element for element in values if isinstance(element, Mapping)]
    if not any(_role(element) is not None for element in records):
        parts = [
            element
            for element in records
            if _is_part(element) or element.keys() <= {"text", "thought"}
        ]
        if parts:
            return "\n".join(_texts_of(parts, roles)) or None
    for element in reversed(records):
        text = text_of(element, roles)
        if text is not None:
            return text
    return None


def _named_pairs(values: list[Any]) -> list[Any] | None:
    """Return pairs such as ``["human", "Why?"]`` as messages, or None if these are no pairs."""
    messages = []
    for element in values:
        is_pair = isinstance(element, list) and len(element) == 2 and isinstance(element[0], str)
        if not is_pair or element[0].lower() not in _ROLES:
            return None
        messages.append({"role": element[0], "content": element[1]})
    return messages or None


def _role(message: Mapping[str, Any]) -> str | None:
    """Return who speaks a message, in lower case; None if it does not say."""
    role = message.get("role", message.get("speaker"))
    if role is None and ("content" in message or "data" in message):
        role = message.get("type")
    constructor = message.get("id")
    if role is None and "kwargs" in message and isinstance(constructor, list) and constructor:
        # LangChain writes the class of a message, such as HumanMessage or AIMessageChunk.
        role = str(constructor[-1]).removesuffix("Chunk").removesuffix("Message")
    if not isinstance(role, str) or role.lower() not in _ROLES:
        return None
    return role.lower()


def messages_of(value: object) -> list[dict[str, str]]:
    """Return the messages of a value, each with its ``role`` and its text as ``content``.

    Args:
        value: A list of messages in any of the manners that ``text_of`` reads, a record that
            holds one, or the arguments of a call with one among them; anything else has none.
    """
    inside = opened_value(value)
    if isinstance(inside, Mapping) and inside.keys() == _CALL:
        return _messages_of_call(inside)
    for name in ("messages", "contents"):
        if isinstance(inside, Mapping) and isinstance(opened_value(inside.get(name)), list):
            inside = opened_value(inside[name])
    while isinstance(inside, list) and len(inside) == 1 and isinstance(inside[0], list):
        if _named_pairs(inside) is not None:
            break
        inside = inside[0]
    if not isinstance(inside, list):
        return []
    messages = []
    for element in _named_pairs(inside) or inside:
        role = _role(element) if isinstance(element, Mapping) else None
        if role is None:
            continue
        text = text_of(element, (role,))
        if text is None and role in _OTHER_ROLES:
            continue
        messages.append({"role": "assistant" if role in ASSISTANT else role, "content": text or ""})
    return messages


def _messages_of_call(call: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the messages of the one argument that has some."""
    logs = []
    for value in map(opened_value, _arguments(call)):
        if isinstance(value, Mapping) and value.keys() == _CALL:
            continue
        messages = messages_of(value)
        if messages:
            logs.append(messages)
    return logs[0] if len(logs) == 1 else []


def unquoted(text: str) -> str:
    """Return the text of a JSON string, also of a string in a string; any other text as it is."""
    for _ in range(_LEVELS):
        stripped = text.strip()
        if len(stripped) < 2 or stripped[0] != '"' or stripped[-1] != '"':
            break
        try:
            inside = json.loads(stripped)
        except ValueError:
            break
        if not isinstance(inside, str) or not inside.strip():
            break
        text = inside
    return text


def with_citations(text: str, numbers: Iterable[object]) -> str:
    """Return a sentence and the numbers of its passages, such as ``It is so. [1][2]``."""
    marks = "".join(f"[{number}]" for number in numbers)
    return f"{text.strip()} {marks}".strip()


_TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def score_of(value: object, words: Mapping[str, float]) -> float | None:
    """Return a score as a number, or None if it is none.

    Args:
        value: A number, a truth value, or a text of either.
        words: Words that are scores, to their numbers.
    """
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        word = value.strip()
        if word in words:
            return words[word]
        if word.lower() in _TRUTH:
            return _TRUTH[word.lower()]
    return number_of(value)
