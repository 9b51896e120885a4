"""Files: bounded reads, compressed ones too, and safe writes, locked against other processes.

Nothing in a file is executed, and no more of a compressed one is read than ``most_expanded``.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import hashlib
import io
import json
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO, Any, TextIO, cast
from uuid import uuid4

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
    """Return how many bytes a compressed file of a size may expand to."""
    return max(MOST_EXPANDED, MOST_RATIO * size)


def refuse_beyond(source: str, number: int, most: int, noun: str) -> None:
    """Refuse (DataError) a file that holds more than is read: it must not fill the memory."""
    if number > most:
        fault = f"holds more than {most:,} {noun}; nothing of it was taken"
        hint = "if it is meant to be this large, split it, or unpack it if it is compressed"
        raise DataError.of_file(source, fault, hint)


def parsed_json(text: str, decoder: json.JSONDecoder = _DECODER) -> Any:  # noqa: ANN401
    """Read JSON.

    Raises:
        ValueError: If it is not JSON, or nested deeper than ``MOST_LEVELS``.
    """
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


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def small_file(path: Path) -> bytes:
    """Read a UTF-8 file in one piece: settings, templates, manifests.

    Returns:
        Its bytes, without the byte order mark of some editors.

    Raises:
        UsageError: If it is not a regular file, or has more than ``MOST_SMALL_BYTES``.
    """
    check_small_file(path)
    with path.open("rb") as stream:
        content = stream.read(MOST_SMALL_BYTES + 1)
    if len(content) > MOST_SMALL_BYTES:  # it grew since the check
        raise _too_large(path)
    return content.removeprefix(codecs.BOM_UTF8)


def check_small_file(path: Path) -> None:
    """Check, without reading it, that a file can be read in one piece.

    Raises:
        UsageError: If it is not a regular file, or has more than ``MOST_SMALL_BYTES``.
    """
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    if path.stat().st_size > MOST_SMALL_BYTES:
        raise _too_large(path)


def _too_large(path: Path) -> UsageError:
    most = f"{MOST_SMALL_BYTES:,} bytes"
    return UsageError(f"{path} has more than {most}; it is not what is expected here")


@contextmanager
def open_text(path: Path, mode: str = "rt", errors: str = "strict") -> Iterator[TextIO]:
    """Open a UTF-8 text file, compressed where its name ends in ``.gz`` or ``.zst``.

    What some editors put before the text, a byte order mark, is left out on reading.
    """
    encoding = "utf-8-sig" if "r" in mode else "utf-8"
    with (
        open_bytes(path, mode.replace("t", "b")) as stream,
        io.TextIOWrapper(stream, encoding, errors, line_end(path)) as text,
    ):
        yield text


def line_end(path: Path) -> str:
    """Return what ends a line, for ``open``: the csv module reads and writes line ends itself."""
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    return "" if name.endswith((".csv", ".tsv", ".txt")) else "\n"


@contextmanager
def open_bytes(path: Path, mode: str = "rb") -> Iterator[IO[bytes]]:
    """Open a file, compressed where its name says so; it expands to ``most_expanded`` at most."""
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
    """The content of a compressed file, up to a number of bytes."""

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


DISK_IS_FULL = ("ENOSPC", "EDQUOT", "SQLITE_FULL")
"""Names of errors of the system, and of SQLite."""
MAY_NOT_WRITE = ("EROFS", "EACCES", "EPERM", "SQLITE_CANTOPEN", "SQLITE_READONLY")
"""Starts of such names."""
WRITING = ".writing-"
"""Start of the names of temporary folders that are being written."""
LOCK_FILE = ".lock"
NOTICE_AFTER_S = 2.0
"""Seconds of waiting for another process before a message says so."""
STREAMS = re.compile(r"/dev/(stdout|stderr|fd/\d+)|/proc/self/fd/\d+")
"""Paths of streams that are open already, perhaps to a file: links that are never replaced."""
_LOG = logging.getLogger(__name__)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to ``path`` that replaces it when the block succeeds.

    The next writer of ``path`` removes the remains of one that was killed.

    Raises:
        UsageError: If ``path`` is a folder, or its own folder does not exist.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file to write to")
    if is_stream(path):
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder) / path.name
            yield temporary
            with path.open("wb") as target:
                target.write(temporary.read_bytes())
        return
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to write {path.name} to")
    with _temporary_folder(path) as folder:
        temporary = folder / path.name
        yield temporary
        temporary.replace(path)


def disk_advice(error: Exception, path: Path) -> str:
    """Return what to do where a disk is full, or a place read-only; nothing for other errors.

    Args:
        error: An ``OSError``, or an error of SQLite.
        path: What was written.
    """
    number = getattr(error, "errno", None) or 0
    name = getattr(error, "sqlite_errorname", errno.errorcode.get(number, ""))
    if name in DISK_IS_FULL:
        return "make room on the disk, then repeat"
    if not name.startswith(MAY_NOT_WRITE):
        return ""
    readable = [place for place in path.absolute().parents if os.access(place, os.R_OK)]
    for place in (path, *readable[:1]):
        if os.access(place, os.R_OK) and not os.access(place, os.W_OK):
            return f"{place} is read-only: make it writable, or write elsewhere"
    return ""


def synchronize(path: Path) -> None:
    """Wait until a file, and its name in its folder, are on the disk."""
    # Windows can open no folder, and writes names through.
    for place in (path, path.parent) if os.name == "posix" else (path,):
        descriptor = os.open(place, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_text(text: str, path: Path) -> None:
    """Write a text atomically, in UTF-8, with its line ends as they are."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def resolved(path: Path) -> Path:
    """Return an absolute path without links; a link that leads to itself is a UsageError."""
    try:
        absolute = path.resolve()
        # From Python 3.13 on, ``resolve`` leaves such a link as it is.
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            absolute.stat()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{path} cannot be followed: {error}") from None
    return absolute


