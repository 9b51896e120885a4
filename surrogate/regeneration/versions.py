"""Versions of what a step's result may depend on."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from arena import __version__

ABSENT = "not installed"

NUMERIC_LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn")
MEASURING_LIBRARIES = (
    "numpy",
    "py3langid",
    "langid",
    "rapidfuzz",
    "regex",
    "sentencex",
    "pythainlp",
)
MODELS_LIBRARIES = ("torch", "transformers", "sentence-transformers", "onnxruntime", "tokenizers")
JUDGING_LIBRARIES = ("openai", "jinja2")
PUBLISHING_LIBRARIES = ("pandas", "jinja2")
EXPORTING_LIBRARIES = ("pandas", "pyarrow")
DRAWING_LIBRARIES = ("pandas", "matplotlib")


def versions_of(libraries: Sequence[str]) -> dict[str, str]:
    """Return the versions of this package, of Python, and of some libraries."""
    python = ".".join(platform.python_version_tuple()[:2])
    found = {library: _version(library) for library in libraries}
    return {"surrogate-arena": __version__, "python": python, **found}


@cache
def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ABSENT
