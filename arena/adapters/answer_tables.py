"""Tables of answers that any program wrote: one row an answer, or one row a pair of answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

import pandas as pd

from arena.adapters.battle_rows import columns_of_winners, winner_of
from arena.adapters.collected import (
    Collected,
    ForeignArena,
    Key,
    Place,
    Record,
    question_id,
    said_of_systems,
    seen_from,
)
from arena.adapters.columns import (
    NO_COLUMNS,
    ChosenColumns,
    FieldNames,
    bare_column,
    chosen_columns,
    field_names,
    without_row_numbers,
)
from arena.adapters.files import bare_name, checked_language
from arena.adapters.judges import judge_and_voter
from arena.data.cells import (
    decoded,
    finite_number,
    has_decimal_comma,
    is_missing_cell,
    looks_like_reply,
    name_text,
    opened_text,
    text_of_reply,
)
from arena.data.errors import DataError, UsageError, checked_choice
from arena.data.languages import NO_LANGUAGE, UNDETERMINED, read_language
from arena.data.passages import passages_of
from arena.data.rows import Rows
from arena.data.schema import HISTORY, OWN_PASSAGES, TURN, VOTER, WEIGHT

TABLE = "csv"
NEEDED = ("question", "system", "answer")
NEEDED_OF_PAIRS = ("question", "system_a", "answer_a", "system_b", "answer_b")
SINGLE: tuple[str, ...] = ("",)
PAIR: tuple[str, ...] = ("_a", "_b")
FILE = "file"
"""The name of a record's file without its ending, as if it were a column: one file a system."""
Repeats = Literal["first", "each"]
"""What becomes of a question that a system answers again: only the first answer is kept, or each
asking is a question of its own."""

_HINT = (
    "a table of answers needs question, system, answer, one of pairs question, system_a, "
    "answer_a, system_b, answer_b; say which is which with --column, such as "
    "--column question=title"
)
_AGAIN = (
    "keep one of its answers, or choose: --repeats first keeps the first and counts the others, "
    "--repeats each makes each asking a question of its own"
)
_NO_VERDICTS = (
    "no column holds the winner, so there are no verdicts; choose it with --column winner=NAME"
)
_JOINED = re.compile(r"[.!?]\s?(?:[|]+|;)\s?\w")
_JOINED_NOTE = (
    "some texts of passages look like several, joined by '|' or ';', and are read as one passage "
    "each; write several as a JSON list"
)
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,6})?")
_NOT_READ = {"pairs": (TURN,), "answers": (TURN, WEIGHT)}
"""Fields of rows that have no place here: a mark of one answer has no weight."""
_OUTCOMES = {"result"}
"""Names of columns of answers that may also hold how a run ended."""
WHOLE_ROW = "whole row"
"""Where values keep the row they are of, if it says who judged: rows that are alike are copies."""


