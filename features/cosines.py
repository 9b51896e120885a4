"""How near texts are by their embeddings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from features.models.scorer import Scores


def cosines(vectors: Scores) -> npt.NDArray[np.float64]:
    """Return the cosine of the first vector with each of the others, shape (vectors - 1,)."""
    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact**2).sum(axis=1))
    products = (exact[1:] * exact[0]).sum(axis=1)
    near: npt.NDArray[np.float64] = np.clip(products / (lengths[1:] * lengths[0]), -1.0, 1.0)
    return near
