"""All features by name, and their groups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TypeVar, cast

from arena.data.errors import UsageError
from features.declare.feature import DECLARED, Feature, Setting
from features.declare.models import Models, WithoutModels
from features.measures import (  # noqa: F401 - they declare their features
    citations,
    facts,
    fluency,
    grounding,
    language,
    overlap,
)

Loaded = TypeVar("Loaded")

MODELS = "features.models"
"""The package of features that read models, which may be absent."""
_READING_MODELS = MappingProxyType(
    {
        "nli_entailment": "features.models.support",
        "nli_neutral": "features.models.support",
        "nli_contradiction": "features.models.support",
        "reranker_score": "features.models.support",
        "nugget_score": "features.models.nuggets",
        "nugget_vital_strict": "features.models.nuggets",
        "nugget_all_strict": "features.models.nuggets",
        "llm_overlap": "features.models.llm_rated",
        "llm_fluency": "features.models.llm_rated",
        "ragas_faithfulness": "features.models.llm_rated",
        "ragas_answer_relevance": "features.models.llm_rated",
        "ragas_context_relevance": "features.models.llm_rated",
    }
)
"""Modules of features that read models, by the feature's name."""

# MIRAGE-Bench, section 4.1: six features without a model, three by models, two by an LLM.
_PAPER = ("target_language", "english", "citation_recall", "citation_map", "bleu", "rouge_l")
_LLM = ("llm_overlap", "llm_fluency")
_WHOLE_PAPER = (*_PAPER, "nli_entailment", "nli_neutral", "reranker_score", *_LLM)
_RETRIEVAL = ("retrieval_recall", "retrieval_map")
_GROUNDING = (
    "ngram_coverage",
    "content_coverage",
    "fragment_coverage",
    "fragment_density",
    "longest_common_span",
    "unsupported_numbers",
    "unsupported_names",
    "query_coverage",
)
_FLUENCY = (
    "repetition",
    "truncation",
    "script_mixing",
    "markup_artifacts",
    "unreadable_characters",
)
_DEFAULT = (
    *_PAPER,
    "answer_length",
    "citations",
    "citation_density",
    "citation_precision",
    "invalid_citations",
    "invalid_citation_share",
    *_GROUNDING,
    *_FLUENCY,
)
_DETERMINISTIC = (
    *_DEFAULT,
    *_RETRIEVAL,
    "cited_sentences",  # not measured by default: cutting Thai into sentences needs a package
)
_GROUPS = MappingProxyType[str, tuple[str, ...]](
    {
        "default": _DEFAULT,
        "deterministic": _DETERMINISTIC,
        "paper": _WHOLE_PAPER,
        "as-published": _WHOLE_PAPER,
        "retrieval": _RETRIEVAL,
        "grounding": _GROUNDING,
        "fluency": _FLUENCY,
        "nuggets": ("nugget_score", "nugget_vital_strict", "nugget_all_strict"),
        "llm": _LLM,
        "ragas": ("ragas_faithfulness", "ragas_answer_relevance", "ragas_context_relevance"),
        "without-llm": (
            *_DETERMINISTIC,
            "nli_entailment",
            "nli_neutral",
            "nli_contradiction",
            "reranker_score",
        ),
    }
)
_OF_THE_REASON = ("target_language", "english")
"""Features that two groups also measure on the part after ``##Reason:``."""
_AS_PUBLISHED = MappingProxyType[str, dict[str, Setting]](
    {
        "target_language": {"identifier": "langid", "part": "output"},
        "english": {"identifier": "langid", "part": "output"},
        "bleu": {"tokenize": "13a", "order": "full"},
        "rouge_l": {"tokens": "rouge-score", "stem": "yes"},
    }
)


class LoadedOnDemand(Mapping[str, Loaded]):
    """Values by name, each loaded when it is asked for."""

    def __init__(self, names: Collection[str], load: Callable[[str], Loaded]) -> None:
        self._names = tuple(names)
        self._load = load

    def __getitem__(self, name: str) -> Loaded:
        if name not in self._names:
            raise KeyError(name)
        return self._load(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _feature(name: str) -> Feature:
    if name in _READING_MODELS:
        import_module(_READING_MODELS[name])
    return DECLARED[name]


def _group(name: str) -> tuple[Feature, ...]:
    features = [_feature(member) for member in _GROUPS[name]]
    if name == "as-published":
        features = [
            feature.with_settings(_AS_PUBLISHED.get(feature.name, {})) for feature in features
        ]
    if name in ("deterministic", "without-llm"):
        features += [
            _feature(member).with_settings({"part": "reason"}) for member in _OF_THE_REASON
        ]
    return tuple(features)


_has_models = find_spec(MODELS) is not None
FEATURES = LoadedOnDemand[Feature](
    (*_DETERMINISTIC, *(_READING_MODELS if _has_models else ())), _feature
)
"""Every feature by name, with its default parameters."""

GROUPS = LoadedOnDemand[tuple[Feature, ...]](
    [name for name, members in _GROUPS.items() if all(member in FEATURES for member in members)],
    _group,
)
"""Groups of features by name. Only ``llm``, ``ragas``, ``paper`` and ``as-published`` cost calls to
an LLM."""

DEFAULT_FEATURES = GROUPS["default"]
"""Features measured unless a user chooses others: cheap, without models, and in all languages with
a plain install."""


def find_feature(name: str) -> Feature | None:
    """Return a feature of this project by its name; None if there is no such."""
    if not _has_models and (name in _READING_MODELS or name in _GROUPS):
        raise UsageError(f"{name} needs the package {MODELS}, which is not installed")
    return FEATURES.get(name)


def models_for(features: Iterable[Feature]) -> Models:
    """Return how models are run by default."""
    if all(feature.reading is None for feature in features):
        return WithoutModels()
    if not _has_models:
        raise UsageError(f"features that read a model need the package {MODELS}")
    return cast(Models, import_module(f"{MODELS}.options").ModelOptions())


def require(features: Iterable[Feature], models: Models) -> None:
    """Check that packages and models are present, before anything is measured."""
    for feature in features:
        feature.require()
    models.require(features)


def known_names() -> list[str]:
    """Return the names of all features and groups of this project."""
    return [*FEATURES, *GROUPS]
