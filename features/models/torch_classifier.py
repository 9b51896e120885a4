"""Classifiers of pairs through sentence-transformers and torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.errors import UsageError
from features.models.model_folder import read_settings, refuse_pickles, torch_digest
from features.models.options import ModelOptions
from features.models.packages import require_neural
from features.models.scorer import PROCESSOR, Scores
from features.models.tokens import Window
from features.models.torch_runtime import one_thread, pick_device, precision_on, quiet

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class TorchClassifier:
    """A sequence classifier with safetensors weights.

    On a processor, windows go through one at a time, on one thread: matrix products choose their
    way by the number of rows, so that a row's last bits depend on how many stand beside it. On a
    GPU they go in batches of like length, padded.
    """

    def __init__(self, folder: Path, options: ModelOptions) -> None:
        """Load.

        Raises:
            UsageError: If the folder holds no sequence classifier, or one that would have to be
                unpickled.
            MissingDependencyError: If a package is not installed.
        """
        require_neural()
        refuse_pickles(folder)
        self._config = read_settings(folder, "config.json")
        _refuse_other_models(folder, self._config)
        self._device = pick_device(options.device)
        precision = precision_on(self._device, self._config.get("model_type"))
        self._identity = f"digest={torch_digest(folder)}|precision={precision}"
        self._batch_size = 1 if self._device == PROCESSOR else options.batch_size
        self._model, self._tokenizer = _load(folder, self._device, precision)

    @property
    def tokenizer(self) -> Tokenizer:
        """Its tokenizer."""
        tokenizer: Tokenizer = self._tokenizer.backend_tokenizer
        return tokenizer

    @property
    def stated_lengths(self) -> Sequence[object]:
        """What its tokenizer says of the longest input, in tokens."""
        return (self._tokenizer.model_max_length,)

    @property
    def config(self) -> Mapping[str, Any]:
        """Its ``config.json``."""
        return self._config

    @property
    def device(self) -> str:
        """Where it runs."""
        return self._device

    @property
    def identity(self) -> str:
        """Digest of its files, and its precision."""
        return self._identity

    def logits(self, windows: Sequence[Window]) -> Scores:
        """Return its logits, shape (windows, labels)."""
        rows: list[Scores] = [np.empty(0, np.float32)] * len(windows)
        order = sorted(range(len(windows)), key=lambda place: -len(windows[place].ids))
        with one_thread():
            for start in range(0, len(order), self._batch_size):
                places = order[start : start + self._batch_size]
                found = self._forward([windows[place] for place in places])
                for place, row in zip(places, found, strict=True):
                    rows[place] = row
        return np.stack(rows)

    def _forward(self, batch: Sequence[Window]) -> Scores:
        import torch

        longest = max(len(window.ids) for window in batch)
        inputs = {
            "input_ids": _padded(
                [window.ids for window in batch], longest, self._tokenizer.pad_token_id or 0
            ),
            "attention_mask": _padded([(1,) * len(window.ids) for window in batch], longest, 0),
        }
        if "token_type_ids" in self._tokenizer.model_input_names:
            inputs["token_type_ids"] = _padded([window.types for window in batch], longest, 0)
        with torch.inference_mode():
            moved = {
                name: torch.tensor(rows, dtype=torch.long, device=self._device)
                for name, rows in inputs.items()
            }
            logits: Scores = self._model(**moved).logits.float().cpu().numpy()
        return logits


def _load(folder: Path, device: str, precision: str) -> tuple[Any, Any]:
    """Return the model, in evaluation mode, and its tokenizer."""
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
        raise UsageError(f"{folder} has no fast tokenizer; save it with a tokenizer.json")
    model = encoder.model.half() if precision == "fp16" else encoder.model.float()
    return model.eval(), encoder.tokenizer


def _refuse_other_models(folder: Path, config: Mapping[str, Any]) -> None:
    """Check that the model classifies: another's classes would be drawn at random."""
    architectures = [str(name) for name in config.get("architectures") or ()]
    if not any(name.endswith("ForSequenceClassification") for name in architectures):
        found = ", ".join(architectures) or "no architecture"
        raise UsageError(
            f"{folder} holds no sequence classifier (its config.json names {found}); "
            "take a model that was trained for the task"
        )


def _padded(rows: Sequence[Sequence[int]], length: int, value: int) -> list[list[int]]:
    return [[*row, *[value] * (length - len(row))] for row in rows]
