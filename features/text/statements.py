"""Statements: the sentences of an answer, each with the passages it cites."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass
from operator import itemgetter

from arena.text.citations import CitationMarker, find_citations
from features.text.sentences import LIST_MARKER, Span, sentence_spans

_HEADING = re.compile(r"#{1,6}\s")


@dataclass(frozen=True)
class Statement:
    """A sentence of an answer.

    Attributes:
        text: The sentence without citations and list markers.
        cited: Distinct ids of the known passages it cites, in order.
    """

    text: str
    cited: tuple[str, ...]


@dataclass(frozen=True)
class _Mention:
    """Ids cited at a position of the text without citations."""

    position: int
    ids: tuple[str, ...]


def cut_statements(text: str, passage_ids: Collection[str], language: str) -> tuple[Statement, ...]:
    """Cut a text into statements.

    A citation belongs to the sentence it stands in or follows, also after the full stop or in a
    list after a paragraph; one that opens a line belongs to the sentence after it. Headings and
    sentences without a letter or digit are no statements; what they cite goes to the statement
    before.

    Args:
        text: An answer, citations included.
        passage_ids: Ids of the query's passages.
        language: Language the answer should be in.

    Raises:
        MissingDependencyError: See ``features.text.sentences.split_sentences``.
    """
    bare, mentions = _without_citations(text, passage_ids)
    spans = [span for span in sentence_spans(bare, language) if _states(bare[slice(*span)])]
    cited: list[dict[str, None]] = [{} for _ in spans]
    known = frozenset(passage_ids)
    for mention in mentions if spans else ():
        owner = cited[_owner(bare, spans, mention.position)]
        owner.update(dict.fromkeys(name for name in mention.ids if name in known))
    return tuple(
        Statement(_sentence(bare, span), tuple(ids)) for span, ids in zip(spans, cited, strict=True)
    )


def _without_citations(text: str, passage_ids: Collection[str]) -> tuple[str, list[_Mention]]:
    """Take the citations out, so that no splitter tears an id, and note where they stood."""
    pieces: list[str] = []
    mentions: list[_Mention] = []
    start = length = 0
    for marker in find_citations(text, passage_ids):
        before = text[start : marker.start].rstrip(" \t")
        mentions.append(_Mention(length + len(before), marker.ids))
        pieces.append(f"{before} " if _touches_a_word(text, marker) else before)
        length += len(pieces[-1])
        start = marker.end
    return "".join([*pieces, text[start:]]), mentions


def _touches_a_word(text: str, marker: CitationMarker) -> bool:
    return marker.end < len(text) and text[marker.end].isalnum()


def _owner(text: str, spans: list[Span], position: int) -> int:
    """Return the number of the statement that a citation belongs to."""
    following = bisect_left(spans, position, key=itemgetter(0))
    if following in (0, len(spans)):
        return max(following - 1, 0)
    _, line_break, indent = text[spans[following - 1][1] : position].rpartition("\n")
    opens_line = bool(line_break) and not indent.strip()
    is_alone = "\n" in text[position : spans[following][0]]
    return following if opens_line and not is_alone else following - 1


def _states(sentence: str) -> bool:
    return not _HEADING.match(sentence) and any(map(str.isalnum, sentence))


def _sentence(text: str, span: Span) -> str:
    sentence = text[slice(*span)]
    marker = LIST_MARKER.match(sentence)
    return sentence[marker.end() :] if marker and marker.end() < len(sentence) else sentence
