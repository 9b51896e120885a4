"""The four prompts of the paper (appendix H), as templates that are not HTML-escaped.

Instructions go into the system message, passages and sentence into the user's. The texts are the
paper's to the letter, its slips among them; ``task.v1`` serves all four.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from arena.errors import UsageError
from arena.llm.prompts import Prompt
from arena.metaevaluation.memerag.claims import Claim
from arena.prompts.templates import packaged_prompt

PromptName = Literal["zero_shot", "cot", "ag", "ag_cot"]
PROMPTS: tuple[PromptName, ...] = get_args(PromptName)

_PACKAGE = "arena.metaevaluation.memerag"
_VARIABLES = ("context", "answer_segment")


@dataclass(frozen=True)
class FaithfulnessPrompt:
    """One of the four prompts.

    Attributes:
        name: Which one.
    """

    name: PromptName

    def __post_init__(self) -> None:
        if self.name not in PROMPTS:
            raise UsageError(f"unknown prompt {self.name!r}; use one of {', '.join(PROMPTS)}")

    @property
    def version(self) -> str:
        """Names and digests of the templates."""
        system = packaged_prompt(_PACKAGE, f"{self.name}.v1", ())
        return f"{system.version}+{packaged_prompt(_PACKAGE, 'task.v1', _VARIABLES).version}"

    def ask(self, claim: Claim) -> Prompt:
        """Make the prompt for a claim."""
        version = self.version
        context = [{"text": text} for text in claim.passages]
        task = packaged_prompt(_PACKAGE, "task.v1", _VARIABLES)
        return Prompt.of(
            task.fill({"context": context, "answer_segment": claim.sentence}),
            packaged_prompt(_PACKAGE, f"{self.name}.v1", ()).fill({}),
            version,
        )
