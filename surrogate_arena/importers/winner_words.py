"""Words for the winner of a pair, as people and programs write them."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

NO_VERDICT_WORDS = frozenset(
    {"", "-", "nan", "none", "null", "na", "n/a", "<na>", "error", "$error$"}
)
"""Texts of cells without a verdict, in lower case."""
NEITHER = "both bad"
"""Meaning of words for a tie of two bad answers."""
NO_VERDICT = "nobody"
"""Meaning of words for a missing verdict."""
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
    "modell",
    "antwort",
    "modèle",
    "réponse",
    "modelo",
    "respuesta",
)
_FIRST = ("a", "1", "left", "first", "one", "l", "links", "gauche", "izquierda", "左")
_SECOND = ("b", "2", "right", "second", "two", "r", "rechts", "droite", "derecha", "右")
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
    "unentschieden",
    "gleichstand",
    "égalité",
    "empate",
    "pareggio",
    "引き分け",
    "平局",
    "1/2 1/2",
    "½ ½",
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
    "can t choose",
    "cannot choose",
    "can t decide",
    "cannot decide",
    "undecided",
    "unsure",
    "not sure",
    "don t know",
)
_DEGREES = (
    "",
    "much ",
    "far ",
    "clearly ",
    "significantly ",
    "slightly ",
    "a bit ",
    "somewhat ",
    "strongly ",
)
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
_SEPARATORS = re.compile(r"[\s_\-().,:;!*\[\]'’\"]+")
COMPARISON = re.compile(r"(.+?)\s*(>{1,3}|<{1,3}|~?={1,2}|≈)\s*(.+)")
"""Two sides and which is better, as in Arena-Hard's ``A>>B`` and ``A=B``."""


@lru_cache(maxsize=1024)  # a column repeats a few words
def word_of(text: str) -> str | None:
    """Return the meaning of a word for the winner; None if it has none.

    Returns:
        ``a``, ``b``, ``tie``, ``both bad``; or ``nobody`` for a word for a missing verdict.
    """
    words = _bare_words(text)
    comparison = COMPARISON.fullmatch(words)
    if comparison is None:
        return _WORDS.get(words)
    first, sign, second = comparison.groups()
    sides = (_WORDS.get(first.strip()), _WORDS.get(second.strip()))
    if set(sides) != {"a", "b"}:
        return None
    better = better_side(sign)
    return "tie" if better is None else sides[better]


def _bare_words(text: str) -> str:
    """Return words in lower case, without emoji, brackets and marks."""
    visible = []
    for character in text.casefold():
        # Emoji, their modifiers, and characters without width.
        if unicodedata.category(character) not in ("So", "Sk", "Cf", "Mn"):
            visible.append(character)
    return _SEPARATORS.sub(" ", "".join(visible)).strip()


def better_side(sign: str) -> int | None:
    """Return the index of the better side of a comparison, 0 or 1; None if they are equal."""
    return {">": 0, "<": 1}.get(sign[0])


def _all_words() -> dict[str, str]:
    words = dict.fromkeys(_TIES, "tie")
    words.update(dict.fromkeys(_BAD, NEITHER))
    words.update(dict.fromkeys(_NO_VERDICTS, NO_VERDICT))
    words.update({"vote a": "a", "vote b": "b", "vote left": "a", "vote right": "b"})
    words.update({">": "a", "<": "b", "=": "tie"})
    words.update({"1 0": "a", "0 1": "b"})  # points of both sides, as in chess
    # Of the first side, against a baseline or an opponent.
    words.update(dict.fromkeys(("win", "wins", "won"), "a"))
    words.update(dict.fromkeys(("loss", "lose", "loses", "lost"), "b"))
    marks = {**dict.fromkeys(_FIRST, "a"), **dict.fromkeys(_SECOND, "b")}
    for mark, side in marks.items():
        for end in _BETTER:
            for noun in _SIDE_NOUNS:
                words[f"{noun} {mark}{end}"] = side
                words[f"{noun}{mark}{end}"] = side
                words[f"{mark} {noun}{end}"] = side
            # "1 vote" may count votes.
            if end.strip() != "vote" or mark in ("a", "b", "left", "right"):
                words[f"{mark}{end}"] = side
        for degree in _DEGREES:
            words[f"{degree}prefer {mark}"] = side
            for noun in _SIDE_NOUNS:
                words[f"{degree}prefer {noun} {mark}"] = side
    # Bare numbers are read by the scale of their column.
    del words["1"]
    del words["2"]
    return words


_WORDS = _all_words()
