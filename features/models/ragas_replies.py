"""What replies say of statements, verdicts, questions and sentences of a context (Ragas)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz.fuzz import ratio

from arena.llm.replies import Completion, UnparsableError
from arena.text.quotations import own_matches

INSUFFICIENT = "insufficient information"
NONE = "none"
ALIKE = 90.0
"""Percent of characters that must agree for a line to count as a copy of a sentence."""

_ITEM = re.compile(
    r"(?:[-*•]|\(?\d{1,3}[.):]|statement\s{0,3}\d{0,3}\s{0,3}:)\s{1,8}", re.IGNORECASE
)
_MARKS = re.compile(r"[*_`\"“”]")
_VERDICT = re.compile(
    r"^\W{0,6}(?:statement\W{1,3})?(\d{1,3})\W{1,6}(?:verdict\W{1,4})?"
    r"(yes|no)(?=\W{0,6}$|[*_]{0,3}\s?[.,;:(–—-])",
    re.IGNORECASE | re.MULTILINE,
)
_FINAL = re.compile(r"final\s{1,3}verdicts?", re.IGNORECASE)
_LABELED_VERDICT = re.compile(r"\bverdict\b\W{1,6}(yes|no)\b", re.IGNORECASE)
_HEADING = re.compile(r"\W{0,4}statements?\W{0,4}:\W{0,4}", re.IGNORECASE)
_YES_OR_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_LABEL = re.compile(r"\W{0,4}question\s{0,3}\d{0,3}\s{0,3}:\W{0,4}", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def read_statements(completion: Completion) -> list[str]:
    """Read the statements of a reply: its numbered or bulleted lines, or all lines without any.

    Returns:
        Statements; none if the reply says that there are none.

    Raises:
        UnparsableError: If the reply was cut off or holds no words.
    """
    lines = [line for line in _lines(read_whole(completion)) if not _HEADING.fullmatch(line)]
    if [_folded(line) for line in lines] == [NONE]:
        return []
    items = [line[found.end() :] for line in lines if (found := _ITEM.match(line))]
    statements = [text.strip() for text in items or lines if _WORD.search(text)]
    if not statements:
        raise UnparsableError("the reply holds no statement")
    return statements


def read_whole(completion: Completion) -> str:
    """Return the reply without thoughts.

    Raises:
        UnparsableError: If it was cut off.
    """
    if completion.finish_reason == "length":
        raise UnparsableError("the reply was cut off")
    return completion.answer


def find_verdicts(text: str, count: int) -> list[bool]:
    """Find a verdict for each of so many statements.

    The last line of a number that says Yes or No counts; or else, after the words FINAL VERDICTS,
    as many Yes and No as there are statements; or else as many times ``Verdict: Yes`` or ``No``.

    Raises:
        UnparsableError: If a statement has no verdict.
    """
    final = own_matches(_FINAL, text)
    stated = text[final[-1].end() :] if final else text
    found = {int(match[1]): match[2] for match in own_matches(_VERDICT, stated)}
    if set(range(1, count + 1)) <= set(found):
        verdicts = [found[number] for number in range(1, count + 1)]
    else:
        labeled = own_matches(_LABELED_VERDICT, stated)
        verdicts = _YES_OR_NO.findall(stated) if final else [match[1] for match in labeled]
        if found or len(verdicts) != count:
            raise UnparsableError(f"the reply has no verdict on each of {count} statements")
    return [verdict.casefold() == "yes" for verdict in verdicts]


def read_yes_or_no(completion: Completion) -> bool:
    """Read the last ``Verdict: Yes`` or ``No`` of a reply.

    Raises:
        UnparsableError: If there is none, or the reply was cut off.
    """
    found = own_matches(_LABELED_VERDICT, read_whole(completion))
    if not found:
        raise UnparsableError("the reply has no verdict")
    return bool(found[-1][1].casefold() == "yes")


def read_question(completion: Completion) -> str:
    """Read the question of a reply: its first line with words, without a label.

    Raises:
        UnparsableError: If there is none.
    """
    for line in _lines(completion.answer):
        question = _MARKS.sub("", _LABEL.sub("", line, count=1) if _LABEL.match(line) else line)
        if _WORD.search(question):
            return question.strip()
    raise UnparsableError("the reply holds no question")


def count_copied(text: str, sentences: Sequence[str]) -> int:
    """Count the sentences of the context that a reply copies.

    A sentence is copied if its words stand in the reply in a row, or a line of it is nearly the
    same. What the reply says besides is no sentence of the context, and does not count.

    Returns:
        0 if the reply copies none and says that the information is insufficient.

    Raises:
        UnparsableError: If the reply copies nothing and does not say so.
    """
    lines = [words for line in _lines(text) if (words := _folded(line))]
    whole = f" {' '.join(lines)} "
    copied = sum(
        f" {sentence} " in whole
        or any(ratio(sentence, line, score_cutoff=ALIKE) >= ALIKE for line in lines)
        for sentence in filter(None, map(_folded, sentences))
    )
    if not copied and INSUFFICIENT not in whole:
        raise UnparsableError("the reply copies no sentence of the context")
    return copied


def _lines(text: str) -> list[str]:
    return [line for part in text.splitlines() if (line := part.strip())]


def _folded(text: str) -> str:
    """Return the words of a text, case-folded, with one space between them."""
    return " ".join(_WORD.findall(text.casefold()))
