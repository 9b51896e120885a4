"""Letting judges judge a benchmark: from their names to one table of verdicts, and to a report."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pkgutil import resolve_name
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import pandas as pd

from arena.data.errors import UsageError
from arena.data.types import Progress
from arena.data.wording import count_of
from arena.llm import Budget, Llm, Usage, open_store
from arena.llm.replies import OVER_BUDGET
from features.models.llm_scorer import Verdict
from surrogate.board.judge_report import MetaEvaluation
from surrogate.papers.judges import SENT, FunctionJudge, Judge, JudgePrompts, PromptJudge
from surrogate.papers.records import VerdictRecord, read_run
from surrogate.papers.settings import JudgeOptions, MetaevalSettings

if TYPE_CHECKING:
    from arena.llm.store import Store
    from arena.llm.usage import Price

RUN = "run:"
PYTHON = "python:MODULE:FUNCTION"
NO_VALUE = "–"
BY_JUDGE = ["judge", "prompt"]
VALUES = ["value", "standard_error", "n", "failures", "not_asked", "reason"]
"""A score, on how many items, how many of them had no verdict, and how many were not asked."""


class JudgeFactory(ExitStack):
    """Makes judges of names, and opens what they share."""

    def __init__(self, options: JudgeOptions, progress: Progress | None) -> None:
        super().__init__()
        self.options, self.progress = options, progress

    @cached_property
    def store(self) -> Store:
        """What keeps the replies of LLMs; opened when the first of them is made."""
        return self.enter_context(open_store(self.options.store))

    def llm(self, prompts: JudgePrompts[Any], model: str) -> PromptJudge[Any]:
        """Make a judge of an LLM's name."""
        options = self.options
        most = options.max_tokens or prompts.max_tokens
        stated = {"model": model, "max_tokens": most}
        asked = options.model_copy(update=stated)
        llm = Llm(prompts.settings(asked), self.store, Budget(options.max_calls))
        return PromptJudge(prompts, llm, prompts.retries, self.progress)


Kinds: TypeAlias = Mapping[str, Callable[[str, JudgeFactory], list[Judge]]]
"""Judges that can be named: a form such as ``llm:MODEL``, to what makes some of the part after the
colon."""


@dataclass(frozen=True)
class Evaluation:
    """What came of it: one row a judge and item, and what LLMs used.

    Columns are ``BY_JUDGE``, the benchmark's own, and ``value, failure, was_asked, detail``.
    """

    verdicts: pd.DataFrame
    usages: tuple[Usage, ...] = ()

    def without_verdict(self) -> dict[tuple[str, str], str]:
        """Return the judges, by name and prompt, that gave no verdict at all, and why not.

        A judge that was not asked because the budget was used up is none of them.
        """
        reasons: dict[tuple[str, str], str] = {}
        for key, rows in judges_of(self.verdicts).items():
            was_tried = rows["failure"] != OVER_BUDGET
            if was_tried.any() and rows["failure"].notna().all():
                reasons[key] = failure_reasons(rows[was_tried])
        return reasons

    def of_others(self, judges: Collection[tuple[str, str]]) -> Evaluation:
        """Return the evaluation without some judges, by name and prompt."""
        keys = zip(self.verdicts["judge"], self.verdicts["prompt"], strict=True)
        is_kept = [key not in judges for key in keys]
        return replace(self, verdicts=self.verdicts[is_kept].reset_index(drop=True))


@dataclass(frozen=True)
class ReportTable:
    """A table as it is printed, what stands above it, and lines below it."""

    title: str
    table: pd.DataFrame
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """A meta-evaluation: as JSON can hold it, as tables for people, and as an arena notes it.

    ``usages`` is None where no judge was at work.
    """

    content: Mapping[str, Any]
    tables: Sequence[ReportTable]
    metaevaluations: Sequence[MetaEvaluation] = ()
    usages: Sequence[Usage] | None = None

    def as_json(self, prices: Mapping[str, Price] = MappingProxyType({})) -> dict[str, Any]:
        """Return the content, with the usage and its cost if there was any judging."""
        if self.usages is None:
            return dict(self.content)
        used = [asdict(usage) | {"cost": usage.cost(prices)} for usage in self.usages]
        return {**self.content, "usage": used}


class Benchmark(Protocol):
    """Items with what people said of them; ``record`` is a line of a file of verdicts."""

    record: ClassVar[type[VerdictRecord]]

    @property
    def settings(self) -> MetaevalSettings:
        """What is judged, how judges given by name are asked, and how they are counted."""

    @property
    def kinds(self) -> Kinds:
        """The kinds of judges that can be named, beside functions."""

    @property
    def items(self) -> pd.DataFrame:
        """What is judged: columns that tell items apart, and ``truth`` where people said it."""

    def verdicts(self, judge: Judge) -> pd.DataFrame:
        """Let one judge judge every item: a row an item, see ``Evaluation``."""

    def report(self, evaluation: Evaluation) -> Report:
        """Report how right judges are."""


