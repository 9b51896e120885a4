"""A configuration of several boards: what it may say, and how it is read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import small_file
from arena.data.wording import did_you_mean
from arena.judging.judging_settings import JudgingSettings
from arena.judging.llm_judge import llm_judges
from arena.llm.llm_settings import CONFIDENTIAL, LlmSettings
from features.declare.feature import Feature
from features.measures.registry import parse_features
from surrogate.board.settings import BoardSettings, preset_values
from surrogate.learning.names import find_surrogate

HIDDEN = "(not shown)"
SEE = "see examples/leaderboards.toml"
FEATURE_SOURCES = ("features", "feature_table")
BOARD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
KEY_LIKE = re.compile(
    r"api_?key|(^|_)key$|token|secret|passw|credential|authorization|bearer", re.IGNORECASE
)

Raw = Mapping[str, Any]
Form = Literal["site", "figures"]


def _board_name(name: str) -> str:
    if not BOARD_NAME.fullmatch(name):
        raise PydanticCustomError(
            "board_name",
            "cannot name a board, whose folder has that name; "
            "use letters, digits, '.', '_' and '-', a letter or digit first",
        )
    return name


class BoardOptions(BoardSettings):
    """One board: its settings, what it is made from, and what is published of it.

    Paths are relative to the configuration file.

    Attributes:
        arena: Arena folder.
        preset: Settings that go together, under those that are stated.
        feature_table: File of features already computed, taken in place of ``features``.
        download: Whether models that are not on this machine may be fetched.
        llm: How LLMs are asked for features; the features name the models.
        judging: Judging by an LLM first; None for the arena's own judgments.
        publish: What is made of the board, as ``publish --as`` makes it.
    """

    arena: str
    preset: str | None = None
    feature_table: str | None = None
    download: bool = False
    llm: LlmSettings | None = None
    judging: JudgingSettings | None = None
    publish: list[Form] = Field(default_factory=list)


class Configuration(BaseModel):
    """A configuration file; ``defaults`` are options of every board that does not state them."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    out: str | None = None
    defaults: dict[str, Any] = {}
    boards: dict[Annotated[str, AfterValidator(_board_name)], dict[str, Any]] = {}


@dataclass(frozen=True)
class ConfiguredBoard:
    """A board to keep up to date: its name and options, and where its paths begin."""

    name: str
    options: BoardOptions
    base: Path

    @property
    def arena(self) -> Path:
        """Its arena folder."""
        return self.base / self.options.arena

    @property
    def settings(self) -> BoardSettings:
        """What it is built with; its features are measured in a step of their own."""
        judging = self.options.judging
        judge = self.options.judge or (judging.judge if judging else None)
        fields = set(BoardSettings.model_fields) - {"features", "judge"}
        return BoardSettings(judge=judge, **self.options.model_dump(include=fields))

    @property
    def judging(self) -> JudgingSettings | None:
        """How an LLM judges first, with paths resolved; None if none does."""
        judging = self.options.judging
        names = [name for name in ("template", "prior") if getattr(judging, name, None)]
        found = {name: str(self.base / getattr(judging, name)) for name in names}
        return judging and judging.model_copy(update=found)

    def features(self) -> tuple[Feature, ...]:
        """Return the features of a board that has no table of them."""
        return parse_features(",".join(self.options.features))


@dataclass(frozen=True)
class Leaderboards:
    """What a configuration file asks for: boards, and the output folder if it names one."""

    file: Path
    out: Path | None
    boards: tuple[ConfiguredBoard, ...]


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
    boards, problems = [], dict[str, Problem]()
    for name, stated in configuration.boards.items():
        found: list[Problem] = []
        try:
            options = BoardOptions.model_validate(_merged(configuration.defaults, stated))
            boards.append(ConfiguredBoard(name, options, path.parent))
            found = list(_faults(boards[-1], path.name))
        except ValidationError as error:
            found = [_problem(item, path.name, name) for item in error.errors()]
        except UsageError as error:
            found = [_refused(path.name, f"boards.{name}", None, error)]
        if name.lower() in {other.name.lower() for other in boards[:-1]}:
            fault, hint = "is the name of two boards", "name each once, upper and lower case alike"
            found.append(Problem(path.name, None, "boards", name, fault, hint))
        problems |= {str(problem): problem for problem in found}
    if problems:
        raise DataError(list(problems.values()))
    out = None if configuration.out is None else path.parent / configuration.out
    return Leaderboards(path, out, tuple(boards))


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
    raise DataError([Problem(path.name, None, None, None, fault, hint)])


