"""Remarks: what a user should know of data, a judge, answers or a board."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Gravest first."""


@dataclass(frozen=True)
class Remark:
    """One thing that a user should know.

    Attributes:
        name: One word for all remarks of a kind, such as ``connected``.
        severity: ``error``: systems cannot be ranked; ``warning``: they can, but something limits
            how far to trust it; ``info``: a fact that is no concern by itself.
        sentence: The remark, without its subject.
        subject: What it is about, such as a language and a judge, or a system; empty where its
            place says so.
        statistic: The number it rests on, if it is a single one.
    """

    name: str
    severity: Severity
    sentence: str
    subject: str = ""
    statistic: float | None = None

    @property
    def is_warning(self) -> bool:
        """Whether it limits what something can be used for."""
        return self.severity != "info"

    def __str__(self) -> str:
        return f"{self.subject}: {self.sentence}" if self.subject else self.sentence


def by_severity(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """Sort remarks, the gravest first; equal ones keep their order."""
    return tuple(sorted(remarks, key=lambda remark: SEVERITIES.index(remark.severity)))
