"""What stands at a path of a record, and the text, turns and numbers that it holds.

Programs log calls in many manners: plain texts, messages, parts of messages, completions,
arguments of functions; and each of them again as JSON text, at any level.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from arena.data.cells import finite_number, opened_text

USER = ("user", "human")
ASSISTANT = ("assistant", "ai", "model", "chatbot", "agent", "gpt")

_OTHERS = ("system", "developer", "tool", "function")
_INNER = (
    *("content", "text", "parts", "messages", "kwargs", "data", "choices", "message"),
    *("generations", "candidates", "contents"),
)
"""Where records of a call hold a text, or what holds it."""
_ALTERNATIVES = frozenset({"choices", "generations", "candidates"})
"""Lists of which the first item is the reply, and others are further tries."""
_LOGS = frozenset({"messages", "choices", "generations", "candidates", "contents", "parts"})
_CALL = frozenset({"args", "kwargs"})
_NO_TEXTS = frozenset(
    {"reasoning", "thinking", "redacted_thinking", "tool_call", "tool_use", "tool_result"}
    | {"tool_call_response", "function_call"}
)
"""Types of parts that are no words of the one who speaks."""
_TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
_INDEX = re.compile(r"-?\d+")
_BRACKETS = re.compile(r"\[(-?\d+)\]")
_MOST_OPENED = 256
_SHOWN_ITEMS = 2
_LEVELS = 8


@lru_cache(maxsize=_MOST_OPENED)
def _opened(text: str) -> list[Any] | dict[str, Any] | None:
    return opened_text(text)


def opened_value(value: object) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the list or record that a value is, or holds as text; else the value."""
    if not isinstance(value, str):
        return value
    found = _opened(value)
    return value if found is None else found


