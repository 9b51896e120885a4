"""Files: compressed streams, zips of arrays, how far they are read; writing whole; locks.

Nothing in a zip is executed, and no more of it is read than it declares.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import json
import logging
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO, cast
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import zstandard
from filelock import FileLock, Timeout

from arena.data.errors import DataError, Problem, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

WRITING = ".writing-"
"""How the name of a temporary folder begins, in which something is written."""
LOCK_FILE = ".lock"
SAID_AFTER_S = 2.0
"""Seconds of waiting for another process after which that is said."""
_LOG = logging.getLogger(__name__)

BOUNDS_VARIABLE = "SURROGATE_ARENA_BOUNDS"
"""Environment variable by whose number every bound on what is read is multiplied."""
MIB = 2**20
READ_AT_ONCE = MIB
ROWS_AT_ONCE = 10_000
MOST_SMALL_BYTES = 64 * MIB
"""Of a file that is read in one piece."""

_CSV_NAMES = (".csv", ".csv.gz", ".csv.zst")


MOST_LEVELS = 100
"""How deep objects and lists of JSON may lie in each other."""


@dataclass(frozen=True)
class Bounds:
    """How much of a file is read: small files must not fill the memory.

    Attributes:
        expanded: Bytes of a compressed file when expanded, unless it is large itself.
        ratio: By how much a large file may expand.
        rows: Rows of a table.
        columns: Columns of a table.
        cells: Rows times columns.
        nested: Objects and lists in all rows of a table.
        line: Characters of a line, or of a cell of CSV.
        members: Files in a zip file.
    """

    expanded: int = 256 * MIB
    ratio: int = 100
    rows: int = 5_000_000
    columns: int = 10_000
    cells: int = 200_000_000
    nested: int = 20_000_000
    line: int = 16 * MIB
    members: int = 10_000

    def most_expanded(self, size: int) -> int:
        """Return the bytes that a compressed file of so many bytes may hold."""
        return max(self.expanded, self.ratio * size)

    def check(self, source: str, name: str, found: int, most: int | None = None) -> None:
        """Refuse what is beyond a bound.

        Args:
            source: File that is read.
            name: The bound: one of the attributes.
            found: What the file holds, as far as that is known.
            most: The bound, where it depends on the file.

        Raises:
            DataError: If it is more than the bound.
        """
        most = getattr(self, name) if most is None else most
        if found > most:
            fault = f"holds more than {most:,} {_NOUNS[name]}; nothing of it was taken"
            hint = f"if it is meant to, set {BOUNDS_VARIABLE}=10 to allow ten times as much"
            raise DataError([Problem(source, None, None, None, fault, hint)])


_NOUNS = {
    "expanded": "bytes when expanded",
    "rows": "rows",
    "columns": "columns",
    "cells": "cells",
    "nested": "objects and lists",
    "line": "characters in a line",
    "members": "members",
}


def bounds() -> Bounds:
    """Return the bounds, multiplied by the number in ``SURROGATE_ARENA_BOUNDS`` if it is set.

    Raises:
        UsageError: If the variable is no number of 1 or more.
    """
    text = os.environ.get(BOUNDS_VARIABLE, "").strip()
    if not text:
        return Bounds()
    if not text.isdecimal() or not 1 <= len(text) <= 6 or int(text) < 1:
        raise UsageError(f"{BOUNDS_VARIABLE} is {text!r}; give a whole number from 1")
    factor = int(text)
    return Bounds(**{name: value * factor for name, value in asdict(Bounds()).items()})


def parsed_json(text: str, **hooks: Any) -> Any:  # noqa: ANN401 - whatever it holds
    """Read JSON that is no deeper than all that is done with it can follow.

    Args:
        text: One JSON value.
        hooks: As ``json.loads`` takes them.

    Raises:
        ValueError: If it is no JSON, or nested deeper than ``MOST_LEVELS``.
    """
    try:
        value = json.loads(text, **hooks)
    except RecursionError:
        is_deep = True
    else:
        may_be_deep = text.count("{") + text.count("[") > MOST_LEVELS
        is_deep = may_be_deep and _is_deeper(value, MOST_LEVELS)
    if is_deep:
        raise ValueError(f"nested deeper than {MOST_LEVELS} levels")
    return value


def _is_deeper(value: object, levels: int) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        if not level:
            return False
        parts = (outer.values() if isinstance(outer, dict) else outer for outer in level)
        level = [part for each in parts for part in each if isinstance(part, dict | list)]
    return bool(level)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` that replaces it when the block succeeds.

    Raises:
        UsageError: If ``path`` is a folder, or its own folder does not exist.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file to write to")
    if path.exists() and not path.is_file():  # a device or pipe is written into, not replaced
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder) / path.name
            yield temporary
            with path.open("wb") as target:
                target.write(temporary.read_bytes())
        return
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to write {path.name} to")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=WRITING) as folder:
        temporary = Path(folder) / path.name
        yield temporary
        temporary.replace(path)


def write_text(text: str, path: Path) -> None:
    """Write a text atomically, in UTF-8, with its line ends as they are."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def resolved(path: Path) -> Path:
    """Return an absolute path without links.

    Raises:
        UsageError: If a link leads to itself.
    """
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise UsageError(f"{path} cannot be followed: {error}") from None


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
    folder = resolved(folder)  # so that "." and links work, too
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


