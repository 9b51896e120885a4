"""Letting judges judge a benchmark: from judges, or their names, to one table of verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import pandas as pd
from pydantic import BaseModel

from arena.data.errors import UsageError
from arena.data.wording import count_of
from arena.llm import Budget, Llm, Usage
from arena.llm.ask import Progress
from surrogate.metaevaluation.judges import (
    FunctionJudge,
    Judge,
    JudgePrompts,
    LexicalJudge,
    PromptJudge,
    Verdict,
)
from surrogate.metaevaluation.records import read_run
from surrogate.metaevaluation.report import Report, judges_of
from surrogate.metaevaluation.settings import JudgeOptions, MetaevalSettings

if TYPE_CHECKING:
    from arena.llm.store import Store

ItemT = TypeVar("ItemT")
BenchmarkT = TypeVar("BenchmarkT", covariant=True)

RUN = "run:"
VERDICT = ["value", "failure", "was_asked"]
"""Columns of every table of verdicts, after the judge and what tells one item from another."""


class JudgeFactory:
    """Makes judges of names, and opens what they share.

    Attributes:
        options: How they are asked.
        progress: Called with a stage's name, what is done of it, and all of it.
    """

    def __init__(self, options: JudgeOptions, progress: Progress | None) -> None:
        self.options = options
        self.progress = progress
        self._opened = ExitStack()

    def __enter__(self) -> JudgeFactory:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @cached_property
    def store(self) -> Store:
        """What keeps the replies of LLMs; opened when the first of them is made."""
        from arena.llm import open_store

        return self._opened.enter_context(open_store(self.options.store))

    def llm(self, prompts: JudgePrompts[Any], model: str) -> PromptJudge[Any]:
        """Make a judge of an LLM's name."""
        options = self.options
        most = options.max_tokens or prompts.max_tokens
        asked = options.model_copy(update={"model": model, "max_tokens": most}).located()
        llm = Llm(prompts.settings(asked), self.store, Budget(options.max_calls))
        retries = prompts.retries if options.further_tries is None else options.further_tries
        return PromptJudge(prompts, llm, retries, self.progress)


@dataclass(frozen=True)
class JudgeKind:
    """A kind of judge that can be named.

    Attributes:
        form: How it is named, such as ``llm:MODEL`` or ``lexical``.
        make: Makes a judge of what stands after the colon, or several.
    """

    form: str
    make: Callable[[str, JudgeFactory], Judge[Any] | list[Judge[Any]]]


class Benchmark(Protocol[BenchmarkT]):
    """Items with what people said of them."""

    record: ClassVar[type[BaseModel]]
    """A line of a file of verdicts."""

    @property
    def settings(self) -> MetaevalSettings:
        """What is judged, how judges given by name are asked, and how they are counted."""

    @property
    def kinds(self) -> Sequence[JudgeKind]:
        """The kinds of judges that can be named."""

    def verdicts(self, judge: Judge[BenchmarkT]) -> pd.DataFrame:
        """Let one judge judge every item.

        Returns:
            One row an item: columns that say which and what people said of it, and ``VERDICT``.
        """

    def report(self, evaluation: Evaluation) -> Report:
        """Report how right judges are."""


@dataclass(frozen=True)
class Evaluation:
    """What came of it.

    Attributes:
        verdicts: One row a judge and item: ``BY_JUDGE``, the benchmark's columns, ``VERDICT``.
        usages: What LLMs were asked and used.
    """

    verdicts: pd.DataFrame
    usages: tuple[Usage, ...] = ()


