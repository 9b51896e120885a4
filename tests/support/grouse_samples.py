"""Unit tests and judges of grounded answers, made up for tests."""

import json

from surrogate_arena.papers.grouse.metrics import JUDGED_METRICS, SCALES, AnswerSample
from surrogate_arena.papers.grouse.unit_tests import TEST_TYPES, UnitTest
from surrogate_arena.papers.verdict import Verdict

TYPES = {test_type.name: test_type for test_type in TEST_TYPES}


def answer(text="Yes [1].", question="Why?"):
    return AnswerSample(question, ("Because <b> & {{ x }}.",), "Yes, because [1].", text)


def unit_test(name, test_id="t", question="Why?", language="en"):
    sample = answer(f"{name} {test_id}", question)
    return UnitTest(test_id, name, sample, TYPES[name].conditions, language, question)


class TableJudge:
    """Judges by a table: scores, nulls or verdicts by metric, the same for all answers."""

    name = "table"
    prompt = "v1"

    def __init__(self, **values):
        self.values = values
        self.asked = []

    def judge(self, tasks):
        self.asked += [(task.metric, task.sample.answer) for task in tasks]
        values = [self.values[task.metric] for task in tasks]
        return [value if isinstance(value, Verdict) else Verdict(value) for value in values]


class RightJudge:
    """Gives the score that each type calls for, read from the answer's first word."""

    name = "right"
    prompt = ""

    def __init__(self, wrong=()):
        self.wrong = wrong

    def judge(self, tasks):
        return [Verdict(self._value(task.metric, task.sample.answer.split()[0])) for task in tasks]

    def _value(self, metric, name):
        condition = TYPES[name].conditions[metric]
        if (name, metric) in self.wrong:
            return next(value for value in SCALES[metric] if not condition.holds(value))
        return next(value for value in (None, *SCALES[metric]) if condition.holds(value))


def written(**fields):
    """Return one line of a file in the published schema."""
    conditions = {f"{metric}_condition": "==None" for metric in JUDGED_METRICS}
    line = {
        "input": "Why?",
        "actual_output": "No document answers.",
        "expected_output": "No document answers.",
        "references": ["A & B", "C"],
        "metadata": {"test_type": "Highest marks 2"},
        "conditions": conditions,
    }
    return line | fields


def lines_of(*lines):
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def by_length(metric, question, references, expected, answer):
    """Score by the answer's length: a judge without a model, such as ``python:`` names."""
    scale = (None, *SCALES[metric])
    return scale[len(answer) % len(scale)]
