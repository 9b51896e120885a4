"""What a diagnosis says, one plain sentence at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")

SHOWN_NAMES = 5


@dataclass(frozen=True)
class Finding:
    """One thing a user should know before a board is shown.

    Attributes:
        severity: ``error``: the systems cannot be ranked on one scale; ``warning``: they can, but
            something limits how far to trust it; ``info``: a fact that is no concern by itself.
        check: What was looked at, such as ``position``; one word for all findings of a kind.
        subject: Language and judge it is about.
        sentence: What was found, a sentence without the subject.
    """

    severity: Severity
    check: str
    subject: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.sentence}"


def by_severity(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Sort findings, the gravest first; equal ones keep their order."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def subject_of(language: object, judge: object) -> str:
    """Name a language and a judge."""
    return f"{language}, {judge}"


def listed(names: Sequence[str]) -> str:
    """List names, the first ones where there are many."""
    shown = ", ".join(names[:SHOWN_NAMES])
    rest = len(names) - SHOWN_NAMES
    return f"{shown} and {rest} more" if rest > 0 else shown
