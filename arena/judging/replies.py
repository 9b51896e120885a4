"""What is read from a judge's reply: a verdict on a pair, or an order of answers."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from arena.llm.replies import Completion, UnparsableError, candidate_masses
from arena.text.thoughts import without_thoughts

Winner = Literal["a", "b", "tie"]

WINNER_OF_LETTER: MappingProxyType[str, Winner] = MappingProxyType({"A": "a", "B": "b", "C": "tie"})

REPEATED_VERDICT = "repeated_verdict"
CONTRADICTORY_VERDICTS = "contradictory_verdicts"
CUT_OFF = "cut_off"
DOUBTFUL = "letters_unlikely"
"""Flag of a verdict where the model would rather have written something else than a letter."""
DOUBTFUL_MASS = 0.5
ALTERNATIVES = 20
"""Log-probabilities asked for: the most that OpenAI gives."""
LONGEST_REASON = 2000
"""Characters of a reason that are kept beside a verdict; the store has the whole reply."""

_OPEN = r"\\?[\[［【]\s{0,3}\\?[\[［【]"
_CLOSE = r"\\?[\]］】]\s{0,3}\\?[\]］】]"
_VERDICT = re.compile(rf"{_OPEN}\s{{0,3}}([ABCabcＡＢＣａｂｃ])\s{{0,3}}{_CLOSE}")
# What the judge quotes of its prompt is not its verdict: an answer between its two lines, and the
# format that it was told to follow.
_QUOTED_ANSWER = re.compile(
    r"\[The Start of Assistant ([AB])'s Answer([^\]\n]{0,40})\]"
    r".*?\[The End of Assistant \1's Answer\2\]",
    re.DOTALL | re.IGNORECASE,
)
_FORMAT = re.compile(
    r"\[\[A\]\]\W{0,3} if\b[^\n]{1,80}?\[\[B\]\]\W{0,3} if\b[^\n]{1,80}?"
    r"\[\[C\]\]\W{0,3} (?:for|if)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(r"\[\[\s?\d{1,3}(?:\s{0,3}[>=]\s{0,3}\d{1,3})+\s?\]\]")
_NEARLY_ORDER = re.compile(
    r"\[{0,2}\s?\d{1,3}\s?\]{0,2}(?:\s{0,3}[>=]\s{0,3}\[{0,2}\s?\d{1,3}\s?\]{0,2})+"
)
_STEP = re.compile(r"([>=]?)\s{0,3}\[{0,2}\s?(\d{1,3})")
_QUOTED_IN_LIST = re.compile(
    r"\[The Start of Answer (\d{1,3}) ([^\]\n]{0,40})\].*?\[The End of Answer \1 \2\]", re.DOTALL
)
_ORDER_FORMAT = re.compile(r'"\[\[2 > 1 = 3\]\]" says')


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """What is read from a reply on a pair.

    Attributes:
        winner: Of several that differ, the last one.
        shares: Probability of each verdict, where known by log-probabilities.
        flags: What is odd, such as ``cut_off``.
        reason: What the judge wrote before its verdict.
    """

    winner: Winner
    shares: dict[Winner, float] | None = None
    flags: tuple[str, ...] = ()
    reason: str = ""


def read_verdict(completion: Completion) -> PairVerdict:
    """Read the last verdict of a reply, and what is odd about it.

    Lower case, full-width letters and brackets, spaces and backslashes inside are accepted.
    Answers that the reply quotes between the prompt's delimiters, the format that it repeats, and
    the thoughts of a reasoning model hold no verdicts.

    Raises:
        UnparsableError: If there is none, which makes the judgment INVALID, never a tie.
    """
    is_cut = completion.finish_reason == "length"
    said = without_thoughts(completion.text or "")
    own = _FORMAT.sub(" ", _QUOTED_ANSWER.sub(" ", said))
    letters = [unicodedata.normalize("NFKC", found).upper() for found in _VERDICT.findall(own)]
    if not letters:
        why = "the reply was cut off before a verdict" if is_cut else "the reply has no verdict"
        raise UnparsableError(f"{why}; expected [[A]], [[B]] or [[C]]")
    flags = [CUT_OFF] if is_cut else []
    if len(letters) > 1:
        flags.insert(0, CONTRADICTORY_VERDICTS if len(set(letters)) > 1 else REPEATED_VERDICT)
    last = [found.start() for found in _VERDICT.finditer(said)][-1]
    reason = said[:last].strip(" \t\r\n\"'*`:")
    if len(reason) > LONGEST_REASON:
        reason = reason[: LONGEST_REASON - 1] + "…"
    return PairVerdict(WINNER_OF_LETTER[letters[-1]], None, tuple(flags), reason)


def holds_verdict(text: str) -> bool:
    """Tell whether a text holds anything that would be read as a verdict."""
    return _VERDICT.search(text) is not None


def read_letter(completion: Completion) -> PairVerdict:
    """Take the likeliest letter at the first place of an answer where one is possible.

    Raises:
        UnparsableError: If there are no log-probabilities, no letter is among the likeliest
            tokens, or two letters are the likeliest.
    """
    if not completion.logprobs:
        raise UnparsableError("the reply has no log-probabilities; read verdicts from the text")
    places = (candidate_masses(token, WINNER_OF_LETTER) for token in completion.logprobs)
    masses = next(filter(None, places), None)
    if masses is None:
        raise UnparsableError("none of the letters A, B, C is among the likeliest tokens")
    letter, largest = max(masses.items(), key=lambda item: item[1])
    total = math.fsum(masses.values())
    if list(masses.values()).count(largest) > 1 or total <= 0:
        raise UnparsableError("no letter is likelier than the others")
    shares = {
        winner: round(masses.get(name, 0.0) / total, 6) for name, winner in WINNER_OF_LETTER.items()
    }
    flags = (DOUBTFUL,) if total < DOUBTFUL_MASS else ()
    return PairVerdict(WINNER_OF_LETTER[letter], shares, flags)


def read_order(text: str) -> tuple[int, ...]:
    """Read the last ``[[2 > 1 = 3]]`` of a reply, or else the last order such as ``[2] > [1]``.

    Answers that the reply quotes between the prompt's delimiters, the prompt's example, and the
    thoughts of a reasoning model hold no orders.

    Returns:
        The place of answer 1, of answer 2 and so on, 1 for the best; equal answers share one.

    Raises:
        UnparsableError: If there is no order, or it does not name every number from 1 once.
    """
    own = _ORDER_FORMAT.sub(" ", _QUOTED_IN_LIST.sub(" ", without_thoughts(text)))
    own = unicodedata.normalize("NFKC", own)
    orders = _ORDER.findall(own) or _NEARLY_ORDER.findall(own)
    if not orders:
        raise UnparsableError("the reply has no order; expected such as [[2 > 1 = 3]]")
    places: dict[int, int] = {}
    place = 1
    for count, (sign, number) in enumerate(_STEP.findall(orders[-1])):
        place = count + 1 if sign == ">" else place
        if int(number) in places:
            raise UnparsableError(f"the order names answer {number} twice")
        places[int(number)] = place
    if set(places) != set(range(1, len(places) + 1)):
        raise UnparsableError(f"the order is {orders[-1].strip()[:60]!r}, which leaves answers out")
    return tuple(places[number] for number in sorted(places))
