"""What a run did, or a check would do, step by step."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["made", "current", "failed", "skipped", "would run"]


@dataclass(frozen=True)
class StepOutcome:
    """What became of a step.

    Attributes:
        board: Name of the board.
        stage: Name of the stage.
        state: ``made``, ``current`` (nothing to do), ``failed``, ``skipped`` (a step it rests on
            failed), or ``would run`` in a check.
        reasons: Why it ran, was skipped, or would run.
        error: What went wrong, in words.
        seconds: How long it took.
    """

    board: str
    stage: str
    state: State
    reasons: tuple[str, ...] = ()
    error: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        took = f" in {self.seconds:.1f} s" if self.state == "made" else ""
        why = self.error or "; ".join(self.reasons)
        return f"{self.stage} {self.board}: {self.state}{took}{f' ({why})' if why else ''}"


@dataclass(frozen=True)
class RunReport:
    """What became of all steps.

    Attributes:
        steps: One a step, board by board.
        left_over: Steps in the manifest that the configuration no longer asks for; their files
            are left as they are.
    """

    steps: tuple[StepOutcome, ...]
    left_over: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[StepOutcome, ...]:
        """Steps that failed, and those skipped for it."""
        return tuple(step for step in self.steps if step.state in ("failed", "skipped"))

    @property
    def is_current(self) -> bool:
        """Whether nothing was or is to be done."""
        return all(step.state == "current" for step in self.steps)

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "steps": [asdict(step) | {"reasons": list(step.reasons)} for step in self.steps],
            "failed": [f"{step.board}/{step.stage}" for step in self.failed],
            "left_over": list(self.left_over),
            "current": self.is_current,
        }
