"""Scores of judges that need no model: recorded ones by people's majority, constant ones by GroUSE.

python benchmarks/tables.py pairs constant-judges
"""

from __future__ import annotations

from pathlib import Path

from arena.llm.prompts import Templates
from surrogate_arena.papers.evaluation import evaluate_judges
from surrogate_arena.papers.grouse.benchmark import Grouse
from surrogate_arena.papers.grouse.scores import TOTAL, pass_rates
from surrogate_arena.papers.grouse.unit_tests import builtin_tests
from surrogate_arena.papers.judges import FunctionJudge
from surrogate_arena.papers.pairs.benchmark import RECORDED, PairBenchmark
from surrogate_arena.papers.settings import MetaevalSettings

PAIR_SCORES = (
    *("pairs", "right in both orders", "right"),
    *("flips", "side A", "longer answer", "soft pairwise", "by chance"),
)
"""Columns of the report on pairs."""


def pairs_of_people(folder: Path, judge: str) -> list[str]:
    """Test a recorded judge by people's majority: ``PAIR_SCORES``."""
    benchmark = PairBenchmark.read(folder, MetaevalSettings(), Templates())
    evaluation = evaluate_judges(benchmark, [RECORDED + judge])
    [row] = benchmark.report(evaluation).tables[0].table.to_dict("records")
    return [str(row[column]) for column in PAIR_SCORES]


def constant(score: str) -> list[str]:
    """Pass GroUSE's unit tests by one score for everything."""
    tests = builtin_tests()
    highest = {"answer_relevancy": 5, "completeness": 5}

    def judged(metric: str, *_: object) -> int | None:
        return highest.get(metric, 1) if score == "highest" else None

    found = evaluate_judges(Grouse(tests), [FunctionJudge(score, judged)])
    rates = pass_rates(found.verdicts).set_index("metric")["value"]
    return [f"{100 * rates[name]:.1f}" for name in [*rates.index.drop(TOTAL), TOTAL]]
