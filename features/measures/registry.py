"""All features by name, and the groups of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import MappingProxyType

import pandas as pd

from arena.data.errors import MissingDependencyError, UsageError
from arena.text.prompts import PACKAGED, Templates
from features.declare.feature import CUTOFF, DECLARED, MODEL, TEMPLATE, Feature, Setting, offer
from features.models.model_folder import ENDPOINT, find_model
from features.models.scorer import named_models

AVAILABLE = "yes"
ABSENT_MODEL = "once its model is here: --download, or model=FOLDER"

_FEATURE = re.compile(r"(?P<name>\w+)\s*(?:@(?P<cutoff>[^()\s]*))?\s*(?:\((?P<settings>[^()]*)\))?")
_WHOLE_NUMBER = re.compile("[0-9]{1,9}")
_MODULES = (
    *("citations", "facts", "fluency", "grounding", "language", "llm_rated", "overlap", "support"),
)
for _module in _MODULES:  # each declares its features
    import_module(f"features.measures.{_module}")

# MIRAGE-Bench, section 4.1: six features without a model, three by models, two by an LLM.
_PAPER = "target_language english citation_recall citation_map bleu rouge_l"
_PAPER_MODELS = "nli_entailment nli_neutral reranker_score"
_LLM = "llm_overlap llm_fluency"
_RAGAS = "ragas_faithfulness ragas_answer_relevance ragas_context_relevance"
_RAGAS_PACKAGE = "ragas_context_precision ragas_context_recall ragas_factual_correctness"
_RETRIEVAL = "retrieval_recall retrieval_map"
_GROUNDING = (
    "ngram_coverage content_coverage fragment_coverage fragment_density longest_common_span "
    "unsupported_numbers unsupported_names query_coverage"
)
_FLUENCY = "repetition truncation script_mixing markup_artifacts unreadable_characters"
_SUPPORT = "nli_entailment nli_neutral nli_contradiction"
_DEFAULT = (
    f"{_PAPER} answer_length citations citation_density citation_precision invalid_citations "
    f"invalid_citation_share {_GROUNDING} {_FLUENCY}"
)
# All without a model: cited sentences need Thai cut into sentences.
_DETERMINISTIC = f"{_DEFAULT} {_RETRIEVAL} cited_sentences"
_ALL = f"{_DETERMINISTIC} {_SUPPORT} reranker_score"
_AS_PUBLISHED = MappingProxyType[str, dict[str, Setting]](
    {
        "target_language": {"identifier": "langid", "part": "output"},
        "english": {"identifier": "langid", "part": "output"},
        "bleu": {"tokenize": "13a", "order": "full"},
        "rouge_l": {"tokens": "rouge-score", "stem": "yes"},
    }
)


def _features(names: str) -> tuple[Feature, ...]:
    return tuple(DECLARED[name] for name in names.split())


FEATURES = MappingProxyType(
    {feature.name: feature for feature in _features(f"{_ALL} {_LLM} {_RAGAS} {_RAGAS_PACKAGE}")}
)
"""Every feature by name, with its default parameters."""

DEFAULT_FEATURES = _features(_DEFAULT)
"""Features measured unless others are asked for: cheap, without models, and in all languages with
what a plain install brings."""

PAPER_FEATURES = _features(f"{_PAPER} {_PAPER_MODELS} {_LLM}")
"""The 11 features of MIRAGE-Bench, section 4.1."""

_OF_THE_REASON = tuple(
    FEATURES[name].with_settings({"part": "reason"}) for name in ("target_language", "english")
)
GROUPS = MappingProxyType[str, tuple[Feature, ...]](
    {
        "default": DEFAULT_FEATURES,
        "deterministic": (*_features(_DETERMINISTIC), *_OF_THE_REASON),
        "paper": PAPER_FEATURES,
        "as-published": tuple(
            feature.with_settings(_AS_PUBLISHED.get(feature.name, {})) for feature in PAPER_FEATURES
        ),
        "retrieval": _features(_RETRIEVAL),
        "grounding": _features(_GROUNDING),
        "fluency": _features(_FLUENCY),
        "llm": _features(_LLM),
        "ragas": _features(_RAGAS),
        "all": (*_features(_ALL), *_OF_THE_REASON),
    }
)
"""Names that stand for several features; what costs calls to an LLM is in ``llm``, ``ragas``,
``paper`` and ``as-published`` alone."""


def parse_features(text: str) -> tuple[Feature, ...]:
    """Read features from text such as ``citation_recall@5,english(identifier=langid)``.

    Args:
        text: Names of features and groups, separated by commas; what groups share counts once.

    Raises:
        UsageError: For unknown names, parameters and values, and for features named twice.
    """
    items = [item.strip() for item in re.split(r",(?![^()]*\))", text)] if text.strip() else []
    named = [feature for item in items if item not in GROUPS for feature in _parse_item(item)]
    if named:
        distinct_features(named)  # of groups what they share counts once
    chosen = [feature for item in items for feature in _parse_item(item)]
    return distinct_features({str(feature): feature for feature in chosen}.values())


def asked_features(asked: Iterable[Feature | str] | str) -> tuple[Feature, ...]:
    """Return features that are given as values, by their names or by those of groups."""
    items = [asked] if isinstance(asked, str) else list(asked)
    texts = [item for item in items if isinstance(item, str)]
    own = [item for item in items if not isinstance(item, str)]
    return distinct_features([*(parse_features(",".join(texts)) if texts else ()), *own])


def distinct_features(features: Iterable[Feature]) -> tuple[Feature, ...]:
    """Return the features, none of which may stand twice.

    Raises:
        UsageError: If there is none, one of them stands twice, or has the name of another.
    """
    seen: dict[str, Feature] = {}
    for feature in features:
        if FEATURES.get(feature.name, feature).measurement != feature.measurement:
            raise UsageError(f"{feature.name} is one of this package; give yours another name")
        if str(feature) in seen:
            raise UsageError(f"the feature {feature} is asked for twice; name it once")
        seen[str(feature)] = feature
    if not seen:
        raise UsageError(f"no feature is asked for; {offer('', _names())}")
    return tuple(seen.values())


def with_templates(features: Iterable[Feature], templates: Templates) -> tuple[Feature, ...]:
    """Return features with a user's templates, which then are part of their names.

    Raises:
        UsageError: If no feature reads one of the prompts, or a feature names templates that are
            not given.
    """
    chosen = tuple(feature.with_templates(templates) for feature in features)
    used = "+".join(str(feature.settings.get(TEMPLATE, "")) for feature in chosen)
    idle = [
        name for name, own in templates.templates if f"{name}@{own.digest}" not in used.split("+")
    ]
    if idle := [name for name in idle if name not in templates.from_folder]:
        raise UsageError(
            f"no feature that is asked for reads the prompt {idle[0]}; leave its template out"
        )
    return chosen


def _parse_item(item: str) -> tuple[Feature, ...]:
    if item in GROUPS:
        return GROUPS[item]
    match = _FEATURE.fullmatch(item)
    if match is None:
        raise UsageError(f"{item!r} is not a feature; write name, name@k or name(parameter=value)")
    feature = FEATURES.get(match["name"])
    if feature is None:
        name = match["name"]
        raise UsageError(f"no feature is named {name!r}; {offer(name, _names())}")
    return (feature.with_settings(_settings(feature, match["cutoff"], match["settings"])),)


def _settings(feature: Feature, cutoff: str | None, settings: str | None) -> dict[str, Setting]:
    read: dict[str, Setting] = {}
    if cutoff is not None:
        if CUTOFF not in feature.settings:
            raise UsageError(f"{feature.name} takes no cutoff; write it without @{cutoff}")
        read[CUTOFF] = int(cutoff) if _WHOLE_NUMBER.fullmatch(cutoff) else cutoff
    for item in (settings or "").split(",") if settings is not None else []:
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals or name == CUTOFF or name in read:
            raise UsageError(
                f"{feature.name}: cannot read {item.strip()!r}; "
                f"write each parameter once as name=value, and a cutoff as {feature.name}@k"
            )
        read[name] = value
    return read


def _names() -> list[str]:
    return [*FEATURES, *GROUPS]


def describe_features(features: Iterable[Feature] = FEATURES.values()) -> pd.DataFrame:
    """Tabulate features for a reader.

    Returns:
        Columns ``feature, summary, needs, parameters, source, available``; the last is
        ``yes``, or what is lacking and how to get it.
    """
    return pd.DataFrame(
        [
            {
                "feature": str(feature),
                "summary": feature.summary,
                "needs": ", ".join(feature.needs),
                "parameters": ", ".join(_described(feature)),
                "source": feature.source,
                "available": availability(feature),
            }
            for feature in features
        ]
    )


def availability(feature: Feature) -> str:
    """Say whether a feature can be measured here, or what it lacks and how to get that."""
    try:
        require([feature], download=False)
    except MissingDependencyError as error:
        return str(error)
    except UsageError:
        return ABSENT_MODEL
    return AVAILABLE


def require(features: Iterable[Feature], download: bool) -> None:
    """Check that packages, and models on this machine, are there: before an LLM is paid."""
    for feature in features:
        feature.require()
        if (model := _local_model(feature)) is not None:
            find_model(model, download)


def _local_model(feature: Feature) -> str | None:
    """Return the model that must be on this machine, if any; an endpoint has the others."""
    kind, name = "" if feature.reading is None else feature.reading.kind, str(feature.model)
    if kind == "ragas":
        name = named_models(name)[1] if "embedding model" in feature.needs else ENDPOINT
    return None if kind in ("", "llm") or name.startswith(ENDPOINT) else name


def _described(feature: Feature) -> Iterator[str]:
    for item in feature.parameters:
        if item.name == CUTOFF:
            yield "@k"
        elif item.name == MODEL:
            yield f"{item.name}={item.default}"
        elif item.name == TEMPLATE:
            yield f"{item.name}={PACKAGED}|{'+'.join(f'{name}@DIGEST' for name in item.prompts)}"
        else:
            yield f"{item.name}={'|'.join(item.choices)}"
