"""Judges of grounded answers by name: ``llm:MODEL``, ``lexical``, ``python:MODULE:FUNCTION``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from arena.errors import UsageError

if TYPE_CHECKING:
    from arena.metaevaluation.grouse import Judge
    from arena.metaevaluation.grouse.judges import MarkFunction

LLM = "llm"
LEXICAL = "lexical"
PYTHON = "python"

_SPECS = "llm:MODEL, lexical, python:MODULE:FUNCTION"


def grouse_judge(spec: str, llm: Callable[[str], Judge]) -> Judge:
    """Make the judge that a text names.

    Args:
        spec: ``llm:MODEL``, ``lexical`` or ``python:MODULE:FUNCTION``; such a function takes
            metric, question, references, expected answer and answer, and returns a mark or None.
        llm: Makes a judge of an LLM's name.

    Raises:
        UsageError: If the text names no judge, or the function cannot be loaded.
    """
    from arena.metaevaluation.grouse import FunctionJudge, LexicalJudge

    kind, _, rest = spec.strip().partition(":")
    if kind == LLM and rest:
        return llm(rest)
    if kind == LLM:
        raise UsageError(f"the judge {spec!r} names no model; write such as {LLM}:MODEL")
    if kind == PYTHON:
        return FunctionJudge(spec.strip(), _function(rest))
    if spec.strip() == LEXICAL:
        return LexicalJudge()
    raise UsageError(f"there is no judge {spec!r}; give one of {_SPECS}")


def _function(place: str) -> MarkFunction:
    module_name, _, name = place.partition(":")
    if not module_name or not name:
        raise UsageError(f"{PYTHON}:{place} names no function; write {PYTHON}:MODULE:FUNCTION")
    try:
        module = import_module(module_name)
    except (ImportError, ValueError) as error:
        raise UsageError(f"the module {module_name} cannot be imported: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"the module {module_name} has no function {name}")
    found: MarkFunction = function
    return found
