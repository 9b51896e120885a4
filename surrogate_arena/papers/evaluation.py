"""Letting judges judge a benchmark: from their names to one table of verdicts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pkgutil import resolve_name
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import pandas as pd

from arena.data.errors import UsageError
from arena.data.types import Progress
from arena.data.wording import count_of
from arena.llm import Budget, DryRun, Llm, Price, Usage, open_for_dry_run, open_store
from arena.llm.batches.awaiting import AwaitedReplies
from arena.llm.prompts import NO_TEMPLATES, ReplaceablePrompt, Templates
from arena.llm.replies import OVER_BUDGET
from surrogate_arena.papers.judges import FunctionJudge, Judge, JudgePrompts, PromptJudge
from surrogate_arena.papers.records import VerdictRecord, read_run
from surrogate_arena.papers.reports import BY_JUDGE, Report, failure_reasons, judges_of
from surrogate_arena.papers.settings import DEFAULTS, JudgeOptions, MetaevalSettings
from surrogate_arena.papers.verdict import Verdict

if TYPE_CHECKING:
    from arena.llm.store import Store

RUN = "run:"
PYTHON = "python:MODULE:FUNCTION"
NO_PRICES: Mapping[str, Price] = MappingProxyType({})


class JudgeFactory(ExitStack):
    """Makes judges of names, and opens what they share."""

    def __init__(
        self, options: JudgeOptions, progress: Progress | None, is_dry_run: bool = False
    ) -> None:
        super().__init__()
        self.options, self.progress = options, progress
        self.is_dry_run = is_dry_run

    @cached_property
    def store(self) -> Store:
        """Open the store of replies, once the first LLM judge is made."""
        opening = open_for_dry_run if self.is_dry_run else open_store
        return self.enter_context(opening(self.options.store))

    def llm(self, prompts: JudgePrompts[Any], model: str) -> PromptJudge[Any]:
        """Make a judge of an LLM's name."""
        options = self.options
        max_tokens = options.max_tokens or prompts.max_tokens
        settings = options.model_copy(update={"model": model, "max_tokens": max_tokens})
        llm = Llm(prompts.settings(settings), self.store, Budget(options.max_calls))
        return PromptJudge(prompts, llm, prompts.retries, self.progress)


Kinds: TypeAlias = Mapping[str, Callable[[str, JudgeFactory], list[Judge]]]
"""Judges that can be named: a form such as ``llm:MODEL``, to what makes some of the part after the
colon."""


def llms_with(*prompts: JudgePrompts[Any]) -> Callable[[str, JudgeFactory], list[Judge]]:
    """Return what makes judges of an LLM's name: one with each of the prompts."""
    return lambda model, factory: [factory.llm(judge_prompts, model) for judge_prompts in prompts]


@dataclass(frozen=True)
class Evaluation:
    """Verdicts, one row per judge and item, and what the LLMs used.

    Columns are ``BY_JUDGE``, the benchmark's own, and ``value, failure, was_asked, detail``.
    """

    verdicts: pd.DataFrame
    usages: tuple[Usage, ...] = ()

    def without_verdict(self) -> dict[tuple[str, str], str]:
        """Return the judges, by name and prompt, that gave no verdict at all, and why not.

        Judges that were not asked because the budget was used up are none of them.
        """
        reasons: dict[tuple[str, str], str] = {}
        for key, rows in judges_of(self.verdicts).items():
            was_tried = rows["failure"] != OVER_BUDGET
            if was_tried.any() and rows["failure"].notna().all():
                reasons[key] = failure_reasons(rows[was_tried])
        return reasons

    def of_others(self, judges: Collection[tuple[str, str]]) -> Evaluation:
        """Return the evaluation without some judges, by name and prompt."""
        keys = pd.MultiIndex.from_frame(self.verdicts[["judge", "prompt"]])
        remaining = self.verdicts[~keys.isin(judges)]
        return replace(self, verdicts=remaining.reset_index(drop=True))


@dataclass(frozen=True)
class Benchmark(ABC):
    """Items with people's labels, for judges.

    ``templates`` replace the benchmark's ``replaceable`` prompts.
    """

    record: ClassVar[type[VerdictRecord]]
    """A line of a file of verdicts."""
    key: ClassVar[Sequence[str]]
    """Columns that tell items apart."""
    replaceable: ClassVar[Sequence[ReplaceablePrompt]]
    noun: ClassVar[str] = "items"
    notice: ClassVar[str] = ""
    """What stands in files of verdicts, such as the license of the labels."""
    settings: MetaevalSettings = field(default=DEFAULTS, kw_only=True)
    templates: Templates = field(default=NO_TEMPLATES, kw_only=True)

    @property
    def default_judges(self) -> Sequence[str]:
        """Judges to evaluate where a user names none."""
        return ()

    @property
    def reference_judges(self) -> Sequence[str]:
        """Judges with which others are compared, evaluated whatever a user names."""
        return ()

    @property
    @abstractmethod
    def kinds(self) -> Kinds:
        """The kinds of judges that can be named; functions always can."""

    @property
    @abstractmethod
    def items(self) -> pd.DataFrame:
        """Items to judge: ``key``, people's label if any as ``truth``, and further columns."""

    @property
    @abstractmethod
    def tasks(self) -> Sequence[Any]:
        """All that a judge may be shown, one entry per verdict."""

    def verdicts(self, judge: Judge) -> pd.DataFrame:
        """Let one judge judge every item; rows as in ``Evaluation``."""
        return self.items.join(verdict_table(judge_items(judge, self.tasks, self.noun)))

    @abstractmethod
    def report(self, evaluation: Evaluation) -> Report:
        """Report how right judges are."""


