"""Records that tools for evaluation and tracing write, read as one arena.

``tools.toml`` says for each tool where its records stand in a file and where their fields may be;
all else is the same for all. Every score is a judge: of two answers to a question the one it marks
higher wins.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

from arena.adapters.answer_tables import FILE, NEEDED, Repeats, add_row, put_together
from arena.adapters.collected import Collected, ForeignArena, Place, Record, conversation
from arena.adapters.columns import NO_COLUMNS
from arena.adapters.field_maps import FieldMap, kinds, usual_names
from arena.adapters.files import JSON, bare_name, checked_language, files_below, shown_path
from arena.adapters.passage_rows import joined_passage_rows
from arena.adapters.record_values import (
    ASSISTANT,
    USER,
    at,
    dotted,
    is_log,
    messages_of,
    named_argument,
    opened_value,
    paths_of,
    text_of,
    unquoted,
)
from arena.adapters.scores import marks_of, plain_scores, scores_of, unnamed_scores
from arena.adapters.traces import joined_spans, with_retrieved
from arena.adapters.trec_rag import joined_runs
from arena.data.cells import whole_digits
from arena.data.checks import history_fault
from arena.data.errors import DataError, Problem, UsageError, checked_choice, counted_problems
from arena.data.files import PACKED
from arena.data.json_rows import json_records, read_json_value
from arena.data.languages import UNDETERMINED
from arena.data.passages import passages_of
from arena.data.schema import HISTORY
from arena.data.tables import READ_SUFFIXES, TABLE_SUFFIXES, read_rows

MOST_LABEL = 60
"""Characters of a prompt's label that names a system."""

_JSON_VALUES = (JSON, *(f"{JSON}{packed}" for packed in PACKED))
_FEWEST_LINES = 2
"""Objects, one a line, of a file that is no JSON value: fewer may be damage."""
_LISTED = 40
_LOOKED_AT = 100
_MOST_INSIDE = 4
_AGAIN = "its system has answered the question before: the first answer is kept"
_TEXTS = ("question", "answer")
"""Fields that a record may have elsewhere than others of its file."""
_MOST_SETTINGS = 2
"""Settings that tell questions of one id apart, at most."""
_QUOTABLE = (*_TEXTS, "reference")
"""Fields whose texts may be written as JSON strings."""

Found = tuple[Place, Record]


@dataclass(frozen=True)
class ToolReader:
    """Reader of records that a tool for evaluation or tracing wrote.

    Attributes:
        tool: One of ``kinds()``.
    """

    tool: str

    def __call__(
        self,
        paths: Sequence[Path | str],
        *,
        columns: Mapping[str, str] = NO_COLUMNS,
        scores: Sequence[str] = (),
        language: str | None = None,
        name: str | None = None,
        reference_system: str | None = None,
        most_pairs: int | None = None,
        repeats: Repeats = "first",
    ) -> ForeignArena:
        """Read records that the tool wrote.

        Args:
            paths: Files, or folders of them.
            columns: Field to its path in a record, such as ``question`` to ``vars.topic`` or
                ``input.args.0``; the name of a file without its ending stands at ``file``.
            scores: Scores to read, each a judge; all by default.
            language: Language of records that name none; undetermined (``und``) if left out.
            name: Name of the arena; that of the tool by default.
            reference_system: System whose answers serve as reference.
            most_pairs: Pairs of marked answers to keep of each question and score; None keeps all.
            repeats: What becomes of a question that a system answers again: the first answer is
                kept, or each asking is a question of its own.

        Returns:
            The arena, whose note says which path each field was read from; and what was left out:
            records of failed calls, without a text, and later answers of a system to a question.

        Raises:
            UsageError: For an absent file, an unknown field, path or score, and where no path holds
                the question, the system or the answer.
            DataError: With every problem of all files.
        """
        checked_choice(repeats, get_args(Repeats), "way to read repeated questions")
        tool = self.tool
        kind, read = kinds()[tool], Collected()
        files = files_below(_with_hidden_files(kind, paths), (*_JSON_VALUES, *TABLE_SUFFIXES))
        found = list(_whole_records(tool, kind, files, paths, read))
        records = list(_answers(kind, found, read))
        named = [record for _, record in records]
        if not named:
            raise UsageError(
                f"there is no record of an answer to read{_left_out(read)}; {kind.hint}"
            )
        chosen = _chosen_paths(tool, named, columns, len(files))
        read.names = chosen.names
        for path, count in chosen.unread.items():
            read.skip(tool, "passages", f"{path!r} holds none that can be read", count)
        judges = _chosen_scores(kind, named, scores)
        if not scores:
            _count_plain_scores(read, kind, records, [*chosen.names.values(), *judges])
        default = checked_language(language) or UNDETERMINED
        answered: set[tuple[str, ...]] = set()
        marked: set[str] = set()
        split = 0
        for place, record, values in _rows(kind, records, chosen):
            if unnamed := unnamed_scores(kind, record):
                read.skip(place.source, "score", "it has no name", unnamed)
            marks = values["marks"] = marks_of(read, place, kind, record, judges)
            marked |= {judge for judge in marks if marks[judge] is not None}
            passages = _split_passages(kind, values.get("passages"))
            split += passages is not values.get("passages") and len(passages) > 1
            values["passages"] = passages
            if _is_kept(read, place, values, chosen, answered if repeats == "first" else None):
                add_row(read, place, values, default, repeats=repeats)
        if split:
            read.notes.append(f"texts split into passages at '|' or ';': {split}")
        read_scores = [judge for judge in judges if judge in marked]
        lower = [judge for judge in read_scores if judge in kind.lower_is_better]
        note = f"Fields: {', '.join(chosen.shown())}. Scores: {', '.join(read_scores) or 'none'}."
        if lower:
            note += f" Lower is better: {', '.join(lower)}."
        return put_together(read, name or tool, reference_system, note, most_pairs)


