"""Verdicts of one token: the likeliest of the letters A, B and C by its log-probability."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass

from arena.judging.verdicts import WINNER_OF_LETTER, Winner
from arena.llm.completions import Completion, TokenLogprobs
from arena.llm.failures import UnparsableError

ALTERNATIVES = 20
"""Log-probabilities asked for: the most that OpenAI gives."""

DOUBTFUL_MASS = 0.5
DOUBTFUL = "letters_unlikely"


@dataclass(frozen=True, slots=True)
class LetterVerdict:
    """A verdict with its probability.

    Attributes:
        winner: The likeliest verdict.
        shares: Each verdict's share of the probability of the three letters.
        mass: Probability that the model gave to the three letters together.
    """

    winner: Winner
    shares: dict[Winner, float]
    mass: float

    @property
    def flags(self) -> tuple[str, ...]:
        """``letters_unlikely`` where the model would rather have written something else."""
        return (DOUBTFUL,) if self.mass < DOUBTFUL_MASS else ()


def read_letter(completion: Completion) -> LetterVerdict:
    """Take the likeliest letter at the first place of an answer where one is possible.

    Args:
        completion: An answer with log-probabilities.

    Raises:
        UnparsableError: If there are no log-probabilities, no letter is among the likeliest
            tokens, or two letters are the likeliest.
    """
    if not completion.logprobs:
        raise UnparsableError("the reply has no log-probabilities; read verdicts from the text")
    masses = next(filter(None, map(_masses, completion.logprobs)), None)
    if masses is None:
        raise UnparsableError("none of the letters A, B, C is among the likeliest tokens")
    letter, largest = max(masses.items(), key=lambda item: item[1])
    total = math.fsum(masses.values())
    if list(masses.values()).count(largest) > 1 or total <= 0:
        raise UnparsableError("no letter is likelier than the others")
    shares = {winner: masses.get(name, 0.0) / total for name, winner in WINNER_OF_LETTER.items()}
    return LetterVerdict(WINNER_OF_LETTER[letter], shares, min(total, 1.0))


def _masses(token: TokenLogprobs) -> dict[str, float]:
    """Add up the probabilities of each letter's spellings ("A", " A")."""
    likeliest = dict(token.alternatives)
    likeliest.setdefault(token.token, token.logprob)
    masses: dict[str, float] = {}
    for text, logprob in likeliest.items():
        letter = unicodedata.normalize("NFKC", text).strip()
        if letter in WINNER_OF_LETTER:
            masses[letter] = masses.get(letter, 0.0) + math.exp(logprob)
    return masses
