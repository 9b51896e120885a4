"""What judges of GroUSE are asked, and those besides LLMs: labels in files, features.

The pipeline of figure 5 says which metric a judge is asked for, and which scores follow without a
call. Features are put to the tests by a share near the one that people found (section 4.3): there
faithfulness and answer relevancy are what Ragas calls so, shares of an answer's facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict

from arena.data.arena import Arena
from arena.data.errors import Problem, UsageError
from features import Feature, ModelOptions, extract, parse_features
from surrogate.metaevaluation.evaluation import judge_items
from surrogate.metaevaluation.grouse.unit_tests import (
    DERIVED_METRICS,
    JUDGED_METRICS,
    METRICS,
    SCALES,
    AnswerSample,
    UnitTest,
    acceptance,
)
from surrogate.metaevaluation.judges import FunctionJudge, Judge, Verdict
from surrogate.metaevaluation.records import FilledText, raise_if, read_records, refuse, repeats

NOT_LABELED = "not_labeled"
LABELS_FORM = "labels:FILE[#ANNOTATOR]"
FEATURE_FORM = "feature:QUALITY=FEATURE"
QUALITIES = ("answer_relevancy", "faithfulness")
"""What shares of facts are of."""
WITHIN = 0.2
"""A feature passes where it is nearer than this to the share that people found (section 4.3)."""

_NEEDED: Mapping[str, tuple[str, ...]] = {
    "usefulness": ("answer_relevancy",),
    "faithfulness": ("answer_relevancy", "usefulness"),
    **dict.fromkeys(DERIVED_METRICS, ("answer_relevancy", "completeness")),
}
"""Scores that another one rests on."""
_NULLS = frozenset({"", "null", "none"})
_LANGUAGE, _SYSTEM = "en", "test"

Shares = Mapping[tuple[str, str], float]
"""What share of an answer's facts is relevant, and faithful, by test and quality."""


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """An answer to score by one metric; the verdict is a score of its scale, or null."""

    metric: str
    sample: AnswerSample

    def ask(self, judge: FunctionJudge) -> Verdict:
        """Ask for a score of the metric's scale, or None for null."""
        sample = self.sample
        texts = (sample.question, sample.references, sample.expected, sample.answer)
        return Verdict(judge.function(self.metric, *texts))  # type: ignore[arg-type]


def score_answers(samples: Sequence[AnswerSample], judge: Judge) -> list[dict[str, Verdict]]:
    """Score answers by all six metrics, with at most four calls each.

    Answer relevancy and completeness are asked for always. Usefulness only where relevancy is
    null; faithfulness only where the answer gives any information, that is, where relevancy or
    usefulness is not null. The other two metrics follow from relevancy and completeness.

    Returns:
        Scores of each answer by ``METRICS``, in the order of the answers; one that depends on a
        score that failed fails with it.

    Raises:
        UsageError: If the judge does not return one score of the metric's scale for each answer.
    """
    scores: list[dict[str, Verdict]] = [{} for _ in samples]
    for metric in METRICS:
        known = [_following(metric, of_answer) for of_answer in scores]
        tasks = [
            ScoringTask(metric, sample)
            for sample, score in zip(samples, known, strict=True)
            if score is None
        ]
        verdicts = judge_items(judge, tasks, "answers") if tasks else []
        called = iter([_checked(metric, verdict, judge.name) for verdict in verdicts])
        for of_answer, score in zip(scores, known, strict=True):
            of_answer[metric] = next(called) if score is None else score
    return scores


def _checked(metric: str, verdict: Verdict, judge: str) -> Verdict:
    value = verdict.value
    if value is None:
        return verdict
    if value not in SCALES[metric]:
        raise UsageError(
            f"the judge {judge} returned {value!r} for {metric}; scores are "
            f"{', '.join(map(str, SCALES[metric]))}, or None for null"
        )
    return replace(verdict, value=int(value))


