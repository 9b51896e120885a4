"""Which of several values in a reply its writer states as the result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

OPENING = r"\\{0,2}[\[［【]\s{0,3}\\{0,2}[\[［【]"
CLOSING = r"\\{0,2}[\]］】]\s{0,3}\\{0,2}[\]］】]"
"""Double brackets around a value, as prompts ask for them and as models write them."""
INSIDE = r"[\s\"'“”*`\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]{0,5}"
"""Marks between these brackets and the value: quotation marks, emphasis, directions of writing."""

LONGEST_CLAUSE = 80
LONGEST_LABEL = 40

_DOUBT = re.compile(
    r"\A\W{0,4}\?|\b(?:but|wait|however|hmm+|let me|let['’]s|actually|alternatively|maybe|perhaps"
    r"|on the other hand|double-?check|reconsider)\b|等等|但是|不过|しかし|でも",
    re.IGNORECASE,
)
"""Words behind a value that show that the writer still thinks about it."""
_NAMED_AFTER = re.compile(
    r"[ \t*`\])}］】]*(?:if (?!I\b)|(?:would|could|might)\s"
    r"(?:have\b|need\b|require\b|(?!be (?:my|the)\b)[^.!?\n]{0,80}?\b(?:if (?!I\b)|had\b|were\b)))",
    re.IGNORECASE,
)
"""``[[B]] would have won``, ``a verdict of [[B]] would be fair if``, ``[[B]] if``."""
_NAMED_BEFORE = re.compile(
    r"(?:\bto (?:get|earn|reach|deserve|merit)|\b(?:would|could|might) have (?:been|had|given|got"
    r"|earned|said|chosen|picked|preferred))\b[^.;:!?\n]{0,40}\Z"
    r"|\bif (?!I\b)[^.;!?\n]{0,60}\Z"
    r"|(?:\bnot(?: an?| the)?|(?<!other )\bthan|\blike|\bsuch as|\be\.g\.)[\s*`]*\Z"
    r"|[(（](?![^()（）\n]*(?:verdict|final|rating|mark|score))[^()（）\n]*\w[^()（）\n]*\Z",
    re.IGNORECASE,
)
"""``To get [[5]]``, ``if length counted: [[B]]``, ``not [[5]]``, ``(so 40% [[B]])``."""
_RATING_NEEDS = re.compile(
    r"[\s*`\])}］】]*(?:would|could|might|needs?|requires?|calls? for)\b", re.IGNORECASE
)
_IS_SCALE = re.compile(r"[\s*`]*(?:/|out of|of|von|sur|de|из)[\s*`]*", re.IGNORECASE)
"""Between a value and the highest one that is possible, as in ``[[4]] out of [[5]]``."""
_ENDS = re.compile(
    r"(?:\s?/\s?5|\s(?:out )?of 5)?[\])}］】\s*_\"'”`]*?"
    r"(?:\n|\Z|[.,;!?(#|。！？、，；،؛।]"
    r"|(?:because|since|as|given|explanation|justification|reason)\b)",
    re.IGNORECASE,
)
"""What follows a value that is not the beginning of a description, as in ``[[5]]: complete``."""
_LABEL = re.compile(rf"[^.,;!?。！？、，；\n]{{0,{LONGEST_LABEL}}}")
_OVERALL = re.compile(
    r"overall|final|total|mark|rating|score|grade|verdict|judge?ment|result|conclusion|reflection"
    r"|gesamt|bewertung|urteil|général|general|global|nota|оценка|итог|общ"
    r"|总|總|最终|最終|総合|評価|评分|評分|종합|최종|النهائ|الإجمال|الدرجة|कुल|अंतिम|अंक",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


def still_weighs(text: str) -> bool:
    """Return whether words behind a value show that a reply was cut off before its result."""
    return _DOUBT.search(text) is not None


def is_labeled(text: str, match: re.Match[str]) -> bool:
    """Return whether nothing but a label stands before a value in its line."""
    return _label(text, match) is not None


def heads_line(text: str, match: re.Match[str]) -> bool:
    """Return whether a value begins its line, or stands behind a word for the whole."""
    label = _label(text, match)
    return label is not None and (not label or _OVERALL.search(label) is not None)


def is_only_named(text: str, match: re.Match[str]) -> bool:
    """Return whether a value is named without being stated: as the loser, or under conditions."""
    before = text[max(0, match.start() - LONGEST_CLAUSE) : match.start()]
    if _NAMED_BEFORE.search(before):
        return True
    return _NAMED_AFTER.match(text, match.end()) is not None


def stated_rating(matches: Sequence[re.Match[str]], group: int | str, text: str) -> re.Match[str]:
    """Return the rating that a writer states, of one or more ratings in a text.

    The last one counts where it ends its sentence, unless it rates one criterion and another one is
    the overall rating. Ratings that answers could have had, the upper end of a scale and lines that
    describe a scale are none.

    Args:
        matches: At least one, in their order.
        group: The group of the rating's number.
        text: The text.

    Raises:
        ValueError: If several ratings differ, and none stands out.
    """
    ratings = _without_scales(matches, text)
    likely_ratings = [match for match in ratings if not _is_no_rating(text, match)] or ratings
    last = likely_ratings[-1]
    if len({match[group] for match in ratings}) == 1:
        return last
    apart = [match for match in likely_ratings if is_labeled(text, match) and _ends(text, match)]
    if last not in apart:
        if _ends(text, last) and last is ratings[-1]:
            return last
        if not apart:
            raise ValueError("the reply states several ratings, and not which of them counts")
    return _overall(apart, text)


def _is_no_rating(text: str, match: re.Match[str]) -> bool:
    needs = _RATING_NEEDS.match(text, match.end()) is not None
    return needs or is_only_named(text, match)


def _without_scales(matches: Sequence[re.Match[str]], text: str) -> list[re.Match[str]]:
    """Leave out the upper end of a scale, as in ``[[4]] out of [[5]]``."""
    left = [matches[0]]
    for first, second in pairwise(matches):
        if not _IS_SCALE.fullmatch(text, first.end(), second.start()):
            left.append(second)
    return left


def _ends(text: str, match: re.Match[str]) -> bool:
    return _ENDS.match(text, match.end()) is not None


def _label(text: str, match: re.Match[str]) -> str | None:
    """Return the words before a match in its line; None if they are more than a label."""
    line_start = text.rfind("\n", 0, match.start()) + 1
    label = _LABEL.fullmatch(text, line_start, match.start())
    return None if label is None else " ".join(_WORD.findall(label[0]))


def _overall(apart: Sequence[re.Match[str]], text: str) -> re.Match[str]:
    """Return the last of the ratings that stand apart, or the overall one beside criteria."""
    labels = [_label(text, match) or "" for match in apart]
    if _OVERALL.search(labels[-1]) or not labels[-1]:
        return apart[-1]
    for match, label in zip(apart, labels, strict=True):
        if _OVERALL.search(label):
            return match
    if len(set(labels) - {""}) < 2:
        return apart[-1]
    unlabeled = [match for match, label in zip(apart, labels, strict=True) if not label]
    if not unlabeled:
        raise ValueError(
            "the reply rates several criteria, and none of the ratings is the overall one"
        )
    return unlabeled[-1]
