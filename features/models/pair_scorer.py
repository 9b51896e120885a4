"""Scoring pairs of texts by their best window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from arena.data.errors import ArenaError, UsageError
from features.models.cross_encoder import (
    OVERLAP,
    Classifier,
    PairWindows,
    Window,
    load_classifier,
    longest_input,
)
from features.models.model_folder import Item, ModelOptions, Scorer, Scores

VERSION = 1
"""Raised whenever the same model would give other scores."""

SLAB = 1024
"""Windows held at once; a text of 100,000 characters has about a hundred."""


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
        most: int,
    ) -> None:
        """Prepare.

        Args:
            kind: Name of the kind of model.
            classifier: The model.
            outputs: Turns the logits of one window into its outputs, the first of which says how
                good the window is.
            long_text: Which text of a pair is cut into windows, 0 or 1.
            most: Tokens of a window at most, special tokens included.
        """
        longest = longest_input(classifier.stated_lengths, classifier.config, most)
        self._classifier = classifier
        self._outputs = outputs
        self._windows = PairWindows(classifier.tokenizer, longest, long_text)
        self._signature = (
            f"{kind}:version={VERSION}|{classifier.identity}|tokens={longest}|overlap=1/{OVERLAP}"
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
        rows: list[Scores] = []
        held: list[list[Window]] = []
        for item in items:
            held.append(self._windows.cut(item))
            if sum(map(len, held)) >= SLAB:
                rows.extend(self._best(held))
                held = []
        rows.extend(self._best(held))
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    def _best(self, held: Sequence[Sequence[Window]]) -> list[Scores]:
        """Return the outputs of the best window of each pair."""
        flat = [window for windows in held for window in windows]
        if not flat:
            return []
        logits = self._classifier.logits(flat)
        if not np.isfinite(logits).all():
            raise ArenaError(f"the model gave no number ({self._signature})")
        outputs = [self._outputs(row) for row in logits]
        best: list[Scores] = []
        start = 0
        for windows in held:
            best.append(max(outputs[start : start + len(windows)], key=lambda row: float(row[0])))
            start += len(windows)
        return best


OUTPUTS = ("entailment", "neutral", "contradiction")
"""What an NLI model gives, in this order."""

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
    classifier = load_classifier(model, options)
    order = np.array(label_order(model, classifier.config))

    def probabilities(logits: Scores) -> Scores:
        powers = np.exp(logits[order].astype(np.float64) - float(logits.max()))
        shares: Scores = (powers / powers.sum()).astype(np.float32)
        return shares

    return PairScorer("nli", classifier, probabilities, long_text=0, most=LONGEST)


def label_order(model: str, config: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the places of entailment, neutral and contradiction among a model's outputs.

    Args:
        model: Its name, for messages.
        config: Its ``config.json``, whose ``id2label`` names the outputs.

    Raises:
        UsageError: If the names do not tell. A model that knows entailment and not-entailment
            only cannot say which of the rest is neutral and which contradiction.
    """
    named = {int(place): str(name) for place, name in (config.get("id2label") or {}).items()}
    places = {_NAMES.get(name.strip().lower()): place for place, name in named.items()}
    if len(named) != len(OUTPUTS) or any(name not in places for name in OUTPUTS):
        shown = ", ".join(f"{place}: {named[place]!r}" for place in sorted(named)) or "nothing"
        raise UsageError(
            f"the model {model!r} does not say which output is which: id2label in its config.json "
            f"names {shown}; it should name entailment, neutral and contradiction. Write them "
            "there if the model has these three, or take one that does"
        )
    return tuple(places[name] for name in OUTPUTS)


LONGEST_RERANKER = 1024
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
    classifier = load_classifier(model, options)
    outputs = _outputs(classifier)
    if outputs != 1:
        raise UsageError(
            f"the model {model!r} has {outputs} outputs; a reranker has one: take another model"
        )
    return PairScorer("reranker", classifier, _as_it_is, long_text=1, most=LONGEST_RERANKER)


def _outputs(classifier: Classifier) -> int:
    """Count a model's outputs, which its settings need not say."""
    longest = longest_input(classifier.stated_lengths, classifier.config, LONGEST_RERANKER)
    probe = PairWindows(classifier.tokenizer, longest, long_text=1).cut(("a", "b"))
    return int(classifier.logits(probe).shape[1])


def _as_it_is(logits: Scores) -> Scores:
    return logits
