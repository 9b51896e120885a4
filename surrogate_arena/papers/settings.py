"""Settings of the comparison of judges with people, and of training sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from arena.llm.llm_settings import Address, LlmSettings, Names

if TYPE_CHECKING:
    import pandas as pd

    from features.models import ModelOptions

OF_JUDGES = ("model",)
"""Fields that commands do not take, because a judge's name states them."""


class JudgeOptions(LlmSettings):
    """Options of LLMs that are asked, and of models on this machine."""

    store: Address = Field(
        default="metaevaluation.sqlite", description="SQLite file that keeps every reply."
    )
    temperature: float | None = Field(
        default=0.0, ge=0, description="Randomness. Default: the paper's, or 0"
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="Maximum tokens of a reply. Default: what its prompt needs"
    )
    download: bool = Field(default=False, description="Fetch models that are not on this machine.")

    @property
    def models(self) -> ModelOptions:
        """The same, as options of models."""
        from features.models import ModelOptions

        return ModelOptions(download=self.download, llm=self)


class MetaevalSettings(JudgeOptions):
    """Settings of a test of judges: items, requests to LLMs, and rules of counting."""

    prompts: Names = Field(
        default=(),
        description="Comma-separated prompts; each counts as a judge. MEMERAG: "
        "zero_shot, cot, ag, ag_cot (the default) or all. GroUSE: "
        "without-justification (the default), whole, "
        "without-ground-truth, without-chain-of-thought, joint (all "
        "metrics in one prompt), joint-whole.",
    )
    languages: Names = Field(default=(), description="Comma-separated languages. Default: all")
    training: bool = Field(
        default=False,
        description="GroUSE without a file: 16 tests for trying prompts, instead of the 192.",
    )
    limit: int | None = Field(
        default=None, ge=1, description="Maximum number of items per language and kind."
    )
    reference: str | None = Field(
        default=None,
        description="GroUSE: judge to compare the others' scores with. Pairs of an "
        "arena: judges whose majority is right. Default: people",
    )
    seed: int = Field(default=0, ge=0, description="Random seed.")
    replicates: int = Field(
        default=1000, ge=2, le=100_000, description="Bootstrap replicates of intervals and errors."
    )
    permutations: int = Field(
        default=10_000, ge=1, le=100_000, description="Random swaps of each significance test."
    )
    as_in_paper: bool = Field(
        default=False,
        description="MEMERAG: treat the sentences of an answer as independent, and do not "
        "correct p-values for their number.",
    )
    replies: Literal["json_schema", "text", "result"] = Field(
        default="json_schema",
        description="GroUSE: json_schema (the server enforces it), text (JSON as it comes), or "
        "result (your own prompts, whose replies end in [RESULT] 5, like Prometheus').",
    )
    shares: str | None = Field(
        default=None,
        description="GroUSE: file with the shares of an answer's facts that people found relevant "
        "and faithful; labels:FILE are then a tool's shares, from 0 to 1.",
    )

    def limited(self, items: pd.DataFrame, part: str) -> pd.DataFrame:
        """Return the first ``limit`` items of each part, or all without a limit."""
        if self.limit is None:
            return items
        return items.groupby(part, sort=False).head(self.limit)


DEFAULTS = MetaevalSettings()


class TrainsetSettings(JudgeOptions):
    """Settings of a training set; fields of the other kind are refused."""

    teacher: str = Field(
        "",
        description="Whom to learn from: a system of the arena (mirage) or an LLM (grouse).",
    )
    seed: int = Field(0, ge=0, description="Random seed.")
    passage_tokens: int | None = Field(
        None, ge=1, description="mirage: tokens of a passage to show. Default: 800"
    )
    context_tokens: int | None = Field(
        None, ge=1, description="mirage: tokens of a prompt. Default: 8192"
    )
    systems: Names = Field((), description="grouse: comma-separated systems to score. Default: all")
    balance: int | None = Field(
        None,
        ge=1,
        description="grouse: keep this many rows, with scores spread as evenly as possible.",
    )


KINDS = ("mirage", "grouse")
"""Kinds of training sets."""