def read_answer_tables(
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    language: str | None = None,
    judge: str | None = None,
    name: str = "answers",
    reference_system: str | None = None,
    most_pairs: int | None = None,
    repeats: Repeats | None = None,
) -> ForeignArena:
    """Read tables of answers: CSV, JSON, JSONL, Parquet or a workbook of Excel.

    A row is an answer (``question, system, answer``), with a ``verdict`` if it was marked (a
    number, the higher the better: the better of two answers to a question wins); or a pair
    (``question, system_a, answer_a, system_b, answer_b``) with its ``winner``. ``columns.toml``
    has the names that the columns may have; of several, the one with values is read. Of several
    files of answers without a column for it, each is of the system that it is named for. Further
    fields of both are ``query_id`` (else questions with the same text are one), ``language`` (a
    code or an English name), ``passages`` (see ``passages_of``; where answers to a question have
    different ones, each has its own and the question none), ``reference`` (the question's answer
    to compare with, which does not compete), ``judge``, and the ``criterion`` it judged by: an
    answer may stand there once for each.

    Args:
        paths: Files of one schema, or folders of them.
        columns: Field to the name of its column, where ``columns.toml`` does not have that name.
        language: Language of rows that name none; undetermined (``und``) if left out.
        judge: Judge of rows that name none.
        name: Name of the arena.
        reference_system: System whose answers serve as reference.
        most_pairs: Pairs of marked answers to keep of each question; None keeps all.
        repeats: What becomes of a question that a system answers again; None refuses it.

    Raises:
        UsageError: For an absent file, an unknown field or column, or columns of neither kind.
        DataError: With every problem of all files.
    """
    if repeats is not None:
        checked_choice(repeats, get_args(Repeats), "way to read repeated questions")
    read = Collected()
    parts = [(bare_name(path), rows) for path, rows in read.files(paths)]
    if len(parts) > 1 or FILE in columns.values():
        parts = [(stem, with_file_name(rows, stem)) for stem, rows in parts]
    broken = [*read.problems, *(problem for _, rows in parts for problem in rows.problems)]
    chosen, sides = table_columns([rows for _, rows in parts], columns, bool(broken))
    if chosen is None:
        if broken:
            raise DataError(broken)
        there = dict.fromkeys(str(column) for _, rows in parts for column in rows.table)
        raise UsageError(f"the columns are {', '.join(there) or 'none'}; {_HINT}")
    read.names = chosen.names
    default = checked_language(language) or UNDETERMINED
    empty = Counter[str]()
    is_pairs = len(sides) == 2
    has_winners = "winner" in chosen.names
    for _, table in parts:
        rows = with_whole_names(table, chosen.names)
        saying = without_row_numbers(rows.table)
        needs_columns = is_pairs and not has_winners
        winner_columns = columns_of_winners(rows.table) if needs_columns else {}
        count_unread(read, rows, chosen, tuple(winner_columns.values()))
        if needs_columns and not winner_columns:
            read.notes.append(f"{rows.source}: {_NO_VERDICTS}")
        is_comma = has_only_decimal_commas(rows.table, chosen.names.get("verdict"))
        for place, record in read.raw(rows):
            values = chosen.values(record)
            if is_comma and isinstance(values.get("verdict"), str):
                values["verdict"] = values["verdict"].replace(",", ".")
            says_who = not is_missing_cell(values.get("judge"))
            if says_who or not is_missing_cell(values.get(VOTER)):
                values[WHOLE_ROW] = {column: record[column] for column in saying}
            if winner_columns:
                values["winner"] = winner_of(record, chosen.names, winner_columns)
            values["judge"], values[VOTER] = judge_and_voter(
                record, chosen.names, default=judge, reads_sources=is_pairs
            )
            if values.get("criterion"):
                values["judge"] = f"{values['judge']}:{values['criterion']}"
                read.criteria[values["judge"]] = str(values["criterion"])
            open_replies(read, place, values, sides)
            empty.update(empty_answers(values, sides))
            add_row(read, place, values, default, sides, repeats)
    if any(is_comma_read(rows.table, chosen.names.get("verdict")) for _, rows in parts):
        read.notes.append("Verdicts with a comma were read as decimals: 0,5 is 0.5")
    if empty:
        read.notes.append(said_of_systems(empty, "is empty", "are empty"))
    read_from = ", ".join(f"{field} from {column!r}" for field, column in chosen.names.items())
    return put_together(read, name, reference_system, f"Columns: {read_from}.", most_pairs)


def with_file_name(rows: Rows, stem: str) -> Rows:
    """Add a column with the name of the file, unless there is one."""
    if FILE in rows.table:
        return rows
    return replace(rows, table=rows.table.assign(**{FILE: stem}).astype(object))