def _left_out(read: Collected) -> str:
    """Say what was left out, in brackets; nothing if that is nothing."""
    counts: dict[str, int] = {}
    for (_, _, reason), count in read.skips.items():
        counts[reason] = counts.get(reason, 0) + count
    listed = "; ".join(f"{reason}: {count}" for reason, count in sorted(counts.items()))
    return f" (left out: {listed})" if listed else ""


def _with_hidden_files(kind: FieldMap, paths: Sequence[Path | str]) -> list[Path | str]:
    """Return paths, of folders where a tool keeps a hidden file that file."""
    found: list[Path | str] = []
    for path in paths:
        inside = [Path(path, name) for name in kind.hidden_files]
        found.append(next((each for each in inside if each.is_file()), path))
    return found


def _whole_records(
    tool: str, kind: FieldMap, files: Sequence[Path], paths: Sequence[Path | str], read: Collected
) -> Iterator[Found]:
    """Yield the records of all files; those that belong together are joined to one."""
    found: list[Found] = []
    empty: list[Problem] = []
    for path in files:
        source = shown_path(path, paths)
        try:
            found += _records(tool, kind, path, source, read)
        except _NoListError as error:
            empty.append(error.problem)
    if empty and not found:
        raise DataError(empty)
    for problem in empty:
        read.skip(problem.source, "file", problem.fault)
    if kind.form == "spans":
        yield from joined_spans(found)
    elif kind.form == "trec-rag":
        yield from joined_runs(found, read)
    elif kind.form == "observations":
        yield from with_retrieved(found)
    elif kind.form == "passage rows":
        yield from joined_passage_rows(found, read)
    else:
        yield from found


