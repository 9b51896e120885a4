"""Families of features that look at the same side of an answer."""

from __future__ import annotations

from collections.abc import Sequence

from arena.errors import UsageError
from features import citation_quality, language, length, overlap, parse_features
from features.feature import Feature
from features.fluency import FLUENCY_FEATURES
from features.grounding import GROUNDING_FEATURES
from features.llm_rated import LLM_FEATURES
from features.relevance import RELEVANCE_FEATURES
from features.similarity import SIMILARITY_FEATURES
from features.support import SUPPORT_FEATURES


def _declared(module: object) -> tuple[Feature, ...]:
    return tuple(item for item in vars(module).values() if isinstance(item, Feature))


FAMILIES: dict[str, tuple[Feature, ...]] = {
    "language": _declared(language),
    "citations": _declared(citation_quality),
    "overlap": _declared(overlap),
    "length": _declared(length),
    "grounding": tuple(GROUNDING_FEATURES),
    "fluency": tuple(FLUENCY_FEATURES),
    "support": tuple(SUPPORT_FEATURES),
    "relevance": tuple(RELEVANCE_FEATURES),
    "similarity": tuple(SIMILARITY_FEATURES),
    "llm": tuple(LLM_FEATURES),
}
"""Features of this project by what they look at."""

_FAMILY_OF = {item.name: family for family, items in FAMILIES.items() for item in items}


def feature_families(columns: Sequence[str]) -> dict[str, list[str]]:
    """Group the columns of a feature table by family.

    Args:
        columns: Names of features, such as ``citation_recall@10``; one that is not of this
            project is a family of its own.

    Returns:
        Family to its columns, in the order of the columns.
    """
    groups: dict[str, list[str]] = {}
    for column in columns:
        groups.setdefault(_family(column), []).append(column)
    return groups


def _family(column: str) -> str:
    try:
        [feature] = parse_features(column)
    except (UsageError, ValueError):
        return column
    return _FAMILY_OF.get(feature.name, column)
