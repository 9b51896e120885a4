"""Text files of other programs, in UTF-8 or UTF-16; bytes that are neither are named by place."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

from arena.data.errors import Problem
from arena.data.files import line_end, open_bytes

_PEEKED = 4096
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


class BadRowError(Exception):
    """A row that is no record."""

    def __init__(self, fault: str, hint: str) -> None:
        self.fault = fault
        self.hint = hint

    def problem(self, source: str, line: int | None) -> Problem:
        """Return this fault as a problem of a file."""
        return Problem(source, line, None, None, self.fault, self.hint)


class NotUtf8Error(BadRowError):
    """A row that is not UTF-8; saving the file once corrects all further ones."""


@contextmanager
def lenient_text(path: Path) -> Iterator[TextIO]:
    """Open a text file for reading, whatever its bytes.

    A byte order mark is left out; one of UTF-16 tells the encoding. Otherwise a byte that is not
    UTF-8 reads as a character of U+DC80..U+DCFF, which UTF-8 text cannot hold, so that a message
    can name its place; see ``check_encoding``.
    """
    with open_bytes(path) as stream:
        start = cast(io.BufferedReader, stream).peek(_PEEKED)[:_PEEKED]
        encoding = _encoding_of(start)
        with io.TextIOWrapper(stream, encoding, "surrogateescape", line_end(path)) as text:
            yield text


def _encoding_of(start: bytes) -> str:
    """Tell a text's encoding from its first bytes: UTF-16 as spreadsheets write it, or UTF-8."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if len(start) > 2:
        # Without a mark: in text of ASCII characters, every second byte of UTF-16 is zero.
        even_zeros = start[::2].count(0)
        odd_zeros = start[1::2].count(0)
        if odd_zeros > len(start) // 4 and even_zeros == 0:
            return "utf-16-le"
        if even_zeros > len(start) // 4 and odd_zeros == 0:
            return "utf-16-be"
    return "utf-8-sig"


def check_encoding(text: str) -> None:
    """Refuse a text that ``lenient_text`` read from bytes that are not UTF-8."""
    match = None if text.isascii() else _NOT_UTF8.search(text)
    if match is None:
        return
    # Python reads such a byte b as the character U+DC00 + b ("surrogateescape").
    byte = ord(match.group()) - 0xDC00
    raise NotUtf8Error(
        f"is not UTF-8 text (byte 0x{byte:02x} at character {match.start() + 1})",
        "save the file as UTF-8, as 'CSV UTF-8' in Excel or by iconv -f CP1252 -t UTF-8",
    )
