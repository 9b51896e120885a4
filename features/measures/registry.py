"""All features by name, their groups, and how a user chooses among them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar, cast

from arena.data.errors import UsageError
from features.declare.feature import (
    CUTOFF,
    DECLARED,
    Feature,
    Models,
    Setting,
    WithoutModels,
    offer,
)

if TYPE_CHECKING:
    from arena.data.plug_ins import PlugIn

Loaded = TypeVar("Loaded")

_MODULES = (
    "citations",
    "facts",
    "fluency",
    "grounding",
    "language",
    "overlap",
)
for _module in _MODULES:  # the import of a module declares its features
    import_module(f"features.measures.{_module}")

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


def _find_feature(name: str) -> Feature | None:
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


_FEATURE = re.compile(r"(?P<name>\w+)\s*(?:@(?P<cutoff>[^()\s]*))?\s*(?:\((?P<settings>[^()]*)\))?")
_WHOLE_NUMBER = re.compile("[0-9]{1,9}")


def parse_features(text: str, *, with_plug_ins: bool = True) -> tuple[Feature, ...]:
    """Read features from text such as ``citation_recall@5,english(identifier=langid)``.

    Args:
        text: Names of features and groups, separated by commas; what is named twice counts once.
        with_plug_ins: Whether features of other installed packages, which are then imported, may be
            named. False for names from a file: it may be anybody's.

    Returns:
        The features, in order.

    Raises:
        UsageError: For unknown names, parameters and values, and unusable plug-ins.

    Examples:
        >>> parse_features("citation_recall@5,english")
        (Feature('citation_recall@5'), Feature('english'))
    """
    parts: list[str] = []
    if text.strip():
        parts = [part.strip() for part in re.split(r",(?![^()]*\))", text)]  # not inside ( )
    features: list[Feature] = []
    for part in parts:
        if part in GROUPS:
            features += GROUPS[part]
        else:
            features.append(_parse_feature(part, with_plug_ins))
    return _distinct(features)


def chosen_features(
    choices: Iterable[Feature | str] | str, *, with_plug_ins: bool = True
) -> tuple[Feature, ...]:
    """Return the chosen features: values, names, or names of groups."""
    if isinstance(choices, str):
        return parse_features(choices, with_plug_ins=with_plug_ins)
    texts: list[str] = []
    features: list[Feature] = []
    for feature in choices:
        if isinstance(feature, str):
            texts.append(feature)
        elif isinstance(feature, Feature):
            features.append(feature)
        else:
            kind = type(feature).__name__
            raise UsageError(f"{kind} {feature!r} is not a feature; give a name or a Feature(...)")
    if texts:
        features = [*parse_features(",".join(texts), with_plug_ins=with_plug_ins), *features]
    return _distinct(features)


def _distinct(features: Iterable[Feature]) -> tuple[Feature, ...]:
    distinct: dict[str, Feature] = {}
    for feature in features:
        if FEATURES.get(feature.name, feature).measurement != feature.measurement:
            raise UsageError(f"{feature.name} is one of this package; give yours another name")
        first = distinct.setdefault(str(feature), feature)
        if first.measurement != feature.measurement:
            raise UsageError(f"two features are named {feature}; give one another name")
    if not distinct:
        raise UsageError(f"no feature is asked for; {offer('', known_names())}")
    return tuple(distinct.values())


def _parse_feature(text: str, with_plug_ins: bool) -> Feature:
    match = _FEATURE.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is not a feature; write name, name@k or name(parameter=value)")
    name = match["name"]
    known = known_names()
    feature = None
    if with_plug_ins:
        from arena.data.plug_ins import find_plug_in, plug_ins

        plug_in = find_plug_in("feature", name, known)
        feature = None if plug_in is None else feature_of(plug_in)
        known += [plug_in.name for plug_in in plug_ins("feature")]
    if feature is None:
        feature = _find_feature(name)
    if feature is None:
        raise UsageError(f"no feature is named {name!r}; {offer(name, known)}")
    return feature.with_settings(_parse_settings(feature, match["cutoff"], match["settings"]))


def _parse_settings(feature: Feature, cutoff: str | None, listed: str | None) -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    if cutoff is not None:
        if CUTOFF not in feature.settings:
            raise UsageError(f"{feature.name} takes no cutoff; write it without @{cutoff}")
        settings[CUTOFF] = int(cutoff) if _WHOLE_NUMBER.fullmatch(cutoff) else cutoff
    if listed is None:
        return settings
    for text in listed.split(","):
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or name == CUTOFF or name in settings:
            raise UsageError(
                f"{feature.name}: cannot read {text.strip()!r}; "
                f"write each parameter once as name=value, and a cutoff as {feature.name}@k"
            )
        settings[name] = value
    return settings


def known_names() -> list[str]:
    """Return the names of all features and groups of this project."""
    return [*FEATURES, *GROUPS]


def feature_of(plug_in: PlugIn) -> Feature:
    """Import a feature of another package."""
    feature = plug_in.load()
    if not isinstance(feature, Feature):
        raise plug_in.unusable(f"is of type {type(feature).__name__}, not a features.Feature")
    if feature.name != plug_in.name:
        raise plug_in.unusable(f"calls itself {feature.name}; both names must be the same")
    from arena.data.plug_ins import Guarded

    reading = feature.reading
    if reading is not None:
        reading = replace(reading, items=Guarded(reading.items, str(plug_in)))
    measurement = Guarded(feature.measurement, str(plug_in))
    return replace(feature, source=plug_in.package, measurement=measurement, reading=reading)
