"""Verdicts on pairs, as a judge's reply states them or scores imply them; orders of answers."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from scipy.special import expit

from arena.data.schema import Winner
from arena.llm.quotations import own_matches
from arena.llm.replies import Completion, TokenLogprobs, UnparsableError, candidate_masses
from arena.llm.statements import CLOSING, INSIDE, OPENING, stated_match
from arena.text.thoughts import answer_start, without_thoughts

WINNER_OF_LETTER: MappingProxyType[str, Winner] = MappingProxyType({"A": "a", "B": "b", "C": "tie"})

REPEATED_VERDICT = "repeated_verdict"
CONTRADICTORY_VERDICTS = "contradictory_verdicts"
CUT_OFF = "cut_off"
DOUBTFUL = "letters_unlikely"
"""Flag of a verdict where the model would rather have written something else than a letter."""

_SIDE = r"(?:assistant|answer|response|model)\s?"
_VERDICT = re.compile(
    rf"{OPENING}{INSIDE}(?:(?:{_SIDE})?(?P<side>[ABＡＢ])|(?:[CＣ](?:\s?[:(]\s?tie\)?)?|tie))"
    rf"{INSIDE}{CLOSING}",
    re.IGNORECASE,
)
_SIGN = r"\s{0,3}(?:>{1,3}|&gt;|=)\s{0,3}"
_ORDER = re.compile(
    rf"{OPENING}{INSIDE}(?:{_SIDE})?\d{{1,3}}(?:{_SIGN}(?:{_SIDE})?\d{{1,3}})+{INSIDE}{CLOSING}",
    re.IGNORECASE,
)
_NEARLY_ORDER = re.compile(r"\[\d{1,3}\](?:" + _SIGN + r"\[\d{1,3}\])+")
_STEP = re.compile(rf"({_SIGN})?\[{{0,2}}\s?(?:{_SIDE})?(\d{{1,3}})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """A verdict on a pair, the last one stated.

    ``shares`` is the probability of each, if log-probabilities or scores tell it; ``reason`` the
    text before it.
    """

    winner: Winner
    shares: dict[Winner, float] | None = None
    flags: tuple[str, ...] = ()
    reason: str = ""

    @classmethod
    def of_scores(
        cls, score_a: int, score_b: int, log_odds: float | None, reason: str = ""
    ) -> Self:
        """Return the verdict of two scores; equal ones tie."""
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
    """Read a reply's verdict, and flag what is odd.

    Lower case, full-width letters, marks inside, ``[[Assistant A]]``, ``[[C: tie]]`` and
    ``[[tie]]`` count.

    Raises:
        UnparsableError: If there is none.
    """
    # Characters of a reason that are kept with a verdict; the store has the whole reply
    longest_reason = 2000
    is_cut = completion.is_cut
    reply = completion.answer
    form = "[[A]], [[B]] or [[C]]"
    verdict = stated_match(_VERDICT, reply, _letter, "verdict", form=form, is_cut=is_cut)
    letters = [_letter(match) for match in own_matches(_VERDICT, reply)]
    flags = [CUT_OFF] if is_cut else []
    if len(letters) > 1:
        flags.insert(0, CONTRADICTORY_VERDICTS if len(set(letters)) > 1 else REPEATED_VERDICT)
    reason = reply[: verdict.start()].strip(" \t\r\n\"'*`:")
    if len(reason) > longest_reason:
        reason = reason[: longest_reason - 1] + "…"
    return PairVerdict(WINNER_OF_LETTER[_letter(verdict)], None, tuple(flags), reason)


def _letter(verdict: re.Match[str]) -> str:
    side = verdict["side"]
    return "C" if side is None else unicodedata.normalize("NFKC", side).upper()


def holds_verdict(text: str) -> bool:
    """Return whether a text holds anything readable as a verdict."""
    return _VERDICT.search(text) is not None


def read_letter(completion: Completion) -> PairVerdict:
    """Read the letters' probabilities; the likeliest is the verdict."""
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
    doubtful_mass = 0.5
    flags = (DOUBTFUL,) if total < doubtful_mass else ()
    return PairVerdict(likeliest_winner(shares["a"], shares["b"]), shares, flags)


def likeliest_winner(probability_a: float, probability_b: float) -> Winner:
    """Return the likeliest of ``a``, ``b`` and ``tie``; a tie if equal."""
    probability_tie = 1.0 - probability_a - probability_b
    if probability_a == probability_b or probability_tie > max(probability_a, probability_b):
        return "tie"
    return "a" if probability_a > probability_b else "b"


def _answer_tokens(
    completion: Completion, tokens: Sequence[TokenLogprobs]
) -> Iterator[TokenLogprobs]:
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
    """Read the order ``[[2 > 1 = 3]]`` of a reply, or ``[2] > [1]``: each answer's place, from 1.

    Raises:
        UnparsableError: If there is no order, or it does not name every number from 1 once.
    """
    answer = unicodedata.normalize("NFKC", without_thoughts(text, is_cut))
    pattern = _ORDER if own_matches(_ORDER, answer) else _NEARLY_ORDER
    order = stated_match(pattern, answer, _steps, "order", form="[[2 > 1 = 3]]", is_cut=is_cut)
    places: dict[int, int] = {}
    place = 1
    for index, (sign, number) in enumerate(_STEP.findall(order[0])):
        # Equal answers share the place of the first of them, as in sports: 1, 2, 2, 4.
        if sign.strip() != "=":
            place = index + 1
        if int(number) in places:
            raise UnparsableError(f"the order names answer {number} twice")
        places[int(number)] = place
    if set(places) != set(range(1, len(places) + 1)):
        raise UnparsableError(f"the order is {order[0].strip()[:60]!r}, which leaves answers out")
    return tuple(places[number] for number in sorted(places))


def _steps(order: re.Match[str]) -> str:
    return " ".join(f"{sign} {number}" for sign, number in _STEP.findall(order[0]))
