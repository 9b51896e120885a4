"""Templates of prompts, without HTML escaping, and delimiters around the text of others."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.data.errors import UsageError

if TYPE_CHECKING:
    from jinja2 import Environment, Template

DIGEST_DIGITS = 12

_SUFFIX = ".jinja"


@dataclass(frozen=True)
class PromptTemplate:
    """A template, ready to be filled.

    Attributes:
        version: Its name and a digest of its text, such as ``pairwise.v1@0f3c5a7b9d1e``.
    """

    version: str
    _template: Template = field(repr=False, compare=False)

    def fill(self, values: Mapping[str, Any]) -> str:
        """Put values into the template, in one pass: what looks like a template in them stays.

        Raises:
            UsageError: If the template fails, such as on an attribute that a value has not.
        """
        from jinja2 import TemplateError

        try:
            return self._template.render(values)
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise UsageError(f"the template {self.version} cannot be filled: {error}") from error


@cache
def packaged_prompt(package: str, name: str, variables: tuple[str, ...]) -> PromptTemplate:
    """Load a template from the folder ``prompts`` of a package.

    Args:
        package: Such as ``arena.judging``.
        name: Such as ``pairwise.v1``.
        variables: Those that are offered.
    """
    text = files(package).joinpath("prompts", name + _SUFFIX).read_text(encoding="utf-8")
    return _compiled(name, text, variables)


def read_template(path: Path | str, variables: Collection[str]) -> PromptTemplate:
    """Load a user's template.

    Args:
        path: File with the template, in UTF-8.
        variables: Those that are offered.

    Raises:
        UsageError: If there is no such file, it is no template, or it uses other variables.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no template at {path}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"the template {path.name} is not UTF-8 text") from error
    return _compiled(path.name.removesuffix(_SUFFIX), text, variables)


def _compiled(name: str, text: str, variables: Collection[str]) -> PromptTemplate:
    from jinja2 import TemplateSyntaxError

    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGEST_DIGITS]
    environment = _environment()
    try:
        _check_variables(name, text, environment, variables)
        return PromptTemplate(f"{name}@{digest}", environment.from_string(text))
    except TemplateSyntaxError as error:
        raise UsageError(
            f"the template {name} is no Jinja template: line {error.lineno}: {error.message}"
        ) from error


def _environment() -> Environment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        autoescape=False,  # a prompt is no HTML
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _check_variables(
    name: str, text: str, environment: Environment, variables: Collection[str]
) -> None:
    from jinja2 import meta

    used = meta.find_undeclared_variables(environment.parse(text))
    unknown = sorted(used - set(variables))
    if unknown:
        raise UsageError(
            f"the template {name} uses {', '.join(unknown)}, which there is not; "
            f"there is {', '.join(variables)}"
        )


CODE_DIGITS = 12


def delimiter_code(*texts: str) -> str:
    """Choose a code that stands in none of the texts.

    It is a digest of all of them, so whoever writes one of them cannot foresee it, and equal
    texts give equal prompts.

    Returns:
        Twelve hexadecimal digits.
    """
    whole = "\x1f".join(texts)
    for salt in count():
        code = hashlib.sha256(f"{salt}\x1f{whole}".encode()).hexdigest()[:CODE_DIGITS]
        if code not in whole:
            return code
    raise AssertionError("count() does not end")
