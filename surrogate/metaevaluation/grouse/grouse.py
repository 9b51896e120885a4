"""GroUSE as a benchmark of judges: unit tests of scores, prompts, the share of tests passed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
from pydantic import BaseModel, ConfigDict

from arena.data.errors import UsageError
from arena.data.rows import plain_records
from arena.data.wording import count_of
from arena.text.prompts import NO_TEMPLATES, Templates
from surrogate.board.judge.metaevaluations import MetaEvaluation
from surrogate.metaevaluation import evaluation as shared
from surrogate.metaevaluation.evaluation import (
    NO_VALUE,
    Evaluation,
    Kinds,
    Report,
    ReportTable,
    judge_labels,
    judges_of,
)
from surrogate.metaevaluation.grouse import judges, scores, unit_tests
from surrogate.metaevaluation.grouse.prompts import PROMPT_NAMES, GrousePrompts
from surrogate.metaevaluation.grouse.scores import SPEARMAN, TOTAL
from surrogate.metaevaluation.grouse.unit_tests import METRICS, Metric, UnitTest
from surrogate.metaevaluation.judges import Judge
from surrogate.metaevaluation.settings import DEFAULTS, MetaevalSettings

BUILTIN_DATASET = "grouse-builtin"
HEADINGS = ("relevancy", "complete", "useful", "faithful", "accepts", "rejects")

_TYPES = {"was_asked": bool, "was_called": bool}


class ScoreVerdict(BaseModel):
    """A line of a file of verdicts."""

    model_config = ConfigDict(strict=True, extra="ignore")

    judge: str
    prompt: str
    test_id: str
    language: str | None = None
    topic: str | None = None
    question: str
    test_type: str
    metric: Metric
    condition: str | None = None
    value: int | float | None = None
    null_reason: str | None = None
    failure: str | None = None
    was_asked: bool
    was_called: bool
    passed: bool | None = None
    is_reference: bool


@dataclass(frozen=True)
class Grouse:
    """Unit tests for judges of grounded answers.

    A judge is asked as the pipeline says, see ``score_answers``. Verdicts have six rows a test,
    one a metric, with the columns ``test_id``, ``language``, ``topic``, ``question``,
    ``test_type``, ``metric``, ``condition`` on the score, and ``value``, which is None where
    ``null_reason`` says why the metric is not defined, or ``failure`` why there is no score.
    ``passed`` is False where there is a failure, and None where the judge could not be reached or
    the test calls for no scores. ``was_called`` tells whether it took a call.

    Attributes:
        tests: The tests; those that come with this project if left out.
        settings: How LLMs given by name are asked, and who is the reference (table 4).
        templates: Files in the place of ``GROUSE_PROMPTS``, or of ``JOINT_PROMPT``.
        source: The tests' file; None for those of this project.
    """

    record: ClassVar[type[BaseModel]] = ScoreVerdict
    tests: Sequence[UnitTest] = field(default_factory=unit_tests.builtin_tests)
    settings: MetaevalSettings = DEFAULTS
    templates: Templates = NO_TEMPLATES
    source: Path | None = None

    @classmethod
    def read(
        cls, path: Path | None, settings: MetaevalSettings, templates: Templates = NO_TEMPLATES
    ) -> Grouse:
        """Read unit tests (this project's without a file) and choose from them by the settings.

        Raises:
            UsageError: If there is no such file, language or type.
            DataError: If the file is faulty.
        """
        if path is None:
            tests = unit_tests.builtin_tests(settings.languages)
        else:
            tests = unit_tests.read_unit_tests(path)
        types = [unit_tests.type_name(name) for name in settings.kinds]
        chosen = unit_tests.choose_tests(tests, settings.languages, types, settings.limit)
        return cls(chosen, settings, templates, path)

    @cached_property
    def prompts(self) -> list[GrousePrompts]:
        """How LLMs given by name are asked; with several, each is a judge of its own."""
        names = self.settings.prompts or PROMPT_NAMES[:1]
        return [GrousePrompts.named(name, self.settings.replies, self.templates) for name in names]

    @property
    def kinds(self) -> Kinds:
        """LLMs with each of the prompts, scores in files, and features."""
        return {
            "llm:MODEL": lambda model, make: [make.llm(prompts, model) for prompts in self.prompts],
            judges.LABELS_FORM: lambda spec, _: judges.read_labels(spec, self.tests),
            judges.FEATURE_FORM: lambda spec, make: [
                *judges.feature_judges(spec, make.options.models)
            ],
        }

    def verdicts(self, judge: Judge[judges.ScoringTask]) -> pd.DataFrame:
        """Let a judge score the answers of all tests, and check the scores."""
        if not self.tests:
            raise UsageError("there is no unit test; give one at least")
        if isinstance(judge, judges.FeatureJudge):
            file = self.settings.shares
            shares = judges.expected_shares(self.tests)
            if file is not None:
                shares = judges.read_shares(Path(file), self.tests)
            made = list(judge.rows(self.tests, shares))
            if not made:
                raise UsageError(
                    f"no test has an expected share of {judge.quality}; give some with `shares`"
                )
        else:
            scored = judges.score_answers([test.sample for test in self.tests], judge)
            made = [
                (test, row)
                for test, scored_by in zip(self.tests, scored, strict=True)
                for row in _checked(test, scored_by)
            ]
        rows = [
            {
                **{"test_id": test.test_id, "language": test.language, "topic": test.topic},
                **{"question": test.sample.question, "test_type": test.test_type},
                **row,
                "is_reference": judge.name == self.settings.reference,
            }
            for test, row in made
        ]
        names = [name for name in ScoreVerdict.model_fields if name not in ("judge", "prompt")]
        return pd.DataFrame(
            {
                name: pd.Series([row[name] for row in rows], dtype=_TYPES.get(name, object))
                for name in names
            }
        ).astype({"is_reference": bool})

    def report(self, evaluation: Evaluation) -> Report:
        """Report pass rates by metric, failure modes and types, and calibration.

        Pass rates are of tests that call for scores; where there is a reference, the other judges
        are compared with it. Without either, mean scores are shown.
        """
        verdicts = evaluation.verdicts
        checked = verdicts[verdicts["condition"].notna()]
        content: dict[str, Any] = {
            "source": None if self.source is None else str(self.source),
            "tests": len(self.tests),
            "scores": plain_records(verdicts),
        }
        tables: list[ReportTable] = []
        reference, others = self.settings.reference, verdicts[~verdicts["is_reference"]]
        if len(checked):
            found = {
                "pass_rates": scores.pass_rates(checked),
                "failure_modes": scores.failure_mode_rates(checked),
                "matrix": scores.type_matrix(checked),
                "calls": scores.call_counts(checked),
            }
            content |= {name: plain_records(table) for name, table in found.items()}
            tables += self._passed(checked, found)
        if reference is not None and len(others):
            trusted = scores.reference_scores(verdicts, reference)
            table = scores.calibration(others, trusted)
            content |= {
                "reference": reference,
                "calibration": plain_records(table),
                "confusion": plain_records(scores.confusion(others, trusted)),
            }
            tables += calibration_tables(table, reference)
        if not tables:
            means = scores.mean_scores(verdicts)
            content["means"] = plain_records(means)
            tables = [mean_table(means)]
        return Report(content, tables, self._entries(checked), evaluation.usages)

    def _passed(
        self, checked: pd.DataFrame, found: Mapping[str, pd.DataFrame]
    ) -> list[ReportTable]:
        matrices, names = judges_of(found["matrix"]), judge_labels(checked)
        source = "this project" if self.source is None else str(self.source)
        notes = [f"{count_of(checked['test_id'].nunique(), 'test')} of {source}"]
        of_tests = checked.drop_duplicates("test_id")["test_type"]
        unknown = of_tests[~of_tests.isin(unit_tests.TYPE_NAMES)]
        if len(unknown):
            listed = _counted(unknown)
            notes.append(f"Tests of other types than figure 4's are in no failure mode: {listed}")
        headings = dict(zip(METRICS, HEADINGS, strict=True))
        rates = found["pass_rates"].replace({"metric": headings})
        title = "Pass rate in percent, with standard errors"
        tables = [shared.judges_table(rates, "metric", title, notes)]
        tables += [mode_table(found["failure_modes"])] if len(found["failure_modes"]) else []
        calls = judges_of(found["calls"])
        for key, part in judges_of(checked).items():
            matrix = matrices.get(key, found["matrix"].head(0))
            said = [*_notes(names[key], key[1], calls[key], part)]
            tables.append(type_table(names[key], matrix, said))
        return tables

    def _entries(self, checked: pd.DataFrame) -> list[MetaEvaluation]:
        """Sum up total rates for an arena; tests in no known language are left out."""
        dataset = BUILTIN_DATASET if self.source is None else f"grouse:{self.source.stem}"
        rates = scores.pass_rates(checked)
        totals = judges_of(rates[rates["metric"] == TOTAL])
        entries = []
        for key, part in judges_of(checked).items():
            asked = part[part["was_asked"].astype(bool)]
            languages = asked["language"].dropna().unique()
            if len(languages):
                rows = totals[key].to_dict("records")
                entries += shared.metaevaluations(rows, dataset, "pass_rate", languages)
        return entries


def _checked(test: UnitTest, scored: Mapping[Metric, judges.Score]) -> Iterator[dict[str, Any]]:
    conditions = unit_tests.all_conditions(test.conditions)
    for metric in METRICS:
        score, condition = scored[metric], conditions.get(metric)
        passed = None
        if condition is not None and score.was_asked:
            passed = score.failure is None and condition.holds(score.value)
        named = {"metric": metric, "condition": None if condition is None else str(condition)}
        yield {**named, **asdict(score), "passed": passed}


def _notes(judge: str, prompt: str, calls: pd.DataFrame, checked: pd.DataFrame) -> Iterator[str]:
    asked = checked["was_asked"].astype(bool)
    made, saved = calls[["calls", "saved"]].iloc[0]
    yield f"{judge}: {made} scores asked for, {saved} that followed from others"
    if prompt:
        yield f"Prompts and settings: {prompt}"
    failed, absent = checked.loc[asked, "failure"].dropna(), checked.loc[~asked, "failure"]
    if len(failed):
        checks = f"{judge}: {len(failed)} checks without a score, counted as not passed"
        yield f"{checks}: {_counted(failed)}"
    if len(absent):
        checks = f"{judge}: {len(absent)} checks were not answered and are left out; run again"
        yield f"{checks}: {_counted(absent)}"


def _counted(reasons: pd.Series) -> str:
    return ", ".join(f"{count} {name}" for name, count in reasons.value_counts().items())


def mode_table(modes: pd.DataFrame) -> ReportTable:
    """Show how often failure modes are found, a column a judge (table 1, figure 4)."""
    of_judge = judges_of(modes).values()
    rows = [
        [mode.name, mode.meaning, mode.metric]
        + [_passed_of(known[known["failure_mode"] == mode.name]) for known in of_judge]
        for mode in unit_tests.FAILURE_MODES
        if mode.name in set(modes["failure_mode"])
    ]
    header = ["mode", "what is wrong", "found by", *judge_labels(modes).values()]
    return ReportTable("Failure modes found, of the tests that have them", header, rows)


def type_table(judge: str, matrix: pd.DataFrame, notes: Sequence[str]) -> ReportTable:
    """Show how many tests of each type a judge passes, metric by metric (figures 13 to 15)."""
    metrics = [name for name in METRICS if name in set(matrix["metric"])] or list(METRICS)
    rows: list[list[object]] = [
        [name]
        + [_passed_of(part[part["metric"] == metric]) for metric in metrics]
        + [_passed_of(part)]
        for name, part in matrix.groupby("test_type", sort=False)
    ]
    header = ["test type", *(HEADINGS[METRICS.index(name)] for name in metrics), TOTAL]
    return ReportTable(f"Tests passed by {judge}", header, rows, notes)


def _passed_of(part: pd.DataFrame) -> str:
    if part.empty:
        return NO_VALUE
    return f"{int(part['passed'].sum())}/{int(part['tests'].sum())}"


def calibration_tables(table: pd.DataFrame, reference: str) -> list[ReportTable]:
    """Show how judges' scores follow a reference's (tables 4 and 9), and are the same (table 5)."""
    followed: list[list[object]] = []
    same: list[list[object]] = []
    names = judge_labels(table)
    for key, of_judge in judges_of(table).items():
        exact = 100 * of_judge["exact"]
        followed.append([names[key], *map(_two_decimals, of_judge["value"])])
        same.append([names[key], *map(_two_decimals, [*exact, exact.mean(skipna=False)])])
    graded = table.loc[table["measure"] == SPEARMAN, "metric"].unique()
    left_out = table[["nulls_left_out", "failures_left_out"]].sum()
    notes = [
        f"Spearman's correlation for {' and '.join(graded)}, where both give a score; macro F1 of "
        "0, 1 and null for the others",
        f"Left out: {count_of(left_out.iloc[0], 'pair')} with a null, {left_out.iloc[1]} without a "
        "score",
        *shared.no_value_notes(table["reason"]),
    ]
    titles = (f"Calibration against {reference}", f"The same score as {reference}, in percent")
    return [
        ReportTable(titles[0], ["judge", *HEADINGS], followed, notes),
        ReportTable(titles[1], ["judge", *HEADINGS, TOTAL], same),
    ]


def mean_table(means: pd.DataFrame) -> ReportTable:
    """Show mean scores, a row a judge and metric."""
    names = judge_labels(means)
    rows = [
        [
            *(names[row["judge"], row["prompt"]], row["metric"], _two_decimals(row["value"])),
            *(row["answers"], row["nulls"], row["failures"]),
        ]
        for row in means.to_dict("records")
    ]
    header = ["judge", "metric", "mean score", "answers", "null", "without a score"]
    return ReportTable("Scores of answers", header, rows)


def _two_decimals(value: float) -> str:
    return NO_VALUE if pd.isna(value) else f"{value:.2f}"
