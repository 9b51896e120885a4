"""Sentences of any language, and statements: the sentences of an answer with what each cites.

``sentencex`` cuts all languages of MIRACL but Thai, whose sentences ``pythainlp`` finds from words;
others are cut at the terminators of all scripts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from importlib.util import find_spec
from operator import itemgetter
from typing import NamedTuple

import regex

from arena.data.errors import MissingDependencyError
from arena.text.answers import find_citations
from features.text.tokens import first_words, tokens_per_word, without_surrogates, words

THAI = "th"
FEWEST_WORDS_OF_PROSE = 6
"""Words of a line that is prose rather than a name or a title; twice as many parts of words."""
WINDOW = 2_000
"""Characters cut at a time: sentencex takes quadratic time where quotation marks abound."""

Span = tuple[int, int]
"""Start and end of a sentence in its text."""

LIST_MARKER = re.compile(r"[ \t]*(?:[-*+•●▪◦‣][ \t]+|[(（]?\d{1,3}(?:[.)][ \t]+|[)）、．]))")
"""The bullet or number of a list item, at the start of a line."""

_BEFORE_BULLET = re.compile("(?=[•●▪◦‣])")
_HEADING = re.compile(r"#{1,6}\s")
_THAI_LETTER = re.compile("[\u0e01-\u0e5b]")
_THAI_ABBREVIATION = re.compile("(?:^|[^\u0e01-\u0e5b])[\u0e01-\u0e2e]{1,4}\\.\\s*$")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")

# What may follow the mark that ends a sentence: quotes, brackets, emphasis, emoji, format marks.
_TRAILING = regex.compile(r"[\p{Pf}\p{Pi}\p{Pe}\p{So}\p{Sk}\p{Cf}\p{M}\s\"'“”„»«*_~`]*+", regex.V1)
_TERMINAL = regex.compile(r"[\p{Sentence_Terminal}…‥⋯]", regex.V1)
_LETTER = regex.compile(r"\p{L}")
_WITHOUT_FULL_STOPS = regex.compile(r"[\p{Thai}\p{Lao}]")
_CODE_BLOCK = "```"
_OPEN_END = regex.compile(r"[\p{L}\p{M},;،؛、，；]\s*\Z", regex.V1)
_COMMA = re.compile("[,;،؛、，；]")
_ENDED_SENTENCE = regex.compile(r"[\p{Sentence_Terminal}…‥⋯--.!?](?=.)|[.!?]\S{0,2}\s", regex.V1)
_WHOLE_END = regex.compile(r"(?:://|@)\S*\Z| \| |[\d十百千万億]\s?\p{L}{1,3}\Z", regex.V1)
"""An address, the row of a table, or a number with its unit."""


def split_sentences(text: str, language: str) -> list[str]:
    """Cut a text into sentences, in linear time.

    A line break or the next item of a list ends a sentence. Only texts declared Thai are cut by
    words.

    Raises:
        MissingDependencyError: For Thai without pythainlp or python-crfsuite.
    """
    return [text[start:end] for start, end in sentence_spans(text, language)]


def sentence_spans(text: str, language: str) -> list[Span]:
    """Return the start and end of each sentence of a text."""
    spans = []
    start = 0
    for end in _ends(text, language):
        sentence = text[start:end]
        first = start + len(sentence) - len(sentence.lstrip())
        last = start + len(sentence.rstrip())
        if first < last:
            spans.append((first, last))
        start = end
    return spans


def require_sentences(languages: Iterable[str]) -> None:
    """Check that the packages that these languages need are installed."""
    if THAI not in languages:
        return
    for module, package in (("pythainlp", "pythainlp"), ("pycrfsuite", "python-crfsuite")):
        if find_spec(module) is None:
            raise MissingDependencyError("cutting Thai into sentences", package, "thai")


def _ends(text: str, language: str) -> Iterator[int]:
    start = 0
    for line in text.splitlines(keepends=True):
        for bullet in _BEFORE_BULLET.split(line):
            # Replaced one by one, so that positions stay those of the text.
            plain = _SPACE.sub(" ", without_surrogates(bullet))
            for end in _sentence_ends(plain, language):
                yield start + end
            start += len(bullet)


def _sentence_ends(line: str, language: str) -> Iterator[int]:
    """Cut window by window; a window's last sentence is cut again in the next."""
    is_thai = language == THAI and _THAI_LETTER.search(line) is not None
    cut = _thai_pieces if is_thai else lambda text: _pieces_of(text, language)
    marker = LIST_MARKER.match(line)
    start = marker.end() if marker else 0
    while len(line) - start > WINDOW:
        *complete, rest = _pieces(line[start : start + WINDOW], cut)
        for piece in complete:
            start += len(piece)
            yield start
        if not complete:
            start += rest.rfind(" ") + 1 or len(rest)
    for piece in _pieces(line[start:], cut):
        start += len(piece)
        yield start


