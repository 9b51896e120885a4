"""Texts cut to a number of tokens, counted by a model's tokenizer or by bytes."""

from __future__ import annotations

import hashlib
import importlib.util
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.data.errors import MissingDependencyError, UsageError
from arena.llm.prompts import DIGEST_DIGITS

BYTES_A_TOKEN = 4
PASSAGE_TOKENS = 800
PROMPT_TOKENS = 8_192
"""Limits of a passage and of a prompt in MIRAGE-Bench."""
_JOINER = "\u200d"


@dataclass(frozen=True)
class Trimmer:
    """Cuts texts after a number of tokens, or four bytes each.

    800 tokens are some 3,200 Latin letters or 1,066 of Devanagari, Thai or Chinese; tokenizers
    differ twofold at most for most scripts.
    """

    name: str = f"bytes/{BYTES_A_TOKEN}"
    _tokenizer: Any = field(default=None, repr=False, compare=False)

    def trim(self, text: str, tokens: int) -> str:
        """Keep the first tokens; no letter is parted from its marks."""
        if self._tokenizer is None:
            data = text.encode(errors="replace")
            if len(data) <= tokens * BYTES_A_TOKEN:
                return text
            end = len(data[: tokens * BYTES_A_TOKEN].decode(errors="ignore"))
        else:
            offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
            if len(offsets) <= tokens:
                return text
            # A letter may be several tokens: one that is not whole is left out.
            end = min(offsets[tokens - 1][1], offsets[tokens][0])
        while 0 < end < len(text) and (
            unicodedata.category(text[end]).startswith("M") or _JOINER in text[end - 1 : end + 1]
        ):
            end -= 1
        return text[:end]

    def count(self, text: str) -> int:
        """Count the model's tokens, or four bytes as one."""
        if self._tokenizer is None:
            return -(-len(text.encode(errors="replace")) // BYTES_A_TOKEN)
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


def read_tokenizer(path: Path | str) -> Trimmer:
    """Load a model's ``tokenizer.json`` to count by."""
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
        raise UsageError(f"{path.name} is not a tokenizer.json: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return Trimmer(f"tokenizer:{hashlib.sha256(data).hexdigest()[:DIGEST_DIGITS]}", tokenizer)
