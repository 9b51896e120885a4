"""A configuration of several boards: what it may say, and how it is read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import small_file
from arena.data.wording import did_you_mean
from arena.judging.settings import JudgingSettings
from arena.llm.settings import CONFIDENTIAL
from arena.text.prompts import Templates, read_templates
from features.declare.feature import Feature
from features.measures.registry import parse_features, with_templates
from features.models import FEATURE_PROMPTS
from surrogate.board.settings import BoardSettings, Names, Positive, preset_values
from surrogate.learning.names import find_surrogate

HIDDEN = "(not shown)"

_BOARD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_KEY_LIKE = re.compile(
    r"api_?key|(^|_)key$|token|secret|passw|credential|authorization|bearer", re.IGNORECASE
)
_REMARK = re.compile(r"(^|\s)#.*")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._]+")


def _board_name(name: str) -> str:
    if not _BOARD_NAME.fullmatch(name):
        raise PydanticCustomError(
            "board_name",
            "is no name of a board, for its folder is called so; "
            "use letters, digits, '.', '_' and '-', a letter or digit first",
        )
    return name


BoardName = Annotated[str, AfterValidator(_board_name)]
ExportFormat = Literal["csv", "json", "parquet", "latex", "markdown"]


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ValidationOptions(_Table):
    """A validation after the board; see ``surrogate.validation.validate``.

    Attributes:
        protocol: How systems, languages or questions are held out.
        surrogate: Surrogate to validate, with default rows; the board's own, with its rows and
            rule of missing values, if None.
        repeats: Repeats; the protocol's own number if None.
        tournaments: Bootstrapped tournaments a language.
    """

    protocol: Literal[
        "leave-systems-out",
        "leave-language-out",
        "mirage",
    ]
    surrogate: str | None = None
    repeats: Positive | None = None
    tournaments: Positive = 50


class AfterOptions(_Table):
    """What is made of a board once it is built.

    Attributes:
        site: Its web pages.
        plots: Its figures.
        exports: Formats to write its tables in.
        validation: How well its surrogate ranks what it has not seen; None for no validation.
    """

    site: bool = False
    plots: bool = False
    exports: list[ExportFormat] = []
    validation: ValidationOptions | None = None


class BoardOptions(BoardSettings):
    """One board: its settings, what it is made from, and what is made of it.

    Paths are relative to the configuration file.

    Attributes:
        preset: Settings that go together, under those that are stated.
        arena: Arena folder.
        features: Names of features and groups; the group ``default`` if nothing is said.
        feature_file: File with such names, one or several a line; ``#`` begins a remark.
        feature_table: File of features already computed, taken in their place.
        device: Where features' models run.
        batch_size: Sequences that a model takes at once.
        download: Whether models that are not on this machine may be fetched.
        templates: File of a template by the name of the prompt that it replaces.
        judging: Judging by an LLM first; None for the arena's own judgments.
        after: What is made of the board.
    """

    preset: Literal["mirage"] | None = None
    arena: str | None = None
    features: Names | None = None  # type: ignore[assignment]
    feature_file: str | None = None
    feature_table: str | None = None
    device: str = "auto"
    batch_size: Positive = 32
    download: bool = False
    templates: dict[str, str] = Field(default_factory=dict)
    judging: JudgingSettings | None = None
    after: AfterOptions = AfterOptions()


class MatrixOptions(BoardOptions):
    """Boards by every combination of what its axes hold; further options count for all.

    Attributes:
        arenas: Name to arena folder.
        judges: Judges; with ``judging``, the models that judge.
        feature_sets: Name to features.
        surrogates: Surrogates.
    """

    arenas: Annotated[dict[BoardName, str], Field(min_length=1)] | None = None
    judges: Annotated[list[str], Field(min_length=1)] | None = None
    feature_sets: Annotated[dict[BoardName, Names], Field(min_length=1)] | None = None
    surrogates: Annotated[list[str], Field(min_length=1)] | None = None


class Configuration(_Table):
    """A configuration file.

    Attributes:
        out: Output folder, relative to the file.
        defaults: Options of every board that does not state them.
        boards: Name to board.
        matrix: Name to combinations of boards.
    """

    out: str | None = None
    defaults: BoardOptions = BoardOptions()
    boards: dict[BoardName, BoardOptions] = {}
    matrix: dict[BoardName, MatrixOptions] = {}


_TABLES: tuple[type[BaseModel], ...] = (
    *(Configuration, MatrixOptions, JudgingSettings, AfterOptions, ValidationOptions),
)
_AXES = ("arenas", "judges", "feature_sets", "surrogates")
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

    @property
    def settings(self) -> BoardSettings:
        """What it is built with; its features are measured in a step of their own."""
        fields = set(BoardSettings.model_fields) - {"features", "judge"}
        return BoardSettings(judge=self.judge, **self.options.model_dump(include=fields))

    @property
    def judging(self) -> JudgingSettings | None:
        """How an LLM judges first, the path of its template resolved; None if none does."""
        judging = self.options.judging
        if judging is None:
            return None
        paths = {"template": judging.template, "prior": judging.prior}
        found = {name: str(self.base / path) for name, path in paths.items() if path is not None}
        return judging.model_copy(update=found)

    @property
    def templates(self) -> Templates:
        """What takes the place of its features' prompts.

        Raises:
            UsageError: For an unknown prompt, or a file that is absent or no such template.
        """
        given = {name: self.base / file for name, file in self.options.templates.items()}
        return read_templates(given, FEATURE_PROMPTS)

    def features(self) -> tuple[Feature, ...]:
        """Return the features of a board that has no table of them.

        Raises:
            UsageError: For an unknown feature, one named twice, a file of names that is absent, or
                a template that cannot be used.
        """
        return with_templates(self._named_features(), self.templates)

    def _named_features(self) -> tuple[Feature, ...]:
        if self.options.feature_file is None:
            return parse_features(",".join(self.options.features or ("default",)))
        path = self.base / self.options.feature_file
        if not path.is_file():
            raise UsageError(f"there is no file of features at {path}; write one name a line")
        lines = small_file(path).decode().splitlines()
        named = [_REMARK.sub("", line).strip().strip(",") for line in lines]
        return parse_features(",".join(line for line in named if line))


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
    try:
        configuration = Configuration.model_validate(raw)
    except ValidationError as error:
        raise DataError([_problem(item, path.name) for item in error.errors()]) from error
    boards = [
        ConfiguredBoard(name, _options(raw.get("defaults", {}), stated), path.parent)
        for name, stated in _all_boards(raw, configuration)
    ]
    problems = [
        *_repeated(boards, path.name),
        *(problem for board in boards for problem in _faults(board, path.name)),
    ]
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
        return tomllib.loads(small_file(path).decode())
    except UnicodeDecodeError as error:
        fault, hint = f"is not UTF-8 ({error.reason})", "save it as UTF-8"
    except tomllib.TOMLDecodeError as error:
        fault, hint = f"is no TOML: {error}", "correct the file there"
    except RecursionError:
        fault, hint = "is nested too deeply", "write fewer brackets inside each other"
    raise DataError([Problem(path.name, None, None, None, fault, hint)])


def _all_boards(raw: Raw, configuration: Configuration) -> Iterator[tuple[str, Raw]]:
    """Yield the name of every board, and what is stated of it."""
    yield from raw.get("boards", {}).items()
    for name, axes in configuration.matrix.items():
        stated = raw["matrix"][name]
        shared = {key: value for key, value in stated.items() if key not in _AXES}
        judging = "judging" in stated or "judging" in raw.get("defaults", {})
        for suffix, chosen in _combinations(axes, judging):
            yield f"{name}{suffix}", _merged(shared, chosen)


def _combinations(axes: MatrixOptions, judging: bool) -> Iterator[tuple[str, Raw]]:
    """Yield the end of each board's name, such as ``-rakuda-gpt-4o``, and what it states."""
    chosen: list[list[tuple[str, Raw]]] = [
        [(name, {"arena": folder}) for name, folder in (axes.arenas or {}).items()],
        [
            (name, {"judging": {"model": name}} if judging else {"judge": name})
            for name in axes.judges or ()
        ],
        [(name, {"features": names}) for name, names in (axes.feature_sets or {}).items()],
        [(name, {"surrogate": name}) for name in axes.surrogates or ()],
    ]
    for parts in product(*(axis for axis in chosen if axis)):
        names = [_NOT_IN_NAMES.sub("-", name).strip("-") or "unnamed" for name, _ in parts]
        stated = {key: value for _, options in parts for key, value in options.items()}
        yield "".join(f"-{name}" for name in names), stated


