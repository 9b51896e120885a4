"""GroUSE: unit tests of judges of grounded answers, six metrics, and calibration.

Muller et al. (2024), GroUSE: A Benchmark to Evaluate Evaluators in Grounded Question
Answering. Its tests can be read where they are at hand; those that come with this package were
written for it. The prompts are our own, after the paper's intent.
"""

from arena.metaevaluation.grouse.calibration import calibration
from arena.metaevaluation.grouse.conditions import Condition
from arena.metaevaluation.grouse.judges import FunctionJudge, Judge
from arena.metaevaluation.grouse.lexical_judge import LexicalJudge
from arena.metaevaluation.grouse.llm_judge import LlmJudge
from arena.metaevaluation.grouse.metric_prompts import MetricPrompt
from arena.metaevaluation.grouse.metrics import JUDGED_METRICS, METRICS, Mark, acceptance
from arena.metaevaluation.grouse.own_tests import own_unit_tests
from arena.metaevaluation.grouse.pass_rates import GrouseResult
from arena.metaevaluation.grouse.pipeline import Score, evaluate
from arena.metaevaluation.grouse.reading import read_unit_tests
from arena.metaevaluation.grouse.replies import REPLY_FORMS, ReplyForm
from arena.metaevaluation.grouse.running import GrouseRun, run_grouse
from arena.metaevaluation.grouse.typology import TEST_TYPES, TestType
from arena.metaevaluation.grouse.unit_tests import GroundedAnswer, UnitTest, choose_tests

__all__ = [
    "JUDGED_METRICS",
    "METRICS",
    "REPLY_FORMS",
    "TEST_TYPES",
    "Condition",
    "FunctionJudge",
    "GroundedAnswer",
    "GrouseResult",
    "GrouseRun",
    "Judge",
    "LexicalJudge",
    "LlmJudge",
    "Mark",
    "MetricPrompt",
    "ReplyForm",
    "Score",
    "TestType",
    "UnitTest",
    "acceptance",
    "calibration",
    "choose_tests",
    "evaluate",
    "own_unit_tests",
    "read_unit_tests",
    "run_grouse",
]
