"""Thoughts of reasoning models: where they end in a text, and the answer that follows them.

They open a text; a mark later on is prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

MOST_MARKS = 500
"""Marks within a block that are looked at, for the same reason."""
LONGEST_LINE = 400
"""Characters of a line, on either side of a mark, that tell whether it is quoted."""

_WORDS = (
    r"(?:think(?:ing)?|thoughts?|reasoning|analysis|reflection|scratch_?pad|(?:inner_)?monologue)"
)
_NAME = (
    rf"(?:(?:[a-z]{{1,12}}[:_]){{0,3}}|ant){_WORDS}(?:[:_](?!end\b)[a-z]{{1,12}}){{0,2}}"
    r"(?:\s{1,3}[\w-]{1,30}=[^<>]{0,80})?\s{0,3}"
)
# A tag may have bars inside its brackets, spaces, or brackets written as entities.
_TAG_START, _TAG_END = r"(?:<|&lt;)\s{0,3}", r"[|｜]?\s{0,3}(?:>|&gt;)"
_TAG_CLOSING = r"(?:/\s{0,3}[|｜]?|[|｜]\s{0,3}/|[|｜]end[_▁](?:of[_▁])?)\s{0,3}"
_TAG_OPENING = r"(?:[|｜](?!\s{0,3}end[_▁])\s{0,3}(?:(?:begin|start)[_▁](?:of[_▁])?)?)?"
_RESPONSE = (
    r"<\|(?:START_RESPONSE|START_TEXT|begin_of_solution)\|>"
    r"|(?:<\|start\|>)?(?:assistant)?<\|channel\|>final[^<>\n]{0,60}<\|message\|>"
)


class _Marks(NamedTuple):
    """Patterns of what opens and closes thoughts, without case."""

    opening: str
    closing: str


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Most texts have no marks, so most patterns are never needed.
    return re.compile(pattern, re.IGNORECASE)


_KINDS = (
    # DeepSeek, Qwen, GLM, Gemini, EXAONE, Reka, Seed, LongCat and others.
    # With bars: Cohere, OpenThinker, Sky-T1, DeepSeek.
    _Marks(
        rf"{_TAG_START}{_TAG_OPENING}{_NAME}{_TAG_END}",
        rf"{_TAG_START}(?:{_TAG_CLOSING}{_NAME}|[|｜]{_WORDS}[_▁]end\b){_TAG_END}",
    ),
    _Marks(r"\[THINK(?:ING)?\]", r"\[/THINK(?:ING)?\]"),  # Mistral
    _Marks(r"◁think▷", r"◁/think▷"),  # Kimi
    _Marks(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),  # Apertus
    _Marks(r"<\|plamo:begin_think:plamo\|>", r"<\|plamo:end_think:plamo\|>"),
    _Marks(r"<\|channel>\s{0,3}(?:thought|analysis)", r"<channel\|>"),  # Gemma
    _Marks(r"<unused94>(?:thought)?", r"<unused95>"),  # MedGemma
    _Marks(r"\[unused16\]", r"\[unused17\]"),  # Pangu
)
_DETAILS = _Marks(
    r"<details\s{1,3}type=[\"']reasoning[\"'][^<>]{0,200}>"
    rf"|<details[^<>]{{0,200}}>\s{{0,3}}<summary>[^\w<>]{{0,9}}{_WORDS}\b[^<>]{{0,80}}</summary>",
    r"</details>",
)
"""Of Open WebUI and others; a closing mark alone says nothing."""
_IN_WORDS = (
    _Marks(  # Granite
        r"Here(?: is|['’]s) my thought process:", r"Here(?: is|['’]s) my response:\s{0,3}"
    ),
    _Marks(  # Qwen
        r"[#*\s]{0,5}(?:Here(?: is|['’]s) (?:a |my )?)?thinking process\b[^\n]{0,60}:\**\s{0,3}\n",
        r"</think>",
    ),
    _Marks(r"Thinking(?:\.\.\.|…)\s{0,3}\n", r"(?:\.\.\.|…)\s{0,3}done thinking\.?"),  # Ollama
    _Marks(r"(?-i:analysis)\s{0,3}\n", r"(?-i:assistant\s{0,3}final)(?=\W|(?-i:[A-Z])|\Z)"),
)
"""Plain words: they are marks only where both are there, or where the text was cut off."""
_ANY_MARK = re.compile(r"<|&lt;|◁|\[(?:/?THINK|unused1)", re.IGNORECASE)
"""How all marks begin that are no plain words: most texts have none."""
_TELLS_OF_TAG = (
    r"[`\"'”’]?[ \t]{1,3}(?:and </?\w{1,20}> )?(?:tags?|blocks?|marks?|markers?|markup)"
    r"\b[^\n]{1,300}"
)
"""The rest of a sentence about a tag, behind it."""
_HARMONY = (
    r"(?:<\|start\|>)?(?:assistant)?<\|channel\|>\s{0,3}(?:analysis|commentary)"
    r"|(?:analysis|commentary)[^<>\n]{0,60}<\|message\|>"
)
# Where a server has dropped the special tokens, their words are left, glued to the text.
_LEAKED_HARMONY = re.compile(r"analysis(?=[A-Z])|assistantfinal(?=\W|[A-Z])")
_LEAKED_FINAL = re.compile(r"assistantfinal(?=\W|[A-Z]|\Z)")
_PREFIX = re.compile(
    r"[\s\ufeff\u200b]*(?:(?:<s>|<bos>|<\|begin_of_text\|>|\[gMASK\]|<sop>|<\|end\|>"
    r"|<[|｜]begin[_▁]of[_▁]sentence[|｜]>|<｜assistant｜>|\[\|assistant\|\]|assistant\s{0,3}:"
    r"|<\|(?:im_start|start)\|>assistant(?!<\|channel)|<\|start_header_id\|>assistant"
    r"<\|end_header_id\|>|<\|assistant(?:_start)?\|>|<start_of_turn>model|<\|turn>model"
    r"|assistant(?=\s*\n))[\s\ufeff\u200b]*){0,5}",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"<(?:\|(?:return|end|call|im_end|eot_id|eom_id|endoftext|end_of_text|end_of_solution"
    r"|END_RESPONSE|END_TEXT|END_OF_TURN_TOKEN|assistant_end|plamo:tag)\||end_of_turn|turn\|"
    r"|[|｜]end[_▁]of[_▁]sentence[|｜])>\Z",
    re.IGNORECASE,
)
_SENTENCE_END = tuple(".!?…。！？।)]*\"”'’")
_GOES_ON = tuple(",.;:!?)…。，、；：！？\"'`”’")
_OPENING_QUOTE = re.compile(r"(?:[“„«‹「『‘]|(?:\A|(?<=[\s(\[{*:=–—-])|\\)[`\"']{1,3})\Z")
_CLOSING_QUOTE = re.compile(r"\\?[`\"'“”»›」』’]")


def answer_start(text: str, is_cut: bool | None = None) -> int:
    """Return where the answer begins, behind opening thoughts.

    In a text that a limit ended (``is_cut``), opening words ("Here is my thought process:") count
    even if unclosed.
    """
    # Blocks of thoughts in a row that are looked for; bounds the work on hostile texts
    most_blocks = 20
    start = 0
    for _ in range(most_blocks):
        end = _thoughts_end(text, start, is_cut)
        if end == start:
            break
        start = end
    if start == 0:
        return 0
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def without_thoughts(text: str, is_cut: bool | None = None) -> str:
    """Return the answer without thoughts and channel tokens."""
    # Maximum length of a token at the end of a text
    longest_token = 40
    start = answer_start(text, is_cut)
    end = len(text)
    while True:
        stripped = end
        while stripped > start and text[stripped - 1].isspace():
            stripped -= 1
        token = _TRAILING.search(text[max(start, stripped - longest_token) : stripped])
        if token is None:
            return text[start:end]
        end = stripped - len(token[0])


def has_thoughts(text: str) -> bool:
    """Return whether thoughts, or a channel's marks, open a text."""
    return answer_start(text) > 0


