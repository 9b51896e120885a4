"""An LLM as a judge: how it is asked about pairs of answers, and its verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.schema import REPEAT
from arena.data.types import Progress
from arena.diagnostics.judge_label import FLAG_SEPARATOR, IDENTICAL
from arena.judging.answer_pairs import ArenaTexts, pair_keys
from arena.judging.choosing.chosen_pairs import AskedKey, ChosenPairs, Verdicts, asked_keys
from arena.judging.function_judge import FunctionPrompt, plug_in_settings, read_function_verdict
from arena.judging.graded import (
    GRADED_PROMPTS,
    GradedPrompt,
    Outcome,
    graded_requests,
    judge_graded,
)
from arena.judging.judging_settings import JudgingForm, JudgingSettings, VerdictForm, judge_name
from arena.judging.nugget_judging import judge_nuggets, planned_requests
from arena.judging.nugget_prompts import (
    MARK_PROMPT,
    NUGGET_PROMPT,
    NUGGET_PROMPTS,
    NuggetPrompt,
    mark_settings,
    nugget_settings,
)
from arena.judging.prompt import REPLY_FORMS, PairwisePrompt, pairwise_prompt
from arena.llm.ask import Llm, ask_table
from arena.llm.dry_runs import DryRun, dry_run
from arena.llm.llm_settings import LlmSettings
from arena.llm.requests import Prompt
from arena.llm.usage import Budget, Price, Usage
from arena.text.prompts import read_templates

if TYPE_CHECKING:
    from arena.llm.store import Store

PROBABILITY_COLUMNS = ["probability", "probability_a", "probability_b"]
VERDICT_COLUMNS = [
    "query_id",
    "language",
    "system_a",
    "system_b",
    "winner",
    "judge",
    *PROBABILITY_COLUMNS,
    "flags",
    "prompt",
    "reason",
    REPEAT,
]
"""Of an LLM's verdicts: the arena's columns, probabilities where they are known (of the verdict,
and of either side), flags (comma-separated), the prompt's version, what the judge wrote before the
verdict, and the number of the vote where the same sides were asked before."""
FAILURE_COLUMNS = [
    "query_id",
    "language",
    "system_a",
    "system_b",
    "judge",
    "reason",
    "detail",
    "flags",
    "prompt",
    "key",
]
"""Of pairs without a verdict; ``key`` is that of the reply in the store."""


@dataclass(frozen=True)
class LlmJudge:
    """An LLM that judges.

    Attributes:
        settings: How its model is asked.
        verdict: How it states the verdict on a pair; see ``REPLY_FORMS``. ``text``: the last of
            ``[[A]]``, ``[[B]]``, ``[[C]]`` in the reply. ``logprobs``: the likeliest of the letters
            A, B, C as the reply's first token; one token is asked for, whatever the settings say.
        prompt: By default the packaged one for this form of verdict. A ``GradedPrompt`` asks for
            marks or orders, a ``NuggetPrompt`` for nuggets; both become verdicts. A
            ``FunctionPrompt`` is for a judge of another package.
        name: In the ``judge`` column; see ``judge_name`` for the default.

    Raises:
        UsageError: If marks, orders or nuggets are to be read from log-probabilities.
    """

    settings: LlmSettings
    verdict: VerdictForm = "text"
    prompt: PairwisePrompt | GradedPrompt | NuggetPrompt | FunctionPrompt | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if self.verdict != "text" and isinstance(self.prompt, GradedPrompt | NuggetPrompt):
            raise UsageError(
                "marks, orders and nuggets are read from the text; leave "
                f"{argument('verdict')} text"
            )

    @property
    def judge(self) -> str:
        """Name in the ``judge`` column."""
        form: JudgingForm = "pairwise"
        if isinstance(self.prompt, GradedPrompt | NuggetPrompt):
            form = self.prompt.form
        return self.name or judge_name(self.settings.model, form)

    @property
    def prompt_in_use(self) -> PairwisePrompt | GradedPrompt | NuggetPrompt | FunctionPrompt:
        """The prompt, or the packaged one where none is set."""
        return self.prompt or pairwise_prompt(verdict=self.verdict)

    @property
    def asked_settings(self) -> LlmSettings:
        """The settings with what the form of verdict needs, such as log-probabilities."""
        form = REPLY_FORMS[self.verdict]
        settings = self.settings
        if form.max_tokens is not None:
            settings = settings.model_copy(update={"max_tokens": form.max_tokens})
        if form.fields:
            # The user's own fields win: an endpoint may allow fewer alternatives.
            settings = settings.sending(**{**form.fields, **settings.body})
        return settings


def llm_judges(settings: JudgingSettings) -> list[LlmJudge]:
    """Return the judge that settings describe, then the other members of its panel.

    Raises:
        UsageError: If a setting, the template or the plug-in cannot be used.
    """
    if settings.plug_in is not None:
        asked, function_prompt = plug_in_settings(settings)
        return [LlmJudge(asked, prompt=function_prompt, name=settings.first_judge)]
    prompt = _prompt_of(settings)
    judges: list[LlmJudge] = []
    for model in (settings.model, *settings.panel):
        # A judge's name is for one model alone, so the others go by their models' names.
        name = settings.name if not judges else ""
        member = settings.model_copy(update={"model": model, "name": name})
        judges.append(LlmJudge(member, verdict=settings.verdict, prompt=prompt, name=name))
    return judges


def _prompt_of(settings: JudgingSettings) -> PairwisePrompt | GradedPrompt | NuggetPrompt:
    if settings.form == "pairwise":
        return pairwise_prompt(settings.template, settings.verdict)
    if settings.both_orders:
        raise UsageError(
            f"both orders are asked of pairs; leave {argument('both_orders')} "
            f"out, or {argument('form')}"
        )
    if settings.form == "nuggets":
        return _nugget_prompt(settings)
    prompt = GRADED_PROMPTS[settings.form]
    template = prompt.packaged() if settings.template is None else prompt.read(settings.template)
    return GradedPrompt(template, settings.form, settings.seed)


def _nugget_prompt(settings: JudgingSettings) -> NuggetPrompt:
    if settings.panel:
        raise UsageError(
            f"nuggets are made by one judge; leave {argument('panel')} out, and judge again with "
            "each further model: it marks by the same nuggets"
        )
    sources = () if settings.template is None else (settings.template,)
    templates = read_templates(sources, NUGGET_PROMPTS)
    return NuggetPrompt(templates.of(NUGGET_PROMPT), templates.of(MARK_PROMPT))


def ask_judge(
    arena: Arena,
    judge: LlmJudge,
    pairs: ChosenPairs,
    store: Store,
    budget: Budget,
    progress: Progress | None = None,
) -> tuple[Verdicts, Usage]:
    """Ask an LLM about the pairs that it has not judged in the arena.

    Arguments are those of ``arena.judging.judge_pairs``. Prompts are made as they are sent, so
    memory grows with the verdicts alone.

    Raises:
        UsageError: If the settings or the template cannot be used.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    left = pairs_left(arena, judge, pairs)
    prompt = judge.prompt_in_use
    llm = Llm(judge.asked_settings, store, budget)
    if isinstance(prompt, NuggetPrompt):
        found = judge_nuggets(arena, prompt, left, llm, judge.judge, progress)
        of_pairs = _verdicts_of(found.outcomes, left, judge.judge, prompt.version)
        return replace(of_pairs, nuggets=found.nuggets, notes=found.notes), found.usage
    if isinstance(prompt, GradedPrompt):
        outcomes, usage = judge_graded(
            arena, prompt, pairs, left, llm, stage=judge.judge, progress=progress
        )
    else:
        outcomes, usage = _ask_pairwise(arena, judge, prompt, left, llm, progress)
    return _verdicts_of(outcomes, left, judge.judge, prompt.version), usage


