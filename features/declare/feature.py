"""A feature is a value: its text is its column and its command-line argument."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from arena.data.errors import ArenaError, UsageError
from arena.data.wording import did_you_mean
from features.declare.sample import Missing, Sample

Value = float | Missing
Measurement = TypeVar("Measurement", bound=Callable[..., Value])
Setting = int | str

Item = tuple[str, ...]
"""Texts that a model scores together: one text, a pair, or the texts of an LLM's prompt."""

Items = tuple[Item, ...] | Missing
"""The items of one answer, or the reason why it has none."""

Scores = npt.NDArray[np.float32]
"""The outputs of a model, shape (items, outputs)."""

CUTOFF = "k"
MODEL = "model"
SENTENCES = "sentences"
"""The need of features that cut answers into sentences, which takes a package for Thai."""
THIS_PACKAGE = "surrogate-arena"
"""Source of features that are defined here."""

_MODEL_NAME = re.compile(r"[^\s,()]([^,()\r\n]*[^\s,()])?")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a feature, with its present value."""

    name: str
    value: Setting
    default: Setting
    choices: tuple[str, ...] = ()

    @property
    def form(self) -> str:
        """Return how its values are written, for a list of features."""
        if self.name == CUTOFF:
            return "@k"
        return f"{self.name}={'|'.join(self.choices) or self.default}"

    def checked(self, value: Setting) -> Parameter:
        """Return this parameter set to a value."""
        largest_cutoff = 1_000_000
        if self.choices:
            if value not in self.choices:
                raise UsageError(
                    f"{self.name} cannot be {value!r}; {offer(str(value), self.choices)}"
                )
        elif self.name == MODEL:
            if not isinstance(value, str) or not _MODEL_NAME.fullmatch(value):
                raise UsageError(
                    f"a model is given by its name or its folder, without commas and "
                    f"parentheses, not {value!r}"
                )
        elif not isinstance(value, int) or not 1 <= value <= largest_cutoff:
            raise UsageError(f"a cutoff is a whole number from 1, not {value!r}")
        return replace(self, value=value)


def offer(name: str, names: Iterable[str]) -> str:
    """List the valid names, the likeliest first."""
    choices = list(names)
    listed = ", ".join(choices) or "none"
    return f"{did_you_mean(name, choices)} known: {listed}".lstrip()


def cutoff(default: int) -> Parameter:
    """Declare a cutoff, written ``@10``."""
    return Parameter(name=CUTOFF, value=default, default=default)


def choice(name: str, *choices: str) -> Parameter:
    """Declare a parameter of some words, by default the first."""
    return Parameter(name=name, value=choices[0], default=choices[0], choices=choices)


def model(default: str) -> Parameter:
    """Declare a parameter that names a model: a folder, or a name on the Hugging Face hub.

    Args:
        default: The model, unless a user states another.

    Returns:
        The parameter, named ``model``.

    Examples:
        >>> model("my/reranker").value
        'my/reranker'
    """
    return Parameter(name=MODEL, value=default, default=default)


def _no_items(_sample: Sample) -> Items:
    return ()


class Reading(NamedTuple):
    """Connects a feature to the model whose scores it uses.

    Attributes:
        kind: The kind of model, such as ``nli``.
        items: Returns the texts or pairs of a sample that the model scores, or why there are none;
            takes the sample, and the feature's parameters other than ``model`` by name. None are
            needed where the kind reads tables of the arena.
    """

    kind: str
    items: Callable[..., Items] = _no_items


@dataclass(frozen=True, repr=False)
class Feature:
    """A number measured on one answer.

    ``str(feature)`` names its column, such as ``citation_recall@10`` or
    ``target_language(identifier=langid)``, and is read back by ``parse_features``.

    Attributes:
        name: Its name.
        summary: Its definition in one line.
        source: Where it is defined.
        needs: Its inputs: answer, sentences, query, passages, relevance labels, reference answer.
        measurement: Measures a sample; takes parameters by name, after the scores of a
            ``reading``'s items, (items, outputs).
        parameters: Its parameters with their present values.
        requirement: Raises ``MissingDependencyError`` if a package is absent; takes parameters by
            name.
        reading: The model's kind and items; None for a feature that needs no model.

    Examples:
        >>> from features import FEATURES, Question, Sample
        >>> sample = Sample(Question("en", "q1", "Who wrote Faust?", (), "Goethe."), "Goethe did.")
        >>> FEATURES["answer_length"].measure(sample)
        2.0
    """

    name: str
    summary: str
    source: str
    needs: tuple[str, ...]
    measurement: Callable[..., Value]
    parameters: tuple[Parameter, ...] = ()
    requirement: Callable[..., None] | None = None
    reading: Reading | None = None

    def __str__(self) -> str:
        text = self.name
        changed: list[str] = []
        for parameter in self.parameters:
            if parameter.name == CUTOFF:
                text += f"@{parameter.value}"
            elif parameter.value != parameter.default:
                changed.append(f"{parameter.name}={parameter.value}")
        if changed:
            text += f"({','.join(changed)})"
        return text

    def __repr__(self) -> str:
        return f"Feature({str(self)!r})"

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """Return the parameters by name."""
        return {parameter.name: parameter.value for parameter in self.parameters}

    def with_settings(self, settings: Mapping[str, Setting]) -> Feature:
        """Return the same feature with other parameters.

        Raises:
            UsageError: For a parameter this feature lacks or a value it cannot take.
        """
        unknown = [name for name in settings if name not in self.settings]
        if unknown:
            raise UsageError(
                f"{self.name} has no parameter {unknown[0]!r}; {offer(unknown[0], self.settings)}"
            )
        try:
            parameters = tuple(
                parameter.checked(settings.get(parameter.name, parameter.value))
                for parameter in self.parameters
            )
        except UsageError as error:
            raise UsageError(f"{self.name}: {error}") from error
        return replace(self, parameters=parameters)

    @property
    def model(self) -> str | None:
        """Return the model it reads, or None."""
        name = self.settings.get(MODEL)
        return None if name is None else str(name)

    def require(self) -> None:
        """Check that the packages it needs are installed.

        Raises:
            MissingDependencyError: If one is not.
        """
        if self.requirement is not None:
            self.requirement(**self.settings)

    def items(self, sample: Sample) -> Items:
        """Return the items of one answer that its model scores, or why there are none."""
        return cast(Reading, self.reading).items(sample, **self._settings_of_items)

    def measure(self, sample: Sample, scores: Scores | None = None) -> Value:
        """Measure one answer, with a reading from the model's scores of its items.

        Raises:
            ArenaError: If the feature gives a value that is no finite number.
        """
        if scores is None:
            value = self.measurement(sample, **self.settings)
        else:
            value = self.measurement(sample, scores, **self._settings_of_items)
        if isinstance(value, Missing) or math.isfinite(value):
            return value
        raise ArenaError(f"{self} gave {value!r}; return a number, or Missing with the reason")

    @cached_property
    def _settings_of_items(self) -> dict[str, Setting]:
        return {name: value for name, value in self.settings.items() if name != MODEL}


DECLARED: dict[str, Feature] = {}
"""Features by name, as their modules are imported."""


def declared(
    *,
    source: str,
    needs: tuple[str, ...],
    parameters: tuple[Parameter, ...] = (),
    requirement: Callable[..., None] | None = None,
    reading: Reading | None = None,
) -> Callable[[Measurement], Measurement]:
    """Declare a feature by its measuring function, for ``features.FEATURES``."""

    def declare(measurement: Measurement) -> Measurement:
        first_line, _, _ = (measurement.__doc__ or "").partition("\n")
        feature = Feature(
            name=measurement.__name__,
            summary=first_line.rstrip("."),
            source=source,
            needs=needs,
            measurement=measurement,
            parameters=parameters,
            requirement=requirement,
            reading=reading,
        )
        DECLARED[feature.name] = feature
        return measurement

    return declare
