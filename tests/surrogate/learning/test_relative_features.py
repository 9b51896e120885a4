"""One scale of features for all languages."""

import numpy as np
import pytest

from surrogate.learning.tensor import (
    FeatureTensor,
    mean_scale,
    scale_of,
    standardized_within,
)


def tensor(values, systems, language="en"):
    values = np.asarray(values, dtype=float)[:, :, None]
    questions = tuple(f"q{index}" for index in range(values.shape[1]))
    answered = np.ones(values.shape[:2], dtype=bool)
    return FeatureTensor(language, tuple(systems), questions, ("f",), values, answered)


def test_features_are_standardized_by_the_means_of_the_fields_systems():
    field = tensor([[0.0, 2.0], [3.0, 5.0]], "ab")
    shown = standardized_within(tensor([[4.0, 1.0]], "x"), field)
    np.testing.assert_allclose(shown.values[0, :, 0], [1.0, -1.0])
    scale = scale_of(np.array([1.0, np.nan, 3.0]))
    assert scale.restore(scale.standardize(np.array(7.0))) == pytest.approx(7.0)
    constant = scale_of(np.array([2.0, 2.0]))
    assert constant.deviation == 1.0
    assert mean_scale([scale, constant]).mean == pytest.approx(2.0)