def _options(defaults: Raw, stated: Raw) -> BoardOptions:
    """Lay what a board states over its preset, that over the defaults, these over theirs."""
    whole: Raw = {}
    for layer in (_preset(defaults), defaults, _preset(stated), stated):
        if any(source in layer for source in _FEATURE_SOURCES):
            whole = {key: value for key, value in whole.items() if key not in _FEATURE_SOURCES}
        whole = _merged(whole, layer)
    return BoardOptions.model_validate(whole)


def _preset(table: Raw) -> Raw:
    return preset_values(table.get("preset"))


def _merged(below: Raw, above: Raw) -> dict[str, Any]:
    """Lay one table over another, tables inside them too."""
    merged = dict(below)
    for key, value in above.items():
        both_tables = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if both_tables else value
    return merged


def _problem(item: ErrorDetails, source: str) -> Problem:
    """Say what pydantic found wrong; what may be a secret is not shown."""
    place = [str(part) for part in item["loc"] if part != "[key]"]
    path, value = ".".join(place) or None, item["input"]
    fault, _, hint = item["msg"].partition("; ")
    if item["type"] == CONFIDENTIAL:
        return Problem(source, None, path, HIDDEN, fault, hint)
    if item["type"] == "extra_forbidden":
        if _KEY_LIKE.search(place[-1]):
            hint = (
                "take it out: keys come from the environment only; name a variable by api_key_env"
            )
            return Problem(source, None, path, HIDDEN, "looks like a secret", hint)
        known = [name for table in _TABLES for name in table.model_fields]
        hint = did_you_mean(place[-1], known) or "see examples/leaderboards.toml"
        shown = HIDDEN if isinstance(value, dict | list) else value
        return Problem(source, None, path, shown, "is no key here", hint)
    if item["type"] in ("list_type", "tuple_type"):
        hint = "write a list of texts, or one text with commas"
    fault = f"{fault[:1].lower()}{fault[1:]}"
    return Problem(source, None, path, value, fault, hint or "see examples/leaderboards.toml")


