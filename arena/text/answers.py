"""The raw output of a RAG system, taken apart: reason, answer, and cited passages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import NamedTuple

from arena.text.reader import shows_nothing, visible

LABELS = (
    "documents?",
    "docs?",
    r"doc\.",
    "passages?",
    "contexts?",
    "sources?",
    "references?",
    "refs?",
    r"ref\.",
    "citations?",
    "paragraphs?",
    "chunks?",
    "snippets?",
    "ids?",
    "dokumente?",
    "quellen?",
    "documentos?",
    "fuentes?",
    "pasajes?",
    "lähde",
    "sumber",
    "dokumen",
    "документы?",
    "источники?",
    "المصدر",
    "المستند",
    "المقطع",
    "منبع",
    "سند",
    "সূত্র",
    "নথি",
    "संदर्भ",
    "स्रोत",
    "दस्तावेज़",
    "మూలం",
    "పత్రం",
    "เอกสาร",
    "文档",
    "文件",
    "段落",
    "来源",
    "來源",
    "文献",
    "文書",
    "资料",
    "資料",
    "出典",
    "문서",
    "단락",
    "출처",
)
"""Words that may precede a passage number, as patterns."""

_OPEN = r"\[【［"
_CLOSE = r"\]】］"
# Content holds no bracket, so every character is looked at once however many brackets open.
_BRACKETS = re.compile(rf"[{_OPEN}]([^{_OPEN}{_CLOSE}]++)[{_CLOSE}]")
_LINK = re.compile(rf"\((?:https?://|#)[^()\s{_OPEN}{_CLOSE}]*+\)")
_SEPARATOR = re.compile("[,;&、，；،؛]")
_INVISIBLE = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LABEL = re.compile(rf"(?:\^|(?:{'|'.join(LABELS)})[ \t]*+[:：.#№]?+)[ \t]*+(?=\d)", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,3})\s?[-‐‑–—−~〜～]\s?(\d{1,3})")
_NUMBER = re.compile(r"\d{1,20}(?:#\d{1,20})?")
_DIGITS = re.compile(r"\d+")
_DIGIT = re.compile(r"\d")


class Citations(NamedTuple):
    """The passages an answer cites, distinct ids in order."""

    ranking: tuple[str, ...]
    matched: tuple[str, ...]
    unmatched: tuple[str, ...]
    mentions: int


class CitationMarker(NamedTuple):
    """A bracketed citation: start, end of its link, ids."""

    start: int
    end: int
    ids: tuple[str, ...]


class _Citable(NamedTuple):
    """Ids that can be cited, and their shapes: ``doc-17`` has the shape ``doc-0``."""

    ids: frozenset[str]
    shapes: frozenset[str]


def cited_passages(text: str, passage_ids: Collection[str]) -> Citations:
    """Resolve an answer's citations by its query's passages."""
    mentioned: list[str] = []
    for marker in find_citations(text, tuple(passage_ids)):
        mentioned += marker.ids
    ranking = tuple(dict.fromkeys(mentioned))
    # Most texts cite nothing: then the ids need no set.
    ids = frozenset(passage_ids) if mentioned else frozenset()
    return Citations(
        ranking=ranking,
        matched=tuple(cited for cited in ranking if cited in ids),
        unmatched=tuple(cited for cited in ranking if cited not in ids),
        mentions=sum(cited in ids for cited in mentioned),
    )


def strip_citations(text: str, passage_ids: Collection[str] = ()) -> str:
    """Take citations out; ids that look like words must be given."""
    parts: list[str] = []
    position = 0
    for marker in find_citations(text, tuple(passage_ids)):
        parts.append(text[position : marker.start].rstrip(" \t"))
        if _joins_words(text, marker):
            parts.append(" ")
        position = marker.end
    parts.append(text[position:])
    return "".join(parts).strip()


@lru_cache(maxsize=2**14)  # features, checks and pages look for the same ones
def find_citations(text: str, passage_ids: tuple[str, ...] = ()) -> tuple[CitationMarker, ...]:
    """Find citations, from left to right, in linear time.

    A bracket is a citation if a part is a passage id; or if all its parts are numbers, ranges, ids
    such as ``12#3``, or unlike a passage id in their digits only. All else is prose.
    """
    if _BRACKETS.search(text) is None:
        return ()
    markers: list[CitationMarker] = []
    citable = _citable(passage_ids)
    previous_end = 0
    for match in _BRACKETS.finditer(text):
        ids = _cited_ids(match[1], citable)
        if not ids or match.start() < previous_end:
            continue
        start, end = _widened(text, match.start(), match.end(), previous_end)
        link = _LINK.match(text, end)
        previous_end = link.end() if link else end
        markers.append(CitationMarker(start, previous_end, ids))
    return tuple(markers)


def _widened(text: str, start: int, end: int, floor: int) -> tuple[int, int]:
    """Take in further brackets right around: ``[[1]]``."""
    while start > floor and end < len(text) and text[start - 1] in "[【［" and text[end] in "]】］":
        start -= 1
        end += 1
    return start, end


def _joins_words(text: str, marker: CitationMarker) -> bool:
    if marker.start == 0 or marker.end == len(text):
        return False
    return text[marker.start - 1].isalnum() and text[marker.end].isalnum()


@lru_cache(maxsize=256)
def _citable(passage_ids: tuple[str, ...]) -> _Citable:
    shapes = {_shape(passage_id) for passage_id in passage_ids}
    # A shape without digits would make citations of any such word.
    return _Citable(frozenset(passage_ids), frozenset(shape for shape in shapes if "0" in shape))


def _shape(passage_id: str) -> str:
    return _DIGITS.sub("0", passage_id)


@lru_cache(maxsize=4096)  # the same few brackets come again and again
def _cited_ids(content: str, citable: _Citable) -> tuple[str, ...]:
    """Return the ids a bracket cites; none if it holds prose."""
    # An id may hold a separator itself, such as "doc,17".
    passage_id = _passage_id([content, content.strip(), _plain(content)], citable)
    if passage_id is not None:
        return (passage_id,)
    ids: list[str] = []
    are_all_ids = True
    for part in _SEPARATOR.split(content):
        if part.strip():
            part_ids = _part_ids(part, citable)
            are_all_ids = are_all_ids and bool(part_ids)
            ids += part_ids
    if are_all_ids:
        return tuple(ids)
    # "[see 2, the second]" is prose, unless a part is the id of a passage.
    return tuple(cited for cited in ids if cited in citable.ids)


def _part_ids(part: str, citable: _Citable) -> tuple[str, ...]:
    # Maximum length of an id that no passage has; anything longer in brackets is prose
    longest_id = 100
    # Maximum number of passages in a range such as ``[1-3]``; a wider one is an id itself
    widest_range = 20
    plain = _plain(part)
    passage_id = _passage_id([part.strip(), plain], citable)
    if passage_id is not None:
        return (passage_id,)
    label = _LABEL.match(plain)
    if label:
        plain = plain[label.end() :]
    passage_id = _passage_id([plain, plain.lstrip("0") or "0"], citable)
    if passage_id is not None:
        return (passage_id,)
    numbers = _RANGE.fullmatch(plain)
    if numbers:
        first = int(numbers[1])
        last = int(numbers[2])
        if 0 < last - first < widest_range:
            return tuple(str(number) for number in range(first, last + 1))
    has_shape = len(plain) <= longest_id and _shape(plain) in citable.shapes
    return (plain,) if numbers or _NUMBER.fullmatch(plain) or has_shape else ()


def _passage_id(candidates: Iterable[str], citable: _Citable) -> str | None:
    return next((candidate for candidate in candidates if candidate in citable.ids), None)


def _plain(part: str) -> str:
    """Use ASCII digits, without invisible marks and ``†source`` tails."""
    visible = _INVISIBLE.sub("", part) if not part.isascii() else part
    visible = visible.partition("†")[0].replace("＃", "#").strip()
    if visible.isascii():
        return visible
    return _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), visible)


REASON_WORDS = (
    "reason",
    "reasoning",
    "grund",
    "begründung",
    "razón",
    "razonamiento",
    "raison",
    "perustelu",
    "raisonnement",
    "alasan",
    "причина",
    "обоснование",
    "sababu",
    "السبب",
    "دلیل",
    "কারণ",
    "कारण",
    "కారణం",
    "เหตุผล",
    "ìdí",
    "理由",
    "原因",
    "推理",
    "이유",
)
"""Words that introduce the reason; models translate the marker along with the rest."""

ANSWER_WORDS = (
    "answer",
    "antwort",
    "respuesta",
    "réponse",
    "vastaus",
    "jawaban",
    "ответ",
    "jibu",
    "ìdáhùn",
    "الإجابة",
    "الجواب",
    "پاسخ",
    "جواب",
    "উত্তর",
    "उत्तर",
    "जवाब",
    "సమాధానం",
    "జవాబు",
    "คำตอบ",
    "答案",
    "回答",
    "答え",
    "解答",
    "답변",
    "정답",
)
"""Words that introduce the answer."""

_EMPHASIS = "[*_]{0,3}"
_GAP = r"[ \t]{0,3}"
# Emphasis and hashes, written so that it opens with one of a few characters: ``re`` then skips
# to the next of them. Every repetition is bounded, so that no input takes more than linear time.
_HASHES = "[*_#＃](?:(?<=[*_])[*_]{0,2}[#＃]{1,6}|(?<=[#＃])[#＃]{0,5})"
_MARKER = re.compile(
    rf"{_HASHES}{_GAP}{_EMPHASIS}{_GAP}"
    rf"(?:(?P<reason>{'|'.join(REASON_WORDS)})|(?P<answer>{'|'.join(ANSWER_WORDS)}))"
    rf"{_GAP}{_EMPHASIS}{_GAP}(?:[:：]{_GAP}{_EMPHASIS}|$)",
    re.IGNORECASE | re.MULTILINE,
)


class RagAnswer(NamedTuple):
    """A system's output, taken apart; ``output`` lacks markers and thoughts.

    The reason (after ``##Reason:``) is None without an answer.
    """

    reason: str | None
    text: str
    output: str
    is_marked: bool


@lru_cache(maxsize=2**14)  # an answer is measured, checked and judged
def parse_answer(output: str) -> RagAnswer:
    """Take the raw output of a system apart.

    Markers count in any case, bold, as a heading, and in MIRACL's languages. The last answer that
    is not empty counts, up to the next marker; without a marker, the full output.
    """
    output = visible(output)
    texts: list[str] = []
    kinds: list[str] = []
    kind = "preamble"
    start = 0
    for marker in _MARKER.finditer(output):
        texts.append(output[start : marker.start()].strip())
        kinds.append(kind)
        kind = str(marker.lastgroup)
        start = marker.end()
    texts.append(output[start:].strip())
    kinds.append(kind)
    full_text = "\n".join(text for text in texts if text)
    answers = [index for index, kind in enumerate(kinds) if kind == "answer"]
    if not answers:
        return RagAnswer(None, full_text, full_text, is_marked=False)
    filled_answers = [index for index in answers if texts[index]]
    chosen = (filled_answers or answers)[-1]
    # The last reason before the answer, else the first one after it.
    reason = None
    for index, kind in enumerate(kinds):
        if kind == "reason" and (index < chosen or reason is None):
            reason = texts[index]
    return RagAnswer(reason, texts[chosen], full_text, is_marked=True)


def is_empty_answer(output: str) -> bool:
    """Return whether a reader sees nothing of the answer of an output."""
    return shows_nothing(parse_answer(output).text)
