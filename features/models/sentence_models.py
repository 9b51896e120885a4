"""Classifiers of pairs on this machine, as sentence-transformers runs them: NLI and rerankers."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from arena.data.errors import ArenaError, UsageError
from features.declare.feature import Item, Scores
from features.models.model_folder import (
    find_model,
    model_digest,
    read_model_config,
    refuse_unsafe,
    require_model,
)
from features.models.options import ModelOptions
from features.models.scorer import OUTPUTS, Scorer
from features.text.tokens import without_surrogates

VERSION = 3
"""Raised whenever the same model would give other scores."""
MOST_TOKENS = {"nli": 512, "reranker": 1024}
"""Maximum tokens of a pair, even if a model takes more: memory grows with the square."""
STRIDE = 4
"""Windows of a long text overlap by a quarter of their room."""

_NEVER_HALF = ("deberta", "deberta-v2")
_COUNT_FROM_PADDING = ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet")
_LABELS = {
    "entailment": "entailment",
    "entail": "entailment",
    "entails": "entailment",
    "entailed": "entailment",
    "neutral": "neutral",
    "contradiction": "contradiction",
    "contradict": "contradiction",
    "contradicts": "contradiction",
}


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' notices and progress bars off the screen."""
    import transformers

    logging: Any = transformers.utils.logging  # which has no types
    level = logging.get_verbosity()
    has_bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if has_bars:
            logging.enable_progress_bar()


