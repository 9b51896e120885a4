"""Read pairs with a better answer: of arenas with votes, and tables as ContextualJudgeBench's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import Problem, UsageError
from arena.data.folder import read_arena
from arena.data.languages import UNDETERMINED
from arena.data.schema import INFO_FILE, LanguageCode, Winner
from arena.data.tables import SUFFIXES
from surrogate_arena.papers.pairs.gold_pairs import GOLD_COLUMNS, GoldPairs, gold_pairs_of_arena
from surrogate_arena.papers.records import (
    FilledText,
    StrictRecord,
    files_of_rows,
    raise_if,
    read_records,
)

BETTER, WORSE = "better", "worse"
"""Systems of a table that names none."""
_PART = re.compile(r"-\d{5}-of-\d{5}$")


class GoldRow(StrictRecord):
    """A row of a table of pairs: the better and the worse answer, or two answers and a winner."""

    question: FilledText
    context: FilledText | list[FilledText] | None = None
    split: str | None = None
    language: LanguageCode = UNDETERMINED
    positive_response: FilledText | None = None
    negative_response: FilledText | None = None
    answer_a: FilledText | None = None
    answer_b: FilledText | None = None
    winner: Winner | None = None

    def answers(self) -> tuple[str | None, str | None]:
        """Return the better answer and the worse one; the first of two where neither is better."""
        if self.positive_response is not None:
            return self.positive_response, self.negative_response
        if self.winner == "b":
            return self.answer_b, self.answer_a
        return self.answer_a, self.answer_b

    def passages(self) -> list[dict[str, Any]]:
        """The context as passages of an arena."""
        texts = [self.context] if isinstance(self.context, str) else self.context or []
        return [
            {"passage_id": str(number), "text": text, "title": None, "relevance": None}
            for number, text in enumerate(texts, start=1)
        ]


def read_gold_pairs(
    path: Path | str, reference: str | None = None, languages: Sequence[str] = ()
) -> GoldPairs:
    """Read pairs with a known better answer.

    A row of a table has a ``question`` and two answers: ``positive_response`` and
    ``negative_response``, as ContextualJudgeBench is published, or ``answer_a``, ``answer_b`` and
    ``winner`` (a, b or tie); and may have ``context``, ``split`` and ``language``. Without a
    column, the split is the name of the file.

    Args:
        path: An arena folder, or a file or folder of tables.
        reference: Judges of an arena who are right, by majority; by default its people.
        languages: Languages to keep; by default all.
    """
    path = Path(path)
    if path.is_dir() and (path / INFO_FILE).is_file():
        return gold_pairs_of_arena(read_arena(path).select(languages or None), reference)
    if reference is not None:
        raise UsageError("a reference is a judge of an arena; the table says who is better")
    files = files_of_rows(path)
    if not files:
        raise UsageError(f"{path} holds no file of rows: one of {', '.join(SUFFIXES)}")
    problems: list[Problem] = []
    skipped: Counter[str] = Counter()
    pairs, questions, answers = [], [], []
    for file in files:
        name = file.relative_to(path) if path.is_dir() else file.name
        for line, row in read_records(file, GoldRow, problems):
            if languages and row.language not in languages:
                continue
            better, worse = row.answers()
            if better is None or worse is None:
                hint = "give positive_response and negative_response, or answer_a and answer_b"
                problems.append(Problem(file.name, line, None, None, "has not two answers", hint))
                continue
            reason = _not_decided(row, better, worse)
            if reason is not None:
                skipped[reason] += 1
                continue
            query_id = f"{name}:{line}"
            key = {"query_id": query_id, "language": row.language}
            split = row.split or _split_name(file)
            pairs.append([split, row.question, row.language, query_id, BETTER, WORSE, "a"])
            questions.append({**key, "query": row.question, "passages": row.passages()})
            answers.append({**key, "system": BETTER, "answer": better})
            answers.append({**key, "system": WORSE, "answer": worse})
    raise_if(problems)
    if not pairs:
        noun = f"pair in {' or '.join(languages)}" if languages else "pair"
        raise UsageError(f"{path} holds no {noun} of which one answer is known to be better")
    return GoldPairs(
        name=path.name if path.is_dir() else _split_name(path),
        pairs=pd.DataFrame(pairs, columns=GOLD_COLUMNS),
        arena=Arena.from_frames(pd.DataFrame(questions), pd.DataFrame(answers)),
        skipped=dict(skipped),
    )


def _not_decided(row: GoldRow, better: str, worse: str) -> str | None:
    if better == worse:
        return "equal answers"
    if row.positive_response is not None or row.winner in ("a", "b"):
        return None
    return "no winner" if row.winner is None else "a tie"


def _split_name(file: Path) -> str:
    stem, _, _ = file.name.partition(".")
    return _PART.sub("", stem)