class _NoListError(Exception):
    """A JSON file without a list of records."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem


def _records(
    tool: str, kind: FieldMap, path: Path, source: str, read: Collected
) -> Iterator[Found]:
    """Yield the records of a file with their places."""
    stem = bare_name(path).lstrip(".")
    wrong = []
    for line, item in _numbered_items(tool, kind, path, source, read):
        if isinstance(item, Mapping):
            yield Place(source, int(line)), {FILE: stem, **item}
        else:
            wrong.append(Problem(source, int(line), None, item, "is not a record", kind.hint))
    if wrong:
        raise DataError(counted_problems(wrong))


def _numbered_items(
    tool: str, kind: FieldMap, path: Path, source: str, read: Collected
) -> Iterable[tuple[int, Any]]:
    """Return what a file holds, with lines or places.

    Raises:
        UsageError: If it is no file of a known ending.
        DataError: If it is damaged.
    """
    if path.suffix and not path.name.lower().endswith(READ_SUFFIXES):
        raise UsageError(f"{source} is none of {', '.join(READ_SUFFIXES)}; {kind.hint}")
    if not path.suffix or path.name.lower().endswith(_JSON_VALUES):
        try:
            value = read_json_value(path, source, kind.hint)
        except DataError:
            lines = list(json_records(path, source))
            if len(lines) < _FEWEST_LINES or any(isinstance(it, Problem) for _, it in lines):
                raise
            return lines
        return enumerate(_listed(tool, kind, value, source, read), start=1)
    rows = read_rows(path, source)
    if rows.problems:
        raise DataError(rows.problems)
    cells = rows.table.to_dict(orient="records") or [{} for _ in rows.lines]
    return zip(map(int, rows.lines), cells, strict=True)


def _listed(tool: str, kind: FieldMap, value: Any, source: str, read: Collected) -> list[Any]:  # noqa: ANN401
    """Return the records of a JSON value, each with what the value says of all of them."""
    if isinstance(value, list):
        return value
    for others in kind.other_lists:
        items = at(value, others["at"])
        if isinstance(items, list) and items:
            read.skip(source, "record", others["reason"], len(items))
    lists = [items for place in kind.lists if isinstance(items := at(value, place), list)]
    if not lists:
        if isinstance(value, Mapping) and (not kind.lists or _is_one_record(kind, value)):
            return [value]
        places = " or ".join(map(repr, kind.lists)) or "the top"
        fault = f"holds no records of {tool}: no list at {places}"
        raise _NoListError(Problem(source, None, None, None, fault, kind.hint))
    if kind.form == "spans":
        return [item for items in lists for item in items]
    header: Record = {}
    for place in kind.header:
        found = at(value, place)
        if found is not None:
            header[place] = found
    records = next((items for items in lists if items), lists[0])
    return [{**header, **item} if isinstance(item, Mapping) else item for item in records]


def _is_one_record(kind: FieldMap, value: Mapping[str, Any]) -> bool:
    """Tell whether a JSON object is a record itself: it has a question and an answer."""
    return all(any(at(value, path) is not None for path in kind.fields[it]) for it in _TEXTS)


def _answers(kind: FieldMap, found: Iterable[Found], read: Collected) -> Iterator[Found]:
    """Yield the records that are answers; others are counted, with the reason."""
    for place, record in found:
        reason = next((rule["reason"] for rule in kind.left_out if _holds(record, rule)), None)
        if reason is None:
            yield place, record
        else:
            read.skip(place.source, "record", str(reason))


def _holds(record: Record, rule: Mapping[str, Any]) -> bool:
    found = at(record, rule["at"])
    return bool(found == rule["is"] if "is" in rule else found)


@dataclass(frozen=True)
class _Paths:
    """Where the fields of records are.

    Attributes:
        names: Field to its path.
        others: Field to the paths where records have it that have nothing at the first.
        stated: Fields whose path the user named.
        unread: Paths that may hold passages to the number of records where what they hold is none;
            empty where passages are read.
    """

    names: dict[str, str]
    others: dict[str, list[str]]
    stated: frozenset[str]
    unread: Mapping[str, int]

    def shown(self) -> list[str]:
        """Say where each field is read from."""
        texts = []
        for field, path in self.names.items():
            listed = " or ".join(map(repr, [path, *self.others.get(field, ())]))
            texts.append(f"{field} from {listed}")
        return texts


@dataclass
class _Survey:
    """What stands at the paths where fields may be.

    Attributes:
        holding: Fields and paths at which a record has its first value.
        elsewhere: Those of them at which a record has a text.
        unread: Paths of passages to the number of records where what they hold is none.
    """

    holding: set[tuple[str, str]] = dataclass_field(default_factory=set)
    elsewhere: set[tuple[str, str]] = dataclass_field(default_factory=set)
    unread: Counter[str] = dataclass_field(default_factory=Counter)

    def look(self, field: str, record: Record, paths: Sequence[str], *, is_stated: bool) -> None:
        """Look for the first path at which a record has a value of a field."""
        for path in paths:
            value = _value(field, record, path, is_stated=is_stated)
            if value is None:
                continue
            is_new = (field, path) not in self.holding
            if field == "passages" and is_new and not _holds_passages(value):
                self.unread[path] += 1
                continue
            self.holding.add((field, path))
            if field in _TEXTS and _is_plain(record, path):
                self.elsewhere.add((field, path))
            return


def _chosen_paths(
    tool: str, records: Sequence[Record], named: Mapping[str, str], files: int
) -> _Paths:
    """Return the path of each field: the one named, else the first of the tool's with a value."""
    kind = kinds()[tool]
    stated = {field: _stated_path(kind, tool, field, named[field], records) for field in named}
    places = {
        field: [stated[field]] if field in stated else _usable(paths, files)
        for field, paths in kind.fields.items()
    }
    found = _Survey()
    for record in records:  # all paths of one record at a time: JSON text is opened once
        for field, paths in places.items():
            found.look(field, record, paths, is_stated=field in stated)
    names, others = dict[str, str](), dict[str, list[str]]()
    for field, paths in places.items():
        held = [path for path in paths if (field, path) in found.holding]
        if field in stated or held:
            names[field] = stated.get(field) or held[0]
            others[field] = [
                path
                for path in held[1:]
                if (field, path) in found.elsewhere or _is_same_place(field, path, held[0])
            ]
    held_fields = {field for field, _ in found.holding}
    lacking = [field for field in NEEDED if field not in held_fields]
    if lacking:
        raise UsageError(_lacking_fields(tool, kind, records, lacking))
    is_lost = "passages" not in names
    return _Paths(
        names=names,
        others=others,
        stated=frozenset(stated),
        unread=found.unread if is_lost else Counter(),
    )


