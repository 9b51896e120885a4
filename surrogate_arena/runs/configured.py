"""A configuration of several boards, and its settings for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from arena.data.schema import ArenaInfo
from arena.judging.judging_settings import JudgingSettings
from surrogate.board.settings import BoardSettings
from surrogate_arena.pages.feed import FEED
from surrogate_arena.pages.site import INDEX
from surrogate_arena.pages.site_settings import PageSettings, SiteSettings
from surrogate_arena.runs.records import RECORDS_FILE

BOARD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
WEB_ROOT = "_site"
"""Folder of all pages in the output folder: no board can have that name, and GitHub's action that
uploads pages takes it by default."""
STORE_FILE = "judging.sqlite"
"""Replies of judges."""
RESERVED = (RECORDS_FILE, STORE_FILE, INDEX, FEED)
"""Files beside the folders of boards, in the output folder and the web root."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
ALL_BOARDS = "Leaderboards"
"""Title of the page over all boards where none is stated."""


def _board_name(name: str) -> str:
    if not BOARD_NAME.fullmatch(name):
        raise PydanticCustomError(
            "board_name",
            "cannot name a board, whose folder has that name; "
            "use letters, digits, '.', '_' and '-', a letter or digit first",
        )
    # On some file systems, names that differ in case are one.
    if name.lower() in RESERVED:
        raise PydanticCustomError(
            "board_name", "cannot name a board, as run writes a file of that name; use another name"
        )
    return name


class BoardOptions(BoardSettings):
    """One board: its settings, its inputs, and what is published of it."""

    arena: str = Field(description="Arena folder, relative to this file.")
    preset: str | None = Field(
        default=None,
        description="Settings that go together (mirage); those given here override them.",
    )
    feature_table: str | None = Field(
        default=None,
        description="File of features that are already computed, instead of features; relative to "
        "this file.",
    )
    judging: JudgingSettings | None = Field(
        default=None,
        description="How an LLM judges first; without it, the arena's own judgments count.",
    )
    in_use: str = Field(
        default="",
        description="System in use: the board says first how often the best other system beats it.",
    )
    publish: bool = Field(default=False, description="Publish its pages.")
    site: SiteSettings = Field(
        default=SiteSettings(), description="What its pages state, overriding what all pages state."
    )


class RunSite(PageSettings):
    """The page over all boards, and settings for each one's pages."""


class Configuration(BaseModel):
    """A configuration of leaderboards, for ``run``."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    out: str | None = Field(
        default=None, description="Folder to write to, relative to this file; --out overrides it."
    )
    site: RunSite = Field(
        default=RunSite(),
        description="The page of all boards, and what all pages state.",
    )
    defaults: dict[str, Any] = Field(
        default={}, description="Options of every board that does not give its own."
    )
    boards: dict[Annotated[str, AfterValidator(_board_name)], dict[str, Any]] = Field(
        default={}, description="A table of options for each board; its name is its folder's."
    )


@dataclass(frozen=True)
class ConfiguredBoard:
    """A board to keep up to date.

    Attributes:
        options: Options in the file.
        pages: Statements on its pages.
        parent: Title of the page over all boards.
        judging: Settings of judging first, with paths resolved.
    """

    name: str
    options: BoardOptions
    base: Path
    pages: SiteSettings
    parent: str
    judging: JudgingSettings | None

    @property
    def arena(self) -> Path:
        """Its arena folder."""
        return self.base / self.options.arena

    @property
    def feature_table(self) -> Path | None:
        """Its file of features."""
        table = self.options.feature_table
        return None if table is None else self.base / table

    @property
    def settings(self) -> BoardSettings:
        """Settings of the board, by the LLM that judges first."""
        judging = self.options.judging
        values = self.options.model_dump(include=set(BoardSettings.model_fields))
        if judging is not None and values["judge"] is None:
            values["judge"] = judging.judge
        return BoardSettings(**values)


@dataclass(frozen=True)
class Leaderboards:
    """The boards of a configuration file."""

    file: Path
    out: Path | None
    boards: tuple[ConfiguredBoard, ...]
    site: RunSite

    @property
    def title(self) -> str:
        """Title of the page over all boards."""
        return self.site.title or ALL_BOARDS

    @property
    def published(self) -> set[str]:
        """Names of the boards that have pages."""
        return {board.name for board in self.boards if board.options.publish}


def configuration_schema() -> dict[str, Any]:
    """Return the schema of a configuration of leaderboards (TOML)."""
    options = BoardOptions.model_json_schema()
    definitions = options.pop("$defs")
    # The defaults may hold what a board must have.
    del options["required"]
    schema = Configuration.model_json_schema()
    reference = {"$ref": "#/$defs/BoardOptions"}
    properties = schema["properties"]
    properties["defaults"] = {"description": properties["defaults"]["description"], **reference}
    properties["boards"]["additionalProperties"] = reference
    properties["boards"]["propertyNames"] = {"pattern": f"^{BOARD_NAME.pattern}$"}
    schema["$defs"] |= {**definitions, "BoardOptions": options}
    return {"$schema": DIALECT, **schema}


def arena_schema() -> dict[str, Any]:
    """Return the schema of ``arena.json``."""
    return {"$schema": DIALECT, **ArenaInfo.model_json_schema()}


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "config": configuration_schema,
    "arena": arena_schema,
}
"""What the command ``schema`` prints, by name."""
