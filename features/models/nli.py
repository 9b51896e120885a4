"""Natural-language inference: does a premise entail a hypothesis?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from arena.errors import UsageError
from features.models.classifier import load_classifier
from features.models.options import ModelOptions
from features.models.pair_scorer import PairScorer
from features.models.scorer import Scorer, Scores

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
