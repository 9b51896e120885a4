"""Meta-evaluation: how good judges are, held against people.

``agreement`` measures how far raters agree; ``memerag`` holds judges of faithfulness against the
human labels of MEMERAG; ``annotation`` is its annotation guide, for labels of one's own.
"""

from arena.metaevaluation.metaevaluation_file import (
    MetaEvaluation,
    add_metaevaluations,
    metaevaluations_of,
    read_metaevaluations,
)

__all__ = [
    "MetaEvaluation",
    "add_metaevaluations",
    "metaevaluations_of",
    "read_metaevaluations",
]
