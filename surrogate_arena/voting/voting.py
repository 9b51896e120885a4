"""Voting while a server runs: who is shown which pair, and votes written as they are cast."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from arena.computing.codes import value_flags
from arena.data.answer_digests import answer_digest
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import find_table_file
from arena.data.judges import PERSON, is_person
from arena.data.names import alike
from arena.data.schema import DIGESTS
from arena.judging.answer_pairs import ArenaTexts, PairKey, pair_cells, pair_keys, unordered
from arena.judging.appending import settle_votes
from arena.judging.ballots import BallotPair, NamedVote, ballot_pair, judges_by_name, pair_id
from arena.judging.choosing.drawn_pairs import pairs_for_people
from arena.rating.judgments import copies_of_others
from surrogate_arena.voting.vote_file import append_vote

OVERLAP = 5
"""Every fifth pair of a voter is one that somebody else has judged: so people can be compared."""
HELD_S = 600.0
"""Seconds for which a pair that somebody looks at is shown to others only if nothing else is left.
"""
MOST_VOTERS = 1000
MOST_VOTE_BYTES = 2**20
"""A larger file of votes is moved into the judgments."""


@dataclass
class Voter:
    """What a person did here; nobody else is shown the pair that is ``held`` until then."""

    choices: dict[str, str] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    held: str | None = None
    held_until: float = 0.0


class Voting:
    """Pairs of an arena that people judge at the same time.

    A voter is shown pairs that nobody has judged, and every ``OVERLAP``-th time one that somebody
    else has; when none is left, those with the fewest votes. The state follows from the arena and
    the votes in its folder, so a server that is started again continues where it stopped.
    """

    def __init__(
        self, arena: Arena, folder: Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder = folder
        self._stamps = _table_stamps(folder)
        self._clock = clock
        self._lock = Lock()
        self._texts = ArenaTexts(arena)
        self._pairs: dict[str, PairKey] = {}
        for key in pair_keys(pairs_for_people(arena).table):
            language, query_id, system_a, system_b = key
            question = (language, query_id)
            answers = [self._texts.shown(question, system) for system in (system_a, system_b)]
            self._pairs[pair_id(key, self._texts.question(question), *answers)] = key
        if not self._pairs:
            raise UsageError("there is no pair of answers that differ; nothing is to be judged")
        self._judges = judges_by_name(arena)
        self._names = {*self._judges, *arena.judges, *arena.info.systems}
        self._voters: dict[str, Voter] = {}
        votes = arena.judgments[value_flags(arena.judgments["judge"], is_person)]
        self._n_votes = len(votes) - int(copies_of_others(votes).sum())
        ids = {unordered(key): pair for pair, key in self._pairs.items()}
        rows = zip(votes["judge"], votes["winner"], pair_keys(votes), strict=True)
        for judge, winner, key in rows:
            pair = ids.get(unordered(key))
            if pair is not None:
                self._voters.setdefault(judge, Voter()).choices[pair] = winner

    @property
    def n_votes(self) -> int:
        """Number of people's votes in the arena."""
        return self._n_votes

    @property
    def languages(self) -> list[str]:
        """Languages of the pairs, sorted."""
        return sorted({language for language, *_ in self._pairs.values()})

    def n_judged(self, name: str) -> int:
        """Return how many pairs a person has judged."""
        voter = self._voters.get(self._judge(name))
        return 0 if voter is None else len(voter.choices)

    def next_pair(
        self, name: str, languages: Collection[str], skipped: str | None = None
    ) -> BallotPair | None:
        """Return the pair to show to a person next."""
        with self._lock:
            self._check_stamps()
            voter = self._voter(self._judge(name))
            if skipped in self._pairs:
                voter.skipped.add(skipped)
            settled = voter.choices.keys() | voter.skipped
            candidates = [
                pair
                for pair, (language, *_) in self._pairs.items()
                if language in languages and pair not in settled
            ]
            if not candidates:
                voter.held = None
                return None
            if voter.held not in candidates:
                voter.held = self._choose(voter, candidates)
            voter.held_until = self._clock() + HELD_S
            key = self._pairs[voter.held]
        return ballot_pair(self._texts, key)

    def cast(self, vote: NamedVote) -> None:
        """Write a vote; it replaces an earlier one of the same person on the pair."""
        if vote.id not in self._pairs:
            raise UsageError("that pair is not judged here; load the page again")
        with self._lock:
            self._check_stamps()
            judge = self._judge(vote.voter)
            voter = self._voter(judge)
            if voter.choices.get(vote.id) == vote.choice:
                return
            key = self._pairs[vote.id]
            language, query_id, *systems = key
            judgment = {**pair_cells(key), "winner": vote.choice, "judge": judge}
            for column, system in zip(DIGESTS, systems, strict=True):
                judgment[column] = answer_digest(self._texts.output((language, query_id), system))
            size = append_vote(self._folder, judgment)
            self._n_votes += vote.id not in voter.choices
            voter.choices[vote.id] = vote.choice
            voter.skipped.discard(vote.id)
            if size > MOST_VOTE_BYTES:
                settle_votes(self._folder)

    def _check_stamps(self) -> None:
        if _table_stamps(self._folder) != self._stamps:
            raise UsageError("the arena's questions or answers have changed: start view again")

    def _judge(self, name: str) -> str:
        return self._judges.get(name, f"{PERSON}{name}")

    def _voter(self, judge: str) -> Voter:
        voter = self._voters.get(judge)
        if voter is None:
            if len(self._voters) >= MOST_VOTERS:
                raise UsageError(f"more than {MOST_VOTERS:,} people have voted; start view again")
            self._refuse_alike(judge)
            voter = self._voters[judge] = Voter()
        return voter

    def _refuse_alike(self, judge: str) -> None:
        if judge in self._judges.values():
            return
        name = judge.removeprefix(PERSON)
        taken = {*self._names, *(voter.removeprefix(PERSON) for voter in self._voters)}
        if name in taken or alike([name], taken):
            # Which one it is would tell voters who takes part.
            raise UsageError(
                "this name may be taken for that of another voter, a judge or a system; write "
                "your name as before, or give another"
            )

    def _choose(self, voter: Voter, candidates: list[str]) -> str:
        now = self._clock()
        votes = dict.fromkeys(candidates, 0)
        held = dict.fromkeys(candidates, 0)
        for other in self._voters.values():
            for pair in other.choices:
                if pair in votes:
                    votes[pair] += 1
            if other is not voter and other.held in held and other.held_until > now:
                held[other.held] += 1
        if (len(voter.choices) + 1) % OVERLAP == 0:
            judged = [pair for pair in candidates if votes[pair]]
            candidates = judged or candidates
        return min(candidates, key=lambda pair: votes[pair] + held[pair])


def _table_stamps(folder: Path) -> list[tuple[int, int]]:
    stamps = []
    for name in ("queries", "answers"):
        path = find_table_file(folder, name)
        if path is not None:
            status = path.stat()
            stamps.append((status.st_mtime_ns, status.st_size))
    return stamps
