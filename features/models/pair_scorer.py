"""Scoring pairs of texts by their best window: natural-language inference, and reranking."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from arena.data.errors import ArenaError, UsageError
from features.declare.asked import OUTPUTS
from features.declare.feature import Item, Scores
from features.models.cross_encoder import Classifier, Pair, load_classifier
from features.models.scorer import ModelOptions, Scorer, clean

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

VERSION = 2
"""Raised whenever the same model would give other scores."""

OVERLAP = 4
"""Windows overlap by a quarter of their room."""


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
            UsageError: If a window has no room for two texts.
        """
        self._tokenizer = type(tokenizer).from_str(tokenizer.to_str())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        special = [
            re.escape(token.content)
            for token in tokenizer.get_added_tokens_decoder().values()
            if token.special
        ]
        self._special = re.compile("|".join(special) or "(?!)")
        self._room = longest - tokenizer.num_special_tokens_to_add(True)
        if self._room < OVERLAP:
            raise UsageError(
                f"{longest} tokens are too few for a pair of texts; take another model"
            )
        self._long_text = long_text

    def cut(self, pair: Item) -> list[Pair]:
        """Return the windows of a pair, in order; at least one. No text writes a separator."""
        texts = [self._special.sub(" ", clean(text)) for text in pair]
        short, long = texts[1 - self._long_text], texts[self._long_text]
        beginning, length = self._pieces(short, self._room // 2)[0]
        pieces = [piece for piece, _ in self._pieces(long, self._room - length)]
        if self._long_text == 0:
            return [(piece, beginning) for piece in pieces]
        return [(beginning, piece) for piece in pieces]

    def _pieces(self, text: str, size: int) -> list[tuple[str, int]]:
        """Cut a text into overlapping pieces of so many tokens, and count those of each."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        if len(encoding) <= size:
            return [(text, len(encoding))]
        encoding.truncate(size, stride=size // OVERLAP)
        return [_piece(text, window) for window in (encoding, *encoding.overflowing)]


def _piece(text: str, window: Encoding) -> tuple[str, int]:
    return text[window.offsets[0][0] : window.offsets[-1][1]], len(window)


class PairScorer:
    """Scores pairs; a long text is seen in windows, and the best of them counts.

    All windows are scored, so that the time grows with the length of the text.
    """

    def __init__(
        self,
        kind: str,
        classifier: Classifier,
        outputs: Callable[[Scores], Scores],
        long_text: int,
    ) -> None:
        """Prepare.

        Args:
            kind: Name of the kind of model.
            classifier: The model.
            outputs: Turns logits, shape (windows, labels), into outputs, the first of which says
                how good a window is.
            long_text: Which text of a pair is cut into windows, 0 or 1.
        """
        self._classifier = classifier
        self._outputs = outputs
        self._windows = PairWindows(classifier.tokenizer, classifier.longest, long_text)
        self._signature = (
            f"{kind}:version={VERSION}|{classifier.identity}|tokens={classifier.longest}"
            f"|overlap=1/{OVERLAP}"
        )

    @property
    def device(self) -> str:
        """Where the model runs."""
        return self._classifier.device.partition(":")[0]

    @property
    def signature(self) -> str:
        """Kind, version of this code, digest of the model, precision, length and overlap."""
        return self._signature

    def score(self, items: Sequence[Item]) -> Scores:
        """Score pairs.

        Args:
            items: Pairs of texts, of any length, also empty.

        Returns:
            Shape (pairs, outputs).

        Raises:
            UsageError: If an item is no pair.
            ArenaError: If the model gives something that is no finite number.
        """
        if any(len(item) != 2 for item in items):
            raise UsageError("the model scores pairs of texts")
        if not items:
            return np.empty((0, 0), np.float32)
        windows = [self._windows.cut(item) for item in items]
        logits = self._classifier.logits([window for group in windows for window in group])
        if not np.isfinite(logits).all():
            raise ArenaError(f"the model gave no number ({self._signature})")
        outputs = self._outputs(logits)
        bounds = pairwise(np.cumsum([0, *map(len, windows)]).tolist())
        best = [start + int(outputs[start:end, 0].argmax()) for start, end in bounds]
        return outputs[best]


LONGEST = 512
"""Tokens of premise and hypothesis at most, also where a model would take more."""

_NAMES = {
    **dict.fromkeys(("entailment", "entail", "entails", "entailed"), "entailment"),
    "neutral": "neutral",
    **dict.fromkeys(("contradiction", "contradict", "contradicts"), "contradiction"),
}


def load_nli(model: str, options: ModelOptions) -> Scorer:
    """Load a model that scores pairs of premise and hypothesis.

    It gives the probabilities of entailment, neutral and contradiction, which sum to 1. A long
    premise is seen in windows: the one with the highest entailment gives all three.

    Args:
        model: Its folder, or its name on the Hugging Face hub.
        options: How to run it.

    Raises:
        UsageError: If its labels are not these three; see also ``features.models.load_scorer``.
        MissingDependencyError: If a package it needs is not installed.
    """
    classifier = load_classifier(model, options, LONGEST)
    order = list(label_order(model, classifier.config))

    def probabilities(logits: Scores) -> Scores:
        shares: Scores = softmax(logits[:, order].astype(np.float64), axis=1).astype(np.float32)
        return shares

    return PairScorer("nli", classifier, probabilities, long_text=0)


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
    columns = {_NAMES.get(name.strip().lower()): column for column, name in named.items()}
    if len(named) != len(OUTPUTS) or any(name not in columns for name in OUTPUTS):
        shown = ", ".join(f"{column}: {named[column]!r}" for column in sorted(named)) or "nothing"
        raise UsageError(
            f"the model {model!r} does not say which output is which: id2label in its config.json "
            f"names {shown}; it should name entailment, neutral and contradiction. Write them "
            "there if the model has these three, or take one that does"
        )
    return tuple(columns[name] for name in OUTPUTS)


RERANKER_TOKENS = 1024
"""Tokens of query and passage at most, also where a model would take more."""


def load_reranker(model: str, options: ModelOptions) -> Scorer:
    """Load a model that scores pairs of query and passage.

    It gives the logit as the model does, without a sigmoid, so that scores may be above 1 or
    below 0. A long passage is seen in windows: the best counts.

    Args:
        model: Its folder, or its name on the Hugging Face hub.
        options: How to run it.

    Raises:
        UsageError: If it has several outputs; see also ``features.models.load_scorer``.
        MissingDependencyError: If a package it needs is not installed.
    """
    classifier = load_classifier(model, options, RERANKER_TOKENS)
    outputs = classifier.logits([("a", "b")]).shape[1]
    if outputs != 1:
        raise UsageError(
            f"the model {model!r} has {outputs} outputs; a reranker has one: take another model"
        )
    return PairScorer("reranker", classifier, lambda logits: logits, long_text=1)
