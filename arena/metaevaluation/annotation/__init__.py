"""The annotation guide of MEMERAG as code: which questions lead to which label."""

from arena.metaevaluation.annotation.flow_chart import (
    QUESTIONS,
    Annotation,
    Question,
    annotate,
    next_question,
)
from arena.metaevaluation.annotation.sheets import (
    annotation_sheet,
    ratings_of_sheets,
    read_sheet,
    write_sheet,
)

__all__ = [
    "QUESTIONS",
    "Annotation",
    "Question",
    "annotate",
    "annotation_sheet",
    "next_question",
    "ratings_of_sheets",
    "read_sheet",
    "write_sheet",
]
