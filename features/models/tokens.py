"""Pairs of texts as windows of tokens that a model can take whole.

The texts are tokenised here once, without padding, and put together as the model's tokenizer
would. No text can write a separator: ``[SEP]`` in a passage is text, or else left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.errors import UsageError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

OVERLAP = 4
"""Windows overlap by a quarter of their room."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_COUNT_FROM_PADDING = frozenset(
    {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"}
)
_UNLIMITED = 1_000_000


@dataclass(frozen=True)
class Window:
    """Token ids that go through a model, and the type of each: 1 for the second text."""

    ids: tuple[int, ...]
    types: tuple[int, ...]


def clean(text: str) -> str:
    """Replace halves of surrogate pairs, which no tokenizer takes, by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def longest_input(stated: Iterable[object], config: Mapping[str, Any], most: int) -> int:
    """Return how many tokens a model takes at once, special tokens included.

    Args:
        stated: What its tokenizer says; numbers from a million on mean nothing.
        config: Its ``config.json``.
        most: What is taken at most, since memory grows with the square.
    """
    limits = [number for number in stated if isinstance(number, int) and 0 < number < _UNLIMITED]
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and positions > 0:
        offset = config.get("model_type") in _COUNT_FROM_PADDING
        limits.append(positions - (int(config.get("pad_token_id") or 0) + 1) * offset)
    return min([*limits, most])


class PairWindows:
    """Cuts pairs of texts into windows.

    The long text of a pair is cut into windows that overlap by a quarter; the other stands in
    each of them, and is itself cut off at half the room.
    """

    def __init__(self, tokenizer: Tokenizer, longest: int, long_text: int) -> None:
        """Prepare.

        Args:
            tokenizer: The model's; it is left as it is.
            longest: Tokens of a window, special tokens included.
            long_text: Which text of a pair may be long, 0 or 1.

        Raises:
            UsageError: If the tokenizer does not mark where the second text starts, or a window
                has no room for two texts.
        """
        self._tokenizer = _plain(tokenizer)
        self._long_text = long_text
        self._head, self._middle, self._tail = _frame(self._tokenizer)
        self._types = _text_types(self._tokenizer)
        special = [*self._head.ids, *self._middle.ids, *self._tail.ids]
        self._special = frozenset(special)
        self._room = longest - len(special)
        if self._room < OVERLAP:
            raise UsageError(
                f"{longest} tokens are too few for a pair of texts; take another model"
            )

    def cut(self, pair: tuple[str, ...]) -> list[Window]:
        """Return the windows of a pair, in order; at least one."""
        ids = [self._text_ids(text) for text in pair]
        short = ids[1 - self._long_text][: self._room // 2]
        pieces = _pieces(ids[self._long_text], self._room - len(short))
        if self._long_text == 0:
            return [self._window(piece, short) for piece in pieces]
        return [self._window(short, piece) for piece in pieces]

    def _text_ids(self, text: str) -> list[int]:
        found = self._tokenizer.encode(clean(text), add_special_tokens=False).ids
        return [number for number in found if number not in self._special]

    def _window(self, first: list[int], second: list[int]) -> Window:
        parts = (
            (self._head.ids, self._head.types),
            (first, [self._types[0]] * len(first)),
            (self._middle.ids, self._middle.types),
            (second, [self._types[1]] * len(second)),
            (self._tail.ids, self._tail.types),
        )
        return Window(
            tuple(number for ids, _ in parts for number in ids),
            tuple(number for _, types in parts for number in types),
        )


def _pieces(ids: list[int], size: int) -> list[list[int]]:
    """Cut ids into overlapping pieces of a size; the last ends where they end."""
    if len(ids) <= size:
        return [ids]
    step = size - size // OVERLAP
    starts = [*range(0, len(ids) - size, step), len(ids) - size]
    return [ids[start : start + size] for start in starts]


def _plain(tokenizer: Tokenizer) -> Tokenizer:
    """Return a copy that neither pads nor truncates nor reads special tokens in texts."""
    copy = type(tokenizer).from_str(tokenizer.to_str())
    copy.no_padding()
    copy.no_truncation()
    copy.encode_special_tokens = True
    return copy


def _frame(tokenizer: Tokenizer) -> tuple[Window, Window, Window]:
    """Return the special tokens before, between and after two texts."""
    probe = tokenizer.encode("a", "b")
    texts = probe.sequence_ids
    if 0 not in texts or 1 not in texts or None not in texts[texts.index(0) : texts.index(1)]:
        raise UsageError(
            "the tokenizer does not mark where the second text of a pair starts; "
            "take a model that was trained on pairs"
        )
    last = len(texts) - 1 - texts[::-1].index(1)
    cuts = [
        slice(0, texts.index(0)),
        slice(texts.index(None, texts.index(0)), texts.index(1)),
        slice(last + 1, None),
    ]
    head, middle, tail = (Window(tuple(probe.ids[cut]), tuple(probe.type_ids[cut])) for cut in cuts)
    return head, middle, tail


def _text_types(tokenizer: Tokenizer) -> tuple[int, int]:
    probe = tokenizer.encode("a", "b")
    texts = probe.sequence_ids
    return probe.type_ids[texts.index(0)], probe.type_ids[texts.index(1)]
