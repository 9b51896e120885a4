"""The folder of a site, replaced whole if nothing else is in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.data import __version__
from arena.data.errors import UsageError
from arena.data.writing import replaced_folder

MARKER = "site.json"
"""Tells a site of ours from other folders, and lists its files."""
GENERATOR = "surrogate-arena publish"


def check_replaceable(out: Path) -> None:
    """Check that nothing but a site of ours would be lost."""
    if not out.exists():
        return
    if not out.is_dir():
        raise UsageError(f"{out} is a file; name a folder to write the site to")
    if not any(out.iterdir()):
        return
    try:
        content = json.loads((out / MARKER).read_text(encoding="utf-8"))
        is_site = content.get("generator") == GENERATOR
        site_files = {*map(str, content["files"]), MARKER}
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        # Whatever is wrong with the marker, the folder may hold somebody's only copy.
        is_site = False
        site_files = set()
    if not is_site:
        raise UsageError(f"{out} is not empty and holds no site; name a new or empty folder")
    foreign = sorted({*_files(out)} - site_files)
    if foreign:
        listed = ", ".join(foreign[:3]) + (" …" if len(foreign) > 3 else "")
        raise UsageError(
            f"{out} holds files that are not of the site: {listed}; move them elsewhere, "
            "because the site replaces the whole folder"
        )


@contextmanager
def site_folder(out: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes a site when the block succeeds, marked as one of ours."""
    with replaced_folder(out) as folder:
        yield folder
        content = {"generator": GENERATOR, "version": __version__, "files": _files(folder)}
        text = json.dumps(content, indent=1) + "\n"
        (folder / MARKER).write_text(text, encoding="utf-8")


def _files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    )
