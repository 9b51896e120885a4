"""One thread for BLAS and OpenMP: with small matrices, more threads only take more time."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """Keep the numerical libraries that are loaded to one thread."""
    limited: AbstractContextManager[object] = _loaded_libraries(len(sys.modules)).limit(limits=1)
    return limited


@lru_cache(maxsize=1)
def _loaded_libraries(_n_modules: int) -> ThreadpoolController:
    """Look up the loaded libraries, which takes milliseconds, as much as a small fit does.

    They are looked up again once more modules are imported, which may load more of them.
    """
    return ThreadpoolController()
