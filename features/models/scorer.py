"""Models as the engine sees them: kinds, options, loading, and reading scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from arena.data.errors import UsageError
from arena.llm.prompts import NO_TEMPLATES, Templates
from features.declare.feature import Item, Scores, Value
from features.declare.sample import Missing
from features.models.model_folder import ENDPOINT

if TYPE_CHECKING:
    from arena.llm.llm_settings import LlmSettings
    from arena.llm.usage import Budget

KINDS = MappingProxyType(
    {
        "nli": "sentence_models.load_nli",
        "reranker": "sentence_models.load_reranker",
        "embedder": "embedders.load_embedder",
        "llm": "llm_scorer.load_llm",
        "ragas": "ragas.load_ragas",
    }
)
"""Loaders by kind of model; each takes a folder or a name, and options."""
ASKED_KINDS = ("llm", "ragas")
"""Kinds of models at an endpoint."""
OUTPUTS = ("entailment", "neutral", "contradiction")
"""Outputs of an NLI model, in this order."""
EMBEDDER = "intfloat/multilingual-e5-small"
"""Embeds texts unless another is named."""

NO_STATEMENTS_FOUND = Missing("the LLM finds no statement in the answer")
NO_USABLE_REPLY = Missing("no usable reply by the LLM")
NOT_REACHED = Missing("the LLM was not reached")
REASONS = (NO_STATEMENTS_FOUND, NO_USABLE_REPLY, NOT_REACHED)
"""Reasons of missing values; the second score of an item is a reason's number, from 1."""


@dataclass(frozen=True)
class ModelOptions:
    """How models are run; on a processor, scores do not depend on it.

    Attributes:
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``; ``auto`` takes a GPU where there is one.
        download: Whether a model that is not on this machine may be fetched from the hub.
        llm: Settings for calls to LLMs; ``OPENAI_BASE_URL`` and ``SURROGATE_ARENA_STORE`` replace
            an address and a store that it does not state.
        templates: Files that replace prompts; see ``arena.llm.prompts.read_templates``.
        budget: Maximum number of prompts, shared by all LLMs and embedding models, and the usage so
            far. By default any number.
    """

    device: str = "auto"
    download: bool = False
    llm: LlmSettings | None = None
    templates: Templates = NO_TEMPLATES
    budget: Budget | None = field(default=None, compare=False)


class Scorer(Protocol):
    """A loaded model.

    The scores of an item depend on the item alone, not on the rest of its batch, to 6 decimals.
    """

    @property
    def signature(self) -> str | None:
        """Everything the scores depend on: kind, digest of the weights, settings, precision.

        None for a model at an endpoint, whose replies a store keeps.
        """

    def score(self, items: Sequence[Item]) -> Scores:
        """Score items, shape (items, outputs); NaN for one that failed."""


def load_scorer(kind: str, model: str, options: ModelOptions) -> Scorer:
    """Load a model; the last few that run on this machine stay loaded in this process.

    Args:
        kind: One of ``KINDS``: ``nli`` scores (premise, hypothesis) and gives the probabilities of
            entailment, neutral and contradiction; ``reranker`` scores (query, passage) and gives
            one logit; ``embedder`` turns (text,) into a vector of length 1; ``llm`` and
            ``ragas`` ask an LLM, and give a value and the number of a reason (see ``LlmScorer``).
        model: Its folder, or its name on the Hugging Face hub.
        options: How to run it.

    Raises:
        UsageError: For an unknown kind; a model that is not on this machine, does not do what the
            kind says, or would have to be unpickled; a device this machine lacks.
        MissingDependencyError: If a package it needs is not installed.
    """
    if kind not in KINDS:
        raise UsageError(f"no kind of model is named {kind!r}; known: {', '.join(KINDS)}")
    # Nothing is loaded for a model at an endpoint, and its budget is that of one run.
    is_asked = kind in ASKED_KINDS or model.startswith(ENDPOINT)
    load = _loaded if is_asked else _loaded_once
    return load(kind, model, options)


def _loaded(kind: str, model: str, options: ModelOptions) -> Scorer:
    module, _, name = KINDS[kind].partition(".")
    loaded: Any = getattr(import_module(f"features.models.{module}"), name)(model, options)
    scorer: Scorer = loaded
    return scorer


_loaded_once = lru_cache(maxsize=4)(_loaded)


def value_of_scores(row: Scores) -> Value:
    """Read the scores of one item that an LLM was asked about."""
    reason_number = int(row[1])
    return REASONS[reason_number - 1] if reason_number else float(row[0])


def named_models(model: str) -> tuple[str, str]:
    """Return the LLM and the embedding model of a name such as ``gpt-4o with my/embedder``.

    A name without `` with `` is that of the LLM; questions are embedded by ``EMBEDDER`` then.
    """
    llm, _, embedder = model.partition(" with ")
    return llm.strip(), embedder.strip() or EMBEDDER
