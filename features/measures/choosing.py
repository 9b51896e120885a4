"""Choosing features by name, by group, or with parameters, as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from arena.data.errors import UsageError
from arena.data.wording import split_names
from features.declare.feature import CUTOFF, Feature, Setting, offer
from features.measures.registry import FEATURES, GROUPS, find_feature, known_names

if TYPE_CHECKING:
    from arena.data.plug_ins import PlugIn


_FEATURE = re.compile(r"(?P<name>\w+)\s*(?:@(?P<cutoff>[^()\s]*))?\s*(?:\((?P<settings>[^()]*)\))?")
_WHOLE_NUMBER = re.compile("[0-9]{1,9}")


def parse_features(text: str, *, with_plug_ins: bool = True) -> tuple[Feature, ...]:
    """Read features from text such as ``citation_recall@5,english(identifier=langid)``.

    Args:
        text: Names of features and groups, separated by commas; what is named twice counts once.
        with_plug_ins: Whether features of other installed packages, which are then imported, may be
            named. False for names from a file, which may be anybody's.

    Returns:
        The features, in order.

    Raises:
        UsageError: For unknown names, parameters and values, and unusable plug-ins.

    Examples:
        >>> parse_features("citation_recall@5,english")
        (Feature('citation_recall@5'), Feature('english'))
    """
    features: list[Feature] = []
    for part in split_names(text):
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
        feature = find_feature(name)
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
        reading = reading._replace(items=Guarded(reading.items, str(plug_in)))
    measurement = Guarded(feature.measurement, str(plug_in))
    return replace(feature, source=plug_in.package, measurement=measurement, reading=reading)
