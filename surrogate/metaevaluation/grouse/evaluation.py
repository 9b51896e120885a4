"""GroUSE as a benchmark of judges: what they judge, and what there is to report of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.rows import plain_records
from surrogate.metaevaluation.grouse.judges import GrousePrompts, ScoringTask
from surrogate.metaevaluation.grouse.pass_rates import (
    RATE,
    TOTAL,
    call_counts,
    grouse_metaevaluations,
    pass_rates,
    type_matrix,
)
from surrogate.metaevaluation.grouse.pipeline import Score, score_answers
from surrogate.metaevaluation.grouse.reading import builtin_tests, read_unit_tests
from surrogate.metaevaluation.grouse.unit_tests import (
    ACCEPTANCES,
    METRICS,
    Acceptance,
    Metric,
    UnitTest,
    all_conditions,
    choose_tests,
    type_name,
)
from surrogate.metaevaluation.judges import Judge
from surrogate.metaevaluation.report import (
    NO_VALUE,
    Report,
    ReportTable,
    judges_of,
    no_value_notes,
    percent_with_error,
)
from surrogate.metaevaluation.runner import LEXICAL, PYTHON, Evaluation, JudgeKind

BUILTIN_DATASET = "grouse-builtin"

_HEADINGS = ("relevancy", "complete", "useful", "faithful", "accepts", "rejects")
_DEFINED_FOR: dict[Acceptance, str] = {
    "refusals": "answers that refuse, as in the paper",
    "answerable": "answerable questions; the paper's totals are by another rule",
}
_TYPES = {"was_asked": bool, "was_called": bool}


@dataclass(frozen=True)
class Grouse:
    """Unit tests for judges of grounded answers.

    A judge is asked as the pipeline says, see ``score_answers``. Verdicts have six rows a test,
    one a metric, with the columns ``test_id``, ``language``, ``topic``, ``question``,
    ``test_type``, ``metric``, ``condition`` on the score, and ``value``, which is None where
    ``null_reason`` says why the metric is not defined, or ``failure`` why there is no score.
    ``passed`` is False where there is a failure, and None where the judge could not be reached.
    ``was_called`` tells whether it took a call.

    Attributes:
        tests: The tests; those that come with this project if left out.
        source: Their file; None for those of this project.
        prompts: How LLMs given by name are asked.
        acceptance: Where positive acceptance is defined: for ``refusals``, as in figure 4 of the
            paper, or for ``answerable`` questions; see ``unit_tests.acceptance``.

    Raises:
        UsageError: For an unknown acceptance.
    """

    tests: Sequence[UnitTest] = field(default_factory=builtin_tests)
    source: Path | None = None
    prompts: GrousePrompts = field(default_factory=GrousePrompts)
    acceptance: Acceptance = "refusals"

    def __post_init__(self) -> None:
        checked_choice(self.acceptance, ACCEPTANCES, "acceptance")

    @classmethod
    def choose(
        cls,
        path: Path | None,
        languages: Sequence[str] = (),
        types: Sequence[str] = (),
        limit: int | None = None,
        prompts: GrousePrompts | None = None,
        acceptance: Acceptance = "refusals",
    ) -> Grouse:
        """Read unit tests and choose from them.

        Args:
            path: Their file; None for those of this project.
            languages: Language codes; all if there are none.
            types: Names or numbers of types; all if there are none.
            limit: Keep the first so many of each language and type.
            prompts: How LLMs given by name are asked.
            acceptance: Where positive acceptance is defined.

        Raises:
            UsageError: If there is no such file, language, type or acceptance.
            DataError: If the file is faulty.
        """
        tests = builtin_tests(languages) if path is None else read_unit_tests(path)
        chosen = choose_tests(tests, languages, [type_name(name) for name in types], limit)
        return cls(chosen, path, prompts or GrousePrompts(), acceptance)

    @property
    def kinds(self) -> Sequence[JudgeKind]:
        """LLMs, shared characters, and functions."""
        return (
            JudgeKind("llm:MODEL", lambda model, factory: factory.llm(self.prompts, model)),
            LEXICAL,
            PYTHON,
        )

    def verdicts(self, judge: Judge[ScoringTask]) -> pd.DataFrame:
        """Let a judge score the answers of all tests, and check the scores."""
        if not self.tests:
            raise UsageError("there is no unit test; give one at least")
        scored = score_answers([test.sample for test in self.tests], judge, self.acceptance)
        rows = [
            row
            for test, scores in zip(self.tests, scored, strict=True)
            for row in _test_rows(test, scores, self.acceptance)
        ]
        columns = {
            name: pd.Series([row[name] for row in rows], dtype=_TYPES.get(name, object))
            for name in rows[0]
        }
        return pd.DataFrame(columns)

    def report(self, evaluation: Evaluation) -> Report:
        """Report pass rates by metric and type, a table a judge."""
        scores = evaluation.verdicts
        rates, matrix, calls = pass_rates(scores), type_matrix(scores), call_counts(scores)
        content = {
            "source": None if self.source is None else str(self.source),
            "tests": len(self.tests),
            "acceptance": self.acceptance,
            "pass_rates": plain_records(rates),
            "matrix": plain_records(matrix),
            "calls": plain_records(calls),
            "scores": plain_records(scores),
        }
        source = "tests of this project" if self.source is None else f"tests of {self.source}"
        matrices, counts, verdicts = judges_of(matrix), judges_of(calls), judges_of(scores)
        tables = [
            _pass_table(
                key[0],
                matrices.get(key, matrix.head(0)),
                of_judge.set_index("metric"),
                [
                    f"{len(self.tests)} {source}",
                    f"Positive acceptance is defined for {_DEFINED_FOR[self.acceptance]}",
                    f"Prompts and settings: {key[1]}",
                    *_notes(key[0], counts[key].iloc[0], of_judge, verdicts[key]),
                ],
            )
            for key, of_judge in judges_of(rates).items()
        ]
        dataset = BUILTIN_DATASET if self.source is None else f"grouse:{self.source.stem}"
        metric = RATE if self.acceptance == "refusals" else f"{RATE}_{self.acceptance}"
        entries = grouse_metaevaluations(scores, dataset, metric)
        return Report(content, tables, entries, evaluation.usages)


def _test_rows(
    test: UnitTest, scores: Mapping[Metric, Score], acceptance: Acceptance
) -> Iterator[dict[str, Any]]:
    conditions = all_conditions(test.conditions, acceptance)
    for metric in METRICS:
        score, condition = scores[metric], conditions[metric]
        passed = score.failure is None and condition.holds(score.value)
        yield {
            "test_id": test.test_id,
            "language": test.language,
            "topic": test.topic,
            "question": test.sample.question,
            "test_type": test.test_type,
            "metric": metric,
            "condition": str(condition),
            "value": score.value,
            "null_reason": score.null_reason,
            "failure": score.failure,
            "was_asked": score.was_asked,
            "was_called": score.was_called,
            "passed": passed if score.was_asked else None,
        }


def _pass_table(
    judge: str, matrix: pd.DataFrame, rates: pd.DataFrame, notes: Sequence[str]
) -> ReportTable:
    rows: list[list[object]] = [
        [name, *(_share(part[part["metric"] == metric]) for metric in METRICS), _share(part)]
        for name, part in matrix.groupby("test_type", sort=False)
    ]
    shown = [rates.loc[name, ["pass_rate", "standard_error"]] for name in (*METRICS, TOTAL)]
    rows.append(["pass rate", *(percent_with_error(*rate) for rate in shown)])
    header = ["test type", *_HEADINGS, "total"]
    return ReportTable(f"Tests passed by {judge}", header, rows, notes)


def _share(part: pd.DataFrame) -> str:
    if part.empty:
        return NO_VALUE
    return f"{int(part['passed'].sum())}/{int(part['tests'].sum())}"


def _notes(judge: str, calls: pd.Series, rates: pd.DataFrame, scores: pd.DataFrame) -> list[str]:
    asked = scores["was_asked"].astype(bool)
    notes = [
        f"{judge}: {calls['calls']} scores asked for, {calls['saved']} that followed from others"
    ]
    failed, absent = scores.loc[asked, "failure"].dropna(), scores.loc[~asked, "failure"]
    if len(failed):
        notes.append(
            f"{judge}: {len(failed)} checks without a score, counted as not passed: "
            f"{_counted(failed)}"
        )
    if len(absent):
        notes.append(
            f"{judge}: {len(absent)} checks were not answered and are left out; run again: "
            f"{_counted(absent)}"
        )
    return notes + no_value_notes(rates["reason"])


def _counted(reasons: pd.Series) -> str:
    return ", ".join(f"{count} {name}" for name, count in reasons.value_counts().items())
