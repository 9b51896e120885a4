"""What a judge of grounded answers is, and any function as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from arena.errors import UsageError
from arena.metaevaluation.grouse.metrics import SCALES, JudgedMetric, Mark
from arena.metaevaluation.grouse.unit_tests import GroundedAnswer


class Judge(Protocol):
    """Whoever marks grounded answers."""

    @property
    def name(self) -> str:
        """Name in tables, such as ``llm:gpt-4o-mini``."""

    @property
    def prompt(self) -> str:
        """Name of the prompts and their versions, or the settings that marks depend on."""

    def mark(self, metric: JudgedMetric, answers: Sequence[GroundedAnswer]) -> Sequence[Mark]:
        """Return a mark for each answer, in their order."""


MarkFunction = Callable[[str, str, Sequence[str], str, str], int | None]
"""From metric, question, references, expected answer and answer to a mark, None for null."""


@dataclass(frozen=True)
class FunctionJudge:
    """Any function as a judge.

    Attributes:
        name: Its name in tables.
        function: From metric, question, references, expected answer and answer to a mark of the
            metric's scale (1 to 5, or 0 and 1), or None for null.
        prompt: What the function's marks depend on, if anything.
    """

    name: str
    function: MarkFunction
    prompt: str = ""

    def mark(self, metric: JudgedMetric, answers: Sequence[GroundedAnswer]) -> list[Mark]:
        """Ask the function about each answer.

        Raises:
            UsageError: If it returns anything else than a mark of the scale or None.
        """
        return [
            self._mark(
                metric,
                self.function(metric, each.question, each.references, each.expected, each.answer),
            )
            for each in answers
        ]

    def _mark(self, metric: JudgedMetric, said: object) -> Mark:
        if said is None:
            return Mark(None)
        if not isinstance(said, int | float) or said not in SCALES[metric]:
            raise UsageError(
                f"the judge {self.name} returned {said!r} for {metric}; return one of "
                f"{', '.join(map(str, SCALES[metric]))}, or None for null"
            )
        return Mark(int(said))
