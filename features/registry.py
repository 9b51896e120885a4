"""All features by name, and the groups of them."""

from __future__ import annotations

from types import MappingProxyType

from features.citation_quality import (
    CITATION_DENSITY,
    CITATION_MAP,
    CITATION_PRECISION,
    CITATION_RECALL,
    CITATIONS,
    CITED_SENTENCES,
    INVALID_CITATION_SHARE,
    INVALID_CITATIONS,
)
from features.feature import Feature
from features.fluency import FLUENCY_FEATURES
from features.grounding import GROUNDING_FEATURES
from features.grounding.coverage import (
    CONTENT_COVERAGE,
    FRAGMENT_DENSITY,
    LONGEST_COMMON_SPAN,
    NGRAM_COVERAGE,
)
from features.grounding.facts import UNSUPPORTED_NUMBERS
from features.language import ENGLISH, TARGET_LANGUAGE
from features.length import ANSWER_LENGTH
from features.llm_rated import LLM_FEATURES
from features.overlap import BLEU_SCORE, CHRF, ROUGE_L
from features.ragas.qualities import (
    RAGAS_CONTEXT_RELEVANCE,
    RAGAS_FAITHFULNESS,
    RAGAS_FEATURES,
)
from features.relevance import RELEVANCE_FEATURES, RERANKER_SCORE
from features.similarity import SIMILARITY_FEATURES
from features.support import NLI_ENTAILMENT, NLI_NEUTRAL, SUPPORT_FEATURES

PAPER_WITHOUT_MODELS = (
    TARGET_LANGUAGE,
    ENGLISH,
    CITATION_RECALL,
    CITATION_MAP,
    BLEU_SCORE,
    ROUGE_L,
)
"""The features of MIRAGE-Bench, section 4.1, that need no model."""

DEFAULT_FEATURES = (
    *PAPER_WITHOUT_MODELS,
    *(ANSWER_LENGTH, CITATIONS, INVALID_CITATIONS),
    *(NGRAM_COVERAGE, CONTENT_COVERAGE, FRAGMENT_DENSITY),
    *(LONGEST_COMMON_SPAN, UNSUPPORTED_NUMBERS),
)
"""Features measured unless others are asked for: cheap, without models, and, since they cut no
sentences, in all languages with what a plain install brings."""

DETERMINISTIC_FEATURES = (
    *DEFAULT_FEATURES,
    *(CITATION_PRECISION, CITED_SENTENCES, INVALID_CITATION_SHARE, CITATION_DENSITY, CHRF),
    *(feature for feature in GROUNDING_FEATURES if feature not in DEFAULT_FEATURES),
    *FLUENCY_FEATURES,
)
"""All features that need no model."""

MODEL_FEATURES = (*SUPPORT_FEATURES, *RELEVANCE_FEATURES, *SIMILARITY_FEATURES)
"""Features that read a model on this machine."""

FEATURES = MappingProxyType(
    {
        feature.name: feature
        for feature in (*DETERMINISTIC_FEATURES, *MODEL_FEATURES, *LLM_FEATURES, *RAGAS_FEATURES)
    }
)
"""Every feature by name, with its default parameters."""

_OF_THE_REASON = tuple(
    feature.with_settings({"part": "reason"}) for feature in (TARGET_LANGUAGE, ENGLISH)
)

GROUPS = MappingProxyType[str, tuple[Feature, ...]](
    {
        "default": DEFAULT_FEATURES,
        "deterministic": (*DETERMINISTIC_FEATURES, *_OF_THE_REASON),
        "paper": (*PAPER_WITHOUT_MODELS, NLI_ENTAILMENT, NLI_NEUTRAL, RERANKER_SCORE),
        "grounding": GROUNDING_FEATURES,
        "fluency": FLUENCY_FEATURES,
        "llm": (*LLM_FEATURES, RAGAS_FAITHFULNESS, RAGAS_CONTEXT_RELEVANCE),
        "ragas": RAGAS_FEATURES,
        "all": (*DETERMINISTIC_FEATURES, *MODEL_FEATURES, *_OF_THE_REASON),
    }
)
"""Names that stand for several features; what costs calls to an LLM is in ``llm`` and ``ragas``
alone, and what needs nothing but an LLM in ``llm``."""
