"""Tables of answers that any program wrote: one row an answer, or one row a pair of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from arena.adapters.collected import Collected, ForeignArena, Place, Record, question_id, seen_from
from arena.adapters.field_maps import kinds
from arena.adapters.files import bare_name, checked_language
from arena.data.cells import passages_of
from arena.data.errors import DataError, UsageError, checked_choice
from arena.data.files import opened
from arena.data.languages import UNDETERMINED, language_code
from arena.data.schema import HISTORY, OWN_PASSAGES, finite_number, whole_digits

TABLE = "csv"
NEEDED = ("question", "system", "answer")
NEEDED_OF_PAIRS = ("question", "system_a", "answer_a", "system_b", "answer_b")
PAIR = ("_a", "_b")
JUDGE = "judge"
FILE = "file"
"""The name of a record's file without its ending, as if it were a column: one file a system."""
NO_COLUMNS: Mapping[str, str] = MappingProxyType({})


def read_answer_tables(
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    language: str | None = None,
    judge: str | None = None,
    name: str = "answers",
    reference_system: str | None = None,
    most_pairs: int | None = None,
) -> ForeignArena:
    """Read tables of answers: CSV, JSONL, Parquet, or a JSON array.

    A row is an answer (``question, system, answer``), with a ``verdict`` if it was marked (a
    number, the higher the better: the better of two answers to a question wins); or a pair
    (``question, system_a, answer_a, system_b, answer_b``) with its ``winner``. Of several files of
    answers without a column for it, each is of the system that it is named for. Further fields of
    both are ``query_id`` (else questions with the same text are one), ``language`` (a code or an
    English name), ``passages`` (a text, a list of texts or passages, or a list as JSON text; where
    answers to a question have different ones, each has its own and the question none),
    ``reference`` (the question's answer to compare with, which does not compete), ``judge``, and
    the ``criterion`` it judged by: an answer may stand there once for each.

    Args:
        paths: Files of one schema, or folders of them.
        columns: Field to the name of its column, where ``tools.toml`` does not have that name.
        language: Language of rows that name none; undetermined (``und``) if left out.
        judge: Judge of rows that name none.
        name: Name of the arena.
        reference_system: System whose answers serve as reference.
        most_pairs: Pairs of marked answers to keep of each question; None keeps all.

    Raises:
        UsageError: For an absent file, an unknown field or column, or columns of neither kind.
        DataError: With every problem of all files.
    """
    kind, read = kinds()[TABLE], Collected()
    parts = [(bare_name(path), rows) for path, rows in read.files(paths)]
    there = sorted({FILE, *(str(column) for _, rows in parts for column in rows.table)})
    broken = [*read.problems, *(problem for _, rows in parts for problem in rows.problems)]
    for ours, column in columns.items():
        checked_choice(ours, kind.fields, "field of a table of answers")
        if column not in there and not broken:
            raise UsageError(f"no column {column!r}; available: {', '.join(there) or 'none'}")
    chosen = {}
    for ours, known in kind.fields.items():
        free = [column for column in known if column in there and column not in columns.values()]
        free = [column for column in free if column != FILE or len(parts) > 1]
        if ours in columns or free:
            chosen[ours] = columns.get(ours) or free[0]
    is_pairs = chosen.keys() >= set(NEEDED_OF_PAIRS)
    if not is_pairs and not chosen.keys() >= set(NEEDED):
        if broken:
            raise DataError(broken)
        raise UsageError(f"the columns are {', '.join(there) or 'none'}; {kind.hint}")
    read.names = chosen
    default = checked_language(language) or UNDETERMINED
    for stem, rows in parts:
        read.skip_columns(rows, chosen.values())
        for place, record in read.raw(rows):
            record.setdefault(FILE, stem)
            values = {ours: record.get(column) for ours, column in chosen.items()}
            values["judge"] = str(values.get("judge") or judge or JUDGE)
            if values.get("criterion"):
                values["judge"] = f"{values['judge']}:{values['criterion']}"
                read.criteria[values["judge"]] = str(values["criterion"])
            add_row(read, place, values, default, PAIR if is_pairs else ("",))
    note = f"Columns: {', '.join(f'{ours} from {column!r}' for ours, column in chosen.items())}."
    return put_together(read, name, reference_system, note, most_pairs)