def _verdicts_of(outcomes: list[Outcome], pairs: ChosenPairs, judge: str, version: str) -> Verdicts:
    """Make tables of what a judge replied on pairs, and of the pairs of identical answers.

    Args:
        outcomes: Of each row of the table of pairs, in their order.
        pairs: The pairs asked.
        judge: Name of the judge.
        version: Of its prompt.
    """
    verdict_rows = list(_identical_rows(pairs, judge, version))
    failure_rows: list[tuple[object, ...]] = []
    for outcome, repeat in zip(outcomes, pairs.table[REPEAT], strict=True):
        (language, query_id, system_a, system_b), reply, answer_flags = outcome
        key = (query_id, language, system_a, system_b)
        verdict = reply.value
        if verdict is None:
            flags = FLAG_SEPARATOR.join(answer_flags)
            failure_rows.append(
                (*key, judge, reply.reason, reply.detail, flags, version, reply.key)
            )
            continue
        flags = FLAG_SEPARATOR.join([*answer_flags, *verdict.flags])
        shares = verdict.shares or {}
        probabilities = [shares.get(winner) for winner in (verdict.winner, "a", "b")]
        verdict_rows.append(
            (*key, verdict.winner, judge, *probabilities, flags, version, verdict.reason, repeat)
        )
    # Types are set column by column: a batch may have no row at all, or no probability.
    types = dict.fromkeys(VERDICT_COLUMNS, "str") | dict.fromkeys(PROBABILITY_COLUMNS, "float64")
    judgments = pd.DataFrame(verdict_rows, columns=VERDICT_COLUMNS, dtype=object).astype(types)
    failures = pd.DataFrame(failure_rows, columns=FAILURE_COLUMNS, dtype=object)
    return Verdicts(judgments=judgments, failures=failures)


