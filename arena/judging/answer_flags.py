"""Answers that try to steer the judge: they are reported, never altered."""

from __future__ import annotations

import re

from arena.judging.verdicts import holds_verdict

STATES_VERDICT = "states_verdict"
ADDRESSES_JUDGE = "addresses_judge"
FAKES_DELIMITER = "fakes_delimiter"

_ADDRESSES_JUDGE = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}"
    r"\b(?:above|previous|prior|preceding|earlier|instructions?|rubric|criteria)\b"
    r"|\b(?:ignoriere|ignorez|ignora|ignore)\b[^.\n]{0,40}\binstru[ck]\w+"
    r"|\bassistant [ab] (?:is|was|gave|wins|provides?d?)\b[^.\n]{0,30}\b(?:better|best|superior)\b"
    r"|\b(?:impartial|fair|dear) (?:judge|evaluator|grader)\b"
    r"|\b(?:judge|evaluator|grader)s?\b[^.\n]{0,30}\b(?:must|should|please|have to)\b"
    r"|\b(?:final )?verdict\s*(?:is|:|=)"
    r"|\b(?:choose|select|prefer|vote for|rate) (?:this|my) (?:answer|response)\b"
    r"|(?:指示|命令|指令|指示事項)を?[^。\n]{0,10}(?:無視|忘れ)"
    r"|(?:忽略|无视|無視)[^。\n]{0,20}(?:指令|指示|说明|說明)",
    re.IGNORECASE,
)
_FAKES_DELIMITER = re.compile(
    r"\[\s{0,3}the (?:start|end) of\b"
    r"|\[\s{0,3}(?:user question|reference documents)\s{0,3}\]"
    r"|<\|[a-z_]{1,40}\|>|<</?SYS>>|\[/?INST\]|</?s>"
    r"|</?(?:answer|assistant|system|user|question|documents?)[_ ]?[ab]?>"
    r"|^#{2,4}\s{0,3}(?:instruction|system|user|assistant)\b",
    re.IGNORECASE | re.MULTILINE,
)


def answer_flags(answer: str) -> tuple[str, ...]:
    """Say what in an answer looks like an attempt to steer the judge.

    A flag is a hint for people, with false alarms: an honest answer may speak of judges.

    Returns:
        Those of ``states_verdict`` (``[[A]]`` and the like), ``addresses_judge`` ("ignore the
        above") and ``fakes_delimiter`` (text that looks like the prompt's own) that hold.
    """
    found = {
        STATES_VERDICT: holds_verdict(answer),
        ADDRESSES_JUDGE: _ADDRESSES_JUDGE.search(answer) is not None,
        FAKES_DELIMITER: _FAKES_DELIMITER.search(answer) is not None,
    }
    return tuple(flag for flag, holds in found.items() if holds)


def side_flags(answer_a: str, answer_b: str) -> tuple[str, ...]:
    """Return the flags of both answers, each with its side before it: ``a:states_verdict``."""
    sides = (("a", answer_a), ("b", answer_b))
    return tuple(f"{side}:{flag}" for side, answer in sides for flag in answer_flags(answer))
