"""Adaptive pairing: which answers to compare next, so that the ranking settles soonest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit, ndtr

from arena.data.errors import UsageError
from arena.data.schema import WINNERS
from arena.data.types import Flags, Floats, Indices
from arena.rating.battles import Battles
from arena.rating.judgments import winner_codes
from arena.rating.pairs import Pairs
from arena.rating.posterior import SCALES, RatingPosterior, RatingPrior, battle_posterior
from arena.statistics.bootstrap import generator

Item = tuple[str, str, str]
Unlikeness = Callable[[Sequence[str], str, str], Floats]
"""Of questions and two systems, how much their answers to each differ."""

CANDIDATES = 8
"""Questions, on which two systems met fewest others, of which one is asked."""
LEFT_TO_CHANCE = 0.25
"""Share of each pair's questions that are asked whether or not the answers differ."""

ABSENT, OPEN, PLANNED, JUDGED, FAILED = range(5)
"""States of an item: not both answered, not asked yet, asked, judged, without a verdict."""


def round_size(n_systems: int, n_judged: int) -> int:
    """Return how many items to ask before another fit."""
    # Later verdicts move the posterior less, so a round may grow with what is judged.
    return max(1, n_systems // 2, int(0.05 * n_judged))


class AdaptivePairing:
    """Chooses items to judge, an item being a pair of systems on a question of one language.

    Ask for a round with ``next_pairs``, judge it, pass its outcome to ``record``, and repeat. To
    resume a run, record the judgments so far. A battle's value is how much it should lower the
    uncertainty of ratings where that leaves the order of two systems in doubt.

    Attributes:
        systems: The S systems, sorted.
        questions: The Q questions, sorted.
        posterior: What pairs are chosen by: the prior as stated and what was recorded.

    Examples:
        >>> pairing = AdaptivePairing(["x", "y", "z"], ["q1", "q2"])
        >>> [(question, one, other)] = pairing.next_pairs(1)
        >>> pairing.open
        5
    """

    posterior: RatingPosterior

    def __init__(
        self,
        systems: Sequence[str],
        questions: Sequence[str],
        answers: pd.DataFrame | None = None,
        seed: int = 0,
        prior: pd.DataFrame | None = None,
        unlikeness: Unlikeness | None = None,
    ) -> None:
        """Start with nothing judged.

        Args:
            systems: At least two, in an order that draws follow.
            questions: Query ids of one language.
            answers: Columns ``query_id, system``; by default every system answered every question.
            seed: Seed of ties, and of the questions that pairs meet on.
            prior: Columns ``system, rating, standard_error`` (logits); it counts less if judgments
                show that it is further off than it states.
            unlikeness: Tells how much two systems' answers differ on each of some questions. Pairs
                then meet where they differ most, but for a quarter of the questions.

        Raises:
            UsageError: For names given twice, too few, or a standard error that is not above 0.
        """
        self.systems = tuple(sorted(systems))
        self.questions = tuple(sorted(questions))
        _require_distinct(self.systems, "systems", fewest=2)
        _require_distinct(self.questions, "questions", fewest=1)
        n_systems = len(self.systems)
        first, second = np.triu_indices(n_systems, k=1)
        self._pairs = Pairs(first, second, n_systems)
        # Index of the pair of two systems, whichever comes first: (S, S).
        self._pair_of = np.zeros((n_systems, n_systems), dtype=np.intp)
        self._pair_of[first, second] = np.arange(len(first))
        self._pair_of[second, first] = np.arange(len(first))
        is_answered = self._answered(answers)
        can_meet = is_answered[:, first] & is_answered[:, second]  # (Q, P)
        self._state = np.where(can_meet, OPEN, ABSENT).astype(np.int8)
        self._n_open = can_meet.sum(axis=0)
        # Battles of each system on each question, (Q, S), planned ones included.
        self._n_battles = np.zeros(is_answered.shape, dtype=np.intp)
        self._seed = seed
        # Draws are made for systems in the order that they were given in, not that of names.
        given_index = {name: index for index, name in enumerate(systems)}
        self._given = np.array([given_index[name] for name in self.systems])
        # Pairs of equal value are tried in an order that the seed draws.
        drawn = generator(seed, "adaptive pairing").random(len(first))
        self._tie_break = 1.0 + 1e-4 * drawn[self._pair_of[self._given[first], self._given[second]]]
        self._prior = RatingPrior.of_table(prior, self.systems)
        self._unlikeness = unlikeness
        self._battles = Battles.none(self.systems, self.questions)
        self.posterior = battle_posterior(self._battles, self._prior)

    def _answered(self, answers: pd.DataFrame | None) -> Flags:
        if answers is None:
            return np.ones((len(self.questions), len(self.systems)), dtype=bool)
        counts = pd.crosstab(answers["query_id"], answers["system"])
        counts = counts.reindex(index=self.questions, columns=self.systems, fill_value=0)
        return np.asarray(counts.to_numpy() > 0)

    def _count(self, state: int) -> int:
        return int((self._state == state).sum())

    @property
    def judged(self) -> int:
        """Return the number of items judged."""
        return self._count(JUDGED)

    @property
    def failed(self) -> int:
        """Return the number of items whose judgment failed; they are not asked for again."""
        return self._count(FAILED)

    @property
    def open(self) -> int:
        """Return the number of items that can still be asked for."""
        return int(self._n_open.sum())

    @property
    def misordered(self) -> float:
        """Return the expected share of misordered pairs."""
        doubts, _ = self._doubts(self.posterior.covariance)
        return float(doubts.mean())

    def next_pairs(self, n: int) -> list[Item]:
        """Choose and plan the items to judge next.

        Returns:
            ``(question, system, other system)``, the most useful first; at most ``n``.
        """
        covariance = self.posterior.covariance.copy()
        # Share of the systems that meet before values are computed again.
        share_at_once = 0.4
        n_at_once = max(1, int(share_at_once * len(self.systems) / 2))
        chosen: list[tuple[int, int]] = []
        while len(chosen) < n and self.open:
            values, information = self._values(covariance)
            meeting = self._disjoint(values, min(n_at_once, n - len(chosen)))
            for pair in meeting:
                question = self._question_for(pair)
                self._set_state(np.array([question]), np.array([pair]), PLANNED)
                chosen.append((question, pair))
            # The next pairs of this round must not repeat what these battles will tell.
            covariance -= self._reduction(covariance, np.array(meeting), information)
        return [self._item(question, pair) for question, pair in chosen]

    def _values(self, covariance: Floats) -> tuple[Floats, Floats]:
        """Return each pair's value, below 0 if none is open, and its information, (P,) each.

        The value is by how much a battle lowers the variances of all differences (Sherman and
        Morrison), each weighted by the doubt about its order.
        """
        pairs = self._pairs
        doubts, variances = self._doubts(covariance)
        information = _expected_information(pairs.differences(self.posterior.ratings), variances)
        target = covariance @ pairs.laplacian(doubts / variances) @ covariance
        values = information * pairs.spreads(target) / (1.0 + information * variances)
        return np.where(self._n_open > 0, values * self._tie_break, -1.0), information

    def _item(self, question: int, pair: int) -> Item:
        one, other = self._pairs.first[pair], self._pairs.second[pair]
        return self.questions[question], self.systems[one], self.systems[other]

    def withdraw(self, items: Sequence[Item]) -> None:
        """Open planned items again that will not be judged now."""
        for query_id, one, other in items:
            question = self.questions.index(query_id)
            pair = self._pair_of[self.systems.index(one), self.systems.index(other)]
            self._set_state(np.array([question]), np.array([pair]), OPEN)

    def _set_state(self, questions: Indices, pairs: Indices, states: npt.ArrayLike) -> None:
        """Set the states of items, each given once, and count what follows from them."""
        before = self._state[questions, pairs]
        self._state[questions, pairs] = states
        after = self._state[questions, pairs]
        np.add.at(self._n_open, pairs, (after == OPEN).astype(np.intp) - (before == OPEN))
        n_battles = (after > OPEN).astype(np.intp) - (before > OPEN)
        for systems in (self._pairs.first, self._pairs.second):
            np.add.at(self._n_battles, (questions, systems[pairs]), n_battles)

    def _draws(self, pair: int) -> tuple[Floats, Flags]:
        """Draw the order of a pair's questions, and which are left to chance, (Q,) each."""
        given = np.sort(self._given[[self._pairs.first[pair], self._pairs.second[pair]]])
        random = generator(self._seed, "questions", *map(str, given))
        order, share = random.random((2, len(self.questions)))
        return order, share < LEFT_TO_CHANCE

    def _question_for(self, pair: int) -> int:
        one, other = self._pairs.first[pair], self._pairs.second[pair]
        order, is_by_chance = self._draws(pair)
        # Draws are below 1, so they only decide between questions with as many battles.
        crowding = self._n_battles[:, one] + self._n_battles[:, other] + order
        open_questions = np.flatnonzero(self._state[:, pair] == OPEN)
        by_crowding = open_questions[np.argsort(crowding[open_questions])]
        if self._unlikeness is None or is_by_chance[by_crowding[0]]:
            return int(by_crowding[0])
        candidates = by_crowding[~is_by_chance[by_crowding]][:CANDIDATES]
        questions = [self.questions[question] for question in candidates]
        unlike = self._unlikeness(questions, self.systems[one], self.systems[other])
        return int(candidates[np.argmax(unlike)])

    def record(self, judgments: pd.DataFrame) -> None:
        """Record judgments, asked for or not: all of them or, if one is at fault, none.

        Args:
            judgments: Columns ``query_id, system_a, system_b, winner``: ``a``, ``b``, ``tie``, or
                missing for one that failed. Those on other questions count for the ratings.

        Raises:
            UsageError: For an unknown system or winner, an item without two answers, or recorded
                before.
        """
        questions = pd.Index(self.questions).get_indexer(pd.Index(judgments["query_id"]))
        systems = pd.Index(self.systems)
        one = systems.get_indexer(pd.Index(judgments["system_a"]))
        other = systems.get_indexer(pd.Index(judgments["system_b"]))
        is_failed = judgments["winner"].isna().to_numpy()
        is_winner = judgments["winner"].isin(WINNERS).to_numpy()
        pairs = self._pair_of[one, other]
        is_of_questions = questions >= 0
        states = np.where(is_of_questions, self._state[questions, pairs], OPEN)
        items = pd.Series(zip(judgments["query_id"], pairs, strict=True), dtype=object)
        faults = {
            "names an unknown system": np.minimum(one, other) < 0,
            "is of a system against itself": one == other,
            "has a winner that is none of a, b, tie": ~is_failed & ~is_winner,
            "is of systems that did not both answer": states == ABSENT,
            "was recorded before": items.duplicated().to_numpy() | (states >= JUDGED),
        }
        _refuse_faults(judgments, faults)
        outcomes = np.where(is_failed, FAILED, JUDGED)
        self._set_state(
            questions[is_of_questions], pairs[is_of_questions], outcomes[is_of_questions]
        )
        if is_failed.all():
            return
        verdicts = judgments[~is_failed]
        battles = self._battles
        known = pd.Index(battles.questions, dtype=object)
        known = known.append(pd.Index(verdicts["query_id"]).difference(known))
        winner = winner_codes(verdicts)
        self._battles = replace(
            battles,
            side_a=np.append(battles.side_a, one[~is_failed]),
            side_b=np.append(battles.side_b, other[~is_failed]),
            winner=np.append(battles.winner, winner),
            question=np.append(battles.question, known.get_indexer(verdicts["query_id"])),
            n_questions=len(known),
            questions=tuple(known),
        )
        self.posterior = battle_posterior(self._battles.on_battled_questions(), self._prior)

    def rated(self) -> RatingPosterior:
        """Rate with the prior's scale learned from verdicts, which choosing does not need."""
        return battle_posterior(self._battles.on_battled_questions(), self._prior, scales=SCALES)

    def ratings(self) -> pd.DataFrame:
        """Return the table of ``RatingPosterior``, best first."""
        table = self.rated().table
        return table.sort_values("rating", ascending=False, kind="stable", ignore_index=True)

    def _doubts(self, covariance: Floats) -> tuple[Floats, Floats]:
        """Return the probability that each pair is misordered, and its variance, (P,) each."""
        least_variance = 1e-9
        variances = np.maximum(self._pairs.spreads(covariance), least_variance)
        distances = np.abs(self._pairs.differences(self.posterior.ratings))
        return np.asarray(ndtr(-distances / np.sqrt(variances))), variances

    def _disjoint(self, values: Floats, most: int) -> list[int]:
        chosen: list[int] = []
        busy: set[int] = set()
        for pair in np.argsort(-values, kind="stable"):
            if values[pair] < 0 or len(chosen) == most:
                break
            systems = {int(self._pairs.first[pair]), int(self._pairs.second[pair])}
            if busy.isdisjoint(systems):
                chosen.append(int(pair))
                busy |= systems
        return chosen

    def _reduction(self, covariance: Floats, meeting: Indices, information: Floats) -> Floats:
        """Return by how much battles of some pairs lower the covariance (Woodbury)."""
        first, second = self._pairs.first[meeting], self._pairs.second[meeting]
        columns = covariance[:, first] - covariance[:, second]
        noise = np.diag(1.0 / information[meeting])
        spreads = columns[first] - columns[second]
        return columns @ np.linalg.solve(noise + spreads, columns.T)


def _expected_information(differences: Floats, variances: Floats) -> Floats:
    """Return the expected information p (1 - p) of each pair's battle, (P,).

    The win rate follows MacKay's approximation of the logistic-normal integral (1992).
    """
    win_rates = expit(differences / np.sqrt(1.0 + np.pi / 8.0 * variances))
    return np.asarray(win_rates * (1.0 - win_rates))


def _require_distinct(names: Sequence[str], noun: str, fewest: int) -> None:
    if len(set(names)) < max(len(names), fewest):
        raise UsageError(f"name at least {fewest} {noun}, and each once")


def _refuse_faults(judgments: pd.DataFrame, faults: Mapping[str, Flags]) -> None:
    for fault, is_faulty in faults.items():
        if is_faulty.any():
            row = judgments.iloc[int(np.argmax(is_faulty))]
            pair = f"{row['system_a']} and {row['system_b']}"
            raise UsageError(f"the judgment of {row['query_id']}: {pair} {fault}")
