"""What a model is to the engine, and what running one takes: device, precision, silence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from arena.data.errors import UsageError
from arena.text.prompts import NO_TEMPLATES, Templates
from features.declare.feature import Item, Scores

if TYPE_CHECKING:
    from arena.llm.settings import LlmSettings

PROCESSOR = "cpu"
"""The device of models that run on processors."""
AT_ENDPOINT = "endpoint"
"""The same of models that are asked over an API, whose replies a store keeps."""

_NEVER_HALF = ("deberta", "deberta-v2")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class ModelOptions:
    """How models are run; on a processor, scores do not depend on it.

    Attributes:
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``; ``auto`` takes a GPU where there is one.
        batch_size: Sequences that go through a model at once.
        download: Whether a model that is not on this machine may be fetched from the hub.
        llm: How LLMs are asked; address and store, where they are not stated, are what
            ``OPENAI_BASE_URL`` and ``SURROGATE_ARENA_STORE`` say.
        templates: Files in the place of prompts; see ``arena.text.prompts.read_templates``.
    """

    device: str = "auto"
    batch_size: int = 32
    download: bool = False
    llm: LlmSettings | None = None
    templates: Templates = NO_TEMPLATES


class Scorer(Protocol):
    """A loaded model.

    The scores of an item depend on the item alone, not on those scored beside it, to 6 decimals.
    """

    @property
    def device(self) -> str:
        """Where the model runs: ``cpu``, ``cuda``, ``mps``."""

    @property
    def signature(self) -> str:
        """Everything the scores depend on: kind, digest of the weights, settings, precision."""

    def score(self, items: Sequence[Item]) -> Scores:
        """Score items, shape (items, outputs)."""


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


def clean(text: str) -> str:
    """Replace halves of surrogate pairs, which no tokenizer takes, by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
