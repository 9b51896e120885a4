"""The model of py3langid, expanded once per machine."""

from __future__ import annotations

import io
import lzma
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.data.errors import UsageError
from arena.data.files import replaced_folder, synchronize

Arrays = Mapping[str, npt.NDArray[Any]]

NAMES = ("ptc", "pc", "classes", "nextmove", "nextmove_row", "out_feat")
"""The arrays that the model consists of."""


def cache_folder() -> Path:
    """Return this user's folder for files that can be made again."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "surrogate-arena"


def language_model() -> Arrays:
    """Return the arrays of py3langid's model, by name.

    The package has them compressed to 5 MB, and expanding them takes a third of a second. Expanded
    (68 MB), they are kept in the user's cache folder and mapped into memory, which processes share.
    Where nothing can be written there, each process expands them.
    """
    from py3langid.langid import MODEL_DIR, MODEL_FILE

    packed = (MODEL_DIR / MODEL_FILE).read_bytes()
    # RuntimeError: a user without a home folder.
    with suppress(OSError, RuntimeError, UsageError):
        # Another version of the package has another model, and a folder of its own.
        folder = cache_folder() / f"py3langid-{blake2b(packed, digest_size=8).hexdigest()}"
        if not folder.is_dir():
            _write(_expanded(packed), folder)
        with suppress(ValueError, EOFError):  # of files that somebody else cut or changed
            return _mapped(folder)
    return _expanded(packed)


def _expanded(packed: bytes) -> Arrays:
    arrays = np.load(io.BytesIO(lzma.decompress(packed)))
    return {name: arrays[name] for name in NAMES}


def _mapped(folder: Path) -> Arrays:
    arrays = {}
    for name in NAMES:
        arrays[name] = np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))
    return arrays


def _write(arrays: Arrays, folder: Path) -> None:
    with replaced_folder(folder) as target:
        for name, array in arrays.items():
            path = target / f"{name}.npy"
            np.save(path, array, allow_pickle=False)
            synchronize(path)
