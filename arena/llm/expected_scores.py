"""A score from the probabilities of the answers a judge could have given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from arena.llm.completions import Completion, TokenLogprobs
from arena.llm.failures import UnparsableError


@dataclass(frozen=True, slots=True)
class ExpectedScore:
    """A score averaged over the candidates.

    Attributes:
        value: Mean of the candidates' scores, weighted by their probabilities.
        mass: Probability that the model gave to all candidates together; where it is small, the
            value says little.
        place: Place of the token in the answer, from 0.
    """

    value: float
    mass: float
    place: int


def expected_score(
    completion: Completion,
    scores: Mapping[str, float],
    which: Literal["first", "last"] = "first",
) -> ExpectedScore:
    """Average scores over the candidates at one place of an answer (as G-Eval does).

    The place is where the model wrote one of the candidates. Spaces around tokens do not count:
    " 4" and "4" are one candidate, and their probabilities add up.

    Args:
        completion: An answer with log-probabilities (``ModelSettings.logprobs``).
        scores: Score of each candidate; a candidate must be a single token of the model.
        which: The first or the last such place.

    Raises:
        UnparsableError: If there are no log-probabilities, or no candidate was written.
    """
    if completion.logprobs is None:
        raise UnparsableError("the answer has no log-probabilities; ask for them, if there are any")
    places = [
        place for place, each in enumerate(completion.logprobs) if each.token.strip() in scores
    ]
    if not places:
        raise UnparsableError(f"none of {', '.join(scores)} is a token of the answer")
    place = places[0 if which == "first" else -1]
    masses = _masses(completion.logprobs[place], scores)
    mass = math.fsum(masses.values())
    if mass <= 0:
        raise UnparsableError("the candidates have no probability")
    value = math.fsum(scores[name] * part for name, part in masses.items()) / mass
    return ExpectedScore(value, min(mass, 1.0), place)


def _masses(token: TokenLogprobs, scores: Mapping[str, float]) -> dict[str, float]:
    found = dict(token.alternatives)
    found.setdefault(token.token, token.logprob)  # the chosen one need not be among the likeliest
    masses: dict[str, float] = {}
    for text, logprob in found.items():
        name = text.strip()
        if name in scores:
            masses[name] = masses.get(name, 0.0) + math.exp(logprob)
    return masses
