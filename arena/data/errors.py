"""Errors for bad input: each problem names file, line, field, value and hint."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar, cast
from urllib.parse import unquote, urlsplit

from arena.data.wording import count_of

PACKAGE = "surrogate-arena"
Fault = tuple[str, str]
"""What is wrong with a value, and what to do about it."""
MOST_PROBLEMS = 1000
"""Problems of one kind that are listed one by one; the others are counted."""

ARGUMENT_MARK = "\N{WORD JOINER}"
CONVERT = "'surrogate-arena import csv' converts tables in other forms"
"""Hint for a table that is not in the form of an arena's folder."""
HALF_SURROGATE = "holds half a surrogate pair, which no file can store"
HALF_SURROGATE_HINT = "replace it by U+FFFD"

Choice = TypeVar("Choice", bound=str)
Item = TypeVar("Item")


@dataclass(frozen=True)
class Problem:
    """One fault in the input.

    Attributes:
        line: Line of the file, from 1; the row for Parquet, or ``iloc`` in memory; None for the
            whole file.
        field: Column or key at fault; None for the whole line.
        fault: Clause that says what is wrong.
        hint: What to do about it, as an instruction.
        count: Number of faults: 1, or more where they were not listed one by one.
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
    """Show a place: ``answers.jsonl:3``, or ``answers.iloc[3]`` of a frame."""
    if line is None:
        return source
    return f"{source}.iloc[{line}]" if is_frame else f"{source}:{line}"


def counted_problems(
    faults: Sequence[Item], problem_of: Callable[[Item], Problem] | None = None
) -> list[Problem]:
    """List the first ``MOST_PROBLEMS`` faults, and count the others."""
    listed = faults[:MOST_PROBLEMS]
    if problem_of is None:
        problems = cast(list[Problem], list(listed))
    else:
        problems = [problem_of(fault) for fault in listed]
    n_more = len(faults) - len(problems)
    if n_more:
        rest = replace(
            problems[-1],
            field=None,
            value=None,
            fault=f"{n_more:,} further faults of this kind after this one",
            hint="correct those first",
            count=n_more,
        )
        problems.append(rest)
    return problems


def _shown(value: object) -> str:
    shown_value_characters = 80
    if isinstance(value, str | bytes):  # cut first: the repr of a long text is as long
        value = value[: shown_value_characters + 1]
    text = repr(value)
    if len(text) > shown_value_characters:
        return text[: shown_value_characters - 1] + "…"
    return text


def argument(name: str) -> str:
    """Return an argument's name in backticks for an error's message.

    An invisible mark tells it from quoted names, so that the command line shows its option.
    """
    return f"`{ARGUMENT_MARK}{name}`"


class ArenaError(Exception):
    """Base of every error this project raises on purpose.

    Attributes:
        exit_status: Exit status of a command that it ends.
        heading: What a command prints before the message.
    """

    exit_status: ClassVar[int] = 2
    heading: ClassVar[str] = "error: "

    def __str__(self) -> str:
        return self.marked.replace(ARGUMENT_MARK, "")

    @property
    def marked(self) -> str:
        """Return the message with the marks of ``argument``."""
        return super().__str__()


class DataError(ArenaError, ValueError):
    """Input that cannot be used, with all its ``problems``, the first of them in the message."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        shown_problems = 10
        self.problems = tuple(problems)
        shown = self.problems[:shown_problems]
        n_problems = sum(problem.count for problem in self.problems)
        n_more = n_problems - sum(problem.count for problem in shown)
        lines = [f"{count_of(n_problems, 'problem')} in the input:"]
        hints: set[str] = set()
        for problem in shown:
            # What to do is said once.
            text = str(problem)
            if problem.hint in hints:
                text = text.removesuffix(f"; {problem.hint}")
            lines.append(f"  {text}")
            hints.add(problem.hint)
        if n_more:
            lines.append(f"  … and {n_more:,} more")
        super().__init__("\n".join(lines))

    @classmethod
    def of_file(cls, source: str, fault: str, hint: str, line: int | None = None) -> DataError:
        """Return the error of one fault of a whole file, or of a line of it."""
        return cls([Problem(source, line, None, None, fault, hint)])


class UsageError(ArenaError, ValueError):
    """A request that cannot be met; the message says what can be asked instead."""


class UnusableRepliesError(ArenaError):
    """No reply could be used, so there is no result."""

    exit_status = 1


def checked_choice(value: str, choices: Iterable[Choice], noun: str) -> Choice:
    """Return the choice that a text names; a UsageError lists all."""
    for choice in choices:
        if choice == value:
            return choice
    raise UsageError(f"unknown {noun} {value!r}; use one of {', '.join(choices)}")


class MissingDependencyError(ArenaError, ImportError):
    """An optional package is needed; the message says which extra installs it."""

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package}: install it with  {_install_command(extra)}"
        )


def _install_command(extra: str) -> str:
    """Return the command that installs an extra (PEP 610)."""
    from importlib.metadata import PackageNotFoundError, distribution

    requirement = f"{PACKAGE}[{extra}]"
    try:
        written = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        written = None
    if written is None:
        return f"pip install '{requirement}'"
    origin = json.loads(written)
    if "dir_info" in origin:
        folder = unquote(urlsplit(origin["url"]).path)
        return f"pip install -e '{folder}[{extra}]'"
    scheme = f"{origin['vcs_info']['vcs']}+" if "vcs_info" in origin else ""
    return f"pip install '{requirement} @ {scheme}{origin['url']}'"
