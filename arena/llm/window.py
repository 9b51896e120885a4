"""The prompts under way, in order; equal prompts share one slot."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

from arena.llm.prompts import Prompt, Request
from arena.llm.store_rows import Result

T = TypeVar("T")


@dataclass(slots=True)
class Slot(Generic[T]):
    """A request and, once it has ended, how.

    Attributes:
        users: Prompts in the window that share it.
        shared: Whether one of them has been handed out.
        result: How it ended; None while under way.
        value: What was read from the answer.
        from_store: Whether the result was in the store.
    """

    request: Request
    users: int = 0
    shared: bool = False
    result: Result | None = None
    value: T | None = None
    from_store: bool = False


class Window(Generic[T]):
    """Prompts from the oldest that is not handed out to the newest that is taken on."""

    def __init__(self) -> None:
        self._order: deque[tuple[Prompt, Slot[T]]] = deque()
        self._slots: dict[str, Slot[T]] = {}

    def __len__(self) -> int:
        return len(self._order)

    def add(self, prompt: Prompt, request: Request) -> bool:
        """Append a prompt; False if its request is in the window already."""
        slot = self._slots.get(request.key)
        new = slot is None
        if slot is None:
            slot = self._slots[request.key] = Slot(request)
        slot.users += 1
        self._order.append((prompt, slot))
        return new

    def settle(self, result: Result, value: T | None, from_store: bool) -> None:
        """Note how a request ended."""
        slot = self._slots[result.key]
        slot.result, slot.value, slot.from_store = result, value, from_store

    def head_is_settled(self) -> bool:
        """Tell whether the oldest prompt has ended."""
        return self._order[0][1].result is not None

    def pop(self) -> tuple[Prompt, Slot[T]]:
        """Take out the oldest prompt, with its slot."""
        prompt, slot = self._order.popleft()
        slot.users -= 1
        if slot.users == 0:
            del self._slots[slot.request.key]
        return prompt, slot
