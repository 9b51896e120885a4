"""Tables with a column of answers for each system: a row becomes a row for each, or a pair."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from arena.data.languages import language_code
from arena.data.rows import Rows
from arena.data.types import Record
from arena.data.wording import first_of
from surrogate_arena.importers.answer_cells import mark_of
from surrogate_arena.importers.cells import is_missing_cell, read_number
from surrogate_arena.importers.columns import FILE, NO_COLUMNS, bare_column, field_names
from surrogate_arena.importers.record_values import opened_record
from surrogate_arena.importers.shaped_rows import HOLDERS, columns_by_name, with_records
from surrogate_arena.importers.winner_words import word_of

_WINNERS = ("winner", "preference", "human_preference", "preferred", "better", "vote", "pick")
_LANGUAGE_TAG = re.compile(r"[a-z]{2}(?:[-_][A-Za-z]{2,4})?")
_SEPARATOR = r"[\s_\-.:/|]+"
_NO_SYSTEMS = frozenset(
    {
        *("id", "key", "type", "kind", "category", "source", "status", "options", "choices"),
        *("reason", "explanation", "rationale", "notes", "comment", "comments", "left", "right"),
        *("model", "model_name", "system", "gold", "golden", "correct", "true", "target"),
    }
)
"""What follows ``answer_`` in names of columns that say something about an answer."""

_FAMILIES = frozenset(
    {
        *("gpt", "chatgpt", "claude", "gemini", "gemma", "llama", "mistral", "mixtral", "qwen"),
        *("ministral", "magistral", "qwq", "deepseek", "phi", "grok", "glm", "chatglm", "kimi"),
        *("yi", "falcon", "aya", "olmo", "nemotron", "granite", "vicuna", "alpaca", "zephyr"),
        *("jamba", "minimax", "internlm", "exaone", "eurollm", "teuken", "apertus", "smollm"),
    }
)
_MODEL_WORDS = frozenset(
    {
        *("openai", "anthropic", "google", "meta", "mistralai", "cohere", "microsoft", "xai"),
        *("mini", "nano", "small", "medium", "large", "xl", "turbo", "pro", "flash", "lite", "max"),
        *("plus", "ultra", "sonnet", "opus", "haiku", "nemo", "scout", "maverick", "oss", "rag"),
        *("instruct", "chat", "it", "base", "coder", "preview", "latest", "exp", "thinking"),
    }
)
"""Words of the names of models, beside their families and their numbers."""
_SERIES = re.compile(r"(?:o[1-9]|command[\s_-]?[ar]\+?)(?![^\W_])", re.IGNORECASE)
"""Families whose names are no words: o1, o4-mini, Command R."""
_OF_WIDE_TABLES = ("question", "query_id", "language", "passages", "history", "reference")
"""Fields that a row with the answers of several systems has once."""


def with_answer_of_each_named_system(
    rows: Rows, columns: Mapping[str, str] = NO_COLUMNS
) -> Rows | None:
    """Turn the answers of several models, whose names alone are the columns, into a row for each.

    None unless that is certain: one column is known for questions, none is for what a single
    answer has, two or more that hold texts are named for models, and no other column may be a
    system.

    Args:
        rows: A table.
        columns: Field to the column that the user chose.
    """
    systems = _columns_named_for_models(rows, columns)
    if len(systems) < 2:
        return None
    marks = _columns_of_systems(rows, field_names("answers")["verdict"], holds_texts=False)
    marks = {system: marks[system] for system in map(str.strip, systems) if system in marks}
    read = [*systems, *marks.values()]
    numbered = []
    for number, record in enumerate(rows.table.to_dict(orient="records")):
        rest = _without(record, read)
        for system in systems:
            name = system.strip()
            answer = {"system": name, "answer": record[system]}
            if name in marks:
                answer["verdict"] = record[marks[name]]
            numbered.append((number, rest | answer))
    note = f"these columns hold the answers of {len(systems)} systems: {', '.join(systems)}"
    return with_records(replace(rows, table=rows.table.drop(columns=read)), numbered, note)


def _columns_named_for_models(rows: Rows, chosen: Mapping[str, str]) -> list[str]:
    """Return the columns that can only hold the answers of a model each; none if one is unsure."""
    fields = field_names("answers")
    shared = {name for field in _OF_WIDE_TABLES for name in fields[field]}
    known = set(chain.from_iterable((*fields.values(), *field_names("pairs").values())))
    questions = []
    systems = []
    for column in map(str, rows.table):
        name = bare_column(column)
        if name in fields["question"] or column == chosen.get("question"):
            questions.append(column)
        if column in chosen.values() or name in shared or name == FILE:
            continue
        if name in known:
            return []
        if name in _NO_SYSTEMS:
            continue
        is_model = _is_named_for_model(column)
        holds_answers = _holds_answers(rows, column)
        # A model may have marks or categories here; texts may be of a system with any name.
        if is_model != holds_answers:
            return []
        if is_model:
            systems.append(column)
    return systems if len(questions) == 1 else []


def _is_named_for_model(column: str) -> bool:
    """Tell whether a name is that of a model, with nothing that would say more of the column."""
    words = re.findall(r"[^\W\d_]+", _SERIES.sub("gpt", column.strip()).casefold())
    others = [word for word in words if word not in _FAMILIES]
    # Sizes and versions, such as 7b and 4o, have a letter beside their number.
    return len(others) < len(words) and all(w in _MODEL_WORDS or len(w) == 1 for w in others)


def _holds_answers(rows: Rows, column: str) -> bool:
    """Tell whether a column holds texts that are no marks, dates or categories."""
    cells = [cell for cell in rows.table[column] if not is_missing_cell(cell)]
    texts = {cell for cell in cells if isinstance(cell, str) and _is_free_text(cell)}
    return len(texts) > max(1, len(cells) / 2)


def _is_free_text(cell: str) -> bool:
    has_letters = re.search(r"[^\W\d_]{2}", cell) is not None
    return has_letters and mark_of(cell) is None and word_of(cell) is None


def with_answer_of_each_system(rows: Rows) -> Rows | None:
    """Turn the answers of several systems in a row into a row for each, or into a pair.

    They stand in columns such as ``answer_gpt4`` and ``answer_llama``, perhaps with columns such
    as ``score_gpt4`` beside them, or in one column of records such as ``{"gpt4": "...", ...}``.
    """
    fields = field_names("answers")
    columns = columns_by_name(rows)
    if not columns.keys().isdisjoint(set(fields["system"]) - {FILE}):
        return None
    parts = {"answer": _columns_of_systems(rows, fields["answer"])}
    if not parts["answer"]:
        # A column "answers" of texts may hold the right ones.
        return _with_answers_in_records(rows, (*fields["answer"], "answers"))
    for field in ("passages", "verdict"):
        found = _columns_of_systems(rows, fields[field], holds_texts=False)
        parts[field] = {name: found[name] for name in parts["answer"] if name in found}
    systems = list(parts["answer"])
    is_pair = len(systems) == 2 and not columns.keys().isdisjoint(_WINNERS)
    numbered = []
    for number, record in enumerate(rows.table.to_dict(orient="records")):
        answers = []
        for system in systems:
            cells = {f: record[names[system]] for f, names in parts.items() if system in names}
            answers.append({"system": system, **cells})
        if is_pair:
            numbered.append((number, record | _sides_of(answers)))
            continue
        numbered += [(number, record | answer) for answer in answers]
    read = [column for names in parts.values() for column in names.values()]
    rest = [column for column in rows.table if column not in read]
    numbered = [(number, _without(record, read)) for number, record in numbered]
    shaped = replace(rows, table=rows.table[rest])
    return with_records(shaped, numbered, _systems_note(systems))


def _with_answers_in_records(rows: Rows, names: Sequence[str]) -> Rows | None:
    columns = columns_by_name(rows)
    for column in (columns[name] for name in names if name in columns):
        cells = [opened_record(cell) for cell in rows.table[column]]
        if not all(cells) or not all(isinstance(t, str) for cell in cells for t in cell.values()):
            continue
        numbered = []
        for number, record in enumerate(rows.table.drop(columns=column).to_dict(orient="records")):
            for system, answer in cells[number].items():
                numbered.append((number, {**record, "system": system, "answer": answer}))
        systems = list(dict.fromkeys(record["system"] for _, record in numbered))
        return with_records(rows, numbered, _systems_note(systems))
    return None


def _columns_of_systems(
    rows: Rows, names: Sequence[str], *, holds_texts: bool = True
) -> dict[str, str]:
    """Return the columns that hold a field of one system each, by system; none if fewer than two.

    Args:
        rows: A table.
        names: Names of the field, which the columns begin or end with.
        holds_texts: Whether numbers are no values of the field.
    """
    known = {name for field in field_names("answers").values() for name in field}
    columns = [column for column in map(str, rows.table) if bare_column(column) not in known]
    best: dict[str, str] = {}
    for name in sorted(names, key=len, reverse=True):
        words = r"[\s_-]*".join(map(re.escape, name.split("_")))
        for pattern in (
            rf"{words}(?:\s*\((.+)\)|\s*\[(.+)\]|{_SEPARATOR}(.+))",
            rf"(.+?){_SEPARATOR}{words}",
        ):
            by_system: dict[str, str] = {}
            for column in columns:
                system = _system_in(column, pattern)
                if is_system(system) and not (holds_texts and _holds_numbers(rows, column)):
                    by_system[system] = column
            if len(by_system) > max(1, len(best)):
                best = by_system
    return best


def _system_in(column: str, pattern: str) -> str:
    """Return the part of a column's name that a group of the pattern matches; empty without one."""
    match = re.fullmatch(pattern, column.strip(), re.IGNORECASE)
    if match is None:
        return ""
    return next(filter(None, match.groups()), "").strip()


