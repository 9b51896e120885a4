"""How many answers a rank needs, and how much surer more answers make a rating."""

import numpy as np
import pandas as pd
import pytest

from surrogate.board.rank_reasons import needed_answers
from surrogate.board.rating_rows import variances_of_coverage


class MeanOfLength:
    """A surrogate whose rating is the mean of one feature, so that the jackknife is exact."""

    def predict(self, X, questions=None):
        rated = X.groupby(["language", "system"])["answer_length"].mean().rename("rating")
        return rated.reset_index()


def answers(system, values, language="en"):
    keys = {"language": language, "system": system}
    return pd.DataFrame(
        [{**keys, "query_id": f"q{n:03}", "answer_length": value} for n, value in enumerate(values)]
    )


def test_needed_answers():
    expected = {1: 1, 4: 4, 5: 5, 12: 5, 25: 5, 26: 6, 40: 8, 250: 50, 11_000: 50}
    for n_questions, n_answers in expected.items():
        assert needed_answers(n_questions) == n_answers


def test_the_variance_is_that_of_a_mean_of_a_part_of_the_questions():
    values = np.array([1.0, 4.0, 2.0, 8.0, 5.0, 7.0])
    table = pd.concat([answers("part", values), answers("all", values, "de")])
    variances = variances_of_coverage(MeanOfLength(), table, {"en": 24, "de": 6})
    expected = values.var(ddof=1) / 6 * (1 - 6 / 24)
    assert variances == {("en", "part"): pytest.approx(expected)}
