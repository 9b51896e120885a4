"""Tables that describe features to a reader."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from arena.data.errors import ArenaError
from arena.data.plug_ins import find_plug_in, plug_ins
from features.declare.feature import Feature
from features.measures.choosing import feature_of
from features.measures.registry import FEATURES, known_names, models_for, require

AVAILABLE = "yes"


def describe_all_features() -> pd.DataFrame:
    """Tabulate the features of this project, then those of other packages, each imported.

    Returns:
        As ``describe_features``; of a plug-in that cannot be used, ``available`` is the reason.
    """
    tables = [describe_features()]
    for plug_in in plug_ins("feature"):
        try:
            find_plug_in("feature", plug_in.name, known_names())
            tables.append(describe_features([feature_of(plug_in)]))
        except ArenaError as error:
            row = dict.fromkeys(tables[0].columns, "")
            row.update(feature=plug_in.name, source=plug_in.package, available=str(error))
            tables.append(pd.DataFrame([row]))
    return pd.concat(tables, ignore_index=True)


def describe_features(features: Iterable[Feature] | None = None) -> pd.DataFrame:
    """Tabulate features for a reader, by default all of this project.

    Returns:
        Columns ``feature, summary, needs, parameters, source, available``; the last is
        ``yes``, or what is lacking and how to get it.
    """
    rows = []
    for feature in FEATURES.values() if features is None else features:
        row = {
            "feature": str(feature),
            "summary": feature.summary,
            "needs": ", ".join(feature.needs),
            "parameters": ", ".join(parameter.form for parameter in feature.parameters),
            "source": feature.source,
            "available": availability(feature),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def availability(feature: Feature) -> str:
    """Return ``yes`` if a feature can be measured here, else what it lacks and how to get that."""
    try:
        require([feature], models_for([feature]))
    except ArenaError as error:
        return str(error)
    return AVAILABLE
