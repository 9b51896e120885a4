"""A panel: several judges are asked about the same pairs, and their majority decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from arena.data.answer_digests import with_digests
from arena.data.schema import SIDES, WINNERS
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.judging.choosing.forecast import Forecast
from arena.judging.judging_result import DerivedVerdicts, Judging
from arena.judging.judging_settings import PANEL_JUDGE, sides_of
from arena.judging.llm_judge import PROBABILITY_COLUMNS, VERDICT_COLUMNS
from arena.judging.plans.plan import JudgingPlan, JudgingRun, plan_of
from arena.judging.rounds import joined_first_votes

PANEL_OF = "panel of "
"""Start of the prompt of a panel's verdicts, before the names of its members."""
SPLIT = "split"
"""Flag of a tie that stands for a panel without a winner of most votes."""


class PanelPlan(JudgingPlan):
    """Judges are asked about the same pairs; their majority is a judge."""

    def judge(self, run: JudgingRun) -> Judging:
        """Judge, and make one verdict of all on each pair."""
        judging = plan_of(run.settings.pairs_plan).judge(run)
        votes = joined_first_votes([run.arena.judgments, judging.judgments])
        panel = panel_verdicts(votes, run.settings.judges)
        sided = panel.judgments.assign(**{SIDES: sides_of(run.settings.form)})
        verdicts = with_digests(sided, run.arena.answers)
        return replace(judging, derived=panel._replace(judgments=verdicts))

    def forecast(self, run: JudgingRun) -> Forecast | None:
        """Say what all judges together are likely to take."""
        return plan_of(run.settings.pairs_plan).forecast(run)


def panel_verdicts(judgments: pd.DataFrame, judges: Sequence[str]) -> DerivedVerdicts:
    """Make one verdict of several on the same pair in the same order.

    At least half of the judges must have one. The most votes win, else it is a tie. Probabilities
    are shares of votes.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``; a judge's last
            verdict counts.
        judges: Names of the panel's judges.

    Returns:
        The panel's verdicts, and their counts.

    Examples:
        >>> import pandas as pd
        >>> pair = {"query_id": "q1", "language": "en", "system_a": "x", "system_b": "y"}
        >>> votes = [{**pair, "judge": judge, "winner": "a"} for judge in ("one", "two")]
        >>> panel_verdicts(pd.DataFrame(votes), ["one", "two"]).judgments["winner"].tolist()
        ['a']
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
    return DerivedVerdicts(
        name="panel",
        judgments=rounded.astype(texts),
        counts={
            "verdicts": len(rounded),
            "ties for want of a majority": int(is_split.sum()),
            "pairs with fewer than half of the judges": int((~is_enough).sum()),
        },
    )


def _votes(latest: pd.DataFrame) -> pd.DataFrame:
    votes = latest[PAIR_COLUMNS].copy()
    for winner in WINNERS:
        votes[winner] = (latest["winner"] == winner).astype(int)
    return votes.groupby(PAIR_COLUMNS)[list(WINNERS)].sum()


PLAN = PanelPlan()
