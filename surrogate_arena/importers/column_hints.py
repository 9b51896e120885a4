"""Columns that a message suggests for a field; reading never relies on these."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

import pandas as pd

from arena.data.types import Record
from surrogate_arena.importers.contract import (
    FILE,
    MOST_ROWS,
    Frames,
    are_texts,
    bare_column,
    cells_of,
    field_names,
    n_asking,
    value_at,
    with_paths,
)
from surrogate_arena.importers.conversations import last_exchange
from surrogate_arena.importers.values import contract, opened_or_same, path_step


class Candidates(NamedTuple):
    """Columns that may hold a field."""

    frames: Frames
    columns: Sequence[str]
    taken: Collection[str] = frozenset()

    def texts(self) -> list[str]:
        """Return columns of texts that are neither labels, addresses nor ids."""
        free = [column for column in self.columns if column not in self.taken]
        return [column for column in free if are_texts(cells_of(self.frames, column))]

    def systems(self) -> list[str]:
        """Return columns with few values, which may be systems."""
        # A column with more values is hardly one of systems
        most_systems = 30
        systems = []
        for column in self.columns:
            if column in self.taken or column == FILE:
                continue
            cells = cells_of(self.frames, column)
            values = set(map(str, cells))
            is_short = all(len(value) <= 60 for value in values)
            if 2 <= len(values) <= most_systems and is_short and len(values) * 2 <= len(cells):
                systems.append(column)
        return systems

    def answers(self) -> list[str]:
        """Return columns of texts that a system may have written."""
        passed = set(self.systems())
        for column in self.columns:
            words = re.findall(r"[\w.-]+", " ".join(map(str, cells_of(self.frames, column))))
            # A ranking of systems, such as old>new, names other columns alone
            is_ranking = set(words) <= set(self.columns)
            if is_ranking or is_reference(column) or _has_word(column, "not_answers"):
                passed.add(column)
        return [column for column in self.texts() if column not in passed]

    def likely_answers(self) -> list[str]:
        """Return columns of answers by name, else all that may be.

        One repeated text is none, if two other columns are left.
        """
        answers = self.answers()
        differing = [column for column in answers if self._differs(column)]
        if len(differing) > 1:
            answers = differing
        return named_alike(answers, "answer") or answers

    def _differs(self, column: str) -> bool:
        return len(set(map(str, cells_of(self.frames, column)))) > 1

    def question(self) -> str | None:
        """Return the column that may hold questions, by name or cells."""
        texts = self.texts()
        for column in named_alike(texts, "question"):
            if not is_reference(column):
                return column
        for column in texts:
            cells = cells_of(self.frames, column)
            if n_asking(cells) * 2 >= len(cells):
                return column
        return None

    def repeats(self, column: str, question: str) -> bool:
        """Return whether every text of a column is a part of a question, or holds one."""
        asked = list(map(str, cells_of(self.frames, question)))
        texts = map(str, cells_of(self.frames, column))
        return all(any(text in other or other in text for other in asked) for text in texts)


def suggested_columns(
    candidates: Candidates, missing: Collection[str], question: str | None
) -> dict[str, str]:
    """Return columns that may hold missing questions and answers."""
    for column in candidates.columns:
        if "question" in missing and _are_messages(cells_of(candidates.frames, column)):
            return {name: column for name in ("question", "answer") if name in missing}
    suggested: dict[str, str] = {}
    if "question" in missing:
        question = candidates.question()
        if question is not None:
            suggested["question"] = question
            candidates = candidates._replace(taken={*candidates.taken, question})
    if "answer" in missing:
        answers = candidates.likely_answers()
        # A table without questions holds no answers, unless a name says so
        if "question" in missing and "question" not in suggested:
            answers = named_alike(answers, "answer")
        # A prompt holds its question
        answers = [name for name in answers if not candidates.repeats(name, question or "")]
        if len(answers) == 1:
            suggested["answer"] = answers[0]
    return suggested


def named_alike(columns: Iterable[str], name: str) -> list[str]:
    """Return columns whose names end as a field's do, also in the plural."""
    endings = field_names("answers")[name]
    alike = []
    for column in columns:
        # Pandas writes answer.1 for a second column called answer
        last_step = re.sub(r"\.\d+$", "", column).rpartition(".")[2]
        if bare_column(last_step).removesuffix("s").endswith(endings):
            alike.append(column)
    return alike


def is_reference(column: str) -> bool:
    """Return whether a column is named as references are."""
    return _has_word(column, "references")


def _has_word(column: str, words: str) -> bool:
    listed = contract()["hints"][words]
    return any(word.removesuffix("s") in listed for word in bare_column(column).split("_"))


def system_of_repeats(frames: Frames, question: str, candidates: Candidates) -> str | None:
    """Return the column that tells apart the answers to one question, if files repeat questions."""
    frames = [with_paths(frame, {"question": question}) for frame in frames]
    frames = [frame for frame in frames if question in frame]
    asked = [frame[question].map(_asked) for frame in frames]
    if not any(questions.duplicated().any() for questions in asked):
        return None
    for column in candidates.systems():
        answered: list[tuple[str, str]] = []
        for frame, questions in zip(frames, asked, strict=True):
            with_system = with_paths(frame, {"system": column})
            if column in with_system:
                answered += zip(questions, with_system[column].map(str), strict=True)
        if len(set(answered)) == len(answered):
            return column
    return None


def _asked(cell: object) -> str:
    messages = opened_or_same(cell)
    if _are_messages([messages]):
        return str(last_exchange(cast(list[Record], messages)).question)
    return str(cell)


def _are_messages(cells: Sequence[object]) -> bool:
    for cell in cells:
        messages = opened_or_same(cell)
        if not isinstance(messages, list) or len(messages) < 2:
            return False
        if not all(isinstance(message, Mapping) and "role" in message for message in messages):
            return False
    return bool(cells)


def systems_in_order(frames: Frames, column: str) -> list[str]:
    """Return the systems in the order in which the tables first name them."""
    names = [str(cell) for frame in frames for cell in frame.get(column, ())]
    return list(dict.fromkeys(names))


_MOST_LEVELS = 4


def with_inner_paths(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table's first rows, with a column per path in records."""
    # Paths in a column that are tried as fields
    most_paths = 60
    frame = frame.head(MOST_ROWS)
    columns: dict[str, pd.Series] = {}
    for name in frame:
        cells = [opened_or_same(cell) for cell in frame[name]]
        paths = list(dict.fromkeys(path for cell in cells for path in _paths_in(cell)))
        if not paths:
            columns[name] = frame[name]
            continue
        for path in paths[:most_paths]:
            values = [value_at({"cell": cell}, f"cell{path}") for cell in cells]
            columns[f"{path_step(name)}{path}"] = pd.Series(values, frame.index, dtype=object)
    return pd.DataFrame(columns, index=frame.index)


def _paths_in(cell: object, levels: int = _MOST_LEVELS) -> list[str]:
    if isinstance(cell, list) and len(cell) == 1:
        # Such as the only choice of a completion
        return [f"[0]{path}" for path in _paths_in(cell[0], levels)]
    if not isinstance(cell, Mapping) or levels == 0:
        return []
    paths = []
    for name, value in cell.items():
        first = f".{path_step(str(name))}"
        inner = _paths_in(value, levels - 1)
        paths += [f"{first}{path}" for path in inner] or [first]
    return paths
