"""Middle floor: what is measured on one answer, and the measuring of all of them."""

from features.extraction import extract, feature_columns, missing_counts
from features.feature import Feature, Parameter
from features.missing import Missing
from features.registry import (
    DEFAULT_FEATURES,
    FEATURES,
    GROUPS,
    describe_features,
    parse_features,
)
from features.sample import Question, Sample

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
