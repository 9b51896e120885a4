"""Passages as models read them: the title on a line before the text."""

from __future__ import annotations

from collections.abc import Collection

from arena.records import Passage
from features.sample import Question


def passage_texts(question: Question, ids: Collection[str]) -> tuple[str, ...]:
    """Return the texts of passages in the order of ids; empty ones are left out."""
    texts = question_texts(question)
    return tuple(texts[name] for name in ids if texts.get(name))


def joined_passages(question: Question, ids: Collection[str]) -> str:
    """Return passages as one text, in the order of ids; empty if they are."""
    return "\n".join(passage_texts(question, ids))


def question_texts(question: Question) -> dict[str, str]:
    """Return what each passage of a question says, by id."""
    return {passage.passage_id: passage_text(passage) for passage in question.passages}


def passage_text(passage: Passage) -> str:
    """Return the title, if any, and the text, on lines of their own; empty if without words."""
    lines = (line.strip() for line in (passage.title or "", passage.text))
    text = "\n".join(line for line in lines if line)
    return text if any(map(str.isalnum, text)) else ""
