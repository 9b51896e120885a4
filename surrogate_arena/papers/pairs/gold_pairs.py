"""Pairs of answers with a known better one, and those that an arena's votes decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.judges import PEOPLE, is_derived, is_person, judges_named
from arena.quality.agreement import QUESTION_PAIR, majorities, oriented_verdicts

GOLD_COLUMNS = ["split", "question", "language", "query_id", "system_a", "system_b", "better"]
"""Columns of a table of pairs: ``question`` is what a bootstrap draws, ``better`` is ``a`` or
``b``."""


@dataclass(frozen=True)
class GoldPairs:
    """Pairs of answers with a known better one, columns ``GOLD_COLUMNS``.

    ``name`` is that of the data, or of an arena's ``reference`` judges. ``skipped`` counts pairs
    that are left out, by reason.
    """

    name: str
    pairs: pd.DataFrame
    arena: Arena
    reference: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)

    @property
    def recorded_judges(self) -> list[str]:
        """LLM judges with verdicts in the arena, but for the reference and panels."""
        judges = sorted(set(self.arena.judgments["judge"]) - set(self.reference))
        return [name for name in judges if not is_person(name) and not is_derived(name)]


def gold_pairs_of_arena(arena: Arena, reference: str | None = None) -> GoldPairs:
    """Return the pairs that the majority of an arena's people (or other judges) decides."""
    names = sorted(set(arena.judgments["judge"]))
    if reference is None and not any(map(is_person, names)):
        raise UsageError(
            f"nobody has voted in {arena.info.name}; name judges who are right (--reference): "
            f"{', '.join(names) or 'there is none'}"
        )
    judges = judges_named(names, reference or PEOPLE)
    votes = oriented_verdicts(arena.judgments[arena.judgments["judge"].isin(judges)])
    items = majorities(votes, QUESTION_PAIR)
    decided = items[items["outcome"] != 0]
    if decided.empty:
        raise UsageError(
            f"{arena.info.name} holds no pair of which one answer is known to be better"
        )
    pairs = decided.rename(columns={"first": "system_a", "second": "system_b"})
    pairs = pairs.assign(
        split=pairs["language"],
        question=pairs["language"] + "\x1f" + pairs["query_id"],
        better=pairs["outcome"].map({1: "a", -1: "b"}),
    )
    n_undecided = len(items) - len(decided)
    return GoldPairs(
        name=PEOPLE if reference is None else "+".join(judges),
        pairs=pairs[GOLD_COLUMNS].reset_index(drop=True),
        arena=arena,
        reference=judges,
        skipped={"no majority for either answer": n_undecided} if n_undecided else {},
    )
