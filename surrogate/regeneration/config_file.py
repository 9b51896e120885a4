"""Reading the configuration of several boards from TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from arena.errors import DataError, Problem, UsageError
from surrogate.regeneration.config_checks import board_problems
from surrogate.regeneration.config_problems import problems_of
from surrogate.regeneration.config_records import BoardOptions, Configuration, MatrixOptions
from surrogate.regeneration.matrix import AXES, combinations

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
        fault, mend = f"is not UTF-8 ({error.reason})", "save it as UTF-8"
    except tomllib.TOMLDecodeError as error:
        fault, mend = f"is no TOML: {error}", "mend the file there"
    raise DataError([Problem(path.name, None, None, None, fault, mend)])


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
