"""Verdicts on pairs, as a judge's reply states them or scores imply them; orders of answers."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Self

from scipy.special import expit

from arena.data.schema import Winner, likeliest_winner
from arena.llm.quotations import own_matches
from arena.llm.replies import Completion, TokenLogprobs, UnparsableError, candidate_masses
from arena.llm.statements import (
    CLOSING,
    INSIDE,
    LONGEST_LABEL,
    OPENING,
    is_only_named,
    still_weighs,
)
from arena.text.thoughts import answer_start, without_thoughts

WINNER_OF_LETTER: MappingProxyType[str, Winner] = MappingProxyType({"A": "a", "B": "b", "C": "tie"})

REPEATED_VERDICT = "repeated_verdict"
CONTRADICTORY_VERDICTS = "contradictory_verdicts"
CUT_OFF = "cut_off"
DOUBTFUL = "letters_unlikely"
"""Flag of a verdict where the model would rather have written something else than a letter."""
DOUBTFUL_MASS = 0.5
LONGEST_REASON = 2000
"""Characters of a reason that are kept with a verdict; the store has the whole reply."""

_SIDE = (
    r"(?:assistant|answer|response|reply|model|system|asistente|assistente?|ассистент|アシスタント"
    r"|回答|助手|어시스턴트)\s?"
)
_VERDICT = re.compile(
    rf"{OPENING}{INSIDE}(?:(?:{_SIDE})?(?P<side>[ABＡＢ])(?: is better| wins)?"
    rf"|(?:[CＣ](?:\s?[:(–-]\s?tie\)?)?|tie)){INSIDE}{CLOSING}",
    re.IGNORECASE,
)
# The format that the prompt asks for is not a verdict, where a judge repeats it.
_FORMAT = re.compile(
    r"\[\[A\]\]\W{0,3} if\b[^\n]{1,80}?\[\[B\]\]\W{0,3} if\b[^\n]{1,80}?"
    r"\[\[C\]\]\W{0,3} (?:for|if)\b",
    re.IGNORECASE,
)
_BEATS = re.compile(
    r"[\W_]*(?:(?:is|was|wins|won)\s)?(?:(?:clearly|slightly|much|far|strictly)\s)?"
    r"(?:(?:better|stronger|superior|preferable|preferred|more \w{1,20})\s)?"
    r"(?:than|over|rather than|instead of|against|beats|outperforms|(?:but |and )?not"
    r"|(?<=superior\s)to|(?<=preferable\s)to|(?<=preferred\s)to)[\W_]*"
    r"|[\s*]*>{1,3}[\s*]*|\s*(?:胜过|优于|好于)\s*",
    re.IGNORECASE,
)
"""Words between two verdicts by which the second one is the loser."""
_OR = re.compile(
    r"[\s*`]*(?:(?:,|、|/|=|\bn?or\b|\band\b|\bvs\b\.?|\bversus\b|\boder\b|\bou\b|或|和)[\s*`]*){1,3}",
    re.IGNORECASE,
)
"""Words between two verdicts by which both are possible."""
_LOSES = re.compile(
    r"[\s*`]*(?:(?:is|was|would be)\s(?:(?:clearly|much|far)\s)?"
    r"(?:worse|wrong|incorrect|weaker|inferior|not|too|less)\b"
    r"|(?:lacks|misses|fails|loses|needs|would need|does(?: not|n['’]t))\b|❌)",
    re.IGNORECASE,
)
"""Words behind a verdict by which it is the loser."""
_HEADING = re.compile(r"[*`]{0,3}\s?[:：]")
_SIGN = r"\s{0,3}(?:>{1,3}|≻|&gt;|=)\s{0,3}"
_NUMBER = rf"(?:{_SIDE})?\d{{1,3}}"
_ORDER = re.compile(
    rf"{OPENING}{INSIDE}(?P<steps>{_NUMBER}(?:{_SIGN}{_NUMBER})+){INSIDE}{CLOSING}", re.IGNORECASE
)
_NEARLY_ORDER = re.compile(
    rf"\[{{0,2}}\s?\d{{1,3}}\s?\]{{0,2}}(?:{_SIGN}\[{{0,2}}\s?\d{{1,3}}\s?\]{{0,2}})+"
)
_OTHER_ORDER = re.compile(
    rf"{OPENING}(?=[^\[\]\n]{{0,200}}\d)(?=[^\[\]\n]{{0,200}}[<>=≥≤≻≈~])[^\[\]\n]{{3,200}}{CLOSING}"
)
"""An order with other signs or names, parts of which must not be read as the whole."""
_STATED_ORDER = re.compile(r"(?:[\W_]*|.*(?:[:：]|\b(?:is|be|as)\b)[\W_]*)", re.IGNORECASE)
"""The line before an order of numbers without brackets that states it."""
_STEP = re.compile(rf"({_SIGN})?\[{{0,2}}\s?(?:{_SIDE})?(\d{{1,3}})", re.IGNORECASE)
_QUOTED_IN_LIST = re.compile(
    r"\[The Start of Answer (\d{1,3}) ([^\]\n]{0,40})\].*?\[The End of Answer \1 \2\]", re.DOTALL
)
_ORDER_FORMAT = re.compile(r'"\[\[2 > 1 = 3\]\]" says')


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """A verdict on a pair.

    Attributes:
        winner: The last one, if the reply states several.
        shares: Probability of each verdict, if log-probabilities or scores tell it.
        flags: Peculiarities of the reply, such as ``cut_off``.
        reason: The judge's text before its verdict.
    """

    winner: Winner
    shares: dict[Winner, float] | None = None
    flags: tuple[str, ...] = ()
    reason: str = ""

    @classmethod
    def of_scores(
        cls, score_a: int, score_b: int, log_odds: float | None, reason: str = ""
    ) -> Self:
        """Return the verdict that follows from two scores: the higher one wins, equal ones tie.

        Args:
            score_a: Score of side A.
            score_b: Score of side B.
            log_odds: Logits of a side whose score is higher by 1; None leaves the probabilities
                unknown.
            reason: See the class.
        """
        if score_a == score_b:
            return cls("tie", reason=reason)
        winner: Winner = "a" if score_a > score_b else "b"
        if log_odds is None:
            return cls(winner, reason=reason)
        probability_a = round(float(expit(log_odds * (score_a - score_b))), 6)
        shares: dict[Winner, float] = {
            "a": probability_a,
            "b": round(1.0 - probability_a, 6),
            "tie": 0.0,
        }
        return cls(winner, shares, reason=reason)


def read_verdict(completion: Completion) -> PairVerdict:
    """Read the last verdict of a reply, and flag what is odd about it.

    Lower case, full-width letters and brackets, spaces, backslashes and marks inside are accepted,
    and so are ``[[Assistant A]]``, ``[[アシスタントA]]``, ``[[C: tie]]`` and ``[[tie]]``.
    The loser in ``[[A]] over [[B]]`` and the options in ``[[A]] or [[B]]`` are none.
    Answers that the reply quotes between the prompt's delimiters, or in quotation marks, the format
    that it repeats, and the thoughts of a reasoning model hold no verdicts.

    Raises:
        UnparsableError: If there is none, which makes the judgment INVALID, never a tie.
    """
    is_cut = completion.is_cut
    reply = completion.answer
    # As many spaces, so that what follows keeps its place.
    without_format = _FORMAT.sub(lambda match: " " * len(match[0]), reply)
    verdicts = own_matches(_VERDICT, without_format)
    if not verdicts:
        why = "the reply was cut off before a verdict" if is_cut else "the reply has no verdict"
        raise UnparsableError(f"{why}; expected [[A]], [[B]] or [[C]]")
    verdicts = _without_alternatives(verdicts, reply)
    if not verdicts:
        raise UnparsableError("the reply leaves a choice between verdicts")
    if is_cut and still_weighs(reply[verdicts[-1].end() :]):
        raise UnparsableError("the reply was cut off while it still weighed its verdict")
    letters = [_letter(verdict) for verdict in verdicts]
    flags = [CUT_OFF] if is_cut else []
    if len(letters) > 1:
        flags.insert(0, CONTRADICTORY_VERDICTS if len(set(letters)) > 1 else REPEATED_VERDICT)
    reason = reply[: verdicts[-1].start()].strip(" \t\r\n\"'*`:")
    if len(reason) > LONGEST_REASON:
        reason = reason[: LONGEST_REASON - 1] + "…"
    return PairVerdict(WINNER_OF_LETTER[letters[-1]], None, tuple(flags), reason)


def _without_alternatives(verdicts: list[re.Match[str]], reply: str) -> list[re.Match[str]]:
    """Leave out what is no verdict beside another: losers, options, headings, what could be."""
    left_out = _headings(verdicts, reply)
    for index, (first, second) in enumerate(pairwise(verdicts)):
        if _letter(first) == _letter(second):
            continue
        between = reply[first.end() : second.start()]
        if _BEATS.fullmatch(between):
            left_out.add(index + 1)
        elif _OR.fullmatch(between):
            left_out.update([index, index + 1])
    left = [verdict for index, verdict in enumerate(verdicts) if index not in left_out]
    winners = []
    for verdict in left:
        if not (_LOSES.match(reply, verdict.end()) or is_only_named(reply, verdict)):
            winners.append(verdict)
    return winners or left


def _headings(verdicts: list[re.Match[str]], reply: str) -> set[int]:
    """Return the places of verdicts that head a line about either side: ``[[A]]: 4/5``."""
    headings: dict[int, str] = {}
    for index, verdict in enumerate(verdicts):
        line_start = reply.rfind("\n", 0, verdict.start()) + 1
        before = reply[line_start : verdict.start()].strip("\t *#-_`")
        if not before and _HEADING.match(reply, verdict.end()):
            headings[index] = _letter(verdict)
    if not {"A", "B"} <= set(headings.values()):
        return set()
    return {index for index, letter in headings.items() if letter != "C"}


def _letter(verdict: re.Match[str]) -> str:
    """Return the letter of a verdict, which may be written ``Assistant A`` or ``tie``."""
    side = verdict["side"]
    return "C" if side is None else unicodedata.normalize("NFKC", side).upper()


def holds_verdict(text: str) -> bool:
    """Return whether a text holds anything that would be read as a verdict."""
    return _VERDICT.search(text) is not None


def read_letter(completion: Completion) -> PairVerdict:
    """Read the probabilities of the letters at the first place of an answer where one is possible.

    The verdict is the likeliest one, and a tie where A and B are as likely.

    Raises:
        UnparsableError: If there are no log-probabilities, or no letter is among the likeliest
            tokens.
    """
    if not completion.logprobs:
        raise UnparsableError(
            "the reply has no log-probabilities: this provider or model does not return them; "
            'judge with verdict = "text", or with a model that does'
        )
    tokens = _answer_tokens(completion, completion.logprobs)
    places = (candidate_masses(token, WINNER_OF_LETTER) for token in tokens)
    masses = next(filter(None, places), None)
    if masses is None:
        raise UnparsableError("none of the letters A, B, C is among the likeliest tokens")
    total = math.fsum(masses.values())
    if total <= 0:
        raise UnparsableError("the letters A, B and C have no probability at all")
    shares = {
        winner: round(masses.get(name, 0.0) / total, 6) for name, winner in WINNER_OF_LETTER.items()
    }
    flags = (DOUBTFUL,) if total < DOUBTFUL_MASS else ()
    return PairVerdict(likeliest_winner(shares["a"], shares["b"]), shares, flags)


def _answer_tokens(
    completion: Completion, tokens: Sequence[TokenLogprobs]
) -> Iterator[TokenLogprobs]:
    """Yield the tokens of the answer proper: those of thoughts before it hold no verdict."""
    text = "".join(token.token for token in tokens).rstrip()
    answer = completion.answer.strip()
    start = answer_start(text, completion.is_cut)
    if answer and text.endswith(answer):
        start = len(text) - len(answer)
    end = 0
    for token in tokens:
        end += len(token.token)
        if start == 0 or end > start:
            yield token


def read_order(text: str, is_cut: bool | None = None) -> tuple[int, ...]:
    """Read the last ``[[2 > 1 = 3]]`` of a reply, or else the last order such as ``[2] > [1]``.

    Answers that the reply quotes between the prompt's delimiters, the prompt's example, and the
    thoughts of a reasoning model hold no orders.

    Args:
        text: The judge's reply.
        is_cut: Whether a limit ended the reply; None if unknown.

    Returns:
        The place of answer 1, of answer 2 and so on, 1 for the best; equal answers share one.

    Raises:
        UnparsableError: If there is no order, or it does not name every number from 1 once.
    """
    answer = _QUOTED_IN_LIST.sub(" ", without_thoughts(text, is_cut))
    answer = unicodedata.normalize("NFKC", _ORDER_FORMAT.sub(" ", answer))
    order = _stated_order(answer)
    if is_cut and order.end() == len(answer.rstrip()) and not answer.rstrip().endswith("]"):
        raise UnparsableError("the reply was cut off within its order")
    steps = _STEP.findall(order["steps"] if order.re is _ORDER else order[0])
    places: dict[int, int] = {}
    place = 1
    for index, (sign, number) in enumerate(steps):
        # Equal answers share the place of the first of them, as in sports: 1, 2, 2, 4.
        if sign.strip() != "=":
            place = index + 1
        if int(number) in places:
            raise UnparsableError(f"the order names answer {number} twice")
        places[int(number)] = place
    if set(places) != set(range(1, len(places) + 1)):
        raise UnparsableError(f"the order is {order[0].strip()[:60]!r}, which leaves answers out")
    return tuple(places[number] for number in sorted(places))


def _stated_order(answer: str) -> re.Match[str]:
    """Return the last order that an answer states, in brackets if there is such a one."""
    orders = list(_ORDER.finditer(answer))
    if orders:
        candidates = [order for order in orders if not is_only_named(answer, order)] or orders
        for first, second in pairwise(candidates):
            between = answer[first.end() : second.start()]
            if first["steps"] != second["steps"] and _OR.fullmatch(between):
                raise UnparsableError("the reply leaves a choice between orders")
        return candidates[-1]
    other = _OTHER_ORDER.search(answer)
    if other is not None and not _NEARLY_ORDER.fullmatch(other[0]):
        raise UnparsableError(
            f"the order is {other[0][:60]!r}; expected all numbers, with > and = between them"
        )
    for order in reversed(list(_NEARLY_ORDER.finditer(answer))):
        line_start = max(answer.rfind("\n", 0, order.start()) + 1, order.start() - LONGEST_LABEL)
        if "[" in order[0] or _STATED_ORDER.fullmatch(answer, line_start, order.start()):
            return order
    raise UnparsableError("the reply has no order; expected such as [[2 > 1 = 3]]")
