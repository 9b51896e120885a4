"""An LLM as a judge of pairs of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import FLAG_SEPARATOR, IDENTICAL, REPEAT, SIDES
from arena.data.types import Progress
from arena.judging.answer_pairs import pair_cells, pair_keys
from arena.judging.choosing.chosen_pairs import ChosenPairs, Verdicts
from arena.judging.forms import prompt_of
from arena.judging.function_judge import plug_in_settings
from arena.judging.judging_settings import JudgingSettings, judge_name, sides_of
from arena.judging.judging_task import JudgingTask, Outcomes
from arena.judging.pairwise import pairwise_prompt
from arena.judging.prompt import JudgePrompt
from arena.judging.verdict_parsing import PairVerdict
from arena.llm.ask import Llm
from arena.llm.dry_runs import DryRun
from arena.llm.llm_settings import LlmSettings
from arena.llm.store import Store
from arena.llm.usage import Budget, Price, Usage

PROBABILITY_COLUMNS = ["probability", "probability_a", "probability_b"]
VERDICT_COLUMNS = [
    "query_id",
    "language",
    "system_a",
    "system_b",
    "winner",
    "judge",
    SIDES,
    *PROBABILITY_COLUMNS,
    "flags",
    "prompt",
    "reason",
    REPEAT,
]
"""Of an LLM's verdicts: the arena's columns, whether sides were shown, probabilities where they are
known (of the verdict, and of either side), flags (comma-separated), the prompt's version, what the
judge wrote before the verdict, the number of the vote where the same sides were asked before."""
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
        prompt: Form of judging; by default pairwise. A ``FunctionPrompt`` is for a judge of another
            package.
        name: In the ``judge`` column.
    """

    settings: LlmSettings
    prompt: JudgePrompt = field(default_factory=pairwise_prompt)
    name: str = ""

    @property
    def judge(self) -> str:
        """Return the name in the ``judge`` column."""
        return self.name or judge_name(self.settings.model, self.prompt.form)

    @property
    def asked_settings(self) -> LlmSettings:
        """Return the settings with what the form needs, such as log-probabilities."""
        return self.prompt.request_settings(self.settings)


def llm_judges(settings: JudgingSettings) -> list[LlmJudge]:
    """Return the settings' judge, then its panel's others."""
    if settings.plug_in is not None:
        asked, function_prompt = plug_in_settings(settings)
        return [LlmJudge(asked, function_prompt, settings.first_judge)]
    prompt = prompt_of(settings)
    judges: list[LlmJudge] = []
    for model in (settings.model, *settings.panel):
        # A judge's name is for one model alone, so the others go by their models' names.
        name = settings.name if not judges else ""
        member = settings.model_copy(update={"model": model, "name": name})
        judges.append(LlmJudge(member, prompt, name))
    return judges


def ask_judge(
    arena: Arena,
    judge: LlmJudge,
    pairs: ChosenPairs,
    store: Store,
    budget: Budget,
    progress: Progress | None,
) -> tuple[Verdicts, Usage]:
    """Ask an LLM about pairs left; memory grows with verdicts alone."""
    task = _task_of(arena, judge, pairs)
    outcomes = judge.prompt.ask(task, Llm(judge.asked_settings, store, budget), progress)
    return _verdicts_of(outcomes, task, judge.prompt), outcomes.usage


def _task_of(arena: Arena, judge: LlmJudge, pairs: ChosenPairs) -> JudgingTask:
    return JudgingTask(arena, judge.judge, pairs, pairs_left(arena, judge, pairs))


def _verdicts_of(outcomes: Outcomes, task: JudgingTask, prompt: JudgePrompt) -> Verdicts:
    judge_cells: dict[str, object] = {"judge": task.judge, "prompt": prompt.version}
    verdict_rows: list[dict[str, object]] = []
    failure_rows: list[dict[str, object]] = []
    identical = PairVerdict("tie", flags=(IDENTICAL,))
    for key in pair_keys(task.left.identical):
        verdict_rows.append({**pair_cells(key), **judge_cells, **_verdict_cells(identical, ())})
    repeats = task.left.table[REPEAT]
    for (key, reply, answer_flags), repeat in zip(outcomes.outcomes, repeats, strict=True):
        row: dict[str, object] = {**pair_cells(key), **judge_cells}
        if reply.value is None:
            failure = {"reason": reply.reason, "detail": reply.detail, "key": reply.key}
            failure_rows.append({**row, **failure, "flags": FLAG_SEPARATOR.join(answer_flags)})
        else:
            cells = _verdict_cells(reply.value, answer_flags)
            verdict_rows.append(row | cells | {REPEAT: repeat})
    # Types are set column by column: a batch may have no row at all, or no probability.
    types = dict.fromkeys(VERDICT_COLUMNS, "str") | dict.fromkeys(PROBABILITY_COLUMNS, "float64")
    judgments = pd.DataFrame(verdict_rows, columns=VERDICT_COLUMNS, dtype=object)
    judgments[SIDES] = sides_of(prompt.form)
    failures = pd.DataFrame(failure_rows, columns=FAILURE_COLUMNS, dtype=object)
    return Verdicts(judgments.astype(types), failures, outcomes.records, outcomes.remarks)


def _verdict_cells(verdict: PairVerdict, answer_flags: Sequence[str]) -> dict[str, object]:
    shares = verdict.shares or {}
    return {
        "winner": verdict.winner,
        "probability": shares.get(verdict.winner),
        "probability_a": shares.get("a"),
        "probability_b": shares.get("b"),
        "flags": FLAG_SEPARATOR.join([*answer_flags, *verdict.flags]),
        "reason": verdict.reason,
    }


def pairs_left(arena: Arena, judge: LlmJudge, pairs: ChosenPairs) -> ChosenPairs:
    """Leave out pairs that a judge has judged."""
    return pairs.without(arena.judgments[arena.judgments["judge"] == judge.judge])


def dry_run_judge(
    arena: Arena,
    judge: LlmJudge,
    pairs: ChosenPairs,
    store: Store | None = None,
    prices: Mapping[str, Price] | None = None,
) -> DryRun:
    """Count what a judge would be asked, and its maximum cost; nothing is sent.

    Args:
        arena: Questions and answers.
        judge: The judge.
        pairs: Pairs to ask about.
        store: Replies in it cost nothing.
        prices: Price of each model.

    Returns:
        Prompts, calls, tokens and cost.

    Raises:
        UsageError: If the settings or the template cannot be used.

    Examples:
        >>> from arena import sample_arena
        >>> from arena.judging import choose_pairs
        >>> from arena.llm import LlmSettings
        >>> arena = sample_arena()
        >>> judge = LlmJudge(LlmSettings(model="gpt-4o-mini"))
        >>> dry_run_judge(arena, judge, choose_pairs(arena, questions=2, pairs=3)).calls
        6
    """
    steps: list[DryRun] = []
    with Store(Path(":memory:")) as nothing:
        budget = Budget(prices=prices or {})
        llm = Llm(judge.asked_settings, store or nothing, budget, steps)
        judge.prompt.ask(_task_of(arena, judge, pairs), llm)
    return DryRun.total(steps)