class PairScorer:
    """Scores pairs by a ``CrossEncoder``, long texts by the best window."""

    def __init__(
        self,
        kind: str,
        folder: Path,
        options: ModelOptions,
        outputs: Callable[[Scores], Scores],
        long_text: int,
    ) -> None:
        """Load the model.

        ``outputs`` turns logits, shape (windows, labels), into outputs, the first of which ranks
        windows. Text ``long_text`` (0 or 1) of a pair is cut into windows; the other is cut off at
        half the room.
        """
        from sentence_transformers import CrossEncoder

        config = read_model_config(folder)
        device, precision = device_and_precision(options.device, config.get("model_type"))
        self._encoder = load_pretrained(
            CrossEncoder, folder, device, precision, model_kwargs={"use_safetensors": True}
        )
        self._tokenizer = self._encoder.tokenizer
        if not self._tokenizer.is_fast:
            raise UsageError(f"{folder} has no fast tokenizer; save it with a tokenizer.json")
        longest = longest_input(
            self._tokenizer.model_max_length,
            config,
            MOST_TOKENS[kind],
        )
        self._encoder.max_seq_length = longest
        self._room = longest - self._tokenizer.num_special_tokens_to_add(pair=True)
        if self._room < STRIDE:
            raise UsageError(f"{longest} tokens are too few for a pair; take another model")
        special = map(re.escape, self._tokenizer.all_special_tokens)
        self._special = re.compile("|".join(special) or "(?!)")  # (?!) matches nothing
        self._outputs = outputs
        self._long_text = long_text
        self.signature = (
            f"{kind}:version={VERSION}|digest={model_digest(folder)}|precision={precision}"
            f"|tokens={longest}"
        )

    def score(self, items: Sequence[Item]) -> Scores:
        """Score pairs of texts of any length, shape (pairs, outputs)."""
        if any(len(item) != 2 for item in items):
            raise UsageError("the model scores pairs of texts")
        if not items:
            return np.empty((0, 0), np.float32)
        windows: list[Item] = []
        counts: list[int] = []
        for item in items:
            item_windows = self.windows(item)
            windows += item_windows
            counts.append(len(item_windows))
        outputs = self._outputs(self.logits(windows))
        if not np.isfinite(outputs).all():
            raise ArenaError(f"the model gave no number ({self.signature})")
        # Of each item's windows, the one with the highest first output counts.
        best = []
        for start, end in pairwise(np.cumsum([0, *counts]).tolist()):
            best.append(start + int(outputs[start:end, 0].argmax()))
        return outputs[best]

    def logits(self, pairs: Sequence[Item]) -> Scores:
        """Return the model's logits, shape (pairs, labels)."""
        from torch.nn import Identity

        logits = self._encoder.predict(
            list(pairs), activation_fn=Identity(), show_progress_bar=False
        )
        return np.asarray(logits, dtype=np.float32).reshape(len(pairs), -1)

    def windows(self, pair: Item) -> list[Item]:
        """Return the windows of a pair, in order; at least one."""
        # Special tokens written in a text would pass for the separator of the pair.
        texts = [self._special.sub(" ", without_surrogates(text)) for text in pair]
        short, n_tokens = self._pieces(texts[1 - self._long_text], self._room // 2)[0]
        windows: list[Item] = []
        for piece, _ in self._pieces(texts[self._long_text], self._room - n_tokens):
            windows.append((piece, short) if self._long_text == 0 else (short, piece))
        return windows

    def _pieces(self, text: str, size: int) -> list[tuple[str, int]]:
        # Per piece, the start and end of each token in the text.
        offsets = self._tokenizer(
            text,
            add_special_tokens=False,
            truncation=True,
            max_length=size,
            stride=size // STRIDE,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )["offset_mapping"]
        if len(offsets) == 1:
            return [(text, len(offsets[0]))]
        return [(text[tokens[0][0] : tokens[-1][1]], len(tokens)) for tokens in offsets]


def load_nli(model: str, options: ModelOptions) -> Scorer:
    """Load a model of ``OUTPUTS``' probabilities for premise and hypothesis.

    Of a long premise the window with the highest entailment gives all three.
    """
    folder = _classifier(model, options)
    order = list(_label_order(model, read_model_config(folder)))

    def probabilities(logits: Scores) -> Scores:
        exact = softmax(logits[:, order].astype(np.float64), axis=1)
        rounded: Scores = exact.astype(np.float32)
        return rounded

    return PairScorer("nli", folder, options, probabilities, long_text=0)


def load_reranker(model: str, options: ModelOptions) -> Scorer:
    """Load a model of one logit for query and passage."""
    scorer = PairScorer(
        "reranker", _classifier(model, options), options, lambda logits: logits, long_text=1
    )
    outputs = scorer.logits([("a", "b")]).shape[1]
    if outputs != 1:
        raise UsageError(
            f"the model {model!r} has {outputs} outputs; a reranker has one: take another model"
        )
    return scorer


def _label_order(model: str, config: Mapping[str, Any]) -> tuple[int, ...]:
    labels = {int(column): str(name) for column, name in (config.get("id2label") or {}).items()}
    columns = {_LABELS.get(name.strip().lower()): column for column, name in labels.items()}
    if len(labels) != len(OUTPUTS) or any(name not in columns for name in OUTPUTS):
        shown = ", ".join(f"{column}: {labels[column]!r}" for column in sorted(labels)) or "nothing"
        raise UsageError(
            f"the model {model!r} does not say which output is which: id2label in its config.json "
            f"names {shown}; it should name entailment, neutral and contradiction. Write them "
            "there if the model has these three, or take one that does"
        )
    return tuple(columns[name] for name in OUTPUTS)


def longest_input(tokenizer_limit: int, config: Mapping[str, Any], most: int) -> int:
    """Return the tokens a model takes at once, ``most`` at most."""
    limits = [most]
    if 0 < tokenizer_limit < 1_000_000:
        limits.append(tokenizer_limit)
    positions = int(config.get("max_position_embeddings") or 0)
    if positions > 0:
        if config.get("model_type") in _COUNT_FROM_PADDING:
            positions -= int(config.get("pad_token_id") or 0) + 1
        limits.append(positions)
    return min(limits)


def _classifier(model: str, options: ModelOptions) -> Path:
    """Return a classifier's folder; others would get random weights."""
    require_model(model)
    folder = find_model(model, options.download)
    refuse_unsafe(folder, is_embedder=False)
    architectures = [str(name) for name in read_model_config(folder).get("architectures") or ()]
    if not any(name.endswith("ForSequenceClassification") for name in architectures):
        names = ", ".join(architectures) or "no architecture"
        raise UsageError(
            f"{folder} holds no sequence classifier (its config.json names {names}); "
            "take a model that was trained for the task"
        )
    return folder


def device_and_precision(device: str, model_type: object) -> tuple[str, str]:
    """Return the device, and ``fp16`` on cuda, else ``fp32``.

    DeBERTa keeps ``fp32``: its multilingual models overflow in half precision.
    """
    import torch

    gpus = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    available = ["cpu"]
    if torch.backends.mps.is_available():
        available.insert(0, "mps")
    if gpus:
        available.insert(0, "cuda")
    if device == "auto":
        device = available[0]
    if device not in (*available, *gpus):
        raise UsageError(
            f"this machine has no device {device!r}; it has: auto, {', '.join(available)}"
        )
    is_half = device.startswith("cuda") and model_type not in _NEVER_HALF
    return device, "fp16" if is_half else "fp32"


def load_pretrained(kind: Any, folder: Path, device: str, precision: str, **options: Any) -> Any:  # noqa: ANN401 - of sentence-transformers
    """Load a model for inference, without code or network."""
    with quiet():
        try:
            model = kind(
                str(folder),
                device=device,
                trust_remote_code=False,
                local_files_only=True,
                **options,
            )
        except Exception as error:
            raise UsageError(f"{folder} cannot be loaded: {error}") from error
    return (model.half() if precision == "fp16" else model.float()).eval()
