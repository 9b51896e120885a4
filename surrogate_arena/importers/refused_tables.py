"""Refused plain tables, with a command that would read them, tried on the cells first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.data.errors import UsageError
from arena.data.rows import Rows
from arena.data.wording import all_of, first_of
from surrogate_arena.importers.column_hints import (
    Candidates,
    is_reference,
    named_alike,
    suggested_columns,
    system_of_repeats,
    systems_in_order,
    with_inner_paths,
)
from surrogate_arena.importers.contract import (
    FILE,
    MOST_NAMED,
    NO_COLUMNS,
    OTHER_SHAPES,
    Columns,
    Frames,
    are_addresses,
    are_ids,
    are_labels,
    are_numbers,
    bare_column,
    cells_of,
    chosen_columns,
    columns_in,
    field_names,
    has_columns_of_pairs,
    paired_columns,
    with_paths,
)
from surrogate_arena.importers.tables import SHEET
from surrogate_arena.importers.values import option, short


def check_answers(frames: Frames, chosen: Columns, where: str = "") -> None:
    """Refuse two possible columns of answers, and labels beside a text; say ``where``."""
    if "answer" not in chosen.names:
        return
    column = chosen.names["answer"]
    cells = cells_of(frames, column)
    competing = list(chosen.competitors.get("answer", ()))
    if not are_numbers(cells):
        competing = [name for name in competing if not are_numbers(cells_of(frames, name))]
    competing += named_alike(Candidates(frames, chosen.unread).answers(), "answer")
    texts = Candidates(frames, [*competing, *chosen.unread]).texts()
    if texts and cells and (are_labels(cells) or are_addresses(cells)):
        reference = ""
        if "reference" not in chosen.names:
            reference = f"; where they are the reference: {option('column', f'reference={column}')}"
        raise UsageError(
            f"{where}{column!r} holds labels such as {short(cells[0])!r}, and "
            f"{texts[0]!r} texts: {option('column', f'answer={texts[0]}')} reads the texts, "
            f"{option('column', f'answer={column}')} the labels{reference}"
        )
    if competing:
        competitor = competing[0]
        competing_answers = option("column", f"answer={competitor}")
        column_answers = option("column", f"answer={column}")
        reference = ""
        if "reference" not in chosen.names:
            reference = (
                f"; if the other is the reference: {competing_answers} "
                f"{option('column', f'reference={column}')}, or {column_answers} "
                f"{option('column', f'reference={competitor}')}"
            )
        raise UsageError(
            f"{where}{column!r} and {competitor!r} may both be the answers: {competing_answers}, "
            f"or {column_answers}{reference}"
        )


def check_questions(frames: Frames, chosen: Columns) -> None:
    """Refuse questions that are numbers or ids beside texts that may be the questions."""
    if "question" not in chosen.names:
        return
    column = chosen.names["question"]
    cells = cells_of(frames, column)
    if not (are_numbers(cells) or are_ids(cells)):
        return
    others = [*chosen.competitors.get("question", ()), *chosen.unread]
    other = Candidates(frames, others).question()
    if other is not None:
        texts = option("column", f"question={other}")
        ids = option("column", f"query_id={column}")
        raise UsageError(
            f"{column!r} holds ids such as {short(cells[0])!r}, and {other!r} texts: {texts} {ids}"
        )


def check_files_of_answers(tables: Sequence[Rows], answer: str) -> None:
    """Refuse tables without the column of answers, such as one of verdicts or questions."""
    for rows in tables:
        if answer in rows.table or rows.table.empty:
            continue
        battles = chosen_columns([rows.table], "battles", NO_COLUMNS).names
        if {"system_a", "system_b"} <= battles.keys():
            raise UsageError(
                f"a row of {rows.source} compares two systems: give it by --verdicts, and only the "
                "files of answers as paths"
            )
        raise UsageError(
            f"{rows.source} has no column {answer!r}: if it holds answers, give their column this "
            "name; if not, leave the file out"
        )


def check_needed(frames: Frames, names: Mapping[str, str], needed: Sequence[str]) -> None:
    """Refuse tables that lack fields, with a command to try."""
    missing = [name for name in needed if name not in names]
    if "question" not in needed and not {"question", "query_id"} & names.keys():
        missing.insert(0, "question")
    if not missing:
        return
    _refuse_battles(frames, missing)
    candidates = _candidates_within(frames, names)
    known = {**names, **suggested_columns(candidates, missing, names.get("question"))}
    candidates = candidates._replace(taken=set(known.values()))
    columns, paths = _columns_of_user(frames), _columns_of_user(candidates.frames)
    if "answer" not in known:
        _refuse_without_answers(candidates, columns, known)
    hints = [option("column", f"{name}={known.get(name, 'NAME')}") for name in missing]
    if "question" in known and names.get("system") == FILE:
        system = system_of_repeats(frames, known["question"], candidates)
        if system is not None:
            hints.append(option("column", f"system={system}"))
    for name in ("passages", "reference"):
        if name not in names:
            alike = named_alike(candidates.texts(), name)
            hints += [option("column", f"{name}={column}") for column in alike[:1]]
    kind = "columns" if paths == columns else "columns and paths in them"
    raise UsageError(
        f"no column is known for {all_of(missing)}: {' '.join(hints)}; "
        f"the {kind} are {first_of(paths, MOST_NAMED)}. A row is one answer; {OTHER_SHAPES}"
    )


def _candidates_within(frames: Frames, names: Mapping[str, str]) -> Candidates:
    inner = [with_inner_paths(frame) for frame in frames]
    return Candidates(inner, columns_in(inner), set(names.values()))


def _columns_of_user(frames: Frames) -> list[str]:
    return [column for column in columns_in(frames) if column not in (FILE, SHEET)]


def _refuse_battles(frames: Frames, missing: Sequence[str]) -> None:
    if "answer" not in missing:
        return
    # Only refusals need what reads verdicts.
    from surrogate_arena.importers.refused_battles import check_votes

    check_votes(frames[0])
    battles = chosen_columns(frames, "battles", NO_COLUMNS).names
    has_sides = any({f"{name}_a", f"{name}_b"} <= battles.keys() for name in ("system", "answer"))
    if has_sides or has_columns_of_pairs(frames):
        raise UsageError(f"a row compares two systems: these are battles; {_FOR_BATTLES}")


_FOR_BATTLES = (
    "use 'import lmarena', or, if a file of answers belongs to them, 'import csv ANSWERS "
    "--verdicts FILE'; for records within records use a map: import --map FILE.toml"
)


def _refuse_without_answers(
    candidates: Candidates, columns: Sequence[str], known: Mapping[str, str]
) -> None:
    answers = candidates.answers()
    if not answers:
        raise UsageError(
            "there are no answers in it: no column holds texts that a system may have written; the "
            f"columns are {first_of(columns, MOST_NAMED)}. A row is one answer: question, "
            f"system, answer; if a column holds answers: {option('column', 'answer=NAME')}; "
            f"{OTHER_SHAPES}"
        )
    pairs = list(paired_columns(answers, "sides", "won_and_lost"))
    # A pair beside another column of answers may be two sources of them.
    of_systems = [column for column in answers if not is_reference(column)]
    if len(pairs) == 1 and set(pairs[0]) == set(of_systems):
        columns_of_systems = option("column", f"answer={','.join(pairs[0])}")
        raise UsageError(
            f"a row holds two answers, {all_of(pairs[0])}; where each column has the answers of a "
            f"system: {columns_of_systems} (and --verdicts with the same file if it has verdicts "
            f"too); where a row compares any two systems: {_FOR_BATTLES}"
        )
    systems = candidates.likely_answers()
    is_wide = 1 < len(systems) <= MOST_NAMED and set(systems) <= set(columns)
    if not is_wide or "question" not in known:
        return
    question = known["question"]
    hint = option("column", f"answer={','.join(systems)}")
    if bare_column(question) not in field_names("answers")["question"]:
        hint = f"{option('column', f'question={question}')} {hint}"
    raise UsageError(
        f"{all_of(systems)} may each hold the answers of a system: {hint}; if one holds the "
        f"answers: {option('column', f'answer={systems[0]}')}; where verdicts or scores stand "
        "beside them, follow the reference's recipe 'An evaluation sheet' or 'Answers and scores "
        "in columns'"
    )


def check_repeats(frames: Frames, names: Mapping[str, str], source: str) -> None:
    """Refuse repeated questions in a file where a column tells systems."""
    if "question" not in names or not _has_repeats(frames, names):
        return
    candidates = _candidates_within(frames, names)
    column = system_of_repeats(frames, names["question"], candidates)
    if column is None:
        return
    systems = systems_in_order([with_paths(frame, {"system": column}) for frame in frames], column)
    hint = option("column", f"system={column}")
    raise UsageError(
        f"{source} answers questions several times; {column!r} has {len(systems)} values "
        f"({first_of(systems, 5)}), which may be the systems: {hint}; if they are not: import's "
        "--repeats first, or --repeats each"
    )


def _has_repeats(frames: Frames, names: Mapping[str, str]) -> bool:
    fields = [names[name] for name in ("question", "system", "answer")]
    for frame in frames:
        columns = [map(str, frame[name]) for name in fields if name in frame]
        distinct = set(zip(*columns, strict=True))
        if len({row[:-1] for row in distinct}) < len(distinct):
            return True
    return False
