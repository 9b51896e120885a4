"""Texts of passages, as models read them."""

from __future__ import annotations

from collections.abc import Collection

from features.declare.sample import Question, passage_text


def passage_texts(question: Question, ids: Collection[str]) -> tuple[str, ...]:
    """Return passages' texts in the order of ids."""
    texts = {passage.passage_id: passage_text(passage) for passage in question.passages}
    return tuple(texts[name] for name in ids if texts.get(name))
