"""An LLM as a judge, and what it says of pairs of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.types import Progress
from arena.diagnostics.judge_label import FLAG_SEPARATOR, IDENTICAL
from arena.judging.answer_pairs import ArenaTexts, PairKey, pair_keys
from arena.judging.choosing.chosen_pairs import ChosenPairs, Verdicts
from arena.judging.graded import PAIRWISE, GradedPrompt, graded_requests, judge_graded, judge_name
from arena.judging.prompt import PairwisePrompt, VerdictForm, pairwise_prompt
from arena.judging.verdict_parsing import ALTERNATIVES, PairVerdict, read_letter, read_verdict
from arena.llm.ask import Llm, ask_table
from arena.llm.llm_settings import LlmSettings, Prompt
from arena.llm.replies import Completion, Reply
from arena.llm.usage import Budget, DryRun, Price, Usage, dry_run

if TYPE_CHECKING:
    from arena.llm.store import Store

ONE_TOKEN = 1

PROBABILITY_COLUMNS = ["probability", "probability_a", "probability_b"]
VERDICT_COLUMNS = [
    *("query_id", "language", "system_a", "system_b", "winner", "judge"),
    *(*PROBABILITY_COLUMNS, "flags", "prompt", "reason"),
]
"""Of an LLM's verdicts: the arena's, probabilities where they are known (of the verdict, and of
either side), flags (comma-separated), the prompt's version, and what it wrote before them."""
FAILURE_COLUMNS = [
    *("query_id", "language", "system_a", "system_b", "judge"),
    *("reason", "detail", "flags", "prompt", "key"),
]
"""Of pairs without a verdict; ``key`` is that of the reply in the store."""

Outcome = tuple[PairKey, Reply[PairVerdict], tuple[str, ...]]
"""A pair, what the judge said, and what in the answers may steer it."""


@dataclass(frozen=True)
class LlmJudge:
    """A judge.

    Attributes:
        settings: How its model is asked.
        verdict: ``text``: the last of ``[[A]]``, ``[[B]]``, ``[[C]]`` in the reply.
            ``logprobs``: the likeliest of the letters A, B, C as the reply's first token; one
            token is asked for, whatever the settings say.
        prompt: By default the packaged one for this form of verdict. A ``GradedPrompt`` asks for
            marks or orders, which become verdicts.
        name: In the ``judge`` column; see ``judge_name`` for the default.

    Raises:
        UsageError: If marks or orders are to be read from log-probabilities.
    """

    settings: LlmSettings
    verdict: VerdictForm = "text"
    prompt: PairwisePrompt | GradedPrompt | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if self.verdict != "text" and isinstance(self.prompt, GradedPrompt):
            raise UsageError(
                f"marks and orders are read from the text; leave {argument('verdict')} text"
            )

    @property
    def judge(self) -> str:
        """Name in the ``judge`` column."""
        form = self.prompt.form if isinstance(self.prompt, GradedPrompt) else PAIRWISE
        return self.name or judge_name(self.settings.model, form)

    @property
    def asked_by(self) -> PairwisePrompt | GradedPrompt:
        """The prompt in use."""
        return self.prompt or pairwise_prompt(verdict=self.verdict)

    @property
    def asked_settings(self) -> LlmSettings:
        """The settings in use: one token with log-probabilities where these are read."""
        if self.verdict == "text":
            return self.settings
        one = self.settings.model_copy(update={"max_tokens": ONE_TOKEN})
        return one.sending(**{"logprobs": True, "top_logprobs": ALTERNATIVES} | one.body)

    def read(self, completion: Completion) -> PairVerdict:
        """Read the verdict of a reply; UnparsableError without, which makes it INVALID."""
        return (read_verdict if self.verdict == "text" else read_letter)(completion)


def ask_judge(
    arena: Arena,
    judge: LlmJudge,
    pairs: ChosenPairs,
    store: Store,
    budget: Budget,
    progress: Progress | None = None,
) -> tuple[Verdicts, Usage]:
    """Ask an LLM about pairs of answers.

    Arguments are those of ``arena.judging.judge``. Prompts are made as they are sent, so memory
    grows with the verdicts alone.

    Raises:
        UsageError: If the settings or the template cannot be used.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    left, prompt = pairs_left(arena, judge, pairs), judge.asked_by
    llm = Llm(judge.asked_settings, store, budget)
    if isinstance(prompt, GradedPrompt):
        asked, usage = judge_graded(arena, prompt, (pairs, left), llm, judge.judge, progress)
    else:
        asked, usage = _ask_pairwise(arena, judge, prompt, left, llm, progress)
    version, name = prompt.version, judge.judge
    verdicts: list[tuple[object, ...]] = [
        (query_id, language, a, b, "tie", name, None, None, None, IDENTICAL, version, "")
        for language, query_id, a, b in pair_keys(left.identical)
    ]
    failures: list[tuple[object, ...]] = []
    for (language, query_id, *sides), reply, flags in asked:
        key, found = (query_id, language, *sides), reply.value
        if found is None:
            noted = FLAG_SEPARATOR.join(flags)
            failures.append((*key, name, reply.reason, reply.detail, noted, version, reply.key))
            continue
        shares = found.shares or {}
        likely = [shares.get(side) for side in (found.winner, "a", "b")]
        noted = FLAG_SEPARATOR.join([*flags, *found.flags])
        verdicts.append((*key, found.winner, name, *likely, noted, version, found.reason))
    table = pd.DataFrame(verdicts, columns=VERDICT_COLUMNS, dtype=object)
    types = {each: "float64" if each in PROBABILITY_COLUMNS else "str" for each in VERDICT_COLUMNS}
    failed = pd.DataFrame(failures, columns=FAILURE_COLUMNS, dtype=object)
    return Verdicts(table.astype(types), failed), usage


def pairs_left(arena: Arena, judge: LlmJudge, pairs: ChosenPairs) -> ChosenPairs:
    """Leave out the pairs that the arena holds a judge's verdict on."""
    there = arena.judgments[arena.judgments["judge"] == judge.judge]
    return pairs.without(set(pair_keys(there)))


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
    left, prompt = pairs_left(arena, judge, pairs), judge.asked_by
    prompts: Iterator[Prompt]
    if isinstance(prompt, GradedPrompt):
        prompts = graded_requests(arena, prompt, pairs, left)
    else:
        texts = ArenaTexts(arena)
        prompts = (prompt.ask(texts.comparison(key))[0] for key in pair_keys(left.table))
    return dry_run(prompts, judge.asked_settings, store, prices)


def _ask_pairwise(
    arena: Arena,
    judge: LlmJudge,
    prompt: PairwisePrompt,
    left: ChosenPairs,
    llm: Llm,
    progress: Progress | None,
) -> tuple[list[Outcome], Usage]:
    texts, rows, flags = ArenaTexts(arena), list(pair_keys(left.table)), list[tuple[str, ...]]()

    def ask(pair: PairKey) -> Prompt:
        asked, noted = prompt.ask(texts.comparison(pair))
        flags.append(noted)
        return asked

    asked = ask_table(rows, ask, judge.read, llm, stage=judge.judge, progress=progress)
    return list(zip(rows, asked.replies, flags, strict=True)), asked.usage
