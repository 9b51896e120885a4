"""Measure what can be seen of an answer: languages, citations, overlap, grounding, support.

Measuring:
    extract             a table of features, one row per answer of an arena
    extract_parts       the same for millions of answers: from Parquet part files to part files
    parse_features      features from text such as ``citation_recall@5,bleu,grounding``
    feature_columns     the columns of such a table that hold features
    missing_counts      how many answers lack which feature, and why

What there is:
    describe_features   a table of all features: meaning, needs, source, availability
    FEATURES            features by name
    GROUPS              groups of features by name; DEFAULT_FEATURES is one

Declaring your own:
    Feature             a name, a function of one Sample, and why it may have no value
    Sample, Question    an answer, parsed; what it answers, with passages and reference answer
    Value, Missing      a number, or why there is none, such as EMPTY_ANSWER
    Reading, model      what a model is to score, and which one; Scores, require_model

``features.declare`` has more reasons for a missing value, and parameters such as ``@10``.
"""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
