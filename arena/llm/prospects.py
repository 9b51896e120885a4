"""Prospects of a run: can any call still succeed, by the faults so far?"""

from __future__ import annotations

from arena.data.errors import UsageError
from arena.llm.llm_settings import LlmSettings
from arena.llm.replies import FINAL, Fault


class Prospects:
    """Stops a run in which no call can succeed."""

    def __init__(self, settings: LlmSettings, is_proven: bool) -> None:
        self.is_proven = is_proven
        self._settings = settings
        self._last_reason = ""
        self._n_equal = 0

    def count_answered(self) -> None:
        """Note that the model answered."""
        self.is_proven = True
        self._n_equal = 0

    def check_fault(self, fault: Fault) -> None:
        """Raise a UsageError if no call can succeed."""
        if fault.advice is not None:
            raise self._error(fault, fault.advice)
        if fault.setting is not None and not self.is_proven:
            raise self._error(fault, fault.setting)

    def count_failed(self, fault: Fault) -> None:
        """Count a failed prompt; UsageError after too many in a row.

        Those too long or filtered do not count.
        """
        if fault.reason in FINAL:
            return
        self._n_equal = self._n_equal + 1 if fault.reason == self._last_reason else 1
        self._last_reason = fault.reason
        most_equal_failures = 10
        if self._n_equal >= most_equal_failures:
            advice = f"{self._n_equal} prompts in a row failed so; what came is in the store"
            raise self._error(fault, advice)

    def _error(self, fault: Fault, advice: str) -> UsageError:
        model = "" if self._settings.transport else f" with the model {self._settings.model}"
        return UsageError(f"{self._settings.where} cannot be used{model}: {fault.detail}; {advice}")
