"""The kinds of models, and loading one of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import MappingProxyType

from arena.data.errors import UsageError
from features.models.embedder import load_embedder
from features.models.llm_scorer import RATING_PROMPTS, load_llm
from features.models.pair_scorer import load_nli, load_reranker
from features.models.ragas import load_ragas, load_ragas_questions
from features.models.ragas_prompts import RAGAS_PROMPTS
from features.models.scorer import ModelOptions, Scorer

KINDS = MappingProxyType[str, Callable[[str, ModelOptions], Scorer]](
    {
        "nli": load_nli,
        "reranker": load_reranker,
        "embedder": load_embedder,
        "llm": load_llm,
        "ragas": load_ragas,
        "ragas-questions": load_ragas_questions,
    }
)
"""Loaders by kind of model; each takes a folder or a name on the hub, and options."""

FEATURE_PROMPTS = (*RATING_PROMPTS, *RAGAS_PROMPTS)
"""Prompts that a user's templates may replace, see ``arena.text.prompts.read_templates``."""


@lru_cache(maxsize=4)
def load_scorer(kind: str, model: str, options: ModelOptions) -> Scorer:
    """Load a model; the last few stay loaded in this process.

    Args:
        kind: One of ``KINDS``: ``nli`` scores (premise, hypothesis) and gives the probabilities of
            entailment, neutral and contradiction; ``reranker`` scores (query, passage) and gives
            one logit; ``embedder`` turns (text,) into a vector of length 1; ``llm`` rates answers
            over an API, and gives one rating, NaN where it failed; ``ragas`` and
            ``ragas-questions`` ask an LLM about qualities (see ``features.models.ragas``).
        model: Its folder, or its name on the Hugging Face hub.
        options: How to run it.

    Raises:
        UsageError: For an unknown kind; a model that is not on this machine, does not do what the
            kind says, or would have to be unpickled; a device this machine lacks.
        MissingDependencyError: If a package it needs is not installed.
    """
    if kind not in KINDS:
        raise UsageError(f"no kind of model is named {kind!r}; known: {', '.join(KINDS)}")
    if options.batch_size < 1:
        raise UsageError(f"a batch holds at least one sequence, not {options.batch_size}")
    return KINDS[kind](model, options)
