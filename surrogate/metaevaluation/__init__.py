"""Judges held against people: MEMERAG, WikiEval, GroUSE, or a benchmark of one's own.

``evaluate_judges(Memerag(read_memerag(folder)), ["lexical", "grounding"]).verdicts`` is a table
with one row a judge and item: the verdict's value, or why there is none. Names are loaded on first
use, so that the command line starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surrogate.metaevaluation.grouse.calibration import calibration
    from surrogate.metaevaluation.grouse.evaluation import Grouse
    from surrogate.metaevaluation.grouse.pass_rates import pass_rates, type_matrix
    from surrogate.metaevaluation.grouse.reading import builtin_tests, read_unit_tests
    from surrogate.metaevaluation.judges import FunctionJudge, LexicalJudge, PromptJudge, Verdict
    from surrogate.metaevaluation.memerag.comparison import compare_judges, mark_best
    from surrogate.metaevaluation.memerag.evaluation import Memerag
    from surrogate.metaevaluation.memerag.grounding import GroundingJudge
    from surrogate.metaevaluation.memerag.reading import read_memerag
    from surrogate.metaevaluation.memerag.scores import fine_grained_accuracy, score_judges
    from surrogate.metaevaluation.results import MetaEvaluation, add_metaevaluations
    from surrogate.metaevaluation.runner import Evaluation, JudgeOptions, evaluate_judges
    from surrogate.metaevaluation.wikieval.accuracy import score_preferences
    from surrogate.metaevaluation.wikieval.evaluation import Wikieval
    from surrogate.metaevaluation.wikieval.reading import read_wikieval

_HOMES = {
    "Evaluation": "runner",
    "FunctionJudge": "judges",
    "GroundingJudge": "memerag.grounding",
    "Grouse": "grouse.evaluation",
    "JudgeOptions": "runner",
    "LexicalJudge": "judges",
    "Memerag": "memerag.evaluation",
    "MetaEvaluation": "results",
    "PromptJudge": "judges",
    "Verdict": "judges",
    "Wikieval": "wikieval.evaluation",
    "add_metaevaluations": "results",
    "builtin_tests": "grouse.reading",
    "calibration": "grouse.calibration",
    "compare_judges": "memerag.comparison",
    "evaluate_judges": "runner",
    "fine_grained_accuracy": "memerag.scores",
    "mark_best": "memerag.comparison",
    "pass_rates": "grouse.pass_rates",
    "read_memerag": "memerag.reading",
    "read_unit_tests": "grouse.reading",
    "read_wikieval": "wikieval.reading",
    "score_judges": "memerag.scores",
    "score_preferences": "wikieval.accuracy",
    "type_matrix": "grouse.pass_rates",
}

__all__ = [
    "Evaluation",
    "FunctionJudge",
    "GroundingJudge",
    "Grouse",
    "JudgeOptions",
    "LexicalJudge",
    "Memerag",
    "MetaEvaluation",
    "PromptJudge",
    "Verdict",
    "Wikieval",
    "add_metaevaluations",
    "builtin_tests",
    "calibration",
    "compare_judges",
    "evaluate_judges",
    "fine_grained_accuracy",
    "mark_best",
    "pass_rates",
    "read_memerag",
    "read_unit_tests",
    "read_wikieval",
    "score_judges",
    "score_preferences",
    "type_matrix",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
