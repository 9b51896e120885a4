"""All features by name, and the groups of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from types import MappingProxyType

import pandas as pd

from arena.data.errors import MissingDependencyError, UsageError
from arena.text.prompts import PACKAGED, Templates
from features.declare.feature import CUTOFF, MODEL, TEMPLATE, Feature, Setting, offer
from features.measures.citations import (
    CITATION_DENSITY,
    CITATION_MAP,
    CITATION_PRECISION,
    CITATION_RECALL,
    CITATIONS,
    CITED_SENTENCES,
    INVALID_CITATION_SHARE,
    INVALID_CITATIONS,
    RETRIEVAL_MAP,
    RETRIEVAL_RECALL,
)
from features.measures.facts import UNSUPPORTED_NAMES, UNSUPPORTED_NUMBERS
from features.measures.fluency import ANSWER_LENGTH, FLUENCY_FEATURES
from features.measures.grounding import (
    CONTENT_COVERAGE,
    FRAGMENT_COVERAGE,
    FRAGMENT_DENSITY,
    LONGEST_COMMON_SPAN,
    NGRAM_COVERAGE,
    QUERY_COVERAGE,
)
from features.measures.language import ENGLISH, TARGET_LANGUAGE
from features.measures.llm_rated import LLM_FEATURES
from features.measures.overlap import BLEU_SCORE, CHRF, ROUGE_L
from features.measures.ragas import RAGAS_FEATURES
from features.measures.relevance import RELEVANCE_FEATURES, RERANKER_SCORE, SIMILARITY_FEATURES
from features.measures.statement_support import (
    BEST_PASSAGE_CITED,
    CITED_PASSAGE_RANK,
    STATEMENT_SUPPORT,
    WEAKEST_STATEMENT,
)
from features.measures.support import NLI_ENTAILMENT, NLI_NEUTRAL, SUPPORT_FEATURES
from features.models.ragas import named_models

GROUNDING_FEATURES = (
    *(NGRAM_COVERAGE, CONTENT_COVERAGE, FRAGMENT_COVERAGE, FRAGMENT_DENSITY, LONGEST_COMMON_SPAN),
    *(UNSUPPORTED_NUMBERS, UNSUPPORTED_NAMES, STATEMENT_SUPPORT, WEAKEST_STATEMENT),
    *(BEST_PASSAGE_CITED, CITED_PASSAGE_RANK, QUERY_COVERAGE),
)
"""How much of an answer stands in the passages."""

PAPER_WITHOUT_MODELS = (
    TARGET_LANGUAGE,
    ENGLISH,
    CITATION_RECALL,
    CITATION_MAP,
    BLEU_SCORE,
    ROUGE_L,
)
"""The features of MIRAGE-Bench, section 4.1, that need no model."""

PAPER_FEATURES = (
    *PAPER_WITHOUT_MODELS,
    *(NLI_ENTAILMENT, NLI_NEUTRAL, RERANKER_SCORE),
    *LLM_FEATURES,
)
"""The 11 features of MIRAGE-Bench, section 4.1: six without a model, three by models that read, and
two by an LLM, which cost calls."""

PAPER_BY_LIBRARIES = (
    TARGET_LANGUAGE.with_settings({"identifier": "langid"}),
    ENGLISH.with_settings({"identifier": "langid"}),
    CITATION_RECALL,
    CITATION_MAP,
    BLEU_SCORE.with_settings({"tokenize": "13a", "order": "full"}),
    ROUGE_L.with_settings({"tokens": "rouge-score", "stem": "yes"}),
    *(NLI_ENTAILMENT, NLI_NEUTRAL, RERANKER_SCORE),
    *LLM_FEATURES,
)
"""The same by the libraries that MIRAGE-Bench names: langid, sacrebleu and rouge-score."""

DEFAULT_FEATURES = (
    *PAPER_WITHOUT_MODELS,
    *(ANSWER_LENGTH, CITATIONS, CITATION_DENSITY, CITATION_PRECISION),
    *(INVALID_CITATIONS, INVALID_CITATION_SHARE),
    *(NGRAM_COVERAGE, CONTENT_COVERAGE, FRAGMENT_COVERAGE, FRAGMENT_DENSITY),
    *(LONGEST_COMMON_SPAN, UNSUPPORTED_NUMBERS, UNSUPPORTED_NAMES, QUERY_COVERAGE),
    *FLUENCY_FEATURES,
)
"""Features measured unless others are asked for: cheap, without models, and in all languages with
what a plain install brings.

