"""Measure what can be seen of an answer: languages, citations, overlap, grounding, support.

Measuring:
    extract             a table of features, one row per answer of an arena
    extract_parts       the same for millions of answers: from Parquet part files to part files
    parse_features      features from text such as ``citation_recall@5,bleu,grounding``
    feature_columns     the columns of such a table that hold features
    missing_counts      how many answers lack which feature, and why
    ModelOptions        device, endpoint and store of features that read a model

What there is:
    describe_features   a table of all features: meaning, needs, source, availability
    FEATURES            features by name
    GROUPS              groups of features by name; DEFAULT_FEATURES is one

Declaring your own:
    Feature             a name, a function of one Sample, and why it may have no value
    Sample, Question    an answer, parsed; what it answers, with passages and reference answer
    Value, Missing      a number, or why there is none: EMPTY_ANSWER, NO_PASSAGES, ...
    cutoff, choice      parameters: ``@10``, ``part=reason``; Parameter is what they make
    Reading, model      what a model is to score, and which one; Item, Scores, require_model
"""

from arena.data.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
