"""A finite-state machine that reads many texts at once, byte by byte.

All texts are cut into short blocks, and one step is taken for all blocks together. A block starts
in the state that the bytes before it lead to; where that was not the true state, the block is
walked again, so that the walk is exact for every machine, and quick for those that forget what
they read more than ``WARM_UP`` bytes ago, as finders of n-grams do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer[Any]]
ByteArray = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]

BLOCK = 32
"""Bytes of a block."""

WARM_UP = 8
"""Bytes before a block that are read to find its first state; at most ``BLOCK``."""


@dataclass(frozen=True)
class ByteAutomaton:
    """A finite-state machine over bytes; texts start in state 0.

    Attributes:
        moves: Next state, by row and byte, shape (rows * 256,).
        offsets: Where the row of each state starts in ``moves``, shape (states,).
    """

    moves: IntArray
    offsets: IntArray

    def states(self, texts: Sequence[bytes]) -> tuple[IntArray, IntArray]:
        """Return the state after each byte of each text.

        Returns:
            Of each byte, text after text: the place of its text and the state; shapes (bytes,).
        """
        blocks = _cut(texts)
        states = self._walk(blocks)
        texts_of_bytes = np.broadcast_to(blocks.text[:, None], states.shape)
        return texts_of_bytes[blocks.filled], states[blocks.filled]

    def _walk(self, blocks: _Blocks) -> IntArray:
        """Return the state after each byte of each block, shape (blocks, BLOCK)."""
        starts = np.zeros(len(blocks.content), dtype=np.intp)
        later = np.flatnonzero(~blocks.is_first)
        starts[later] = self._steps(blocks.content[later - 1, -WARM_UP:], starts[later])[:, -1]
        states = self._steps(blocks.content, starts)
        while len(wrong := later[states[later - 1, -1] != starts[later]]):
            starts[wrong] = states[wrong - 1, -1]
            states[wrong] = self._steps(blocks.content[wrong], starts[wrong])
        return states

    def _steps(self, content: ByteArray, starts: IntArray) -> IntArray:
        """Walk rows of bytes from given states; return the state after each byte."""
        steps = content.T.astype(np.intp)
        state = starts
        for step in steps:
            step += self.offsets.take(state)
            step[:] = self.moves.take(step)
            state = step
        return np.ascontiguousarray(steps.T)


@dataclass(frozen=True)
class _Blocks:
    """Texts cut into blocks, text after text; the last block of a text is filled up.

    Attributes:
        content: Bytes, shape (blocks, BLOCK).
        filled: Which of them are bytes of the text, of the same shape.
        text: Place of the text of each block.
        is_first: Whether a block is the first of its text.
    """

    content: ByteArray
    filled: BoolArray
    text: IntArray
    is_first: BoolArray


def _cut(texts: Sequence[bytes]) -> _Blocks:
    lengths = np.array([len(text) for text in texts], dtype=np.intp)
    counts = -(-lengths // BLOCK)
    content = b"".join(
        text.ljust(count * BLOCK, b"\0") for text, count in zip(texts, counts.tolist(), strict=True)
    )
    text = np.repeat(np.arange(len(texts)), counts)
    place = np.arange(len(text)) - np.repeat(np.cumsum(counts) - counts, counts)
    remaining = lengths[text] - place * BLOCK
    return _Blocks(
        np.frombuffer(content, dtype=np.uint8).reshape(-1, BLOCK),
        np.arange(BLOCK) < remaining[:, None],
        text,
        place == 0,
    )
