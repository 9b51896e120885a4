"""Chats as tokens: what of them is learned, and how several lie in one batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.data.errors import UsageError
from surrogate.training.rows import ChatRow

IGNORED = -100
"""Label of tokens that are shown and not learned (torch's cross-entropy skips it)."""


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A chat as tokens.

    Attributes:
        tokens: All of them.
        asked: How many of them, at the beginning, are not learned: all but the last message.
    """

    tokens: tuple[int, ...]
    asked: int

    @property
    def labels(self) -> list[int]:
        """The tokens, those that are not learned ignored."""
        return [IGNORED] * self.asked + list(self.tokens[self.asked :])


def token_rows(rows: Sequence[ChatRow], tokenizer: Any) -> list[TokenRow]:  # noqa: ANN401
    """Write chats as the model's template has them, and cut them into tokens.

    The prompt is cut by itself, as it is when the model is asked.

    Raises:
        UsageError: If the template cannot write a chat, or writes the prompt differently where a
            reply follows.
    """
    return [_token_row(row, tokenizer) for row in rows]


def _token_row(row: ChatRow, tokenizer: Any) -> TokenRow:  # noqa: ANN401
    messages = [message.model_dump() for message in row.messages]
    try:
        asked = tokenizer.apply_chat_template(
            messages[:-1], add_generation_prompt=True, tokenize=False
        )
        whole = tokenizer.apply_chat_template(messages, tokenize=False)
    except Exception as error:  # whatever a template raises
        raise UsageError(f"the model's chat template refuses a chat: {error}"[:300]) from error
    if not whole.startswith(asked):
        raise UsageError(
            "the model's chat template writes a prompt differently where a reply follows, so what "
            "is to be learned cannot be told; take a model with another template"
        )
    prompt, reply = (
        tokenizer(text, add_special_tokens=False)["input_ids"]
        for text in (asked, whole[len(asked) :].rstrip("\n"))
    )
    return TokenRow((*prompt, *reply), len(prompt))


def padded(rows: Sequence[TokenRow], pad: int) -> dict[str, Any]:
    """Put rows below each other, shorter ones padded on the right."""
    import torch

    longest = max(len(row.tokens) for row in rows)
    fills = [longest - len(row.tokens) for row in rows]
    shape = list(zip(rows, fills, strict=True))
    return {
        "input_ids": torch.tensor([[*row.tokens, *[pad] * fill] for row, fill in shape]),
        "attention_mask": torch.tensor([[1] * len(row.tokens) + [0] * fill for row, fill in shape]),
        "labels": torch.tensor([[*row.labels, *[IGNORED] * fill] for row, fill in shape]),
    }


def packed(rows: Sequence[TokenRow]) -> dict[str, Any]:
    """Lay rows end to end; places start again with each, by which models keep them apart."""
    import torch

    tokens = [token for row in rows for token in row.tokens]
    places = [place for row in rows for place in range(len(row.tokens))]
    labels = [label for row in rows for label in (IGNORED, *row.labels[1:])]
    return {
        "input_ids": torch.tensor([tokens]),
        "position_ids": torch.tensor([places]),
        "labels": torch.tensor([labels]),
        "use_cache": False,  # with a cache, models take the places for one row's, and look back
    }


@dataclass(frozen=True)
class Collator:
    """Makes batches.

    Attributes:
        pad: Token to pad with.
        packing: Whether rows lie end to end instead.
    """

    pad: int
    packing: bool

    def __call__(self, rows: Sequence[Mapping[str, TokenRow]]) -> dict[str, Any]:
        """Make a batch of rows, each under the key ``row``."""
        chats = [row["row"] for row in rows]
        return packed(chats) if self.packing and len(chats) > 1 else padded(chats, self.pad)
