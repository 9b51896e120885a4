"""Middle floor: what is measured on one answer, and the measuring of all of them."""

from features.engine.extraction import extract, feature_columns, missing_counts
from features.measures.feature import Feature, Parameter
from features.measures.registry import (
    DEFAULT_FEATURES,
    FEATURES,
    GROUPS,
    describe_features,
    parse_features,
)
from features.measures.sample import Missing, Question, Sample

__all__ = [
    "DEFAULT_FEATURES",
    "FEATURES",
    "GROUPS",
    "Feature",
    "Missing",
    "Parameter",
    "Question",
    "Sample",
    "describe_features",
    "extract",
    "feature_columns",
    "missing_counts",
    "parse_features",
]
