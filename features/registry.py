"""All features by name, and the reading of their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from types import MappingProxyType

import pandas as pd

from arena.errors import UsageError
from features.citation_quality import (
    CITATION_DENSITY,
    CITATION_MAP,
    CITATION_RECALL,
    CITATIONS,
    INVALID_CITATIONS,
)
from features.feature import CUTOFF, Feature, Setting, offer
from features.language import ENGLISH, TARGET_LANGUAGE
from features.length import ANSWER_LENGTH
from features.overlap import BLEU_SCORE, ROUGE_L

DEFAULT_FEATURES = (
    *(TARGET_LANGUAGE, ENGLISH, CITATION_RECALL, CITATION_MAP, BLEU_SCORE, ROUGE_L),
    *(ANSWER_LENGTH, CITATIONS, INVALID_CITATIONS),
)
"""Features measured unless others are asked for: cheap, without models."""

FEATURES = MappingProxyType(
    {feature.name: feature for feature in (*DEFAULT_FEATURES, CITATION_DENSITY)}
)
"""Every feature by name, with its default parameters."""

GROUPS = MappingProxyType({"default": DEFAULT_FEATURES, "all": tuple(FEATURES.values())})
"""Names that stand for several features."""

_FEATURE = re.compile(r"(?P<name>\w+)\s*(?:@(?P<cutoff>[^()\s]*))?\s*(?:\((?P<settings>[^()]*)\))?")
_WHOLE_NUMBER = re.compile("[0-9]{1,9}")


def parse_features(text: str) -> tuple[Feature, ...]:
    """Read features from text such as ``citation_recall@5,english(identifier=langid)``.

    Args:
        text: Names of features and groups, separated by commas.

    Raises:
        UsageError: For unknown names, parameters and values, and for features named twice.
    """
    named = [feature for item in _split(text) for feature in _parse_item(item)]
    return distinct_features(named)


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


def describe_features(features: Iterable[Feature] = FEATURES.values()) -> pd.DataFrame:
    """Tabulate features for a reader.

    Returns:
        Columns ``feature, summary, needs, parameters, missing, source``.
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
            }
            for feature in features
        ]
    )


def _described(feature: Feature) -> Iterator[str]:
    for item in feature.parameters:
        yield "@k" if item.name == CUTOFF else f"{item.name}={'|'.join(item.choices)}"


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
