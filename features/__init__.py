"""Measure what can be seen of an answer: languages, citations, overlap, grounding, support.

Measuring:
    extract             a table of features, one row an answer of an arena
    parse_features      features from text such as ``citation_recall@5,bleu,grounding``
    feature_columns     the columns of such a table that hold features
    missing_counts      how many answers lack which feature, and why
    ModelOptions        device, batch size, endpoint and store of features that read a model
    worker_pool         processes, threads, or a Dask or Ray cluster

What there is:
    describe_features   a table of all features: meaning, needs, source, availability
    FEATURES            features by name
    GROUPS              groups of features by name; DEFAULT_FEATURES is one

Declaring your own:
    Feature             a name, a function of one Sample, and why it may have no value
    Sample, Question    an answer, parsed; what it answers, with passages and reference answer
    Value, Missing      a number, or why there is none: EMPTY_ANSWER, NO_PASSAGES, ...
    cutoff, choice      parameters: ``@10``, ``part=answer``; Parameter is what they make
    Reading, model      what a model is to score, and which one; Item, Scores, require_model
"""

from features.declare.feature import (
    Feature,
    Item,
    Parameter,
    Reading,
    Scores,
    Value,
    choice,
    cutoff,
    model,
)
from features.declare.sample import (
    EMPTY_ANSWER,
    EMPTY_PASSAGES,
    NO_CITATION,
    NO_CITED_PASSAGES,
    NO_PASSAGES,
    NO_REFERENCE_ANSWER,
    NO_REFERENCE_SYSTEM,
    NO_RELEVANCE_LABELS,
    NO_STATEMENTS,
    Missing,
    Question,
    Sample,
)
from features.engine.extraction import extract, feature_columns, missing_counts
from features.engine.workers import worker_pool
from features.measures.registry import (
    DEFAULT_FEATURES,
    FEATURES,
    GROUPS,
    describe_features,
    parse_features,
)
from features.models.model_folder import require_model
from features.models.scorer import ModelOptions

__all__ = [
    "DEFAULT_FEATURES",
    "EMPTY_ANSWER",
    "EMPTY_PASSAGES",
    "FEATURES",
    "GROUPS",
    "NO_CITATION",
    "NO_CITED_PASSAGES",
    "NO_PASSAGES",
    "NO_REFERENCE_ANSWER",
    "NO_REFERENCE_SYSTEM",
    "NO_RELEVANCE_LABELS",
    "NO_STATEMENTS",
    "Feature",
    "Item",
    "Missing",
    "ModelOptions",
    "Parameter",
    "Question",
    "Reading",
    "Sample",
    "Scores",
    "Value",
    "choice",
    "cutoff",
    "describe_features",
    "extract",
    "feature_columns",
    "missing_counts",
    "model",
    "parse_features",
    "require_model",
    "worker_pool",
]
