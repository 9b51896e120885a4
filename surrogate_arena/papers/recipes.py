"""Recipes as data: what training sets teach, and the papers' hyper-parameters of tuning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, Field

from arena.data.errors import UsageError
from arena.llm.llm_settings import Names
from surrogate_arena.papers.settings import JudgeOptions

SHARED = frozenset({"teacher", "languages", "questions", "seed"})
OF_KINDS = MappingProxyType(
    {
        "mirage": frozenset({"passage_tokens", "context_tokens"}),
        "grouse": frozenset({"systems", "balance"}) | frozenset(JudgeOptions.model_fields),
    }
)
KINDS = tuple(OF_KINDS)


@dataclass(frozen=True)
class Recipe:
    """Hyper-parameters of a LoRA (Hu et al., 2022), the same on every device.

    Attributes:
        rank: Rank of the adapter of each linear layer.
        batch: Examples a step.
        max_length: Tokens of the longest example that is learned.
        warmup: Steps over which the learning rate rises; below 1, a share of all steps.
        quantized: Whether the base's weights, and the optimizer's state, have 8 bits on CUDA.
        alpha: Scale of the adapters, times the rank.
        learning_rate: Highest learning rate; it falls as a cosine.
    """

    name: str
    rank: int
    batch: int
    epochs: float
    max_length: int
    warmup: float = 0.1
    quantized: bool = False
    alpha: int = 16
    dropout: float = 0.05
    learning_rate: float = 2e-4


RECIPES = MappingProxyType(
    {
        recipe.name: recipe
        for recipe in (
            # MIRAGE-Bench, table 6; schedule and warm-up of the alignment handbook, which it used.
            Recipe("mirage", rank=16, batch=32, epochs=1, max_length=6144),
            # GroUSE, appendix H.
            Recipe(
                "grouse",
                rank=32,
                batch=64,
                epochs=3,
                max_length=7104,
                warmup=10,
                quantized=True,
            ),
        )
    }
)
"""The recipes by name."""


class TuningSettings(BaseModel):
    """A user's changes to a recipe; None keeps the recipe's own value."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)  # built on first use

    epochs: float | None = Field(None, gt=0, description="Epochs. Default: the recipe's")
    batch: int | None = Field(None, ge=1, description="Examples per step. Default: the recipe's")
    learning_rate: float | None = Field(
        None, gt=0, description="Highest learning rate. Default: the recipe's"
    )
    rank: int | None = Field(None, ge=1, description="Rank of the LoRA. Default: the recipe's")
    warmup: float | None = Field(
        None, ge=0, description="Warm-up steps, or share of all below 1. Default: the recipe's"
    )
    max_length: int | None = Field(
        None,
        ge=8,
        description="Tokens of the longest example; longer ones are left out and counted. "
        "Default: the recipe's",
    )

    def of(self, name: str) -> Recipe:
        """Return a recipe with what is stated in the place of its own numbers."""
        recipe = RECIPES.get(name)
        if recipe is None:
            raise UsageError(f"there is no recipe {name!r}; use one of {', '.join(RECIPES)}")
        return replace(recipe, **self.model_dump(exclude_none=True))


class TrainsetSettings(JudgeOptions):
    """Settings of a training set; fields of the other kind are refused."""

    teacher: str = Field(
        "",
        description="Who is learned from: a system of the arena (mirage) or an LLM (grouse).",
    )
    languages: Names = Field((), description="Comma-separated languages. Default: all")
    questions: int | None = Field(
        None,
        ge=1,
        description="Questions of each language to train on, those that 'select --questions' "
        "draws. Default: all",
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
        None, ge=1, description="grouse: keep this many rows, scores as evenly spread as can be."
    )