def model_file_digest(path: Path) -> str:
    """Return ``file_digest`` of a file of a model, which may hold gigabytes.

    It is computed once while the file's place, time of change and size stay the same.
    """
    stat = path.stat()
    return _digest_once(path.resolve(), stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=1024)
def _digest_once(path: Path, _changed_ns: int, _size: int) -> str:
    return file_digest(path)


@contextmanager
def open_text(path: Path, mode: str = "rt") -> Iterator[TextIO]:
    """Open a UTF-8 text file, compressed where its name ends in ``.gz`` or ``.zst``.

    Args:
        path: File to open.
        mode: ``"rt"`` or ``"wt"``.
    """
    with _open_text(path, mode, "utf-8", "strict") as stream:
        yield stream


def small_file(path: Path, most: int = MOST_SMALL_BYTES) -> bytes:
    """Read a file that is to hold UTF-8 and is read whole: settings, templates, manifests.

    Args:
        path: The file.
        most: Bytes that it may have.

    Returns:
        Its bytes, without the byte order mark of some editors.

    Raises:
        UsageError: If it is no regular file, or larger.
    """
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    with path.open("rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise UsageError(f"{path} has more than {most:,} bytes; it is not what is expected here")
    return content.removeprefix(codecs.BOM_UTF8)


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
        if packed is not raw and binary == "rb":
            bounded = _BoundedStream(packed, path.name, bounds().most_expanded(size_of(raw)))
            packed = cast(IO[bytes], io.BufferedReader(bounded, READ_AT_ONCE))
        with io.TextIOWrapper(packed, encoding, errors, newline) as stream:
            yield stream


def size_of(stream: IO[bytes]) -> int:
    """Return the bytes of a file that is open."""
    return os.fstat(stream.fileno()).st_size


class _BoundedStream(io.RawIOBase):
    """What a compressed file holds, up to so many bytes."""

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
        Bounds().check(self._source, "expanded", self._read, self._most)
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._stream.close()
        super().close()


def read_parquet(source: Path | bytes, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file part by part, no further than the bounds.

    Args:
        source: The file, or its bytes.
        name: What problems call it.
        columns: Columns to read; all by default.

    Raises:
        DataError: If it holds more than the bounds allow.
        pyarrow.ArrowException, OSError: If it is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    limits = bounds()
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    file = pq.ParquetFile(pa.BufferReader(source) if isinstance(source, bytes) else source)
    meta = file.metadata
    limits.check(name, "rows", meta.num_rows)
    limits.check(name, "columns", meta.num_columns)
    limits.check(name, "cells", meta.num_rows * meta.num_columns)
    most, groups = limits.most_expanded(size), range(meta.num_row_groups)
    largest = max((meta.row_group(group).total_byte_size for group in groups), default=1)
    limits.check(name, "expanded", largest, most)
    at_once = max(1, min(ROWS_AT_ONCE, most // max(largest, 1)))  # a text may stand in every row
    expanded, parts = 0, []
    for part in file.iter_batches(batch_size=at_once, columns=columns):
        expanded += part.nbytes
        limits.check(name, "expanded", expanded, most)
        parts.append(part)
    of_group = [meta.row_group(group) for group in groups]
    values = [part.column(at).num_values for part in of_group for at in range(meta.num_columns)]
    limits.check(name, "cells", sum(values))
    schema = file.schema_arrow
    if columns is not None:
        schema = pa.schema([schema.field(column) for column in columns])
    return pa.Table.from_batches(parts, parts[0].schema if parts else schema)


def _packed_stream(raw: IO[bytes], suffix: str, binary: str) -> IO[bytes]:
    if suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw, mode=binary, mtime=0, filename=""))
    if suffix == ".zst" and binary == "rb":  # pyarrow, for zstandard takes a cut file as whole
        import pyarrow as pa

        return cast(IO[bytes], pa.CompressedInputStream(raw, "zstd"))
    if suffix == ".zst":
        compressor = zstandard.ZstdCompressor(write_checksum=True)
        return cast(IO[bytes], compressor.stream_writer(raw, closefd=False))
    return raw


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold other processes off a folder, by a file ``.lock`` in it; says so where it must wait."""
    lock = FileLock(folder / LOCK_FILE)
    try:
        lock.acquire(timeout=SAID_AFTER_S)
    except Timeout:
        _LOG.warning("Waiting for another command that writes to %s", folder)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


_DATE = (1980, 1, 1, 0, 0, 0)
"""Of every member, so that the same content gives the same bytes."""


def write_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Write bytes as a member."""
    member = zipfile.ZipInfo(name, _DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, content)


def write_array(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    """Write an array as a member ``name.npy``."""
    plain = io.BytesIO()
    np.lib.format.write_array(plain, np.ascontiguousarray(array), allow_pickle=False)
    write_member(archive, f"{name}.npy", plain.getvalue())


def check_size(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse a file that says it holds more than the bounds; more is not read of any member.

    Raises:
        DataError: If it does.
    """
    limits, members = bounds(), archive.infolist()
    limits.check(path.name, "members", len(members))
    declared = sum(member.file_size for member in members)
    limits.check(path.name, "expanded", declared, limits.most_expanded(path.stat().st_size))


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read one member, no further than the size it declares.

    Raises:
        UsageError: If it is longer or shorter.
    """
    size = archive.getinfo(name).file_size
    with archive.open(name) as member:
        content = member.read(size + 1)
    if len(content) != size:
        raise UsageError(f"{name} is not as long as it says")
    return content


def read_arrays(archive: zipfile.ZipFile, folder: str) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays whose names begin with a folder, by the rest of their names.

    Raises:
        UsageError: If one is no plain array.
    """
    return {
        name.removeprefix(folder).removesuffix(".npy"): _array(archive, name)
        for name in archive.namelist()
        if name.startswith(folder)
    }


def _array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Read a plain array, whose shape and type must account for every byte."""
    content = read_member(archive, name)
    stream = io.BytesIO(content)
    try:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError("of an unknown version")
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    except ValueError as error:
        raise UsageError(f"{name} is no array ({error})") from error
    start = stream.tell()
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if dtype.kind not in "biuf" or is_fortran or size != len(content) - start:
        raise UsageError(f"{name} is no plain array of the size it names")
    return np.frombuffer(content, dtype, offset=start).reshape(shape)