def evaluate_judges(
    benchmark: Benchmark, judges: Sequence[Judge | str], progress: Progress | None = None
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
            name is unknown, a run is of other items, or a judge does not return one verdict an
            item.
    """
    runs = [judge for judge in judges if isinstance(judge, str) and judge.startswith(RUN)]
    tables = [read_run(run.removeprefix(RUN), benchmark.record) for run in runs]
    for run, table in zip(runs, tables, strict=True):
        _check_run(run, table, benchmark.items)
    with JudgeFactory(benchmark.settings, progress) as factory:
        made: list[Judge] = []
        for judge in judges:
            if not isinstance(judge, str):
                made.append(judge)
            elif judge not in runs:
                made += make_judges(judge, benchmark.kinds, factory)
        known = [(judge.name, judge.prompt) for judge in made]
        known += [key for table in tables for key in judges_of(table)]
        if not known:
            raise UsageError("there is no judge; give at least one")
        repeated = sorted({pair for pair in known if known.count(pair) > 1})
        if repeated:
            raise UsageError(f"the judge {repeated[0][0]} is given twice; give each once")
        for judge in made:
            table = benchmark.verdicts(judge)
            table.insert(0, "judge", judge.name)
            table.insert(1, "prompt", judge.prompt)
            tables.append(table)
    usages = [usage for judge in made for usage in getattr(judge, "usages", ())]
    return Evaluation(pd.concat(tables, ignore_index=True), tuple(usages))


def _check_run(run: str, table: pd.DataFrame, items: pd.DataFrame) -> None:
    """Refuse verdicts on other items, before others are asked for theirs."""
    key = [str(name) for name in items if name != "truth"]
    joint = table.merge(items, on=key, suffixes=("", "_here"))
    if joint.empty:
        raise UsageError(f"{run} judges nothing of what is judged here; give the same data")
    if "truth" in items and (joint["truth"] != joint["truth_here"]).any():
        raise UsageError(f"{run} holds other human labels; compare on the same data")


def judge_items(judge: Judge, items: Sequence[Any], noun: str) -> list[Verdict]:
    """Return a judge's verdicts; a ``UsageError`` if they are not one an item."""
    verdicts = list(judge.judge(items))
    if len(verdicts) != len(items):
        raise UsageError(
            f"the judge {judge.name} returned {count_of(len(verdicts), 'verdict')} for "
            f"{len(items)} {noun}; return one for each"
        )
    return verdicts


def verdict_columns(verdicts: Sequence[Verdict]) -> dict[str, pd.Series]:
    """Return the columns ``value, failure, was_asked, detail``."""
    kinds = {"value": object, "failure": object, "was_asked": bool, "detail": object}
    rows = {name: [getattr(verdict, name) for verdict in verdicts] for name in kinds}
    return {name: pd.Series(rows[name], dtype=kind) for name, kind in kinds.items()}


def make_judges(spec: str, kinds: Kinds, factory: JudgeFactory) -> list[Judge]:
    """Make the judge that a text such as ``llm:MODEL`` names, or the judges.

    Raises:
        UsageError: If the text names no judge.
    """
    known = {**kinds, PYTHON: function_judge}
    name, _, model = spec.strip().partition(":")
    form = next((form for form in known if form.startswith(f"{name}:")), None)
    if form is None:
        raise UsageError(f"there is no judge {spec!r}; give one of {', '.join(known)}")
    if not model:
        raise UsageError(f"the judge {spec!r} names no model; write something like {form}")
    return known[form](model, factory)


def function_judge(path: str, factory: JudgeFactory) -> list[Judge]:  # noqa: ARG001
    """Make a judge of a function: ``MODULE:FUNCTION``."""
    try:
        function = resolve_name(path)
    except (ImportError, ValueError, AttributeError) as error:
        raise UsageError(f"python:{path} cannot be used: {error}; write {PYTHON}") from error
    if not callable(function):
        raise UsageError(f"python:{path} is not a function; write {PYTHON}")
    return [FunctionJudge(f"python:{path}", function)]


def metaevaluations(
    scores: Iterable[Mapping[Any, Any]], dataset: str, metric: str, languages: Iterable[object]
) -> list[MetaEvaluation]:
    """Sum up scores, rows with ``BY_JUDGE`` and ``VALUES``, for an arena's ``metaevaluation.json``.

    Those without a value or a standard error are left out.
    """
    return [
        MetaEvaluation(
            dataset=dataset,
            metric=metric,
            languages=[str(language) for language in languages],
            **{name: row[name] for name in (*BY_JUDGE, *VALUES[:-2])},
        )
        for row in scores
        if not (pd.isna(row["value"]) or pd.isna(row["standard_error"]))
    ]


def judges_of(table: pd.DataFrame) -> Mapping[tuple[str, str], pd.DataFrame]:
    """Return the rows of each judge of a table, by its name and prompt, in their order."""
    groups = table.groupby(BY_JUDGE, sort=False)
    return {(str(judge), str(prompt)): rows for (judge, prompt), rows in groups}


def judge_labels(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Name the judges of a table in their order; one with several prompts by its prompt, too."""
    known = list(judges_of(table))
    names = [judge for judge, _ in known]
    return {
        (judge, prompt): f"{judge}, {short_prompt(prompt)}" if names.count(judge) > 1 else judge
        for judge, prompt in known
    }


def short_prompt(prompt: object) -> str:
    """Show a prompt by what it leaves out, or the name of its first template."""
    name, *settings = [part for part in str(prompt).split("|") if not part.startswith(SENT)]
    if "@" in name and settings and settings[0]:
        return settings[0]
    return name.partition("@")[0]


def judges_table(
    scores: pd.DataFrame,
    part: str,
    title: str,
    notes: Sequence[str] = (),
    cell: Callable[[Mapping[Any, Any]], str] | None = None,
) -> ReportTable:
    """Show scores in percent with standard errors, a row a judge, a column a value of ``part``.

    Why values are missing is said after the notes; ``cell`` shows a row of the scores otherwise.
    """
    shown = cell or (lambda row: percent_with_error(row["value"], row["standard_error"]))
    table = wide_table(named(scores).assign(cell=list(map(shown, scores.to_dict("records")))), part)
    return ReportTable(title, table, [*notes, *no_value_notes(scores["reason"])])


def named(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the names of ``judge_labels`` as its judges."""
    names = judge_labels(table)
    keys = zip(table["judge"], table["prompt"], strict=True)
    return table.assign(judge=[names[str(judge), str(prompt)] for judge, prompt in keys])


def wide_table(cells: pd.DataFrame, column: str, row: str = "judge") -> pd.DataFrame:
    """Spread each ``cell`` over a row and a column, in their order; what is absent is a dash."""
    table = cells.pivot(index=row, columns=column, values="cell")
    table = table.reindex(index=cells[row].unique(), columns=cells[column].unique())
    return table.fillna(NO_VALUE).rename_axis(columns=None).reset_index()


def percent_with_error(value: float, standard_error: float = math.nan) -> str:
    """Show a share in percent with its standard error, as far as they are known."""
    if pd.isna(value):
        return NO_VALUE
    spread = "" if pd.isna(standard_error) else f" ± {100 * standard_error:.1f}"
    return f"{100 * value:.1f}{spread}"


def left_out_notes(
    scores: pd.DataFrame,
    verdicts: pd.DataFrame,
    items: str,
    value: str,
    part: str | None = None,
) -> list[str]:
    """Say how many items judges gave no value for, and how many they were not asked about.

    Args:
        scores: Rows with ``BY_JUDGE`` and ``VALUES``.
        verdicts: What they sum up, see ``Evaluation``: reasons are said of each judge.
        items: What the items are called.
        value: What a value is called.
        part: Column that is named beside the judge.
    """
    names = judge_labels(scores)
    notes = []
    for row in scores.to_dict(orient="records"):
        name = names[row["judge"], row["prompt"]] + (f", {row[part]}" if part else "")
        if row["failures"]:
            notes.append(f"{name}: {items} without a {value}, counted as errors: {row['failures']}")
        if row["not_asked"]:
            notes.append(f"{name}: {row['not_asked']} {items} got no answer: left out; run again")
    of_judges = judges_of(verdicts)
    for key, name in names.items():
        rows = of_judges[key] if key in of_judges else verdicts.head(0)
        if rows["failure"].notna().any():
            notes.append(f"{name}: {failure_reasons(rows)}")
    return notes


def failure_reasons(verdicts: pd.DataFrame) -> str:
    """Say how many verdicts are missing for each reason, with what was said about the first."""
    failed = verdicts[verdicts["failure"].notna()]
    parts = []
    for reason, rows in failed.groupby("failure", sort=False):
        details = rows["detail"].fillna("")
        said = next((str(detail) for detail in details if detail), "")
        parts.append(f"{len(rows)} {reason}" + (f" ({said})" if said else ""))
    return ", ".join(parts)


def no_value_notes(reasons: pd.Series) -> list[str]:
    """Say, once each, why values are missing."""
    return [f"No value: {reason}" for reason in reasons.dropna().drop_duplicates()]
