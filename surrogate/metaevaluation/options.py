"""How judges that are given by name are asked, in Python and on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from arena.llm import Endpoint
    from features.models import ModelOptions

LOCAL_MODEL_FIELDS = ("device", "batch_size", "download")


class JudgeOptions(BaseModel):
    """How LLMs are asked, and models on this machine are run."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)  # built on first use

    base_url: str = Field(
        default="https://api.openai.com/v1", description="OpenAI-compatible server, up to /v1."
    )
    api_key_env: str | None = Field(
        default="OPENAI_API_KEY", description="Environment variable that holds the key."
    )
    concurrency: int = Field(default=8, ge=1, le=1000, description="Most calls at the same time.")
    timeout_s: float = Field(default=60.0, gt=0, description="Seconds until a call counts as lost.")
    store: str = Field(
        default="metaevaluation.sqlite", description="SQLite file that keeps every reply."
    )
    max_calls: int | None = Field(
        default=None, ge=0, description="Most prompts that a judge sends in this run."
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="Most tokens of a reply; by default what its prompt needs."
    )
    retries: int | None = Field(
        default=None,
        ge=0,
        description="Further tries where a reply says nothing usable; by default 5 for MEMERAG, "
        "as in the paper, and none elsewhere.",
    )
    any_model: bool = Field(
        default=False, description="Let answers of another model than the one asked count."
    )
    device: str = Field(default="auto", description="Where models run: auto, cpu, cuda or mps.")
    batch_size: int = Field(default=32, ge=1, description="Sequences that a model takes at once.")
    download: bool = Field(default=False, description="Fetch models that are not on this machine.")

    @property
    def endpoint(self) -> Endpoint:
        """Where LLMs are asked."""
        from arena.llm import Endpoint

        return Endpoint(
            self.base_url,
            self.api_key_env,
            concurrency=self.concurrency,
            timeout_s=self.timeout_s,
            any_model=self.any_model,
        )

    @property
    def models(self) -> ModelOptions:
        """How models on this machine are run, and which endpoint and store theirs are."""
        from features.models import ModelOptions

        return ModelOptions(self.device, self.batch_size, self.download, self.endpoint, self.store)
