"""Reading features from their names, such as ``citation_recall@5,english(identifier=langid)``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from arena.errors import UsageError
from features.feature import CUTOFF, Feature, Setting, offer
from features.registry import FEATURES, GROUPS

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