def _following(metric: str, scores: Mapping[str, Verdict]) -> Verdict | None:
    """Return the score that follows from those before; None where the judge is to be asked."""
    needed = _NEEDED.get(metric, ())
    for name in needed:
        failure = scores[name].failure
        if failure is not None:
            prefix = "" if failure.startswith(needed) else f"{name}: "
            return Verdict(None, f"{prefix}{failure}", scores[name].was_asked)
    values = [scores[name].value for name in needed]
    is_null = {"usefulness": values[:1] != [None], "faithfulness": values == [None, None]}
    if is_null.get(metric):
        return Verdict(None)
    if metric not in DERIVED_METRICS:
        return None
    return Verdict(acceptance(*values)[DERIVED_METRICS.index(metric)])  # type: ignore[arg-type]


def _number(value: object) -> float | None:
    written = str(value).strip().casefold()
    try:
        return None if written in _NULLS else float(written)
    except ValueError:
        raise refuse("is not a number", "write one, or nothing for null") from None


Number = Annotated[float | None, BeforeValidator(_number)]


class LabeledTest(BaseModel):
    """One row: scores of a test by one annotator, or shares of facts. An empty cell is null."""

    model_config = ConfigDict(extra="ignore")

    test_id: FilledText
    annotator: str = ""
    answer_relevancy: Number = None
    completeness: Number = None
    usefulness: Number = None
    faithfulness: Number = None


def _labels(path: Path, are_shares: bool) -> tuple[list[tuple[int, LabeledTest]], list[Problem]]:
    """Read the rows of a file, and what is wrong with them."""
    problems: list[Problem] = []
    rows = read_records(path, LabeledTest, problems)
    for line, row in rows:
        for metric in QUALITIES if are_shares else JUDGED_METRICS:
            value, scale = getattr(row, metric), SCALES[metric]
            is_right = 0 <= (value or 0) <= 1 if are_shares else value in (None, *scale)
            if not is_right:
                known = "a number from 0 to 1" if are_shares else f"one of {scale}, or null"
                where = (path.name, line, metric, value)
                problems.append(Problem(*where, "is out of range", f"write {known}"))
    return rows, problems


@dataclass(frozen=True)
class LabelsJudge:
    """Gives the scores of a file, by answer; tests that it does not hold were not asked."""

    name: str
    scores: Mapping[AnswerSample, LabeledTest] = field(repr=False)
    prompt: str = ""

    def judge(self, tasks: Sequence[ScoringTask]) -> list[Verdict]:
        """Look each score up."""
        rows = [(self.scores.get(task.sample), task.metric) for task in tasks]
        absent = Verdict(None, NOT_LABELED, was_asked=False)
        return [absent if row is None else Verdict(getattr(row, metric)) for row, metric in rows]


def read_labels(spec: str, tests: Sequence[UnitTest]) -> LabelsJudge:
    """Read a file of scores.

    Args:
        spec: ``FILE`` or ``FILE#ANNOTATOR``. JSONL, CSV or Parquet: ``test_id``, and a column a
            metric, empty for null; ``annotator`` where several labeled the same tests.
        tests: The tests it is about.

    Raises:
        UsageError: If there is no such file or annotator, or none of the tests is in it.
        DataError: With every problem: file, line, field, value and hint.
    """
    name, _, annotator = spec.partition("#")
    rows, problems = _labels(Path(name), are_shares=False)
    annotators = list(dict.fromkeys(row.annotator for _, row in rows))
    if annotator and annotator not in annotators and not problems:
        raise UsageError(f"{name} has no annotator {annotator}; available: {', '.join(annotators)}")
    own = [(line, row) for line, row in rows if annotator in ("", row.annotator)]
    keys = [(line, row.test_id) for line, row in own]
    problems += repeats(Path(name), keys, "test_id", f"name one annotator: {name}#ANNOTATOR")
    raise_if(problems)
    found = {row.test_id: row for _, row in own}
    scores = {test.sample: found[test.test_id] for test in tests if test.test_id in found}
    if not scores:
        example = tests[0].test_id if tests else "none"
        raise UsageError(f"{name} labels none of the tests; their ids are such as {example}")
    return LabelsJudge(f"labels:{spec}", scores)


