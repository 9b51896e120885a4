"""A configuration of several boards: how it is read, and what is wrong with it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import small_file
from arena.data.wording import did_you_mean
from arena.judging.judging_settings import JudgingSettings
from arena.judging.llm_judge import llm_judges
from arena.llm.llm_settings import CONFIDENTIAL
from surrogate.board.settings import preset_values
from surrogate.learning.names import find_surrogate
from surrogate_arena.pages.formats import slugs
from surrogate_arena.pages.site_settings import SiteSettings
from surrogate_arena.runs.configured import (
    ALL_BOARDS,
    BoardOptions,
    Configuration,
    ConfiguredBoard,
    ConfiguredOverview,
    Leaderboards,
    RunSite,
)

HIDDEN = "(not shown)"
SEE = "see examples/leaderboards.toml"
FEATURE_SOURCES = ("features", "feature_table")
KEY_LIKE = re.compile(
    r"api_?key|(^|_)key$|token|secret|passw|credential|authorization|bearer", re.IGNORECASE
)

Raw = Mapping[str, Any]
OF_ALL = {"license", "home", "questions"}
"""Settings of ``[site]`` that hold for the pages of every board."""


def read_configuration(path: Path | str) -> Leaderboards:
    """Read and check a configuration file (TOML); paths in it are relative to its folder.

    Raises:
        UsageError: If there is no such file, or it names no board.
        DataError: If it is no TOML or something in it cannot be used; lists all problems with
            the table and key at fault.
    """
    path = Path(path)
    raw = _read_toml(path)
    try:
        configuration = Configuration.model_validate(raw)
    except ValidationError as error:
        raise DataError([_problem(item, path.name) for item in error.errors()]) from error
    if not configuration.boards:
        raise UsageError(f"{path.name} names no board; add a table [boards.NAME] with an arena")
    boards, overviews, problems = _configured_boards(configuration, path)
    if problems:
        # A fault of the defaults is found once for every board.
        unique = {str(problem): problem for problem in problems}
        raise DataError(list(unique.values()))
    out = None if configuration.out is None else path.parent / configuration.out
    return Leaderboards(path, out, tuple(boards), tuple(overviews), configuration.site)


def _configured_boards(
    configuration: Configuration, path: Path
) -> tuple[list[ConfiguredBoard], list[ConfiguredOverview], list[Problem]]:
    """Return the boards and overviews of a file, and what is wrong with any of them."""
    boards: list[ConfiguredBoard] = []
    overviews: list[ConfiguredOverview] = []
    problems: list[Problem] = []
    for name, table in configuration.boards.items():
        # Folders of boards must differ on file systems that ignore case, too.
        names = [board.name.lower() for board in boards]
        names += [overview.name.lower() for overview in overviews]
        is_taken = name.lower() in names
        try:
            options = BoardOptions.model_validate(_merged(configuration.defaults, table))
            board = ConfiguredBoard(
                name,
                options,
                path.parent,
                _pages(configuration.site, options.site, name),
                configuration.site.title or ALL_BOARDS,
            )
            problems.extend(_faults(board, path.name))
            if options.weights:
                overview, parts = _by_criterion(board)
                overviews.append(overview)
                boards.extend(parts)
            else:
                boards.append(board)
        except ValidationError as error:
            problems.extend(_problem(item, path.name, name) for item in error.errors())
        except UsageError as error:
            problems.append(_refused(path.name, f"boards.{name}", None, error))
        if is_taken:
            fault = "is the name of two boards"
            hint = "name each once, upper and lower case alike"
            problems.append(Problem(path.name, None, "boards", name, fault, hint))
    return boards, overviews, problems


def _pages(of_all: RunSite, of_board: SiteSettings, name: str) -> SiteSettings:
    """Return what the pages of a board state: its own settings, over those of all boards."""
    stated = of_all.model_dump(include=OF_ALL, exclude_unset=True)
    stated |= of_board.model_dump(exclude_unset=True)
    stated["title"] = of_board.title or name
    return SiteSettings(**stated)


def _by_criterion(board: ConfiguredBoard) -> tuple[ConfiguredOverview, list[ConfiguredBoard]]:
    """Return an overview of criteria, and a board for each."""
    weights = board.options.weights
    names = {
        criterion: f"{board.name}-{slug}" for criterion, slug in slugs(sorted(weights)).items()
    }
    parts = []
    for criterion in weights:
        title = f"{board.pages.title}: {criterion}"
        parts.append(
            replace(
                board,
                name=names[criterion],
                options=board.options.model_copy(update={"criterion": criterion}),
                pages=board.pages.model_copy(update={"title": title}),
                overview=board.name,
            )
        )
    overview = ConfiguredOverview(
        board.name, names, weights, board.pages, board.parent, "site" in board.options.publish
    )
    return overview, parts


def _read_toml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise UsageError(f"there is no configuration at {path}")
    try:
        return tomllib.loads(small_file(path).decode())
    except UnicodeDecodeError as error:
        fault, hint = f"is not UTF-8 ({error.reason})", "save it as UTF-8"
    except tomllib.TOMLDecodeError as error:
        fault, hint = f"is not valid TOML: {error}", "correct the file there"
    except RecursionError:
        fault, hint = "is nested too deeply", "write fewer brackets inside each other"
    raise DataError.of_file(path.name, fault, hint)


def _merged(defaults: Raw, options: Raw) -> Raw:
    """Merge a board's options: its own, over its preset, over the defaults, over their preset."""
    layers = (
        preset_values(defaults.get("preset")),
        defaults,
        preset_values(options.get("preset")),
        options,
    )
    merged: dict[str, Any] = {}
    for layer in layers:
        sources = [name for name in FEATURE_SOURCES if name in layer]
        if len(sources) > 1:
            raise UsageError("feature_table and features are both given; keep one of them")
        if sources:
            # A source of features replaces the other kind in the layers below.
            for name in FEATURE_SOURCES:
                merged.pop(name, None)
        for key, value in layer.items():
            lower_value = merged.get(key)
            if isinstance(lower_value, dict) and isinstance(value, dict):
                merged[key] = {**lower_value, **value}
            else:
                merged[key] = value
    return merged


