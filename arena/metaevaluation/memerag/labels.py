"""Labels of MEMERAG, coarse and fine-grained (the paper, sections 3.4 and 4)."""

from __future__ import annotations

from types import MappingProxyType

SUPPORTED = "Supported"
NOT_SUPPORTED = "Not Supported"
CHALLENGING = "Challenging to determine"
FACTUALITY = (SUPPORTED, NOT_SUPPORTED, CHALLENGING)
"""Coarse labels of faithfulness. Challenging sentences are left out of a meta-evaluation."""

JUDGED = (SUPPORTED, NOT_SUPPORTED)
"""Coarse labels that judges are held against (the paper, section 5.1)."""

COARSE_OF_FINE = MappingProxyType(
    {
        "Direct paraphrase": SUPPORTED,
        "Logical conclusion": SUPPORTED,
        "Other": SUPPORTED,
        "Adds new information": NOT_SUPPORTED,
        "Contradiction": NOT_SUPPORTED,
        "Mis-referencing": NOT_SUPPORTED,
        "Nuance shift": NOT_SUPPORTED,
        "Opinion as fact": NOT_SUPPORTED,
        "Wrong reasoning": NOT_SUPPORTED,
        "Other mistake": NOT_SUPPORTED,
    }
)
"""Fine-grained labels in the order of table 4; a challenging sentence has none."""

FINE_GRAINED = tuple(COARSE_OF_FINE)

DIRECT = "Directly answers the question"
CONTEXT = "Adds context to the answer"
UNRELATED = "Unrelated to the question"
RELEVANCE = (DIRECT, CONTEXT, UNRELATED)

RELEVANT = "Relevant"
IRRELEVANT = "Irrelevant"
COARSE_OF_RELEVANCE = MappingProxyType({DIRECT: RELEVANT, CONTEXT: RELEVANT, UNRELATED: IRRELEVANT})
"""The first two describe relevant sentences, the last irrelevant ones (the paper, section 3.4)."""

LABELS = MappingProxyType(
    {
        "factuality": FACTUALITY,
        "fine_grained_factuality": FINE_GRAINED,
        "relevance": RELEVANCE,
    }
)
"""What each field of a sentence may say."""

_SPELLINGS = MappingProxyType(
    {label.casefold(): label for labels in LABELS.values() for label in labels}
)


def canonical_label(field: str, text: str) -> str | None:
    """Return a label as the paper spells it.

    Args:
        field: One of ``LABELS``.
        text: The label, in any case, with spaces around it or not.

    Returns:
        The label; None if the field knows no such label.
    """
    label = _SPELLINGS.get(text.strip().casefold())
    return label if label in LABELS[field] else None


def coarse_label(field: str, label: str) -> str:
    """Return the coarse label that a label of a field belongs to."""
    if field == "relevance":
        return COARSE_OF_RELEVANCE.get(label, label)
    return COARSE_OF_FINE.get(label, label)