def _pieces(text: str, cut: Callable[[str], list[str]]) -> list[str]:
    if not text or text.isspace():
        return [text]
    pieces = cut(text)
    return pieces if "".join(pieces) == text else [text]


def _pieces_of(text: str, language: str) -> list[str]:
    from sentencex import segment

    return list(segment(language, text))


def _thai_pieces(text: str) -> list[str]:
    """Cut by pythainlp, despite the points of abbreviations."""
    require_sentences([THAI])
    from pythainlp.tokenize import sent_tokenize

    sentences: list[str] = []
    for piece in map(str, sent_tokenize(text, engine="crfcut")):
        if sentences and _THAI_ABBREVIATION.search(sentences[-1]):
            sentences[-1] += piece
        else:
            sentences.append(piece)
    return sentences


class Statement(NamedTuple):
    """A sentence without citations and markers, and the known ids it cites."""

    text: str
    cited: tuple[str, ...]


def cut_statements(text: str, passage_ids: Collection[str], language: str) -> tuple[Statement, ...]:
    """Cut a text into statements.

    A citation belongs to its sentence or the one before, also after the full stop or in a list
    after a paragraph; one that opens a line to the sentence after it. Headings and sentences
    without a letter or digit are no statements; their citations go to the statement before.
    """
    bare, mentions = _without_citations(text, passage_ids)
    spans = [
        (start, end)
        for start, end in sentence_spans(bare, language)
        if _is_statement(bare[start:end])
    ]
    if not spans:
        return ()
    question_ids = frozenset(passage_ids)
    cited: list[dict[str, None]] = [{} for _ in spans]  # dictionaries keep the order of ids
    for position, ids in mentions:
        owner = cited[_owner(bare, spans, position)]
        owner.update({cited_id: None for cited_id in ids if cited_id in question_ids})
    return tuple(
        Statement(_without_marker(bare[start:end]), tuple(ids))
        for (start, end), ids in zip(spans, cited, strict=True)
    )


def _without_citations(
    text: str, passage_ids: Collection[str]
) -> tuple[str, list[tuple[int, tuple[str, ...]]]]:
    """Take the citations out, so that no splitter tears an id; also return their positions."""
    pieces: list[str] = []
    mentions: list[tuple[int, tuple[str, ...]]] = []
    start = 0
    length = 0  # of the pieces so far
    for marker in find_citations(text, tuple(passage_ids)):
        before = text[start : marker.start].rstrip(" \t")
        mentions.append((length + len(before), marker.ids))
        touches_word = text[marker.end : marker.end + 1].isalnum()
        pieces.append(f"{before} " if touches_word else before)
        length += len(pieces[-1])
        start = marker.end
    return "".join([*pieces, text[start:]]), mentions


def _owner(text: str, spans: list[Span], position: int) -> int:
    following = bisect_left(spans, position, key=itemgetter(0))
    if following in (0, len(spans)):
        return max(following - 1, 0)
    _, line_break, indent = text[spans[following - 1][1] : position].rpartition("\n")
    opens_line = bool(line_break) and not indent.strip()
    is_alone = "\n" in text[position : spans[following][0]]
    return following if opens_line and not is_alone else following - 1


def _is_statement(sentence: str) -> bool:
    return not _HEADING.match(sentence) and any(map(str.isalnum, sentence))


