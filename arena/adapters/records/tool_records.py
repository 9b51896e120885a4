"""Records that tools for evaluation and tracing write, read as one arena.

``tools.toml`` says for each tool where its records stand in a file and where their fields may be;
all else is the same for all. Every score is a judge: of two answers to a question the one it marks
higher wins.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from arena.adapters.files import JSON, checked_language, files_below, shown_path
from arena.adapters.foreign_rows import ForeignArena, Skip, skipped_table
from arena.adapters.records.collected import CollectedAnswers, Place
from arena.adapters.records.nested import (
    ASSISTANT,
    USER,
    Record,
    answer_of,
    at,
    number_of,
    opened,
    passages_at,
    paths_of,
    text_of,
)
from arena.data.errors import DataError, Problem, UsageError, checked_choice, counted_problems
from arena.data.languages import UNDETERMINED
from arena.data.rows import SUFFIXES, read_json_value, read_rows
from arena.data.schema import ArenaInfo

FILE = "file"
"""Path of the name of a record's file without its ending: often one file is one system."""
_LOOKED_AT = 100
MOST_LABEL = 60
"""Characters of a prompt's label that names a system."""
_NEEDED = ("question", "system", "answer")

Found = tuple[Place, Record]


@dataclass(frozen=True)
class Tool:
    """How a tool writes records of answers.

    Attributes:
        name: What the arena is called, and messages call the records.
        lists: Where a JSON object holds its records, the first that is there.
        fields: Field to the paths where it may stand, the best first.
        scores: Name of a score to its path; a star in it stands for names of scores.
        left_out: Paths that tell that a record is no answer, each with the reason.
        variant: Path of what tells several prompts of one system apart, if it has them.
        hint: What to export where a file holds something else.
    """

    name: str
    lists: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]]
    scores: Mapping[str, str]
    left_out: tuple[Mapping[str, object], ...]
    hint: str
    variant: str | None = None


