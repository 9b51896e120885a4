"""Style of answers as covariates of battles, so that "longer wins" can be taken out.

Contextual Bradley-Terry: the logits of a battle are the difference of the systems' coefficients
plus effects of how the two answers differ in style. The coefficients then compare systems at
equal style (length-controlled and style-controlled ratings).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from arena.text.answers import parse_answer
from arena.text.citations import find_citations, strip_citations

Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]

_MARKUP = re.compile(r"^\s{0,3}(?:#{1,6}\s|[-*+]\s|\d{1,3}[.)]\s)|\*\*[^*\n]+\*\*", re.MULTILINE)


def log_length(output: str) -> float:
    """Return the logarithm of one more than the characters of the answer, citations left out."""
    return math.log1p(len(strip_citations(parse_answer(output).text).strip()))


def log_citations(output: str) -> float:
    """Return the logarithm of one more than the number of ids cited."""
    return math.log1p(sum(len(marker.ids) for marker in find_citations(output)))


def log_markup(output: str) -> float:
    """Return the logarithm of one more than the headings, list items and bold spans."""
    return math.log1p(sum(1 for _ in _MARKUP.finditer(output)))


CONTROLS: MappingProxyType[str, Callable[[str], float]] = MappingProxyType(
    {"length": log_length, "citations": log_citations, "markup": log_markup}
)
"""Name to a function of an answer's raw output."""


def style_differences(
    judgments: pd.DataFrame, answers: pd.DataFrame, names: Sequence[str]
) -> tuple[Floats, Booleans]:
    """Compute how the answers of judged battles differ in style.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b``.
        answers: Columns ``query_id, language, system, answer``.
        names: Controls to compute, of ``CONTROLS``.

    Returns:
        Side A minus side B in standard deviations of the difference, of the battles of which both
        answers are there, shape (battles, names); and which these are, shape (judgments,).

    Raises:
        UsageError: If a control is unknown, or no battle has both answers.
    """
    unknown = [name for name in names if name not in CONTROLS]
    if unknown or not names:
        raise UsageError(
            f"unknown control {', '.join(unknown) or '(none)'}; use some of {', '.join(CONTROLS)}"
        )
    styles = answers.drop_duplicates(ANSWER_KEY).assign(
        **{name: answers["answer"].map(CONTROLS[name]) for name in names}
    )
    table = styles.set_index(ANSWER_KEY)[list(names)]
    sides = [
        table.reindex(pd.MultiIndex.from_frame(judgments[[*QUESTION_KEY, side]]))
        for side in ("system_a", "system_b")
    ]
    difference = sides[0].to_numpy(np.float64) - sides[1].to_numpy(np.float64)
    both = np.isfinite(difference).all(axis=1)
    if not both.any():
        raise UsageError("no judged battle has both answers, so their style cannot be compared")
    kept = difference[both]
    spread = kept.std(axis=0)
    return np.asarray(kept / np.where(spread > 0, spread, 1.0)), both
