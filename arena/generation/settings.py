"""How an LLM answers questions: settings that Python and the command line share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from arena.data.errors import UsageError
from arena.llm.settings import LlmSettings, Names

if TYPE_CHECKING:
    from arena.generation.questions import TimeFilter
    from arena.generation.summary import LlmSystem
    from arena.text.prompts import Templates

FILTER_TOKENS = 512


class GenerationSettings(LlmSettings):
    """How an LLM answers the questions of an arena; ``model`` must be given."""

    system: str = Field(
        default="", description="Name in the system column; the model if not given."
    )
    prompt: str = Field(
        default="mirage",
        description="mirage (MIRAGE-Bench, with reason and citations) or memerag (MEMERAG, the "
        "answer alone).",
    )
    questions: int | None = Field(
        default=None, ge=1, description="Questions drawn of each language; all if not given."
    )
    languages: Names = Field(default=(), description="Comma-separated languages; all by default.")
    skip_time_dependent: bool = Field(
        default=False,
        description="Ask first which questions need the present date or news, and leave these out.",
    )
    filter_model: str | None = Field(
        default=None, description="Model for that filter; by default the one that answers."
    )
    passage_tokens: int | None = Field(
        default=None, ge=1, description="Tokens of a passage to show; the prompt's if not given."
    )
    context_tokens: int | None = Field(
        default=None,
        ge=1,
        description="Tokens of a prompt, to which the passages of longer ones are trimmed; the "
        "prompt's if not given.",
    )
    relevant_passages: bool = Field(
        default=False, description="Show relevant passages alone, as to a teacher of others."
    )
    tokenizer: str | None = Field(
        default=None,
        description="The model's tokenizer.json, to count tokens by; else 4 bytes are a token.",
    )
    temperature: float | None = Field(
        default=None, description="The paper's if not given; below 0, none is sent."
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="Most tokens of an answer; the paper's if not given."
    )
    seed: int = Field(default=0, ge=0, description="Seed of everything random.")
    timeout_s: float = Field(default=120.0, gt=0, description="Timeout of a call in seconds.")

    def llm_system(self, templates: Templates) -> LlmSystem:
        """Return the system that answers.

        Args:
            templates: What takes the place of its prompt.

        Raises:
            UsageError: If no model is named, or a setting or the template cannot be used.
        """
        from arena.generation.prompt import answer_prompt, protocol_of
        from arena.generation.summary import LlmSystem
        from arena.text.prompts import read_tokenizer

        asked = answer_prompt(
            self.prompt,
            template=templates.replacing(protocol_of(self.prompt).prompt),
            passage_tokens=self.passage_tokens,
            trimmer=None if self.tokenizer is None else read_tokenizer(self.tokenizer),
            seed=self.seed,
            context_tokens=self.context_tokens,
            only_relevant=self.relevant_passages,
        )
        return LlmSystem(self._as_published().located(), asked, self.system)

    def time_filter(self, templates: Templates) -> TimeFilter | None:
        """Return what tells the questions that need the present date; None for no filter.

        Raises:
            UsageError: If its template is given, and nothing is filtered.
        """
        from arena.generation.questions import TIME_PROMPT, TimeFilter

        own = templates.replacing(TIME_PROMPT)
        if not self.skip_time_dependent and self.filter_model is None:
            if own:
                raise UsageError(
                    f"a template for {TIME_PROMPT.name} is given, but nothing is filtered; add "
                    "`skip_time_dependent`"
                )
            return None
        asked = self._as_published()
        cold = None if asked.temperature is None or asked.temperature < 0 else 0.0
        name = self.filter_model or self.model
        update = {"model": name, "temperature": cold, "max_tokens": FILTER_TOKENS}
        return TimeFilter(asked.model_copy(update=update).located(), own)

    def _as_published(self) -> GenerationSettings:
        """Take from the paper what is not stated."""
        from arena.generation.prompt import protocol_of

        protocol = protocol_of(self.prompt)
        names = ("temperature", "max_tokens")
        unstated = [name for name in names if getattr(self, name) is None]
        return self.model_copy(update={name: getattr(protocol, name) for name in unstated})
