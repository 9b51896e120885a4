"""Files: paths, and bounded reads, of compressed files too."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TextIO, cast

from arena.data.errors import DataError, UsageError

MIB = 2**20
READ_AT_ONCE = MIB
MOST_SMALL_BYTES = 64 * MIB
MOST_EXPANDED = 256 * MIB
"""Bytes that any compressed file may expand to; a large one to ``MOST_RATIO`` times its size."""
MOST_RATIO = 100
MOST_CELLS = 200_000_000
MOST_LEVELS = 100
"""Maximum depth of objects and lists of JSON in each other."""
PACKED = (".gz", ".zst")
_DECODER = json.JSONDecoder()


def most_expanded(size: int) -> int:
    """Return how many bytes a compressed file may expand to."""
    return max(MOST_EXPANDED, MOST_RATIO * size)


def refuse_beyond(source: str, number: int, most: int, noun: str) -> None:
    """Refuse (DataError) a file that would fill the memory."""
    if number > most:
        fault = f"holds more than {most:,} {noun}; nothing of it was taken"
        hint = "if it is meant to be this large, split it, or unpack it if it is compressed"
        raise DataError.of_file(source, fault, hint)


def parsed_json(text: str, decoder: json.JSONDecoder = _DECODER) -> Any:  # noqa: ANN401
    """Read JSON no deeper than ``MOST_LEVELS``; else ValueError."""
    fault = f"nested deeper than {MOST_LEVELS} levels"
    try:
        value = decoder.decode(text)
    except RecursionError:
        raise ValueError(fault) from None
    # Whoever walks through the value later may recurse once per level, with larger frames.
    # Few brackets cannot be deep, so that most texts need no walk here.
    if text.count("{") + text.count("[") <= MOST_LEVELS:
        return value
    level = [value]
    for _ in range(MOST_LEVELS + 1):
        inner_level: list[Any] = []
        for outer in level:
            if isinstance(outer, dict):
                inner_level.extend(outer.values())
            elif isinstance(outer, list):
                inner_level.extend(outer)
        level = inner_level
    if level:
        raise ValueError(fault)
    return value


def cache_folder(name: str) -> Path:
    """Return where to keep, for this user, what can be made again."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - never fails
    return Path(home, "surrogate-arena", name)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def small_file(path: Path) -> bytes:
    """Read a small UTF-8 file without its byte order mark."""
    check_small_file(path)
    with path.open("rb") as stream:
        content = stream.read(MOST_SMALL_BYTES + 1)
    if len(content) > MOST_SMALL_BYTES:  # it grew since the check
        raise _too_large(path)
    return content.removeprefix(codecs.BOM_UTF8)


def check_small_file(path: Path) -> None:
    """Check that a file can be read in one piece."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    if path.stat().st_size > MOST_SMALL_BYTES:
        raise _too_large(path)


def _too_large(path: Path) -> UsageError:
    most = f"{MOST_SMALL_BYTES:,} bytes"
    return UsageError(f"{path} has more than {most}; it is not what is expected here")


@contextmanager
def open_text(path: Path, mode: str = "rt", errors: str = "strict") -> Iterator[TextIO]:
    """Open a UTF-8 text file, perhaps compressed, without a byte order mark."""
    encoding = "utf-8-sig" if "r" in mode else "utf-8"
    with (
        open_bytes(path, mode.replace("t", "b")) as stream,
        io.TextIOWrapper(stream, encoding, errors, line_end(path)) as text,
    ):
        yield text


def line_end(path: Path) -> str:
    """Return ``newline`` for ``open``: the csv module handles line ends itself."""
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    return "" if name.endswith((".csv", ".tsv", ".txt")) else "\n"


@contextmanager
def open_bytes(path: Path, mode: str = "rb") -> Iterator[IO[bytes]]:
    """Open a file, perhaps compressed, up to ``most_expanded``."""
    with cast(IO[bytes], path.open(mode)) as stream:
        if path.suffix in PACKED:
            stream = cast(IO[bytes], _packed(stream, path.suffix, mode))
            if mode == "rb":
                bounded = _BoundedStream(stream, path.name, most_expanded(path.stat().st_size))
                stream = cast(IO[bytes], io.BufferedReader(bounded, READ_AT_ONCE))
        yield stream


def _packed(stream: IO[bytes], suffix: str, mode: str) -> object:
    if suffix == ".gz":
        # Neither time nor name: the same content gives the same bytes.
        return gzip.GzipFile(fileobj=stream, mode=mode, mtime=0, filename="")
    import pyarrow as pa

    if mode == "rb":
        return pa.CompressedInputStream(stream, "zstd")
    return pa.CompressedOutputStream(stream, "zstd")


class _BoundedStream(io.RawIOBase):
    def __init__(self, stream: IO[bytes], source: str, most: int) -> None:
        self._stream = stream
        self._source = source
        self._most = most
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a buffer has no type in 3.11
        content = self._stream.read(len(buffer))
        self._read += len(content)
        refuse_beyond(self._source, self._read, self._most, "bytes when expanded")
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._stream.close()
        super().close()


def resolved(path: Path) -> Path:
    """Return an absolute path without links; circular ones are a UsageError."""
    try:
        absolute = path.resolve()
        # From Python 3.13 on, ``resolve`` leaves such a link as it is.
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            absolute.stat()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{path} cannot be followed: {error}") from None
    return absolute
