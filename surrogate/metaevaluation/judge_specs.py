"""Judges by name, as on the command line: ``llm:MODEL``, ``nli:MODEL``, ``lexical``, …."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from arena.errors import UsageError

if TYPE_CHECKING:
    from arena.metaevaluation.memerag.claims import Judge

LLM = "llm"
NLI = "nli"
LEXICAL = "lexical"
GROUNDING = "grounding"

_SPECS = "llm:MODEL, nli:MODEL_OR_FOLDER, lexical, grounding"


@dataclass(frozen=True)
class JudgeMakers:
    """How judges that need a model are made of the model's name.

    Attributes:
        llm: Makes a judge of an LLM's name.
        nli: Makes a judge of an NLI model's name or folder.
    """

    llm: Callable[[str], Judge]
    nli: Callable[[str], Judge]


def kind_of(spec: str) -> str:
    """Return what stands before the colon of a judge's text."""
    return spec.strip().partition(":")[0]


def make_judge(spec: str, makers: JudgeMakers) -> Judge:
    """Make the judge that a text names.

    Args:
        spec: ``llm:MODEL``, ``nli:MODEL_OR_FOLDER``, ``lexical`` or ``grounding``.
        makers: Make the judges that have a model.

    Raises:
        UsageError: If the text names no judge.
    """
    kind, _, model = spec.strip().partition(":")
    with_model = MappingProxyType({LLM: makers.llm, NLI: makers.nli})
    if kind in with_model and model:
        return with_model[kind](model)
    if kind in with_model:
        raise UsageError(f"the judge {spec!r} names no model; write such as {kind}:MODEL")
    if spec.strip() == LEXICAL:
        from arena.metaevaluation.memerag.lexical_judge import LexicalJudge

        return LexicalJudge()
    if spec.strip() == GROUNDING:
        from surrogate.metaevaluation.grounding_judge import GroundingJudge

        return GroundingJudge()
    raise UsageError(f"there is no judge {spec!r}; give one of {_SPECS}")
