"""One verdict of several replies of one judge to the same prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from arena.judging.replies import WINNER_OF_LETTER, PairVerdict, Winner
from arena.llm.replies import OVER_BUDGET, Reply

SPLIT_REPEATS = "split_repeats"
"""Flag of a tie that stands for replies without a verdict of most of them."""

_ORDER: tuple[Winner, ...] = tuple(WINNER_OF_LETTER.values())
_DECIMALS = 6


def combined(replies: Sequence[Reply[PairVerdict]]) -> Reply[PairVerdict]:
    """Make one reply of several to the same prompt.

    The verdict of most replies wins, or the likeliest one on average where log-probabilities are
    known; without one it is a tie. ``shares`` says how many gave each verdict. Half of the
    replies must hold a verdict, and none may be left to a later run by the budget; else the first
    that failed, or is left, stands for all.

    Args:
        replies: One at least; one alone is returned as it is.
    """
    if len(replies) == 1:
        return replies[0]
    left = [reply for reply in replies if reply.reason == OVER_BUDGET]
    if left:
        return left[0]
    read = [reply for reply in replies if reply.value is not None]
    if 2 * len(read) < len(replies) or not read:
        return next(reply for reply in replies if reply.value is None)
    verdicts = [reply.value for reply in read if reply.value is not None]
    votes = np.array([_votes(verdict) for verdict in verdicts]).mean(axis=0)
    best = np.flatnonzero(np.isclose(votes, votes.max(), rtol=0, atol=1e-9))
    is_split = len(best) > 1
    winner: Winner = "tie" if is_split else _ORDER[int(best[0])]
    said = next((verdict for verdict in verdicts if verdict.winner == winner), verdicts[0])
    flags = dict.fromkeys(flag for verdict in verdicts for flag in verdict.flags)
    if is_split:
        flags[SPLIT_REPEATS] = None
    shares = {
        name: round(float(share), _DECIMALS) for name, share in zip(_ORDER, votes, strict=True)
    }
    return replace(read[0], value=PairVerdict(winner, shares, tuple(flags), said.reason))


def _votes(verdict: PairVerdict) -> list[float]:
    if verdict.shares is not None:
        return [verdict.shares[name] for name in _ORDER]
    return [float(verdict.winner == name) for name in _ORDER]
