"""Fluency without a model: repetition, truncation, foreign scripts, leftovers of markup; length."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from arena.text.answers import ANSWER_WORDS, REASON_WORDS
from arena.text.thoughts import answer_start, without_thoughts
from features.declare.feature import THIS_PACKAGE, Value, declared
from features.declare.sample import EMPTY_ANSWER, NO_FULL_STOPS, NO_LETTERS, Sample
from features.text.sentences import breaks_off
from features.text.tokens import expected_scripts, foreign_share, tokens_per_word, word_ngrams

_SECTION_WORDS = "|".join([*ANSWER_WORDS, *REASON_WORDS])
_PROMPT_WORDS = "instruction|input|response|指示|入力|応答|指令|输入|输出|回复"
_HTML = (
    "a|b|big|blockquote|body|br|center|code|div|em|font|h[1-6]|head|hr|html|i|img|li|ol|p|pre|script"
    "|small|span|strong|style|sub|sup|table|tbody|td|th|thead|tr|u|ul"
)
_HEADING = rf"[#＃]{{0,5}}[ \t]{{0,3}}(?:(?:{_SECTION_WORDS})(?!\w)|(?:{_PROMPT_WORDS})[:：])"
# Every repetition is bounded, so that no input takes more than linear time. Each alternative opens
# with one character, so that ``re`` skips to the next of them.
_MARKERS = re.compile(
    r"<\|[a-z_0-9]{1,40}\|>"  # <|im_end|>, <|eot_id|>
    r"|</?(?:s|bos|eos|pad|unk|think|start_of_turn|end_of_turn)>"
    r"|\[/?INST\]|<</?SYS>>|<0x[0-9A-F]{2}>"
    rf"|#{_HEADING}|＃{_HEADING}"
    r"|\n(?:human|user|assistant|system):"
    rf"|</?(?:{_HTML})(?:[ \t][^<>]{{0,200}})?/?>"
    r"|&(?:nbsp|amp|lt|gt|quot|apos|#\d{1,6}|#x[0-9a-f]{1,6});"
    r"|\\u[0-9a-f]{4}|\\n(?:\\n)*(?=[\s\d\"'*#-]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_UNREADABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls other than tab and line breaks
    "\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffd-\uffff"
    "\U000f0000-\U0010ffff]"
)


def _is_json(text: str) -> bool:
    bare = text.strip()
    if not bare or (bare[0], bare[-1]) not in {("{", "}"), ("[", "]")}:
        return False
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


@declared(source="after Welleck et al. 2020, seq-rep-4", needs=("answer",))
def repetition(sample: Sample) -> Value:
    """Share of the words in a run of four words that the answer has used before.

    A run is eight where words are mostly characters, syllables or graphemes (Chinese, Japanese,
    Korean, Thai). Case does not count. Near 1 for an answer that loops.
    """
    words = sample.folded_words
    if not words:
        return EMPTY_ANSWER
    # Where characters or syllables are cut as words, four of them may be a single word or name.
    run_length = 4 * tokens_per_word(words)
    return sum(_is_repeated(words, run_length)) / len(words)


@declared(source=THIS_PACKAGE, needs=("answer",))
def truncation(sample: Sample) -> Value:
    """1 if the answer ends without a full stop or a similar mark, else 0.

    A bare phrase (``Paris``) ends without it too. Thai and Lao have no such mark.
    """
    if not sample.text:
        return EMPTY_ANSWER
    is_broken_off = breaks_off(sample.text)
    if is_broken_off is None:
        return NO_FULL_STOPS
    return float(is_broken_off)


@declared(source=THIS_PACKAGE, needs=("answer",))
def script_mixing(sample: Sample) -> Value:
    """Share of the letters in scripts other than the language's and Latin.

    The question's scripts are allowed, too.
    """
    question = sample.question
    scripts = sample.memo.get(
        ("scripts", question.language, question.query),
        lambda: expected_scripts(question.language, question.query),
    )
    if not any(map(str.isalpha, sample.text)):
        return NO_LETTERS
    return foreign_share(sample.text, scripts)


@declared(source=THIS_PACKAGE, needs=("answer",))
def markup_artifacts(sample: Sample) -> Value:
    r"""Number of leftovers of prompts, chat templates and markup.

    One for each marker of a template (``<|im_end|>``, ``[INST]``, ``</s>``, ``<think>``), heading
    of the prompt (``##Answer``), opening role (``Assistant:``), HTML tag or entity, byte or line
    break spelled out (``<0x0A>``, ``\n``); one each for unclosed bold and code; one if the whole
    text is JSON. Thoughts before the answer do not count.
    """
    # Tokens at the end are no part of the answer either, but its readers see them.
    answer = without_thoughts(sample.output)
    trailing = sample.output[answer_start(sample.output) + len(answer) :]
    markers = sum(len(_MARKERS.findall(f"\n{part}")) for part in (sample.text, trailing))
    # An odd count leaves one that opens and is never closed.
    unpaired = sum(sample.text.count(mark) % 2 for mark in ("```", "**"))
    return float(markers + unpaired + _is_json(sample.text))


@declared(source=THIS_PACKAGE, needs=("answer",))
def unreadable_characters(sample: Sample) -> Value:
    """Share of the characters that are control, private or replacement characters."""
    if not sample.text:
        return EMPTY_ANSWER
    return len(_UNREADABLE.findall(sample.text)) / len(sample.text)


def _is_repeated(words: Sequence[str], run_length: int) -> list[bool]:
    is_repeated = [False] * len(words)
    earlier_runs: set[tuple[str, ...]] = set()
    for start, run in enumerate(word_ngrams(words, run_length)):
        if run in earlier_runs:
            is_repeated[start : start + run_length] = [True] * run_length
        earlier_runs.add(run)
    return is_repeated


@declared(source=THIS_PACKAGE, needs=("answer",))
def answer_length(sample: Sample) -> Value:
    """Words of the answer: characters in Chinese and Japanese, syllables in Korean."""
    return float(len(sample.folded_words))
