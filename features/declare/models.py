"""What runs the models that features read."""

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
        """Return features with the options that become part of their names."""

    def require(self, features: Iterable[Feature]) -> None:
        """Check that features' models are at hand."""

    def signature(self, features: Iterable[Feature]) -> str | None:
        """Return what values depend on besides answers, if reusable."""

    def measure(
        self,
        arena: Arena,
        answers: Sequence[Answer],
        features: Iterable[Feature],
        cache: Path | None,
        progress: Progress | None,
    ) -> Mapping[Feature, Sequence[Value]]:
        """Measure features with a ``reading``; ``cache`` keeps scores."""


class WithoutModels:
    """Stands for options of models where no feature reads any."""

    def configured(self, features: Iterable[Feature]) -> tuple[Feature, ...]:
        """Return the features as they are."""
        return tuple(features)

    def require(self, features: Iterable[Feature]) -> None:
        """Nothing is needed."""

    def signature(self, _features: Iterable[Feature]) -> str:
        """Return an empty text: values depend on answers alone."""
        return ""

    def measure(self, *_arguments: object) -> dict[Feature, Sequence[Value]]:
        """Return no value."""
        return {}
