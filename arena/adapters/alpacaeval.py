"""AlpacaEval's result folders: outputs, verdicts against the reference, the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from arena.adapters.files import JSON, checked_language, files_below, read_foreign_rows, shown_path
from arena.adapters.foreign_rows import (
    ForeignArena,
    GrowingArena,
    Skip,
    StorableText,
    sound_records,
)
from arena.adapters.records.collected import question_id
from arena.data.errors import UsageError
from arena.data.rows import Rows, read_rows
from arena.data.schema import Text
from arena.data.tables.published import PUBLISHED

ANNOTATOR = "weighted_alpaca_eval_gpt4_turbo"
"""The annotator of AlpacaEval 2."""

REFERENCE = "gpt4_1106_preview"
"""The system that all others are compared with in AlpacaEval 2."""

OUTPUTS_FILE = "model_outputs.json"
ANNOTATIONS_FILE = "annotations.json"
LEADERBOARD = "_leaderboard.csv"

_SOURCE = "AlpacaEval (Dubois et al., 2024)"
_TIE = 1.5
_RATES = {"win_rate": "win_rate", "standard_error": "standard_error"} | {
    "length_controlled_winrate": "length_controlled_winrate",
    "lc_standard_error": "length_controlled_winrate_standard_error",
}
"""Column of a leaderboard to that of published ratings."""


class ModelOutput(BaseModel):
    """One system's output to an instruction."""

    instruction: Text = Field(description="a string")
    output: StorableText | None = Field(description="a string")


class Preference(BaseModel):
    """A verdict: nearer to 1 prefers the first output, nearer to 2 the second; 0 is a draw."""

    instruction: Text = Field(description="a string")
    generator_1: Text = Field(description="the name of a system")
    generator_2: Text = Field(description="the name of a system")
    output_1: StorableText | None = Field(default=None, description="a string")
    annotator: Text = Field(description="the name of the annotator")
    preference: float | None = Field(default=None, ge=0, le=2, description="a number from 1 to 2")


def read_alpacaeval(
    paths: Sequence[Path | str],
    *,
    annotator: str = ANNOTATOR,
    leaderboard: Path | str | None = None,
    language: str = "en",
    name: str = "alpacaeval",
    reference_system: str | None = None,
) -> ForeignArena:
    """Read a clone of AlpacaEval, its folder ``results``, or folders of systems in it.

    A system is a folder with ``model_outputs.json`` and verdicts against the reference in
    ``ANNOTATOR/annotations.json``; the reference's outputs are taken from the verdicts where its
    folder is not there. A preference of 1.5 is a tie; one that is null is a failed judgment. The
    leaderboard becomes published ratings: the win rate, and the length-controlled one.

    Args:
        paths: Clones or folders.
        annotator: Whose verdicts to read.
        leaderboard: CSV file of the leaderboard; else, of the files ``ANNOTATOR_leaderboard.csv``
            in the folders, the one with the most systems.
        language: Code of the instructions.
        name: Name of the arena.
        reference_system: System whose answers serve as reference; AlpacaEval 2's if it is there.

    Raises:
        UsageError: If a path is absent, or no system has outputs.
        DataError: With every problem of all files.
    """
    code = checked_language(language) or language
    files = files_below(paths, (JSON, LEADERBOARD))
    read = GrowingArena()
    for path in files:
        if path.name == OUTPUTS_FILE:
            _read_outputs(path, shown_path(path, paths), code, read)
    if not read.answers and not read.problems:
        raise UsageError(f"there is no {OUTPUTS_FILE} in {', '.join(map(str, paths))}")
    for path in files:
        if path.name == ANNOTATIONS_FILE and path.parent.name == annotator:
            _read_preferences(path, shown_path(path, paths), code, read)
        elif path.name.endswith(JSON) and path.name != OUTPUTS_FILE:
            reason = f"it holds no verdicts of {annotator}"
            read.skips.append(Skip(shown_path(path, paths), "file", reason))
    published = _published(_boards(files, annotator, leaderboard), code, read)
    systems = {system for *_, system in read.answers}
    if reference_system is None and REFERENCE in systems:
        reference_system = REFERENCE
    return read.foreign(name, reference_system, _SOURCE, published=published)


