"""Reranking: how well does a passage answer a query?"""

from __future__ import annotations

from arena.errors import UsageError
from features.models.classifier import Classifier, load_classifier
from features.models.options import ModelOptions
from features.models.pair_scorer import PairScorer
from features.models.scorer import Scorer, Scores
from features.models.tokens import PairWindows, longest_input

LONGEST = 1024
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
    return PairScorer("reranker", classifier, _as_it_is, long_text=1, most=LONGEST)


def _outputs(classifier: Classifier) -> int:
    """Count a model's outputs, which its settings need not say."""
    longest = longest_input(classifier.stated_lengths, classifier.config, LONGEST)
    probe = PairWindows(classifier.tokenizer, longest, long_text=1).cut(("a", "b"))
    return int(classifier.logits(probe).shape[1])


def _as_it_is(logits: Scores) -> Scores:
    return logits