def _faults(board: ConfiguredBoard, source: str) -> Iterator[Problem]:
    """Find what pydantic cannot: what is missing, contradicts itself, or has no such name."""

    def fault(key: str, value: object, text: str, hint: str) -> Problem:
        return Problem(source, None, f"{board.name}.{key}", value, text, hint)

    def refused(key: str, value: object, find: Callable[[], object]) -> Iterator[Problem]:
        try:
            find()
        except UsageError as error:
            text, _, hint = str(error).partition("; ")
            yield fault(key, value, f"cannot be used: {text}", hint or "name another one")

    options, judging = board.options, board.options.judging
    if not options.arena:
        yield fault("arena", options.arena, "is missing", "name the arena folder")
    if judging is not None and not judging.model:
        yield fault("judging.model", None, "is missing", "name the model that judges")
    if board.judging is not None and board.judging.model:
        key = "judging.template" if board.judging.template else "judging"
        yield from refused(key, board.judging.template, board.judging.llm_judges)
        if board.judging.pairs == "adaptive":
            yield from refused("judging.pairs", "adaptive", board.judging.adaptive_plan)
    if judging is not None and options.judge not in (None, judging.judge):
        text = f"is not the judge that judges ({judging.judge})"
        yield fault("judge", options.judge, text, "leave judge or judging out")
    sources = [name for name in _FEATURE_SOURCES if getattr(options, name) is not None]
    if len(sources) > 1:
        value, text = getattr(options, sources[1]), f"stands beside {sources[0]}"
        yield fault(sources[1], value, text, "keep one of them")
    elif sources != ["feature_table"]:
        key = sources[0] if sources else "features"
        yield from refused(key, getattr(options, key), board.features)
    name, rule = options.surrogate, options.missing
    yield from refused("surrogate", name, lambda: find_surrogate(name, missing=rule))
    validated = options.after.validation and options.after.validation.surrogate
    if validated:
        key = "after.validation.surrogate"
        yield from refused(key, validated, lambda: find_surrogate(validated))


def _repeated(boards: Sequence[ConfiguredBoard], source: str) -> Iterator[Problem]:
    """Find boards whose folders could be the same one, on any file system."""
    seen: set[str] = set()
    for board in boards:
        if board.name.lower() in seen:
            yield Problem(
                *(source, None, "boards", board.name, "is the name of two boards"),
                "name each once, upper and lower case apart; boards of a matrix are named "
                "MATRIX-ARENA-JUDGE-FEATURES-SURROGATE by the axes it has",
            )
        seen.add(board.name.lower())
