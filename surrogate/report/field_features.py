"""Features of every system against the field: means over languages, and how they spread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from features import feature_columns, missing_counts
from surrogate.report.board_tables import BoardTables
from surrogate.report.formats import count_of, finite
from surrogate.report.scale import Scale, scale_over


@dataclass(frozen=True)
class Box:
    """How a feature spreads over systems, as positions in per cent."""

    least: float | None
    lower: float | None
    median: float | None
    upper: float | None
    most: float | None


@dataclass(frozen=True)
class FieldFeature:
    """A feature over the field.

    Attributes:
        name: Its name.
        importance: Mean share in the surrogates of all languages; None where not known.
        median: Median of the systems' means.
        scale: From the least to the greatest mean.
        box: Its spread.
    """

    name: str
    importance: float | None
    median: float | None
    scale: Scale
    box: Box


@dataclass(frozen=True)
class SystemFeature:
    """A feature of one system against the field.

    Attributes:
        field: The feature over the field.
        mean: The system's mean; each language has the same weight.
        place: Its position on the field's line, in per cent.
        missing: Which values could not be computed, in words; empty for none.
    """

    field: FieldFeature
    mean: float | None
    place: float | None
    missing: str


@dataclass(frozen=True)
class FieldFeatures:
    """Features of the whole field.

    Attributes:
        fields: Features, most important first.
        means: System by feature.
        missing: (system, feature) to what is missing, in words.
    """

    fields: list[FieldFeature]
    means: pd.DataFrame
    missing: Mapping[tuple[str, str], str]

    def of(self, system: str) -> list[SystemFeature]:
        """Return a system's features, most important first; none if it has no answers."""
        if system not in self.means.index:
            return []
        means = self.means.loc[system]
        return [
            SystemFeature(
                field=field,
                mean=finite(means[field.name]),
                place=field.scale.at(means[field.name]),
                missing=self.missing.get((system, field.name), ""),
            )
            for field in self.fields
        ]


def field_features(tables: BoardTables) -> FieldFeatures | None:
    """Sum up the feature table, or return None where the board has none."""
    if tables.features is None:
        return None
    table = tables.features
    numeric = set(table.select_dtypes("number"))
    names = [name for name in feature_columns(table) if name in numeric]
    means = table.groupby(["system", "language"])[names].mean().groupby("system").mean()
    shares = mean_importances(tables)
    fields = [_field_feature(name, means[name], shares.get(name)) for name in names]
    fields.sort(key=lambda field: -1.0 if field.importance is None else field.importance)
    fields.reverse()
    return FieldFeatures(fields, means, _missing(table))


def mean_importances(tables: BoardTables) -> dict[str, float]:
    """Return each feature's share in the surrogate, averaged over the languages that use it."""
    if tables.importances is None:
        return {}
    means = tables.importances.groupby("feature")["importance"].mean().dropna()
    return {str(name): float(value) for name, value in means.items()}


def _field_feature(name: str, means: pd.Series, importance: float | None) -> FieldFeature:
    scale = scale_over(means)
    marks = means.quantile([0.0, 0.25, 0.5, 0.75, 1.0]).tolist()
    return FieldFeature(
        name=name,
        importance=importance,
        median=finite(marks[2]),
        scale=scale,
        box=Box(*(scale.at(mark) for mark in marks)),
    )


def _missing(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    answers = table["system"].value_counts()
    by_system = table.assign(language=table["system"])  # counted a system instead of a language
    found: dict[tuple[str, str], list[str]] = {}
    for row in missing_counts(by_system).itertuples(index=False):
        found.setdefault((row.language, row.feature), []).append(f"{row.answers:,} {row.reason}")
    return {
        key: f"{'; '.join(parts)} (of {count_of(int(answers[key[0]]), 'answer')})"
        for key, parts in found.items()
    }