def _problem(item: ErrorDetails, source: str, board: str = "") -> Problem:
    """Return a problem that pydantic found; a value that may be a secret is not shown."""
    keys = [str(part) for part in item["loc"] if part != "[key]"]
    path = ".".join(["boards", board, *keys] if board else keys) or None
    value: object = HIDDEN if isinstance(item["input"], dict | list) else item["input"]
    fault, _, hint = item["msg"].partition("; ")
    if item["type"] == CONFIDENTIAL:
        return Problem(source, None, path, HIDDEN, fault, hint)
    if item["type"] == "missing":
        return Problem(source, None, path, None, "is missing", hint or SEE)
    if item["type"] == "extra_forbidden":
        if KEY_LIKE.search(keys[-1]):
            hint = (
                "take it out: keys come from the environment only; name a variable by api_key_env"
            )
            return Problem(source, None, path, HIDDEN, "looks like a secret", hint)
        hint = _hint_on_key(keys, BoardOptions if board else Configuration, board)
        return Problem(source, None, path, value, "is not a known key here", hint)
    if item["type"] in ("list_type", "tuple_type"):
        hint = "write a list of texts, or one text with commas"
    if keys[-1] == "questions" and value == 0:
        hint = "to hide questions and answers, write questions = 0 under [site]"
    return Problem(source, None, path, value, f"{fault[:1].lower()}{fault[1:]}", hint or SEE)


