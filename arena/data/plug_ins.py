"""Plug-ins: features, judges and importers that other installed packages declare.

A package declares them as entry points (``pyproject.toml``), such as::

    [project.entry-points."surrogate_arena.features"]
    digit_share = "arena_example.digits:DIGIT_SHARE"

Import only plug-ins that the user names, never one that a file names: it may come from anybody.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cache, update_wrapper
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import extract_tb
from typing import Any, Literal

from arena.data.errors import PACKAGE, ArenaError, UsageError

Kind = Literal["feature", "judge", "importer"]


@dataclass(frozen=True)
class PlugIn:
    """A feature, judge or importer of another installed package."""

    kind: Kind
    name: str
    package: str
    entry_point: EntryPoint = field(repr=False)

    def __str__(self) -> str:
        return f"the {self.kind} {self.name} of the package {self.package}"

    def load(self) -> Any:  # noqa: ANN401 - what the package declares
        """Import the object that the package declares."""
        try:
            # What a module prints must not mix with a command's output, which may be JSON.
            with redirect_stdout(sys.stderr):
                return self.entry_point.load()
        except (Exception, SystemExit) as error:
            raise self.unusable(f"cannot be imported: {exception_line(error)}") from error

    def load_function(self) -> Guarded:
        """Import a function whose later exceptions name the package."""
        target = self.load()
        if not callable(target):
            raise self.unusable(f"is of type {type(target).__name__}, not a function")
        return Guarded(target, str(self))

    def unusable(self, fault: str) -> UsageError:
        """Return the error of a faulty plug-in."""
        return _unusable(str(self), fault)


class Guarded:
    """A plug-in's function: what it raises names its package."""

    def __init__(self, function: Callable[..., Any], origin: str) -> None:
        update_wrapper(self, function)
        self.function = function
        self.origin = origin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guarded) and self.function == other.function

    def __hash__(self) -> int:
        return hash(self.function)

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - of any function
        """Call the function; anything but an ``ArenaError`` becomes a UsageError."""
        try:
            return self.function(*args, **options)
        except ArenaError:
            raise
        except Exception as error:
            raise _unusable(self.origin, f"raised {exception_line(error)}") from error


def _unusable(origin: str, fault: str) -> UsageError:
    return UsageError(f"{origin} {fault}; update or uninstall that package")


@cache
def plug_ins(kind: Kind) -> tuple[PlugIn, ...]:
    """Return a kind's plug-ins, sorted, without importing any."""
    declared: set[PlugIn] = set()
    for entry_point in entry_points(group=f"surrogate_arena.{kind}s"):
        distribution = entry_point.dist
        package = "of unknown name"
        if distribution is not None:
            package = f"{distribution.name} {distribution.version}"
        declared.add(PlugIn(kind, entry_point.name, package, entry_point))
    return tuple(sorted(declared, key=lambda plug_in: (plug_in.name, plug_in.package)))


def find_plug_in(kind: Kind, name: str, builtin: Collection[str] = ()) -> PlugIn | None:
    """Return the plug-in of a name, if any."""
    declared = [plug_in for plug_in in plug_ins(kind) if plug_in.name == name]
    packages = [plug_in.package for plug_in in declared]
    if name in builtin:
        packages.insert(0, PACKAGE)
    if len(packages) > 1:
        raise UsageError(
            f"the {kind} {name} is declared by {' and by '.join(packages)}; uninstall one of "
            "them, or ask its authors for another name"
        )
    return declared[0] if declared else None


def exception_line(error: BaseException, files: Collection[str] = ()) -> str:
    """Say in one line what was raised, and where in ``files``."""
    longest_message = 300
    frames = extract_tb(error.__traceback__)
    named_frames = [frame for frame in frames if frame.filename in files]
    last = (named_frames or frames)[-1]
    message = " ".join(str(error).split())[:longest_message]
    return f"{type(error).__name__}: {message} ({Path(last.filename).name}, line {last.lineno})"
