"""Middle floor: what is measured on one answer, and the measuring of all of them."""

from features.descriptions import describe_features
from features.extraction import extract, feature_columns, missing_counts
from features.feature import Feature, Parameter
from features.feature_names import parse_features
from features.missing import Missing
from features.registry import DEFAULT_FEATURES, FEATURES, GROUPS
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