def _usable(paths: Sequence[str], files: int) -> list[str]:
    """Leave out the name of the file where there is one file, unless it is the last resort."""
    usable = []
    for number, path in enumerate(paths, start=1):
        if (path != FILE or files > 1 or number == len(paths)) and path not in usable:
            usable.append(path)
    return usable


def _stated_path(
    kind: FieldMap, tool: str, field: str, path: str, records: Sequence[Record]
) -> str:
    """Return a path that the user named, its brackets as dots.

    Raises:
        UsageError: If the field is unknown, or no record has anything there.
    """
    checked_choice(field, kind.fields, f"field of {tool}")
    for written in (path, dotted(path)):
        if any(at(record, written) is not None for record in records):
            return written
    shown = _shown_paths(kind, records)
    raise UsageError(f"no record has anything at {path!r}; they have {shown}")


def _lacking_fields(
    tool: str, kind: FieldMap, records: Sequence[Record], lacking: Sequence[str]
) -> str:
    """Say which fields were not found, what records have, and how to name a path."""
    listed = _listed_paths(kind, records)
    roots = {path.partition(".")[0] for path in kind.fields[lacking[0]]}
    texts = [path for path, is_text in listed.items() if is_text]
    likely = [path for path in [*texts, *listed] if path.partition(".")[0] in roots]
    example = next(iter([*likely, *texts]), FILE)
    return (
        f"no record says its {' or '.join(lacking)} where {tool} usually has it; they have "
        f"{_shown_paths(kind, records)}; say where with --column, such as "
        f"--column {lacking[0]}={FILE if lacking[0] == 'system' else example}"
    )


def _shown_paths(kind: FieldMap, records: Sequence[Record]) -> str:
    listed = list(_listed_paths(kind, records))
    rest = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    return ", ".join(listed[:_LISTED]) + rest


def _listed_paths(kind: FieldMap, records: Sequence[Record]) -> dict[str, bool]:
    """Return the paths of texts and lists in records, and whether a text is there.

    Those beside a field's usual paths come first, in the order of the fields.
    """
    held: dict[str, bool] = {}
    for record in records[:_LOOKED_AT]:
        for path, value in paths_of(record):
            inside = opened_value(value)
            if isinstance(inside, str | list) and inside:  # what a field may be read from
                held[path] = held.get(path, False) or isinstance(inside, str)
    roots = {name: place for place, name in enumerate(kind.roots)}

    def rank(path: str) -> tuple[int, bool, str]:
        root = roots.get(path.partition(".")[0], len(roots))
        return (root, not held[path], path)

    return {path: held[path] for path in sorted(held, key=rank)}


def _value(field: str, record: Record, path: str, *, is_stated: bool) -> Any:  # noqa: ANN401
    """Return what a field takes of what stands at a path, or None if that is nothing."""
    value = at(record, path)
    if field in _TEXTS and not is_stated:
        value = _inside(value, usual_names(field))
    if field == "answer":
        return text_of(value, ASSISTANT)
    if field == "passages":
        return None if value in ("", [], {}) else value
    if field == "query_id":
        return None if isinstance(value, Mapping | list) else value
    if field == "reference":
        inside = opened_value(value)
        is_several = isinstance(inside, list) and inside and isinstance(inside[0], str)
        return text_of(inside[0] if is_several else value, ASSISTANT)  # the first that is right
    return text_of(value, USER)


def _holds_passages(value: object) -> bool:
    """Tell whether a value can be read as passages: ``context`` may be anything."""
    try:
        return bool(passages_of(value))
    except ValueError:
        return False


