"""MEMERAG's questions, passages and answers as an arena; ``metaeval memerag`` reads its labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import QUESTION_KEY
from surrogate_arena.importers.foreign_arena import ForeignArena
from surrogate_arena.papers.memerag.sentences import read_memerag

SYSTEM = "memerag"
"""The one system of the arena: the files do not say which of five models answered."""


def read_memerag_answers(paths: Sequence[Path | str], *, name: str = "memerag") -> ForeignArena:
    """Read the questions, passages and answers of MEMERAG: folders, or files LANGUAGE.jsonl."""
    sentences = pd.concat([read_memerag(path) for path in paths], ignore_index=True)
    answers = sentences.drop_duplicates(QUESTION_KEY)
    questions = answers[[*QUESTION_KEY, "query", "passages"]]
    arena = Arena.from_frames(
        questions.assign(passages=questions["passages"].map(list)),
        answers[[*QUESTION_KEY, "answer"]].assign(system=SYSTEM),
        name=name,
        source="MEMERAG (Cruz Blandón et al., ACL 2025)",
        note="One system: the files do not name the model that answered. Labels are not in here.",
    )
    return ForeignArena(arena, pd.DataFrame(columns=["source", "item", "reason", "count"]))
