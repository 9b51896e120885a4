"""What moves a rating: features, and judged answers like a system's own."""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.data.types import Floats
from surrogate.learning.field import AnswerField, FieldView
from surrogate.learning.question_scores import Scored
from surrogate.learning.surrogate import EXPLANATION_COLUMNS


def explained(
    field: AnswerField, view: FieldView, contributions: Floats, scored: Scored | None
) -> pd.DataFrame:
    """Explain the ratings of M systems in one language.

    Args:
        field: The field that they are compared with.
        view: The systems, compared with it.
        contributions: Logits that each feature adds to each rating, shape (M, F).
        scored: Scores of the field's answers; None where there are none, or no texts.

    Returns:
        ``EXPLANATION_COLUMNS``, one row per system; see ``Surrogate.explain``.
    """
    n_shown = 3
    rows = []
    for index, system in enumerate(view.systems):
        moved_by = []
        for feature in np.argsort(-np.abs(contributions[index]), kind="stable")[:n_shown]:
            added = round(float(contributions[index, feature]), 2)
            if added:
                difference = float(view.means[index, feature])
                moved_by.append((field.names[feature], added, difference))
        like_winners: list[str] = []
        like_losers: list[str] = []
        if scored is not None:
            weights = _likeness_weights(view, scored, index)
            for question in np.argsort(-np.abs(weights), kind="stable"):
                if weights[question] > 0:
                    like_winners.append(field.tensor.questions[question])
                elif weights[question] < 0:
                    like_losers.append(field.tensor.questions[question])
        rows.append((field.tensor.language, system, moved_by, like_winners, like_losers))
    return pd.DataFrame(rows, columns=EXPLANATION_COLUMNS)


def _likeness_weights(view: FieldView, scored: Scored, index: int) -> Floats:
    """Weigh how much the most similar judged answer says about a system's, shape (Q,).

    The weight is the cosine with that answer times its score less the question's mean: above 0 on
    questions where it won more than the others.
    """
    cosines = np.where(scored.judged, view.cosines[:, index], 0.0)
    nearest = cosines.argmax(axis=1)
    advantages = scored.scores[np.arange(len(nearest)), nearest] - scored.means
    return np.asarray(advantages * np.maximum(cosines.max(axis=1), 0.0))
