"""GroUSE as a benchmark of judges: what they judge, and what there is to report of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.rows import plain_records
from surrogate.metaevaluation.grouse.calibration import (
    calibration,
    confusion,
    reference_scores,
)
from surrogate.metaevaluation.grouse.judges import GrousePrompts, ScoringTask
from surrogate.metaevaluation.grouse.pass_rates import (
    RATE,
    call_counts,
    failure_mode_rates,
    grouse_metaevaluations,
    pass_rates,
    type_matrix,
)
from surrogate.metaevaluation.grouse.pipeline import Score, score_answers
from surrogate.metaevaluation.grouse.reading import builtin_tests, read_unit_tests
from surrogate.metaevaluation.grouse.score_files import FORM, read_labels
from surrogate.metaevaluation.grouse.tables import (
    calibration_tables,
    judge_names,
    mode_table,
    rate_table,
    type_table,
)
from surrogate.metaevaluation.grouse.unit_tests import (
    ACCEPTANCES,
    METRICS,
    TYPE_NAMES,
    Acceptance,
    Condition,
    Metric,
    UnitTest,
    all_conditions,
    choose_tests,
    type_name,
)
from surrogate.metaevaluation.judges import Judge
from surrogate.metaevaluation.report import Report, ReportTable, judges_of
from surrogate.metaevaluation.runner import LEXICAL, PYTHON, Evaluation, JudgeKind

BUILTIN_DATASET = "grouse-builtin"

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
    ``passed`` is False where there is a failure, and None where the judge could not be reached or
    the test calls for no scores.
    ``was_called`` tells whether it took a call.

    Attributes:
        tests: The tests; those that come with this project if left out.
        source: Their file; None for those of this project.
        prompts: How LLMs given by name are asked; with several, each is a judge of its own.
        acceptance: Where positive acceptance is defined: for ``refusals``, as in figure 4 of the
            paper, or for ``answerable`` questions; see ``unit_tests.acceptance``.
        reference: Name of the judge whose scores others are compared with (table 4), if any.

    Raises:
        UsageError: For an unknown acceptance.
    """

    tests: Sequence[UnitTest] = field(default_factory=builtin_tests)
    source: Path | None = None
    prompts: Sequence[GrousePrompts] = (GrousePrompts(),)
    acceptance: Acceptance = "refusals"
    reference: str | None = None

    def __post_init__(self) -> None:
        checked_choice(self.acceptance, ACCEPTANCES, "acceptance")

    @classmethod
    def choose(
        cls,
        path: Path | None,
        languages: Sequence[str] = (),
        types: Sequence[str] = (),
        limit: int | None = None,
        prompts: Sequence[GrousePrompts] = (GrousePrompts(),),
        acceptance: Acceptance = "refusals",
        reference: str | None = None,
    ) -> Grouse:
        """Read unit tests and choose from them.

        Args:
            path: Their file; None for those of this project.
            languages: Language codes; all if there are none.
            types: Names or numbers of types; all if there are none.
            limit: Keep the first so many of each language and type.
            prompts: How LLMs given by name are asked.
            acceptance: Where positive acceptance is defined.
            reference: Name of the judge whose scores others are compared with.

        Raises:
            UsageError: If there is no such file, language, type or acceptance.
            DataError: If the file is faulty.
        """
        tests = builtin_tests(languages) if path is None else read_unit_tests(path)
        chosen = choose_tests(tests, languages, [type_name(name) for name in types], limit)
        return cls(chosen, path, prompts, acceptance, reference)

    @property
    def kinds(self) -> Sequence[JudgeKind]:
        """LLMs, scores in files, shared characters, and functions."""
        return (
            JudgeKind(
                "llm:MODEL",
                lambda model, make: [make.llm(prompts, model) for prompts in self.prompts],
            ),
            JudgeKind(FORM, lambda spec, _: read_labels(spec, self.tests)),
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
        return pd.DataFrame(columns).assign(is_reference=judge.name == self.reference)

    def report(self, evaluation: Evaluation) -> Report:
        """Report pass rates by metric, failure modes and types, and calibration.

        Pass rates are of tests that call for scores; where there is a reference, the other judges
        are compared with it.
        """
        scores = evaluation.verdicts
        checked = scores[scores["condition"].notna()]
        content: dict[str, Any] = {
            "source": None if self.source is None else str(self.source),
            "tests": len(self.tests),
            "acceptance": self.acceptance,
            "scores": plain_records(scores),
        }
        tables: list[ReportTable] = []
        for part, shown in (self._passed(checked), self._calibrated(scores)):
            content |= part
            tables += shown
        if not tables:
            raise UsageError(
                "the tests call for no scores, so there is nothing to pass; name a --reference"
            )
        dataset = BUILTIN_DATASET if self.source is None else f"grouse:{self.source.stem}"
        metric = RATE if self.acceptance == "refusals" else f"{RATE}_{self.acceptance}"
        entries = grouse_metaevaluations(checked, dataset, metric)
        return Report(content, tables, entries, evaluation.usages)

    def _passed(self, scores: pd.DataFrame) -> tuple[dict[str, Any], list[ReportTable]]:
        if scores.empty:
            return {}, []
        rates, matrix, calls = pass_rates(scores), type_matrix(scores), call_counts(scores)
        modes = failure_mode_rates(scores)
        content = {
            "pass_rates": plain_records(rates),
            "failure_modes": plain_records(modes),
            "matrix": plain_records(matrix),
            "calls": plain_records(calls),
        }
        source = "tests of this project" if self.source is None else f"tests of {self.source}"
        matrices, counts = judges_of(matrix), judges_of(calls)
        notes = [
            f"{scores['test_id'].nunique()} {source}",
            f"Positive acceptance is defined for {_DEFINED_FOR[self.acceptance]}",
            *_unknown_types(scores),
        ]
        names = judge_names(scores)
        of_types = [
            type_table(
                names[key],
                matrices.get(key, matrix.head(0)),
                _notes(names[key], key[1], counts[key], part),
            )
            for key, part in judges_of(scores).items()
        ]
        modes_shown = [] if modes.empty else [mode_table(modes)]
        return content, [rate_table(rates, notes), *modes_shown, *of_types]

    def _calibrated(self, scores: pd.DataFrame) -> tuple[dict[str, Any], list[ReportTable]]:
        others = scores[~scores["is_reference"]]
        if self.reference is None or others.empty:
            return {}, []
        human = reference_scores(scores, self.reference)
        table = calibration(others, human)
        content = {
            "reference": self.reference,
            "calibration": plain_records(table),
            "confusion": plain_records(confusion(others, human)),
        }
        return content, calibration_tables(table, self.reference)


def _test_rows(
    test: UnitTest, scores: Mapping[Metric, Score], acceptance: Acceptance
) -> Iterator[dict[str, Any]]:
    conditions = all_conditions(test.conditions, acceptance)
    for metric in METRICS:
        score, condition = scores[metric], conditions.get(metric)
        is_checked = condition is not None and score.was_asked
        yield {
            "test_id": test.test_id,
            "language": test.language,
            "topic": test.topic,
            "question": test.sample.question,
            "test_type": test.test_type,
            "metric": metric,
            "condition": None if condition is None else str(condition),
            "value": score.value,
            "null_reason": score.null_reason,
            "failure": score.failure,
            "was_asked": score.was_asked,
            "was_called": score.was_called,
            "passed": _passes(condition, score) if is_checked else None,
        }


def _passes(condition: Condition | None, score: Score) -> bool:
    return condition is not None and score.failure is None and condition.holds(score.value)


def _notes(judge: str, prompt: str, calls: pd.DataFrame, scores: pd.DataFrame) -> list[str]:
    asked = scores["was_asked"].astype(bool)
    made, saved = calls[["calls", "saved"]].iloc[0]
    notes = [f"{judge}: {made} scores asked for, {saved} that followed from others"]
    if prompt:
        notes.append(f"Prompts and settings: {prompt}")
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
    return notes


def _unknown_types(scores: pd.DataFrame) -> list[str]:
    """Say which types are none of figure 4's: no failure mode counts their tests."""
    of_tests = scores.drop_duplicates("test_id")["test_type"]
    unknown = of_tests[~of_tests.isin(TYPE_NAMES)]
    if unknown.empty:
        return []
    return [f"Tests of other types than figure 4's are in no failure mode: {_counted(unknown)}"]


def _counted(reasons: pd.Series) -> str:
    return ", ".join(f"{count} {name}" for name, count in reasons.value_counts().items())
