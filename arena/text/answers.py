"""The raw output of a RAG system, taken apart: ``##Reason: … ##Answer: …``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from arena.text.thoughts import without_thoughts

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


@dataclass(frozen=True)
class RagAnswer:
    """A system's output, taken apart.

    Attributes:
        reason: The text after ``##Reason:``; None without that marker or without an answer
            after or before it.
        text: The answer proper, citations included, blank lines kept.
        output: The output without the markers and thoughts, reason included.
        is_marked: Whether an ``##Answer:`` marker introduces the answer.
    """

    reason: str | None
    text: str
    output: str
    is_marked: bool


def parse_answer(output: str) -> RagAnswer:
    """Take the raw output of a system apart.

    Markers are recognized in any case, in bold, with spaces, with a full-width colon, as a
    heading of their own line, and translated into MIRACL's languages. Of several answers the
    last one that is not empty counts, as the last verdict of a judge does; it ends at the next
    marker. Without an ``##Answer:`` marker the full output is the answer: it is all that a reader
    or a judge has. Thoughts that open the output, as reasoning models write them, are left out.
    """
    output = without_thoughts(output)
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
