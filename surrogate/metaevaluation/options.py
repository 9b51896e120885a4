"""How judges that are given by name are asked, in Python and on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from arena.llm.settings import Address, LlmSettings

if TYPE_CHECKING:
    from features.models import ModelOptions

LOCAL_MODEL_FIELDS = ("device", "batch_size", "download")
OF_PROMPTS = ("model", "temperature", "body", "retries", "backoff_s", "longest_wait_s")
"""Fields that commands do not take: a judge's name and its prompt say most of them."""


class JudgeOptions(LlmSettings):
    """How LLMs are asked, and models on this machine are run."""

    store: Address = Field(
        default="metaevaluation.sqlite", description="SQLite file that keeps every reply."
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="Most tokens of a reply; by default what its prompt needs."
    )
    further_tries: int | None = Field(
        default=None,
        ge=0,
        description="Further tries where a reply says nothing usable; by default 5 for MEMERAG, "
        "as in the paper, and none elsewhere.",
    )
    device: str = Field(default="auto", description="Where models run: auto, cpu, cuda or mps.")
    batch_size: int = Field(default=32, ge=1, description="Sequences that a model takes at once.")
    download: bool = Field(default=False, description="Fetch models that are not on this machine.")

    @property
    def models(self) -> ModelOptions:
        """How models on this machine are run, and how LLMs are asked."""
        from features.models import ModelOptions

        return ModelOptions(self.device, self.batch_size, self.download, self)
