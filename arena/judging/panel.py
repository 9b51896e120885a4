"""A panel of judges: one verdict made of several judges' verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from arena.data.schema import WINNERS
from arena.data.selection import PANEL_OF
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.judging.judging_settings import PANEL_JUDGE
from arena.judging.llm_judge import PROBABILITY_COLUMNS, VERDICT_COLUMNS

SPLIT = "split"
"""Flag of a tie that stands for a panel without a winner of most votes."""


@dataclass(frozen=True)
class Panel:
    """Verdicts of a panel of judges.

    Attributes:
        judgments: Verdicts of ``PANEL_JUDGE``; probabilities are shares of votes.
        too_few: Number of items left out because fewer than half of the judges gave a verdict.
    """

    judgments: pd.DataFrame
    too_few: int

    @property
    def split(self) -> int:
        """Number of items on which no verdict had the most votes; they are ties."""
        return int((self.judgments["flags"] == SPLIT).sum())


def panel_verdicts(judgments: pd.DataFrame, judges: Sequence[str]) -> Panel:
    """Make one verdict of several judges' verdicts on the same pair in the same order.

    An item needs verdicts of at least half of the judges. The verdict with the most votes wins;
    if several have the most, the item is a tie.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``. If a judge
            has several verdicts on an item, the last one counts.
        judges: Names of the panel's judges.
    """
    members = list(dict.fromkeys(judges))
    latest = judgments[judgments["judge"].isin(members)]
    latest = latest.drop_duplicates([*PAIR_COLUMNS, "judge"], keep="last")
    votes = _votes(latest)
    counts = votes.to_numpy(np.float64)
    n_votes = counts.sum(axis=1)
    is_enough = n_votes >= len(members) / 2
    shares = counts[is_enough] / n_votes[is_enough, None]
    largest = shares.max(axis=1, initial=0.0)
    is_split = (shares == largest[:, None]).sum(axis=1) > 1
    winner_codes = np.where(is_split, WINNERS.index("tie"), shares.argmax(axis=1))
    items = votes[is_enough].reset_index()[PAIR_COLUMNS]
    table = items.assign(
        winner=np.array(WINNERS, dtype=object)[winner_codes],
        judge=PANEL_JUDGE,
        probability=shares[np.arange(len(winner_codes)), winner_codes],
        probability_a=shares[:, WINNERS.index("a")],
        probability_b=shares[:, WINNERS.index("b")],
        flags=np.where(is_split, SPLIT, ""),
        prompt=f"{PANEL_OF}{', '.join(sorted(members))}",
        reason="",
    )
    rounded = table.reindex(columns=VERDICT_COLUMNS).round(dict.fromkeys(PROBABILITY_COLUMNS, 6))
    texts = dict.fromkeys(["winner", "judge", "flags", "prompt", "reason"], "str")
    return Panel(
        judgments=rounded.astype(texts),
        too_few=int((~is_enough).sum()),
    )


def _votes(latest: pd.DataFrame) -> pd.DataFrame:
    """Count the votes on each item: one column per possible verdict, in the order of WINNERS."""
    votes = latest[PAIR_COLUMNS].copy()
    for winner in WINNERS:
        votes[winner] = (latest["winner"] == winner).astype(int)
    return votes.groupby(PAIR_COLUMNS)[list(WINNERS)].sum()
