"""Where programs write what an arena holds: the field maps of ``tools.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from surrogate_arena.importers.amounts import AMOUNT_FIELDS

Pieces = Literal["spans", "observations", "trec-rag", "passage rows"]


class EvidentKind(BaseModel):
    """A kind of files that some of their names give away.

    Attributes:
        title: What messages call a file of this kind.
        signs: Sets of paths; a file or record that has all of one set is surely of this kind.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = ""
    signs: list[list[str]] = []


class FieldMap(EvidentKind):
    """How a program writes answers, as ``tools.toml`` has it.

    Attributes:
        tool: Name of the program.
        fields: Field to the names or paths that may hold it, the best first.
        hint: What to write or export where a file holds something else.
        lists: Where a JSON object holds its records, the first that is there.
        hidden_files: Files that the tool keeps in a folder, and that are read if it is named.
        header: Paths of what a JSON object says of all its records.
        other_lists: Lists of a JSON object that are not read, each with the reason.
        pieces: What records must be put together from before fields are read; None if each is
            whole.
        scores: Name of a score to its path; a star in it is any name of a score.
        words: Words that are scores, to their numbers.
        lower_is_better: Names of scores of which the lower wins.
        left_out: Paths that tell that a record is no answer, each with the reason.
        variant: Path of what tells several prompts of one system apart, if it has them.
        id_scope: Paths of what ids are unique within, such as a task; the widest first.
        settings: Path of a record of settings, of which one may tell questions of one id apart.
        passage_separators: Patterns between passages that the tool joins to one text; the first
            that is there counts.
        no_scores: Names of numbers that are no scores; None if other numbers are not counted.
    """

    tool: str
    fields: dict[str, list[str]]
    hint: str
    lists: list[str] = []
    hidden_files: list[str] = []
    header: list[str] = []
    other_lists: list[dict[str, str]] = []
    pieces: Pieces | None = None
    scores: dict[str, str] = {}
    words: dict[str, float] = {}
    lower_is_better: list[str] = []
    left_out: list[dict[str, Any]] = []
    variant: str | None = None
    id_scope: list[str] = []
    settings: str | None = None
    passage_separators: list[str] = []
    no_scores: list[str] | None = None

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Where the paths of fields begin, in the order of the fields."""
        paths = [path for places in self.fields.values() for path in places]
        return tuple(dict.fromkeys(path.partition(".")[0] for path in paths))


@cache
def _tables() -> dict[str, Any]:
    text = files(__package__).joinpath("tools.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def usual_names(field: str) -> list[str]:
    """Return the names that a field has in records of any program, if it has any."""
    names: dict[str, list[str]] = _tables()["names"]
    return names.get(field, [])


@cache
def kinds() -> Mapping[str, FieldMap]:
    """Return the kinds of ``tools.toml`` by name."""
    tables = dict(_tables())
    names = tables.pop("names")
    del tables["evident"]
    maps: dict[str, FieldMap] = {}
    for name, table in tables.items():
        # A program that writes like another states only what differs.
        base = tables.get(table.get("like"), {})
        merged = {"tool": name, **base, **table}
        merged.pop("like", None)
        merged["fields"] = {
            field: _expanded(paths, names) for field, paths in merged["fields"].items()
        }
        # Users may say where amounts are, of a tool that has no usual place for them.
        for field in AMOUNT_FIELDS:
            merged["fields"].setdefault(field, [])
        maps[name] = FieldMap.model_validate(merged)
    return maps


def evident_kinds() -> Mapping[str, EvidentKind]:
    """Return the kinds of files by name, also of those that have a reader of their own."""
    evident: dict[str, EvidentKind] = dict(kinds())
    for name, table in _tables()["evident"].items():
        evident[name] = EvidentKind.model_validate(table)
    return evident


def _expanded(paths: list[str], names: Mapping[str, list[str]]) -> list[str]:
    """Return paths, those that end in ``{question}`` once for each usual name of a question."""
    expanded: list[str] = []
    for path in paths:
        start, brace, field = path.partition("{")
        # The name in braces is the end of the path.
        if brace:
            expanded += [start + name for name in names[field.removesuffix("}")]]
        else:
            expanded.append(path)
    return expanded
