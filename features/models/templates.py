"""The parameter of features whose prompts a user's templates may replace."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from arena.data.errors import UsageError
from arena.llm.prompts import PACKAGED, Templates
from features.declare.feature import Feature, Parameter, Setting

TEMPLATE = "template"


@dataclass(frozen=True)
class TemplateParameter(Parameter):
    """Names a user's prompts of a feature, with digests."""

    prompts: tuple[str, ...] = ()

    @property
    def form(self) -> str:
        """Form of its values, for a list of features."""
        return f"{self.name}={PACKAGED}|{self._written}"

    @property
    def _written(self) -> str:
        return "+".join(f"{name}@DIGEST" for name in self.prompts)

    def checked(self, value: Setting) -> TemplateParameter:
        """Return this parameter set to a value."""
        # One digest per prompt, in the order of the prompts; (?=\w) refuses an empty text.
        digests = [rf"(\+?{re.escape(name)}@[0-9a-f]{{12}})?" for name in self.prompts]
        pattern = r"(?=\w)" + "".join(digests)
        if value != PACKAGED and not re.fullmatch(pattern, str(value)):
            raise UsageError(
                f"a template is {PACKAGED!r}, or as --template writes it: {self._written}; "
                f"not {value!r}"
            )
        return replace(self, value=value)


def template(*prompts: str) -> TemplateParameter:
    """Declare the prompts that a user's templates may replace."""
    return TemplateParameter(name=TEMPLATE, value=PACKAGED, default=PACKAGED, prompts=prompts)


def with_templates(features: Iterable[Feature], templates: Templates) -> tuple[Feature, ...]:
    """Return features with a user's templates in their names."""
    chosen = tuple(_with_own_templates(feature, templates) for feature in features)
    used: set[str] = set()
    for feature in chosen:
        used.update(str(feature.settings.get(TEMPLATE, "")).split("+"))
    for name, replacement in templates.templates:
        # A folder may hold templates of prompts that nothing reads this time.
        if name not in templates.from_folder and f"{name}@{replacement.digest}" not in used:
            raise UsageError(
                f"no feature that is asked for reads the prompt {name}; leave its template out"
            )
    return chosen


def _with_own_templates(feature: Feature, templates: Templates) -> Feature:
    for parameter in feature.parameters:
        if not isinstance(parameter, TemplateParameter):
            continue
        if parameter.value == PACKAGED:
            return feature.with_settings({TEMPLATE: templates.signature(parameter.prompts)})
        # The name states its templates: check that they are the user's, and change nothing.
        templates.for_signature(str(parameter.value))
    return feature