def _inside(value: Any, names: Sequence[str], levels: int = _MOST_INSIDE) -> Any:  # noqa: ANN401
    """Return what a record, also one that is JSON text, has under one of some names, or itself."""
    inside = opened_value(value)
    if not isinstance(inside, Mapping) or not levels:
        return value
    named = named_argument(inside, names)
    if named is not None:
        return _inside(named, names, levels - 1)
    for name in names:
        inner = inside.get(name)
        if isinstance(inner, str) and inner.strip():
            return _inside(inner, names, levels - 1)
    return value


def _is_plain(record: Record, path: str) -> bool:
    """Tell whether a text, or a log of messages, stands at a path: no record of something else."""
    value = opened_value(at(record, path))
    return not isinstance(value, Mapping) or is_log(value)


def _is_fit(field: str, record: Record, path: str) -> bool:
    """Tell whether what stands at a path other than a field's first may be the field's."""
    if field in _TEXTS:
        return _is_plain(record, path)
    if field == "passages":
        value = opened_value(at(record, path))
        return isinstance(value, list | Mapping) and _holds_passages(value)
    return True


def _is_same_place(field: str, path: str, first: str) -> bool:
    """Tell whether two paths end in one name, such as ``run_id`` and ``metadata.run_id``.

    Another name of a system or an id may name something else. Passages of one holder, such as
    ``output.contexts`` and ``output.sources``, are the same.
    """
    if field in _TEXTS:
        return False
    holder = path.rpartition(".")[0]
    if field == "passages" and holder and holder == first.rpartition(".")[0]:
        return True
    leaf, first_leaf = (each.rpartition(".")[2] for each in (path, first))
    return leaf.replace("_", "").lower() == first_leaf.replace("_", "").lower()


def _rows(
    kind: FieldMap, records: Sequence[Found], chosen: _Paths
) -> Iterator[tuple[Place, Record, Record]]:
    """Yield place, record and values of each record."""
    rows = [(place, record, _values(record, chosen)) for place, record in records]
    _name_variants(kind, rows)
    if "query_id" not in chosen.stated:
        _name_scopes(kind, rows, chosen.names["system"])
    yield from rows


def _values(record: Record, chosen: _Paths) -> Record:
    values: Record = {}
    for field, path in chosen.names.items():
        is_stated = field in chosen.stated
        value = _value(field, record, path, is_stated=is_stated)
        taken = path
        for other in chosen.others.get(field, ()):
            if value is None and _is_fit(field, record, other):
                value, taken = _value(field, record, other, is_stated=is_stated), other
        if field in _QUOTABLE and isinstance(value, str):
            value = unquoted(value)
        values[field] = value
        if field == "question":
            values[HISTORY] = _history(at(record, taken))
    return values


