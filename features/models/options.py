"""Options of models, loading by kind, and measuring the features that read them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.types import Progress
from arena.llm.batches.awaiting import AwaitedReplies
from arena.llm.prompts import NO_TEMPLATES, Templates
from features.declare.feature import Feature, Value
from features.declare.sample import Answer
from features.models.model_folder import ENDPOINT, find_model
from features.models.nuggets import MARKS, measure_marked
from features.models.scorer import Scorer, named_models
from features.models.scoring import measure_by_scores
from features.models.templates import with_templates

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


@dataclass(frozen=True)
class ModelOptions:
    """Options of running models; on a processor, scores do not depend on them.

    Attributes:
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``; ``auto`` takes a GPU if there is one.
        download: Whether a model that is not on this machine may be fetched from the hub.
        llm: Settings for calls to LLMs; ``OPENAI_BASE_URL`` and ``SURROGATE_ARENA_STORE`` replace
            an address and a store that it does not state.
        templates: Files that replace prompts.
        budget: Maximum number of prompts, shared by all models at endpoints.
    """

    device: str = "auto"
    download: bool = False
    llm: LlmSettings | None = None
    templates: Templates = NO_TEMPLATES
    budget: Budget | None = field(default=None, compare=False)

    def configured(self, features: Iterable[Feature]) -> tuple[Feature, ...]:
        """Return features with the templates, which become part of their names.

        Raises:
            UsageError: If a template is of no use, or a name's template was not passed.
        """
        return with_templates(features, self.templates)

    def require(self, features: Iterable[Feature]) -> None:
        """Check that models on this machine are present, before an LLM is paid.

        Raises:
            UsageError: If one is not, and may not be fetched.
            MissingDependencyError: If a package that fetches it is not installed.
        """
        for feature in features:
            model = _local_model(feature)
            if model is not None:
                find_model(model, self.download)

    def signature(self, features: Iterable[Feature]) -> str | None:
        """Return what values depend on besides the answers; None if that may change unnoticed."""
        signatures: list[str] = []
        for kind, model in _by_model(features):
            # Marks are edited, and an endpoint's model may change under its name.
            signature = None if kind == MARKS else load_scorer(kind, model, self).signature
            if signature is None:
                return None
            signatures.append(signature)
        return json.dumps(signatures)

    def measure(
        self,
        arena: Arena,
        answers: Sequence[Answer],
        features: Iterable[Feature],
        cache: Path | None,
        progress: Progress | None,
    ) -> dict[Feature, Sequence[Value]]:
        """Measure features that read a model, or marks, on all answers."""
        values: dict[Feature, Sequence[Value]] = {}
        awaited = AwaitedReplies()
        for (kind, model), readers in _by_model(features).items():
            if kind == MARKS:
                values.update(measure_marked(arena, answers, readers))
                continue
            scorer = load_scorer(kind, model, self)
            stage = f"{kind} {'/'.join(Path(model).parts[-2:])}"
            with awaited.gathered():
                values.update(measure_by_scores(scorer, answers, readers, cache, stage, progress))
        awaited.require_none()
        return values


def load_scorer(kind: str, model: str, options: ModelOptions) -> Scorer:
    """Load a model; the last few that run on this machine stay loaded in this process.

    Args:
        kind: One of ``KINDS``: ``nli`` gives (premise, hypothesis) the probabilities of entailment,
            neutral and contradiction; ``reranker`` gives (query, passage) a logit; ``embedder``
            gives (text,) a vector of length 1; ``llm`` and ``ragas`` give a value and the number of
            a reason.
        model: Its folder, or its name on the Hugging Face hub.
        options: How to run it.

    Returns:
        The model.

    Raises:
        UsageError: For an unknown kind; a model that is absent, of another kind, or pickled; a
            device this machine lacks.
        MissingDependencyError: If a package it needs is not installed.
    """
    _check_kind(kind)
    # Nothing is loaded for a model at an endpoint, and its budget is that of one run.
    is_asked = kind in ASKED_KINDS or model.startswith(ENDPOINT)
    load = _loaded if is_asked else _loaded_once
    return load(kind, model, options)


def _check_kind(kind: str) -> None:
    if kind not in (MARKS, *KINDS):
        raise UsageError(f"no kind of model is named {kind!r}; known: {', '.join(KINDS)}")


def _loaded(kind: str, model: str, options: ModelOptions) -> Scorer:
    module, _, name = KINDS[kind].partition(".")
    loaded: Any = getattr(import_module(f"features.models.{module}"), name)(model, options)
    scorer: Scorer = loaded
    return scorer


_loaded_once = lru_cache(maxsize=4)(_loaded)


def _by_model(features: Iterable[Feature]) -> dict[tuple[str, str], list[Feature]]:
    groups: defaultdict[tuple[str, str], list[Feature]] = defaultdict(list)
    for feature in features:
        if feature.reading is not None:
            groups[feature.reading.kind, feature.model or ""].append(feature)
    # LLMs are the last kinds: nothing is paid for before the rest has succeeded.
    kinds = [MARKS, *KINDS]
    for kind, _ in groups:
        _check_kind(kind)
    return dict(sorted(groups.items(), key=lambda group: kinds.index(group[0][0])))


def _local_model(feature: Feature) -> str | None:
    if feature.reading is None or feature.model is None or feature.reading.kind == "llm":
        return None
    name = feature.model
    if feature.reading.kind == "ragas":
        if "embedding model" not in feature.needs:
            return None
        _, name = named_models(name)
    return None if name.startswith(ENDPOINT) else name