def at(record: object, path: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return what stands at a path such as ``vars.question`` or ``messages.-1.content``, or None.

    Names may hold dots themselves, as the columns ``inputs.question`` of a table do. A number is a
    place in a list, counted from 0, or from the end where it is negative. Lists and records that
    are written as JSON text are opened on the way.
    """
    inside = opened_value(record)
    if isinstance(inside, list):
        first, _, rest = path.partition(".")
        if not _INDEX.fullmatch(first):
            return None
        place = int(first)
        if not -len(inside) <= place < len(inside):
            return None
        return at(inside[place], rest) if rest else inside[place]
    if not isinstance(inside, dict):
        return None
    if path in inside:
        return inside[path]
    end = path.find(".")
    while end > 0:
        name = path[:end]
        if name in inside:
            found = at(inside[name], path[end + 1 :])
            if found is not None:
                return found
        end = path.find(".", end + 1)
    return None


def dotted(path: str) -> str:
    """Return a path with its places in lists as names: ``args.0`` of ``args[0]``."""
    return _BRACKETS.sub(r".\1", path).lstrip(".")


def paths_of(record: object, levels: int = _LEVELS) -> Iterator[tuple[str, object]]:
    """Yield the paths of a record that hold something, each with its value.

    Lists are yielded themselves, and with the paths of their first items.
    """
    inside = opened_value(record)
    items: Sequence[tuple[str, object]] = ()
    if isinstance(inside, Mapping):
        items = [(str(name), value) for name, value in inside.items()]
    elif isinstance(inside, list):
        items = [(str(place), value) for place, value in enumerate(inside[:_SHOWN_ITEMS])]
    for name, value in items if levels else ():
        if value is None:
            continue
        held = opened_value(value)
        if not isinstance(held, Mapping) or not held:
            yield name, value
        for path, inner in paths_of(value, levels - 1):
            yield f"{name}.{path}", inner


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
        inside = _opened(value)
        if inside is not None and is_log(inside):
            return text_of(inside, roles)
        return value if value.strip() else None
    if isinstance(value, Mapping):
        return _text_of_record(value, roles)
    if isinstance(value, list):
        return _text_of_list(value, roles)
    return None


def is_log(value: list[Any] | Mapping[str, Any]) -> bool:
    """Tell whether JSON is a log of messages, rather than an answer in JSON."""
    if isinstance(value, list) and _named_pairs(value) is not None:
        return True
    if isinstance(value, list):
        records = [item for item in value if isinstance(item, Mapping)]
        if value and len(records) == len(value):
            return all(_role(item) is not None or _is_part(item) for item in records)
        return bool(value) and all(isinstance(item, list) and is_log(item) for item in value)
    if value.keys() == _CALL or _role(value) is not None:
        return True
    return any(isinstance(value.get(name), list) for name in _LOGS)


def _is_part(record: Mapping[str, Any]) -> bool:
    kind = record.get("type")
    has_text = "text" in record or "content" in record
    return isinstance(kind, str) and (has_text or kind in _NO_TEXTS)


def _text_of_record(record: Mapping[str, Any], roles: Sequence[str]) -> str | None:
    if record.keys() == _CALL:
        return _text_of_call(record, roles)
    if _role(record) not in (None, *roles) or record.get("thought") is True:
        return None
    kind = record.get("type")
    if isinstance(kind, str) and kind in _NO_TEXTS:
        return None
    for name in _INNER:
        inner = opened_value(record.get(name)) if name in _LOGS else record.get(name)
        if name in _ALTERNATIVES:
            inner = _first_alternative(inner)
        text = text_of(inner, roles)
        if text is not None:
            return text
    if len(record) == 1:
        (only,) = record.values()
        return text_of(only, roles) if isinstance(only, str) else None
    return None


def _text_of_call(record: Mapping[str, Any], roles: Sequence[str]) -> str | None:
    """Return the one text among the arguments of a function, or None if there are several."""
    args, kwargs = opened_value(record["args"]), opened_value(record["kwargs"])
    values = list(args) if isinstance(args, list) else []
    values += kwargs.values() if isinstance(kwargs, Mapping) else []
    texts = [text for value in values if (text := text_of(value, roles)) is not None]
    return texts[0] if len(texts) == 1 else None


def named_argument(record: Mapping[str, Any], names: Sequence[str]) -> Any:  # noqa: ANN401
    """Return what the arguments of a call have under the first of some names.

    Args:
        record: ``args`` and ``kwargs`` of a call; anything else has no arguments.
        names: Names of an argument, or of a field of an argument that is a record.

    Returns:
        The value; None if nothing has one of the names, or several have.
    """
    if record.keys() != _CALL:
        return None
    args, kwargs = opened_value(record["args"]), opened_value(record["kwargs"])
    holders = [kwargs, *(kwargs.values() if isinstance(kwargs, Mapping) else ())]
    holders += args if isinstance(args, list) else []
    opened = [opened_value(holder) for holder in holders]
    records = [holder for holder in opened if isinstance(holder, Mapping)]
    for name in names:
        found = [holder[name] for holder in records if holder.get(name) not in (None, "", [], {})]
        if found:
            return found[0] if len(found) == 1 else None
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
    records = [item for item in values if isinstance(item, Mapping)]
    if not any(_role(item) is not None for item in records):
        parts = [item for item in records if _is_part(item) or item.keys() <= {"text", "thought"}]
        if parts:
            texts = [text for part in parts if (text := text_of(part, roles)) is not None]
            return "\n".join(texts) or None
    for item in reversed(records):
        text = text_of(item, roles)
        if text is not None:
            return text
    return None


def _named_pairs(values: list[Any]) -> list[Any] | None:
    """Return pairs such as ``["human", "Why?"]`` as messages, or None if these are no pairs."""
    messages = []
    for item in values:
        is_pair = isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)
        if not is_pair or item[0].lower() not in (*USER, *ASSISTANT, *_OTHERS):
            return None
        messages.append({"role": item[0], "content": item[1]})
    return messages or None


def _role(message: Mapping[str, Any]) -> str | None:
    """Return who speaks a message, in lower case; None if it does not say."""
    role = message.get("role", message.get("speaker"))
    if role is None and ("content" in message or "data" in message):
        role = message.get("type")
    constructor = message.get("id")
    if role is None and "kwargs" in message and isinstance(constructor, list) and constructor:
        role = str(constructor[-1]).removesuffix("Chunk").removesuffix("Message")
    is_known = isinstance(role, str) and role.lower() in (*USER, *ASSISTANT, *_OTHERS)
    return str(role).lower() if is_known else None


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
    for item in _named_pairs(inside) or inside:
        role = _role(item) if isinstance(item, Mapping) else None
        if role is None:
            continue
        text = text_of(item, (role,))
        if text is None and role in _OTHERS:
            continue
        messages.append({"role": "assistant" if role in ASSISTANT else role, "content": text or ""})
    return messages


def _messages_of_call(record: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the messages of the one argument that has some."""
    args, kwargs = opened_value(record["args"]), opened_value(record["kwargs"])
    values = list(args) if isinstance(args, list) else []
    values += kwargs.values() if isinstance(kwargs, Mapping) else []
    logs = []
    for value in map(opened_value, values):
        is_call = isinstance(value, Mapping) and value.keys() == _CALL
        messages = [] if is_call else messages_of(value)
        if messages:
            logs.append(messages)
    return logs[0] if len(logs) == 1 else []


def unquoted(text: str) -> str:
    """Return the text that is written as a JSON string, also as one of one; any other as it is."""
    found = text
    for _ in range(_LEVELS):
        stripped = found.strip()
        if len(stripped) < 2 or stripped[0] != '"' or stripped[-1] != '"':
            break
        try:
            inside = json.loads(stripped)
        except ValueError:
            break
        if not isinstance(inside, str) or not inside.strip():
            break
        found = inside
    return found


def number_of(value: object, words: Mapping[str, float]) -> float | None:
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
    return finite_number(value)