def table_columns(
    tables: Sequence[Rows],
    columns: Mapping[str, str],
    is_broken: bool = False,
    known_by: Sequence[str] = ("question",),
) -> tuple[ChosenColumns | None, tuple[str, ...]]:
    """Choose the columns of tables of answers, and tell whether their rows are pairs.

    Args:
        tables: Tables of one form.
        columns: Field to the column that the user chose.
        is_broken: Whether rows could not be read, so that a column may not be seen.
        known_by: Fields by which a question is known, of which one must be there.

    Returns:
        The columns, or None if they are those of neither; and the endings of the fields of the
        answers of a row.

    Raises:
        UsageError: If the user chose a column that is not there, or an unknown field.
    """
    frames = [rows.table for rows in tables]
    both: FieldNames = {**field_names("answers"), **field_names("pairs")}
    for field in columns:
        checked_choice(field, both, "field of a table of answers")
    if is_broken:
        there = {str(column) for frame in frames for column in frame}
        columns = {field: name for field, name in columns.items() if name in there}
    for kind, needed, sides in (
        ("pairs", NEEDED_OF_PAIRS, PAIR),
        ("answers", NEEDED, SINGLE),
    ):
        known = {
            field: names
            for field, names in field_names(kind).items()
            if field not in _NOT_READ[kind]
        }
        named = {field: name for field, name in columns.items() if field in known}
        chosen = chosen_columns(frames, known, named)
        generated = _generated_answers(frames, chosen, known["answer"]) if sides == SINGLE else None
        if generated is not None and "answer" not in named:
            chosen = chosen_columns(frames, known, {**named, "answer": generated})
        is_known = any(field in chosen.names for field in known_by)
        if is_known and chosen.names.keys() >= {*needed} - {"question"}:
            return chosen, sides
    return None, SINGLE


def _generated_answers(
    frames: Sequence[pd.DataFrame], chosen: ChosenColumns, known: Sequence[str]
) -> str | None:
    """Return another column of answers where the chosen one holds right answers instead.

    These are the same for all systems that answer a question.
    """
    asked_by = chosen.names.get("query_id", chosen.names.get("question"))
    fields = [asked_by, chosen.names.get("system"), chosen.names.get("answer")]
    if None in fields:
        return None
    names = set(known) - _OUTCOMES
    others = [column for column in chosen.unread if bare_column(column) in names]
    others.sort(key=lambda column: known.index(bare_column(column)))
    by_preference = [chosen.names["answer"], *others]
    generated = [each for each in by_preference if not _is_shared(frames, fields[:2], each)]
    return generated[0] if generated and generated[0] != by_preference[0] else None


def _is_shared(frames: Sequence[pd.DataFrame], key: Sequence[str | None], column: str) -> bool:
    """Tell whether all systems have one text for each question that several answer."""
    systems: dict[str, set[str]] = {}
    texts: dict[str, set[str]] = {}
    for frame in frames:
        if not {*key, column} <= set(frame):
            continue
        for question, system, text in frame[[*key, column]].itertuples(index=False):
            systems.setdefault(str(question), set()).add(str(system))
            texts.setdefault(str(question), set()).add(str(text))
    several = [question for question, names in systems.items() if len(names) > 1]
    return len(several) > 0 and all(len(texts[question]) == 1 for question in several)


def with_whole_names(rows: Rows, names: Mapping[str, str]) -> Rows:
    """Write names and ids as whole numbers where a program wrote a column of them as decimals.

    pandas writes the numbers 4 and 3.5 of one column as ``4.0`` and ``3.5``. A column that holds
    any other text is left as it is: there ``4.0`` may be a version.
    """
    table = rows.table
    for fields in (("query_id",), ("system",), ("system_a", "system_b")):
        columns = [names[field] for field in fields if names.get(field) in table]
        cells = [cell for column in columns for cell in table[column] if cell is not None]
        if not all(isinstance(cell, str) and _NUMBER.fullmatch(cell) for cell in cells):
            continue
        for column in columns:
            numbers = [
                name_text(float(cell)) if cell is not None and "." in cell else cell
                for cell in table[column]
            ]
            table = table.assign(**{column: pd.Series(numbers, table.index, dtype=object)})
    return replace(rows, table=table)


