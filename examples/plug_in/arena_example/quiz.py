"""An importer: quizzes in which each line has a question, and one answer per system after tabs."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from arena import Arena
from surrogate_arena.importers import ForeignArena


def read_quiz(
    paths: Sequence[Path | str], *, language: str = "en", name: str = "quiz"
) -> ForeignArena:
    """Read quizzes; lines without an answer are left out, and counted."""
    questions = []
    answers = []
    skipped = []
    for path in map(Path, paths):
        n_without_answers = 0
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            question, *texts = line.split("\t")
            if not texts:
                n_without_answers += 1
                continue
            query_id = f"{path.stem}-{number}"
            questions.append({"query_id": query_id, "query": question})
            for index, text in enumerate(texts, start=1):
                answers.append({"query_id": query_id, "system": f"system{index}", "answer": text})
        if n_without_answers:
            skipped.append((path.name, "question", "has no answer", n_without_answers))
    arena = Arena.from_frames(
        pd.DataFrame(questions, columns=["query_id", "query"]),
        pd.DataFrame(answers, columns=["query_id", "system", "answer"]),
        language=language,
        name=name,
    )
    return ForeignArena(arena, pd.DataFrame(skipped, columns=["source", "item", "reason", "count"]))
