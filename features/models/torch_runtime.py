"""Running torch: which device, how many threads, how loud."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from typing import Any

from arena.errors import UsageError
from features.models.scorer import PROCESSOR

_NEVER_HALF = ("deberta", "deberta-v2")

_TURN = RLock()


def pick_device(asked: str) -> str:
    """Return the device to run on: ``cpu``, ``mps``, or ``cuda`` with or without a number.

    Raises:
        UsageError: For a device that is unknown, or that this machine lacks.
    """
    import torch

    present = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        PROCESSOR: True,
    }
    if asked == "auto":
        return next(name for name, is_there in present.items() if is_there)
    kind, _, number = asked.partition(":")
    numbered = kind == "cuda" and number.isdecimal() and int(number) < torch.cuda.device_count()
    if not present.get(kind, False) or (asked != kind and not numbered):
        there = ", ".join(name for name, is_there in present.items() if is_there)
        raise UsageError(f"this machine has no device {asked!r}; it has: auto, {there}")
    return asked


def precision_on(device: str, model_type: object = None) -> str:
    """Return the precision a model has on a device: ``fp16`` on cuda, ``fp32`` elsewhere.

    DeBERTa keeps ``fp32``: its multilingual models overflow in half precision.
    """
    return "fp16" if device.startswith("cuda") and model_type not in _NEVER_HALF else "fp32"


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread: a sum split over threads differs in its last bits.

    The number of threads is the process's own, so that callers take turns.
    """
    import torch

    with _TURN:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from printing bars and notes while a model is loaded."""
    logging: Any = import_module("transformers.utils.logging")
    verbosity = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
