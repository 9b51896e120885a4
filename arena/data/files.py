"""Files: compressed streams, writing whole or not at all, and locks."""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO, cast
from uuid import uuid4

import pyarrow as pa
import zstandard
from filelock import FileLock

from arena.data.errors import UsageError

WRITING = ".writing-"
"""How the name of a temporary folder begins, in which something is written."""
LOCK_FILE = ".lock"

_CSV_NAMES = (".csv", ".csv.gz", ".csv.zst")


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` that replaces it when the block succeeds.

    Raises:
        UsageError: If the folder of ``path`` does not exist.
    """
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to write {path.name} to")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=WRITING) as folder:
        temporary = Path(folder) / path.name
        yield temporary
        temporary.replace(path)


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside ``folder`` that takes its place when the block succeeds.

    Readers find the old folder or the new one, never a mixture. If the block or the exchange
    fails, the old folder stays. A process that is killed may leave a folder ``.writing-…`` behind.

    Args:
        folder: Folder to make or to replace with all that it holds; its parents are made.

    Raises:
        UsageError: If ``folder`` is a file.
    """
    folder = folder.resolve()  # so that "." and links work, too
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder to write to")
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = folder.with_name(f"{WRITING}{folder.name}-{uuid4().hex[:8]}")
    old = new.with_name(f"{new.name}-old")
    new.mkdir()
    try:
        yield new
        if folder.exists():
            folder.rename(old)
        try:
            new.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise
    finally:
        for left_over in (new, old):
            shutil.rmtree(left_over, ignore_errors=True)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def open_text(path: Path, mode: str = "rt") -> Iterator[TextIO]:
    """Open a UTF-8 text file, compressed where its name ends in ``.gz`` or ``.zst``.

    Args:
        path: File to open.
        mode: ``"rt"`` or ``"wt"``.
    """
    with _open_text(path, mode, "utf-8", "strict") as stream:
        yield stream


@contextmanager
def lenient_text(path: Path) -> Iterator[TextIO]:
    """Open a text file for reading, whatever its bytes.

    A byte order mark is left out; a byte that is not UTF-8 reads as a character of
    U+DC80..U+DCFF, which UTF-8 text cannot hold, so that the reader can say where it stands.
    """
    with _open_text(path, "rt", "utf-8-sig", "surrogateescape") as stream:
        yield stream


@contextmanager
def _open_text(path: Path, mode: str, encoding: str, errors: str) -> Iterator[TextIO]:
    binary = mode.replace("t", "b")
    newline = "" if path.name.endswith(_CSV_NAMES) else "\n"
    with cast(IO[bytes], path.open(binary)) as raw:
        packed = _packed_stream(raw, path.suffix, binary)
        with io.TextIOWrapper(packed, encoding, errors, newline) as stream:
            yield stream


def _packed_stream(raw: IO[bytes], suffix: str, binary: str) -> IO[bytes]:
    if suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw, mode=binary, mtime=0, filename=""))
    if suffix == ".zst" and binary == "rb":  # pyarrow, for zstandard takes a cut file as whole
        return cast(IO[bytes], pa.CompressedInputStream(raw, "zstd"))
    if suffix == ".zst":
        compressor = zstandard.ZstdCompressor(write_checksum=True)
        return cast(IO[bytes], compressor.stream_writer(raw, closefd=False))
    return raw


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold other processes off a folder, by a file ``.lock`` in it."""
    with FileLock(folder / LOCK_FILE):
        yield
