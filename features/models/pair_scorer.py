"""Scoring pairs of texts by their best window."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from arena.errors import ArenaError, UsageError
from features.models.classifier import Classifier
from features.models.scorer import Item, Scores
from features.models.tokens import OVERLAP, PairWindows, Window, longest_input

VERSION = 1
"""Raised whenever the same model would give other scores."""

SLAB = 1024
"""Windows held at once; a text of 100,000 characters has about a hundred."""


class PairScorer:
    """Scores pairs; a long text is seen in windows, and the best of them counts.

    All windows are scored, so that the time grows with the length of the text.
    """

    def __init__(
        self,
        kind: str,
        classifier: Classifier,
        outputs: Callable[[Scores], Scores],
        long_text: int,
        most: int,
    ) -> None:
        """Prepare.

        Args:
            kind: Name of the kind of model.
            classifier: The model.
            outputs: Turns the logits of one window into its outputs, the first of which says how
                good the window is.
            long_text: Which text of a pair is cut into windows, 0 or 1.
            most: Tokens of a window at most, special tokens included.
        """
        longest = longest_input(classifier.stated_lengths, classifier.config, most)
        self._classifier = classifier
        self._outputs = outputs
        self._windows = PairWindows(classifier.tokenizer, longest, long_text)
        self._signature = (
            f"{kind}:version={VERSION}|{classifier.identity}|tokens={longest}|overlap=1/{OVERLAP}"
        )

    @property
    def device(self) -> str:
        """Where the model runs."""
        return self._classifier.device.partition(":")[0]

    @property
    def signature(self) -> str:
        """Kind, version of this code, digest of the model, precision, length and overlap."""
        return self._signature

    def score(self, items: Sequence[Item]) -> Scores:
        """Score pairs.

        Args:
            items: Pairs of texts, of any length, also empty.

        Returns:
            Shape (pairs, outputs).

        Raises:
            UsageError: If an item is no pair.
            ArenaError: If the model gives something that is no finite number.
        """
        if any(len(item) != 2 for item in items):
            raise UsageError("the model scores pairs of texts")
        rows: list[Scores] = []
        held: list[list[Window]] = []
        for item in items:
            held.append(self._windows.cut(item))
            if sum(map(len, held)) >= SLAB:
                rows.extend(self._best(held))
                held = []
        rows.extend(self._best(held))
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    def _best(self, held: Sequence[Sequence[Window]]) -> list[Scores]:
        """Return the outputs of the best window of each pair."""
        flat = [window for windows in held for window in windows]
        if not flat:
            return []
        logits = self._classifier.logits(flat)
        if not np.isfinite(logits).all():
            raise ArenaError(f"the model gave no number ({self._signature})")
        outputs = [self._outputs(row) for row in logits]
        best: list[Scores] = []
        start = 0
        for windows in held:
            best.append(max(outputs[start : start + len(windows)], key=lambda row: float(row[0])))
            start += len(windows)
        return best
