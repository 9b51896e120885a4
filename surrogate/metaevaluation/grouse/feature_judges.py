"""Features put to the tests: whether a share is near the one that people found (section 4.3).

Here faithfulness and answer relevancy are what Ragas calls so: shares of an answer's facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import ArenaInfo
from features import Feature, ModelOptions, extract, parse_features
from surrogate.metaevaluation.grouse.labels import QUALITIES
from surrogate.metaevaluation.grouse.unit_tests import LIKERT, UnitTest

FORM = "feature:QUALITY=FEATURE"

_LANGUAGE = "en"
_SYSTEM = "test"

Shares = Mapping[tuple[str, str], float]
"""What share of an answer's facts is relevant, and faithful, by test and quality."""


@dataclass(frozen=True)
class FeatureJudge:
    """A feature that measures the share of an answer's facts that are relevant, or faithful.

    Attributes:
        quality: Which of the two.
        feature: The feature.
        models: How features that read a model run it.
    """

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

    def rows(self, tests: Sequence[UnitTest], shares: Shares, within: float) -> Iterator[Any]:
        """Yield a row for each test with an expected share, without what is said of the test.

        A test is passed where the measured share differs by less than ``within``; a missing value
        is a failure, not passed.
        """
        measured = extract(_as_arena(tests), [self.feature], models=self.models)
        known, name = measured.set_index("query_id"), str(self.feature)
        for place, test in enumerate(tests):
            expected = shares.get((test.test_id, self.quality))
            if expected is None:
                continue
            row = known.loc[str(place)]
            value, failure = float(row[name]), row[f"{name}:missing"]
            yield (
                test,
                {
                    "metric": self.quality,
                    "condition": f"{expected:.2f} ± {within:g}",
                    "value": None if failure is not None else value,
                    "null_reason": None,
                    "failure": failure,
                    "was_asked": True,
                    "was_called": True,
                    "passed": failure is None and abs(value - expected) < within,
                },
            )


def feature_judges(spec: str, models: ModelOptions | None = None) -> list[FeatureJudge]:
    """Make the judges that ``QUALITY=FEATURE`` names; the feature may be several.

    Raises:
        UsageError: For an unknown quality or feature.
    """
    quality, _, features = spec.partition("=")
    if quality not in QUALITIES or not features:
        raise UsageError(f"feature:{spec} names no feature of {' or '.join(QUALITIES)}; use {FORM}")
    return [FeatureJudge(quality, feature, models) for feature in parse_features(features)]


def expected_shares(tests: Sequence[UnitTest]) -> dict[tuple[str, str], float]:
    """Return the shares that follow from the scores that tests call for.

    All is relevant where answer relevancy must be highest, and nothing where it must be lowest; all
    is faithful where faithfulness must be 1. Nothing follows for other tests: people must say.

    Returns:
        By test and quality.
    """
    shares = {("answer_relevancy", f"=={LIKERT[-1]}"): 1.0, ("answer_relevancy", "==1"): 0.0}
    shares |= {("faithfulness", "==1"): 1.0}
    return {
        (test.test_id, metric): shares[metric, str(condition)]
        for test in tests
        for metric, condition in test.conditions.items()
        if (metric, str(condition)) in shares
    }


def _as_arena(tests: Sequence[UnitTest]) -> Arena:
    """Put each answer into an arena: a question of its own, references as passages 1, 2, …."""
    queries, answers = [], []
    for place, test in enumerate(tests):
        key = {"query_id": str(place), "language": test.language or _LANGUAGE}
        passages = [
            {"passage_id": str(number), "text": text}
            for number, text in enumerate(test.sample.references, start=1)
        ]
        queries.append({**key, "query": test.sample.question, "passages": passages})
        answers.append({**key, "system": _SYSTEM, "answer": test.sample.answer})
    names = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    languages = tuple(dict.fromkeys(test.language or _LANGUAGE for test in tests))
    info = ArenaInfo(name="unit-tests", languages=languages, systems=(_SYSTEM,))
    judgments = pd.DataFrame(columns=names, dtype=str)
    return Arena(info, pd.DataFrame(queries), pd.DataFrame(answers), judgments)
