"""Systems held out of training."""

from __future__ import annotations

from collections.abc import Sequence

from arena.data.errors import UsageError
from arena.statistics.bootstrap import generator
from surrogate.learning.surrogate import FEWEST_SYSTEMS

DEFAULT_HOLDOUT_SIZE = 2


def choose_holdout(
    systems: Sequence[str], seed: int, size: int = DEFAULT_HOLDOUT_SIZE, *keys: str
) -> tuple[str, ...]:
    """Draw the held-out systems, sorted; none if fewer than three would stay."""
    if len(systems) < size + FEWEST_SYSTEMS:
        return ()
    drawn = generator(seed, "holdout", *keys).choice(len(systems), size, replace=False)
    return tuple(sorted(systems[index] for index in drawn))


def check_holdout(holdout: Sequence[str], judged: Sequence[str]) -> tuple[str, ...]:
    """Check the systems a user wants held out."""
    unknown = [system for system in holdout if system not in judged]
    if unknown:
        raise UsageError(
            f"cannot hold out {', '.join(unknown)}: not judged; "
            f"the judged systems are {', '.join(sorted(judged))}"
        )
    chosen = tuple(sorted(set(holdout)))
    if len(chosen) < len(holdout):
        raise UsageError("a held-out system is named twice")
    n_trained = len(set(judged) - set(chosen))
    if n_trained < FEWEST_SYSTEMS:
        raise UsageError(
            f"holding out {len(chosen)} systems leaves fewer than {FEWEST_SYSTEMS} to train on"
        )
    return chosen
