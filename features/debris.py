"""What the making of an answer leaves in its text: markers, tags, shells, unread bytes."""

from __future__ import annotations

import json
import re

from arena.answers import ANSWER_WORDS, REASON_WORDS

_SECTION_WORDS = "|".join((*ANSWER_WORDS, *REASON_WORDS))
_PROMPT_WORDS = "instruction|input|response|指示|入力|応答|指令|输入|输出|回复"
_HTML = (
    *("a", "b", "big", "blockquote", "body", "br", "center", "code", "div", "em", "font", "h[1-6]"),
    *(
        "head",
        "hr",
        "html",
        "i",
        "img",
        "li",
        "ol",
        "p",
        "pre",
        "script",
        "small",
        "span",
        "strong",
    ),
    *("style", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul"),
)
# Every repetition is bounded, so that no input takes more than linear time.
_MARKERS = re.compile(
    r"<\|[a-z_0-9]{1,40}\|>"  # <|im_end|>, <|eot_id|>
    r"|</?(?:s|bos|eos|pad|unk|think|start_of_turn|end_of_turn)>"
    r"|\[/?INST\]|<</?SYS>>|<0x[0-9A-F]{2}>"
    rf"|[#＃]{{1,6}}[ \t]{{0,3}}(?:(?:{_SECTION_WORDS})(?!\w)|(?:{_PROMPT_WORDS})[:：])"
    r"|^(?:human|user|assistant|system):"
    rf"|</?(?:{'|'.join(_HTML)})(?:[ \t][^<>]{{0,200}})?/?>"
    r"|&(?:nbsp|amp|lt|gt|quot|apos|#\d{1,6}|#x[0-9a-f]{1,6});"
    r"|\\u[0-9a-f]{4}|(?:\\n)+(?=[\s\d\"'*#-]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_PAIRED = ("```", "**")
_UNREADABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls other than tab and line breaks
    "\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffd-\uffff"
    "\U000f0000-\U0010ffff]"
)


def count_debris(text: str) -> int:
    r"""Count what is left of prompts, chat templates, markup and data formats in a text.

    One for each marker of a template (``<|im_end|>``, ``[INST]``, ``</s>``, ``<think>``), heading
    of the prompt (``##Answer``), opening role (``Assistant:`` at the start of a line), HTML tag
    or entity, byte or line break spelled out (``<0x0A>``, ``\n``); one each for bold and for a
    code block that is opened and not closed; one for a text that is a JSON object or list.
    """
    unpaired = sum(text.count(mark) % 2 for mark in _PAIRED)
    return len(_MARKERS.findall(text)) + unpaired + _is_json(text)


def count_unreadable(text: str) -> int:
    """Count characters that no reader can read.

    Replacement characters, lone surrogates, private-use characters, noncharacters, and controls
    other than tabs and line breaks.
    """
    return len(_UNREADABLE.findall(text))


def _is_json(text: str) -> bool:
    bare = text.strip()
    if not bare or (bare[0], bare[-1]) not in {("{", "}"), ("[", "]")}:
        return False
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True
