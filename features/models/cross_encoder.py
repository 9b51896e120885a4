"""Running torch: which device, how many threads, how loud."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from arena.data.errors import UsageError
from features.models.model_folder import (
    PROCESSOR,
    ModelOptions,
    Scores,
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


if TYPE_CHECKING:
    from tokenizers import Tokenizer

OVERLAP = 4
"""Windows overlap by a quarter of their room."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_COUNT_FROM_PADDING = frozenset(
    {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"}
)
_UNLIMITED = 1_000_000


@dataclass(frozen=True)
class Window:
    """Token ids that go through a model, and the type of each: 1 for the second text."""

    ids: tuple[int, ...]
    types: tuple[int, ...]


def clean(text: str) -> str:
    """Replace halves of surrogate pairs, which no tokenizer takes, by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def longest_input(stated: Iterable[object], config: Mapping[str, Any], most: int) -> int:
    """Return how many tokens a model takes at once, special tokens included.

    Args:
        stated: What its tokenizer says; numbers from a million on mean nothing.
        config: Its ``config.json``.
        most: What is taken at most, since memory grows with the square.
    """
    limits = [number for number in stated if isinstance(number, int) and 0 < number < _UNLIMITED]
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and positions > 0:
        offset = config.get("model_type") in _COUNT_FROM_PADDING
        limits.append(positions - (int(config.get("pad_token_id") or 0) + 1) * offset)
    return min([*limits, most])


class PairWindows:
    """Cuts pairs of texts into windows.

    The long text of a pair is cut into windows that overlap by a quarter; the other stands in
    each of them, and is itself cut off at half the room.
    """

    def __init__(self, tokenizer: Tokenizer, longest: int, long_text: int) -> None:
        """Prepare.

        Args:
            tokenizer: The model's; it is left as it is.
            longest: Tokens of a window, special tokens included.
            long_text: Which text of a pair may be long, 0 or 1.

        Raises:
            UsageError: If the tokenizer does not mark where the second text starts, or a window
                has no room for two texts.
        """
        self._tokenizer = _plain(tokenizer)
        self._long_text = long_text
        self._head, self._middle, self._tail = _frame(self._tokenizer)
        self._types = _text_types(self._tokenizer)
        special = [*self._head.ids, *self._middle.ids, *self._tail.ids]
        self._special = frozenset(special)
        self._room = longest - len(special)
        if self._room < OVERLAP:
            raise UsageError(
                f"{longest} tokens are too few for a pair of texts; take another model"
            )

    def cut(self, pair: tuple[str, ...]) -> list[Window]:
        """Return the windows of a pair, in order; at least one."""
        ids = [self._text_ids(text) for text in pair]
        short = ids[1 - self._long_text][: self._room // 2]
        pieces = _pieces(ids[self._long_text], self._room - len(short))
        if self._long_text == 0:
            return [self._window(piece, short) for piece in pieces]
        return [self._window(short, piece) for piece in pieces]

    def _text_ids(self, text: str) -> list[int]:
        found = self._tokenizer.encode(clean(text), add_special_tokens=False).ids
        return [number for number in found if number not in self._special]

    def _window(self, first: list[int], second: list[int]) -> Window:
        parts = (
            (self._head.ids, self._head.types),
            (first, [self._types[0]] * len(first)),
            (self._middle.ids, self._middle.types),
            (second, [self._types[1]] * len(second)),
            (self._tail.ids, self._tail.types),
        )
        return Window(
            tuple(number for ids, _ in parts for number in ids),
            tuple(number for _, types in parts for number in types),
        )


def _pieces(ids: list[int], size: int) -> list[list[int]]:
    """Cut ids into overlapping pieces of a size; the last ends where they end."""
    if len(ids) <= size:
        return [ids]
    step = size - size // OVERLAP
    starts = [*range(0, len(ids) - size, step), len(ids) - size]
    return [ids[start : start + size] for start in starts]


def _plain(tokenizer: Tokenizer) -> Tokenizer:
    """Return a copy that neither pads nor truncates nor reads special tokens in texts."""
    copy = type(tokenizer).from_str(tokenizer.to_str())
    copy.no_padding()
    copy.no_truncation()
    copy.encode_special_tokens = True
    return copy


def _frame(tokenizer: Tokenizer) -> tuple[Window, Window, Window]:
    """Return the special tokens before, between and after two texts."""
    probe = tokenizer.encode("a", "b")
    texts = probe.sequence_ids
    if 0 not in texts or 1 not in texts or None not in texts[texts.index(0) : texts.index(1)]:
        raise UsageError(
            "the tokenizer does not mark where the second text of a pair starts; "
            "take a model that was trained on pairs"
        )
    last = len(texts) - 1 - texts[::-1].index(1)
    cuts = [
        slice(0, texts.index(0)),
        slice(texts.index(None, texts.index(0)), texts.index(1)),
        slice(last + 1, None),
    ]
    head, middle, tail = (Window(tuple(probe.ids[cut]), tuple(probe.type_ids[cut])) for cut in cuts)
    return head, middle, tail


def _text_types(tokenizer: Tokenizer) -> tuple[int, int]:
    probe = tokenizer.encode("a", "b")
    texts = probe.sequence_ids
    return probe.type_ids[texts.index(0)], probe.type_ids[texts.index(1)]


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
    return _load_classifier(folder, options)


def _load_classifier(folder: Path, options: ModelOptions) -> Classifier:
    if onnx_files(folder) and not holds_torch_weights(folder):
        pass

        return OnnxClassifier(folder, options)
    pass

    return TorchClassifier(folder, options)
