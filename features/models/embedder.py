"""Embeddings: texts as vectors, near where they mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from arena.data.errors import UsageError
from arena.llm.local.loading import quiet
from arena.llm.replies import read_vector
from arena.llm.settings import EmbeddingSettings, Prompt
from features.declare.feature import Item, Scores
from features.models.llm_scorer import EndpointModel, load_llm
from features.models.model_folder import (
    ENDPOINT,
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
)

VERSION = 2
"""Raised whenever the same model would give other vectors."""

_OWN_MODULES = "sentence_transformers."


def load_embedder(model: str, options: ModelOptions) -> Scorer:
    """Load a model that turns a text into a vector of length 1.

    A name such as ``endpoint:text-embedding-ada-002`` is that of a model at an OpenAI-compatible
    endpoint, see ``EndpointEmbedder``. Any other is that of a sentence-transformers model, which
    encodes texts as its own ``encode`` does: with its default prompt if its settings name one, and
    without what goes beyond its longest input.

    Args:
        model: Its folder, its name on the Hugging Face hub, or ``endpoint:`` and its name there.
        options: How to run it; for an endpoint's, see ``features.models.llm_scorer.load_llm``.

    Raises:
        UsageError: If it is no sentence-transformers model, or brings code of its own; see also
            ``features.models.load_scorer``.
        MissingDependencyError: If a package it needs is not installed.
    """
    if model.startswith(ENDPOINT):
        return EndpointEmbedder(load_llm(model, options)).named(model)
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


@dataclass(frozen=True)
class EndpointEmbedder:
    """A model at an endpoint that embeds texts; replies are kept in the store as an LLM's are.

    Attributes:
        llm: Where it is asked, and the file that keeps replies.
    """

    llm: EndpointModel

    def named(self, model: str) -> EndpointEmbedder:
        """Return the same endpoint with a model of it: ``endpoint:text-embedding-ada-002``."""
        stated = self.llm.settings.model_dump(exclude={"temperature", "max_tokens", "body"})
        stated["model"] = model.removeprefix(ENDPOINT).strip()
        return EndpointEmbedder(replace(self.llm, settings=EmbeddingSettings(**stated)))

    @property
    def device(self) -> str:
        """``endpoint``: the calls are made by one process, many at a time."""
        return self.llm.device

    @property
    def signature(self) -> str:
        """The model; not where it is asked."""
        return f"embedder:{ENDPOINT}{self.llm.settings.model}"

    def score(self, items: Sequence[Item]) -> Scores:
        """Embed texts, shape (texts, dimensions), each row of length 1.

        A text that could not be embedded has a row of NaN: what failed in passing is asked again
        when it is scored again.

        Raises:
            UsageError: If an item is no single text, the endpoint or the store cannot be used, or
                vectors differ in length.
            MissingDependencyError: If the extra ``llm`` is not installed.
        """
        if any(len(item) != 1 for item in items):
            raise UsageError("the model embeds single texts")
        asked = self.llm.ask(items, lambda item: Prompt.of(clean(item[0])), read_vector)
        lengths = {len(vector) for vector in asked.values if vector is not None}
        if len(lengths) > 1:
            raise UsageError(
                f"{self.llm.settings.model} gave vectors of {min(lengths)} and of {max(lengths)} "
                "numbers; embed all texts by one model"
            )
        vectors = np.full((len(items), max(lengths, default=1)), np.nan)
        for row, vector in enumerate(asked.values):
            if vector is not None:
                vectors[row] = np.array(vector) / np.linalg.norm(vector)
        return vectors.astype(np.float32)


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
