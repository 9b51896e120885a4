"""Keys by content: the same answer to the same question has the same key in every run."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from features.missing import Missing
from features.models.scorer import Item
from features.sample import Question

KEY_BYTES = 16


def question_key(question: Question) -> bytes:
    """Return the key of all that a feature may see of a question, its reference included."""
    return _digest(_question_parts(question))


def answer_key(question: bytes, output: str) -> bytes:
    """Return the key of an answer to a question of a given key."""
    return _digest([question.hex(), output])


def item_key(item: Item) -> bytes:
    """Return the key of a text, or a pair of texts, that a model scores."""
    return _digest(item)


def _question_parts(question: Question) -> Iterable[str]:
    yield from (question.language, question.query)
    if isinstance(question.reference, Missing):
        yield from ("missing", question.reference.reason)
    else:
        yield from ("reference", question.reference)
    for passage in question.passages:
        yield from (passage.passage_id, repr(passage.title), passage.text, repr(passage.relevance))


def _digest(parts: Iterable[str]) -> bytes:
    """Hash strings; each one's length stands before it, so that no two lists look alike."""
    digest = blake2b(digest_size=KEY_BYTES)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()
