"""Checking what the keys of a configuration say together, and names that other parts define."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from arena.data.errors import DataError, Problem, UsageError
from surrogate.learning.names import find_surrogate
from surrogate.learning.saving import check_savable
from surrogate.runs.config import (
    BoardOptions,
    Configuration,
    MatrixOptions,
    chosen_features,
    problems_of,
)

if TYPE_CHECKING:
    pass

Fault = tuple[str, object, str, str]
"""A key, its value, what is wrong with it, and the hint."""

_FEATURES = "features"


def board_problems(boards: Sequence[ConfiguredBoard], path: Path) -> list[Problem]:
    """Find what pydantic cannot: what is missing, contradicts itself, or has no such name.

    Args:
        boards: The boards, defaults laid under them.
        path: The configuration file.
    """
    return [
        Problem(path.name, None, f"{board.name}.{key}", value, fault, hint)
        for board in boards
        for key, value, fault, hint in _faults(board)
    ]


def _faults(board: ConfiguredBoard) -> Iterator[Fault]:
    options = board.options
    if not options.arena:
        yield "arena", options.arena, "is missing", "name the arena folder"
    if options.judging is not None and not options.judging.model:
        yield "judging.model", None, "is missing", "name the model that judges"
    if options.judging is not None and options.judge not in (None, options.judging.judge):
        yield (
            *("judge", options.judge, f"is not the judge that judges ({options.judging.judge})"),
            "leave judge or judging out",
        )
    yield from _feature_faults(board)
    yield from _surrogate_faults(board)


def _feature_faults(board: ConfiguredBoard) -> Iterator[Fault]:
    options = board.options
    sources = {
        "features": options.features,
        "feature_file": options.feature_file,
        "feature_table": options.feature_table,
    }
    stated = [name for name, value in sources.items() if value is not None]
    if len(stated) > 1:
        yield stated[1], sources[stated[1]], f"stands beside {stated[0]}", "keep one of them"
    elif stated != ["feature_table"]:
        key = stated[0] if stated else _FEATURES
        yield from _refused(key, sources[key], lambda: chosen_features(board))


def _surrogate_faults(board: ConfiguredBoard) -> Iterator[Fault]:
    surrogate = board.options.surrogate
    yield from _refused("surrogate", surrogate, lambda: check_savable(surrogate))
    validation = board.options.after.validation
    if validation is not None:
        model = validation.model
        yield from _refused("after.validation.model", model, lambda: find_surrogate(model))


def _refused(key: str, value: object, find: Callable[[], object]) -> Iterator[Fault]:
    """Yield what the owner of a name says against it."""
    try:
        find()
    except UsageError as error:
        fault, _, hint = str(error).partition("; ")
        yield key, value, f"cannot be used: {fault}", hint or "name another one"


AXES = ("arenas", "judges", "feature_sets", "surrogates")

Stated = dict[str, Any]

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._]+")


def combinations(axes: MatrixOptions, with_judging: bool) -> Iterator[tuple[str, Stated]]:
    """Yield what distinguishes each board of a matrix.

    Args:
        axes: The matrix.
        with_judging: Whether an LLM judges first; judges are then the models that do.

    Yields:
        The end of the board's name, such as ``-rakuda-gpt-4o``, and the options it states.
    """
    chosen = [
        [(name, {"arena": folder}) for name, folder in (axes.arenas or {}).items()],
        [(name, _judge(name, with_judging)) for name in axes.judges or ()],
        [(name, {"features": names}) for name, names in (axes.feature_sets or {}).items()],
        [(name, {"surrogate": name}) for name in axes.surrogates or ()],
    ]
    for parts in product(*(axis for axis in chosen if axis)):
        suffix = "".join(f"-{_part_of_name(name)}" for name, _ in parts)
        stated: Stated = {}
        for _, options in parts:
            stated |= options
        yield suffix, stated


def _judge(name: str, with_judging: bool) -> Stated:
    return {"judging": {"model": name}} if with_judging else {"judge": name}


def _part_of_name(name: str) -> str:
    return _NOT_IN_NAMES.sub("-", name).strip("-") or "unnamed"


_FEATURE_SOURCES = ("features", "feature_file", "feature_table")

Raw = Mapping[str, Any]


@dataclass(frozen=True)
class ConfiguredBoard:
    """A board to keep up to date.

    Attributes:
        name: Its name, and that of its folder.
        options: How it is built.
        base: Folder that its paths are relative to.
    """

    name: str
    options: BoardOptions
    base: Path

    @property
    def arena(self) -> Path:
        """Its arena folder."""
        return self.base / str(self.options.arena)

    @property
    def judge(self) -> str | None:
        """The judge to learn from; the LLM that judges first, if one does."""
        judging = self.options.judging
        return self.options.judge or (judging.judge if judging else None)


@dataclass(frozen=True)
class Leaderboards:
    """What a configuration asks for.

    Attributes:
        file: The configuration file.
        out: Output folder it names, or None.
        boards: The boards, those of a matrix among them.
    """

    file: Path
    out: Path | None
    boards: tuple[ConfiguredBoard, ...]


def read_configuration(path: Path | str) -> Leaderboards:
    """Read and check a configuration file.

    Args:
        path: TOML file; paths in it are relative to its folder.

    Raises:
        UsageError: If there is no such file, or it names no board.
        DataError: If it is no TOML or something in it cannot be used; lists all problems with
            the table and key at fault.
    """
    path = Path(path)
    raw = _read_toml(path)
    configuration = _checked(raw, path)
    boards = [
        ConfiguredBoard(name, _options(raw.get("defaults", {}), stated), path.parent)
        for name, stated in _all_boards(raw)
    ]
    problems = [*_repeated(boards, path), *board_problems(boards, path)]
    if problems:
        raise DataError(problems)
    if not boards:
        raise UsageError(f"{path.name} names no board; add a table [boards.NAME] with an arena")
    out = None if configuration.out is None else path.parent / configuration.out
    return Leaderboards(path, out, tuple(boards))


def _read_toml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise UsageError(f"there is no configuration at {path}")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        fault, hint = f"is not UTF-8 ({error.reason})", "save it as UTF-8"
    except tomllib.TOMLDecodeError as error:
        fault, hint = f"is no TOML: {error}", "hint the file there"
    raise DataError([Problem(path.name, None, None, None, fault, hint)])


def _checked(raw: Raw, path: Path) -> Configuration:
    try:
        return Configuration.model_validate(raw)
    except ValidationError as error:
        raise DataError(problems_of(error, path.name)) from error


def _all_boards(raw: Raw) -> Iterator[tuple[str, Raw]]:
    """Yield the name of every board, and what is stated of it."""
    yield from raw.get("boards", {}).items()
    for name, stated in raw.get("matrix", {}).items():
        axes = MatrixOptions.model_validate(stated)
        shared = {key: value for key, value in stated.items() if key not in AXES}
        for suffix, chosen in combinations(axes, "judging" in stated or _judges_by_default(raw)):
            yield f"{name}{suffix}", _merged(shared, chosen)


def _judges_by_default(raw: Raw) -> bool:
    return "judging" in raw.get("defaults", {})


def _options(defaults: Raw, stated: Raw) -> BoardOptions:
    if any(source in stated for source in _FEATURE_SOURCES):
        defaults = {key: value for key, value in defaults.items() if key not in _FEATURE_SOURCES}
    return BoardOptions.model_validate(_merged(defaults, stated))


def _merged(below: Raw, above: Raw) -> dict[str, Any]:
    """Lay one table over another, tables inside them too."""
    merged = dict(below)
    for key, value in above.items():
        both_tables = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if both_tables else value
    return merged


def _repeated(boards: list[ConfiguredBoard], path: Path) -> Iterator[Problem]:
    """Tell boards whose folders could be the same one, on any file system."""
    seen: set[str] = set()
    for board in boards:
        if board.name.lower() in seen:
            yield Problem(
                *(path.name, None, "boards", board.name, "is the name of two boards"),
                "name each once, upper and lower case apart; boards of a matrix are named "
                "MATRIX-ARENA-JUDGE-FEATURES-SURROGATE by the axes it has",
            )
        seen.add(board.name.lower())