def _thoughts_end(text: str, start: int, is_cut: bool | None) -> int:
    prefix = _PREFIX.match(text, start)
    position = start if prefix is None else prefix.end()
    if _ANY_MARK.search(text, start) is None:
        end = _end_of_words(text, start, position, is_cut)
        return start if end is None else end
    for marks in (*_KINDS, _DETAILS):
        opening = _compiled(marks.opening).match(text, position)
        if opening is None:
            continue
        end = _closing_end(text, opening.end(), marks)
        if end is None and is_cut is False and _compiled(_TELLS_OF_TAG).match(text, opening.end()):
            return start
        return len(text) if end is None else end
    response = _compiled(_RESPONSE).match(text, position)
    if response is not None:
        return response.end()
    if _compiled(_HARMONY).match(text, position):
        final = _compiled(_RESPONSE).search(text, position)
        return len(text) if final is None else final.end()
    end = _end_of_words(text, start, position, is_cut)
    return _lone_closing_end(text, start) if end is None else end


def _end_of_words(text: str, start: int, position: int, is_cut: bool | None) -> int | None:
    if _LEAKED_HARMONY.match(text, position):
        final = _LEAKED_FINAL.search(text, position)
        return len(text) if final is None else final.end()
    for marks in _IN_WORDS:
        if _compiled(marks.opening).match(text, position) is None:
            continue
        closing = _compiled(marks.closing).search(text, position)
        if closing is not None:
            return closing.end()
        return len(text) if is_cut else start
    return None


