"""The first tokens of a text: counted by its bytes, or by a model's own tokenizer."""

from __future__ import annotations

import hashlib
import importlib.util
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from arena.data.errors import MissingDependencyError, UsageError

BYTES_A_TOKEN = 4

DIGEST_DIGITS = 12

_JOINER = "\u200d"


class Trimmer(Protocol):
    """Cuts texts off after so many tokens."""

    @property
    def name(self) -> str:
        """How it counts; part of a prompt's version."""

    def trim(self, text: str, tokens: int) -> str:
        """Return the first tokens of a text."""

    def count(self, text: str) -> int:
        """Count the tokens of a text."""


@dataclass(frozen=True)
class ByteTrimmer:
    """Counts four bytes of UTF-8 as a token, as ``arena.llm.dry_run`` does.

    Tokenizers differ from it by a factor of two at most for most scripts: 800 tokens are some
    3,200 Latin letters or 1,066 letters of Devanagari, Thai or Chinese.
    """

    name: str = f"bytes/{BYTES_A_TOKEN}"

    def trim(self, text: str, tokens: int) -> str:
        """Return the first tokens of a text; no letter is parted from its marks."""
        data = text.encode(errors="replace")
        if len(data) <= tokens * BYTES_A_TOKEN:
            return text
        kept = data[: tokens * BYTES_A_TOKEN].decode(errors="ignore")
        return text[: _between_letters(text, len(kept))]

    def count(self, text: str) -> int:
        """Count four bytes as a token, and what is left over as one."""
        return -(-len(text.encode(errors="replace")) // BYTES_A_TOKEN)


@dataclass(frozen=True)
class TokenizerTrimmer:
    """Counts the tokens of a model.

    Attributes:
        name: ``tokenizer:`` and a digest of its file.
    """

    name: str
    _tokenizer: Any = field(repr=False, compare=False)

    def trim(self, text: str, tokens: int) -> str:
        """Return the first tokens of a text; no letter is parted from its marks."""
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        if len(offsets) <= tokens:
            return text
        # A letter may be several tokens: one that is not whole is left out.
        end = min(offsets[tokens - 1][1], offsets[tokens][0])
        return text[: _between_letters(text, end)]

    def count(self, text: str) -> int:
        """Count the model's tokens."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


def read_tokenizer(path: Path | str) -> TokenizerTrimmer:
    """Load a model's ``tokenizer.json``.

    Raises:
        MissingDependencyError: If the package ``tokenizers`` is not installed.
        UsageError: If the file is absent or holds no tokenizer.
    """
    path = Path(path)
    if importlib.util.find_spec("tokenizers") is None:
        raise MissingDependencyError("counting tokens by a tokenizer", "tokenizers", "tokenizers")
    if not path.is_file():
        raise UsageError(f"there is no tokenizer at {path}")
    from tokenizers import Tokenizer

    data = path.read_bytes()
    try:
        tokenizer = Tokenizer.from_buffer(data)
    except Exception as error:  # the package raises plain exceptions
        raise UsageError(f"{path.name} is no tokenizer.json: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return TokenizerTrimmer(
        f"tokenizer:{hashlib.sha256(data).hexdigest()[:DIGEST_DIGITS]}", tokenizer
    )


def _between_letters(text: str, end: int) -> int:
    """Return the last place up to ``end`` at which no mark follows its letter."""
    while 0 < end < len(text) and (
        unicodedata.category(text[end]).startswith("M") or _JOINER in text[end - 1 : end + 1]
    ):
        end -= 1
    return end
