"""An LLM as a judge, and what it says of pairs of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.judging.choosing.drawn import ChosenPairs, Verdicts
from arena.judging.graded import PAIRWISE, GradedPrompt, graded_requests, judge_graded, judge_name
from arena.judging.pairs import ArenaTexts, PairKey, pair_keys
from arena.judging.prompt import PairwisePrompt, VerdictForm, pairwise_prompt
from arena.judging.replies import (
    ALTERNATIVES,
    PairVerdict,
    Winner,
    read_letter,
    read_reason,
    read_verdict,
)
from arena.judging.summary import (
    FAILURE_COLUMNS,
    FLAG_SEPARATOR,
    IDENTICAL,
    PROBABILITY_COLUMNS,
    VERDICT_COLUMNS,
)
from arena.llm.ask import Llm, Progress, ask_table
from arena.llm.replies import Completion, Reply, UnparsableError
from arena.llm.settings import LlmSettings, Prompt
from arena.llm.usage import Budget, DryRun, Price, Usage, dry_run

if TYPE_CHECKING:
    from arena.llm.store import Store

CUT_OFF = "cut_off"
ONE_TOKEN = 1

Row = tuple[object, ...]


@dataclass(frozen=True)
class LlmJudge:
    """A judge.

    Attributes:
        settings: How its model is asked.
        verdict: ``text``: the last of ``[[A]]``, ``[[B]]``, ``[[C]]`` in the reply.
            ``logprobs``: the likeliest of the letters A, B, C as the reply's first token; one
            token is asked for, whatever the settings say.
        prompt: What it is asked; the packaged prompt for this form of verdict by default. A
            ``GradedPrompt`` asks for marks or orders, which become verdicts.
        name: Its name in the ``judge`` column; the model's by default, followed by the form where
            that is ``pointwise`` or ``listwise``.

    Raises:
        UsageError: If marks or orders are to be read from log-probabilities.
    """

    settings: LlmSettings
    verdict: VerdictForm = "text"
    prompt: PairwisePrompt | GradedPrompt | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if self.verdict != "text" and isinstance(self.prompt, GradedPrompt):
            raise UsageError("marks and orders are read from the text; leave `verdict` text")

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
        """Read the verdict of a reply.

        Raises:
            UnparsableError: If there is none, which makes the judgment INVALID.
        """
        if self.verdict == "logprobs":
            letter = read_letter(completion)
            return PairVerdict(
                winner=letter.winner,
                shares={name: round(share, 6) for name, share in letter.shares.items()},
                flags=letter.flags,
            )
        found = read_verdict(completion.text or "")
        cut = (CUT_OFF,) if completion.finish_reason == "length" else ()
        if found.winner is None:
            why = "the reply was cut off before a verdict" if cut else "the reply has no verdict"
            raise UnparsableError(f"{why}; expected [[A]], [[B]] or [[C]]")
        reason = read_reason(completion.text or "")
        return PairVerdict(found.winner, None, (*found.flags, *cut), reason)


class _Prompts:
    """Makes the prompts of pairs, and notes what in their answers may steer the judge."""

    def __init__(self, arena: Arena, prompt: PairwisePrompt) -> None:
        self._texts = ArenaTexts(arena)
        self._prompt = prompt
        self.flags: list[tuple[str, ...]] = []

    def of(self, pair: PairKey) -> Prompt:
        """Make the prompt of a pair."""
        asked = self._prompt.ask(self._texts.comparison(pair, self._prompt.show))
        self.flags.append(asked.flags)
        return asked.prompt


def ask_judge(
    arena: Arena,
    judge: LlmJudge,
    pairs: ChosenPairs,
    store: Store,
    *,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> tuple[Verdicts, Usage]:
    """Ask an LLM about pairs of answers.

    A pair that the arena holds this judge's verdict on is not judged again; a reply that is in
    the store is not asked for again. Prompts are made as they are sent, so memory grows with the
    verdicts alone. A pair without a verdict is a counted failure, never a tie.

    Args:
        arena: Questions, answers, and the judgments there are.
        judge: Who judges.
        pairs: What to judge, chosen for what the judge's prompt shows.
        store: Where replies are and go.
        budget: Most calls; pairs that are left fail as ``over_budget``. None asks all.
        progress: Called with the judge's name, the pairs done, and all.

    Raises:
        UsageError: If the settings or the template cannot be used, or the pairs
            were chosen for something else than the prompt shows.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    left = pairs_left(arena, judge, pairs)
    version = judge.asked_by.version
    llm = Llm(judge.asked_settings, store, budget or Budget())
    asked, usage = _ask(arena, judge, pairs, left, llm, progress)
    verdicts: list[Row] = [
        (query_id, language, a, b, "tie", judge.judge, None, None, None, IDENTICAL, version, "")
        for language, query_id, a, b in pair_keys(left.identical)
    ]
    failures: list[Row] = []
    for pair, reply, flags in asked:
        if reply.value is None:
            failures.append(_failure(pair, judge.judge, reply, flags, version))
        else:
            verdicts.append(_verdict(pair, judge.judge, reply.value, flags, version))
    failed = pd.DataFrame(failures, columns=FAILURE_COLUMNS, dtype=object)
    return Verdicts(_judgments(verdicts), failed), usage