def count_unread(
    read: Collected, rows: Rows, chosen: ChosenColumns, further: Sequence[str] = ()
) -> None:
    """Count the columns of a file that are not read; ``further`` are read beside the fields."""
    fallbacks = {column for columns in chosen.fallbacks.values() for column in columns}
    for column, reason in chosen.unread.items():
        if column in fallbacks:
            read.notes.append(f"{rows.source}: {reason}: it is read there")
        elif column in rows.table and column not in further:
            read.skip(rows.source, "column", reason)


def is_comma_read(table: pd.DataFrame, column: str | None) -> bool:
    """Tell whether numbers of a column have a decimal comma."""
    if column is None or column not in table:
        return False
    return any(isinstance(cell, str) and has_decimal_comma(cell) for cell in table[column])


def open_replies(read: Collected, place: Place, values: Record, sides: Sequence[str]) -> None:
    """Replace answers that are objects of programs by the texts in them; each is counted."""
    for side in sides:
        answer = values.get(f"answer{side}")
        if not isinstance(answer, str):
            continue
        if not looks_like_reply(answer):
            if opened_text(answer) is not None:
                read.skip(place.source, "answer", "it is a list or record: kept as it is")
            continue
        text = text_of_reply(answer)
        if text is None:
            read.skip(place.source, "answer", "it looks like a printed object: kept as it is")
            continue
        values[f"answer{side}"] = text
        read.skip(place.source, "what surrounds an answer", "of a printed object the text is read")


def has_only_decimal_commas(table: pd.DataFrame, column: str | None) -> bool:
    """Tell whether commas in a column of numbers can only stand before decimals.

    They do if that is sure of one number, and no number has a point or a second comma.
    """
    if not is_comma_read(table, column):
        return False
    texts = [cell for cell in table[column] if isinstance(cell, str)]
    return not any("." in text or text.count(",") > 1 for text in texts)


def empty_answers(values: Record, sides: Sequence[str]) -> list[str]:
    """Name the systems whose answers of a row say nothing."""
    return [
        str(values.get(f"system{side}"))
        for side in sides
        if is_missing_cell(values.get(f"answer{side}"))
    ]


def _note_joined_passages(read: Collected, value: object) -> None:
    """Note, once, that a text which may be several passages is read as one."""
    if not isinstance(value, str) or opened_text(value) is not None:
        return
    if _JOINED.search(value) and _JOINED_NOTE not in read.notes:
        read.notes.append(_JOINED_NOTE)


def add_row(
    read: Collected,
    place: Place,
    values: Record,
    default: str,
    sides: Sequence[str] = SINGLE,
    repeats: Repeats | None = None,
) -> None:
    """Add a row to what was read; ``sides`` are the endings of the fields of its answers."""
    code = row_language(read, place, values.get("language"), default)
    texts = _row_texts(read, place, values, sides)
    if code is None or texts is None:
        return
    try:
        passages = passages_of(values.get("passages"))
    except ValueError as error:
        hint = "give a text, a list of texts, or a list of {passage_id, text}"
        read.fault(place, "passages", values.get("passages"), str(error), hint)
        return
    _note_joined_passages(read, values.get("passages"))
    history = decoded(values.get(HISTORY))
    named = name_text(values.get("query_id"))
    query_id = question_id(texts["question"], history) if named is None else str(named).strip()
    key = _asking(read, place, (code, query_id), texts, values, sides, repeats)
    if key is None:
        return
    known = read.question(place, key, texts["question"], [], may_repeat=True)
    for field, column, hint in (
        ("question", "query", "give each question one text"),
        ("reference", "reference", "give each question one reference answer"),
    ):
        if field in texts and known.setdefault(column, texts[field]) != texts[field]:
            fault = f"differs from that of the same question {seen_from(place, known['place'])}"
            read.fault(place, field, texts[field], fault, hint)
            return
    for side in sides:
        row = read.answer(place, key, texts[f"system{side}"], texts[f"answer{side}"], True)
        row.setdefault(OWN_PASSAGES, passages or None)
        row.setdefault(HISTORY, history)
    if len(sides) == 2 and "winner" in values:
        systems = (texts["system_a"], texts["system_b"])
        read.judgment(
            place,
            key,
            systems,
            values["winner"],
            values["judge"],
            columns=_identity_of_verdict(values),
            record=values.get(WHOLE_ROW),
        )
    marks = dict(values.get("marks", {}))
    if len(sides) == 1 and "verdict" in values:
        marks[values["judge"]] = _mark(read, place, values["verdict"])
    for judge, mark in marks.items():
        if mark is not None:
            row = {"language": code, "query_id": key[1], "judge": judge, "mark": mark}
            read.marks.append(row | {"system": texts["system"]})
            read.marked[*key, texts["system"], judge] = mark


