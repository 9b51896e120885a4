"""Classifiers of pairs through ONNX Runtime, from a folder with a model and a tokenizer.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.errors import UsageError
from features.models.model_folder import onnx_digest, onnx_files, read_settings
from features.models.options import ModelOptions
from features.models.packages import require_onnx
from features.models.scorer import PROCESSOR, Scores
from features.models.tokens import Window

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

_TOKENIZER = "tokenizer.json"
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_LOGITS = "logits"


class OnnxClassifier:
    """A sequence classifier in ONNX, on one thread of a processor, one window at a time.

    Dynamically quantised models scale by the largest number of the whole batch, so that a row of
    a batch depends on the others.
    """

    def __init__(self, folder: Path, options: ModelOptions) -> None:
        """Load.

        Raises:
            UsageError: If the folder holds no usable model, or a GPU is asked for.
            MissingDependencyError: If a package is not installed.
        """
        require_onnx()
        if options.device not in ("auto", PROCESSOR):
            raise UsageError(
                f"ONNX models run on the processor, not on {options.device!r}; "
                "leave the device out, or take a model with safetensors weights"
            )
        model = _only_model(folder)
        self._tokenizer = _load_tokenizer(folder)
        self._session = _load_session(model)
        self._config = read_settings(folder, "config.json")
        self._stated = _stated_lengths(folder)
        self._identity = f"digest={onnx_digest(model, folder)}|precision=onnx"

    @property
    def tokenizer(self) -> Tokenizer:
        """Its tokenizer."""
        return self._tokenizer

    @property
    def stated_lengths(self) -> Sequence[object]:
        """What its tokenizer says of the longest input, in tokens."""
        return self._stated

    @property
    def config(self) -> Mapping[str, Any]:
        """Its ``config.json``; empty if it has none."""
        return self._config

    @property
    def device(self) -> str:
        """Where it runs."""
        return PROCESSOR

    @property
    def identity(self) -> str:
        """Digest of its files."""
        return self._identity

    def logits(self, windows: Sequence[Window]) -> Scores:
        """Return its logits, shape (windows, labels)."""
        return np.concatenate([self._forward(window) for window in windows])

    def _forward(self, window: Window) -> Scores:
        offered = {
            "input_ids": window.ids,
            "attention_mask": (1,) * len(window.ids),
            "token_type_ids": window.types,
        }
        taken = {
            wanted.name: np.array([offered[wanted.name]], dtype=np.int64)
            for wanted in self._session.get_inputs()
        }
        return np.asarray(self._session.run([_LOGITS], taken)[0], dtype=np.float32)


def _only_model(folder: Path) -> Path:
    """Return the folder's model: ``model.onnx``, or the only one there is."""
    found = onnx_files(folder)
    named = [path for path in found if path.name == "model.onnx"]
    if not named and len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise UsageError(f"{folder} holds several models ({names}); name one of them model.onnx")
    return (named or found)[0]


def _load_tokenizer(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    path = folder / _TOKENIZER
    if not path.is_file():
        raise UsageError(f"{folder} holds an ONNX model without {_TOKENIZER}; put it beside it")
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:
        raise UsageError(f"{path} cannot be loaded: {error}") from error


def _load_session(model: Path) -> InferenceSession:
    from onnxruntime import ExecutionMode, InferenceSession, SessionOptions

    settings = SessionOptions()
    settings.intra_op_num_threads = 1
    settings.inter_op_num_threads = 1
    settings.execution_mode = ExecutionMode.ORT_SEQUENTIAL
    settings.log_severity_level = 3
    try:
        session = InferenceSession(str(model), settings, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise UsageError(f"{model} cannot be loaded: {error}") from error
    inputs = {wanted.name for wanted in session.get_inputs()}
    outputs = {given.name for given in session.get_outputs()}
    if not inputs <= _INPUTS or _LOGITS not in outputs:
        raise UsageError(
            f"{model} is no sequence classifier: it takes {', '.join(sorted(inputs))} and gives "
            f"{', '.join(sorted(outputs))}; export it with its classification head"
        )
    return session


def _stated_lengths(folder: Path) -> tuple[object, ...]:
    truncation = read_settings(folder, _TOKENIZER).get("truncation") or {}
    stated = read_settings(folder, "tokenizer_config.json").get("model_max_length")
    return stated, truncation.get("max_length")