def evaluate_judges(
    benchmark: Benchmark, judges: Sequence[Judge | str], progress: Progress | None = None
) -> Evaluation:
    """Let judges judge a benchmark.

    Names are of the benchmark's ``kinds``, or ``run:FILE`` for verdicts of ``write_run``.

    Returns:
        The verdicts of all judges, and usage.
    """
    runs = [judge for judge in judges if isinstance(judge, str) and judge.startswith(RUN)]
    # Files are read before the store of replies is opened.
    tables = [_read_verdicts(run, benchmark) for run in runs]
    new_judges: list[Judge] = []
    usages: list[Usage] = []
    with JudgeFactory(benchmark.settings, progress) as factory:
        for judge in judges:
            if not isinstance(judge, str):
                new_judges.append(judge)
            elif judge not in runs:
                new_judges += make_judges(judge, benchmark.kinds, factory)
        # All names are checked before any judge is asked, and paid for.
        keys = [(judge.name, judge.prompt) for judge in new_judges]
        for table in tables:
            keys += judges_of(table)
        _check_distinct(keys)
        awaited = AwaitedReplies()
        for judge in new_judges:
            with awaited.gathered():
                table = benchmark.verdicts(judge)
                table.insert(0, "judge", judge.name)
                table.insert(1, "prompt", judge.prompt)
                tables.append(table)
            # Functions and files of scores use no LLM.
            usages += getattr(judge, "usages", ())
        awaited.require_none()
    return Evaluation(pd.concat(tables, ignore_index=True), tuple(usages))


def dry_run_judges(
    benchmark: Benchmark, judges: Sequence[str], prices: Mapping[str, Price] = NO_PRICES
) -> pd.DataFrame:
    """Count what LLMs would be asked, and its cost at most; nothing is sent.

    Retries do not count; GroUSE's usefulness and faithfulness count for all answers. There is a row
    per LLM and prompt, with the fields of ``DryRun``.
    """
    rows = []
    with JudgeFactory(benchmark.settings, None, is_dry_run=True) as factory:
        for spec in judges:
            if spec.startswith(RUN):
                continue
            for judge in make_judges(spec, benchmark.kinds, factory):
                if isinstance(judge, PromptJudge):
                    counts = judge.dry_run(benchmark.tasks, prices)
                    rows.append({"judge": judge.name, "prompt": judge.prompt, **asdict(counts)})
                elif hasattr(judge, "usages"):
                    raise UsageError(
                        f"the prompts of {judge.name} depend on its earlier replies; "
                        "leave it out of the dry run"
                    )
    columns = [*BY_JUDGE, *(field.name for field in fields(DryRun))]
    return pd.DataFrame(rows, columns=columns)


def _check_distinct(keys: Sequence[tuple[str, str]]) -> None:
    if not keys:
        raise UsageError("there is no judge; give at least one")
    for (name, _), count in sorted(Counter(keys).items()):
        if count > 1:
            raise UsageError(f"the judge {name} is given twice; give each once")


def _read_verdicts(run: str, benchmark: Benchmark) -> pd.DataFrame:
    table = read_run(run.removeprefix(RUN), benchmark.record)
    items = benchmark.items
    joint = table.merge(items, on=list(benchmark.key), suffixes=("", "_here"))
    if joint.empty:
        raise UsageError(f"{run} judges nothing of what is judged here; give the same data")
    if "truth" in items and (joint["truth"] != joint["truth_here"]).any():
        raise UsageError(f"{run} holds other human labels; compare on the same data")
    return table


def judge_items(judge: Judge, items: Sequence[Any], noun: str) -> list[Verdict]:
    """Return a judge's verdicts; a ``UsageError`` if they are not one an item."""
    verdicts = list(judge.judge(items))
    if len(verdicts) != len(items):
        raise UsageError(
            f"the judge {judge.name} returned {count_of(len(verdicts), 'verdict')} for "
            f"{len(items)} {noun}; return one for each"
        )
    return verdicts


def verdict_table(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Return one row per verdict, columns ``value, failure, was_asked, detail``."""
    # As objects, or a label would be a text and a missing one no longer None.
    table = pd.DataFrame(map(asdict, verdicts), dtype=object)
    return table.astype({"was_asked": bool})


def make_judges(spec: str, kinds: Kinds, factory: JudgeFactory) -> list[Judge]:
    """Make the judge that a text such as ``llm:MODEL`` names, or the judges."""
    factories = {**kinds, PYTHON: function_judge}
    name, _, model = spec.strip().partition(":")
    form = next((form for form in factories if form.startswith(f"{name}:")), None)
    if form is None:
        raise UsageError(f"there is no judge {spec!r}; give one of {', '.join(factories)}")
    if not model:
        raise UsageError(f"the judge {spec!r} names no model; write something like {form}")
    return factories[form](model, factory)


def function_judge(path: str, factory: JudgeFactory) -> list[Judge]:  # noqa: ARG001
    """Make a judge of a function: ``MODULE:FUNCTION``."""
    try:
        function = resolve_name(path)
    except (ImportError, ValueError, AttributeError) as error:
        raise UsageError(f"python:{path} cannot be used: {error}; write {PYTHON}") from error
    if not callable(function):
        raise UsageError(f"python:{path} is not a function; write {PYTHON}")
    return [FunctionJudge(f"python:{path}", function)]