def row_language(read: Collected, place: Place, given: object, default: str) -> str | None:
    """Return the language of a row, or None after telling what is wrong with it."""
    if is_missing_cell(given):
        return default
    if isinstance(given, str) and given.strip().casefold() in NO_LANGUAGE:
        read.skip(place.source, "language", f"{given!r} is none: read as {default or 'not given'}")
        return default
    reading = read_language(given) if isinstance(given, str) else None
    if reading is None or reading.code is None:
        hint = reading.hint if reading else "use a code such as 'en', or an English name"
        read.fault(place, "language", given, "is not a language known by name", hint)
        return None
    if reading.remark:
        read.skip(place.source, "region of a language", reading.remark)
    return reading.code


def _row_texts(
    read: Collected, place: Place, values: Record, sides: Sequence[str]
) -> dict[str, str] | None:
    """Return the texts of a row; None after telling of those that are missing or no text."""
    given = {field: values.get(field) for field in ("question", *(f"system{it}" for it in sides))}
    for side in sides:
        answer = values.get(f"answer{side}")
        given[f"answer{side}"] = "" if answer is None else text_of_truth(answer)
    reference = values.get("reference")
    if not is_missing_cell(reference):
        given["reference"] = _first_text(reference)
    texts = dict[str, str]()
    for field, value in given.items():
        text = name_text(value)
        is_answer = field.startswith("answer")
        if not isinstance(text, str) or not (is_answer or text.strip()):
            fault = "is missing" if value is None else "is not a text"
            read.fault(place, field, value, fault, "give it a text")
        elif field.startswith("system"):
            texts[field] = stripped_name(read, place, text)
        else:
            texts[field] = text if is_answer else text.strip()
    return texts if len(texts) == len(given) else None


def text_of_truth(answer: object) -> object:
    """Write a truth value as the text that a workbook shows for it."""
    return str(answer).upper() if isinstance(answer, bool) else answer


def stripped_name(read: Collected, place: Place, name: str) -> str:
    """Return a system's name without spaces at its edges, and count that it had some."""
    bare = name.strip()
    if bare != name:
        read.skip(place.source, "space", f"at the edges of the name {bare!r}")
    return bare


def _first_text(reference: object) -> object:
    """Return the first of several references, which are right alike."""
    several = decoded(reference) if isinstance(reference, str) else reference
    if isinstance(several, list) and several and isinstance(several[0], str):
        return several[0]
    return reference


