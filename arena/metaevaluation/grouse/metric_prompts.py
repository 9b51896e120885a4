"""The prompts of the four metrics: our words, after the intent of the paper's (appendix D).

Instructions go into the system message, texts of others into the user's, between lines that they
cannot forge. As in the paper, the expected answer is shown as answer 1 without saying so, answer 2
is the one that counts, and each prompt shows only what its metric depends on. No justification is
asked for: without one, judges passed most (table 6).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from arena.errors import UsageError
from arena.llm.prompts import Prompt
from arena.metaevaluation.grouse.metrics import JUDGED_METRICS, JudgedMetric
from arena.metaevaluation.grouse.unit_tests import GroundedAnswer
from arena.prompts.fences import fence_code
from arena.prompts.templates import packaged_prompt

_PACKAGE = "arena.metaevaluation.grouse"
_TASK = "task.v1"
_SAMPLE = "sample.v1"
_VARIABLES = ("question", "references", "answer_1", "answer_2", "code")


@dataclass(frozen=True, slots=True)
class _Shown:
    question: bool
    references: bool


_SHOWN: MappingProxyType[JudgedMetric, _Shown] = MappingProxyType(
    {
        "answer_relevancy": _Shown(question=True, references=False),
        "completeness": _Shown(question=True, references=True),
        "usefulness": _Shown(question=True, references=False),
        "faithfulness": _Shown(question=False, references=True),
    }
)


@dataclass(frozen=True)
class MetricPrompt:
    """The prompt of one metric.

    Attributes:
        metric: Which one.
    """

    metric: JudgedMetric

    def __post_init__(self) -> None:
        if self.metric not in JUDGED_METRICS:
            raise UsageError(
                f"there is no prompt for {self.metric!r}; use one of {', '.join(JUDGED_METRICS)}"
            )

    @property
    def version(self) -> str:
        """Names and digests of the templates."""
        parts = [(_TASK, ()), (f"{self.metric}.v1", ()), (_SAMPLE, _VARIABLES)]
        return "+".join(packaged_prompt(_PACKAGE, *part).version for part in parts)

    def ask(self, sample: GroundedAnswer) -> Prompt:
        """Make the prompt for an answer."""
        version = self.version
        shown = _SHOWN[self.metric]
        values = {
            "question": sample.question if shown.question else None,
            "references": sample.references if shown.references else (),
            "answer_1": sample.expected,
            "answer_2": sample.answer,
            "code": fence_code(sample.question, *sample.references, sample.expected, sample.answer),
        }
        system = [packaged_prompt(_PACKAGE, name, ()).fill({}) for name in self._instructions]
        user = packaged_prompt(_PACKAGE, _SAMPLE, _VARIABLES).fill(values)
        return Prompt.of(user, "\n\n".join(system), version)

    @property
    def _instructions(self) -> tuple[str, str]:
        return _TASK, f"{self.metric}.v1"


def all_versions() -> str:
    """Return the names and digests of all templates, each once."""
    versions = [MetricPrompt(metric).version.split("+") for metric in JUDGED_METRICS]
    return "+".join(dict.fromkeys(part for parts in versions for part in parts))
