"""Sequence classifiers of pairs of texts: of sentence-transformers, or a bare ONNX file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from arena.data.errors import UsageError
from arena.llm.local.loading import quiet
from features.declare.feature import Scores
from features.models.model_folder import (
    find_model,
    holds_torch_weights,
    onnx_digest,
    onnx_files,
    read_settings,
    refuse_pickles,
    require_neural,
    require_onnx,
    torch_digest,
)
from features.models.scorer import PROCESSOR, ModelOptions, pick_device, precision_on

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Pair = tuple[str, str]

_TOKENIZER = "tokenizer.json"
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_LOGITS = "logits"
_UNLIMITED = 1_000_000
_COUNT_FROM_PADDING = frozenset(
    {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"}
)


class Classifier(Protocol):
    """A loaded sequence classifier.

    Attributes:
        tokenizer: Its tokenizer.
        longest: Tokens it takes at once, special tokens included.
        config: Its ``config.json``.
        device: Where it runs.
        identity: Digest of its files, and its precision.
    """

    tokenizer: Tokenizer
    longest: int
    config: Mapping[str, Any]
    device: str
    identity: str

    def logits(self, pairs: Sequence[Pair]) -> Scores:
        """Return its logits for pairs that fit, shape (pairs, labels)."""


def load_classifier(model: str, options: ModelOptions, most: int) -> Classifier:
    """Load a classifier from safetensors weights, or else from ONNX.

    Args:
        model: Its folder, or its name on the Hugging Face hub.
        options: How to run it.
        most: Tokens it shall take at most, since memory grows with the square.

    Raises:
        UsageError: See ``features.models.load_scorer``.
        MissingDependencyError: If a package it needs is not installed.
    """
    folder = find_model(model, options.download)
    if onnx_files(folder) and not holds_torch_weights(folder):
        return OnnxClassifier(folder, options, most)
    return TorchClassifier(folder, options, most)


class TorchClassifier:
    """A ``CrossEncoder`` of sentence-transformers with safetensors weights."""

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


class OnnxClassifier:
    """A bare ONNX file with a tokenizer beside it.

    ``CrossEncoder(backend="onnx")`` wants a ``config.json`` and the package optimum besides, and
    makes batches: dynamically quantized models scale by the largest number of the whole batch, so
    that a score would depend on the pairs beside it. Here each pair goes alone.
    """

    def __init__(self, folder: Path, options: ModelOptions, most: int) -> None:
        require_onnx()
        if options.device not in ("auto", PROCESSOR):
            raise UsageError(
                f"ONNX models run on the processor, not on {options.device!r}; "
                "leave the device out, or take a model with safetensors weights"
            )
        model = _only_model(folder)
        self.config: Mapping[str, Any] = read_settings(folder, "config.json")
        self.device = PROCESSOR
        self.identity = f"digest={onnx_digest(model, folder)}|precision=onnx"
        self.tokenizer = _load_tokenizer(folder)
        stated = (
            read_settings(folder, "tokenizer_config.json").get("model_max_length"),
            (self.tokenizer.truncation or {}).get("max_length"),
        )
        self.longest = longest_input(stated, self.config, most)
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(self.longest)
        self._session = _load_session(model)

    def logits(self, pairs: Sequence[Pair]) -> Scores:
        """Return its logits, shape (pairs, labels)."""
        return np.concatenate([self._forward(pair) for pair in pairs])

    def _forward(self, pair: Pair) -> Scores:
        encoding = self.tokenizer.encode(*pair)
        offered = (encoding.ids, encoding.attention_mask, encoding.type_ids)
        inputs = {
            name: np.array([values], dtype=np.int64)
            for name, values in zip(_INPUTS, offered, strict=True)
            if name in {wanted.name for wanted in self._session.get_inputs()}
        }
        return np.asarray(self._session.run([_LOGITS], inputs)[0], dtype=np.float32)


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


def _only_model(folder: Path) -> Path:
    """Return the folder's model: ``model.onnx``, or the only one there is."""
    models = onnx_files(folder)
    named = [path for path in models if path.name == "model.onnx"]
    if not named and len(models) > 1:
        names = ", ".join(path.name for path in models)
        raise UsageError(f"{folder} holds several models ({names}); name one of them model.onnx")
    return (named or models)[0]


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
    from onnxruntime import InferenceSession, SessionOptions

    settings = SessionOptions()
    settings.log_severity_level = 3
    settings.intra_op_num_threads = 1  # workers are processes; threads beside them are slower
    try:
        session = InferenceSession(str(model), settings, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise UsageError(f"{model} cannot be loaded: {error}") from error
    inputs = {wanted.name for wanted in session.get_inputs()}
    outputs = {given.name for given in session.get_outputs()}
    if not inputs <= set(_INPUTS) or _LOGITS not in outputs:
        raise UsageError(
            f"{model} is no sequence classifier: it takes {', '.join(sorted(inputs))} and gives "
            f"{', '.join(sorted(outputs))}; export it with its classification head"
        )
    return session