def read_shares(path: Path, tests: Sequence[UnitTest]) -> Shares:
    """Read what share of an answer's facts people found relevant, and faithful (section 4.3).

    Args:
        path: JSONL, CSV or Parquet: ``test_id``, ``answer_relevancy``, ``faithfulness``, from 0
            to 1; a row an annotator, whose mean is taken.
        tests: The tests it is about.
    """
    rows, problems = _labels(path, are_shares=True)
    raise_if(problems)
    known = {test.test_id for test in tests}
    table = pd.DataFrame([row.model_dump() for _, row in rows]).melt("test_id", QUALITIES).dropna()
    means = table[table["test_id"].isin(known)].groupby(["test_id", "variable"])["value"].mean()
    return {(str(test_id), str(name)): float(share) for (test_id, name), share in means.items()}


@dataclass(frozen=True)
class FeatureJudge:
    """A feature that measures the share of an answer's facts that are relevant, or faithful."""

    quality: str
    feature: Feature
    models: ModelOptions | None = field(default=None, repr=False)
    prompt: str = ""

    @property
    def name(self) -> str:
        """``feature:`` and the feature."""
        return f"feature:{self.feature}"

    def judge(self, items: Sequence[object]) -> list[Any]:
        """Features are held against shares, and give no verdicts."""
        raise UsageError(f"{self.name} gives shares of facts, and no scores of {len(items)} items")

    def rows(self, tests: Sequence[UnitTest], shares: Shares) -> Iterator[tuple[UnitTest, Any]]:
        """Yield a row for each test with an expected share, without what is said of the test.

        A missing value is a failure, not passed.
        """
        measured = extract(_as_arena(tests), [self.feature], models=self.models)
        known, name = measured.set_index("query_id"), str(self.feature)
        for place, test in enumerate(tests):
            expected = shares.get((test.test_id, self.quality))
            if expected is None:
                continue
            row = known.loc[str(place)]
            value, failure = float(row[name]), row[f"{name}:missing"]
            score = asdict(Verdict(value if failure is None else None, failure))
            passed = failure is None and abs(value - expected) < WITHIN
            condition = f"{expected:.2f} ± {WITHIN:g}"
            said = {"metric": self.quality, "condition": condition, "passed": passed}
            yield test, said | score


def feature_judges(spec: str, models: ModelOptions | None = None) -> list[FeatureJudge]:
    """Make the judges that ``QUALITY=FEATURE`` names; the feature may be several."""
    quality, _, features = spec.partition("=")
    if quality not in QUALITIES or not features:
        known = " or ".join(QUALITIES)
        raise UsageError(f"feature:{spec} names no feature of {known}; use {FEATURE_FORM}")
    return [FeatureJudge(quality, feature, models) for feature in parse_features(features)]


def _as_arena(tests: Sequence[UnitTest]) -> Arena:
    """Put each answer into an arena: a question of its own, references as passages 1, 2, …."""
    rows = [
        {
            "query_id": str(place),
            "language": test.language or _LANGUAGE,
            "query": test.sample.question,
            "passages": [
                {"passage_id": str(number), "text": text}
                for number, text in enumerate(test.sample.references, start=1)
            ],
            "system": _SYSTEM,
            "answer": test.sample.answer,
        }
        for place, test in enumerate(tests)
    ]
    table, key = pd.DataFrame(rows), ["query_id", "language"]
    answers = table[[*key, "system", "answer"]]
    return Arena.from_frames(table[[*key, "query", "passages"]], answers, name="unit-tests")
