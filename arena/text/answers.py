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
"""What introduces the reason; models translate the marker along with the rest."""

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
"""What introduces the answer."""

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
        reason: What stands after ``##Reason:``; None without that marker or without an answer
            to tell it from.
        text: The answer proper, citations included, blank lines kept.
        output: The whole output without the markers and thoughts, reason included.
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
    last one that says anything counts, as the last verdict of a judge does; it ends at the next
    marker. Without an ``##Answer:`` marker the whole output is the answer: it is all a reader
    or a judge has. Thoughts that open the output, as reasoning models write them, are no part of
    it.
    """
    output = without_thoughts(output)
    if _MARKER.search(output) is None:
        return RagAnswer(None, output.strip(), output.strip(), is_marked=False)
    markers = list(_MARKER.finditer(output))
    ends = [*(marker.start() for marker in markers), len(output)]
    texts = [output[: ends[0]].strip()]
    texts += [output[it.end() : end].strip() for it, end in zip(markers, ends[1:], strict=True)]
    kinds = ["preamble", *(str(marker.lastgroup) for marker in markers)]
    whole = "\n".join(filter(None, texts))
    answers = [place for place, kind in enumerate(kinds) if kind == "answer"]
    if not answers:
        return RagAnswer(None, whole, whole, is_marked=False)
    chosen = ([place for place in answers if texts[place]] or answers)[-1]
    # The last reason before the answer, else the first one after it.
    reasons = [place for place, kind in enumerate(kinds) if kind == "reason"]
    before = [place for place in reasons if place < chosen]
    reason = next((texts[place] for place in [*before[-1:], *reasons]), None)
    return RagAnswer(reason, texts[chosen], whole, is_marked=True)
