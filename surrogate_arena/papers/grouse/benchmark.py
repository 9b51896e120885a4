"""GroUSE as a benchmark of judges: unit tests of scores, prompts, the share of tests passed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.errors import UsageError
from arena.data.tables import plain_records
from arena.data.wording import count_of
from arena.llm.prompts import NO_TEMPLATES, Templates
from arena.quality.judge_report import MetaEvaluation
from surrogate_arena.papers.evaluation import Benchmark, Evaluation, Kinds, llms_with
from surrogate_arena.papers.grouse import judges, scores, unit_tests
from surrogate_arena.papers.grouse.joint_prompts import JOINT_PROMPT, PROMPT_NAMES, prompts_named
from surrogate_arena.papers.grouse.metrics import JUDGED_METRICS, METRICS
from surrogate_arena.papers.grouse.scores import MEAN, TOTAL
from surrogate_arena.papers.grouse.scoring_prompts import (
    GROUSE_PROMPTS,
    GrousePrompts,
    ScoringTask,
)
from surrogate_arena.papers.grouse.unit_tests import UnitTest
from surrogate_arena.papers.judges import Judge
from surrogate_arena.papers.records import VerdictRecord
from surrogate_arena.papers.reports import (
    BY_JUDGE,
    NO_VALUE,
    Report,
    failure_notes,
    interval_cell,
    judge_labels,
    judges_of,
    judges_table,
    left_out_notes,
    metaevaluations,
    named,
    no_value_notes,
    percent_with_error,
    wide_table,
)
from surrogate_arena.papers.settings import MetaevalSettings
from surrogate_arena.papers.verdict import Verdict
from surrogate_arena.studies.study_table import StudyTable

BUILTIN_DATASET = "grouse-builtin"
_SHORT = ("relevancy", "complete", "useful", "faithful", "accepts", "rejects")
HEADINGS = dict(zip(METRICS, _SHORT, strict=True))


class ScoreVerdict(VerdictRecord):
    """A line of a file of verdicts."""

    test_id: str
    language: str | None = None
    topic: str | None = None
    question: str
    test_type: str
    metric: str
    condition: str | None = None
    value: int | float | None = None
    passed: bool | None = None
    is_reference: bool


@dataclass(frozen=True)
class Grouse(Benchmark):
    """Unit tests for judges of grounded answers.

    Verdicts have six rows a test, one a metric (``score_answers``). ``value`` is None if the metric
    is not defined, or for a ``failure``; ``passed`` is False after a failure, and None if the judge
    could not be reached or the test calls for no score. ``source`` is the tests' file, None for
    this project's.
    """

    record = ScoreVerdict
    key = ("test_id",)
    replaceable = (*GROUSE_PROMPTS.values(), JOINT_PROMPT)
    tests: Sequence[UnitTest] = field(default_factory=unit_tests.builtin_tests)
    source: Path | None = None

    @classmethod
    def read(
        cls, path: Path | None, settings: MetaevalSettings, templates: Templates = NO_TEMPLATES
    ) -> Grouse:
        """Read unit tests (this project's without a file), and choose from them by the settings."""
        if path is None:
            tests = unit_tests.builtin_tests(settings.languages, settings.training)
        else:
            tests = unit_tests.read_unit_tests(path)
        chosen = unit_tests.choose_tests(tests, settings.languages, settings.limit)
        return cls(chosen, path, settings=settings, templates=templates)

    @cached_property
    def prompts(self) -> list[GrousePrompts]:
        """Prompts for LLMs given by name, each a judge of its own."""
        names = self.settings.prompts or PROMPT_NAMES[:1]
        return [prompts_named(name, self.settings.replies, self.templates) for name in names]

    @property
    def kinds(self) -> Kinds:
        """LLMs with each of the prompts, and scores in files."""
        return {
            "llm:MODEL": llms_with(*self.prompts),
            judges.LABELS_FORM: lambda spec, _: [
                judges.read_labels(spec, self.tests, self.shares is not None)
            ],
        }

    @property
    def reference_judges(self) -> tuple[str, ...]:
        """The judge whose scores the others' are compared with, if any."""
        return (self.settings.reference,) if self.settings.reference else ()

    @cached_property
    def shares(self) -> judges.Shares | None:
        """Shares of an answer's facts that people found relevant, and faithful; None if unknown."""
        file = self.settings.shares
        return None if file is None else judges.read_shares(Path(file), self.tests)

    @property
    def items(self) -> pd.DataFrame:
        """The tests."""
        return pd.DataFrame({"test_id": [test.test_id for test in self.tests]})

    @cached_property
    def tasks(self) -> list[ScoringTask]:
        """Tasks of a judge: each answer by four metrics, on which the last two depend."""
        return [
            ScoringTask(metric, test.sample) for metric in JUDGED_METRICS for test in self.tests
        ]

    def verdicts(self, judge: Judge) -> pd.DataFrame:
        """Let a judge score the answers of all tests, and check the scores."""
        if not self.tests:
            raise UsageError("there is no unit test; give at least one")
        if self.shares is not None:
            if not isinstance(judge, judges.LabelsJudge):
                raise UsageError(f"{judge.name} gives no shares; name a file: labels:FILE")
            checks = list(judges.near_shares(judge, self.tests, self.shares))
        else:
            scores_by_test = judges.scores_of_judge([test.sample for test in self.tests], judge)
            checks = []
            for test, test_scores in zip(self.tests, scores_by_test, strict=True):
                checks += [(test, check) for check in _checks(test, test_scores)]
        rows = []
        for test, check in checks:
            row = {
                "test_id": test.test_id,
                "language": test.language,
                "topic": test.topic,
                "question": test.sample.question,
                "test_type": test.test_type,
                "is_reference": judge.name == self.settings.reference,
                **check,
            }
            rows.append(row)
        names = [name for name in ScoreVerdict.model_fields if name not in BY_JUDGE]
        table = pd.DataFrame(rows, columns=names, dtype=object)
        return table.astype({"was_asked": bool, "is_reference": bool})

    def report(self, evaluation: Evaluation) -> Report:
        """Report pass rates by metric, failure modes and types, or means; and calibration.

        Pass rates are of tests that call for scores, means of answers that do not.
        """
        verdicts = evaluation.verdicts
        checked = verdicts[verdicts["condition"].notna()]
        results = {"scores": verdicts}
        tables = []
        if len(checked):
            results["pass_rates"] = scores.pass_rates(checked)
            results["failure_modes"] = scores.failure_mode_rates(checked)
            results["matrix"] = scores.type_matrix(checked)
            tables.append(self._pass_table(results["pass_rates"], checked))
            if len(results["failure_modes"]):
                tables.append(_mode_table(results["failure_modes"]))
            tables.append(_type_table(results["matrix"]))
        else:
            results["means"] = scores.mean_scores(verdicts)
            tables.append(_means_table(results["means"], verdicts))
        reference = self.settings.reference
        judged = verdicts[~verdicts["is_reference"]]
        content: dict[str, Any] = {
            "source": self.source and str(self.source),
            "tests": len(self.tests),
        }
        if reference is not None and len(judged):
            trusted = scores.reference_scores(verdicts, reference)
            content["reference"] = reference
            results["calibration"] = scores.calibration(judged, trusted)
            results["confusion"] = scores.confusion(judged, trusted)
            tables += _calibration_tables(results["calibration"], reference)
        content |= {name: plain_records(table) for name, table in results.items()}
        return Report(content, tables, self._entries(checked), evaluation.usages)

    def _pass_table(self, rates: pd.DataFrame, checked: pd.DataFrame) -> StudyTable:
        source = self.source or "this project"
        tests = checked.drop_duplicates("test_id")
        notes = [f"{count_of(len(tests), 'test')} of {source}"]
        unknown = tests.loc[~tests["test_type"].isin(unit_tests.TYPE_NAMES), "test_type"]
        if len(unknown):
            counts = ", ".join(f"{count} {name}" for name, count in unknown.value_counts().items())
            notes.append(f"Tests of other types than figure 4's are in no failure mode: {counts}")
        notes += left_out_notes(rates[rates["metric"] == TOTAL], checked, "checks", "score")
        notes += [f"Prompts and settings: {name}" for name in rates["prompt"].unique() if name]
        title = "Pass rate in percent, with 95% intervals over topics"
        named_rates = rates.replace({"metric": HEADINGS})
        return judges_table(named_rates, "metric", title, notes, interval_cell)

    def _entries(self, checked: pd.DataFrame) -> list[MetaEvaluation]:
        # Tests in no known language are left out.
        dataset = BUILTIN_DATASET
        if self.source is not None:
            dataset = f"grouse:{self.source.stem}"
        elif self.settings.training:
            dataset = f"{BUILTIN_DATASET}-training"
        entries = []
        for part in judges_of(checked).values():
            scored = part[part["was_asked"].astype(bool)]
            languages = scored["language"].dropna().unique()
            if len(languages):
                rows = scores.pass_rates(part).tail(1).to_dict("records")
                entries += metaevaluations(rows, dataset, "pass_rate", languages)
        return entries


def _checks(test: UnitTest, metric_scores: Mapping[str, Verdict]) -> Iterator[dict[str, Any]]:
    conditions = unit_tests.all_conditions(test.conditions)
    for metric in METRICS:
        score = metric_scores[metric]
        row = {"metric": metric, "condition": None, "passed": None, **asdict(score)}
        condition = conditions.get(metric)
        if condition is not None:
            row["condition"] = str(condition)
            # A failed judgment passes no test; one that was not asked for says nothing.
            if score.was_asked:
                row["passed"] = score.failure is None and condition.holds(score.value)  # type: ignore[arg-type]
        yield row


def _means_table(means: pd.DataFrame, verdicts: pd.DataFrame) -> StudyTable:
    is_mean = means["metric"] == MEAN
    # The mean over metrics is of different answers for each metric.
    n_answers = (" (" + means["answers"].astype(str) + ")").where(~is_mean, "")
    cells = named(means).assign(cell=means["value"].map(_two_decimals) + n_answers)
    totals = cells[is_mean]
    shares = totals.assign(metric="readable, %", cell=totals["readable"].map(percent_with_error))
    notes = ["In parentheses the answers that the metric is defined for"]
    for row in totals[totals["not_asked"] > 0].to_dict("records"):
        notes.append(f"{row['judge']}: {row['not_asked']} scores missing: left out")
    notes += failure_notes(verdicts, judge_labels(means))
    title = f"Scores of {count_of(verdicts['test_id'].nunique(), 'answer')}, on average"
    return StudyTable(_by_metric(pd.concat([cells, shares])), title=title, notes=notes)


def _mode_table(modes: pd.DataFrame) -> StudyTable:
    cells = _passed_of(named(modes)).rename(columns={"metric": "found by"})
    table = wide_table(cells, "judge", "failure_mode", "meaning", "found by")
    return StudyTable(table, title="Failure modes found, of the tests that have them")


def _type_table(matrix: pd.DataFrame) -> StudyTable:
    by_type = [*BY_JUDGE, "test_type"]
    totals = matrix.groupby(by_type, sort=False)[["passed", "tests"]].sum().reset_index()
    cells = _passed_of(named(pd.concat([matrix, totals.assign(metric=TOTAL)])))
    return StudyTable(_by_metric(cells, "judge", "test_type"), title="Tests passed, by type")


def _calibration_tables(table: pd.DataFrame, reference: str) -> list[StudyTable]:
    judged = named(table)
    agreement = judged.assign(cell=judged["value"].map(_two_decimals))
    # Table 5's last column is over all metrics: it has no value where one of them has none.
    means = judged.groupby("judge", sort=False)["exact"].mean(skipna=False).reset_index()
    exact = pd.concat([judged, means.assign(metric=TOTAL)])
    exact = exact.assign(cell=(100 * exact["exact"]).map(_two_decimals))
    left_out = table[["nulls_left_out", "failures_left_out"]].sum()
    notes = [
        "Spearman's correlation of relevancy and completeness; macro F1 of 0, 1 and null of others",
        f"Left out: {left_out.iloc[0]} pairs with a null, {left_out.iloc[1]} without a score",
        *no_value_notes(table["reason"]),
    ]
    return [
        StudyTable(_by_metric(agreement), title=f"Calibration against {reference}", notes=notes),
        StudyTable(_by_metric(exact), title=f"The same score as {reference}, in percent"),
    ]


def _passed_of(counts: pd.DataFrame) -> pd.DataFrame:
    return counts.assign(cell=counts["passed"].astype(str) + "/" + counts["tests"].astype(str))


def _by_metric(cells: pd.DataFrame, *rows: str) -> pd.DataFrame:
    return wide_table(cells, "metric", *rows).rename(columns=HEADINGS)


def _two_decimals(value: float) -> str:
    if pd.isna(value):
        return NO_VALUE
    return f"{value:.2f}"