def is_system(text: str) -> bool:
    """Tell whether a text may name a system, rather than a side, a language or a field."""
    # Letters and numbers are sides of pairs, or tries of one system.
    if len(text) < 2 or text.isdecimal() or _is_language(text):
        return False
    name = bare_column(text)
    fields = field_names("answers")
    others = {other for field in fields.keys() - {"system"} for other in fields[field]}
    return name not in others | _NO_SYSTEMS | HOLDERS


def _is_language(text: str) -> bool:
    """Tell whether a text is surely a language: three letters, such as ``gpt``, may be a name."""
    if _LANGUAGE_TAG.fullmatch(text):
        return language_code(text) is not None
    longest_code = 3
    return text.isalpha() and len(text) > longest_code and language_code(text) is not None


def _holds_numbers(rows: Rows, column: str) -> bool:
    cells = [cell for cell in rows.table[column] if not is_missing_cell(cell)]
    return all(not isinstance(cell, str) or read_number(cell) is not None for cell in cells)


def _sides_of(answers: Sequence[Record]) -> Record:
    sides: Record = {}
    for side, answer in zip("ab", answers, strict=True):
        sides |= {f"system_{side}": answer["system"], f"answer_{side}": answer["answer"]}
    return sides


def _systems_note(systems: Sequence[str]) -> str:
    return f"a row holds the answers of {len(systems)} systems: {first_of(systems)}"


def _without(record: Record, columns: Sequence[str]) -> Record:
    return {name: cell for name, cell in record.items() if name not in columns}