That is all without a model but chrF, the costliest, and those that need Thai cut into sentences.
"""

DETERMINISTIC_FEATURES = (
    *DEFAULT_FEATURES,
    *(RETRIEVAL_RECALL, RETRIEVAL_MAP, CITED_SENTENCES, CHRF),
    *(feature for feature in GROUNDING_FEATURES if feature not in DEFAULT_FEATURES),
)
"""All features that need no model."""

MODEL_FEATURES = (*SUPPORT_FEATURES, *RELEVANCE_FEATURES, *SIMILARITY_FEATURES)
"""Features that read a model on this machine."""

FEATURES = MappingProxyType(
    {
        feature.name: feature
        for feature in (*DETERMINISTIC_FEATURES, *MODEL_FEATURES, *LLM_FEATURES, *RAGAS_FEATURES)
    }
)
"""Every feature by name, with its default parameters."""

_OF_THE_REASON = tuple(
    feature.with_settings({"part": "reason"}) for feature in (TARGET_LANGUAGE, ENGLISH)
)

GROUPS = MappingProxyType[str, tuple[Feature, ...]](
    {
        "default": DEFAULT_FEATURES,
        "deterministic": (*DETERMINISTIC_FEATURES, *_OF_THE_REASON),
        "paper": PAPER_FEATURES,
        "as-published": PAPER_BY_LIBRARIES,
        "retrieval": (RETRIEVAL_RECALL, RETRIEVAL_MAP),
        "grounding": GROUNDING_FEATURES,
        "fluency": FLUENCY_FEATURES,
        "llm": LLM_FEATURES,
        "ragas": RAGAS_FEATURES,
        "all": (*DETERMINISTIC_FEATURES, *MODEL_FEATURES, *_OF_THE_REASON),
    }
)
"""Names that stand for several features; what costs calls to an LLM is in ``llm``, ``ragas``,
``paper`` and ``as-published`` alone."""


_FEATURE = re.compile(r"(?P<name>\w+)\s*(?:@(?P<cutoff>[^()\s]*))?\s*(?:\((?P<settings>[^()]*)\))?")
_WHOLE_NUMBER = re.compile("[0-9]{1,9}")


def parse_features(text: str) -> tuple[Feature, ...]:
    """Read features from text such as ``citation_recall@5,english(identifier=langid)``.

    Args:
        text: Names of features and groups, separated by commas; what groups share counts once.

    Raises:
        UsageError: For unknown names, parameters and values, and for features named twice.
    """
    items = _split(text)
    _refuse_repeated([item for item in items if item not in GROUPS])
    named = [feature for item in items for feature in _parse_item(item)]
    return distinct_features({str(feature): feature for feature in named}.values())


def _refuse_repeated(items: list[str]) -> None:
    if items:
        distinct_features(feature for item in items for feature in _parse_item(item))


def distinct_features(features: Iterable[Feature]) -> tuple[Feature, ...]:
    """Return the features, none of which may stand twice.

    Raises:
        UsageError: If there is none, or one of them stands twice.
    """
    seen: dict[str, Feature] = {}
    for feature in features:
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
    idle = [name for name, own in templates.own if f"{name}@{own.digest}" not in used.split("+")]
    if idle:
        raise UsageError(
            f"no feature that is asked for reads the prompt {idle[0]}; leave its template out"
        )
    return chosen


def _split(text: str) -> list[str]:
    """Split at commas outside parentheses."""
    return [item.strip() for item in re.split(r",(?![^()]*\))", text)] if text.strip() else []


def _parse_item(item: str) -> tuple[Feature, ...]:
    if item in GROUPS:
        return GROUPS[item]
    match = _FEATURE.fullmatch(item)
    if match is None:
        raise UsageError(f"{item!r} is no feature; write name, name@k or name(parameter=value)")
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


AVAILABLE = "yes"
ABSENT_MODEL = "once its model is here: --download, or model=FOLDER"


def describe_features(features: Iterable[Feature] = FEATURES.values()) -> pd.DataFrame:
    """Tabulate features for a reader.

    Returns:
        Columns ``feature, summary, needs, parameters, missing, source, available``; the last is
        ``yes``, or what is lacking and how to get it.
    """
    return pd.DataFrame(
        [
            {
                "feature": str(feature),
                "summary": feature.summary,
                "needs": ", ".join(feature.needs),
                "parameters": ", ".join(_described(feature)),
                "missing": "; ".join(map(str, feature.missing)),
                "source": feature.source,
                "available": availability(feature),
            }
            for feature in features
        ]
    )


def availability(feature: Feature) -> str:
    """Say whether a feature can be measured here, or what it lacks and how to get that."""
    from features.models.model_folder import find_model

    try:
        feature.require()
    except (MissingDependencyError, UsageError) as error:
        return str(error)
    local = _local_model(feature)
    try:
        if local is not None:
            find_model(local, download=False)
    except MissingDependencyError as error:
        return str(error)
    except UsageError:
        return ABSENT_MODEL
    return AVAILABLE


def _local_model(feature: Feature) -> str | None:
    """Return the model that must be on this machine, if any; an endpoint has the others."""
    if feature.reading is None or feature.reading.kind in ("llm", "ragas"):
        return None
    is_second = feature.reading.kind == "ragas-questions"
    return named_models(str(feature.model))[1] if is_second else feature.model


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
