"""How an LLM judges pairs: settings that Python, the command line and TOML share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from arena.data.errors import UsageError, argument
from arena.data.judge_names import PANEL
from arena.llm.llm_settings import LlmSettings, Names

JudgingForm = Literal["pairwise", "pointwise", "listwise"]
"""What an LLM is asked for: the better of two answers, a mark for each, or an order of all."""
VerdictForm = Literal["text", "logprobs"]
"""How the verdict on a pair is read; see ``REPLY_FORMS`` in ``arena.judging.prompt``."""
PANEL_JUDGE = f"{PANEL}majority)"
"""Name of a panel in the ``judge`` column."""


def _number_of_pairs(value: object) -> object:
    if value in ("all", "adaptive") or (isinstance(value, int) and value > 0):
        return value
    if isinstance(value, str) and value.isdecimal() and int(value) > 0:
        return int(value)
    raise PydanticCustomError("pairs", "give all, adaptive, or a number of pairs a question")


class JudgingSettings(LlmSettings):
    """How an LLM judges pairs of an arena's answers; ``model`` must be given."""

    name: str = Field(default="", description="Name in the judge column; the model if not given.")
    questions: int = Field(default=100, ge=1, description="Questions to draw in each language.")
    pairs: Annotated[int | Literal["all", "adaptive"], BeforeValidator(_number_of_pairs)] = Field(
        default="all",
        description="Pairs of systems on each question: all, a number, or adaptive: as verdicts "
        "come, those that tell most about the ranking.",
    )
    budget: int | None = Field(
        default=None,
        ge=1,
        description="With pairs adaptive: pairs judged in all, those of earlier runs included.",
    )
    until: float | None = Field(
        default=None,
        gt=0,
        lt=0.5,
        description="With pairs adaptive: stop when at most this share of the pairs of systems is "
        "expected in the wrong order, in every language.",
    )
    prior: str | None = Field(
        default=None,
        description="With pairs adaptive: board folder that says what to expect of the systems: "
        "by its surrogate or, of a first board, by how far answers agree.",
    )
    panel: Names = Field(
        default=(), description="Further models, comma-separated, that judge the same."
    )
    both_orders: bool | None = Field(
        default=None,
        description="Ask every pair in both orders, twice the calls; the default, except of a "
        "judge that the arena has verdicts of in one order.",
    )
    languages: Names = Field(default=(), description="Comma-separated languages. Default: all")
    form: JudgingForm = Field(
        default="pairwise",
        description="What is asked for: the better of two answers (pairwise); a mark for each "
        "answer (pointwise); or an order of all answers to a question (listwise). Marks and orders "
        "become verdicts on the same pairs.",
    )
    verdict: VerdictForm = Field(
        default="text",
        description="text: [[A]], [[B]] or [[C]] after an explanation; logprobs: the likeliest of "
        "the letters A, B, C, in one token.",
    )
    template: str | None = Field(
        default=None,
        description="Jinja template to use instead of the built-in prompt, or a folder of "
        "templates by name; 'prompts' lists names and variables.",
    )
    seed: int = Field(default=0, ge=0, description="Random seed.")
    join: tuple[Annotated[Path, Field(strict=False)], ...] = Field(
        default=(), strict=False, description="Stores of other machines to take replies from first."
    )

    @property
    def judge(self) -> str:
        """Name in the ``judge`` column; the panel's, where there is one."""
        return PANEL_JUDGE if self.panel else self.first_judge

    @property
    def first_judge(self) -> str:
        """Name of the judge that ``model`` is, whether or not it belongs to a panel."""
        return self.name or judge_name(self.model, self.form)

    def require_adaptive(self) -> None:
        """Check that pairs can be chosen as verdicts come.

        Raises:
            UsageError: If nothing says when to stop, or other settings exclude adaptive pairs.
        """
        if self.batch:
            raise UsageError(
                f"adaptive pairs follow from the verdicts so far, and each batch may take a day; "
                f"leave {argument('batch')} out, or give {argument('pairs')} all or a number"
            )
        if self.both_orders or self.form != "pairwise" or self.panel:
            raise UsageError(
                "adaptive pairs are asked of one judge, one by one and in one order; "
                f"leave {argument('form')} "
                f"pairwise, and {argument('both_orders')} and {argument('panel')} out"
            )
        if self.budget is None and self.until is None:
            raise UsageError(
                f"say when to stop: give a {argument('budget')}, or how sure the ranking "
                f"must be ({argument('until')})"
            )


def judge_name(model: str, form: JudgingForm) -> str:
    """Name a judge by its model, and by the form of judging unless that is pairwise."""
    return model if form == "pairwise" else f"{model}:{form}"
