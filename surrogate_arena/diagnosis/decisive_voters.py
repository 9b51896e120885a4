"""Voters without whose votes another system would be first."""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.data.schema import VOTER
from arena.data.wording import Remark, count_of
from arena.quality.decisive_verdicts import EQUAL, MOST_SYSTEMS, Matches
from arena.rating.battles import Battles
from arena.rating.judgments import voter_codes

MOST_VOTERS = 20
"""Voters that are left out one by one: those with the most votes."""


def decisive_voters(judgments: pd.DataFrame, subject: str = "") -> list[Remark]:
    """Name voters whose removal changes first place, those with the most votes first."""
    voter = voter_codes(judgments)
    if voter is None:
        return []
    systems = Battles.from_judgments(judgments).largest_group().systems
    if not 2 <= len(systems) <= MOST_SYSTEMS:
        return []
    is_among = judgments[["system_a", "system_b"]].isin(systems).all(axis=1).to_numpy()
    judgments = judgments[is_among].reset_index(drop=True)
    voter = voter[is_among]
    matches = Matches.of(judgments, systems)
    ratings = matches.ratings()
    first = int(np.argmax(ratings))
    votes = np.bincount(voter[voter >= 0])
    n_voters = int((votes > 0).sum())
    if n_voters < 2:
        return []
    found = []
    # Voters with as many votes in the order of their numbers, which are those of their first votes.
    for number in np.argsort(-votes, kind="stable")[:MOST_VOTERS]:
        rows = np.flatnonzero(voter == number)
        without = matches.ratings(rows, ratings)
        successor = int(np.argmax(without))
        if not len(rows) or without[successor] <= without[first] + EQUAL:
            continue
        sentence = (
            f"1 of {n_voters:,} voters, {judgments[VOTER].iloc[rows[0]]}, cast {len(rows):,} of "
            f"{count_of(len(judgments), 'vote')}: without that voter {systems[successor]} is "
            f"first, not {systems[first]}"
        )
        share = len(rows) / len(judgments)
        found.append(Remark("voter", "warning", sentence, subject, share))
    return found
