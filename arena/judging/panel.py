"""One verdict of a panel of judges on each pair: that of most of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from arena.data.schema import PANEL, QUESTION_KEY, WINNERS
from arena.judging.summary import PROBABILITY_COLUMNS, VERDICT_COLUMNS

PANEL_JUDGE = f"{PANEL}majority)"
"""Name of a panel in the ``judge`` column."""
SPLIT = "split"
"""Flag of a tie that stands for a panel without a winner of most votes."""

_ITEM = [*QUESTION_KEY, "system_a", "system_b"]
_TIE = WINNERS.index("tie")


@dataclass(frozen=True)
class Panel:
    """What a panel of judges says.

    Attributes:
        judgments: Verdicts of ``PANEL_JUDGE``, with the shares of votes as their probabilities.
        too_few: Items left out, for fewer than half of the judges gave a verdict.
    """

    judgments: pd.DataFrame
    too_few: int

    @property
    def split(self) -> int:
        """Items without a verdict of most votes, which are ties."""
        return int((self.judgments["flags"] == SPLIT).sum())


def panel_verdicts(judgments: pd.DataFrame, judges: Sequence[str]) -> Panel:
    """Make one verdict of several judges' verdicts on the same pair in the same order.

    An item needs verdicts of half of the judges at least. The verdict with the most votes wins;
    without one, the item is a tie.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``; of several
            verdicts of a judge on the same item the last one counts.
        judges: The panel.
    """
    members = list(dict.fromkeys(judges))
    cast = judgments[judgments["judge"].isin(members)]
    last = cast.drop_duplicates([*_ITEM, "judge"], keep="last")
    marks = {winner: (last["winner"] == winner).astype(int) for winner in WINNERS}
    votes = last[_ITEM].assign(**marks).groupby(_ITEM, sort=True)[list(WINNERS)].sum()
    counts = votes.to_numpy(np.float64)
    is_enough = counts.sum(axis=1) >= len(members) / 2
    shares = counts[is_enough] / counts[is_enough].sum(axis=1, keepdims=True)
    best = shares.max(axis=1, initial=0.0)
    is_split = np.isclose(shares, best[:, None], rtol=0, atol=1e-9).sum(axis=1) > 1
    winner = np.where(is_split, _TIE, shares.argmax(axis=1))
    table = (
        votes[is_enough]
        .reset_index()[_ITEM]
        .assign(
            winner=np.array(WINNERS, dtype=object)[winner],
            judge=PANEL_JUDGE,
            probability=shares[np.arange(len(winner)), winner],
            probability_a=shares[:, WINNERS.index("a")],
            probability_b=shares[:, WINNERS.index("b")],
            flags=np.where(is_split, SPLIT, ""),
            prompt=f"panel of {', '.join(sorted(members))}",
            reason="",
        )
    )
    rounded = table[VERDICT_COLUMNS].round(dict.fromkeys(PROBABILITY_COLUMNS, 6))
    texts = dict.fromkeys(["winner", "judge", "flags", "prompt", "reason"], "str")
    return Panel(rounded.astype(texts), int((~is_enough).sum()))
