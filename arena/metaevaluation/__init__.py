"""Meta-evaluation: how good judges are, held against people.

``agreement`` measures how far raters agree; ``memerag`` holds judges of faithfulness against the
human labels of MEMERAG; ``wikieval`` holds judges of three qualities against pairs of WikiEval;
``grouse`` puts judges of grounded answers to unit tests whose right marks are known;
``annotation`` is MEMERAG's annotation guide, for labels of one's own.
"""

from arena.metaevaluation.metaevaluation_file import (
    MetaEvaluation,
    add_metaevaluations,
    is_same_judge,
    metaevaluations_of,
    read_metaevaluations,
)

__all__ = [
    "MetaEvaluation",
    "add_metaevaluations",
    "is_same_judge",
    "metaevaluations_of",
    "read_metaevaluations",
]
