"""Adaptive pairing: which answers to compare next, so that the ranking settles soonest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr

from arena.data.errors import UsageError
from arena.data.schema import WINNERS
from arena.data.seeds import generator
from arena.data.types import Floats
from arena.rating.battles import Battles
from arena.rating.pairs import Pairs
from arena.rating.posterior import RatingPosterior, RatingPrior, battle_posterior

Item = tuple[str, str, str]

ABSENT, OPEN, PLANNED, JUDGED, FAILED = range(5)

STEP_GROWTH = 0.05
"""An adaptive run looks at its outcomes whenever this share more of them is there."""
SYSTEMS_A_ROUND = 0.4
"""Share of the systems that meet before the usefulness of battles is computed again."""
TIE_BREAK = 1e-4
LEAST_VARIANCE = 1e-9
LOGISTIC_NORMAL = np.pi / 8.0

_COLUMNS = ["query_id", "system_a", "system_b", "winner"]


def batch_size(systems: int, judged: int) -> int:
    """Return how many items to ask for before the next look at outcomes."""
    return max(1, systems // 2, int(STEP_GROWTH * judged))


class AdaptivePairing:
    """Chooses items to judge, an item being a pair of systems on a question of one language.

    Ask for a batch with ``next_pairs``, judge it, hand back what came of it with ``record``, in any
    order, and so on. To resume a run, record the judgments there are. What is asked for depends on
    the seed, on what was recorded and on what is out, and on nothing else.

    A battle is worth what it takes from the uncertainty of the ratings' posterior where that
    leaves the order of two systems in doubt. Small batches choose better: see ``batch_size``.

    Attributes:
        systems: The S systems, sorted.
        questions: The Q questions, sorted.
        posterior: Ratings by the prior and what was recorded.
    """

    posterior: RatingPosterior

    def __init__(
        self,
        systems: Sequence[str],
        questions: Sequence[str],
        answers: pd.DataFrame | None = None,
        seed: int = 0,
        prior: pd.DataFrame | None = None,
    ) -> None:
        """Start with nothing judged.

        Args:
            systems: At least two.
            questions: Query ids of one language.
            answers: Columns ``query_id, system``, in that language; by default every system has
                answered every question.
            seed: Of ties, and of the questions that pairs meet on.
            prior: Columns ``system, rating, standard_error``: what is expected of systems, in
                logits. Where judgments show it to be further off than it states, it is trusted
                less.

        Raises:
            UsageError: For names given twice, too few, or a standard error that is not above 0.
        """
        self.systems, self.questions = tuple(sorted(systems)), tuple(sorted(questions))
        for names, noun, fewest in ((self.systems, "systems", 2), (self.questions, "questions", 1)):
            if len(set(names)) < max(len(names), fewest):
                raise UsageError(f"name at least {fewest} {noun}, and each once")
        first, second = np.triu_indices(len(self.systems), k=1)
        self._pairs = Pairs(first, second, len(self.systems))
        self._pair_of = np.zeros((len(self.systems),) * 2, dtype=np.intp)
        self._pair_of[first, second] = self._pair_of[second, first] = np.arange(len(first))
        answered = np.ones((len(self.questions), len(self.systems)), dtype=bool)
        if answers is not None:
            there = pd.crosstab(answers["query_id"], answers["system"]) > 0
            there = there.reindex(index=self.questions, columns=self.systems, fill_value=False)
            answered = there.to_numpy(dtype=bool)
        can_meet = answered[:, first] & answered[:, second]
        self._state = np.where(can_meet, OPEN, ABSENT).astype(np.int8)
        random = generator(seed, "adaptive pairing")
        self._chance = random.random(can_meet.shape)
        self._order = 1.0 + TIE_BREAK * random.random(len(first))
        self._prior = RatingPrior.of_table(prior, self.systems, 1.0)
        self._verdicts = pd.DataFrame(columns=_COLUMNS, dtype=object)
        self.posterior = battle_posterior(Battles.none(self.systems, self.questions), self._prior)

    @property
    def judged(self) -> int:
        """Number of items judged."""
        return int((self._state == JUDGED).sum())

    @property
    def failed(self) -> int:
        """Number of items whose judgment failed; they are not asked for again."""
        return int((self._state == FAILED).sum())

    @property
    def open(self) -> int:
        """Number of items that can still be asked for."""
        return int((self._state == OPEN).sum())

    @property
    def misordered(self) -> float:
        """Expected share of the pairs of systems that the ranking has in the wrong order."""
        return float(self._doubts(self.posterior.covariance)[0].mean())

    def next_pairs(self, n: int) -> list[Item]:
        """Choose the items to judge next, which are then out.

        Returns:
            ``(question, system, other system)`` of each, the most useful first; fewer than ``n``
            where fewer are left, none at the end.
        """
        covariance, pairs = self.posterior.covariance.copy(), self._pairs
        apart = pairs.differences(self.posterior.ratings)
        members = np.abs(pairs.incidence.toarray()).T
        battles = (self._state > OPEN).astype(np.float64) @ members  # of systems on questions
        size = max(1, int(SYSTEMS_A_ROUND * len(self.systems) / 2))
        chosen: list[tuple[int, int]] = []
        while len(chosen) < n and self.open:
            doubts, variance = self._doubts(covariance)
            win = expit(apart / np.sqrt(1.0 + LOGISTIC_NORMAL * variance))
            information = win * (1.0 - win)
            target = covariance @ pairs.laplacian(doubts / variance) @ covariance
            worth = information * pairs.spreads(target) / (1.0 + information * variance)
            worth = np.where((self._state == OPEN).any(axis=0), worth * self._order, -1.0)
            for pair in self._disjoint(worth, min(size, n - len(chosen))):
                one, other = pairs.first[pair], pairs.second[pair]
                crowded = battles[:, one] + battles[:, other] + self._chance[:, pair]
                question = int(np.argmin(np.where(self._state[:, pair] == OPEN, crowded, np.inf)))
                self._state[question, pair] = PLANNED
                battles[question, [one, other]] += 1.0
                chosen.append((question, pair))
                shared = covariance[one] - covariance[other]
                known = information[pair] / (
                    1.0 + information[pair] * (shared[one] - shared[other])
                )
                covariance -= known * np.outer(shared, shared)
        first, second = pairs.first, pairs.second
        return [
            (self.questions[question], self.systems[first[pair]], self.systems[second[pair]])
            for question, pair in chosen
        ]

    def record(self, judgments: pd.DataFrame) -> None:
        """Take in judgments, asked for or not; all of them or, where one is at fault, none.

        Args:
            judgments: Columns ``query_id, system_a, system_b, winner``: ``a``, ``b``, ``tie``, or
                missing for a judgment that failed, whose item is not asked for again. Judgments
                on further questions tell of the systems.

        Raises:
            UsageError: For a system or winner that is not known, an item without two answers,
                and an item recorded before.
        """
        question = pd.Index(self.questions).get_indexer(pd.Index(judgments["query_id"]))
        one, other = (
            pd.Index(self.systems).get_indexer(pd.Index(judgments[side]))
            for side in ("system_a", "system_b")
        )
        failed = judgments["winner"].isna().to_numpy()
        pair = self._pair_of[one, other]
        state = np.where(question >= 0, self._state[question, pair], OPEN)
        keys = pd.Series(zip(judgments["query_id"], pair, strict=True), dtype=object)
        faults = {
            "names an unknown system": np.minimum(one, other) < 0,
            "is of a system against itself": one == other,
            "has a winner that is none of a, b, tie": ~failed
            & ~judgments["winner"].isin(WINNERS).to_numpy(),
            "is of systems that did not both answer": state == ABSENT,
            "was recorded before": keys.duplicated().to_numpy() | (state >= JUDGED),
        }
        for fault, holds in faults.items():
            if holds.any():
                row = judgments.iloc[int(np.argmax(holds))]
                named = f"{row['query_id']}: {row['system_a']} and {row['system_b']}"
                raise UsageError(f"the judgment of {named} {fault}")
        ours = question >= 0
        self._state[question[ours], pair[ours]] = np.where(failed[ours], FAILED, JUDGED)
        said = judgments.loc[~failed, _COLUMNS]
        if len(said):
            self._verdicts = pd.concat([self._verdicts, said], ignore_index=True)
            battles = Battles.from_judgments(self._verdicts, systems=self.systems)
            self.posterior = battle_posterior(battles, self._prior)

    def ratings(self) -> pd.DataFrame:
        """Return columns ``system, rating, standard_error`` (logits), best first."""
        known = self.posterior
        columns = {"rating": known.ratings, "standard_error": known.standard_errors}
        table = pd.DataFrame({"system": known.systems, **columns})
        return table.sort_values("rating", ascending=False, kind="stable", ignore_index=True)

    def _doubts(self, covariance: Floats) -> tuple[Floats, Floats]:
        """Probability of the other order of each pair, and variance of its difference, (P,)."""
        variance = np.maximum(self._pairs.spreads(covariance), LEAST_VARIANCE)
        apart = np.abs(self._pairs.differences(self.posterior.ratings))
        return np.asarray(ndtr(-apart / np.sqrt(variance))), variance

    def _disjoint(self, worth: Floats, most: int) -> list[int]:
        """Take the most useful pairs, of no system two."""
        chosen: list[int] = []
        busy: set[int] = set()
        for pair in np.argsort(-worth, kind="stable"):
            met = {int(self._pairs.first[pair]), int(self._pairs.second[pair])}
            if worth[pair] < 0 or len(chosen) == most:
                break
            if not met & busy:
                chosen.append(int(pair))
                busy |= met
        return chosen
