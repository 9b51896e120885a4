"""Features put to the tests: whether a share is near the one that people found (section 4.3).

Here faithfulness and answer relevancy are what Ragas calls so: shares of an answer's facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import ArenaInfo
from features import Feature, ModelOptions, extract, parse_features
from surrogate.metaevaluation.grouse.pass_rates import pass_rates, type_matrix
from surrogate.metaevaluation.grouse.score_files import QUALITIES
from surrogate.metaevaluation.grouse.tables import type_table
from surrogate.metaevaluation.grouse.unit_tests import LIKERT, UnitTest
from surrogate.metaevaluation.report import (
    NO_VALUE,
    Report,
    ReportTable,
    judges_of,
    no_value_notes,
    percent_with_error,
)

WITHIN = 0.2
"""How near is near enough (section 4.3)."""

_LANGUAGE = "en"
_SYSTEM = "test"


def expected_proportions(tests: Sequence[UnitTest]) -> dict[tuple[str, str], float]:
    """Return the shares that follow from the scores that tests call for.

    All is relevant where answer relevancy must be highest, and nothing where it must be lowest; all
    is faithful where faithfulness must be 1. Nothing follows for other tests: people must say.

    Returns:
        By test and quality.
    """
    known: dict[tuple[str, str], float] = {}
    shares = {("answer_relevancy", f"=={LIKERT[-1]}"): 1.0, ("answer_relevancy", "==1"): 0.0}
    shares |= {("faithfulness", "==1"): 1.0}
    for test in tests:
        for metric, condition in test.conditions.items():
            share = shares.get((metric, str(condition)))
            if share is not None:
                known[test.test_id, metric] = share
    return known


def score_features(
    tests: Sequence[UnitTest],
    features: Mapping[str, str],
    proportions: Mapping[tuple[str, str], float],
    within: float = WITHIN,
    models: ModelOptions | None = None,
) -> pd.DataFrame:
    """Measure features on the answers of tests, and compare them with expected shares.

    Args:
        tests: The tests.
        features: For ``answer_relevancy`` and ``faithfulness``, what is to measure them, as text
            for ``parse_features``.
        proportions: Expected shares by test and quality; what is not there is left out.
        within: A test is a success where the difference is less than this.
        models: How features that read a model run it.

    Returns:
        Columns as of ``Grouse``: one row a feature and test with an expected share. ``judge`` is
        the feature, ``metric`` the quality; a missing value is a failure, not passed.

    Raises:
        UsageError: For unknown qualities or features, or if no test has an expected share.
        MissingDependencyError: If a feature needs a package that is not installed.
    """
    asked = {name: parse_features(text) for name, text in features.items() if text}
    if not asked or not set(asked) <= set(QUALITIES):
        raise UsageError(f"name features of {' or '.join(QUALITIES)}")
    wanted = {feature: None for names in asked.values() for feature in names}
    measured = extract(_as_arena(tests), list(wanted), models=models).set_index("query_id")
    rows = [
        _row(test, quality, feature, measured.loc[str(place)], expected, within)
        for quality, names in asked.items()
        for feature in names
        for place, test in enumerate(tests)
        if (expected := proportions.get((test.test_id, quality))) is not None
    ]
    if not rows:
        raise UsageError("no test has an expected share; give some with --proportions")
    return pd.DataFrame(rows).astype({"failure": object, "value": object, "passed": object})


def _as_arena(tests: Sequence[UnitTest]) -> Arena:
    """Put each answer into an arena: a question of its own, references as passages 1, 2, …."""
    queries = [
        {
            "query_id": str(place),
            "language": test.language or _LANGUAGE,
            "query": test.sample.question,
            "passages": [
                {"passage_id": str(number), "text": text}
                for number, text in enumerate(test.sample.references, start=1)
            ],
        }
        for place, test in enumerate(tests)
    ]
    answers = [
        {
            "query_id": str(place),
            "language": test.language or _LANGUAGE,
            "system": _SYSTEM,
            "answer": test.sample.answer,
        }
        for place, test in enumerate(tests)
    ]
    names = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    languages = tuple(dict.fromkeys(test.language or _LANGUAGE for test in tests))
    info = ArenaInfo(name="unit-tests", languages=languages, systems=(_SYSTEM,))
    judgments = pd.DataFrame(columns=names, dtype=str)
    return Arena(info, pd.DataFrame(queries), pd.DataFrame(answers), judgments)


def _row(
    test: UnitTest,
    quality: str,
    feature: Feature,
    measured: pd.Series,
    expected: float,
    within: float,
) -> dict[str, Any]:
    name = str(feature)
    value, failure = float(measured[name]), measured[f"{name}:missing"]
    is_missing = failure is not None
    return {
        "judge": f"feature:{name}",
        "prompt": "",
        "test_id": test.test_id,
        "language": test.language,
        "topic": test.topic,
        "question": test.sample.question,
        "test_type": test.test_type,
        "metric": quality,
        "condition": f"{expected:.2f} ± {within:g}",
        "value": None if is_missing else value,
        "null_reason": None,
        "failure": failure,
        "was_asked": True,
        "was_called": True,
        "passed": not is_missing and abs(value - expected) < within,
        "is_reference": False,
    }


def features_report(
    scores: pd.DataFrame, tests: Sequence[UnitTest], within: float = WITHIN
) -> Report:
    """Report the share of successes of each feature; see ``score_features``."""
    from arena.data.rows import plain_records

    rates = pass_rates(scores)
    rates = rates[rates["tests"] > 0]
    matrix = type_matrix(scores)
    rows = [
        [judge.removeprefix("feature:"), *_cells(of_judge)]
        for (judge, _), of_judge in judges_of(rates).items()
    ]
    missing = scores["failure"].dropna().value_counts()
    notes = [
        f"A success differs by less than {within:g} from the expected share; of {len(tests)} tests "
        "those with one",
        *(f"Without a value, no success: {count}: {reason}" for reason, count in missing.items()),
        *no_value_notes(rates["reason"]),
    ]
    title = "Features near what people found, percent of tests (tests)"
    tables = [
        ReportTable(title, ["feature", *QUALITIES], rows, notes),
        *(type_table(judge, part, []) for (judge, _), part in judges_of(matrix).items()),
    ]
    content = {
        "within": within,
        "successes": plain_records(rates),
        "matrix": plain_records(matrix),
        "scores": plain_records(scores),
    }
    return Report(content, tables)


def _cells(of_feature: pd.DataFrame) -> list[str]:
    known = of_feature.set_index("metric")
    return [
        f"{percent_with_error(*known.loc[name, ['pass_rate', 'standard_error']])} "
        f"({known.loc[name, 'tests']})"
        if name in known.index
        else NO_VALUE
        for name in QUALITIES
    ]
