"""Reading a configuration of several boards, and its faults."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import small_file
from arena.data.wording import did_you_mean
from arena.judging.judging_settings import JudgingSettings
from arena.judging.llm_judge import llm_judges
from arena.llm.llm_settings import CONFIDENTIAL
from features.measures.choosing import parse_features
from surrogate.board.settings import preset_values
from surrogate.learning.surrogate import find_surrogate
from surrogate_arena.cli.file_settings import checked_settings
from surrogate_arena.pages.site_settings import SiteSettings
from surrogate_arena.runs.configured import (
    ALL_BOARDS,
    BoardOptions,
    Configuration,
    ConfiguredBoard,
    Leaderboards,
    RunSite,
)

HIDDEN = "(not shown)"
SEE = "see examples/leaderboards.toml"

Raw = Mapping[str, Any]
OF_ALL = {"license", "home", "questions", "submissions"}
"""Settings of ``[site]`` that hold for the pages of every board."""
FEATURE_SOURCES = {"features": "feature_table", "feature_table": "features"}
"""Each source of features to the other one, which it replaces."""


def read_configuration(path: Path | str, servers: Collection[str] = ()) -> Leaderboards:
    """Read and check a configuration file (TOML); paths in it are relative to its folder."""
    path = Path(path)
    raw = _read_toml(path)
    try:
        configuration = Configuration.model_validate(raw)
    except ValidationError as error:
        raise DataError([_problem(item, path.name) for item in error.errors()]) from error
    if not configuration.boards:
        raise UsageError(f"{path.name} names no board; add a table [boards.NAME] with an arena")
    boards, problems = _configured_boards(configuration, path, servers)
    if problems:
        # A fault of the defaults is found once for every board.
        unique = {str(problem): problem for problem in problems}
        raise DataError(list(unique.values()))
    out = None if configuration.out is None else path.parent / configuration.out
    return Leaderboards(path, out, tuple(boards), configuration.site)


def _configured_boards(
    configuration: Configuration, path: Path, servers: Collection[str]
) -> tuple[list[ConfiguredBoard], list[Problem]]:
    boards: list[ConfiguredBoard] = []
    problems: list[Problem] = []
    for name, table in configuration.boards.items():
        # Folders of boards must differ on file systems that ignore case, too.
        if name.lower() in [board.name.lower() for board in boards]:
            fault = "is the name of two boards"
            hint = "name each once, upper and lower case alike"
            problems.append(Problem(path.name, None, "boards", name, fault, hint))
        try:
            options = BoardOptions.model_validate(_merged(configuration.defaults, table))
            # What the pages of a board state goes before what those of all boards do.
            stated = configuration.site.model_dump(include=OF_ALL, exclude_unset=True)
            if configuration.site.address:
                stated["address"] = f"{configuration.site.address.rstrip('/')}/{name}"
            stated |= options.site.model_dump(exclude_unset=True)
            pages = SiteSettings(**{**stated, "title": options.site.title or name})
            parent = configuration.site.title or ALL_BOARDS
            judging = options.judging
            if judging is not None:
                folders = dict.fromkeys(judging.model_fields_set, path.parent)
                judging = checked_settings(judging, folders, servers)
            board = ConfiguredBoard(name, options, path.parent, pages, parent, judging)
            problems.extend(_faults(board, path.name))
            boards.append(board)
        except ValidationError as error:
            problems.extend(_problem(item, path.name, name) for item in error.errors())
        except UsageError as error:
            problems.append(_refused(path.name, f"boards.{name}", error))
    return boards, problems


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
    merged = dict(defaults)
    for key, value in options.items():
        if key in FEATURE_SOURCES:
            merged.pop(FEATURE_SOURCES[key], None)
        default = merged.get(key)
        if isinstance(default, dict) and isinstance(value, dict):
            merged[key] = {**default, **value}
        else:
            merged[key] = value
    for table in (defaults, options):
        if FEATURE_SOURCES.keys() <= table.keys():
            raise UsageError("feature_table and features are both given; keep one of them")
    return {**preset_values(merged.get("preset")), **merged}


def _problem(item: ErrorDetails, source: str, board: str = "") -> Problem:
    keys = [str(part) for part in item["loc"] if part != "[key]"]
    path = ".".join(["boards", board, *keys] if board else keys) or None
    value: object = HIDDEN if isinstance(item["input"], dict | list) else item["input"]
    fault, _, hint = item["msg"].partition("; ")
    if item["type"] == CONFIDENTIAL:
        return Problem(source, None, path, HIDDEN, fault, hint)
    if item["type"] == "missing":
        return Problem(source, None, path, None, "is missing", hint or SEE)
    if item["type"] == "extra_forbidden":
        # It may be a key that somebody pasted: those come from the environment alone.
        known = _table_of(keys[:-1], is_of_board=bool(board)).model_fields
        hint = did_you_mean(keys[-1], known) or f"use any of {', '.join(known)}"
        return Problem(source, None, path, HIDDEN, "is not a known key here", hint)
    if item["type"] in ("list_type", "tuple_type"):
        hint = "write a list of texts, or one text with commas"
    return Problem(source, None, path, value, f"{fault[:1].lower()}{fault[1:]}", hint or SEE)


def _table_of(names: list[str], *, is_of_board: bool) -> type[BaseModel]:
    if "judging" in names:
        return JudgingSettings
    if "site" in names:
        return SiteSettings if is_of_board else RunSite
    return BoardOptions if is_of_board else Configuration


def _faults(board: ConfiguredBoard, source: str) -> Iterator[Problem]:
    options = board.options
    table = f"boards.{board.name}"
    if board.judging is not None:
        yield from _judging_faults(board, board.judging, source)
    if options.feature_table is None:
        try:
            parse_features(",".join(options.features))
        except UsageError as error:
            yield _refused(source, f"{table}.features", error)
    try:
        find_surrogate(options.surrogate, missing=options.missing)
    except UsageError as error:
        yield _refused(source, f"{table}.surrogate", error)


def _judging_faults(
    board: ConfiguredBoard, judging: JudgingSettings, source: str
) -> Iterator[Problem]:
    table = f"boards.{board.name}"
    if not (judging.model or judging.plug_in):
        hint = "name the model that judges"
        yield Problem(source, None, f"{table}.judging.model", None, "is missing", hint)
        return
    rated_judges = board.options.judge or judging.judge
    names = {name.strip() for name in rated_judges.split(",")}
    if names.isdisjoint({judging.judge, *judging.judge.split(","), "all"}):
        fault = f"is not the judge that judges ({judging.judge})"
        hint = "leave judge or judging out"
        yield Problem(source, None, f"{table}.judge", board.options.judge, fault, hint)
    try:
        llm_judges(judging)
        judging.require_plan()
    except UsageError as error:
        yield _refused(source, f"{table}.judging", error)


def _refused(source: str, path: str, error: UsageError) -> Problem:
    text, _, hint = str(error).partition("; ")
    return Problem(source, None, path, None, f"cannot be used: {text}", hint or "name another one")
