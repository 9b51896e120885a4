"""What a configuration of several boards may say, table by table."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from arena.data.errors import Problem, UsageError
from arena.judging.settings import CONFIDENTIAL, JudgingSettings
from features.declare.feature import Feature
from features.measures.registry import parse_features
from surrogate.board.settings import BoardSettings, Names, Positive
from surrogate.learning.names import DEFAULT_SURROGATE

_BOARD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


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
        model: Surrogate to validate.
        repeats: Repeats; the protocol's own number if None.
        tournaments: Bootstrapped tournaments a language.
    """

    protocol: Literal["leave-systems-out", "leave-language-out", "leave-questions-out", "mirage"]
    model: str = DEFAULT_SURROGATE
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
    """One board; paths are relative to the configuration file.

    Attributes:
        arena: Arena folder.
        features: Names of features and groups; the group ``default`` if nothing is said.
        feature_file: File with such names, one or several a line; ``#`` begins a remark.
        feature_table: File of features already computed, taken in their place.
        metaevaluation: Files ``metaevaluation.json``, or folders that hold one, beside the
            arena's own.
        device: Where features' models run.
        batch_size: Sequences that a model takes at once.
        download: Whether models that are not on this machine may be fetched.
        judging: Judging by an LLM first; None for the arena's own judgments.
        after: What is made of the board.
    """

    arena: str | None = None
    features: Names | None = None  # type: ignore[assignment]
    feature_file: str | None = None
    feature_table: str | None = None
    metaevaluation: Names = ()
    device: str = "auto"
    batch_size: Positive = 32
    download: bool = False
    judging: JudgingSettings | None = None
    after: AfterOptions = AfterOptions()

    def settings(self) -> BoardSettings:
        """Return what the board is built with."""
        return BoardSettings(
            **self.model_dump(include=set(BoardSettings.model_fields) - {"features"})
        )


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


SUBTABLES: dict[str, type[BaseModel]] = {
    "judging": JudgingSettings,
    "after": AfterOptions,
    "validation": ValidationOptions,
}
"""Tables inside a board's, by name."""


if TYPE_CHECKING:
    from surrogate.runs.config_file import ConfiguredBoard

DEFAULT_GROUP = "default"

_REMARK = re.compile(r"(^|\s)#.*")


def chosen_features(board: ConfiguredBoard) -> tuple[Feature, ...]:
    """Return the features of a board that has no table of them.

    Raises:
        UsageError: For an unknown feature, one named twice, or a file of names that is absent.
    """
    options = board.options
    if options.feature_file is not None:
        return parse_features(_names_in_file(board, options.feature_file))
    names = [DEFAULT_GROUP] if options.features is None else options.features
    return parse_features(",".join(names))


def _names_in_file(board: ConfiguredBoard, name: str) -> str:
    path = board.base / name
    if not path.is_file():
        raise UsageError(f"there is no file of features at {path}; write one name a line")
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    named = [_REMARK.sub("", line).strip().strip(",") for line in lines]
    return ",".join(line for line in named if line)


HIDDEN = "(not shown)"

_KEY_LIKE = re.compile(
    r"api_?key|(^|_)key$|token|secret|passw|credential|authorization|bearer", re.IGNORECASE
)
_ENVIRONMENT = (
    "take it out: keys come from the environment only; export OPENAI_API_KEY, or name another "
    "variable by api_key_env"
)
_LISTED = "write a list of texts, or one text with commas"


def problems_of(error: ValidationError, source: str) -> list[Problem]:
    """Tell what pydantic found wrong with a configuration.

    Args:
        error: What it found.
        source: Name of the file.
    """
    return [_problem(item, source) for item in error.errors()]


def _problem(item: ErrorDetails, source: str) -> Problem:
    place = [str(part) for part in item["loc"] if part != "[key]"]
    path = ".".join(place) or None
    if item["type"] == "extra_forbidden":
        return _unknown_key(place, item["input"], source)
    if item["type"] == CONFIDENTIAL:
        fault, _, hint = item["msg"].partition("; ")
        return Problem(source, None, path, HIDDEN, fault, hint)
    if item["type"] == "missing":
        return Problem(source, None, path, None, "is missing", "state it")
    fault, _, hint = item["msg"].partition("; ")
    return Problem(source, None, path, item["input"], _clause(fault), hint or _hint(item))


def _unknown_key(place: list[str], value: object, source: str) -> Problem:
    path, key = ".".join(place), place[-1]
    if _KEY_LIKE.search(key):
        return Problem(source, None, path, HIDDEN, "looks like a secret", _ENVIRONMENT)
    known = list(_table_at(place[:-1]).model_fields)
    close = get_close_matches(key, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    shown = HIDDEN if isinstance(value, dict | list) else value
    return Problem(source, None, path, shown, "is no key here", f"{hint}known: {', '.join(known)}")


def _table_at(place: list[str]) -> type[BaseModel]:
    """Return the table that a place in the file is in."""
    for part in reversed(place[1:] if place[:1] == ["defaults"] else place[2:]):
        if part in SUBTABLES:
            return SUBTABLES[part]
    tables: dict[str, type[BaseModel]] = {
        "defaults": BoardOptions,
        "boards": BoardOptions,
        "matrix": MatrixOptions,
    }
    return tables.get(place[0], Configuration) if place else Configuration


def _clause(message: str) -> str:
    return message[:1].lower() + message[1:]


def _hint(item: ErrorDetails) -> str:
    context: dict[str, Any] = item.get("ctx", {})
    if item["type"] == "literal_error":
        return f"use one of {context['expected']}"
    if item["type"] in ("list_type", "tuple_type"):
        return _LISTED
    if item["type"].endswith("_type"):
        kind = item["type"].removesuffix("_type").replace("_", " ")
        return f"write a {kind}, not {type(item['input']).__name__}"
    return "see examples/leaderboards.toml for what can be said"
