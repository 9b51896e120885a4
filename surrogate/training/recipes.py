"""How models are tuned: the papers' hyper-parameters, and what the device decides."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from arena.data.errors import UsageError


@dataclass(frozen=True)
class Recipe:
    """Hyper-parameters of a LoRA (Hu et al., 2022), the same on every device.

    Attributes:
        name: ``mirage``, ``grouse`` or ``judge``.
        source: Where its numbers are from.
        rank: Rank of the adapter of each linear layer.
        alpha: Scale of the adapters, times the rank.
        dropout: Dropout before the adapters.
        learning_rate: Highest learning rate; it falls as a cosine.
        warmup: Steps over which it rises; below 1, a share of all steps.
        batch: Examples a step.
        epochs: Times that each example is seen.
        max_length: Tokens of the longest example that is learned.
        packing: Whether examples that are computed together lie end to end, each seeing itself
            alone, in the place of padding: the result is the same.
        quantized: Whether the base's weights, and the optimizer's state, have 8 bits where the
            device can.
    """

    name: str
    source: str
    rank: int
    alpha: int
    dropout: float
    learning_rate: float
    warmup: float
    batch: int
    epochs: float
    max_length: int
    packing: bool
    quantized: bool

    def warmup_steps(self, steps: int) -> int:
        """Return over how many of all steps the learning rate rises."""
        return int(self.warmup) if self.warmup >= 1 else round(self.warmup * steps)


RECIPES = MappingProxyType(
    {
        # Table 6; schedule and warm-up are those of the alignment handbook, which it used.
        "mirage": Recipe(
            "mirage",
            "MIRAGE-Bench, appendix C, table 6",
            rank=16,
            alpha=16,
            dropout=0.05,
            learning_rate=2e-4,
            warmup=0.1,
            batch=32,
            epochs=1,
            max_length=6144,
            packing=False,
            quantized=False,
        ),
        "grouse": Recipe(
            "grouse",
            "GroUSE, appendix H",
            rank=32,
            alpha=16,
            dropout=0.05,
            learning_rate=2e-4,
            warmup=10,
            batch=64,
            epochs=3,
            max_length=7104,
            packing=True,
            quantized=True,
        ),
        "judge": Recipe(
            "judge",
            "own; rank and rate as in MIRAGE-Bench, table 6",
            rank=16,
            alpha=16,
            dropout=0.05,
            learning_rate=2e-4,
            warmup=0.1,
            batch=16,
            epochs=1,
            max_length=6144,
            packing=True,
            quantized=False,
        ),
    }
)
"""The recipes by name."""


class TuningSettings(BaseModel):
    """What a user states of a recipe; what is not stated is the recipe's."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)  # built on first use

    epochs: float | None = Field(default=None, gt=0, description="Epochs. Default: the recipe's")
    batch: int | None = Field(
        default=None, ge=1, description="Examples a step. Default: the recipe's"
    )
    learning_rate: float | None = Field(
        default=None, gt=0, description="Highest learning rate. Default: the recipe's"
    )
    rank: int | None = Field(
        default=None, ge=1, description="Rank of the LoRA. Default: the recipe's"
    )
    warmup: float | None = Field(
        default=None,
        ge=0,
        description="Warm-up steps, or share of all below 1. Default: the recipe's",
    )
    max_length: int | None = Field(
        default=None,
        ge=8,
        description="Tokens of the longest example; longer ones are left out and counted. "
        "Default: the recipe's",
    )

    def of(self, name: str) -> Recipe:
        """Return a recipe with what is stated in the place of its own numbers.

        Raises:
            UsageError: If there is none of that name.
        """
        recipe = RECIPES.get(name)
        if recipe is None:
            raise UsageError(f"there is no recipe {name!r}; use one of {', '.join(RECIPES)}")
        return replace(recipe, **self.model_dump(exclude_none=True))


@dataclass(frozen=True)
class Hardware:
    """What a machine has for training.

    Attributes:
        device: ``cuda``, ``mps`` or ``cpu``.
        has_bf16: Whether it computes in bfloat16 natively.
        has_flash_attention: Whether flash-attn is installed.
        has_8_bit: Whether bitsandbytes is installed.
        memory_gib: Memory of the accelerator in GiB; 0 without one.
    """

    device: str
    has_bf16: bool = False
    has_flash_attention: bool = False
    has_8_bit: bool = False
    memory_gib: float = 0.0


@dataclass(frozen=True)
class DevicePlan:
    """What the device decides, and nothing else does: none of it changes what is learned.

    Attributes:
        device: Where it runs.
        precision: ``bf16`` or ``fp32``.
        attention: ``flash_attention_2`` or ``sdpa``.
        together: Examples that are computed together.
        accumulation: How many times, before a step is taken.
        checkpointing: Whether activations are computed again instead of kept.
        is_quantized: Whether base and optimizer have 8 bits.
    """

    device: str
    precision: str
    attention: str
    together: int
    accumulation: int
    checkpointing: bool
    is_quantized: bool

    def record(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)


TOKENS_A_GIB = 400
"""Tokens that are computed together, a GiB of the accelerator's memory."""


def plan_for(recipe: Recipe, hardware: Hardware) -> DevicePlan:
    """Choose how a recipe is run on a machine.

    On CUDA devices: bf16 where there is, FlashAttention-2 where it is installed (else sdpa), 8
    bits where the recipe has them and bitsandbytes is installed, as many examples together as
    memory holds of the longest. Elsewhere: fp32, sdpa, one example at a time. Either way a step
    is taken after as many examples as the recipe says.
    """
    if hardware.device != "cuda":
        return DevicePlan(hardware.device, "fp32", "sdpa", 1, recipe.batch, False, False)
    most = int(hardware.memory_gib * TOKENS_A_GIB) // recipe.max_length
    together = max(
        size
        for size in range(1, recipe.batch + 1)
        if recipe.batch % size == 0 and size <= max(most, 1)
    )
    return DevicePlan(
        "cuda",
        "bf16" if hardware.has_bf16 else "fp32",
        "flash_attention_2" if hardware.has_flash_attention and hardware.has_bf16 else "sdpa",
        together,
        recipe.batch // together,
        checkpointing=True,
        is_quantized=recipe.quantized and hardware.has_8_bit,
    )
