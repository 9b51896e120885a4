"""MEMERAG's questions, passages and answers as an arena; ``metaeval memerag`` reads its labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from arena.data.rows import whole_digits
from arena.data.schema import Text
from surrogate_arena.importers.collected import Collected
from surrogate_arena.importers.files import checked_language, language_of, without_language
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.passages import passages_of

SYSTEM = "memerag"
"""The one system of the arena: the files do not say which of five models answered."""


class ContextText(BaseModel):
    """A passage."""

    text: Text


class AnswerSentence(BaseModel):
    """A sentence of an answer; its labels are not read."""

    sentence: Text


class MemeragRow(BaseModel):
    """A question with its passages and the answer, sentence by sentence."""

    query_id: Annotated[Text, BeforeValidator(lambda value: whole_digits(value) or value)] = Field(
        description="a string or number"
    )
    query: Text = Field(description="a string")
    context: list[ContextText] = Field(min_length=1, description="a list of {text}")
    answer: list[AnswerSentence] = Field(min_length=1, description="a list of {sentence, …}")


def read_memerag_answers(
    paths: Sequence[Path | str], *, language: str | None = None, name: str = "memerag"
) -> ForeignArena:
    """Read the questions, passages and answers of MEMERAG.

    Args:
        paths: ``data/memerag`` of the clone, or files ``LANGUAGE.jsonl``.
        language: Language of all files, where names do not tell.
        name: Name of the arena.
    """
    collected = Collected()
    for path, rows in collected.files(paths):
        code = language_of(path, paths, checked_language(language))
        if code is None:
            raise without_language([rows.source])
        for place, row in collected.records(rows, MemeragRow):
            key = (code, row.query_id)
            passages = passages_of([passage.text for passage in row.context])
            collected.question(place, key, row.query, passages)
            answer = " ".join(part.sentence.strip() for part in row.answer)
            collected.answer(place, key, SYSTEM, answer)
    source = "MEMERAG (Cruz Blandón et al., ACL 2025)"
    note = "One system: the files do not name the model that answered. Labels are not in here."
    return foreign_arena(collected, name, source=source, note=note)
