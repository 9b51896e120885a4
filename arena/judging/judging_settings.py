"""Settings of judging, shared by Python, the command line and TOML."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from arena.data.errors import UsageError, argument
from arena.data.judges import PANEL
from arena.data.schema import SIDES_SHOWN
from arena.llm.llm_settings import LlmSettings, Names, SettingUse, fields_by_use

JudgingForm = Literal["pairwise", "pointwise", "listwise", "nuggets"]
"""What an LLM is asked for: the better of two answers, a score for each, an order of all, or which
facts of a good answer each states."""
Pairs = int | Literal["all", "adaptive"]
"""Pairs of systems on each question."""
PlanName = Literal["fixed", "adaptive", "panel", "escalation"]
"""Each has a module of its name in ``arena.judging.plans``."""
VerdictForm = Literal["text", "logprobs"]
"""How the verdict on a pair is read; see ``REPLY_FORMS`` in ``arena.judging.pairwise``."""
AUDIT = 0.1
"""Share of pairs that are asked in both orders."""
SETTLED = 0.05
"""Expected share of misordered pairs of systems at which a ranking is settled: tau 0.9."""
CALLS_A_SYSTEM = 50
"""Calls of each judge, for every system and language, where no budget is set."""
PANEL_JUDGE = f"{PANEL}majority)"
"""Name of a panel in the ``judge`` column."""

_VERDICT = SettingUse("value")
_PLAN = SettingUse("value", plans_pairs=True)
_PLAN_OF_LLM = SettingUse("value", plans_pairs=True, is_of_llm=True)
_LIMIT = SettingUse("not", plans_pairs=True)


def _number_of_pairs(value: object) -> object:
    if value in (None, "all", "adaptive") or (isinstance(value, int) and value > 0):
        return value
    if isinstance(value, str) and value.isdecimal() and int(value) > 0:
        return int(value)
    raise PydanticCustomError("pairs", "give all, adaptive, or a number of pairs a question")


class JudgingSettings(LlmSettings):
    """Settings of judging pairs of answers by an LLM; ``model`` or ``plug_in`` must be given."""

    name: Annotated[str, _VERDICT] = Field(
        default="", description="Name in the judge column; the model if not given."
    )
    plug_in: Annotated[str | None, _VERDICT] = Field(
        default=None,
        min_length=1,
        description="Judge from an installed package to ask instead of an LLM (--model).",
    )
    questions: Annotated[int, _PLAN] = Field(
        default=100, ge=1, description="Questions to draw in each language."
    )
    pairs: Annotated[Pairs | None, BeforeValidator(_number_of_pairs), _PLAN] = Field(
        default=None,
        description="Pairs of systems on each question: all, a number, or adaptive "
        "(in rounds, the most informative ones). "
        "Default: adaptive; in batches, random pairs within the budget; for scores, orders and "
        "nuggets, all",
    )
    budget: Annotated[int | None, _PLAN] = Field(
        default=None,
        ge=1,
        description="Maximum number of calls, including earlier runs on these questions. "
        f"Default: {CALLS_A_SYSTEM} per judge, system and language; no limit if --pairs is all or "
        "a number, or for scores, orders and nuggets",
    )
    max_cost: Annotated[float | None, _LIMIT] = Field(
        default=None,
        gt=0,
        description="Maximum cost of this run's calls, at the models' prices.",
    )
    until: Annotated[float, _PLAN] = Field(
        default=SETTLED,
        gt=0,
        lt=0.5,
        description="With adaptive pairs: stop when at most this share of the pairs of systems is "
        "expected to be in the wrong order, in every language.",
    )
    prior: Annotated[str | None, SettingUse("file", plans_pairs=True)] = Field(
        default=None,
        description="Board folder to start adaptive pairs from. "
        "Default: a board of this arena without verdicts",
    )
    panel: Annotated[Names, _PLAN_OF_LLM] = Field(
        default=(), description="Further models, comma-separated, to judge the same pairs."
    )
    escalate: Annotated[str | None, _PLAN_OF_LLM] = Field(
        default=None,
        min_length=1,
        description="A stronger model, asked after --model about the most "
        "informative pairs, until the ranking is settled. Limits apply to "
        "both together; --model uses up to half.",
    )
    audit: Annotated[float, _PLAN] = Field(
        default=AUDIT,
        ge=0,
        le=1,
        description="Share of the pairs to ask in both orders, a fifth of them twice, to "
        "measure how often verdicts flip and how well they repeat; 1 for all, with twice the "
        "calls.",
    )
    languages: Annotated[Names, _VERDICT] = Field(
        default=(), description="Comma-separated languages. Default: all"
    )
    form: Annotated[JudgingForm, _PLAN_OF_LLM] = Field(
        default="pairwise",
        description="Task of the LLM: the better of two answers (pairwise); a score for each "
        "answer (pointwise); an order of all answers to a question (listwise); or the facts of a "
        "good answer, once for each question, and which of them each answer states (nuggets). All "
        "become verdicts on the same pairs.",
    )
    verdict: Annotated[VerdictForm, SettingUse("value", is_of_llm=True)] = Field(
        default="text",
        description="text: [[A]], [[B]] or [[C]] after an explanation; logprobs: the likeliest of "
        "the letters A, B, C, in one token.",
    )
    template: Annotated[str | None, SettingUse("file", is_of_llm=True)] = Field(
        default=None,
        description="Jinja template to use instead of the built-in prompt, or a folder of "
        "templates by name; 'prompts' lists names and variables.",
    )
    seed: Annotated[int, _VERDICT] = Field(default=0, ge=0, description="Random seed.")

    @property
    def judge(self) -> str:
        """Return the name in the ``judge`` column: the panel's, if any; of two, both."""
        if self.escalate:
            return f"{self.escalate},{self.first_judge}"
        return PANEL_JUDGE if self.panel else self.first_judge

    @property
    def first_judge(self) -> str:
        """Return the name of the judge that ``model`` is."""
        return self.name or self.plug_in or judge_name(self.model, self.form)

    @property
    def judges(self) -> tuple[str, ...]:
        """Return the names of all judges, the first one's first."""
        return (self.first_judge, *(judge_name(model, self.form) for model in self.panel))

    @property
    def is_adaptive(self) -> bool:
        """Return whether pairs are chosen as verdicts come."""
        if self.pairs is None:
            return self.form == "pairwise" and not self.batch
        return self.pairs == "adaptive"

    @property
    def plan(self) -> PlanName:
        """Return the plan: who is asked about which pairs, and when a run stops."""
        if self.escalate is not None:
            return "escalation"
        return "panel" if self.panel else self.pairs_plan

    @property
    def pairs_plan(self) -> PlanName:
        """Return the plan by which pairs are chosen."""
        return "adaptive" if self.is_adaptive else "fixed"

    @property
    def audit_share(self) -> float:
        """Return the share of pairs asked in both orders; marks and orders have no sides."""
        return self.audit if self.form == "pairwise" else 0.0

    def default_budget(self, n_systems: int) -> int:
        """Return the maximum number of all judges' calls, if no budget is set."""
        return CALLS_A_SYSTEM * n_systems * len(self.judges)

    def require_plan(self) -> None:
        """Raise a UsageError if the settings contradict each other."""
        if self.plug_in is not None:
            self._require_no_llm()
        if self.is_adaptive and self.batch:
            raise UsageError(
                "adaptive pairs follow from the verdicts so far, and each batch may take a day; "
                f"leave {argument('batch')} out, or give {argument('pairs')} all or a number"
            )
        if self.batch and self.max_cost is not None:
            raise UsageError(
                f"the cost of a batch is not known before it is sent; leave {argument('max_cost')} "
                f"out, and give a {argument('budget')}"
            )
        if self.is_adaptive and self.form != "pairwise":
            raise UsageError(
                f"adaptive pairs are asked one by one; leave {argument('form')} pairwise"
            )
        if self.escalate is not None:
            self._require_two_judges(self.escalate)
        of_adaptive = {"prior"} if self.escalate else {"until", "prior"}
        if not self.is_adaptive and self.model_fields_set & of_adaptive:
            raise UsageError(
                f"{argument('until')} and {argument('prior')} are for {argument('pairs')} adaptive"
            )

    def _require_no_llm(self) -> None:
        unused = sorted(fields_by_use(JudgingSettings, is_of_llm=True) & self.model_fields_set)
        if unused:
            raise UsageError(
                f"{argument('plug_in')} asks a judge of a package, and no LLM; leave "
                f"{', '.join(map(argument, unused))} out"
            )

    def _require_two_judges(self, strong: str) -> None:
        if strong in (self.model, self.first_judge):
            raise UsageError(
                f"{argument('escalate')} names {strong}, which judges first; name a stronger model"
            )
        if self.panel:
            raise UsageError(
                f"{argument('escalate')} asks two judges one after the other; leave "
                f"{argument('panel')} out"
            )
        if self.batch or self.form != "pairwise":
            left_out = argument("batch") if self.batch else argument("form")
            raise UsageError(
                f"{argument('escalate')} chooses pairs by the verdicts so far; leave {left_out} out"
            )


def sides_of(form: JudgingForm) -> str:
    """Return the cell ``sides`` of verdicts: scores of single answers and orders have none."""
    return SIDES_SHOWN[0] if form == "pairwise" else SIDES_SHOWN[1]


def judge_name(model: str, form: JudgingForm) -> str:
    """Name a judge by model, and by form unless it is pairwise."""
    return model if form == "pairwise" else f"{model}:{form}"