def _read_outputs(path: Path, source: str, code: str, read: GrowingArena) -> None:
    rows = read_foreign_rows(path, source)
    system = path.parent.name
    for _, output in sound_records(rows, ModelOutput, read.problems):
        if output.output is None:
            read.skips.append(Skip(source, "answer", "its output is null"))
        else:
            _add_answer(system, output.instruction, output.output, code, source, read)


def _add_answer(
    system: str, instruction: str, text: str, code: str, source: str, read: GrowingArena
) -> None:
    key = (code, question_id(instruction))
    read.question(key, instruction)
    if not read.answer(key, system, text):
        read.skips.append(Skip(source, "answer", "the instruction stands in the file before"))


def _read_preferences(path: Path, source: str, code: str, read: GrowingArena) -> None:
    rows = read_foreign_rows(path, source)
    system = path.parent.parent.name
    there = {known for *_, known in read.answers}
    seen: set[tuple[str, str]] = set()
    for _, verdict in sound_records(rows, Preference, read.problems):
        reason = _reason_to_skip(verdict, system, code, seen, read)
        if reason is not None:
            read.skips.append(Skip(source, "judgment", reason))
            continue
        query_id = question_id(verdict.instruction)
        seen.add((verdict.generator_1, query_id))
        first = (code, query_id, verdict.generator_1)
        if verdict.generator_1 not in there and first not in read.answers:
            text = verdict.output_1 or ""
            _add_answer(verdict.generator_1, verdict.instruction, text, code, source, read)
        preference = verdict.preference or _TIE
        winner = "tie" if preference == _TIE else "a" if preference < _TIE else "b"
        read.judgments.append(
            {
                "query_id": query_id,
                "language": code,
                "system_a": verdict.generator_1,
                "system_b": system,
                "winner": winner,
                "judge": verdict.annotator,
                "preference": preference,
            }
        )


def _reason_to_skip(
    verdict: Preference, system: str, code: str, seen: set[tuple[str, str]], read: GrowingArena
) -> str | None:
    query_id = question_id(verdict.instruction)
    if verdict.preference is None or 0 < verdict.preference < 1:
        return "its preference is null, or not from 1 to 2"
    if verdict.generator_1 == system:
        return "it is of the reference against itself"
    if (code, query_id, system) not in read.answers:
        return "the system has no output to the instruction"
    if (verdict.generator_1, query_id) in seen:
        return "the instruction stands in the file before"
    return None


def _boards(files: Sequence[Path], annotator: str, named: Path | str | None) -> list[Path]:
    if named is not None:
        return [Path(named)]
    return [path for path in files if path.name == f"{annotator}{LEADERBOARD}"]


def _published(boards: Sequence[Path], code: str, read: GrowingArena) -> Rows | None:
    """Return the ratings of the leaderboard with the most systems, or None without any."""
    tables = sorted((read_rows(path) for path in boards), key=lambda rows: -len(rows.table))
    if not tables:
        return None
    for other in tables[1:]:
        read.skips.append(Skip(other.source, "file", "another leaderboard has more systems"))
    board = tables[0]
    names = board.table.columns[0] if len(board.table.columns) else ""
    read.problems.extend(board.problems)
    read.skips.extend(
        Skip(board.source, "column", f"{column!r} is no rating")
        for column in board.table.columns
        if column not in (names, *_RATES)
    )
    kept = [column for column in _RATES if column in board.table.columns]
    table = board.table[[names, *kept]].rename(columns={names: "system", **_RATES})
    return Rows(
        table.assign(judge=PUBLISHED, language=code).astype(object), board.lines, board.source
    )
