"""Pairs that are chosen as verdicts come: those that tell most about the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtr

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.data.seeds import generator
from arena.data.wording import count_of
from arena.judging.choosing.drawn import (
    Batches,
    ChosenPairs,
    DrawnQuestions,
    asked_pairs,
    draw_questions,
    joined_pairs,
)
from arena.judging.choosing.pairing import AdaptivePairing, batch_size
from arena.judging.pairs import PAIR_COLUMNS, ArenaTexts, PairKey, Show
from arena.judging.run import panel_verdicts
from arena.llm.replies import OVER_BUDGET, PASSING
from arena.llm.usage import Budget
from arena.rating.battles import Battles
from arena.rating.posterior import RatingPosterior, RatingPrior, battle_posterior
from arena.statistics.significance import NORMAL_90

KNOWN = "every ranking is known as well as {} asks"
SPENT = "the budget of {} is spent"
CALLS_SPENT = "this run's budget of {} is spent"
NOTHING_OPEN = "every pair of the questions drawn is judged"
PROGRESS_COLUMNS = ["language", "systems", "questions", "judged", "failed", "open", "known"]
RATING_COLUMNS = ["language", "system", "rating", "low", "high"]
DECIDED = 0.95
"""Probability at which the order of two systems, or that they are tied, counts as known."""
AIMS = MappingProxyType({"first": 0.95, "pairs": 0.2, "width": None})
"""What may be asked for, and the value where none is stated."""

_SIDES = ["query_id", "system_a", "system_b", "winner"]


@dataclass(frozen=True)
class Precision:
    """What has to be known of a ranking.

    Attributes:
        aim: ``first``: which system is best; ``pairs``: the order of all neighbors in the
            ranking, or that they are tied; ``width``: all ratings.
        value: Of ``first`` the probability; of ``pairs`` the difference in logits that is a tie;
            of ``width`` the width in logits of the widest 90% interval.
    """

    aim: str
    value: float

    @classmethod
    def parse(cls, text: str) -> Precision:
        """Read ``first=0.95``, ``pairs=0.2`` or ``width=0.5``; ``first`` and ``pairs`` have these.

        Raises:
            UsageError: For anything else.
        """
        aim, has_value, stated = text.strip().partition("=")
        try:
            value = float(stated) if has_value else AIMS.get(aim)
        except ValueError:
            value = None
        most = 1.0 if aim == "first" else np.inf
        if aim not in AIMS or value is None or not 0 < value < most:
            raise UsageError(
                f"`until` is {text!r}; write first=0.95 (probability that the leader is best), "
                "pairs or pairs=0.2 (neighbors decided, or within so many logits), or width=0.5 "
                "(of the widest 90% interval)"
            )
        return cls(aim, value)

    def __str__(self) -> str:
        return f"{self.aim}={self.value:g}"

    def judge(self, posterior: RatingPosterior) -> tuple[bool, str]:
        """Say whether it is reached, and how far it is in words."""
        if self.aim == "first":
            leader = int(np.argmax(posterior.ratings))
            draws = posterior.draws(generator(0, "stopping"))
            share = float((draws.argmax(axis=1) == leader).mean())
            said = f"{posterior.systems[leader]} is first with probability {share:.3f}"
            return share >= self.value, said
        if self.aim == "pairs":
            known = neighbors_known(posterior, self.value)
            return bool(known.all()), f"{known.sum()} of {len(known)} neighbors decided or tied"
        width = 2.0 * NORMAL_90 * float(posterior.standard_errors.max())
        return width < self.value, f"the widest 90% interval is {width:.3f} logits"


@dataclass(frozen=True)
class AdaptivePlan:
    """What may be asked, and when to stop.

    Attributes:
        budget: Most pairs of the questions drawn that are judged in all, those of earlier runs
            and those without a verdict included; None for any number.
        until: What has to be known of every language's ranking; None to spend the budget.
        prior: Columns ``language, system, rating, standard_error``: what is expected of systems
            before they are judged, in logits; None or absent systems where nothing is.
        questions: Questions drawn of each language; None for all.
        languages: Languages to judge; all by default.
        seed: Seed of all draws.
        show: What the judges see of a system.
    """

    budget: int | None = None
    until: Precision | None = None
    prior: pd.DataFrame | None = None
    questions: int | None = None
    languages: Sequence[str] = ()
    seed: int = 0
    show: Show = "output"

    def __post_init__(self) -> None:
        if self.budget is None and self.until is None:
            raise UsageError("say when to stop: give a `budget`, or what is to be known (`until`)")
        if self.budget is not None and self.budget < 1:
            raise UsageError(f"`budget` is {self.budget}; use at least 1")


class AdaptivePairs:
    """Chooses, batch by batch, the pairs that lower the uncertainty of the ranking most.

    Batches go to the language whose order is known least, and are chosen there by
    ``AdaptivePairing``. They follow from the verdicts that are there, the prior and the seed: a
    run that was killed goes on as if it had not been. Of a panel, its majority decides what is
    asked next.
    """

    def __init__(
        self,
        arena: Arena,
        judges: Sequence[str],
        plan: AdaptivePlan,
        failed: pd.DataFrame | None = None,
        calls: Budget | None = None,
    ) -> None:
        """Start with the verdicts that the arena holds.

        Args:
            arena: Questions, answers, and the judgments there are.
            judges: Names of the judges that are asked.
            plan: What may be asked.
            failed: Pairs that earlier runs got no verdict on; see ``lasting_failures``.
            calls: The budget of calls that the judges share.

        Raises:
            UsageError: If there is nothing to judge.
        """
        self._judges, self._plan, self._calls = list(judges), plan, calls or Budget()
        self._texts = ArenaTexts(arena)
        languages = plan.languages or None
        self._drawn = draw_questions(arena, self._texts, plan.questions, languages, plan.seed)
        votes = arena.judgments[arena.judgments["judge"].isin(self._judges)]
        self._votes = votes
        failures = _lasting(failed, votes, self._judges)
        self._rankings = [
            _LanguageRanking(language, self._drawn, arena.answers, plan)
            for language in self._drawn.counts
        ]
        for ranking in self._rankings:
            ranking.take_in(*_spoken(votes, failures, self._judges))
        questions = pd.MultiIndex.from_frame(votes[QUESTION_KEY])
        is_drawn = questions.isin(list(self._drawn.keys))
        self._earlier = votes.loc[is_drawn, PAIR_COLUMNS].drop_duplicates()

    @property
    def whole(self) -> int | None:
        """Pairs left of the budget."""
        budget = self._plan.budget
        return None if budget is None else max(budget - self._done, 0)

    def batches(self) -> Batches:
        """Yield what to ask next, until enough is known, or no more may be asked."""
        while (reason := self._reason_to_stop()) is None:
            ranking = max(
                filter(self._may_ask, self._rankings), key=lambda one: misordered(one.posterior)
            )
            limits = [batch_size(len(ranking.systems), ranking.done)]
            if self._calls.calls_left is not None:
                limits.append(self._calls.calls_left // len(self._judges))
            if self._plan.budget is not None:
                limits.append(self._plan.budget - self._done)
            items = ranking.pairing.next_pairs(min(limits))
            pairs = self._pairs([(ranking.language, *item) for item in items])
            found = yield pairs
            self._votes = pd.concat([self._votes, found.judgments], ignore_index=True)
            now = pd.concat([pairs.table, pairs.identical], ignore_index=True)
            ranking.take_in(*_spoken(_among(self._votes, now), found.failures, self._judges))
        return reason

    def chosen(self, asked: Sequence[ChosenPairs]) -> ChosenPairs:
        """Put together what was asked, in this run and before."""
        return joined_pairs(self._pairs([]), asked, self._earlier)

    def progress(self) -> pd.DataFrame:
        """Say of each language what is judged and known, ``PROGRESS_COLUMNS``."""
        until = self._plan.until or Precision.parse("pairs")
        rows = []
        for one in self._rankings:
            sizes = (len(one.systems), len(one.questions))
            counts = (one.pairing.judged, one.pairing.failed, one.pairing.open)
            rows.append((one.language, *sizes, *counts, until.judge(one.posterior)[1]))
        return pd.DataFrame(rows, columns=PROGRESS_COLUMNS)

    def ratings(self) -> pd.DataFrame:
        """Rate by verdicts and prior: ``RATING_COLUMNS``, best first, with 90% intervals."""
        tables = []
        for one in self._rankings:
            known, width = one.posterior, NORMAL_90 * one.posterior.standard_errors
            bounds = {"low": known.ratings - width, "high": known.ratings + width}
            table = pd.DataFrame({"system": known.systems, "rating": known.ratings, **bounds})
            table = table.assign(language=one.language)[RATING_COLUMNS]
            tables.append(table.sort_values("rating", ascending=False, kind="stable"))
        return pd.concat(tables, ignore_index=True)

    @property
    def _done(self) -> int:
        return sum(ranking.done for ranking in self._rankings)

    def _reason_to_stop(self) -> str | None:
        plan, left = self._plan, self._calls.calls_left
        if plan.until is not None and all(map(self._is_known, self._rankings)):
            return KNOWN.format(plan.until)
        if plan.budget is not None and self._done >= plan.budget:
            return SPENT.format(count_of(plan.budget, "pair"))
        if not any(map(self._may_ask, self._rankings)):
            return NOTHING_OPEN
        if left is not None and left < len(self._judges):
            return CALLS_SPENT.format(count_of(self._calls.max_calls or 0, "call"))
        return None

    def _is_known(self, ranking: _LanguageRanking) -> bool:
        return self._plan.until is not None and self._plan.until.judge(ranking.posterior)[0]

    def _may_ask(self, ranking: _LanguageRanking) -> bool:
        return ranking.pairing.open > 0 and not self._is_known(ranking)

    def _pairs(self, keys: Sequence[PairKey]) -> ChosenPairs:
        plan, drawn = self._plan, self._drawn
        pairs = asked_pairs(self._texts, keys, drawn, False, plan.seed, plan.show)
        return ChosenPairs(pairs.table, pairs.identical, False, drawn, plan.show, adaptive=True)


class _LanguageRanking:
    """What is judged and known of one language."""

    def __init__(
        self, language: str, drawn: DrawnQuestions, answers: pd.DataFrame, plan: AdaptivePlan
    ) -> None:
        self.language = language
        self.questions = [query_id for of, query_id in drawn.keys if of == language]
        own = answers[(answers["language"] == language) & answers["query_id"].isin(self.questions)]
        self.systems = tuple(sorted(own["system"].unique()))
        prior = plan.prior
        if prior is not None:
            prior = prior[prior["language"] == language]
        self._prior = RatingPrior.of_table(prior, self.systems, 1.0)
        self.pairing = AdaptivePairing(self.systems, self.questions, own, plan.seed, prior=prior)
        self._verdicts = pd.DataFrame(columns=_SIDES, dtype=object)
        self._posterior: RatingPosterior | None = None

    @property
    def done(self) -> int:
        """Pairs that count for the budget."""
        return self.pairing.judged + self.pairing.failed

    @property
    def posterior(self) -> RatingPosterior:
        """What verdicts and prior say of the systems."""
        if self._posterior is None:
            battles = Battles.none(self.systems, self.questions)
            if not self._verdicts.empty:
                battles = Battles.from_judgments(self._verdicts, systems=self.systems)
            self._posterior = battle_posterior(battles, self._prior)
        return self._posterior

    def take_in(self, judgments: pd.DataFrame, failures: pd.DataFrame) -> None:
        """Learn from verdicts on any questions, and that pairs have none."""
        verdicts, failed = (self._own(table) for table in (judgments, failures))
        both = pd.concat(
            [one_of_orders(verdicts, ["query_id"]), failed[_SIDES[:-1]].assign(winner=None)]
        )
        self.pairing.record(both[both["query_id"].isin(self.questions)])
        self._verdicts = pd.concat([self._verdicts, verdicts[_SIDES]], ignore_index=True)
        self._posterior = None

    def _own(self, table: pd.DataFrame) -> pd.DataFrame:
        known = table["system_a"].isin(self.systems) & table["system_b"].isin(self.systems)
        return table[known & (table["language"] == self.language)]


def neighbors_known(posterior: RatingPosterior, margin: float) -> npt.NDArray[np.bool_]:
    """Tell of each two neighbors in the ranking whether they are decided, or tied.

    Args:
        posterior: Ratings of S systems.
        margin: Difference in logits below which two systems are tied.

    Returns:
        Shape (S - 1,), the leader's first.
    """
    order = np.argsort(-posterior.ratings, kind="stable")
    ratings, covariance = posterior.ratings[order], posterior.covariance[np.ix_(order, order)]
    apart = ratings[:-1] - ratings[1:]
    own, next_to = np.diag(covariance), np.diag(covariance, 1)
    error = np.sqrt(np.maximum(own[:-1] + own[1:] - 2.0 * next_to, np.finfo(float).tiny))
    decided = ndtr(apart / error) >= DECIDED
    tied = ndtr((margin - apart) / error) - ndtr((-margin - apart) / error) >= DECIDED
    return np.asarray(decided | tied)


def misordered(posterior: RatingPosterior) -> float:
    """Return the expected share of pairs that the ranking has in the wrong order."""
    first, second = np.triu_indices(len(posterior.systems), k=1)
    variance = np.diag(posterior.covariance)
    spread = variance[first] + variance[second] - 2.0 * posterior.covariance[first, second]
    apart = np.abs(posterior.ratings[first] - posterior.ratings[second])
    return float(ndtr(-apart / np.sqrt(np.maximum(spread, np.finfo(float).tiny))).mean())


def by_name(pairs: pd.DataFrame) -> pd.DataFrame:
    """Put the first system by name on side A of every pair."""
    first = pairs[["system_a", "system_b"]].min(axis=1)
    other = pairs["system_b"].where(pairs["system_a"] == first, pairs["system_a"])
    return pairs.assign(system_a=first, system_b=other)


def one_of_orders(verdicts: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Make one verdict of several on a pair, in whichever orders: a tie where they differ.

    Args:
        verdicts: Columns ``system_a, system_b, winner``, and those of ``by``.
        by: What tells pairs of the same systems apart.
    """
    named = by_name(verdicts)
    is_first = verdicts["system_a"] == named["system_a"]
    flipped = verdicts["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    same = named.assign(winner=verdicts["winner"].where(is_first, flipped))
    grouped = same.groupby([*by, "system_a", "system_b"], sort=True)["winner"]
    merged = grouped.agg(lambda found: found.iloc[0] if found.nunique() == 1 else "tie")
    return merged.reset_index()


def _keys(table: pd.DataFrame, *more: str) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(table[[*PAIR_COLUMNS, *more]])


def _among(votes: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts on some pairs, in whichever order."""
    return votes[_keys(by_name(votes)).isin(_keys(by_name(pairs)))]


def _spoken(
    votes: pd.DataFrame, failed: pd.DataFrame, names: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the verdicts on pairs that all judges have spoken of, and the pairs without one.

    Of a panel, the verdict is that of its majority, in whichever orders its judges saw the pair.
    """
    if len(names) == 1:
        return votes, failed
    votes, failed = one_of_orders(votes, ["judge", *QUESTION_KEY]), by_name(failed)
    said = pd.concat([votes[[*PAIR_COLUMNS, "judge"]], failed[[*PAIR_COLUMNS, "judge"]]])
    times = said.drop_duplicates().groupby(PAIR_COLUMNS).size()
    whole = times[times == len(names)].index.to_frame(index=False)
    panel = panel_verdicts(_among(votes, whole), names).judgments
    return panel, whole[~_keys(whole).isin(_keys(panel))]


def _lasting(
    failed: pd.DataFrame | None, there: pd.DataFrame, names: Sequence[str]
) -> pd.DataFrame:
    """Return the pairs that judges have given no verdict on and never will."""
    if failed is None or failed.empty:
        return pd.DataFrame(columns=[*PAIR_COLUMNS, "judge", "reason"], dtype=object)
    listed = failed[~failed["reason"].isin([*PASSING, OVER_BUDGET]) & failed["judge"].isin(names)]
    return listed[~_keys(listed, "judge").isin(_keys(there, "judge"))]
