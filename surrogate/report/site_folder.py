"""The folder of a site: written beside its place, then put there whole."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from arena.errors import UsageError
from arena.version import __version__

MARKER = "site.json"
"""Tells a site of ours from other folders, and lists its files."""

_GENERATOR = "surrogate-arena report"


@contextmanager
def replaced_site(out: Path) -> Iterator[Path]:
    """Yield an empty folder that takes the place of ``out`` when the block succeeds.

    Raises:
        UsageError: If ``out`` is a file, or a folder that holds anything but a site.
    """
    out = out.resolve()
    check_replaceable(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".writing-") as workshop:
        fresh = Path(workshop) / "fresh"
        fresh.mkdir()
        yield fresh
        _write_marker(fresh)
        _put(fresh, out, Path(workshop) / "former")


def check_replaceable(out: Path) -> None:
    """Check that nothing but a site of ours would be lost.

    Raises:
        UsageError: If something else would be.
    """
    if not out.exists():
        return
    if not out.is_dir():
        raise UsageError(f"{out} is a file; name a folder to write the site to")
    present = _files(out)
    if not any(out.iterdir()):
        return
    known = _listed(out)
    if known is None:
        raise UsageError(f"{out} is not empty and holds no site; name a folder of its own")
    foreign = sorted(present - known - {MARKER})
    if foreign:
        named = ", ".join(foreign[:3]) + (" …" if len(foreign) > 3 else "")
        raise UsageError(
            f"{out} holds files that are not of the site: {named}; move them elsewhere, "
            "for the site is replaced whole"
        )


def _files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }


def _listed(folder: Path) -> set[str] | None:
    """Return the files that a site lists; None for a folder that is no site."""
    try:
        content = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(content, Mapping) or content.get("generator") != _GENERATOR:
        return None
    files = content.get("files")
    return {str(name) for name in files} if isinstance(files, list) else None


def _write_marker(folder: Path) -> None:
    content = {
        "generator": _GENERATOR,
        "version": __version__,
        "files": sorted(_files(folder)),
    }
    text = json.dumps(content, indent=1) + "\n"
    (folder / MARKER).write_text(text, encoding="utf-8")


def _put(fresh: Path, out: Path, former: Path) -> None:
    if not out.exists():
        fresh.rename(out)
        return
    out.rename(former)
    try:
        fresh.rename(out)
    except OSError:
        former.rename(out)
        raise
    shutil.rmtree(former)
