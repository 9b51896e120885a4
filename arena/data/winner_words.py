"""Words for the winner of a pair, as people and programs write them."""

from __future__ import annotations

import re
import unicodedata

NO_VERDICT_WORDS = frozenset(
    {"", "-", "nan", "none", "null", "na", "n/a", "<na>", "error", "$error$"}
)
"""What stands where there is no verdict, in lower case."""

NEITHER = "both bad"
NO_VERDICT = "nobody"
"""What words mean that say that no verdict was given."""
_SIDE_NOUNS = (
    "model",
    "system",
    "agent",
    "assistant",
    "answer",
    "response",
    "output",
    "side",
    "option",
    "candidate",
    "choice",
    "chatbot",
    "reply",
    "text",
    "player",
)
_FIRST = ("a", "1", "left", "first", "one")
_SECOND = ("b", "2", "right", "second", "two")
_MARKS_OF_VOTES = ("a", "b", "left", "right")
_TIES = (
    "tie",
    "ties",
    "tied",
    "draw",
    "c",
    "equal",
    "equally good",
    "same",
    "no preference",
    "both",
    "both good",
    "both equal",
    "tie both good",
    "tie inconsistent",
    "inconsistent",
    "both are good",
    "both are equal",
    "both equally good",
    "both are equally good",
    "about the same",
    "tie vote",
    "tievote",
)
_BAD = (
    "both bad",
    "bothbad",
    "tie both bad",
    "tie bothbad",
    "neither",
    "neither is good",
    "both are bad",
    "both poor",
    "neither good",
    "equally bad",
    "both equally bad",
    "both are equally bad",
    "bothbad vote",
    "both bad vote",
)
_NO_VERDICTS = (
    "no winner",
    "no verdict",
    "no vote",
    "skip",
    "skipped",
    "invalid",
    "unknown",
    "abstain",
    "abstained",
    "failed",
)
_DEGREES = ("", "much ", "far ", "clearly ", "significantly ", "slightly ", "a bit ", "somewhat ")
_BETTER = (
    "",
    " wins",
    " win",
    " won",
    " preferred",
    " is preferred",
    " vote",
    "vote",
    *(f" {degree}better" for degree in _DEGREES),
    *(f" is {degree}better" for degree in _DEGREES),
)
_SEPARATORS = re.compile(r"[\s_\-().,:;!*\[\]'\"]+")
COMPARISON = re.compile(r"(.+?)\s*(>{1,3}|<{1,3}|~?={1,2}|≈)\s*(.+)")
"""Two sides and which is better, as in Arena-Hard's ``A>>B`` and ``A=B``."""
_UNSEEN_CATEGORIES = ("So", "Sk", "Cf", "Mn")
"""Emoji, their modifiers, and characters without width."""


def word_of(text: str) -> str | None:
    """Return what a word of the field means; None where it is none.

    Returns:
        ``a``, ``b``, ``tie``, ``both bad``; or ``nobody`` for a word for a verdict that is missing.
    """
    bare = _bare_words(text)
    compared = COMPARISON.fullmatch(bare)
    if compared is None:
        return _WORDS.get(bare)
    first, sign, second = compared.groups()
    meant = (_WORDS.get(first.strip()), _WORDS.get(second.strip()))
    if sorted(map(str, meant)) != ["a", "b"]:
        return None
    better = better_place(sign)
    return "tie" if better is None else meant[better]


def _bare_words(text: str) -> str:
    """Return words in lower case, without emoji, brackets, and what else says nothing."""
    seen = "".join(
        character
        for character in text.casefold()
        if unicodedata.category(character) not in _UNSEEN_CATEGORIES
    )
    return _SEPARATORS.sub(" ", seen).strip()


def better_place(sign: str) -> int | None:
    """Return the place of the better one of two, 0 or 1; None where they are equal."""
    return {">": 0, "<": 1}.get(sign[0])


def _all_words() -> dict[str, str]:
    words = dict.fromkeys(_TIES, "tie") | dict.fromkeys(_BAD, NEITHER)
    words |= dict.fromkeys(_NO_VERDICTS, NO_VERDICT)
    words |= {"vote a": "a", "vote b": "b", "vote left": "a", "vote right": "b"}
    for side, marks in (("a", _FIRST), ("b", _SECOND)):
        for mark in marks:
            for end in _BETTER:
                words |= {f"{noun} {mark}{end}": side for noun in _SIDE_NOUNS}
                words |= {f"{noun}{mark}{end}": side for noun in _SIDE_NOUNS}
                if end.strip() != "vote" or mark in _MARKS_OF_VOTES:  # a number may count votes
                    words[f"{mark}{end}"] = side
                words |= {f"{mark} {noun}{end}": side for noun in _SIDE_NOUNS}
    for number in ("1", "2"):  # bare numbers are read by their scale
        del words[number]
    return words


_WORDS = _all_words()
