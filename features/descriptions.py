"""Telling a reader what there is to measure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd

from arena.errors import MissingDependencyError, UsageError
from features.feature import CUTOFF, MODEL, Feature
from features.ragas.items import named_models
from features.registry import FEATURES

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
        local = _local_model(feature)
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
        else:
            yield f"{item.name}={'|'.join(item.choices)}"