def path_below(folder: Path, name: Path | str) -> Path:
    """Return a path below a folder, links resolved, also those in a folder that it names.

    Raises:
        UsageError: If it leads elsewhere.
    """
    root = resolved(folder)
    path = resolved(root / name)
    links = [inner for inner in path.rglob("*") if inner.is_symlink()]
    for place in (path, *map(resolved, links)):
        if not place.is_relative_to(root):
            raise UsageError(f"{str(name)!a} is outside {root}; name a path below it")
    return path


def is_stream(path: Path) -> bool:
    """Return whether writing must not replace a path: a device, a pipe, or /dev/stdout."""
    if not path.exists() or path.is_dir():
        return False
    return not path.is_file() or STREAMS.fullmatch(str(path.absolute())) is not None


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder next to ``folder`` that takes its place when the block succeeds.

    Readers find the old folder or the new one, never a mixture. If the block or the exchange
    fails, the old folder stays. The next writer of ``folder`` removes the remains of one that was
    killed.

    Raises:
        UsageError: If ``folder`` is a file.
    """
    folder = resolved(folder)  # so that "." and links work, too
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder to write to")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _temporary_folder(folder) as new:
        old = _replaced(new)
        yield new
        if folder.exists():
            folder.rename(old)
        try:
            new.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise


@contextmanager
def _temporary_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder next to a file or folder, locked as long as its writer is alive."""
    from filelock import FileLock

    _remove_abandoned(target)
    new = target.with_name(f"{WRITING}{target.name}-{uuid4().hex[:8]}")
    lock = _writer_lock(new)
    try:
        with FileLock(lock):
            new.mkdir()
            yield new
    finally:
        _remove_writing(new)


def _replaced(new: Path) -> Path:
    return new.with_name(f"{new.name}-old")


def _writer_lock(new: Path) -> Path:
    """Return the file that is locked as long as the writer of a temporary folder is alive."""
    return new.with_name(f"{new.name}{LOCK_FILE}")


def _remove_writing(new: Path) -> None:
    shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(_replaced(new), ignore_errors=True)
    with suppress(OSError):
        _writer_lock(new).unlink()


def _remove_abandoned(target: Path) -> None:
    """Remove the remains of writers of a file or folder that were killed."""
    from filelock import FileLock, Timeout

    for lock in target.parent.glob(f"{WRITING}{escape(target.name)}-????????{LOCK_FILE}"):
        new = lock.with_name(lock.name.removesuffix(LOCK_FILE))
        try:
            with FileLock(lock, timeout=0):
                # Killed between the two steps of the exchange: this is the only copy.
                if _replaced(new).exists() and not target.exists():
                    _replaced(new).rename(target)
        except (Timeout, OSError):  # its writer is alive, or another user's
            continue
        _remove_writing(new)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes, by a file ``.lock`` in it; logs where it must wait."""
    waiting = f"another command that writes to {folder}"
    with held_lock(folder / LOCK_FILE, waiting):
        yield


@contextmanager
def held_lock(path: Path, waiting: str) -> Iterator[None]:
    """Lock a file against other processes.

    Args:
        path: The file, which is made if absent.
        waiting: What is logged, after ``Waiting for``, where another process holds the lock.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=NOTICE_AFTER_S)
    except Timeout:
        _LOG.warning("Waiting for %s", waiting)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
