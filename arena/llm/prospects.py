"""Whether any call of a run can still succeed, by the faults so far."""

from __future__ import annotations

from arena.data.errors import UsageError
from arena.llm.llm_settings import LlmSettings
from arena.llm.replies import MALFORMED, REJECTED, Fault

HOPELESS_AFTER = 8
"""Rejected prompts, and no answered one, after which the settings must be wrong: a few prompts
alone may be rejected for what they hold."""
HOPELESS_AT_END = 3
"""Rejected prompts, and no answered one, that are enough once all prompts are sent."""
MALFORMED_AFTER = 3
"""Prompts with a malformed answer at each try, and none answered, after which a run stops."""


class Prospects:
    """Stops a run in which no call can succeed.

    Attributes:
        is_proven: Whether the model has answered such a request.
    """

    def __init__(self, settings: LlmSettings, is_proven: bool) -> None:
        self.is_proven = is_proven
        self._settings = settings
        self._n_unusable = 0
        self._last_unusable: Fault | None = None

    def check_fault(self, fault: Fault) -> None:
        """Raise a UsageError if no call can succeed before the user has changed something."""
        if fault.advice is not None:
            raise self._error(fault, fault.advice)
        if fault.setting is not None and not self.is_proven:
            raise self._error(fault, fault.setting)

    def count_failed(self, fault: Fault) -> None:
        """Count a prompt that failed; UsageError once the prompts so far show that all will.

        Prompts that are too long or filtered do not count: others may succeed.
        """
        if self.is_proven or fault.reason not in (REJECTED, MALFORMED):
            return
        self._n_unusable += 1
        self._last_unusable = fault
        most = HOPELESS_AFTER if fault.reason == REJECTED else MALFORMED_AFTER
        if self._n_unusable >= most:
            raise self._hopeless(fault)

    def conclude(self) -> None:
        """Raise the UsageError of a run in which all prompts were sent and none succeeded."""
        is_hopeless = not self.is_proven and self._n_unusable >= HOPELESS_AT_END
        if is_hopeless and self._last_unusable is not None:
            raise self._hopeless(self._last_unusable)

    def _hopeless(self, fault: Fault) -> UsageError:
        advice = "; check the model's settings" if self._settings.transport is None else ""
        return self._error(fault, f"no call has succeeded{advice}")

    def _error(self, fault: Fault, advice: str) -> UsageError:
        model = "" if self._settings.transport else f" with the model {self._settings.model}"
        return UsageError(f"{self._settings.where} cannot be used{model}: {fault.detail}; {advice}")