def _closing_end(text: str, start: int, marks: _Marks) -> int | None:
    """Return where thoughts end that were opened before ``start``, if anything closes them."""
    depth = 1
    closings = []
    for mark, is_opening in islice(_marks_of(text, start, marks), MOST_MARKS):
        if _is_quoted(text, mark):
            continue
        depth += 1 if is_opening else -1
        if is_opening:
            continue
        if depth == 0:
            return mark.end()
        closings.append(mark)
    for mark in closings:
        if not text[mark.end() : _line_end(text, mark.end())].strip():
            return mark.end()
    return closings[-1].end() if closings else None


def _marks_of(text: str, start: int, marks: _Marks) -> Iterator[tuple[re.Match[str], bool]]:
    opening_mark = _compiled(marks.opening)
    closing_mark = _compiled(marks.closing)
    opening = opening_mark.search(text, start)
    closing = closing_mark.search(text, start)
    while opening is not None or closing is not None:
        if closing is None or (opening is not None and opening.start() < closing.start()):
            assert opening is not None  # noqa: S101 - for mypy
            yield opening, True
            opening = opening_mark.search(text, opening.end())
        else:
            yield closing, False
            closing = closing_mark.search(text, closing.end())


def _lone_closing_end(text: str, start: int) -> int:
    """Return where thoughts end that the chat template opened; ``start`` if there are none."""
    ends = []
    for marks in _KINDS:
        for mark, is_opening in islice(_marks_of(text, start, marks), MOST_MARKS):
            if _is_quoted(text, mark):
                continue
            if is_opening:
                break
            if _stands_between(text, mark, start) and not _is_inside_quotation(text, mark):
                ends.append(mark.end())
                break
    for final in _compiled(_RESPONSE).finditer(text, start):
        if not _is_quoted(text, final):
            ends.append(final.end())
            break
    return min(ends, default=start)


def _stands_between(text: str, mark: re.Match[str], start: int) -> bool:
    line_start = max(text.rfind("\n", 0, mark.start()) + 1, start)
    before = text[max(line_start, mark.start() - LONGEST_LINE) : mark.start()]
    after = text[mark.end() : _line_end(text, mark.end())]
    following = after.strip()
    if following.startswith(_GOES_ON):
        # A quotation mark right behind the mark may open the answer.
        return after[0] in "\"'`”’" and following[1:2].isalnum()
    is_apart = before[-1:].isspace() or not before
    goes_on = following[:1].islower() and after[:1].isspace()
    if not before.strip():
        return not goes_on
    if not is_apart:
        return True
    return before.rstrip().endswith(_SENTENCE_END) and not goes_on


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    before = text[max(0, mark.start() - 8) : mark.start()]
    if _OPENING_QUOTE.search(before) and _CLOSING_QUOTE.match(text, mark.end()):
        return True
    line_before, line_after = _around(text, mark)
    return line_before.count("`") % 2 == 1 and "`" in line_after


def _is_inside_quotation(text: str, mark: re.Match[str]) -> bool:
    line_before, line_after = _around(text, mark)
    if line_before.count('"') % 2 == 1 and '"' in line_after:
        return True
    block_marks = text.count("\n```", 0, mark.start()) + text.startswith("```")
    return block_marks % 2 == 1 and text.find("\n```", mark.end()) >= 0


def _around(text: str, mark: re.Match[str]) -> tuple[str, str]:
    line_start = text.rfind("\n", 0, mark.start()) + 1
    first = max(line_start, mark.start() - LONGEST_LINE)
    last = min(_line_end(text, mark.end()), mark.end() + LONGEST_LINE)
    return text[first : mark.start()], text[mark.end() : last]


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
