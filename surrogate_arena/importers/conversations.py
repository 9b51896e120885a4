"""Conversations as others publish them: turns by role, the last question and the reply to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, NamedTuple

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
    }
)
"""Published role to ours; turns of any other, such as systems and tools, are left out."""


class Exchange(NamedTuple):
    """The last question of a conversation, the turns before it, and the reply to it."""

    history: list[Record]
    question: str
    reply: str


def last_exchange(messages: object) -> Exchange:
    """Part messages into the turns before the last question, the question, and what follows it.

    A message says who speaks (``role``, ``speaker``) and what (``content``, ``text``: a text, or a
    list of parts with one); what is no message is left out.
    """
    if not isinstance(messages, list):
        return Exchange([], "", "")
    turns: list[Record] = []
    question_index = -1
    for message in messages:
        if not isinstance(message, dict):
            continue
        role = OUR_ROLES.get(str(message.get("role", message.get("speaker"))).lower())
        if role is None:
            continue
        text = message.get("content", message.get("text"))
        # Parts of a message may be images, which have no text.
        if isinstance(text, list):
            parts = [part for part in text if isinstance(part, dict)]
            text = "\n".join(str(part["text"]) for part in parts if "text" in part)
        if role == "user":
            question_index = len(turns)
        turns.append({"role": role, "content": str(text or "")})
    reply = "\n\n".join(turn["content"] for turn in turns[question_index + 1 :])
    # Without a question, all that was said is the reply.
    if question_index < 0:
        return Exchange([], "", reply)
    return Exchange(turns[:question_index], turns[question_index]["content"], reply)


def exchanges_of(cells: Sequence[object], turn: int | None) -> list[Exchange]:
    """Return the last exchange of both systems of a battle.

    Args:
        cells: Two conversations; or turns of a prompt and of two responses.
        turn: The question to take instead of the last, counted from 1.

    Raises:
        ValueError: If the cells hold no turns. The message is a clause that says what is wrong.
    """
    conversations = [_turns_of(cell) for cell in cells]
    # A prompt and two replies, each a text or a list of turns.
    if len(conversations) == 3:
        prompts, *replies = conversations
        conversations = [_messages(prompts, texts) for texts in replies]
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
    turns = opened_turns(cell)
    if isinstance(turns, list):
        return turns
    if not isinstance(cell, str):
        raise ValueError("is not a list of turns")
    return [cell]


def _messages(prompts: list[Any], replies: list[Any]) -> list[Record]:
    """Return the messages of a conversation, whose last prompts or replies may be missing."""
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
    """Return a conversation up to the reply to its n-th question."""
    n_questions = 0
    for index, message in enumerate(messages):
        n_questions += _is_of_user(message)
        if n_questions > turn:
            return messages[:index]
    return messages


def n_turns(cell: object) -> int | None:
    """Return how many turns of the user a conversation has; None if it is no list."""
    turns = opened_turns(cell)
    return sum(map(_is_of_user, turns)) if isinstance(turns, list) else None


def opened_turns(cell: object) -> object:
    """Return the list that a cell holds, also as JSON or as Python prints it; else the cell."""
    inside = opened_or_same(cell)
    return inside if isinstance(inside, list) else cell
