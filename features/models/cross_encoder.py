"""Sequence classifiers of pairs of texts, as sentence-transformers runs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.data.errors import UsageError
from arena.llm.local.loading import quiet
from features.declare.feature import Scores
from features.models.model_folder import (
    find_model,
    read_settings,
    refuse_pickles,
    require_neural,
    torch_digest,
)
from features.models.scorer import ModelOptions, pick_device, precision_on

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Pair = tuple[str, str]

_TOKENIZER = "tokenizer.json"
_UNLIMITED = 1_000_000
_COUNT_FROM_PADDING = frozenset(
    {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"}
)


def load_classifier(model: str, options: ModelOptions, most: int) -> Classifier:
    """Load a classifier.

    Args:
        model: Its folder, or its name on the Hugging Face hub.
        options: How to run it.
        most: Tokens it shall take at most, since memory grows with the square.

    Raises:
        UsageError: See ``features.models.load_scorer``.
        MissingDependencyError: If a package it needs is not installed.
    """
    return Classifier(find_model(model, options.download), options, most)


class Classifier:
    """A ``CrossEncoder`` of sentence-transformers with safetensors weights.

    Attributes:
        tokenizer: Its tokenizer.
        longest: Tokens it takes at once, special tokens included.
        config: Its ``config.json``.
        device: Where it runs.
        identity: Digest of its files, and its precision.
    """

    def __init__(self, folder: Path, options: ModelOptions, most: int) -> None:
        require_neural()
        refuse_pickles(folder)
        self.config: Mapping[str, Any] = read_settings(folder, "config.json")
        _refuse_other_models(folder, self.config)
        self.device = pick_device(options.device)
        precision = precision_on(self.device, self.config.get("model_type"))
        self.identity = f"digest={torch_digest(folder)}|precision={precision}"
        self._encoder = _load_encoder(folder, self.device, precision)
        stated = self._encoder.tokenizer.model_max_length
        self.longest = self._encoder.max_seq_length = longest_input([stated], self.config, most)
        self.tokenizer: Tokenizer = self._encoder.tokenizer.backend_tokenizer
        self._batch_size = options.batch_size

    def logits(self, pairs: Sequence[Pair]) -> Scores:
        """Return its logits, shape (pairs, labels)."""
        from torch.nn import Identity

        logits = self._encoder.predict(
            list(pairs),
            batch_size=self._batch_size,
            activation_fn=Identity(),
            show_progress_bar=False,
        )
        return np.asarray(logits, dtype=np.float32).reshape(len(pairs), -1)


def longest_input(stated: Sequence[object], config: Mapping[str, Any], most: int) -> int:
    """Return how many tokens a model takes at once, special tokens included.

    Args:
        stated: What its tokenizer says; numbers from a million on mean nothing.
        config: Its ``config.json``.
        most: What is taken at most.
    """
    limits = [number for number in stated if isinstance(number, int) and 0 < number < _UNLIMITED]
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and positions > 0:
        offset = config.get("model_type") in _COUNT_FROM_PADDING
        limits.append(positions - (int(config.get("pad_token_id") or 0) + 1) * offset)
    return min([*limits, most])


def _load_encoder(folder: Path, device: str, precision: str) -> Any:  # noqa: ANN401
    """Return the model, in evaluation mode."""
    from sentence_transformers import CrossEncoder

    with quiet():
        try:
            encoder = CrossEncoder(
                str(folder),
                device=device,
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True},
            )
        except Exception as error:
            raise UsageError(f"{folder} cannot be loaded: {error}") from error
    if not encoder.tokenizer.is_fast:
        raise UsageError(f"{folder} has no fast tokenizer; save it with a {_TOKENIZER}")
    return (encoder.half() if precision == "fp16" else encoder.float()).eval()


def _refuse_other_models(folder: Path, config: Mapping[str, Any]) -> None:
    """Check that the model classifies: another's classes would be drawn at random."""
    architectures = [str(name) for name in config.get("architectures") or ()]
    if not any(name.endswith("ForSequenceClassification") for name in architectures):
        named = ", ".join(architectures) or "no architecture"
        raise UsageError(
            f"{folder} holds no sequence classifier (its config.json names {named}); "
            "take a model that was trained for the task"
        )
