"""What a feature says of a system in words: more of it than other systems have, or less."""

from __future__ import annotations

import re
from types import MappingProxyType

_NAME = re.compile(r"\w+")
CLAUSES = MappingProxyType(
    {
        "answer_length": ("writes longer answers", "writes shorter answers"),
        "bleu": ("is closer to the reference answers", "is further from the reference answers"),
        "citation_density": ("cites more often", "cites less often"),
        "citation_map": ("cites relevant passages earlier", "cites relevant passages later"),
        "citation_precision": (
            "cites fewer irrelevant passages",
            "cites more irrelevant passages",
        ),
        "citation_recall": ("cites more relevant passages", "cites fewer relevant passages"),
        "citations": ("cites more passages", "cites fewer passages"),
        "consensus": (
            "agrees more with the others' answers",
            "agrees less with the others' answers",
        ),
        "content_coverage": (
            "takes more from the passages it cites",
            "takes less from the passages it cites",
        ),
        "english": ("answers more in English", "answers less in English"),
        "fragment_coverage": (
            "copies more words of the passages it cites",
            "copies fewer words of the passages it cites",
        ),
        "fragment_density": ("copies longer passages", "copies shorter passages"),
        "invalid_citation_share": (
            "cites unknown passages more often",
            "cites unknown passages less often",
        ),
        "invalid_citations": ("cites more unknown passages", "cites fewer unknown passages"),
        "longest_common_span": ("copies longer runs of words", "copies shorter runs of words"),
        "markup_artifacts": ("leaves more markup behind", "leaves less markup behind"),
        "ngram_coverage": (
            "shares more wording with the passages it cites",
            "shares less wording with the passages it cites",
        ),
        "query_coverage": (
            "takes up more words of the question",
            "takes up fewer words of the question",
        ),
        "repetition": ("repeats itself more", "repeats itself less"),
        "rouge_l": ("is closer to the reference answers", "is further from the reference answers"),
        "script_mixing": ("mixes scripts more", "mixes scripts less"),
        "target_language": (
            "answers more in the question's language",
            "answers less in the question's language",
        ),
        "truncation": (
            "ends more answers without a full stop",
            "ends fewer answers without a full stop",
        ),
        "unreadable_characters": (
            "writes more unreadable characters",
            "writes fewer unreadable characters",
        ),
        "unsupported_names": (
            "has more names that no cited passage holds",
            "has fewer names that no cited passage holds",
        ),
        "unsupported_numbers": (
            "has more numbers that no cited passage holds",
            "has fewer numbers that no cited passage holds",
        ),
    }
)
"""Name of a feature to what a system with a higher, and with a lower, value does."""


def feature_clause(feature: str, difference: float) -> str:
    """Return what a system does whose mean of a feature differs from the others'.

    Args:
        feature: The feature, with its parameters, if any.
        difference: The system's mean less the others'.
    """
    match = _NAME.match(feature)
    name = feature if match is None else match[0]
    higher, lower = CLAUSES.get(name, (f"has a higher {feature}", f"has a lower {feature}"))
    return higher if difference > 0 else lower
