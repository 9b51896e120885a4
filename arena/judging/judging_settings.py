"""How an LLM judges pairs: settings that Python, the command line and TOML share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from arena.data.errors import UsageError, argument
from arena.llm.llm_settings import LlmSettings, Names

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena
    from arena.judging.choosing.chosen_pairs import ChosenPairs, PairChooser
    from arena.judging.graded import GradedPrompt
    from arena.judging.llm_judge import LlmJudge
    from arena.judging.prompt import PairwisePrompt
    from arena.llm.usage import Budget


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
    form: Literal["pairwise", "pointwise", "listwise"] = Field(
        default="pairwise",
        description="What is asked for: the better of two answers (pairwise); a mark for each "
        "answer (pointwise); or an order of all answers to a question (listwise). Marks and orders "
        "become verdicts on the same pairs.",
    )
    verdict: Literal["text", "logprobs"] = Field(
        default="text",
        description="text: [[A]], [[B]] or [[C]] after an explanation; logprobs: the likeliest of "
        "the letters A, B, C, in one token.",
    )
    template: str | None = Field(
        default=None,
        description="Jinja template in the place of the prompt, or a folder of templates by name; "
        "'prompts' lists names and variables.",
    )
    seed: int = Field(default=0, ge=0, description="Random seed.")

    @property
    def judge(self) -> str:
        """Name in the ``judge`` column; the panel's, where there is one."""
        from arena.judging.graded import judge_name
        from arena.judging.run import PANEL_JUDGE

        if self.panel:
            return PANEL_JUDGE
        return self.name or judge_name(self.located().model, self.form)

    def llm_judge(self) -> LlmJudge:
        """Return the judge; UsageError if a setting or the template cannot be used."""
        from arena.judging.llm_judge import LlmJudge

        return LlmJudge(self.located(), self.verdict, self._prompt(), self.name)

    def llm_judges(self) -> list[LlmJudge]:
        """Return the judge and the others of its panel, if there is one; see ``llm_judge``."""
        others = [self.model_copy(update={"model": name, "name": ""}) for name in self.panel]
        return [settings.llm_judge() for settings in (self, *others)]

    def _prompt(self) -> PairwisePrompt | GradedPrompt:
        from arena.judging.graded import GRADED_PROMPTS, GradedPrompt
        from arena.judging.prompt import pairwise_prompt

        if self.form == "pairwise":
            return pairwise_prompt(self.template, self.verdict)
        if self.both_orders:
            raise UsageError(
                f"both orders are asked of pairs; leave {argument('both_orders')} "
                f"out, or {argument('form')}"
            )
        asked = GRADED_PROMPTS[self.form]
        template = asked.packaged() if self.template is None else asked.read(self.template)
        return GradedPrompt(template, self.form, self.seed)

    def pair_chooser(
        self,
        arena: Arena,
        prior: pd.DataFrame | None = None,
        failed: pd.DataFrame | None = None,
        calls: Budget | None = None,
    ) -> PairChooser:
        """Choose what to judge: now, or as verdicts come; see ``AdaptivePairs``.

        Raises:
            UsageError: If settings contradict each other, or there is nothing to judge.
        """
        if self.pairs != "adaptive":
            return self.choose_pairs(arena)
        from arena.judging.choosing.adaptive import AdaptivePairs

        return AdaptivePairs(arena, self, prior, failed, calls)

    def require_adaptive(self) -> None:
        """Check that pairs can be chosen as verdicts come.

        Raises:
            UsageError: If nothing says when to stop, or pairs are to be asked otherwise.
        """
        if self.both_orders or self.form != "pairwise" or self.panel:
            raise UsageError(
                "adaptive pairs are asked of one judge, one by one and in one order; "
                f"leave {argument('form')} "
                f"pairwise, and {argument('both_orders')} and {argument('panel')} out"
            )
        if self.budget is None and self.until is None:
            raise UsageError(
                f"say when to stop: give a {argument('budget')}, or what is to be "
                f"known ({argument('until')})"
            )

    def choose_pairs(self, arena: Arena) -> ChosenPairs:
        """Choose what to judge, before any verdict; see ``arena.judging.choose_pairs``.

        Every pair is asked in both orders where the settings leave it open, except of a judge
        that the arena has verdicts of in one order.

        Raises:
            UsageError: If pairs are to be chosen as verdicts come, or a limit is for these alone.
        """
        from arena.judging.answer_pairs import pair_keys
        from arena.judging.choosing.chosen_pairs import choose_pairs

        if self.pairs == "adaptive":
            raise UsageError("adaptive pairs are chosen as verdicts come, not beforehand")
        if any(limit is not None for limit in (self.budget, self.until, self.prior)):
            raise UsageError(
                f"{argument('budget')}, {argument('until')} and {argument('prior')} "
                f"are for {argument('pairs')} adaptive"
            )
        both_orders = self.both_orders
        if both_orders is None:
            name = self.model_copy(update={"panel": ()}).judge
            own = set(pair_keys(arena.judgments[arena.judgments["judge"] == name]))
            turned = {(language, query_id, b, a) for language, query_id, a, b in own}
            both_orders = self.form == "pairwise" and (not own or not own.isdisjoint(turned))
        limits = (self.questions, self.pairs, both_orders)
        return choose_pairs(arena, *limits, self.languages, self.seed)
