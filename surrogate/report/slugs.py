"""Names of files for systems, whatever a system is called."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

LONGEST = 60
DIGEST_DIGITS = 8

_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|conin|conout|index)")
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Give every name a slug of lower-case ASCII letters, digits and hyphens.

    A name that cannot be told from its slug gets a digest behind it, so that names which differ
    only in case or in punctuation stay apart on every file system, and a system keeps its address
    from board to board.

    Args:
        names: Distinct names.

    Returns:
        Name to slug, unique and at most ``LONGEST`` characters long, none of them reserved on
        Windows.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(set(names)):
        digits = DIGEST_DIGITS
        slug = _slug(name, 0 if _is_plain(name) else digits)
        while slug in taken:
            slug, digits = _slug(name, digits), digits + 4
        found[name] = slug
        taken.add(slug)
    return found


def _is_plain(name: str) -> bool:
    return bool(name) and _stem(name) == name and not _RESERVED.fullmatch(name)


def _slug(name: str, digits: int) -> str:
    if not digits:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    stem = _stem(name)[: LONGEST - digits - 1].strip("-")
    return f"{stem}-{digest}" if stem else f"system-{digest}"


def _stem(name: str) -> str:
    return _NOT_PLAIN.sub("-", name.lower()).strip("-")[:LONGEST]
