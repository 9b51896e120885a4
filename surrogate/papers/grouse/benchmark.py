"""GroUSE as a benchmark of judges: unit tests of scores, prompts, the share of tests passed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from arena.data.errors import UsageError
from arena.data.tables import plain_records
from arena.data.wording import count_of
from arena.text.prompts import NO_TEMPLATES, ReplaceablePrompt, Templates
from features.models.llm_scorer import Verdict
from surrogate.board.judge_report import MetaEvaluation
from surrogate.papers.evaluation import Evaluation, Kinds
from surrogate.papers.grouse import judges, scores, unit_tests
from surrogate.papers.grouse.judges import GrousePrompts
from surrogate.papers.grouse.metrics import METRICS
from surrogate.papers.grouse.scores import MEAN, SPEARMAN, TOTAL
from surrogate.papers.grouse.scoring_prompts import GROUSE_PROMPTS, JOINT_PROMPT, PROMPT_NAMES
from surrogate.papers.grouse.unit_tests import UnitTest
from surrogate.papers.judges import Judge
from surrogate.papers.records import VerdictRecord
from surrogate.papers.reports import (
    BY_JUDGE,
    NO_VALUE,
    Report,
    ReportTable,
    failure_reasons,
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
from surrogate.papers.settings import DEFAULTS, MetaevalSettings

BUILTIN_DATASET = "grouse-builtin"
_SHORT = ("relevancy", "complete", "useful", "faithful", "accepts", "rejects")
HEADINGS = dict(zip(METRICS, _SHORT, strict=True))

_TYPES = {"was_asked": bool, "is_reference": bool}


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
class Grouse:
    """Unit tests for judges of grounded answers.

    A judge is asked as the pipeline says, see ``score_answers``. Verdicts have six rows a test,
    one a metric, with the columns ``test_id``, ``language``, ``topic``, ``question``,
    ``test_type``, ``metric``, ``condition`` on the score, and ``value``, which is None where the
    metric is not defined, or ``failure`` says why there is no score. ``passed`` is False where
    there is a failure, and None where the judge could not be reached or the test calls for none.

    Attributes:
        tests: The tests; those that come with this project if left out.
        settings: How judges are asked, and who is the reference (table 4).
        templates: Files in the place of ``GROUSE_PROMPTS``, or of ``JOINT_PROMPT``.
        source: The tests' file; None for those of this project.
    """

    record: ClassVar[type[VerdictRecord]] = ScoreVerdict
    replaceable: ClassVar[Sequence[ReplaceablePrompt]] = (*GROUSE_PROMPTS.values(), JOINT_PROMPT)
    tests: Sequence[UnitTest] = field(default_factory=unit_tests.builtin_tests)
    settings: MetaevalSettings = DEFAULTS
    templates: Templates = NO_TEMPLATES
    source: Path | None = None

    @classmethod
    def read(
        cls, path: Path | None, settings: MetaevalSettings, templates: Templates = NO_TEMPLATES
    ) -> Grouse:
        """Read unit tests (this project's without a file), and choose from them by the settings.

        Raises:
            UsageError: If there is no such file or language.
            DataError: If the file is faulty.
        """
        if path is None:
            tests = unit_tests.builtin_tests(settings.languages, settings.training)
        else:
            tests = unit_tests.read_unit_tests(path, settings.columns)
        chosen = unit_tests.choose_tests(tests, settings.languages, settings.limit)
        return cls(chosen, settings, templates, path)

    @cached_property
    def prompts(self) -> list[GrousePrompts]:
        """How LLMs given by name are asked; with several, each is a judge of its own."""
        names = self.settings.prompts or PROMPT_NAMES[:1]
        return [GrousePrompts.named(name, self.settings.replies, self.templates) for name in names]

    @property
    def kinds(self) -> Kinds:
        """LLMs with each of the prompts, and scores in files."""
        return {
            "llm:MODEL": lambda model, make: [make.llm(prompts, model) for prompts in self.prompts],
            judges.LABELS_FORM: lambda spec, _: [
                judges.read_labels(spec, self.tests, self.shares is not None)
            ],
        }

    @cached_property
    def shares(self) -> judges.Shares | None:
        """What share of an answer's facts people found relevant, and faithful, if a file says."""
        file = self.settings.shares
        return None if file is None else judges.read_shares(Path(file), self.tests)

    @property
    def items(self) -> pd.DataFrame:
        """The tests."""
        return pd.DataFrame({"test_id": [test.test_id for test in self.tests]})

    def verdicts(self, judge: Judge) -> pd.DataFrame:
        """Let a judge score the answers of all tests, and check the scores."""
        if not self.tests:
            raise UsageError("there is no unit test; give at least one")
        if self.shares is not None:
            if not isinstance(judge, judges.LabelsJudge):
                raise UsageError(f"{judge.name} gives no shares; name a file: labels:FILE")
            made = list(judges.near_shares(judge, self.tests, self.shares))
        else:
            scored = judges.scores_of_judge([test.sample for test in self.tests], judge)
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
        names = [name for name in ScoreVerdict.model_fields if name not in BY_JUDGE]
        return pd.DataFrame(rows, columns=names, dtype=object).astype(_TYPES)

    def report(self, evaluation: Evaluation) -> Report:
        """Report pass rates by metric, failure modes and types, or means; and calibration.

        Pass rates are of tests that call for scores, means of answers that do not; where there is
        a reference, the other judges are compared with it.
        """
        verdicts = evaluation.verdicts
        checked = verdicts[verdicts["condition"].notna()]
        content: dict[str, Any] = {
            "source": None if self.source is None else str(self.source),
            "tests": len(self.tests),
            "scores": plain_records(verdicts),
        }
        tables: list[ReportTable] = []
        reference, judged = self.settings.reference, verdicts[~verdicts["is_reference"]]
        if len(checked):
            results = {
                "pass_rates": scores.pass_rates(checked),
                "failure_modes": scores.failure_mode_rates(checked),
                "matrix": scores.type_matrix(checked),
            }
            content |= {name: plain_records(table) for name, table in results.items()}
            tables += self._passed(checked, results)
        else:
            means = scores.mean_scores(verdicts)
            content["means"] = plain_records(means)
            tables.append(means_table(means, verdicts, len(self.tests)))
        if reference is not None and len(judged):
            trusted = scores.reference_scores(verdicts, reference)
            table = scores.calibration(judged, trusted)
            content |= {
                "reference": reference,
                "calibration": plain_records(table),
                "confusion": plain_records(scores.confusion(judged, trusted)),
            }
            tables += calibration_tables(table, reference)
        return Report(content, tables, self._entries(checked), evaluation.usages)

    def _passed(
        self, checked: pd.DataFrame, results: Mapping[str, pd.DataFrame]
    ) -> list[ReportTable]:
        matrices, names = judges_of(results["matrix"]), judge_labels(checked)
        source = "this project" if self.source is None else str(self.source)
        notes = [f"{count_of(checked['test_id'].nunique(), 'test')} of {source}"]
        of_tests = checked.drop_duplicates("test_id")["test_type"]
        unknown = of_tests[~of_tests.isin(unit_tests.TYPE_NAMES)]
        if len(unknown):
            listed = ", ".join(f"{count} {name}" for name, count in unknown.value_counts().items())
            notes.append(f"Tests of other types than figure 4's are in no failure mode: {listed}")
        rates = results["pass_rates"].replace({"metric": HEADINGS})
        totals = rates[rates["metric"] == TOTAL]
        notes += left_out_notes(totals, checked, "checks", "score")
        title = "Pass rate in percent, with standard errors"
        tables = [judges_table(rates, "metric", title, notes)]
        tables += [mode_table(results["failure_modes"])] if len(results["failure_modes"]) else []
        for key in judges_of(checked):
            matrix = matrices.get(key, results["matrix"].head(0))
            notes_of_judge = [f"Prompts and settings: {key[1]}"] if key[1] else []
            tables.append(type_table(names[key], matrix, notes_of_judge))
        return tables

    def _entries(self, checked: pd.DataFrame) -> list[MetaEvaluation]:
        """Sum up total rates for an arena; tests in no known language are left out."""
        dataset_name = f"{BUILTIN_DATASET}{'-training' * self.settings.training}"
        dataset = dataset_name if self.source is None else f"grouse:{self.source.stem}"
        rates = scores.pass_rates(checked)
        totals = judges_of(rates[rates["metric"] == TOTAL])
        entries = []
        for key, part in judges_of(checked).items():
            scored = part[part["was_asked"].astype(bool)]
            languages = scored["language"].dropna().unique()
            if len(languages):
                rows = totals[key].to_dict("records")
                entries += metaevaluations(rows, dataset, "pass_rate", languages)
        return entries


def _checked(test: UnitTest, scored: Mapping[str, Verdict]) -> Iterator[dict[str, Any]]:
    conditions = unit_tests.all_conditions(test.conditions)
    for metric in METRICS:
        score, condition = scored[metric], conditions.get(metric)
        passed = None
        if condition is not None and score.was_asked:
            passed = score.failure is None and condition.holds(score.value)  # type: ignore[arg-type]
        named = {"metric": metric, "condition": None if condition is None else str(condition)}
        yield {**named, **asdict(score), "passed": passed}


def means_table(means: pd.DataFrame, verdicts: pd.DataFrame, answers: int) -> ReportTable:
    """Show the means of judges' scores, and of how many answers (section 4.4)."""
    is_mean = means["metric"] == MEAN
    of_answers = (" (" + means["answers"].astype(str) + ")").where(~is_mean, "")
    cells = named(means).assign(cell=means["value"].map(_two_decimals) + of_answers)
    totals = cells[is_mean]
    shares = [percent_with_error(share) for share in totals["readable"]]
    cells = pd.concat([cells, totals.assign(metric="readable, %", cell=shares)])
    notes = [
        "Relevancy and completeness from 1 to 5, the others 0 or 1; in parentheses the answers "
        "that the metric is defined for"
    ]
    for row in cells[cells["metric"].isin(METRICS) & (cells["readable"] < 1)].to_dict("records"):
        share = percent_with_error(row["readable"])
        notes.append(f"{row['judge']}: {share} % of {row['metric']} could be read")
    notes += [
        f"{row['judge']}: {row['not_asked']} scores got no answer: left out; run again"
        for row in totals.to_dict("records")
        if row["not_asked"]
    ]
    names = judge_labels(means)
    for key, rows in judges_of(verdicts).items():
        if rows["failure"].notna().any():
            notes.append(f"{names[key]}: {failure_reasons(rows)}")
    table = wide_table(cells, "metric").rename(columns=HEADINGS)
    return ReportTable(f"Scores of {count_of(answers, 'answer')}, on average", table, notes)


def mode_table(modes: pd.DataFrame) -> ReportTable:
    """Show how often failure modes are found, one column per judge (table 1, figure 4)."""
    table = wide_table(_passed_of(named(modes)), "judge", "failure_mode")
    modes_by_name = {mode.name: mode for mode in unit_tests.FAILURE_MODES}
    table.insert(
        1, "what is wrong", [modes_by_name[name].meaning for name in table["failure_mode"]]
    )
    table.insert(2, "found by", [modes_by_name[name].metric for name in table["failure_mode"]])
    return ReportTable("Failure modes found, of the tests that have them", table)


def type_table(judge: str, matrix: pd.DataFrame, notes: Sequence[str]) -> ReportTable:
    """Show how many tests of each type a judge passes, metric by metric (figures 13 to 15)."""
    totals = matrix.groupby("test_type", sort=False)[["passed", "tests"]].sum().reset_index()
    cells = _passed_of(pd.concat([matrix, totals.assign(metric=TOTAL)]))
    table = wide_table(cells, "metric", "test_type").rename(columns=HEADINGS)
    return ReportTable(f"Tests passed by {judge}", table, notes)


def _passed_of(counts: pd.DataFrame) -> pd.DataFrame:
    return counts.assign(cell=counts["passed"].astype(str) + "/" + counts["tests"].astype(str))


def calibration_tables(table: pd.DataFrame, reference: str) -> list[ReportTable]:
    """Show how judges' scores follow a reference's (tables 4 and 9), and are the same (table 5)."""
    judged = named(table)
    followed = judged.assign(cell=judged["value"].map(_two_decimals))
    means = judged.groupby("judge", sort=False)["exact"].mean(skipna=False).reset_index()
    same = pd.concat([judged, means.assign(metric=TOTAL)])
    same = same.assign(cell=(100 * same["exact"]).map(_two_decimals))
    graded = table.loc[table["measure"] == SPEARMAN, "metric"].unique()
    left_out = table[["nulls_left_out", "failures_left_out"]].sum()
    notes = [
        f"Spearman's correlation for {' and '.join(graded)}, where both give a score; macro F1 of "
        "0, 1 and null for the others",
        f"Left out: {count_of(left_out.iloc[0], 'pair')} with a null, {left_out.iloc[1]} without a "
        "score",
        *no_value_notes(table["reason"]),
    ]
    titles = (f"Calibration against {reference}", f"The same score as {reference}, in percent")
    tables = [wide_table(cells, "metric").rename(columns=HEADINGS) for cells in (followed, same)]
    return [ReportTable(titles[0], tables[0], notes), ReportTable(titles[1], tables[1])]


def _two_decimals(value: float) -> str:
    return NO_VALUE if pd.isna(value) else f"{value:.2f}"
