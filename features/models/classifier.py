"""A classifier of pairs of texts, whatever runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from features.models.model_folder import find_model, holds_torch_weights, onnx_files
from features.models.options import ModelOptions
from features.models.scorer import Scores
from features.models.tokens import Window

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class Classifier(Protocol):
    """A loaded sequence classifier."""

    @property
    def tokenizer(self) -> Tokenizer:
        """Its tokenizer."""

    @property
    def stated_lengths(self) -> Sequence[object]:
        """What its tokenizer says of the longest input, in tokens."""

    @property
    def config(self) -> Mapping[str, Any]:
        """Its ``config.json``."""

    @property
    def device(self) -> str:
        """Where it runs."""

    @property
    def identity(self) -> str:
        """Digest of its files, and its precision."""

    def logits(self, windows: Sequence[Window]) -> Scores:
        """Return its logits, shape (windows, labels)."""


def load_classifier(model: str, options: ModelOptions) -> Classifier:
    """Load a classifier from safetensors weights, or else from ONNX.

    Args:
        model: Its folder, or its name on the Hugging Face hub.
        options: How to run it.

    Raises:
        UsageError: See ``features.models.load_scorer``.
        MissingDependencyError: If a package it needs is not installed.
    """
    folder = find_model(model, options.download)
    return _load(folder, options)


def _load(folder: Path, options: ModelOptions) -> Classifier:
    if onnx_files(folder) and not holds_torch_weights(folder):
        from features.models.onnx_classifier import OnnxClassifier

        return OnnxClassifier(folder, options)
    from features.models.torch_classifier import TorchClassifier

    return TorchClassifier(folder, options)
