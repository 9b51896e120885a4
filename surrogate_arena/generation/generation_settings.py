"""Settings of answering by an LLM, and the papers' prompts and numbers."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Self

from pydantic import Field

from arena.data.errors import UsageError
from arena.llm.llm_settings import LlmSettings, Names
from arena.llm.prompts import ReplaceablePrompt, Variable
from arena.llm.trimming import PASSAGE_TOKENS, PROMPT_TOKENS

_MIRAGE = ReplaceablePrompt(
    name="answer",
    asks="An answer with reason and citations (MIRAGE-Bench, figure 10): generate --prompt mirage",
    reply="all of it; features and judges read ##Reason: … ##Answer: …",
    variables=MappingProxyType(
        {
            "question": Variable("the question", "samplequestion", is_required=True),
            "language": Variable("English name of its language", "English"),
            "language_code": Variable("code of its language", "en"),
            "passages": Variable(
                "its passages, each with passage_id, title, text; may be empty",
                ({"passage_id": "samplepart#1", "text": "samplepart", "title": "sampletitle"},),
            ),
        }
    ),
    package="surrogate_arena.generation",
    packaged_name="mirage.v1",
)
_MEMERAG = replace(
    _MIRAGE,
    asks="Only the answer (MEMERAG, appendix G.3): generate --prompt memerag",
    reply="all of it",
    packaged_name="memerag.v1",
)


ANSWER_PROMPTS = MappingProxyType({"mirage": _MIRAGE, "memerag": _MEMERAG})
"""The papers' prompts by name."""
PUBLISHED = MappingProxyType(
    {
        # Figure 10, section 5 and appendix; the paper does not say how long an answer may be.
        "mirage": {
            "temperature": 0.1,
            "max_tokens": 2048,
            "passage_tokens": PASSAGE_TOKENS,
            "context_tokens": PROMPT_TOKENS,
        },
        # Section 3.3 and appendix G.3.
        "memerag": {"temperature": 0.1, "max_tokens": 1000},
    }
)
"""Settings of the papers, for what ``GenerationSettings`` leaves open."""
SHUFFLED = ("mirage",)
"""Papers that show passages in an order drawn for each question, the same for all systems."""


class GenerationSettings(LlmSettings):
    """Settings of answering the questions of an arena by an LLM."""

    name: str = Field(
        default="", description="Name in the system column. Default: the model or function"
    )
    prompt: str = Field(
        default="mirage",
        description="mirage (MIRAGE-Bench, with reason and citations) or memerag (MEMERAG, only "
        "the answer).",
    )
    questions: int | None = Field(
        default=None, ge=1, description="Questions to draw in each language. Default: all"
    )
    languages: Names = Field(default=(), description="Comma-separated languages. Default: all")
    filter_model: str | None = Field(
        default=None,
        description="Model to ask first which questions depend on the date or news, to leave "
        "these out.",
    )
    passage_tokens: int | None = Field(
        default=None, ge=1, description="Tokens of a passage to show. Default: the prompt's"
    )
    context_tokens: int | None = Field(
        default=None,
        ge=1,
        description="Maximum tokens of a prompt; passages of longer ones are trimmed. Default: "
        "the prompt's",
    )
    relevant_passages: bool = Field(
        default=False, description="Show only relevant passages, as for a teacher's answers."
    )
    tokenizer: str | None = Field(
        default=None,
        description="The model's tokenizer.json, to count tokens with. Default: 4 bytes per token",
    )
    temperature: float | None = Field(
        default=None, ge=0, description="Randomness. Default: the paper's"
    )
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        description="Maximum length of an answer in tokens. Default: the paper's",
    )
    seed: int = Field(default=0, ge=0, description="Random seed.")
    timeout_s: float = Field(default=120.0, gt=0, description="Timeout of a call in seconds.")

    @property
    def answer_prompt(self) -> ReplaceablePrompt:
        """The paper's prompt."""
        if self.prompt not in ANSWER_PROMPTS:
            raise UsageError(
                f"there is no prompt {self.prompt!r}; use {', '.join(ANSWER_PROMPTS)}, and "
                "--template answer=FILE for a template of your own"
            )
        return ANSWER_PROMPTS[self.prompt]

    def as_published(self) -> Self:
        """Return these settings with the paper's numbers for what they leave open."""
        _ = self.answer_prompt  # an unknown name is an error here, too
        unset = {
            name: number
            for name, number in PUBLISHED[self.prompt].items()
            if getattr(self, name) is None
        }
        return self.model_copy(update=unset)