@cache
def tools() -> Mapping[str, Tool]:
    """Return the tools of ``tools.toml`` by name."""
    text = files(__package__).joinpath("tools.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    names = read.pop("names")

    def expanded(path: str) -> tuple[str, ...]:
        start, brace, rest = path.partition("{")
        return tuple(start + name for name in names[rest[:-1]]) if brace else (path,)

    def tool(name: str, told: dict[str, Any]) -> Tool:
        fields = {
            ours: tuple(place for path in paths for place in expanded(path))
            for ours, paths in told.pop("fields").items()
        }
        left_out, lists = tuple(told.pop("left_out")), tuple(told.pop("lists"))
        return Tool(name, lists, fields, left_out=left_out, **told)

    return {name: tool(name, told) for name, told in read.items()}


def read_tool_records(
    kind: str,
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = MappingProxyType({}),
    scores: Sequence[str] = (),
    language: str | None = None,
    name: str | None = None,
    reference_system: str | None = None,
    most_pairs: int | None = None,
) -> ForeignArena:
    """Read the records of a tool; those of all files together are one arena.

    Args:
        kind: Whose records they are: a table of ``tools.toml``.
        paths: Files (JSON, JSONL, CSV, Parquet), or folders of them.
        columns: Field to the path where it stands, such as ``question`` to ``vars.topic``; the
            name of a file without its ending stands at ``file``.
        scores: Scores to read, each a judge; all by default.
        language: Language of records that name none; undetermined (``und``) if left out.
        name: Name of the arena; that of the tool by default.
        reference_system: System whose answers serve as reference.
        most_pairs: Pairs of marked answers to keep of each question and score; None keeps all.

    Returns:
        The arena, whose note says which path each field was read from; and what was left out:
        records of failed calls, without a text, and later answers of a system to a question.

    Raises:
        UsageError: For an absent file, an unknown field, path or score, and where no path holds
            the question, the system or the answer.
        DataError: With every problem of all files.
    """
    tool, there = tools()[kind], files_below(paths, (JSON, *SUFFIXES))
    loaded = [found for path in there for found in _records(tool, path, shown_path(path, paths))]
    whole, skips = _without_failed(tool, loaded)
    chosen = _chosen_paths(tool, [record for _, record in whole], columns, len(there))
    judges = _chosen_scores(tool, [record for _, record in whole], scores)
    found = CollectedAnswers(chosen, checked_language(language) or UNDETERMINED, None)
    skips += _collect(tool, found, whole, chosen, judges)
    if found.problems:
        raise DataError(list(counted_problems(found.problems)))
    sources = dict.fromkeys(place.source for place, _ in loaded)
    says = [f"{ours} from {path!r}" for ours, path in chosen.items()]
    info = ArenaInfo(
        name=name or tool.name,
        languages=tuple(sorted({code for code, _ in found.queries})),
        systems=tuple(sorted({system for *_, system in found.answers})),
        reference_system=reference_system,
        source=" + ".join(sources),
        note=f"Fields: {', '.join(says)}. Scores: {', '.join(judges) or 'none'}.",
    )
    arena = found.arena(info, most_pairs)
    return ForeignArena(arena, skipped_table([*skips, *found.skips]))


def _records(tool: Tool, path: Path, source: str) -> Iterator[Found]:
    """Yield the records of a file; cells of tables that hold JSON are opened."""
    if not path.name.endswith((JSON, *SUFFIXES)):
        known = ", ".join((JSON, *SUFFIXES))
        raise UsageError(f"{source} is none of {known}; {tool.hint}")
    if path.name.endswith(JSON):
        numbered: Iterable[tuple[int, Any]] = enumerate(_listed(tool, path, source), start=1)
    else:
        rows = read_rows(path, source)
        if rows.problems:
            raise DataError(rows.problems)
        is_text = not path.name.endswith(tuple(each for each in SUFFIXES if "json" in each))
        table = rows.table.map(opened) if is_text else rows.table
        no_columns: list[Record] = [{}] * len(rows.lines)
        numbered = zip(rows.lines, table.to_dict(orient="records") or no_columns, strict=True)
    stem = path.name.partition(".")[0]
    wrong = []
    for line, item in numbered:
        if isinstance(item, Mapping):
            yield Place(source, int(line)), {FILE: stem, **item}
        else:
            wrong.append(Problem(source, int(line), None, item, "is no record", tool.hint))
    if wrong:
        raise DataError(list(counted_problems(wrong)))


def _listed(tool: Tool, path: Path, source: str) -> list[Any]:
    """Return the records of a JSON file: a list, or a list at one of the tool's places."""
    value = read_json_value(path, source)
    if isinstance(value, list):
        return value
    for place in tool.lists:
        items = at(value, place)
        if isinstance(items, list):
            return [_with_header(value, item) for item in items]
    names = " or ".join(repr(place) for place in tool.lists)
    fault = f"holds no records of {tool.name}: no list at {names}"
    raise DataError([Problem(source, None, None, None, fault, tool.hint)])


def _with_header(value: Mapping[str, Any], item: object) -> object:
    """Give a record what its file says of all of them, where its own names do not stand in it."""
    if not isinstance(item, Mapping):
        return item
    return {**{name: said for name, said in value.items() if isinstance(said, Mapping)}, **item}


def _without_failed(tool: Tool, loaded: list[Found]) -> tuple[list[Found], list[Skip]]:
    whole, skips = [], []
    for place, record in loaded:
        reason = next((rule["reason"] for rule in tool.left_out if _holds(record, rule)), None)
        if reason is None:
            whole.append((place, record))
        else:
            skips.append(Skip(place.source, "record", str(reason)))
    return whole, skips


def _holds(record: Record, rule: Mapping[str, object]) -> bool:
    found = at(record, str(rule["at"]))
    return bool(found == rule["is"] if "is" in rule else found)


def _scores(tool: Tool, record: Record) -> Mapping[str, object]:
    """Return the scores of a record by name."""
    found: dict[str, object] = {}
    for name, path in tool.scores.items():
        place, star, inner = path.partition("*")
        if not star:
            found |= {name: at(record, path)} if at(record, path) is not None else {}
            continue
        for score, given in _under(record, place.removesuffix(".")):
            value = at(given, inner[1:]) if inner else given
            if isinstance(value, Mapping):
                found |= {f"{score}.{part}": mark for part, mark in value.items()}
            else:
                found[score] = value
    return found


def _under(record: Record, place: str) -> Iterator[tuple[str, object]]:
    """Yield what a record or list of scores holds by name, or columns; lists of numbers alone."""
    if not place:
        lists = ((name, value) for name, value in record.items() if isinstance(value, list))
        yield from ((name, value) for name, value in lists if number_of(value) is not None)
        return
    inside = at(record, place)
    if isinstance(inside, Mapping):
        yield from ((str(name), value) for name, value in inside.items())
    for item in inside if isinstance(inside, list) else ():
        if isinstance(item, Mapping) and "name" in item:
            yield str(item["name"]), item.get("value")
    start = f"{place}."
    yield from ((n.removeprefix(start), record[n]) for n in record if n.startswith(start))


def _chosen_paths(
    tool: Tool, records: Sequence[Record], named: Mapping[str, str], files: int
) -> dict[str, str]:
    """Return the path of each field: the one named, else the first of the tool's with a value."""
    for ours, path in named.items():
        checked_choice(ours, tool.fields, f"field of {tool.name}")
        if not any(at(record, path) is not None for record in records):
            raise UsageError(f"no record has anything at {path!r}; they have {_listing(records)}")
    chosen = {}
    for ours, places in tool.fields.items():
        usable = [path for path in places if path != FILE or files > 1]
        holding = (path for path in usable if any(_value(ours, record, path) for record in records))
        found = named.get(ours) or next(holding, None)
        if found is not None:
            chosen[ours] = found
    lacking = [ours for ours in _NEEDED if ours not in chosen]
    if lacking and records:
        raise UsageError(
            f"no record says its {' or '.join(lacking)} where {tool.name} usually has it; they "
            f"have {_listing(records)}; say where with --column, such as --column "
            f"{lacking[0]}={next(iter(paths_of(records[0])), 'name')}"
        )
    if not records:
        raise UsageError(f"there is no record of an answer to read; {tool.hint}")
    return chosen


def _listing(records: Sequence[Record]) -> str:
    there = dict.fromkeys(path for record in records[:_LOOKED_AT] for path in paths_of(record))
    shown = sorted(there)[:40]
    more = f" and {len(there) - len(shown)} more" if len(there) > len(shown) else ""
    return ", ".join(shown) + more


def _chosen_scores(tool: Tool, records: Sequence[Record], named: Sequence[str]) -> list[str]:
    there = sorted({score for record in records for score in _scores(tool, record)})
    for score in named:  # or a path, as of a column that is no list
        if not any(at(record, score) is not None for record in records):
            checked_choice(score, there, "score")
    return list(named) or there


def _value(ours: str, record: Record, path: str) -> Any:  # noqa: ANN401 - what the field takes
    value = at(record, path)
    if ours == "answer":
        return answer_of(value)
    if ours == "passages":
        return passages_at(value)
    if ours == "query_id":
        return None if isinstance(value, Mapping | list) else value
    if ours == "reference":
        is_several = isinstance(value, list) and value and isinstance(value[0], str)
        return text_of(value[0] if is_several else value, ASSISTANT)  # the first that is right
    return text_of(value, USER)


def _collect(
    tool: Tool,
    found: CollectedAnswers,
    records: Sequence[Found],
    chosen: Mapping[str, str],
    judges: Sequence[str],
) -> list[Skip]:
    """Add every record that holds an answer, the first of a system to a question."""
    skips, seen = [], set()
    prompts: dict[object, set[str]] = {}
    for _, record in records if tool.variant else ():
        system = _value("system", record, chosen["system"])
        prompts.setdefault(system, set()).add(str(at(record, str(tool.variant))))
    has_variants = any(len(variants) > 1 for variants in prompts.values())
    for place, record in records:
        values = {ours: _value(ours, record, path) for ours, path in chosen.items()}
        if has_variants and values["system"] is not None:
            values["system"] = f"{values['system']} | {_variant(tool, record)}"
        lacking = next((ours for ours in _NEEDED if values[ours] is None), None)
        if lacking is not None:
            reason = f"it has no text at {chosen[lacking]!r}, for the {lacking}"
            skips.append(Skip(place.source, "record", reason))
            continue
        asked = str(values.get("query_id") or values["question"])
        key = (asked, values["system"], str(values.get("language")))
        if key in seen:
            reason = "its system has answered the question before: the first answer is kept"
            skips.append(Skip(place.source, "record", reason))
            continue
        seen.add(key)
        marks, unread = _marks(tool, record, judges)
        skips += [Skip(place.source, "score", reason) for reason in unread]
        found.add(place, {**values, "marks": marks})
    return skips


def _variant(tool: Tool, record: Record) -> str:
    """Return the label of a prompt where it is short and no template, else its number."""
    label, index = at(record, "prompt.label"), at(record, str(tool.variant))
    if isinstance(label, str) and len(label) <= MOST_LABEL and not {"\n", "{"} & {*label}:
        return label
    return f"prompt {index + 1 if isinstance(index, int) else index}"


def _marks(tool: Tool, record: Record, judges: Sequence[str]) -> tuple[dict[str, float], list[str]]:
    """Return the numbers of a record's scores, and why others are none."""
    said = _scores(tool, record)
    marks, unread = {}, []
    for judge in judges:
        value = said.get(judge, at(record, judge))
        number = number_of(value)
        if number is not None:
            marks[judge] = number
        else:
            unread.append(f"{judge!r} is {'missing' if value is None else 'no number'}")
    return marks, unread
