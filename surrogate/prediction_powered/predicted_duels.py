"""What a surrogate expects of a system's duels with others, question by question."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from surrogate.judge import LanguageJudge
from surrogate.tensor import FeatureTensor

Floats = npt.NDArray[np.float64]


def question_ratings(judge: LanguageJudge, tensor: FeatureTensor) -> Floats:
    """Rate the single answers of S systems to Q questions.

    Args:
        judge: Surrogate of the language.
        tensor: Features; must hold the judge's.

    Returns:
        Coefficients (log-odds), shape (S, Q); NaN without an answer.
    """
    systems, questions, features = tensor.values.shape
    single = replace(
        tensor,
        systems=tuple(f"{row}" for row in range(systems * questions)),
        questions=("",),
        values=tensor.values.reshape(-1, 1, features),
        answered=tensor.answered.reshape(-1, 1),
    )
    ratings = judge.predict(single).reshape(systems, questions)
    return np.where(tensor.answered, ratings, np.nan)


def predicted_win_rates(ratings: Floats, rivals: Floats) -> Floats:
    """Return a system's expected points against each rival on each question.

    Args:
        ratings: Its rating on each question, shape (Q,).
        rivals: Those of the rivals, shape (O, Q).

    Returns:
        Shape (O, Q), each from 0 to 1; NaN where either has no rating.
    """
    return np.asarray(expit(ratings - rivals))
