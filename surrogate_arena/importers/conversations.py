"""Conversations as others publish them: turns by role, the last question and the reply to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, NamedTuple, TypeGuard

from arena.data.rows import is_null
from arena.data.schema import ROLES
from arena.data.types import Record
from surrogate_arena.importers.values import opened_or_same

OUR_ROLES: Mapping[str, str] = MappingProxyType(
    {
        "user": "user",
        "human": "user",
        "assistant": "assistant",
        "ai": "assistant",
        "agent": "assistant",
        "gpt": "assistant",
        "model": "assistant",
        "chatbot": "assistant",
    }
)
"""Published role to ours; turns of any other, such as systems and tools, are left out."""


class Exchange(NamedTuple):
    """The last question of a conversation, the turns before it, and the reply to it."""

    history: list[Record]
    question: str
    reply: str


def last_exchange(messages: object) -> Exchange:
    """Split messages into turns, the last question, and the reply.

    A message has ``role`` or ``speaker``, and ``content`` or ``text``: a text, or a list of parts
    with one; anything else is left out.
    """
    if not isinstance(messages, list):
        return Exchange([], "", "")
    while len(messages) == 1 and isinstance(messages[0], list) and not _is_pair(messages[0]):
        messages = messages[0]
    turns: list[Record] = []
    question_index = -1
    for message in messages:
        turn = _turn_of(message)
        if turn is None:
            continue
        if turn["role"] == "user":
            question_index = len(turns)
        turns.append(turn)
    replies = [turn["content"] for turn in turns[question_index + 1 :]]
    reply = "\n\n".join(filter(str.strip, replies))
    # Without a question, all that was said is the reply.
    if question_index < 0:
        return Exchange([], "", reply)
    return Exchange(turns[:question_index], turns[question_index]["content"], reply)


_NO_WORDS = ("reasoning", "thinking", "redacted_thinking", "tool_call", "tool_use", "function_call")
"""Types of parts that are no words of the one who speaks."""


def _is_pair(message: object) -> TypeGuard[list[str]]:
    if not isinstance(message, list) or len(message) != 2:
        return False
    return all(isinstance(item, str) for item in message)


def _turn_of(message: object) -> Record | None:
    """Return a message with our role (assistant if none); None for tools and other things."""
    if _is_pair(message):
        message = dict(zip(("role", "content"), message, strict=True))
    if not isinstance(message, dict):
        return None
    role = message.get("role", message.get("speaker"))
    for holder in ("kwargs", "data"):
        inner = message.get(holder)
        if isinstance(inner, dict) and "content" in inner:
            # LangChain writes the class of a message, such as HumanMessage or AIMessageChunk.
            classes = message.get("id")
            role = (
                str(classes[-1]) if isinstance(classes, list) and classes else message.get("type")
            )
            role = str(role).removesuffix("Chunk").removesuffix("Message")
            message = inner
    if role is None and str(message.get("type")) in OUR_ROLES:
        role = message["type"]
    text = _words(message)
    if role is None and text:
        role = "assistant"
    our_role = OUR_ROLES.get(str(role).lower())
    return None if our_role is None else {"role": our_role, "content": text}


def _words(message: Record) -> str:
    if message.get("type") in _NO_WORDS or message.get("thought") is True:
        return ""
    for name in ("content", "text", "parts"):
        value = message.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            words = [
                item if isinstance(item, str) else _words(item)
                for item in value
                if isinstance(item, str | dict)
            ]
            return "\n".join(filter(None, words))
    return ""


def exchanges_of(cells: Sequence[object], turn: int | None) -> list[Exchange]:
    """Return the last exchange of both systems of a battle."""
    # A prompt and two replies, each a text or a list of turns; an empty cell is an empty reply.
    if len(cells) == 3:
        prompts = _turns_of(cells[0])
        replies = ["" if is_null(cell) else cell for cell in cells[1:]]
        conversations = [_messages(prompts, _turns_of(reply)) for reply in replies]
    else:
        conversations = [_turns_of(cell) for cell in cells]
    exchanges = []
    for messages in conversations:
        for message in messages:
            if not isinstance(message, dict) or not isinstance(message.get("content"), str | list):
                raise ValueError("holds a turn without a role and content")
        if turn is not None:
            messages = _until(messages, turn)
        exchanges.append(last_exchange(messages))
    return exchanges


def _turns_of(cell: object) -> list[Any]:
    turns = _opened_turns(cell)
    if isinstance(turns, list):
        return turns
    if not isinstance(cell, str):
        raise ValueError("is not a list of turns")
    return [cell]


def _messages(prompts: list[Any], replies: list[Any]) -> list[Record]:
    messages = []
    for pair in zip_longest(prompts, replies):
        for role, text in zip(ROLES, pair, strict=True):
            if not isinstance(text, str | None):
                raise ValueError("holds a turn that is not a text")
            messages.append({"role": role, "content": text or ""})
    return messages


def _is_of_user(message: object) -> bool:
    return isinstance(message, dict) and message.get("role") in ("user", "human")


def _until(messages: list[Any], turn: int) -> list[Any]:
    n_questions = 0
    for index, message in enumerate(messages):
        n_questions += _is_of_user(message)
        if n_questions > turn:
            return messages[:index]
    return messages


def n_turns(cell: object) -> int | None:
    """Count the user's turns; None if the cell is no list."""
    turns = _opened_turns(cell)
    return sum(map(_is_of_user, turns)) if isinstance(turns, list) else None


def _opened_turns(cell: object) -> object:
    inside = opened_or_same(cell)
    return inside if isinstance(inside, list) else cell
