"""Maps: where a tool's records hold what an arena needs.

Places are paths of JMESPath, in which ``{question}`` stands for each name of the contract.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import jmespath
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from arena.data.errors import UsageError, checked_choice
from surrogate_arena.importers.contract import field_names
from surrogate_arena.importers.values import with_places

MAP_ENDING = ".toml"


def _compiled(path: str) -> str:
    path = with_places(path)
    try:
        jmespath.compile(path)
    except jmespath.exceptions.JMESPathError as error:
        raise ValueError(f"{path!r} is no path: {error}") from None
    return path


def _expanded(paths: object) -> object:
    listed = [paths] if isinstance(paths, str) else paths
    if not isinstance(listed, list):
        return listed
    expanded: list[object] = []
    for path in listed:
        before, brace, rest = str(path).partition("{")
        name, _, after = rest.partition("}")
        names = field_names("answers").get(name) if brace else None
        if names is None:
            expanded.append(path)
        else:
            expanded += [f"{before}{known}{after}" for known in names]
    return expanded


PathText = Annotated[str, AfterValidator(_compiled)]
PathTexts = Annotated[list[PathText], BeforeValidator(_expanded)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(_Table):
    """Rows that belong to other records, such as scores in a table of their own.

    Attributes:
        when: Path that tells that a row is such a part.
        id: Where a part names its record.
        of: Where a record has that name.
    """

    when: PathText
    id: PathText
    of: PathText


class Scores(_Table):
    """Places of scores; each is a judge.

    Attributes:
        at: Lists of scores with their names, or records with a score under each name.
        named: Name of a score to its path.
        columns: Whether columns of lists of numbers are scores.
        not_columns: Columns of numbers that are no scores.
        words: Words that are scores, to their numbers.
    """

    at: PathTexts = []
    named: dict[str, PathText] = {}
    columns: bool = False
    not_columns: list[str] = []
    words: dict[str, float] = {}


class ToolMap(_Table):
    """Places of a tool's answers, or battles.

    Attributes:
        title: Name of such a file in messages.
        hint: What to write or export instead of other files.
        signs: Paths that tell by a value that a file or record is of this kind.
        records: Paths of a JSON object's records, the first that is a list; each has the object as
            ``export``.
        join: Kind of pieces joined to records: spans of traces, or answers and topics.
        parts: Field to the rows that become its list.
        fields: Field of an answer to its paths, of which the first with a value counts.
        battles: Field of a battle to its path; records are then battles, or lists of them.
        scores: Its scores.
        left_out: Reason why a record is no answer to the path that tells it by a value.
        variant: Paths that tell several prompts of one system apart.
        passage_separator: Text between passages that are joined to one.
    """

    title: str
    hint: str = ""
    signs: list[PathText] = []
    records: PathTexts = []
    join: Literal["spans", "topics"] | None = None
    parts: dict[str, Part] = {}
    fields: dict[str, PathTexts] = {}
    battles: dict[str, PathText] = {}
    scores: Scores = Scores()
    left_out: dict[str, PathText] = {}
    variant: PathTexts = []
    passage_separator: str | None = None


def map_of_file(path: Path | str) -> ToolMap:
    """Read a map."""
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}") from None
    table.setdefault("title", f"a file of {Path(path).stem}")
    return _map_of_table(table, str(path))


def _map_of_table(table: Mapping[str, Any], source: str) -> ToolMap:
    try:
        read = ToolMap.model_validate(table)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        raise UsageError(f"{source} is no map: {'; '.join(faults)}") from None
    for kind, fields in (("answers", read.fields), ("battles", read.battles)):
        for name in fields:
            checked_choice(name, list(field_names(kind)), f"field of {kind} in {source}")
    if not read.fields and not read.battles:
        raise UsageError(f"{source} is no map: fields or battles: one of them is needed")
    return read


@cache
def shipped_maps() -> Mapping[str, ToolMap]:
    """Return the maps of ``maps/`` by the name of the tool."""
    tables = {
        entry.name.removesuffix(MAP_ENDING): tomllib.loads(entry.read_text(encoding="utf-8"))
        for entry in files(__package__).joinpath("maps").iterdir()
        if entry.name.endswith(MAP_ENDING)
    }
    return {name: _map_of_table(_merged(table, tables), name) for name, table in tables.items()}


def _merged(table: dict[str, Any], tables: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    if "like" not in table:
        return table
    base = tables[table["like"]]
    merged = {**base, **{key: value for key, value in table.items() if key != "like"}}
    for key in ("fields", "left_out", "scores"):
        merged[key] = {**base[key], **table.get(key, {})}
    for name, paths in base["fields"].items():
        merged["fields"][name] = [*paths, *table["fields"].get(name, [])]
    merged["scores"]["at"] = [*base["scores"]["at"], *table["scores"]["at"]]
    return merged
