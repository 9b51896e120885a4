"""A RAG system to generate the answers of: a model, where it is asked, and by which prompt."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena.generation.answer_prompt import AnswerPrompt
from arena.llm.settings import Endpoint, ModelSettings


@dataclass(frozen=True)
class LlmSystem:
    """A RAG system.

    Attributes:
        settings: Model, temperature and so on.
        prompt: What it is asked; see ``answer_prompt``.
        endpoint: Where it is asked.
        name: Its name in the ``system`` column; the model's by default.
    """

    settings: ModelSettings
    prompt: AnswerPrompt
    endpoint: Endpoint = field(default_factory=Endpoint)
    name: str = ""

    @property
    def system(self) -> str:
        """Name in the ``system`` column."""
        return self.name or self.settings.model