def add_row(
    read: Collected, place: Place, values: Record, default: str, sides: Sequence[str] = ("",)
) -> None:
    """Add a row to what was read; ``sides`` are the endings of the fields of its answers."""
    given = values.get("language")
    code = language_code(given) if isinstance(given, str) else None if given else default
    if code is None:
        hint = "use a code such as 'en', or an English name"
        read.fault(place, "language", given, "is not a language known by name", hint)
    texts = {ours: values[ours] for ours in ("question", *(f"system{side}" for side in sides))}
    texts |= {ours: values[ours] or "" for ours in (f"answer{side}" for side in sides)}
    if values.get("reference") is not None:
        texts["reference"] = values["reference"]
    wrong = {ours: value for ours, value in texts.items() if not _is_text(ours, value)}
    for ours, value in wrong.items():
        fault = "is missing" if value is None else "is not a text"
        read.fault(place, ours, value, fault, "give it a text")
    if code is None or wrong:
        return
    try:
        passages = passages_of(values.get("passages"))
    except ValueError as error:
        hint = "give a text, a list of texts, or a list of {passage_id, text}"
        read.fault(place, "passages", values.get("passages"), str(error), hint)
        return
    named = values.get("query_id")
    history = opened(values.get(HISTORY))
    query_id = question_id(texts["question"], history) if named is None else whole_digits(named)
    key = (code, query_id or str(named))
    known = read.question(place, key, texts["question"], [], may_repeat=True)
    for ours, column, hint in (
        ("question", "query", "give each question one text"),
        ("reference", "reference", "give each question one reference answer"),
    ):
        if ours in texts and known.setdefault(column, texts[ours]) != texts[ours]:
            fault = f"differs from that of the same question {seen_from(place, known['place'])}"
            read.fault(place, ours, texts[ours], fault, hint)
            return
    for side in sides:
        system, answer = texts[f"system{side}"], texts[f"answer{side}"]
        row = read.answer(place, key, system, answer, len(sides) == 2 or "criterion" in values)
        row.setdefault(OWN_PASSAGES, passages or None)
        row.setdefault(HISTORY, history)
    if len(sides) == 2 and "winner" in values:
        sides_of = (values["system_a"], values["system_b"])
        read.judgment(place, key, sides_of, values["winner"], values["judge"])
    marks = dict(values.get("marks", {}))
    if len(sides) == 1 and "verdict" in values:
        marks[values["judge"]] = _mark(read, place, values["verdict"])
    for judge, mark in marks.items():
        if mark is not None:
            row = {"language": code, "query_id": key[1], "judge": judge, "mark": mark}
            read.marks.append(row | {"system": texts["system"]})


def _is_text(ours: str, value: object) -> bool:
    return isinstance(value, str) and (bool(value.strip()) or ours.startswith("answer"))


def _mark(read: Collected, place: Place, given: object) -> float | None:
    if given in (None, ""):
        read.skip(place.source, "verdict", "it is missing")
        return None
    mark = finite_number(given)
    if mark is None:
        hint = "write a number, the higher the better, or nothing"
        read.fault(place, "verdict", given, "is not a number", hint)
    return mark


def put_together(
    read: Collected, name: str, reference: str | None, note: str, most_pairs: int | None
) -> ForeignArena:
    """Put an arena together: passages that all answers to a question have are the question's."""
    read.share(OWN_PASSAGES)
    read.share(HISTORY)
    made = {key: question_id(it["query"], it.get(HISTORY)) for key, it in read.queries.items()}
    named = {
        (code, made[code, query_id]): query["place"]
        for (code, query_id), query in read.queries.items()
        if query_id != made[code, query_id]
    }
    for (code, query_id), query in read.queries.items():
        other = named.get((code, made[code, query_id]))
        if other is not None and query_id == made[code, query_id]:
            fault = f"is missing here, and is {seen_from(query['place'], other)}"
            hint = "give an id to every row of a question, or to none"
            read.fault(query["place"], "query_id", None, fault, hint)
    return read.foreign(name, None, reference, note, most_pairs)
