"""What the engine asks of the options by which features' models are run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from arena.data.arena import Arena
from arena.data.types import Progress
from features.declare.feature import Feature, Value
from features.declare.sample import Answer


class Models(Protocol):
    """Options of models, and those who run them: ``features.ModelOptions``."""

    def configured(self, features: Iterable[Feature]) -> tuple[Feature, ...]:
        """Return features with the options that become part of their names.

        Raises:
            UsageError: If an option is of use to none of them, or contradicts a name.
        """

    def require(self, features: Iterable[Feature]) -> None:
        """Check that the models of features are at hand, before any is run.

        Raises:
            UsageError: If a model is not at hand.
            MissingDependencyError: If a package that it needs is not installed.
        """

    def signature(self, features: Iterable[Feature]) -> str | None:
        """Return what values depend on besides the answers; None if they cannot be reused."""

    def measure(
        self,
        arena: Arena,
        answers: Sequence[Answer],
        features: Iterable[Feature],
        cache: Path | None,
        progress: Progress | None,
    ) -> Mapping[Feature, Sequence[Value]]:
        """Measure features that have a ``reading`` on all answers, in their order.

        ``cache`` keeps scores by content: only new texts are scored.
        """


class WithoutModels:
    """Stands for options of models where no feature reads any."""

    def configured(self, features: Iterable[Feature]) -> tuple[Feature, ...]:
        """Return the features as they are."""
        return tuple(features)

    def require(self, features: Iterable[Feature]) -> None:
        """Nothing is needed."""

    def signature(self, _features: Iterable[Feature]) -> str:
        """Return that values depend on nothing besides the answers."""
        return ""

    def measure(self, *_arguments: object) -> dict[Feature, Sequence[Value]]:
        """Return no value."""
        return {}
