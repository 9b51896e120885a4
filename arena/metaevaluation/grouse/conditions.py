"""Conditions on a mark, as the published tests write them: ``==5``, ``<5``, ``==None``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

NULL = "None"

_WRITTEN = re.compile(r"\s*(==|<=|>=|!=|<|>)\s*(None|null|True|False|-?\d+(?:\.\d+)?)\s*")
_OPERATORS: MappingProxyType[str, Callable[[float, float], bool]] = MappingProxyType(
    {
        "==": operator.eq,
        "!=": operator.ne,
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
    }
)
_BOUNDS: MappingProxyType[str, float | None] = MappingProxyType(
    {"None": None, "null": None, "True": 1.0, "False": 0.0}
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one mark.

    Attributes:
        sign: One of ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``.
        bound: What the mark is compared with; None for null.
    """

    sign: str
    bound: float | None

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition.

        Raises:
            ValueError: If the text is none, or orders marks against null.
        """
        found = _WRITTEN.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no condition")
        sign, written = found.groups()
        bound = _BOUNDS[written] if written in _BOUNDS else float(written)
        if bound is None and sign not in ("==", "!="):
            raise ValueError(f"{text!r} orders marks against null")
        return cls(sign, bound)

    @classmethod
    def equal_to(cls, value: int | None) -> Condition:
        """Return the condition that a mark is this one."""
        return cls("==", None if value is None else float(value))

    @property
    def admits_null(self) -> bool:
        """Whether null meets the condition."""
        return self.holds(None)

    def holds(self, value: int | None) -> bool:
        """Tell whether a mark meets the condition; null is below and above no mark."""
        if value is None or self.bound is None:
            is_same = value is None and self.bound is None
            return is_same if self.sign == "==" else self.sign == "!=" and not is_same
        return _OPERATORS[self.sign](value, self.bound)

    def __str__(self) -> str:
        return f"{self.sign}{NULL if self.bound is None else format(self.bound, 'g')}"