def _split_passages(kind: FieldMap, value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the passages that a tool joined to one text; any other value as it is."""
    if not isinstance(value, str) or opened_value(value) is not value:
        return value
    for separator in kind.passage_separators:
        parts = [part.strip() for part in re.split(separator, value)]
        if len(parts) > 1:
            return [part for part in parts if part]
    return value


def _history(value: object) -> list[Record]:
    turns, *_ = conversation(messages_of(value))
    return turns


def _name_variants(kind: FieldMap, rows: Sequence[tuple[Place, Record, Record]]) -> None:
    """Name a system with several prompts once for each prompt."""
    if kind.variant is None:
        return
    prompts: dict[object, set[str]] = {}
    for _, record, values in rows:
        prompts.setdefault(values["system"], set()).add(str(at(record, kind.variant)))
    if not any(len(variants) > 1 for variants in prompts.values()):
        return
    for _, record, values in rows:
        if values["system"] is None:
            continue
        label, number = at(record, "prompt.label"), at(record, kind.variant)
        is_name = isinstance(label, str) and not {"\n", "{"} & {*label}
        if not is_name or len(label) > MOST_LABEL:
            label = f"prompt {number + 1 if isinstance(number, int) else number}"
        values["system"] = f"{values['system']} | {label}"


def _name_scopes(
    kind: FieldMap, rows: Sequence[tuple[Place, Record, Record]], system_path: str
) -> None:
    """Put before ids what they are unique within, such as the task, where there are several.

    What names the systems is left out: they answer the same questions.
    """
    scopes: list[tuple[str, ...]] = [() for _ in rows]
    for path in kind.id_scope:
        if path == system_path:
            continue
        names = [str(at(record, path) or "") for _, record, _ in rows]
        within: dict[tuple[str, ...], set[str]] = {}
        for scope, name in zip(scopes, names, strict=True):
            within.setdefault(scope, set()).add(name)
        if any(len(found) > 1 for found in within.values()):
            scopes = [(*scope, name) for scope, name in zip(scopes, names, strict=True)]
    settings = _telling_settings(kind, rows, scopes)
    scopes = [(*scope, setting) for scope, setting in zip(scopes, settings, strict=True)]
    for (_, _, values), scope in zip(rows, scopes, strict=True):
        query_id = values.get("query_id")
        if query_id is not None and scope:
            own = whole_digits(query_id) or str(query_id)
            values["query_id"] = "/".join([*filter(None, scope), own])


def _telling_settings(
    kind: FieldMap, rows: Sequence[tuple[Place, Record, Record]], scopes: Sequence[tuple[str, ...]]
) -> list[str]:
    """Return the settings of each record that tell questions apart which share an id.

    They are as few as may be, of as few values: those of a system tell no questions apart.

    Returns:
        Texts such as ``lang=en``; empty ones where no ids are shared, or no settings tell.
    """
    nothing = [""] * len(rows)
    keys = [(*scope, str(v.get("query_id"))) for (_, _, v), scope in zip(rows, scopes, strict=True)]
    questions = [values["question"] for _, _, values in rows]
    if kind.settings is None or _is_one_each(keys, questions):
        return nothing
    given = [opened_value(at(record, kind.settings)) for _, record, _ in rows]
    settings = [each if isinstance(each, Mapping) else {} for each in given]
    names = sorted({str(name) for each in settings for name in each})
    for count in range(1, _MOST_SETTINGS + 1):
        telling: list[list[str]] = []
        for chosen in combinations(names, count):
            texts = [_setting_text(each, chosen) for each in settings]
            split = [(*key, text) for key, text in zip(keys, texts, strict=True)]
            if _is_one_each(split, questions):
                telling.append(texts)
        if telling:
            return min(telling, key=lambda texts: len(set(texts)))
    return nothing


def _setting_text(settings: Mapping[str, Any], names: Sequence[str]) -> str:
    """Write settings as ``lang=en,level=2``."""
    return ",".join(f"{name}={settings[name]}" for name in names if name in settings)


def _is_one_each(keys: Sequence[tuple[str, ...]], questions: Sequence[str | None]) -> bool:
    """Tell whether each key has one question."""
    first: dict[tuple[str, ...], str] = {}
    for key, question in zip(keys, questions, strict=True):
        if question is not None and first.setdefault(key, question) != question:
            return False
    return True


def _is_kept(
    read: Collected,
    place: Place,
    values: Record,
    chosen: _Paths,
    answered: set[tuple[str, ...]] | None,
) -> bool:
    """Tell whether a record is kept: it lacks nothing, and its system answers for the first time.

    Args:
        read: Counts records that are left out.
        place: Where the record stands.
        values: Its fields.
        chosen: Where they stand.
        answered: Questions and systems so far; None where systems may answer again.
    """
    fault = history_fault(values[HISTORY])
    if fault is not None:
        read.skip(place.source, "history", fault)
        values[HISTORY] = []
    for field in NEEDED:
        if values[field] is None:
            reason = f"it has no text at {chosen.names[field]!r}, for the {field}"
            read.skip(place.source, "record", reason)
            return False
    if answered is None:
        return True
    question = [str(values.get(name)) for name in ("query_id", "question", "language", HISTORY)]
    key = (*question, values["system"])
    if key in answered:
        read.skip(place.source, "record", _AGAIN)
        return False
    answered.add(key)
    return True


def _count_plain_scores(
    read: Collected, kind: FieldMap, records: Sequence[Found], taken: Sequence[str]
) -> None:
    """Count the numbers beside the usual scores, which are scores only if the user names them."""
    for place, record in records:
        for name in plain_scores(kind, record):
            if name not in taken:
                reason = f"{name!r} is read as a score only if named: --scores {name}"
                read.skip(place.source, "column", reason)


def _chosen_scores(
    kind: FieldMap, records: Sequence[Record], named: Sequence[str]
) -> tuple[str, ...]:
    known = sorted({score for record in records for score in scores_of(kind, record)})
    for score in named:  # or a path, as of a column that is no list
        if not any(at(record, score) is not None for record in records):
            checked_choice(score, known, "score")
    return tuple(named) or tuple(known)
