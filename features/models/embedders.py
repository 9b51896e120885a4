"""Models that embed texts: on this machine by sentence-transformers, or at an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from arena.data.errors import UsageError
from arena.data.types import Floats
from arena.llm.llm_settings import EmbeddingSettings
from arena.llm.replies import read_vector
from arena.llm.requests import Prompt
from features.declare.feature import Item, Scores
from features.models.llm_scorer import EndpointModel, endpoint_model
from features.models.model_folder import (
    ENDPOINT,
    find_model,
    model_digest,
    refuse_unsafe,
    require_model,
)
from features.models.options import ModelOptions
from features.models.scorer import Scorer
from features.models.sentence_models import VERSION, device_and_precision, load_pretrained
from features.text.tokens import without_surrogates


class Embedder:
    """Embeds texts by a ``SentenceTransformer``, length 1."""

    def __init__(self, folder: Path, options: ModelOptions) -> None:
        from sentence_transformers import SentenceTransformer

        device, precision = device_and_precision(options.device, None)
        self._model = load_pretrained(SentenceTransformer, folder, device, precision)
        self.signature = (
            f"embedder:version={VERSION}|digest={model_digest(folder)}|precision={precision}"
            f"|tokens={self._model.max_seq_length}"
        )

    def score(self, items: Sequence[Item]) -> Scores:
        """Embed texts, shape (texts, dimensions), each row of length 1."""
        texts = _single_texts(items)
        if not texts:
            return np.empty((0, 0), np.float32)
        vectors = self._model.encode(
            texts, show_progress_bar=False, convert_to_numpy=True, normalize_embeddings=True
        )
        return np.asarray(vectors, dtype=np.float32)


@dataclass(frozen=True)
class EndpointEmbedder:
    """Embeds texts at an endpoint; the store keeps its replies."""

    llm: EndpointModel
    signature: str | None = None

    @classmethod
    def of(cls, llm: EndpointModel, model: str) -> EndpointEmbedder:
        """Return a model at the same endpoint: ``endpoint:text-embedding-ada-002``."""
        settings = llm.settings.model_dump(exclude={"temperature", "max_tokens", "body"})
        settings["model"] = model.removeprefix(ENDPOINT).strip()
        return cls(replace(llm, settings=EmbeddingSettings(**settings)))

    def score(self, items: Sequence[Item]) -> Scores:
        """Embed texts, (texts, dimensions), of length 1; NaN where failed."""
        replies = self.llm.ask(_single_texts(items), Prompt.of, read_vector)
        lengths = {len(vector) for vector in replies.values if vector is not None}
        if len(lengths) > 1:
            raise UsageError(
                f"{self.llm.settings.model} gave vectors of {min(lengths)} and of {max(lengths)} "
                "numbers; embed all texts by one model"
            )
        # Where every text failed, the dimension is unknown: one column of NaN stands for it.
        vectors = np.full((len(items), max(lengths, default=1)), np.nan)
        for row, vector in enumerate(replies.values):
            if vector is not None:
                vectors[row] = np.array(vector) / np.linalg.norm(vector)
        return vectors.astype(np.float32)


def load_embedder(model: str, options: ModelOptions) -> Scorer:
    """Load a model that embeds texts, of length 1.

    ``endpoint:`` before its name means an OpenAI-compatible endpoint.
    """
    if model.startswith(ENDPOINT):
        return EndpointEmbedder.of(endpoint_model(model, options), model)
    require_model(model)
    folder = find_model(model, options.download)
    refuse_unsafe(folder, is_embedder=True)
    return Embedder(folder, options)


def cosines(vectors: Scores) -> Floats:
    """Return the first vector's cosines with the others, shape (vectors - 1,)."""
    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact**2).sum(axis=1))
    products = (exact[1:] * exact[0]).sum(axis=1)
    bounded: Floats = np.clip(products / (lengths[1:] * lengths[0]), -1.0, 1.0)
    return bounded


def _single_texts(items: Sequence[Item]) -> list[str]:
    if any(len(item) != 1 for item in items):
        raise UsageError("the model embeds single texts")
    return [without_surrogates(item[0]) for item in items]