def pairs_left(arena: Arena, judge: LlmJudge, pairs: ChosenPairs) -> ChosenPairs:
    """Leave out the pairs that the arena holds a judge's verdict on.

    Raises:
        UsageError: If the pairs were chosen for something else than the prompt shows.
    """
    show = judge.asked_by.show
    if pairs.show != show:
        raise UsageError(
            f"the pairs were chosen for showing the {pairs.show} (--show), and the prompt of "
            f"{judge.judge} shows the {show}; give both the same"
        )
    there = arena.judgments[arena.judgments["judge"] == judge.judge]
    return pairs.without(set(pair_keys(there)))


def _ask(
    arena: Arena,
    judge: LlmJudge,
    pairs: ChosenPairs,
    left: ChosenPairs,
    llm: Llm,
    progress: Progress | None,
) -> tuple[list[tuple[PairKey, Reply[PairVerdict], tuple[str, ...]]], Usage]:
    """Return what came of each pair that is left, with what its answers may steer; and usage."""
    prompt = judge.asked_by
    if isinstance(prompt, GradedPrompt):
        graded, usage = judge_graded(arena, prompt, pairs, left, llm, judge.judge, progress)
        return [(pair, _as_read(reply), flags) for pair, reply, flags in graded], usage
    prompts, rows = _Prompts(arena, prompt), list(pair_keys(left.table))
    asked = ask_table(rows, prompts.of, judge.read, llm, stage=judge.judge, progress=progress)
    return list(zip(rows, asked.replies, prompts.flags, strict=True)), asked.usage


def _as_read(reply: Reply[Winner]) -> Reply[PairVerdict]:
    found = None if reply.value is None else PairVerdict(reply.value, None, ())
    return Reply(found, reply.reason, reply.detail, reply.key, reply.from_store)


def dry_run_judge(
    arena: Arena,
    judge: LlmJudge,
    pairs: ChosenPairs,
    store: Store | None = None,
    prices: Mapping[str, Price] | None = None,
) -> DryRun:
    """Count what ``ask_judge`` would ask, and what that would cost at most; nothing is sent.

    Raises:
        UsageError: If the settings or the template cannot be used, or the pairs were chosen for
            something else than the prompt shows.
    """
    prompts = judge_requests(arena, judge, pairs)
    return dry_run(prompts, judge.asked_settings, store, prices)


def judge_requests(arena: Arena, judge: LlmJudge, pairs: ChosenPairs) -> Iterator[Prompt]:
    """Return what ``ask_judge`` would ask, prompts made one by one.

    Raises:
        UsageError: If the pairs were chosen for something else than the prompt shows.
    """
    left, prompt = pairs_left(arena, judge, pairs), judge.asked_by
    if isinstance(prompt, GradedPrompt):
        return graded_requests(arena, prompt, pairs, left)
    return map(_Prompts(arena, prompt).of, pair_keys(left.table))


def _verdict(
    pair: PairKey, judge: str, read: PairVerdict, flags: tuple[str, ...], version: str
) -> Row:
    language, query_id, system_a, system_b = pair
    sides, shares = (query_id, language, system_a, system_b), read.shares
    likely = (None,) * 3 if shares is None else (shares[read.winner], shares["a"], shares["b"])
    noted = FLAG_SEPARATOR.join([*flags, *read.flags])
    return (*sides, read.winner, judge, *likely, noted, version, read.reason)


def _failure(
    pair: PairKey, judge: str, reply: Reply[PairVerdict], flags: tuple[str, ...], version: str
) -> Row:
    language, query_id, system_a, system_b = pair
    sides, noted = (query_id, language, system_a, system_b), FLAG_SEPARATOR.join(flags)
    return (*sides, judge, reply.reason, reply.detail, noted, version, reply.key)


def _judgments(rows: list[Row]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=VERDICT_COLUMNS, dtype=object)
    types = {name: "float64" if name in PROBABILITY_COLUMNS else "str" for name in VERDICT_COLUMNS}
    return table.astype(types)
