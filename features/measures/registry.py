"""All features by name, and the groups of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType

import pandas as pd

from arena.data.errors import ArenaError, MissingDependencyError, UsageError
from arena.data.plug_ins import Guarded, PlugIn, find_plug_in, plug_ins
from arena.llm.prompts import PACKAGED, Templates
from features.declare.feature import (
    CUTOFF,
    DECLARED,
    MODEL,
    TEMPLATE,
    Feature,
    Setting,
    offer,
    template_form,
)
from features.models.model_folder import ENDPOINT, find_model
from features.models.scorer import named_models

AVAILABLE = "yes"
ABSENT_MODEL = "once its model is here: --download, or model=FOLDER"

_FEATURE = re.compile(r"(?P<name>\w+)\s*(?:@(?P<cutoff>[^()\s]*))?\s*(?:\((?P<settings>[^()]*)\))?")
_WHOLE_NUMBER = re.compile("[0-9]{1,9}")
_MODULES = (
    "citations",
    "facts",
    "fluency",
    "grounding",
    "language",
    "llm_rated",
    "nuggets",
    "overlap",
    "support",
)
for _module in _MODULES:  # the import of a module declares its features
    import_module(f"features.measures.{_module}")

# MIRAGE-Bench, section 4.1: six features without a model, three by models, two by an LLM.
_PAPER = ("target_language", "english", "citation_recall", "citation_map", "bleu", "rouge_l")
_PAPER_MODELS = ("nli_entailment", "nli_neutral", "reranker_score")
_LLM = ("llm_overlap", "llm_fluency")
_RAGAS = ("ragas_faithfulness", "ragas_answer_relevance", "ragas_context_relevance")
_RAGAS_PACKAGE = (
    "ragas_context_precision",
    "ragas_context_recall",
    "ragas_factual_correctness",
)
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
_NUGGETS = ("nugget_score", "nugget_vital_strict", "nugget_all_strict")
_SUPPORT = ("nli_entailment", "nli_neutral", "nli_contradiction")
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
_WITHOUT_LLM = (*_DETERMINISTIC, *_SUPPORT, "reranker_score")
_AS_PUBLISHED = MappingProxyType[str, dict[str, Setting]](
    {
        "target_language": {"identifier": "langid", "part": "output"},
        "english": {"identifier": "langid", "part": "output"},
        "bleu": {"tokenize": "13a", "order": "full"},
        "rouge_l": {"tokens": "rouge-score", "stem": "yes"},
    }
)


def _features(names: Iterable[str]) -> tuple[Feature, ...]:
    return tuple(DECLARED[name] for name in names)


FEATURES = MappingProxyType(
    {name: DECLARED[name] for name in (*_WITHOUT_LLM, *_NUGGETS, *_LLM, *_RAGAS, *_RAGAS_PACKAGE)}
)
"""Every feature by name, with its default parameters."""

DEFAULT_FEATURES = _features(_DEFAULT)
"""Features measured unless a user chooses others: cheap, without models, and in all languages with
a plain install."""

PAPER_FEATURES = _features((*_PAPER, *_PAPER_MODELS, *_LLM))
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
        "nuggets": _features(_NUGGETS),
        "llm": _features(_LLM),
        "ragas": _features(_RAGAS),
        "without-llm": (*_features(_WITHOUT_LLM), *_OF_THE_REASON),
    }
)
"""Groups of features by name. Only ``llm``, ``ragas``, ``paper`` and ``as-published`` cost calls to
an LLM."""


def parse_features(text: str, *, with_plug_ins: bool = True) -> tuple[Feature, ...]:
    """Read features from text such as ``citation_recall@5,english(identifier=langid)``.

    Args:
        text: Names of features and groups, separated by commas; features that groups share count
            once.
        with_plug_ins: Whether features of other installed packages may be named, whose packages
            are then imported. False for names that a file holds: it may be anybody's.

    Raises:
        UsageError: For unknown names, parameters and values, for features named twice, and for
            plug-ins that cannot be used.
    """
    parts: list[str] = []
    if text.strip():
        parts = [part.strip() for part in re.split(r",(?![^()]*\))", text)]  # not inside ( )
    named: list[Feature] = []
    chosen: dict[str, Feature] = {}
    for part in parts:
        features = GROUPS.get(part) or (_parse_feature(part, with_plug_ins),)
        if part not in GROUPS:
            named += features
        chosen.update({str(feature): feature for feature in features})
    if named:
        # A feature named twice is an error; one that two groups share is not.
        distinct_features(named)
    return distinct_features(chosen.values())


def chosen_features(
    choices: Iterable[Feature | str] | str, *, with_plug_ins: bool = True
) -> tuple[Feature, ...]:
    """Return the chosen features, which may be values, names, or names of groups.

    ``with_plug_ins`` is that of ``parse_features``.

    Raises:
        UsageError: As ``parse_features`` does, and for anything else in a list.
    """
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
    return distinct_features(features)


def distinct_features(features: Iterable[Feature]) -> tuple[Feature, ...]:
    """Return the features, after checking that they differ.

    Raises:
        UsageError: If there is none, one occurs twice, or a user's has the name of one of this
            package.
    """
    distinct: dict[str, Feature] = {}
    for feature in features:
        if FEATURES.get(feature.name, feature).measurement != feature.measurement:
            raise UsageError(f"{feature.name} is one of this package; give yours another name")
        if str(feature) in distinct:
            raise UsageError(f"the feature {feature} is asked for twice; name it once")
        distinct[str(feature)] = feature
    if not distinct:
        raise UsageError(f"no feature is asked for; {offer('', _names())}")
    return tuple(distinct.values())


def with_templates(features: Iterable[Feature], templates: Templates) -> tuple[Feature, ...]:
    """Return features with a user's templates, which become part of their names.

    Raises:
        UsageError: If no feature reads one of the prompts, or a feature names a template that the
            user did not pass.
    """
    chosen = tuple(feature.with_templates(templates) for feature in features)
    used: set[str] = set()
    for feature in chosen:
        used.update(str(feature.settings.get(TEMPLATE, "")).split("+"))
    for name, replacement in templates.templates:
        # A folder may hold templates of prompts that nothing reads this time.
        if name not in templates.from_folder and f"{name}@{replacement.digest}" not in used:
            raise UsageError(
                f"no feature that is asked for reads the prompt {name}; leave its template out"
            )
    return chosen


def _parse_feature(text: str, with_plug_ins: bool) -> Feature:
    match = _FEATURE.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is not a feature; write name, name@k or name(parameter=value)")
    name = match["name"]
    plug_in = find_plug_in("feature", name, _names()) if with_plug_ins else None
    feature = FEATURES.get(name) if plug_in is None else feature_of(plug_in)
    if feature is None:
        further = [plug_in.name for plug_in in plug_ins("feature")] if with_plug_ins else []
        raise UsageError(f"no feature is named {name!r}; {offer(name, [*_names(), *further])}")
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


def _names() -> list[str]:
    return [*FEATURES, *GROUPS]


def feature_of(plug_in: PlugIn) -> Feature:
    """Import a feature of another package; its ``source`` is that package.

    Raises:
        UsageError: If it cannot be imported, or is no feature of this name.
    """
    feature = plug_in.load()
    if not isinstance(feature, Feature):
        raise plug_in.unusable(f"is of type {type(feature).__name__}, not a features.Feature")
    if feature.name != plug_in.name:
        raise plug_in.unusable(f"calls itself {feature.name}; both names must be the same")
    reading = feature.reading
    if reading is not None:
        reading = replace(reading, items=Guarded(reading.items, str(plug_in)))
    measurement = Guarded(feature.measurement, str(plug_in))
    return replace(feature, source=plug_in.package, measurement=measurement, reading=reading)


def describe_all_features() -> pd.DataFrame:
    """Tabulate the features of this project, then those of other packages, each imported.

    Returns:
        As ``describe_features``; of a plug-in that cannot be used, ``available`` is the reason.
    """
    tables = [describe_features()]
    for plug_in in plug_ins("feature"):
        try:
            find_plug_in("feature", plug_in.name, _names())
            tables.append(describe_features([feature_of(plug_in)]))
        except ArenaError as error:
            row = dict.fromkeys(tables[0].columns, "")
            row.update(feature=plug_in.name, source=plug_in.package, available=str(error))
            tables.append(pd.DataFrame([row]))
    return pd.concat(tables, ignore_index=True)


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
    """Return ``yes`` if a feature can be measured here, else what it lacks and how to get that."""
    try:
        require([feature], download=False)
    except MissingDependencyError as error:
        return str(error)
    except UsageError:
        return ABSENT_MODEL
    return AVAILABLE


def require(features: Iterable[Feature], download: bool) -> None:
    """Check that packages and local models are present, before an LLM is paid."""
    for feature in features:
        feature.require()
        model = _local_model(feature)
        if model is not None:
            find_model(model, download)


def _local_model(feature: Feature) -> str | None:
    """Return the model that must be on this machine, or None if an endpoint has it."""
    if feature.reading is None or feature.reading.kind == "llm":
        return None
    name = str(feature.model)
    if feature.reading.kind == "ragas":
        if "embedding model" not in feature.needs:
            return None
        _, name = named_models(name)
    return None if name.startswith(ENDPOINT) else name


def _described(feature: Feature) -> Iterator[str]:
    for parameter in feature.parameters:
        if parameter.name == CUTOFF:
            yield "@k"
        elif parameter.name == MODEL:
            yield f"{parameter.name}={parameter.default}"
        elif parameter.name == TEMPLATE:
            yield f"{parameter.name}={PACKAGED}|{template_form(parameter.prompts)}"
        else:
            yield f"{parameter.name}={'|'.join(parameter.choices)}"
