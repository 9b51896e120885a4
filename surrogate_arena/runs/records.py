"""Records of how boards were made last, and why to make them again."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.data import __version__
from arena.data.errors import DataError
from arena.data.files import file_digest, small_file
from arena.data.writing import write_text

RECORDS_FILE = "manifest.json"
UNSET = "unset"
LIBRARIES = (
    "numpy",
    "scipy",
    "pandas",
    "scikit-learn",
    "py3langid",
    "langid",
    "rapidfuzz",
    "regex",
    "sentencex",
    "pythainlp",
    "torch",
    "transformers",
    "sentence-transformers",
    "tokenizers",
    "jinja2",
)
"""Packages that what is made is computed or written by: another version makes it again."""

Ingredients = dict[str, str]
"""What a board is made from: names of files to their SHA-256, of settings to their values, and of
libraries to their versions."""


class BoardRecord(BaseModel):
    """Record of how a board was made last, without a clock time.

    ``unfinished`` says why it must be made again though nothing changed.
    """

    model_config = ConfigDict(frozen=True)

    ingredients: Ingredients = {}
    cautions: tuple[str, ...] = ()
    conclusion: str = ""
    unfinished: str = ""
    is_published: bool = False


class RunRecords(BaseModel):
    """``manifest.json`` of an output folder."""

    boards: dict[str, BoardRecord] = {}

    @classmethod
    def read(cls, out: Path) -> RunRecords:
        """Read those of an output folder."""
        path = out / RECORDS_FILE
        if not path.is_file():
            return cls()
        try:
            return cls.model_validate_json(small_file(path))
        except ValidationError as error:
            fault = f"is damaged: {error.errors()[0]['msg']}"
            hint = "remove it; everything is then made again (measured features stay in the cache)"
            raise DataError.of_file(RECORDS_FILE, fault, hint) from error

    def write(self, out: Path) -> None:
        """Write them in one step."""
        write_text(self.model_dump_json(indent=2) + "\n", out / RECORDS_FILE)


def folder_digests(folder: Path, names: Sequence[str], prefix: str) -> Ingredients:
    """Return digests of files in a folder, and in its folders, by path."""
    digests = {}
    for name in names:
        # Nothing lies below a file, which is then meant itself.
        for path in sorted((folder / name).rglob("*")) or [folder / name]:
            if path.is_file():
                digests[f"{prefix}{path.relative_to(folder).as_posix()}"] = file_digest(path)
    return digests


def library_versions() -> Ingredients:
    """Return the versions of this package, Python, and the libraries."""
    python = ".".join(platform.python_version_tuple()[:2])
    versions = {"surrogate-arena": __version__, "python": python}
    return versions | {library: _version(library) for library in LIBRARIES}


@cache
def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Yield which values differ between two mappings, and how."""
    for name in sorted(old.keys() | new.keys()):
        before = old.get(name, UNSET)
        after = new.get(name, UNSET)
        if before == after:
            continue
        # Such as digests.
        is_long = max(len(before), len(after)) > 60
        yield f"{name} changed" if is_long else f"{name}: {before} → {after}"


def shown_values(values: Mapping[str, object], prefix: str = "") -> Ingredients:
    """Return settings as texts, under a prefix."""
    texts = {}
    for name, value in values.items():
        text = UNSET if value is None else str(value)
        if isinstance(value, list):
            text = ", ".join(map(str, value)) or "none"
        texts[prefix + name] = text
    return texts