def _identical_rows(pairs: ChosenPairs, judge: str, version: str) -> Iterator[tuple[object, ...]]:
    """Yield the ties of identical answers, which need no judge."""
    for language, query_id, system_a, system_b in pair_keys(pairs.identical):
        key = (query_id, language, system_a, system_b)
        yield (*key, "tie", judge, None, None, None, IDENTICAL, version, "", None)


def pairs_left(arena: Arena, judge: LlmJudge, pairs: ChosenPairs) -> ChosenPairs:
    """Leave out the pairs that a judge has judged in the arena."""
    return pairs.without(arena.judgments[arena.judgments["judge"] == judge.judge])


def dry_run_judge(
    arena: Arena,
    judge: LlmJudge,
    pairs: ChosenPairs,
    store: Store | None = None,
    prices: Mapping[str, Price] | None = None,
) -> DryRun:
    """Count what ``ask_judge`` would ask, and what that would cost at most; nothing is sent.

    Raises:
        UsageError: See ``ask_judge``.
    """
    left = pairs_left(arena, judge, pairs)
    prompt = judge.prompt_in_use
    prompts: Iterator[Prompt]
    if isinstance(prompt, NuggetPrompt):
        of_questions, of_answers = planned_requests(arena, prompt, left, judge.judge)
        settings = judge.asked_settings
        steps = [
            dry_run(of_questions, nugget_settings(settings), store, prices),
            dry_run(of_answers, mark_settings(settings), store, prices),
        ]
        return DryRun.total(steps)
    if isinstance(prompt, GradedPrompt):
        prompts = graded_requests(arena, prompt, pairs, left)
    else:
        texts = ArenaTexts(arena)
        prompts = (_pairwise_request(prompt, texts, key)[0] for key in asked_keys(left.table))
    return dry_run(prompts, judge.asked_settings, store, prices)


def _ask_pairwise(
    arena: Arena,
    judge: LlmJudge,
    prompt: PairwisePrompt | FunctionPrompt,
    pairs: ChosenPairs,
    llm: Llm,
    progress: Progress | None,
) -> tuple[list[Outcome], Usage]:
    texts = ArenaTexts(arena)
    keys = list(asked_keys(pairs.table))
    flags: list[tuple[str, ...]] = []

    def prompt_of(key: AskedKey) -> Prompt:
        # Flags are noted as prompts are made, once per pair and in their order, so that no
        # answer's text has to be put together twice.
        request, answer_flags = _pairwise_request(prompt, texts, key)
        flags.append(answer_flags)
        return request

    is_function = isinstance(prompt, FunctionPrompt)
    read = read_function_verdict if is_function else REPLY_FORMS[judge.verdict].read
    answered = ask_table(keys, prompt_of, read, llm, stage=judge.judge, progress=progress)
    outcomes = zip(pair_keys(pairs.table), answered.replies, flags, strict=True)
    return list(outcomes), answered.usage


def _pairwise_request(
    prompt: PairwisePrompt | FunctionPrompt, texts: ArenaTexts, key: AskedKey
) -> tuple[Prompt, tuple[str, ...]]:
    """Make the prompt of a pair, and flag what is odd about its answers."""
    language, query_id, system_a, system_b, repeat = key
    request, flags = prompt.ask(texts.comparison((language, query_id, system_a, system_b)))
    if repeat:
        # Otherwise the store would answer with the first vote.
        request = replace(request, purpose=f"repetition {repeat}")
    return request, flags
