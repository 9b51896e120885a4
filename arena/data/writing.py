"""Safe writes: files and folders are replaced whole, locked against other processes."""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from uuid import uuid4

from arena.data.errors import UsageError
from arena.data.files import resolved

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
    """Yield a temporary path that replaces ``path`` when the block succeeds.

    The next writer removes the remains of one that was killed.
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
    """Return what to do about a full or read-only disk; else nothing."""
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
    """Wait until a file and its name are on the disk."""
    # Windows can open no folder, and writes names through.
    for place in (path, path.parent) if os.name == "posix" else (path,):
        descriptor = os.open(place, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_text(text: str, path: Path) -> None:
    """Write UTF-8 atomically, line ends unchanged."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def is_stream(path: Path) -> bool:
    """Return whether a path is a device or pipe, not to be replaced."""
    if not path.exists() or path.is_dir():
        return False
    return not path.is_file() or STREAMS.fullmatch(str(path.absolute())) is not None


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces ``folder`` when the block succeeds.

    Readers find the old or the new one, never a mixture.
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
    return new.with_name(f"{new.name}{LOCK_FILE}")


def _remove_writing(new: Path) -> None:
    shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(_replaced(new), ignore_errors=True)
    with suppress(OSError):
        _writer_lock(new).unlink()


def _remove_abandoned(target: Path) -> None:
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
    """Lock a folder against other processes (``.lock``); log waits."""
    waiting = f"another command that writes to {folder}"
    with held_lock(folder / LOCK_FILE, waiting):
        yield


@contextmanager
def held_lock(path: Path, waiting: str) -> Iterator[None]:
    """Lock a file, made if absent; logs ``Waiting for`` and ``waiting``."""
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
