"""Embeddings: texts as vectors, near where they mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.data.errors import UsageError
from features.declare.feature import Item, Scores
from features.models.model_folder import (
    find_model,
    module_types,
    refuse_pickles,
    require_neural,
    torch_digest,
)
from features.models.scorer import (
    ModelOptions,
    Scorer,
    clean,
    pick_device,
    precision_on,
    quiet,
)

VERSION = 2
"""Raised whenever the same model would give other vectors."""

_OWN_MODULES = "sentence_transformers."


def load_embedder(model: str, options: ModelOptions) -> Scorer:
    """Load a sentence-transformers model that turns a text into a vector of length 1.

    Texts are encoded as the model's own ``encode`` does: with its default prompt if its settings
    name one, and without what goes beyond its longest input.

    Args:
        model: Its folder, or its name on the Hugging Face hub.
        options: How to run it.

    Raises:
        UsageError: If it is no sentence-transformers model, or brings code of its own; see also
            ``features.models.load_scorer``.
        MissingDependencyError: If a package it needs is not installed.
    """
    require_neural()
    folder = find_model(model, options.download)
    _refuse_other_models(folder)
    refuse_pickles(folder)
    return Embedder(folder, options)


class Embedder:
    """A loaded embedding model."""

    def __init__(self, folder: Path, options: ModelOptions) -> None:
        self._device = pick_device(options.device)
        self._batch_size = options.batch_size
        self._model = _load(folder, self._device)
        longest = self._model.max_seq_length
        self._signature = (
            f"embedder:version={VERSION}|digest={torch_digest(folder)}"
            f"|precision={precision_on(self._device)}|tokens={longest}"
        )

    @property
    def device(self) -> str:
        """Where the model runs."""
        return self._device.partition(":")[0]

    @property
    def signature(self) -> str:
        """Kind, version of this code, digest of the model, precision and length."""
        return self._signature

    def score(self, items: Sequence[Item]) -> Scores:
        """Embed texts.

        Args:
            items: Single texts.

        Returns:
            Shape (texts, dimensions), each row of length 1.

        Raises:
            UsageError: If an item is no single text.
        """
        if any(len(item) != 1 for item in items):
            raise UsageError("the model embeds single texts")
        texts = [clean(item[0]) for item in items]
        if not texts:
            return np.empty((0, 0), np.float32)
        vectors = self._model.encode(
            texts,
            batch_size=self._batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=True,
        )
        return np.asarray(vectors, dtype=np.float32)


def cosines(vectors: Scores) -> npt.NDArray[np.float64]:
    """Return the cosine of the first vector with each of the others, shape (vectors - 1,)."""
    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact**2).sum(axis=1))
    products = (exact[1:] * exact[0]).sum(axis=1)
    near: npt.NDArray[np.float64] = np.clip(products / (lengths[1:] * lengths[0]), -1.0, 1.0)
    return near


def _load(folder: Path, device: str) -> Any:  # noqa: ANN401
    from sentence_transformers import SentenceTransformer

    with quiet():
        try:
            model = SentenceTransformer(
                str(folder), device=device, trust_remote_code=False, local_files_only=True
            )
        except Exception as error:
            raise UsageError(f"{folder} cannot be loaded: {error}") from error
    return (model.half() if precision_on(device) == "fp16" else model.float()).eval()


def _refuse_other_models(folder: Path) -> None:
    types = module_types(folder)
    if not types:
        raise UsageError(
            f"{folder} holds no sentence-transformers model: modules.json is not in it; "
            "take one that was trained to embed"
        )
    foreign = [name for name in types if not name.startswith(_OWN_MODULES)]
    if foreign:
        raise UsageError(f"{folder} brings code of its own ({foreign[0]}), which is never run")
