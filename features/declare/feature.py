"""A feature is a value: its text is its column and its command-line argument."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from arena.data.errors import ArenaError, UsageError
from arena.data.wording import did_you_mean
from arena.text.prompts import PACKAGED, Templates
from features.declare.sample import Missing, Sample

Value = float | Missing
Measurement = TypeVar("Measurement", bound=Callable[..., Value])
Setting = int | str

Item = tuple[str, ...]
"""One text, or a pair of texts, that a model scores; or what an LLM is asked about."""

Items = tuple[Item, ...] | Missing
"""What a model is to score of one answer, or why there is nothing."""

Scores = npt.NDArray[np.float32]
"""What a model gives: shape (items, outputs)."""

CUTOFF = "k"
MODEL = "model"
TEMPLATE = "template"
SENTENCES = "sentences"
"""What a feature needs that cuts answers into sentences."""
LARGEST_CUTOFF = 1_000_000
OWN = "surrogate-arena"
"""Source of features that are defined here."""

_MODEL_NAME = re.compile(r"[^\s,()]([^,()\r\n]*[^\s,()])?")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a feature.

    Attributes:
        name: Its name; ``k`` is a cutoff and written ``@k``.
        value: What it is set to.
        default: What it is unless stated.
        choices: What it may be; empty for a cutoff, a model and a template.
        prompts: Names of the prompts that a ``template`` may replace.
    """

    name: str
    value: Setting
    default: Setting
    choices: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()

    def checked(self, value: Setting) -> Parameter:
        """Return this parameter set to a value.

        Raises:
            UsageError: If the parameter cannot take that value.
        """
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
        elif self.name == TEMPLATE:
            parts = "".join(rf"(\+?{re.escape(name)}@[0-9a-f]{{12}})?" for name in self.prompts)
            if value != PACKAGED and not re.fullmatch(rf"(?=\w){parts}", str(value)):
                raise UsageError(
                    f"a template is {PACKAGED!r}, or as --template writes it: "
                    f"{'+'.join(f'{name}@DIGEST' for name in self.prompts)}; not {value!r}"
                )
        elif not isinstance(value, int) or not 1 <= value <= LARGEST_CUTOFF:
            raise UsageError(f"a cutoff is a whole number from 1, not {value!r}")
        return replace(self, value=value)


def offer(name: str, names: Iterable[str]) -> str:
    """Say which names there are, and which one may have been meant."""
    known = list(names)
    return f"{did_you_mean(name, known)} known: {', '.join(known) or 'none'}".lstrip()


def cutoff(default: int) -> Parameter:
    """Declare a cutoff, written ``@10``."""
    return Parameter(CUTOFF, default, default)


def choice(name: str, *choices: str) -> Parameter:
    """Declare a parameter that takes one of some words, by default the first."""
    return Parameter(name, choices[0], choices[0], choices)


def model(default: str) -> Parameter:
    """Declare a parameter that names a model: a folder, or a name on the Hugging Face hub."""
    return Parameter(MODEL, default, default)


def template(*prompts: str) -> Parameter:
    """Declare the templates that a user may put in the place of some prompts."""
    return Parameter(TEMPLATE, PACKAGED, PACKAGED, prompts=prompts)


@dataclass(frozen=True)
class Reading:
    """What a feature reads from a model.

    Attributes:
        kind: The kind of model, one of ``features.models.KINDS``.
        items: Texts or pairs of texts of one sample that the model is to score, or why there are
            none; takes the sample and the feature's parameters other than ``model`` by name.
    """

    kind: str
    items: Callable[..., Items]


@dataclass(frozen=True, repr=False)
class Feature:
    """A number measured on one answer.

    ``str(feature)`` names its column, such as ``citation_recall@10`` or
    ``target_language(identifier=langid)``, and is read back by ``parse_features``. Cutoffs are
    always written, other parameters where they differ from their default.

    Attributes:
        name: Its name.
        summary: What it measures, in one line.
        source: Where it is defined.
        needs: What it looks at: answer, sentences, query, passages, relevance labels, reference
            answer.
        measurement: Measures one sample; takes the parameters by name. With a ``reading``, it
            takes the scores of the sample's items after the sample, shape (items, outputs), and
            the parameters other than ``model``.
        parameters: Its parameters with their present values.
        requirement: Raises ``MissingDependencyError`` if an optional package is absent; takes
            the parameters by name.
        reading: What it reads from a model; None for a feature that needs none.
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
        cut = "".join(f"@{item.value}" for item in self.parameters if item.name == CUTOFF)
        stated = ",".join(
            f"{item.name}={item.value}"
            for item in self.parameters
            if item.name != CUTOFF and item.value != item.default
        )
        return f"{self.name}{cut}({stated})" if stated else f"{self.name}{cut}"

    def __repr__(self) -> str:
        return f"Feature({str(self)!r})"

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """The parameters by name."""
        return {item.name: item.value for item in self.parameters}

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
                item.checked(settings.get(item.name, item.value)) for item in self.parameters
            )
        except UsageError as error:
            raise UsageError(f"{self.name}: {error}") from error
        return replace(self, parameters=parameters)

    def with_templates(self, templates: Templates) -> Feature:
        """Return the same feature with a user's templates, as far as it reads their prompts.

        Raises:
            UsageError: If it names templates already, and these are not among those given.
        """
        stated = next((item for item in self.parameters if item.name == TEMPLATE), None)
        if stated is None:
            return self
        if stated.value != PACKAGED:
            templates.for_signature(str(stated.value))
            return self
        return self.with_settings({TEMPLATE: templates.signature(stated.prompts)})

    @property
    def model(self) -> str | None:
        """The model it reads, or None."""
        return None if self.reading is None else str(self.settings[MODEL])

    def require(self) -> None:
        """Check that the packages it needs are installed.

        Raises:
            MissingDependencyError: If one is not.
        """
        if self.requirement is not None:
            self.requirement(**self.settings)

    def items(self, sample: Sample) -> Items:
        """Return what its model is to score of one answer, or why there is nothing."""
        return cast(Reading, self.reading).items(sample, **self._own_settings)

    def measure(self, sample: Sample, scores: Scores | None = None) -> Value:
        """Measure one answer, with a reading from the model's scores of its items.

        Raises:
            ArenaError: If the feature gives a value that is no finite number.
        """
        if scores is None:
            value = self.measurement(sample, **self.settings)
        else:
            value = self.measurement(sample, scores, **self._own_settings)
        if isinstance(value, Missing) or math.isfinite(value):
            return value
        raise ArenaError(f"{self} gave {value!r}; return a number, or Missing with the reason")

    @cached_property
    def _own_settings(self) -> dict[str, Setting]:
        """The parameters that are not the model's."""
        return {name: value for name, value in self.settings.items() if name != MODEL}


DECLARED: dict[str, Feature] = {}
"""Features by name, as their modules are imported."""


def declared(
    source: str,
    needs: tuple[str, ...],
    *parameters: Parameter,
    requirement: Callable[..., None] | None = None,
    reading: Reading | None = None,
    name: str = "",
    summary: str = "",
) -> Callable[[Measurement], Measurement]:
    """Declare a feature by the function that measures it; ``features.FEATURES`` holds it.

    Arguments are those of ``Feature``; by default the name is the function's and the summary the
    first line of its docstring.
    """

    def declare(measurement: Measurement) -> Measurement:
        own = name or measurement.__name__
        line = summary or (measurement.__doc__ or "").partition("\n")[0].rstrip(".")
        DECLARED[own] = Feature(
            own, line, source, needs, measurement, parameters, requirement, reading
        )
        return measurement

    return declare
