"""Errors for bad input: each problem names file, line, field, value and hint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar, cast

from arena.data.wording import count_of

SHOWN_PROBLEMS = 20
SHOWN_VALUE_CHARACTERS = 80
MOST_PROBLEMS = 1000
"""Problems of one kind that are told one by one; the others are counted."""

ARGUMENT_MARK = "\N{WORD JOINER}"
HALF_SURROGATE = "holds half a surrogate pair, which no file can store"
HALF_SURROGATE_HINT = "replace it by U+FFFD"

Choice = TypeVar("Choice", bound=str)
Item = TypeVar("Item")


@dataclass(frozen=True)
class Problem:
    """One fault in the input.

    Attributes:
        source: File (or table) the fault is in.
        line: Line of the file, from 1; the row for Parquet; None for the whole file.
        field: Column or key at fault; None for the whole line.
        value: The offending value as found.
        fault: What is wrong, as a clause.
        hint: What to do about it, as an instruction.
        is_frame: Whether the source is a table in memory; ``line`` then counts as ``iloc`` does.
        count: Faults that it stands for: 1, or those that were counted and not told one by one.
    """

    source: str
    line: int | None
    field: str | None
    value: object
    fault: str
    hint: str
    is_frame: bool = False
    count: int = 1

    def __str__(self) -> str:
        place = place_of(self.source, self.line, self.is_frame)
        field = "" if self.field is None else f" {self.field} = {_shown(self.value)}:"
        text = f"{place}:{field} {self.fault}; {self.hint}"
        return text.encode(errors="backslashreplace").decode()


def place_of(source: str, line: int | None, is_frame: bool) -> str:
    """Show where something stands: ``answers.jsonl:3``, or ``answers.iloc[3]`` of a frame."""
    if line is None:
        return source
    return f"{source}.iloc[{line}]" if is_frame else f"{source}:{line}"


def counted_problems(
    faults: Sequence[Item], tell: Callable[[Item], Problem] | None = None
) -> list[Problem]:
    """Tell the first faults of a kind as problems, and count the others.

    Args:
        faults: Problems, or what is at fault, in the order of the file.
        tell: Makes a problem of one of them.

    Returns:
        At most ``MOST_PROBLEMS`` problems, and one that counts the rest.
    """
    told = [fault if tell is None else tell(fault) for fault in faults[:MOST_PROBLEMS]]
    problems = cast(list[Problem], told)
    rest = len(faults) - len(problems)
    if rest:
        fault, hint = f"{rest:,} further faults of this kind after this one", "correct those first"
        last = replace(problems[-1], field=None, value=None, fault=fault, hint=hint, count=rest)
        problems.append(last)
    return problems


def _shown(value: object) -> str:
    if isinstance(value, str | bytes):  # repr of a long one is as long
        value = value[: SHOWN_VALUE_CHARACTERS + 1]
    text = repr(value)
    fits = len(text) <= SHOWN_VALUE_CHARACTERS
    return text if fits else text[: SHOWN_VALUE_CHARACTERS - 1] + "…"


def argument(name: str) -> str:
    """Return the name of an argument for the message of an error, which shows it in backticks.

    A mark behind the first of them, which ``str`` leaves out, tells the argument from a name in
    backticks in what a message quotes: the command line shows the argument alone as its option.
    """
    return f"`{ARGUMENT_MARK}{name}`"


class ArenaError(Exception):
    """Base of every error this project raises on purpose.

    Attributes:
        exit_status: Of a command that it ends.
    """

    exit_status: ClassVar[int] = 2

    def __str__(self) -> str:
        return self.marked.replace(ARGUMENT_MARK, "")

    @property
    def marked(self) -> str:
        """The message with the marks of ``argument``."""
        return super().__str__()


class DataError(ArenaError, ValueError):
    """Input that cannot be used, with all its ``problems``, the first of them in the message."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        shown = [f"  {problem}" for problem in self.problems[:SHOWN_PROBLEMS]]
        count = sum(problem.count for problem in self.problems)
        rest = count - sum(problem.count for problem in self.problems[:SHOWN_PROBLEMS])
        if rest:
            shown.append(f"  … and {rest:,} more")
        super().__init__("\n".join([f"{count_of(count, 'problem')} in the input:", *shown]))


class UsageError(ArenaError, ValueError):
    """A request that cannot be met as asked; the message says what can be asked instead."""


class UnusableRepliesError(ArenaError):
    """No reply of a model could be used, so that there is no result; the message says why."""

    exit_status = 1


def checked_choice(value: str, choices: Iterable[Choice], noun: str) -> Choice:
    """Return the choice that a text names; a UsageError that lists them, if it names none."""
    for choice in choices:
        if choice == value:
            return choice
    raise UsageError(f"unknown {noun} {value!r}; use one of {', '.join(choices)}")


class MissingDependencyError(ArenaError, ImportError):
    """An optional package is needed; the message says which extra installs it."""

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package}: "
            f"install it with  pip install 'surrogate-arena[{extra}]'"
        )