def _merged(defaults: Raw, stated: Raw) -> Raw:
    """Lay what a board states over its preset, that over the defaults, these over theirs."""
    whole: dict[str, Any] = {}
    for table in (defaults, stated):
        for layer in (preset_values(table.get("preset")), table):
            sources = [name for name in FEATURE_SOURCES if name in layer]
            if len(sources) > 1:
                raise UsageError("feature_table is given beside features; keep one of them")
            for name in FEATURE_SOURCES if sources else ():
                whole.pop(name, None)
            for key, value in layer.items():
                below = whole.get(key)
                are_tables = isinstance(below, dict) and isinstance(value, dict)
                whole[key] = {**below, **value} if are_tables else value  # type: ignore[dict-item]
    return whole


def _problem(item: ErrorDetails, source: str, board: str = "") -> Problem:
    """Say what pydantic found wrong; what may be a secret is not shown."""
    place = [str(part) for part in item["loc"] if part != "[key]"]
    path = ".".join(["boards", board, *place] if board else place) or None
    value: object = HIDDEN if isinstance(item["input"], dict | list) else item["input"]
    fault, _, hint = item["msg"].partition("; ")
    if item["type"] == CONFIDENTIAL:
        return Problem(source, None, path, HIDDEN, fault, hint)
    if item["type"] == "missing":
        return Problem(source, None, path, None, "is missing", hint or SEE)
    if item["type"] == "extra_forbidden":
        if KEY_LIKE.search(place[-1]):
            hint = (
                "take it out: keys come from the environment only; name a variable by api_key_env"
            )
            return Problem(source, None, path, HIDDEN, "looks like a secret", hint)
        tables = (Configuration, BoardOptions, JudgingSettings)
        known = [name for table in tables for name in table.model_fields]
        hint = did_you_mean(place[-1], known) or SEE
        return Problem(source, None, path, value, "is not a known key here", hint)
    if item["type"] in ("list_type", "tuple_type"):
        hint = "write a list of texts, or one text with commas"
    return Problem(source, None, path, value, f"{fault[:1].lower()}{fault[1:]}", hint or SEE)


def _faults(board: ConfiguredBoard, source: str) -> Iterator[Problem]:
    """Find what pydantic cannot: what is missing, contradicts itself, or has no such name."""
    options, judging, place = board.options, board.judging, f"boards.{board.name}"
    checks: list[tuple[str, object, Callable[[], object]]] = []
    if judging is not None and not judging.model:
        fault, hint = "is missing", "name the model that judges"
        yield Problem(source, None, f"{place}.judging.model", None, fault, hint)
    elif judging is not None:
        chosen = {name.strip() for name in (options.judge or judging.judge).split(",")}
        if not chosen & {judging.judge, "all"}:
            fault = f"is not the judge that judges ({judging.judge})"
            hint = "leave judge or judging out"
            yield Problem(source, None, f"{place}.judge", options.judge, fault, hint)
        checks.append(("judging", judging.template, lambda: llm_judges(judging)))
        if judging.pairs == "adaptive":
            checks.append(("judging.pairs", "adaptive", judging.require_adaptive))
    if options.feature_table is None:
        checks.append(("features", options.features, board.features))
    name, missing = options.surrogate, options.missing
    checks.append(("surrogate", name, lambda: find_surrogate(name, missing=missing)))
    for key, value, check in checks:
        try:
            check()
        except UsageError as error:
            yield _refused(source, f"{place}.{key}", value, error)


def _refused(source: str, path: str, value: object, error: UsageError) -> Problem:
    text, _, hint = str(error).partition("; ")
    return Problem(source, None, path, value, f"cannot be used: {text}", hint or "name another one")
