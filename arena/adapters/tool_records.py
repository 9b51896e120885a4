"""Records that tools for evaluation and tracing write, read as one arena.

``tools.toml`` says for each tool where its records stand in a file and where their fields may be;
all else is the same for all. Every score is a judge: of two answers to a question the one it marks
higher wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from arena.adapters.answer_tables import (
    FILE,
    NEEDED,
    NO_COLUMNS,
    add_row,
    put_together,
)
from arena.adapters.collected import Collected, ForeignArena, Place, Record, conversation
from arena.adapters.field_maps import FieldMap, kinds
from arena.adapters.files import JSON, bare_name, checked_language, files_below, shown_path
from arena.adapters.traces import Found, joined_spans
from arena.data.errors import DataError, Problem, UsageError, checked_choice, counted_problems
from arena.data.files import opened
from arena.data.languages import UNDETERMINED
from arena.data.rows import CSV_SUFFIXES, SUFFIXES, read_json_value, read_rows
from arena.data.schema import HISTORY, finite_number, history_fault

MOST_LABEL = 60
"""Characters of a prompt's label that names a system."""
USER = ("user", "human")
ASSISTANT = ("assistant", "ai")

_LISTED = 40
_LOOKED_AT = 100
_AGAIN = "its system has answered the question before: the first answer is kept"
_INNER = ("content", "text", "messages", "kwargs", "data", "choices", "message")
_PASSAGE_TEXTS = ("text", "page_content", "pageContent", "content")
_NUMBERS = MappingProxyType(
    {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
)
"""Words of scores; C (correct), P (partly), I (incorrect), N (no answer) are those of Inspect."""


def read_tool_records(
    tool: str,
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    scores: Sequence[str] = (),
    language: str | None = None,
    name: str | None = None,
    reference_system: str | None = None,
    most_pairs: int | None = None,
) -> ForeignArena:
    """Read records that a tool for evaluation or tracing wrote.

    Args:
        tool: One of ``kinds()``.
        paths: Files, or folders of them.
        columns: Field to its path in a record, such as ``question`` to ``vars.topic``; the
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
    kind, read = kinds()[tool], Collected()
    there = files_below(paths, (JSON, *SUFFIXES))
    found = (it for path in there for it in _records(tool, kind, path, shown_path(path, paths)))
    if kind.spans:
        spans = joined_spans(found)
        found = ((place, {name: opened(it) for name, it in span.items()}) for place, span in spans)
    records: list[Found] = []
    for place, record in found:
        reason = next((it["reason"] for it in kind.left_out if _holds(record, it)), None)
        if reason is None:
            records.append((place, record))
        else:
            read.skip(place.source, "record", str(reason))
    read.names = _chosen_paths(tool, [record for _, record in records], columns, len(there))
    judges = _chosen_scores(kind, [record for _, record in records], scores)
    default = checked_language(language) or UNDETERMINED
    seen = set()
    for place, record, values in _named_systems(kind, records, read.names):
        lacking = next((ours for ours in NEEDED if values[ours] is None), None)
        values[HISTORY], *_ = conversation(at(record, read.names["question"]))
        if (fault := history_fault(values[HISTORY])) is not None:
            read.skip(place.source, "history", fault)
            values[HISTORY] = []
        key = tuple(str(values.get(it)) for it in ("query_id", "question", "language", HISTORY))
        if lacking is not None:
            reason = f"it has no text at {read.names[lacking]!r}, for the {lacking}"
            read.skip(place.source, "record", reason)
        elif (*key, values["system"]) in seen:
            read.skip(place.source, "record", _AGAIN)
        else:
            seen.add((*key, values["system"]))
            values["marks"] = _marks(read, place, _scores(kind, record), record, judges)
            add_row(read, place, values, default)
    says = [f"{ours} from {path!r}" for ours, path in read.names.items()]
    note = f"Fields: {', '.join(says)}. Scores: {', '.join(judges) or 'none'}."
    return put_together(read, name or tool, reference_system, note, most_pairs)


def _records(tool: str, kind: FieldMap, path: Path, source: str) -> Iterator[Found]:
    """Yield the records of a file; cells of tables that hold JSON are opened."""
    numbered: Iterable[tuple[int, Any]]
    if path.name.endswith(JSON):
        numbered = enumerate(_listed(tool, kind, path, source), start=1)
    elif path.name.endswith(SUFFIXES):
        rows = read_rows(path, source)
        if rows.problems:
            raise DataError(rows.problems)
        is_text = path.name.endswith((*CSV_SUFFIXES, ".parquet"))
        table = rows.table.map(opened) if is_text else rows.table
        cells = table.to_dict(orient="records") or [{} for _ in rows.lines]
        numbered = zip(rows.lines, cells, strict=True)
    else:
        raise UsageError(f"{source} is none of {', '.join((JSON, *SUFFIXES))}; {kind.hint}")
    stem, wrong = bare_name(path), []
    for line, item in numbered:
        if isinstance(item, Mapping):
            yield Place(source, int(line)), {FILE: stem, **item}
        else:
            wrong.append(Problem(source, int(line), None, item, "is not a record", kind.hint))
    if wrong:
        raise DataError(counted_problems(wrong))


def _listed(tool: str, kind: FieldMap, path: Path, source: str) -> list[Any]:
    """Return the records of a JSON file, each with what the file says of all of them."""
    value = read_json_value(path, source)
    if isinstance(value, list):
        return value
    for items in (at(value, place) for place in kind.lists):
        if isinstance(items, list):
            header = {name: said for name, said in value.items() if isinstance(said, Mapping)}
            return [{**header, **it} if isinstance(it, Mapping) else it for it in items]
    fault = f"holds no records of {tool}: no list at {' or '.join(map(repr, kind.lists))}"
    raise DataError([Problem(source, None, None, None, fault, kind.hint)])


def _holds(record: Record, rule: Mapping[str, Any]) -> bool:
    found = at(record, rule["at"])
    return bool(found == rule["is"] if "is" in rule else found)


def _chosen_paths(
    tool: str, records: Sequence[Record], named: Mapping[str, str], files: int
) -> dict[str, str]:
    """Return the path of each field: the one named, else the first of the tool's with a value."""
    kind = kinds()[tool]
    inside = sorted({path for record in records[:_LOOKED_AT] for path in paths_of(record)})
    more = f" and {len(inside) - _LISTED} more" if len(inside) > _LISTED else ""
    there = ", ".join(inside[:_LISTED]) + more
    for ours, path in named.items():
        checked_choice(ours, kind.fields, f"field of {tool}")
        if not any(at(record, path) is not None for record in records):
            raise UsageError(f"no record has anything at {path!r}; they have {there}")
    if not records:
        raise UsageError(f"there is no record of an answer to read; {kind.hint}")
    chosen = {}
    for ours, places in kind.fields.items():
        usable = [path for path in places if path != FILE or files > 1]
        holding = (path for path in usable if any(_value(ours, it, path) for it in records))
        path = named.get(ours) or next(holding, "")
        if path:
            chosen[ours] = path
    lacking = [ours for ours in NEEDED if ours not in chosen]
    if lacking:
        raise UsageError(
            f"no record says its {' or '.join(lacking)} where {tool} usually has it; they have "
            f"{there}; say where with --column, such as --column {lacking[0]}={inside[0]}"
        )
    return chosen


def _value(ours: str, record: Record, path: str) -> Any:  # noqa: ANN401 - what the field takes
    value = at(record, path)
    if ours == "answer":
        return text_of(value, ASSISTANT)
    if ours == "passages":
        return passages_at(value)
    if ours == "query_id":
        return None if isinstance(value, Mapping | list) else value
    if ours == "reference":
        is_several = isinstance(value, list) and value and isinstance(value[0], str)
        return text_of(value[0] if is_several else value, ASSISTANT)  # the first that is right
    return text_of(value, USER)


def _named_systems(
    kind: FieldMap, records: Sequence[Found], chosen: Mapping[str, str]
) -> Iterator[tuple[Place, Record, Record]]:
    """Yield place, record and values; a system with several prompts is one a prompt."""
    rows = [
        (place, record, {ours: _value(ours, record, path) for ours, path in chosen.items()})
        for place, record in records
    ]
    prompts: dict[object, set[str]] = {}
    for _, record, values in rows if kind.variant else ():
        prompts.setdefault(values["system"], set()).add(str(at(record, str(kind.variant))))
    has_variants = any(len(variants) > 1 for variants in prompts.values())
    for place, record, values in rows:
        if has_variants and values["system"] is not None:
            label, number = at(record, "prompt.label"), at(record, str(kind.variant))
            is_name = isinstance(label, str) and not {"\n", "{"} & {*label}
            if not is_name or len(label) > MOST_LABEL:
                label = f"prompt {number + 1 if isinstance(number, int) else number}"
            values["system"] = f"{values['system']} | {label}"
        yield place, record, values


def _scores(kind: FieldMap, record: Record) -> dict[str, object]:
    """Return the scores of a record by name."""
    found: dict[str, object] = {}
    for name, path in kind.scores.items():
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
        for name, value in record.items():
            if isinstance(value, list) and number_of(value) is not None:
                yield name, value
        return
    inside = at(record, place)
    if isinstance(inside, Mapping):
        yield from ((str(name), value) for name, value in inside.items())
    for item in inside if isinstance(inside, list) else ():
        if isinstance(item, Mapping) and "name" in item:
            yield str(item["name"]), item.get("value")
    start = f"{place}."
    yield from ((n.removeprefix(start), record[n]) for n in record if n.startswith(start))


def _chosen_scores(kind: FieldMap, records: Sequence[Record], named: Sequence[str]) -> list[str]:
    there = sorted({score for record in records for score in _scores(kind, record)})
    for score in named:  # or a path, as of a column that is no list
        if not any(at(record, score) is not None for record in records):
            checked_choice(score, there, "score")
    return list(named) or there


def _marks(
    read: Collected, place: Place, said: Record, record: Record, judges: Sequence[str]
) -> dict[str, float | None]:
    """Return the numbers of a record's scores; those that are none are counted."""
    marks = {}
    for judge in judges:
        value = said.get(judge, at(record, judge))
        marks[judge] = number_of(value)
        if marks[judge] is None:
            fault = "missing" if value is None else "no number"
            read.skip(place.source, "score", f"{judge!r} is {fault}")
    return marks


def at(record: object, path: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return what stands at a path such as ``vars.question``, or None.

    Names may hold dots themselves, as the columns ``inputs.question`` of a table do.
    """
    if not isinstance(record, Mapping):
        return None
    if path in record:
        return record[path]
    parts = path.split(".")
    for count in range(1, len(parts)):
        found = at(record.get(".".join(parts[:count])), ".".join(parts[count:]))
        if found is not None:
            return found
    return None


def paths_of(record: object, levels: int = 6) -> Iterator[str]:
    """Yield the paths of a record that hold something that is no record."""
    for name, value in record.items() if isinstance(record, Mapping) and levels else ():
        if isinstance(value, Mapping) and value:
            yield from (f"{name}.{path}" for path in paths_of(value, levels - 1))
        elif value is not None:
            yield str(name)


def text_of(value: object, roles: Sequence[str]) -> str | None:
    """Return the text of a value as programs log it, or None if it holds none.

    Args:
        value: A text; a message or a list of them, of which the last by one of ``roles`` counts;
            parts of a text; a completion with ``choices``; or one of these in a record.
        roles: Whose messages count.
    """
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, Mapping):
        if _role(value) not in (None, *roles):
            return None
        inner = (text_of(value[name], roles) for name in _INNER if name in value)
        only = next(iter(value.values())) if len(value) == 1 else None
        return next((text for text in inner if text is not None), None) or (
            text_of(only, roles) if isinstance(only, str) else None
        )
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(item, Mapping) and item.get("type") == "text" for item in value):
        return text_of("\n".join(str(item.get("text", "")) for item in value), roles)
    texts = (text_of(item, roles) for item in reversed(value) if isinstance(item, Mapping))
    return next((text for text in texts if text is not None), None)


def _role(message: Mapping[str, Any]) -> str | None:
    role = message.get("role")
    if role is None and ("content" in message or "data" in message):
        role = message.get("type")
    named = isinstance(role, str) and role in (*USER, *ASSISTANT, "system", "tool", "developer")
    return str(role) if named else None


def number_of(value: object) -> float | None:
    """Return a score as a number: a truth value, a word of ``_NUMBERS``; of a list its mean."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        known = _NUMBERS.get(value, _NUMBERS.get(value.strip().lower()))
        return finite_number(value) if known is None else known
    if isinstance(value, list) and value:
        numbers = [number_of(item) for item in value]
        whole = [number for number in numbers if number is not None]
        return sum(whole) / len(whole) if len(whole) == len(numbers) else None
    return finite_number(value)


def passages_at(value: object) -> object:
    """Return passages as ``arena.data.schema.passages_of`` reads them.

    Args:
        value: A text, a list of texts, or of records with their text as ``text``, ``content`` or
            ``page_content``; records keep their id and title.
    """
    if isinstance(value, Mapping):
        inner = [value[name] for name in ("documents", "contexts", "passages") if name in value]
        value = inner[0] if len(inner) == 1 else [value]
    if not isinstance(value, list):
        return value
    items = [_passage(item) for item in value]
    ids = {item.get("passage_id") for item in items if isinstance(item, dict)}
    if len(ids - {None}) < len(items):  # several parts of one document, or some without an id
        for item in items:
            if isinstance(item, dict):
                item.pop("passage_id", None)
    return items


def _passage(item: object) -> object:
    if not isinstance(item, Mapping):
        return item
    inner = item["kwargs"] if isinstance(item.get("kwargs"), Mapping) else item
    told = opened(inner.get("metadata"))
    told = told if isinstance(told, Mapping) else {}
    known = {
        "text": next((inner[name] for name in _PASSAGE_TEXTS if name in inner), None),
        "passage_id": inner.get("passage_id") or inner.get("id") or inner.get("document_id"),
        "title": inner.get("title") or told.get("title"),
    }
    return {name: value for name, value in known.items() if isinstance(value, str)}
