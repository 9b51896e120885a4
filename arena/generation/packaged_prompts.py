"""Templates of prompts that come with a package."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import cache
from importlib.resources import as_file, files

from arena.errors import MissingDependencyError
from arena.judging.templates import PromptTemplate, read_template

_SUFFIX = ".jinja"


def require_jinja(purpose: str) -> None:
    """Check that templates can be filled.

    Raises:
        MissingDependencyError: If Jinja is not installed.
    """
    if importlib.util.find_spec("jinja2") is None:
        raise MissingDependencyError(purpose, "jinja2", "llm")


@cache
def packaged_prompt(package: str, name: str, variables: tuple[str, ...]) -> PromptTemplate:
    """Load a template from the folder ``prompts`` of a package.

    Args:
        package: Such as ``arena.generation``.
        name: Such as ``mirage.v1``.
        variables: Those that are offered.

    Raises:
        MissingDependencyError: If Jinja is not installed.
    """
    offered: Mapping[str, str] = dict.fromkeys(variables, "")
    with as_file(files(package).joinpath("prompts", name + _SUFFIX)) as path:
        return read_template(path, offered)
