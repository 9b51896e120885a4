"""Middle floor: what is measured on one answer, and the measuring of all of them."""

from features.declare.feature import Feature, Parameter
from features.declare.sample import Missing, Question, Sample
from features.engine.extraction import extract, feature_columns, missing_counts
from features.measures.registry import (
    DEFAULT_FEATURES,
    FEATURES,
    GROUPS,
    describe_features,
    parse_features,
)

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
