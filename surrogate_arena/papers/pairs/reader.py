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
from arena.data.schema import INFO_FILE, LanguageCode
from arena.data.tables import SUFFIXES
from surrogate_arena.importers.clone_files import files_below
from surrogate_arena.papers.pairs.gold_pairs import GOLD_COLUMNS, GoldPairs, gold_pairs_of_arena
from surrogate_arena.papers.records import (
    FilledText,
    StrictRecord,
    raise_if,
    read_records,
)

BETTER, WORSE = "better", "worse"
"""Systems of a table that names none."""
_PART = re.compile(r"-\d{5}-of-\d{5}$")


class GoldRow(StrictRecord):
    """A row of a table of pairs, as ContextualJudgeBench's are."""

    question: FilledText
    positive_response: FilledText
    negative_response: FilledText
    context: FilledText | list[FilledText] | None = None
    split: str | None = None
    language: LanguageCode = UNDETERMINED

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
    """Read pairs with a known better answer: of an arena folder, a table, or a folder of tables.

    As in ContextualJudgeBench, a row has a ``question``, a ``positive_response`` and a
    ``negative_response``, and may have ``context``, ``split`` (else the file's name) and
    ``language``. In an arena the majority of people, or of the judges that ``reference`` names,
    decides.

    Returns:
        The pairs, with their questions and answers as an arena.
    """
    path = Path(path)
    if path.is_dir() and (path / INFO_FILE).is_file():
        return gold_pairs_of_arena(read_arena(path).select(languages or None), reference)
    if reference is not None:
        raise UsageError("a reference is a judge of an arena; the table says who is better")
    problems: list[Problem] = []
    skipped: Counter[str] = Counter()
    pairs, questions, answers = [], [], []
    for file in files_below([path], SUFFIXES):
        name = file.relative_to(path) if path.is_dir() else file.name
        for line, row in read_records(file, GoldRow, problems):
            if languages and row.language not in languages:
                continue
            if row.positive_response == row.negative_response:
                skipped["equal answers"] += 1
                continue
            query_id = f"{name}:{line}"
            key = {"query_id": query_id, "language": row.language}
            split = row.split or _split_name(file)
            pairs.append([split, row.question, row.language, query_id, BETTER, WORSE, "a"])
            questions.append({**key, "query": row.question, "passages": row.passages()})
            answers.append({**key, "system": BETTER, "answer": row.positive_response})
            answers.append({**key, "system": WORSE, "answer": row.negative_response})
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


def _split_name(file: Path) -> str:
    stem, _, _ = file.name.partition(".")
    return _PART.sub("", stem)
