"""Models on this machine, as sentence-transformers runs them: NLI, rerankers, embedders."""

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
from arena.data.types import Floats
from features.declare.feature import Item, Scores
from features.models.model_folder import (
    ENDPOINT,
    find_model,
    model_digest,
    read_model_config,
    refuse_unsafe,
    require_model,
)
from features.models.scorer import OUTPUTS, ModelOptions, Scorer

VERSION = 3
"""Raised whenever the same model would give other scores."""
NLI_TOKENS, RERANKER_TOKENS = 512, 1024
"""Tokens of a pair at most, also where a model would take more: memory grows with the square."""
STRIDE = 4
"""Windows of a long text overlap by a quarter of their room."""

_UNLIMITED = 1_000_000
_NEVER_HALF = ("deberta", "deberta-v2")
_COUNT_FROM_PADDING = ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LABELS = {
    **dict.fromkeys(("entailment", "entail", "entails", "entailed"), "entailment"),
    "neutral": "neutral",
    **dict.fromkeys(("contradiction", "contradict", "contradicts"), "contradiction"),
}


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' notices of its own future, and its progress bars, off the screen."""
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
    """Scores pairs by a ``CrossEncoder``; of a long text the best of overlapping windows counts.

    Attributes:
        signature: Kind, version of this code, digest of the model, precision and length.
    """

    def __init__(
        self,
        kind: str,
        folder: Path,
        options: ModelOptions,
        outputs: Callable[[Scores], Scores],
        long_text: int,
    ) -> None:
        """Load the model.

        Args:
            kind: ``nli`` or ``reranker``.
            folder: Of the model.
            options: How to run it.
            outputs: Turns logits, shape (windows, labels), into outputs, the first of which says
                how good a window is.
            long_text: Which text of a pair is cut into windows, 0 or 1; the other stands in each
                of them, and is itself cut off at half the room.
        """
        from sentence_transformers import CrossEncoder

        config = read_model_config(folder)
        device, precision = _device_and_precision(options.device, config.get("model_type"))
        self._encoder = _loaded(
            CrossEncoder, folder, device, precision, model_kwargs={"use_safetensors": True}
        )
        self._tokenizer = self._encoder.tokenizer
        if not self._tokenizer.is_fast:
            raise UsageError(f"{folder} has no fast tokenizer; save it with a tokenizer.json")
        longest = self._encoder.max_seq_length = longest_input(
            self._tokenizer.model_max_length,
            config,
            NLI_TOKENS if kind == "nli" else RERANKER_TOKENS,
        )
        self._room = longest - self._tokenizer.num_special_tokens_to_add(pair=True)
        if self._room < STRIDE:
            raise UsageError(f"{longest} tokens are too few for a pair; take another model")
        special = map(re.escape, self._tokenizer.all_special_tokens)
        self._special = re.compile("|".join(special) or "(?!)")
        self._outputs, self._long_text = outputs, long_text
        self.signature = (
            f"{kind}:version={VERSION}|digest={model_digest(folder)}|precision={precision}"
            f"|tokens={longest}"
        )

    def score(self, items: Sequence[Item]) -> Scores:
        """Score pairs of texts of any length, shape (pairs, outputs).

        Raises:
            UsageError: If an item is no pair.
            ArenaError: If the model gives something that is no finite number.
        """
        if any(len(item) != 2 for item in items):
            raise UsageError("the model scores pairs of texts")
        if not items:
            return np.empty((0, 0), np.float32)
        windows = [self.windows(item) for item in items]
        outputs = self._outputs(self.logits([window for group in windows for window in group]))
        if not np.isfinite(outputs).all():
            raise ArenaError(f"the model gave no number ({self.signature})")
        bounds = pairwise(np.cumsum([0, *map(len, windows)]).tolist())
        return outputs[[start + int(outputs[start:end, 0].argmax()) for start, end in bounds]]

    def logits(self, pairs: Sequence[Item]) -> Scores:
        """Return the model's logits, shape (pairs, labels)."""
        from torch.nn import Identity

        logits = self._encoder.predict(
            list(pairs), activation_fn=Identity(), show_progress_bar=False
        )
        return np.asarray(logits, dtype=np.float32).reshape(len(pairs), -1)

    def windows(self, pair: Item) -> list[Item]:
        """Return the windows of a pair, in order; at least one. No text writes a separator."""
        texts = [self._special.sub(" ", clean(text)) for text in pair]
        short, tokens = self._pieces(texts[1 - self._long_text], self._room // 2)[0]
        long = [piece for piece, _ in self._pieces(texts[self._long_text], self._room - tokens)]
        return [(piece, short) if self._long_text == 0 else (short, piece) for piece in long]

    def _pieces(self, text: str, size: int) -> list[tuple[str, int]]:
        """Cut a text into overlapping pieces of so many tokens, and count those of each."""
        cut = self._tokenizer(
            text,
            add_special_tokens=False,
            truncation=True,
            max_length=size,
            stride=size // STRIDE,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )["offset_mapping"]
        if len(cut) == 1:
            return [(text, len(cut[0]))]
        return [(text[piece[0][0] : piece[-1][1]], len(piece)) for piece in cut]


def load_nli(model: str, options: ModelOptions) -> Scorer:
    """Load a model that gives the probabilities of ``OUTPUTS`` for premise and hypothesis.

    Of a long premise the window with the highest entailment gives all three.

    Raises:
        UsageError: If its labels are not these three; see also ``features.models.load_scorer``.
        MissingDependencyError: If a package it needs is not installed.
    """
    folder = _classifier(model, options)
    order = list(label_order(model, read_model_config(folder)))

    def probabilities(logits: Scores) -> Scores:
        shares: Scores = softmax(logits[:, order].astype(np.float64), axis=1).astype(np.float32)
        return shares

    return PairScorer("nli", folder, options, probabilities, long_text=0)


def load_reranker(model: str, options: ModelOptions) -> Scorer:
    """Load a model that gives one logit, without a sigmoid, for query and passage.

    Raises:
        UsageError: If it has several outputs; see also ``features.models.load_scorer``.
        MissingDependencyError: If a package it needs is not installed.
    """
    scorer = PairScorer(
        "reranker", _classifier(model, options), options, lambda logits: logits, long_text=1
    )
    outputs = scorer.logits([("a", "b")]).shape[1]
    if outputs != 1:
        raise UsageError(
            f"the model {model!r} has {outputs} outputs; a reranker has one: take another model"
        )
    return scorer


def label_order(model: str, config: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the columns of entailment, neutral and contradiction among a model's outputs.

    Args:
        model: Its name, for messages.
        config: Its ``config.json``, whose ``id2label`` names the outputs.

    Raises:
        UsageError: If the names do not tell. A model that knows entailment and not-entailment
            only cannot say which of the rest is neutral and which contradiction.
    """
    named = {int(column): str(name) for column, name in (config.get("id2label") or {}).items()}
    columns = {_LABELS.get(name.strip().lower()): column for column, name in named.items()}
    if len(named) != len(OUTPUTS) or any(name not in columns for name in OUTPUTS):
        shown = ", ".join(f"{column}: {named[column]!r}" for column in sorted(named)) or "nothing"
        raise UsageError(
            f"the model {model!r} does not say which output is which: id2label in its config.json "
            f"names {shown}; it should name entailment, neutral and contradiction. Write them "
            "there if the model has these three, or take one that does"
        )
    return tuple(columns[name] for name in OUTPUTS)


def longest_input(stated: int, config: Mapping[str, Any], most: int) -> int:
    """Return how many tokens a model takes at once, special tokens included.

    Args:
        stated: What its tokenizer says; a million and more mean nothing.
        config: Its ``config.json``; some models count places from behind their padding.
        most: What is taken at most.
    """
    limits = [most, stated] if 0 < stated < _UNLIMITED else [most]
    positions = int(config.get("max_position_embeddings") or 0)
    if positions > 0:
        offset = config.get("model_type") in _COUNT_FROM_PADDING
        limits.append(positions - (int(config.get("pad_token_id") or 0) + 1) * offset)
    return min(limits)


class Embedder:
    """Turns texts into vectors of length 1 by a ``SentenceTransformer``.

    It encodes as its own ``encode`` does: with its default prompt if its settings name one, and
    without what goes beyond its longest input.

    Attributes:
        signature: Kind, version of this code, digest of the model, precision and length.
    """

    def __init__(self, folder: Path, options: ModelOptions) -> None:
        from sentence_transformers import SentenceTransformer

        device, precision = _device_and_precision(options.device, None)
        self._model = _loaded(SentenceTransformer, folder, device, precision)
        self.signature = (
            f"embedder:version={VERSION}|digest={model_digest(folder)}|precision={precision}"
            f"|tokens={self._model.max_seq_length}"
        )

    def score(self, items: Sequence[Item]) -> Scores:
        """Embed texts, shape (texts, dimensions), each row of length 1.

        Raises:
            UsageError: If an item is no single text.
        """
        texts = single_texts(items)
        if not texts:
            return np.empty((0, 0), np.float32)
        vectors = self._model.encode(
            texts, show_progress_bar=False, convert_to_numpy=True, normalize_embeddings=True
        )
        return np.asarray(vectors, dtype=np.float32)


def load_embedder(model: str, options: ModelOptions) -> Scorer:
    """Load a model that turns a text into a vector of length 1.

    Args:
        model: Its folder, its name on the Hugging Face hub, or ``endpoint:`` and its name at an
            OpenAI-compatible endpoint, such as ``endpoint:text-embedding-ada-002``.
        options: How to run it; for an endpoint's, see ``features.models.llm_scorer``.

    Raises:
        UsageError: If it is no sentence-transformers model, or brings code of its own; see also
            ``features.models.load_scorer``.
        MissingDependencyError: If a package it needs is not installed.
    """
    if model.startswith(ENDPOINT):
        from features.models.llm_scorer import EndpointEmbedder, endpoint_model

        return EndpointEmbedder.of(endpoint_model(model, options), model)
    require_model(model)
    folder = find_model(model, options.download)
    refuse_unsafe(folder, is_embedder=True)
    return Embedder(folder, options)


def single_texts(items: Sequence[Item]) -> list[str]:
    """Return the texts of items to embed.

    Raises:
        UsageError: If an item is no single text.
    """
    if any(len(item) != 1 for item in items):
        raise UsageError("the model embeds single texts")
    return [clean(item[0]) for item in items]


def clean(text: str) -> str:
    """Replace halves of surrogate pairs, which no tokenizer takes, by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def cosines(vectors: Scores) -> Floats:
    """Return the cosine of the first vector with each of the others, shape (vectors - 1,)."""
    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact**2).sum(axis=1))
    products = (exact[1:] * exact[0]).sum(axis=1)
    near: Floats = np.clip(products / (lengths[1:] * lengths[0]), -1.0, 1.0)
    return near


def _classifier(model: str, options: ModelOptions) -> Path:
    """Return the folder of a classifier; another model's classes would be drawn at random."""
    require_model(model)
    folder = find_model(model, options.download)
    refuse_unsafe(folder, is_embedder=False)
    architectures = [str(name) for name in read_model_config(folder).get("architectures") or ()]
    if not any(name.endswith("ForSequenceClassification") for name in architectures):
        named = ", ".join(architectures) or "no architecture"
        raise UsageError(
            f"{folder} holds no sequence classifier (its config.json names {named}); "
            "take a model that was trained for the task"
        )
    return folder


def _device_and_precision(asked: str, model_type: object) -> tuple[str, str]:
    """Return the device to run on, and ``fp16`` on cuda, else ``fp32``.

    DeBERTa keeps ``fp32``: its multilingual models overflow in half precision.

    Raises:
        UsageError: For a device that is unknown, or that this machine lacks.
    """
    import torch

    cuda = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    there = ["cuda"] * bool(cuda) + ["mps"] * torch.backends.mps.is_available() + ["cpu"]
    device = there[0] if asked == "auto" else asked
    if device not in (*there, *cuda):
        raise UsageError(f"this machine has no device {asked!r}; it has: auto, {', '.join(there)}")
    is_half = device.startswith("cuda") and model_type not in _NEVER_HALF
    return device, "fp16" if is_half else "fp32"


def _loaded(kind: Any, folder: Path, device: str, precision: str, **options: Any) -> Any:  # noqa: ANN401 - of sentence-transformers
    """Load a model for inference, without code of its own and without the network."""
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