def _without_marker(sentence: str) -> str:
    marker = LIST_MARKER.match(sentence)
    if marker and marker.end() < len(sentence):
        return sentence[marker.end() :]
    return sentence


def breaks_off(text: str) -> bool | None:
    """Return whether a text lacks the mark that ends a sentence.

    Quotes, brackets, emphasis and emoji may follow it; closed code and rows of tables need none,
    nor does a list's last item if no other has one. None for a blank text, or a script without
    marks (Thai, Lao).
    """
    lines = [line for line in text.splitlines() if line.strip()]
    letter = _LETTER.search(text[::-1])
    if not lines or (letter and _WITHOUT_FULL_STOPS.match(letter[0])):
        return None
    last = lines[-1].strip()
    if text.count(_CODE_BLOCK) % 2:
        return True
    if last.startswith(_CODE_BLOCK) or (
        last.startswith("|") and last.endswith("|") and len(last) > 1
    ):
        return False
    if is_terminated(last):
        return len(lines) > 1 and is_bare_marker(last)
    items = [line for line in lines[:-1] if LIST_MARKER.match(line)]
    return not (LIST_MARKER.match(lines[-1]) and items) or any(map(is_terminated, items))


def is_terminated(text: str) -> bool:
    """Return whether a text ends in any script's full stop or the like."""
    backwards = text[::-1]
    start = _TRAILING.match(backwards).end()
    return _TERMINAL.match(backwards, start) is not None


def is_bare_marker(line: str) -> bool:
    """Return whether a line is only the number of a list's item: ``3.``."""
    marker = LIST_MARKER.match(f"{line} ")
    return marker is not None and not line[marker.end() :].strip()


def ends_in_mid_sentence(text: str) -> bool | None:
    """Return whether a text breaks off within a sentence, item or code.

    Titles, names, rows and the like end without a full stop by intent: the last line must be prose
    that ends in a comma, or in a letter after a finished sentence, in a text that usually marks
    ends.
    """
    # Items of a list that end in a full stop, three of four, so that its last one should, too
    fewest_items = 2
    is_broken_off = breaks_off(text)
    if not is_broken_off or text.count(_CODE_BLOCK) % 2:
        return is_broken_off
    lines = [line for line in text.splitlines() if line.strip()]
    last = lines.pop()
    if is_bare_marker(last.strip()) or _is_open_row(last, lines):
        return True
    if not _OPEN_END.search(last) or _WHOLE_END.search(last.strip()):
        return False
    if LIST_MARKER.match(last):
        items = [line for line in lines if LIST_MARKER.match(line)]
        n_ended = sum(map(is_terminated, items))
        return n_ended >= fewest_items and 4 * n_ended >= 3 * len(items)
    if not _is_sentence(last):
        return False
    if not _COMMA.match(last.rstrip()[-1]) and not _ENDED_SENTENCE.search(text):
        return False
    prose = list(filter(is_prose, lines))
    if lines and _OPEN_END.search(lines[-1]):
        return False
    n_marked = sum(map(is_terminated, prose))
    return 2 * n_marked >= len(prose)


def _is_open_row(line: str, lines: Sequence[str]) -> bool:
    is_open = line.startswith("|") and not line.rstrip().endswith("|")
    return is_open and bool(lines) and lines[-1].rstrip().endswith("|")


def _is_sentence(line: str) -> bool:
    tokens = words(line)
    n_capitals = sum(token[0].isupper() for token in tokens)
    n_parts = len(_COMMA.split(line)) * tokens_per_word(tokens)
    # A title has a capital, and such a list a comma, at every other word.
    return are_prose(tokens) and 2 * max(n_capitals, n_parts) <= len(tokens)


def is_prose(line: str) -> bool:
    """Return whether a line has as many words as a sentence."""
    return are_prose(first_words(line, 2 * FEWEST_WORDS_OF_PROSE))


def are_prose(tokens: Sequence[str]) -> bool:
    """Return whether words are as many as a sentence has."""
    return len(tokens) >= FEWEST_WORDS_OF_PROSE * tokens_per_word(tokens)