def _hint_on_key(keys: Sequence[str], root: type[BaseModel], board: str) -> str:
    """Say where an unknown key belongs, or which key of its own table may have been meant.

    Args:
        keys: The names of its table, from ``root`` on, and the key.
        root: The settings at the top: of a board, or of all boards.
        board: Name of the board; empty outside boards.
    """
    *names, key = keys
    table = root
    for name in names:
        table = _table_of(table.model_fields[name])
    in_board = f"boards.{board}" if board else "defaults"
    tables: dict[str, type[BaseModel]] = {
        f"under [{in_board}]": BoardOptions,
        f"under [{in_board}.site]": SiteSettings,
        "under [site]": RunSite,
        f"under [{in_board}.judging]": JudgingSettings,
        "above the first table": Configuration,
    }
    for where, other in tables.items():
        if key in other.model_fields:
            return f"write it {where}"
    close = did_you_mean(key, table.model_fields)
    return close or f"use any of {', '.join(table.model_fields)}"


def _table_of(field: FieldInfo) -> type[BaseModel]:
    """Return the settings that a field holds."""
    for kind in (field.annotation, *get_args(field.annotation)):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    raise TypeError(f"{field} holds no settings")


def _faults(board: ConfiguredBoard, source: str) -> Iterator[Problem]:
    """Find what pydantic cannot: what is missing, contradicts itself, or has no such name."""
    if board.judging is not None:
        yield from _judging_faults(board, board.judging, source)
    if board.options.weights:
        yield from _weight_faults(board, source)
    for key, value, use in _uses(board):
        try:
            use()
        except UsageError as error:
            yield _refused(source, f"boards.{board.name}.{key}", value, error)


def _judging_faults(
    board: ConfiguredBoard, judging: JudgingSettings, source: str
) -> Iterator[Problem]:
    """Find whether a board's judge is missing, another than its ratings use, or cannot be paid."""
    table = f"boards.{board.name}"
    if not _names_judge(judging):
        hint = "name the model that judges"
        yield Problem(source, None, f"{table}.judging.model", None, "is missing", hint)
        return
    rated_judges = board.options.judge or judging.judge
    names = {name.strip() for name in rated_judges.split(",")}
    if names.isdisjoint({judging.judge, *judging.judge.split(","), "all"}):
        fault = f"is not the judge that judges ({judging.judge})"
        hint = "leave judge or judging out"
        yield Problem(source, None, f"{table}.judge", board.options.judge, fault, hint)
    if judging.max_cost is not None:
        fault = "needs prices, which a configuration does not have"
        hint = "limit the calls: budget"
        path = f"{table}.judging.max_cost"
        yield Problem(source, None, path, judging.max_cost, fault, hint)


def _names_judge(judging: JudgingSettings) -> bool:
    return bool(judging.model or judging.plug_in)


def _weight_faults(board: ConfiguredBoard, source: str) -> Iterator[Problem]:
    """Find whether a board's weights of criteria are all 0, or of a board that judges."""
    path = f"boards.{board.name}.weights"
    if not sum(board.options.weights.values()):
        hint = "give one of them a weight above 0"
        yield Problem(source, None, path, HIDDEN, "are all 0", hint)
    if board.judging is not None:
        fault = "are of judgments that the arena has"
        yield Problem(source, None, path, HIDDEN, fault, "leave judging or weights out")


def _uses(board: ConfiguredBoard) -> Iterator[tuple[str, object, Callable[[], object]]]:
    """Yield each setting that names something: its key, its value, and what raises UsageError."""
    options = board.options
    judging = board.judging
    if judging is not None and _names_judge(judging):
        yield "judging", judging.template, partial(llm_judges, judging)
        yield "judging.pairs", judging.pairs, judging.require_plan
    if options.feature_table is None:
        yield "features", options.features, board.features
    find = partial(find_surrogate, options.surrogate, missing=options.missing)
    yield "surrogate", options.surrogate, find


def _refused(source: str, path: str, value: object, error: UsageError) -> Problem:
    text, _, hint = str(error).partition("; ")
    return Problem(source, None, path, value, f"cannot be used: {text}", hint or "name another one")