def evaluate_judges(
    benchmark: Benchmark[ItemT],
    judges: Sequence[Judge[ItemT] | str],
    progress: Progress | None = None,
) -> Evaluation:
    """Let judges judge a benchmark.

    Args:
        benchmark: Such as ``Memerag(read_memerag(folder))``; its settings say how judges that are
            given by name are asked.
        judges: Judges, or their names, see the benchmark's ``kinds``; or ``run:FILE``, verdicts
            that ``write_run`` wrote.
        progress: Called with a stage's name, what is done of it, and all of it.

    Raises:
        UsageError: If there is no judge or no item, two judges have the same name and prompt, a
            name is unknown, or a judge does not return one verdict an item.
        MissingDependencyError: If a package that a judge needs is not installed.
    """
    runs = [judge for judge in judges if isinstance(judge, str) and judge.startswith(RUN)]
    tables = [read_run(run.removeprefix(RUN), benchmark.record) for run in runs]
    with JudgeFactory(benchmark.settings, progress) as factory:
        made = [
            each
            for judge in judges
            if judge not in runs
            for each in (
                make_judges(judge, benchmark.kinds, factory) if isinstance(judge, str) else [judge]
            )
        ]
        known = [(judge.name, judge.prompt) for judge in made]
        _check([*known, *(key for table in tables for key in judges_of(table))])
        tables += [_named(benchmark.verdicts(judge), judge) for judge in made]
    usages = [usage for judge in made for usage in getattr(judge, "usages", ())]
    return Evaluation(pd.concat(tables, ignore_index=True), tuple(usages))


def judge_items(judge: Judge[ItemT], items: Sequence[ItemT], noun: str) -> list[Verdict]:
    """Return a judge's verdicts.

    Raises:
        UsageError: If they are not one an item.
    """
    verdicts = list(judge.judge(items))
    if len(verdicts) != len(items):
        raise UsageError(
            f"the judge {judge.name} returned {count_of(len(verdicts), 'verdict')} for "
            f"{len(items)} {noun}; return one for each"
        )
    return verdicts


def verdict_columns(verdicts: Sequence[Verdict]) -> dict[str, pd.Series]:
    """Return the columns ``VERDICT``."""
    return {
        "value": pd.Series([verdict.value for verdict in verdicts], dtype=object),
        "failure": pd.Series([verdict.failure for verdict in verdicts], dtype=object),
        "was_asked": pd.Series([verdict.was_asked for verdict in verdicts], dtype=bool),
    }


def make_judges(spec: str, kinds: Sequence[JudgeKind], factory: JudgeFactory) -> list[Judge[Any]]:
    """Make the judge that a text names, or the judges.

    Args:
        spec: Such as ``llm:MODEL``, ``lexical`` or ``python:MODULE:FUNCTION``.
        kinds: What can be named.
        factory: Opens what judges need.

    Raises:
        UsageError: If the text names no judge.
    """
    name, colon, model = spec.strip().partition(":")
    for kind in kinds:
        known, takes_model, _ = kind.form.partition(":")
        if name != known or (colon and not takes_model):
            continue
        if takes_model and not model:
            raise UsageError(f"the judge {spec!r} names no model; write such as {kind.form}")
        made = kind.make(model, factory)
        return made if isinstance(made, list) else [made]
    forms = ", ".join(kind.form for kind in kinds)
    raise UsageError(f"there is no judge {spec!r}; give one of {forms}")


def _function_judge(path: str, factory: JudgeFactory) -> FunctionJudge:  # noqa: ARG001
    module_name, _, name = path.partition(":")
    if not module_name or not name:
        raise UsageError(f"python:{path} names no function; write python:MODULE:FUNCTION")
    try:
        module = import_module(module_name)
    except (ImportError, ValueError) as error:
        raise UsageError(f"the module {module_name} cannot be imported: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"the module {module_name} has no function {name}")
    return FunctionJudge(f"python:{path}", function)


LEXICAL = JudgeKind("lexical", lambda _, __: LexicalJudge())
PYTHON = JudgeKind("python:MODULE:FUNCTION", _function_judge)


def _check(known: Sequence[tuple[str, str]]) -> None:
    if not known:
        raise UsageError("there is no judge; give one at least")
    repeated = sorted({pair for pair in known if known.count(pair) > 1})
    if repeated:
        raise UsageError(f"the judge {repeated[0][0]} is given twice; give each once")


def _named(table: pd.DataFrame, judge: Judge[Any]) -> pd.DataFrame:
    table.insert(0, "judge", judge.name)
    table.insert(1, "prompt", judge.prompt)
    return table