def _asking(
    read: Collected,
    place: Place,
    key: Key,
    texts: Mapping[str, str],
    values: Record,
    sides: Sequence[str],
    repeats: Repeats | None,
) -> Key | None:
    """Return the key of the question that a row answers; None if the row is left out.

    A system may have answered the question before. The same answer may stand there again: in
    several pairs, or for several judges. A row that says nothing new is left out. Any other row is
    at fault, or left out, or to the next asking of the question where it fits.
    """
    earlier = _earlier_answer(read, key, texts, values, sides, repeats)
    if earlier is None:
        if len(sides) == 1 and _says_nothing_new(read, key, texts, values):
            read.skip(place.source, "row", "it repeats an earlier row: the same answer again")
            return None
        return key
    system, row = earlier
    if repeats is None:
        fault = f"has answered this question {seen_from(place, row['place'])}"
        hint = _AGAIN
        if row["answer"] == texts[f"answer{sides[0]}"] and len(sides) == 1:
            fault = f"has another verdict of the same judge {seen_from(place, row['place'])}"
            hint = f"name who judged in a column 'judge'; or {_AGAIN}"
        field = next(f"system{side}" for side in sides if texts[f"system{side}"] == system)
        read.fault(place, field, system, fault, hint)
        return None
    if repeats == "first":
        reason = "its system has answered the question before: the first answer is kept"
        read.skip(place.source, "row", reason)
        return None
    number = 2
    further = (key[0], f"{key[1]}-{number}")
    while _earlier_answer(read, further, texts, values, sides, repeats) is not None:
        number += 1
        further = (key[0], f"{key[1]}-{number}")
    return further


def _earlier_answer(
    read: Collected,
    key: Key,
    texts: Mapping[str, str],
    values: Record,
    sides: Sequence[str],
    repeats: Repeats | None,
) -> tuple[str, Record] | None:
    """Return the system and the earlier answer that a row cannot stand beside; None if it can."""
    for side in sides:
        system = texts[f"system{side}"]
        row = read.answers.get((*key, system))
        if row is None:
            continue
        if row["answer"] != texts[f"answer{side}"]:
            return system, row
        if len(sides) == 1 and not _may_stand_again(read, (*key, system), values, repeats):
            return system, row
    return None


def _may_stand_again(
    read: Collected, answer_key: tuple[str, str, str], values: Record, repeats: Repeats | None
) -> bool:
    """Tell whether the same answer may stand in a further row, for what the row says of it."""
    judge = values.get("judge")
    judgment_key = (*answer_key, judge)
    if judgment_key not in read.marked:
        names_judge = not read.names.keys().isdisjoint(("judge", VOTER, "criterion"))
        return names_judge or repeats != "each"
    mark = finite_number(values.get("verdict"))
    return repeats != "each" and mark in (None, read.marked[judgment_key])


def _says_nothing_new(read: Collected, key: Key, texts: Mapping[str, str], values: Record) -> bool:
    """Tell whether a row of an answer that is there already adds no verdict to it."""
    answer_key = (*key, texts["system"])
    if answer_key not in read.answers:
        return False
    is_marked = (*answer_key, values.get("judge")) in read.marked
    return is_marked or finite_number(values.get("verdict")) is None


def _identity_of_verdict(values: Record) -> Record:
    """Return who voted and with what weight, where a table says so."""
    identity: Record = {}
    if values.get(VOTER) is not None:
        identity[VOTER] = values[VOTER]
    if WEIGHT in values:
        weight = finite_number(values[WEIGHT])
        identity[WEIGHT] = values[WEIGHT] if weight is None else weight
    return identity


def _mark(read: Collected, place: Place, given: object) -> float | None:
    if is_missing_cell(given):
        read.skip(place.source, "verdict", "it is missing")
        return None
    mark = finite_number(given)
    if mark is None:
        hint = "write a number with a decimal point, the higher the better, or nothing"
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
        if query_id != made[code, query_id] and not _is_asking(query_id, made[code, query_id])
    }
    for (code, query_id), query in read.queries.items():
        other = named.get((code, made[code, query_id]))
        if other is not None and query_id == made[code, query_id]:
            fault = f"is missing here, and is {seen_from(query['place'], other)}"
            hint = "give an id to every row of a question, or to none"
            read.fault(query["place"], "query_id", None, fault, hint)
    return read.foreign(name, None, reference, note, most_pairs)


def _is_asking(query_id: str, first: str) -> bool:
    """Tell whether an id is that of a further asking of a question."""
    start, dash, number = query_id.rpartition("-")
    return start == first and bool(dash) and number.isdigit()
