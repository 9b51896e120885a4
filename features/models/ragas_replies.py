"""Reading replies to Ragas's prompts: statements, verdicts, questions, copied sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extractOne

from arena.llm.json_replies import json_list
from arena.llm.quotations import own_matches
from arena.llm.replies import Completion, UnparsableError

ALIKE = 90.0
"""Percent of characters that must agree for a line to count as a copy of a sentence."""

_ITEM = re.compile(
    r"(?:[-*•]|\(?\d{1,3}[.):]|\|\s?\d{1,3}\s{0,8}\||statement\s{0,3}\d{0,3}\s{0,3}:)\s{1,8}",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[*_`\"“”]")
_VERDICT = re.compile(
    r"^\W{0,6}(?:statement\W{1,3})?(\d{1,3})\W{1,6}(?:verdict\W{1,4})?"
    r"(yes|no)(?=\W{0,6}$|[*_]{0,3}\s?[.,;:(–—-])",
    re.IGNORECASE | re.MULTILINE,
)
_FINAL = re.compile(r"final\s{1,3}verdicts?", re.IGNORECASE)
_LABELED_VERDICT = re.compile(r"\bverdict\b\W{1,6}(yes|no)\b", re.IGNORECASE)
_HEADING = re.compile(r"[^\n]{1,120}[:：]\W{0,4}")
_YES_OR_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_LABEL = re.compile(r"\W{0,4}question\s{0,3}\d{0,3}\s{0,3}:\W{0,4}", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def read_statements(completion: Completion) -> list[str]:
    """Read a reply's statements: a JSON list, list items, or lines."""
    reply = read_whole(completion)
    texts = json_list(reply, "statements")
    if texts is None:
        lines = _lines(reply)
        if lines and _HEADING.fullmatch(lines[0]):
            lines = lines[1:]
        if lines and _folded(lines[-1]) == "none":
            return []
        marked = [line for line in lines if _ITEM.match(line)]
        texts = [_ITEM.sub("", line, count=1) for line in marked] if marked else lines
    if not all(isinstance(text, str) for text in texts):
        raise UnparsableError("the reply's JSON holds something that is no statement")
    statements = [text.strip(" |") for text in texts if _WORD.search(text)]
    if not statements:
        raise UnparsableError("the reply holds no statement")
    return statements


def read_whole(completion: Completion) -> str:
    """Return the reply without thoughts."""
    if completion.finish_reason == "length":
        raise UnparsableError("the reply was cut off")
    return completion.answer


def find_verdicts(text: str, count: int) -> list[bool]:
    """Find the verdicts on ``count`` statements.

    The last line of a number with Yes or No counts; else, after FINAL VERDICTS, as many Yes and No
    as statements; else as many ``Verdict: Yes`` or ``No``.
    """
    final = own_matches(_FINAL, text)
    if final:
        text = text[final[-1].end() :]
    numbered = {int(match[1]): match[2] for match in own_matches(_VERDICT, text)}
    if numbered.keys() >= set(range(1, count + 1)):
        verdicts = [numbered[number] for number in range(1, count + 1)]
    else:
        if final:
            verdicts = _YES_OR_NO.findall(text)
        else:
            verdicts = [match[1] for match in own_matches(_LABELED_VERDICT, text)]
        # Numbers of some statements only leave open which statements the others are on.
        if numbered or len(verdicts) != count:
            raise UnparsableError(f"the reply has no verdict on each of {count} statements")
    return [verdict.casefold() == "yes" for verdict in verdicts]


def read_question(completion: Completion) -> str:
    """Read a reply's question: its first line, without a label."""
    for line in _lines(completion.answer):
        label = _LABEL.match(line)
        question = _MARKS.sub("", line[label.end() :] if label else line)
        if _WORD.search(question):
            return question.strip()
    raise UnparsableError("the reply holds no question")


def count_copied(text: str, sentences: Sequence[str]) -> int:
    """Count the context's sentences that a reply copies, in words or nearly.

    Raises:
        UnparsableError: If it copies none, and does not call the information insufficient.
    """
    lines = [line for line in map(_folded, _lines(text)) if line]
    reply_words = f" {' '.join(lines)} "
    n_copied = 0
    for sentence in map(_folded, sentences):
        if not sentence:
            continue
        is_contained = f" {sentence} " in reply_words
        if is_contained or extractOne(sentence, lines, scorer=ratio, score_cutoff=ALIKE):
            n_copied += 1
    if not n_copied and "insufficient information" not in reply_words:
        raise UnparsableError("the reply copies no sentence of the context")
    return n_copied


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
