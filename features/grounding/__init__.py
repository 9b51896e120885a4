"""How well do the passages ground an answer? Measured on words, without a model."""

from features.grounding.coverage import (
    CONTENT_COVERAGE,
    FRAGMENT_COVERAGE,
    FRAGMENT_DENSITY,
    LONGEST_COMMON_SPAN,
    NGRAM_COVERAGE,
    QUERY_COVERAGE,
)
from features.grounding.facts import UNSUPPORTED_NAMES, UNSUPPORTED_NUMBERS
from features.grounding.statement_support import (
    BEST_PASSAGE_CITED,
    CITED_PASSAGE_RANK,
    STATEMENT_SUPPORT,
    WEAKEST_STATEMENT,
)

GROUNDING_FEATURES = (
    *(NGRAM_COVERAGE, CONTENT_COVERAGE, FRAGMENT_COVERAGE, FRAGMENT_DENSITY, LONGEST_COMMON_SPAN),
    *(UNSUPPORTED_NUMBERS, UNSUPPORTED_NAMES, STATEMENT_SUPPORT, WEAKEST_STATEMENT),
    *(BEST_PASSAGE_CITED, CITED_PASSAGE_RANK, QUERY_COVERAGE),
)
"""Features of grounding that need no reference, no labels and no model."""

__all__ = ["GROUNDING_FEATURES"]
