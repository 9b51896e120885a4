"""Diagnostics of an arena: what limits a board is said before the board is shown."""

from arena.diagnostics.diagnosis import Diagnosis, diagnose, diagnose_judgments
from arena.diagnostics.finding import Finding, Severity

__all__ = ["Diagnosis", "Finding", "Severity", "diagnose", "diagnose_judgments"]
