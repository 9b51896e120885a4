"""Texts of passages, as models read them."""

from __future__ import annotations

from collections.abc import Collection

from features.declare.sample import Question


def passage_texts(question: Question, ids: Collection[str]) -> tuple[str, ...]:
    """Return passages' texts in the order of ids."""
    texts = dict(zip(question.passage_ids, question.passage_texts, strict=True))
    return tuple(texts[name] for name in ids if texts.get(name))
