"""Plans of judging by replay: calls until a few verdicts rank as all recorded ones do.

Recorded verdicts answer what a plan asks; a pair that was not recorded in the order asked is
answered by the other order, or is not available. Three plans:

- default: what ``judge`` does: adaptive pairs in one order, a tenth of them in both, from the
  prior of a first board, which has seen no verdict;
- whole questions: all pairs of few questions, in both orders where both are recorded;
- random: pairs at random over all questions, each in one order.

All plans are rated with the same prior: that of a first board as ``judge`` makes it, whose weights
are learned again without the arena (``judge_preferences.py``). Measured are the calls at which the
mean tau with the ranking by all verdicts reaches 0.8 and 0.9, and where the default plan stops by
itself.

A second table compares, with truth on the other half of the questions, which question a pair is
asked on: one where both systems met fewest others, or of eight such the one where their answers
differ most, but for a quarter that is left to chance, as ``judge`` does. The former takes the
prior's scale as stated; the latter learns it.

    python benchmarks/tables.py plans questions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from judge_preferences import all_moments, learned_weights

from arena import read_arena
from arena.data.arena import Arena
from arena.data.types import Floats, Integers
from arena.judging import JudgingSettings
from arena.judging.answer_pairs import PAIR_COLUMNS, ArenaTexts, PairKey, pair_keys, unordered
from arena.judging.choosing.adaptive import AdaptivePairs
from arena.judging.choosing.chosen_pairs import ChosenPairs, Verdicts
from arena.judging.choosing.pairing import AdaptivePairing, Item, round_size
from arena.judging.llm_judge import FAILURE_COLUMNS
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior
from arena.rating.likelihood import BattleLikelihood
from arena.rating.posterior import RatingPosterior, RatingPrior, battle_posterior
from arena.statistics.agreement import kendall_tau
from arena.statistics.bootstrap import generator
from arena.statistics.significance import NORMAL_90
from features import extract
from surrogate.board.unjudged_board import first_ratings, preferences_for
from surrogate.learning.training_data import with_answers
from surrogate_arena.diagnosis.judging_prior import first_prior, judging_prior

LEVELS = (0.8, 0.9)
A_SYSTEM = (1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
"""Calls a system at which rankings are compared."""
SEEDS = 8
SETTLED = 0.05
NEVER = 1e-9
MIRRORED = {"a": "b", "b": "a", "tie": "tie"}


@dataclass(frozen=True)
class Records:
    """Recorded verdicts of one judge in one language, and the ranking by all of them."""

    arena: Arena
    language: str
    rows: pd.DataFrame
    winners: dict[PairKey, str]
    systems: tuple[str, ...]
    ratings: Floats
    prior: pd.DataFrame | None

    @classmethod
    def of(
        cls,
        arena: Arena,
        judge: str,
        language: str,
        features: pd.DataFrame,
        preferences: Mapping[str, float] | None,
    ) -> Records:
        """Collect what a judge of an arena recorded, the first verdict in each order.

        Without preferences, which may be empty, nothing is expected of the systems.
        """
        rows = arena.judgments
        rows = rows[(rows["judge"] == judge) & (rows["language"] == language)]
        rows = rows.drop_duplicates(PAIR_COLUMNS)[[*PAIR_COLUMNS, "winner", "judge"]]
        battles = Battles.from_judgments(rows)
        ridge = NormalPrior.ridge(len(battles.systems), DEFAULT_RIDGE)
        ratings = BattleLikelihood(battles.items).mode(ridge)
        n_questions = int((arena.queries["language"] == language).sum())
        prior = None
        if preferences is not None:
            first = first_ratings(
                features, language, battles.systems, n_questions, preferences=preferences
            )
            prior = first_prior(first.table, {language: first.basis})
        return cls(
            arena=replace(arena, judgments=arena.judgments.iloc[:0]),
            language=language,
            rows=rows.reset_index(drop=True),
            winners=dict(zip(pair_keys(rows), rows["winner"], strict=True)),
            systems=battles.systems,
            ratings=ratings,
            prior=prior,
        )

    def answered(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Return the recorded verdicts on pairs, one row per call."""
        keys = set(pair_keys(pairs))
        verdicts = []
        for key in pair_keys(pairs):
            language, query_id, system_a, system_b = key
            mirrored = (language, query_id, system_b, system_a)
            if key in self.winners:
                verdicts.append((*key, self.winners[key]))
            elif mirrored in self.winners and mirrored not in keys:
                verdicts.append((*key, MIRRORED[self.winners[mirrored]]))
        return pd.DataFrame(verdicts, columns=[*PAIR_COLUMNS, "winner"], dtype=object)

    def tau(self, rows: pd.DataFrame) -> float:
        """Return the tau of the ranking by some verdicts with that by all."""
        battles = Battles.from_judgments(rows.assign(judge="j"), systems=self.systems)
        prior = RatingPrior.of_table(self.prior, self.systems)
        tau = kendall_tau(battle_posterior(battles, prior).ratings, self.ratings)
        return float(np.nan_to_num(tau))


class DefaultPlan:
    """The verdicts that ``judge`` would ask for, as far as somebody wants to know them.

    Attributes:
        stop: Calls at which the plan would stop, once they are asked.
    """

    def __init__(self, records: Records, seed: int) -> None:
        settings = JudgingSettings(
            model="j", until=NEVER, budget=10**9, seed=seed, languages=(records.language,)
        )
        self._records = records
        self._chooser = AdaptivePairs(records.arena, settings, records.prior)
        self._rounds = self._chooser.rounds()
        self._next_pairs = next(self._rounds, None)
        self._verdicts: list[pd.DataFrame] = []
        self._n_asked = 0
        self.stop = float("inf")

    def head(self, n_calls: int) -> pd.DataFrame:
        """Return the first verdicts, in the order asked."""
        while self._n_asked < n_calls and self._next_pairs is not None:
            self._ask(self._next_pairs)
        return pd.concat(self._verdicts, ignore_index=True).head(n_calls)

    def settled(self, most_calls: int) -> bool:
        """Ask until the plan would stop; not if that takes too many calls."""
        while self._next_pairs is not None and self._n_asked < most_calls:
            if np.isfinite(self.stop):
                break
            self._ask(self._next_pairs)
        return bool(np.isfinite(self.stop))

    def _ask(self, next_pairs: ChosenPairs) -> None:
        rows = self._records.answered(next_pairs.table)
        pairs = next_pairs.table[PAIR_COLUMNS].drop_duplicates()
        answered = pd.MultiIndex.from_frame(rows[PAIR_COLUMNS])
        is_answered = pd.MultiIndex.from_frame(pairs).isin(answered)
        failures = pairs[~is_answered].reindex(columns=FAILURE_COLUMNS)
        self._verdicts.append(rows)
        self._n_asked += len(rows)
        try:
            self._next_pairs = self._rounds.send(Verdicts(rows, failures))
        except StopIteration:
            self._next_pairs = None
            return
        if self._chooser.progress()["misordered"].max() <= SETTLED:
            self.stop = min(self.stop, self._n_asked)


def whole_questions(records: Records, seed: int) -> pd.DataFrame:
    """Return all verdicts, question by question."""
    rng = generator(seed, "whole questions")
    query_ids = sorted(records.rows["query_id"].unique())
    positions = dict(zip(query_ids, rng.permutation(len(query_ids)), strict=True))
    rows = records.rows.iloc[rng.permutation(len(records.rows))]
    return rows.sort_values("query_id", key=lambda ids: ids.map(positions), kind="stable")


def random_pairs(records: Records, seed: int) -> pd.DataFrame:
    """Return pairs at random, each in one of the orders recorded."""
    rng = generator(seed, "random pairs")
    rows = records.rows.iloc[rng.permutation(len(records.rows))]
    names = np.sort(rows[["system_a", "system_b"]].to_numpy(str), axis=1)
    pairs = rows[["query_id"]].assign(first=names[:, 0], second=names[:, 1])
    return rows[~pairs.duplicated().to_numpy()]


def tau_curve(
    records: Records, plans: Sequence[DefaultPlan | pd.DataFrame], n_calls: Integers
) -> Floats:
    """Return mean tau by calls, as far as the first calls that reach the highest level."""
    taus: list[float] = []
    for n in n_calls:
        taus.append(float(np.mean([records.tau(plan.head(n)) for plan in plans])))
        if taus[-1] >= max(LEVELS):
            break
    return np.array(taus)


def calls_needed(curve: Floats, n_calls: Integers, level: float) -> float:
    """Return the calls at which a mean curve, made monotone, reaches a level; else infinity."""
    rising = np.maximum.accumulate(curve)
    if rising[-1] < level:
        return float("inf")
    index = int(np.argmax(rising >= level))
    if index == 0:
        return float(n_calls[0])
    part = (level - rising[index - 1]) / (rising[index] - rising[index - 1])
    return float(n_calls[index - 1] + part * (n_calls[index] - n_calls[index - 1]))


def plans(folder: Path, judge: str, language: str) -> list[str]:
    """Return the calls of each plan to both levels, and where the default one stops."""
    arena = read_arena(folder)
    preferences = preferences_for(arena)
    if preferences:
        preferences = learned_weights(all_moments(folder.parent, None), without=[folder.name])
    features = with_answers(extract(arena), arena.answers)
    records = Records.of(arena, judge, language, features, preferences)
    n_calls = np.round(np.array(A_SYSTEM) * len(records.systems)).astype(np.int64)
    n_calls = np.unique(np.minimum(n_calls, len(random_pairs(records, 0))))
    default = [DefaultPlan(records, seed) for seed in range(SEEDS)]
    whole = [whole_questions(records, seed) for seed in range(SEEDS)]
    by_chance = [random_pairs(records, seed) for seed in range(SEEDS)]
    cells = []
    for plans_of_seeds in (default, whole, by_chance):
        curve = tau_curve(records, plans_of_seeds, n_calls)
        needed = [calls_needed(curve, n_calls, level) for level in LEVELS]
        cells.append(", ".join(f"{calls:,.0f}" if np.isfinite(calls) else "–" for calls in needed))
    cells.append("not")
    stops = [
        (plan.stop, records.tau(plan.head(int(plan.stop))))
        for plan in default
        if plan.settled(int(n_calls[-1]))
    ]
    if stops:
        calls, tau = np.mean(stops, axis=0)
        cells[-1] = f"{calls:,.0f}, {tau:.2f}"
    return cells


CALLS = (4, 8, 16)
"""Calls a system at which two ways to choose questions are compared."""
MEASURES = ("tau", "slope", "inside")
SYSTEMS = 60
"""As many halves are drawn as make about this many systems, in all languages."""
FEWEST_HALVES = 3
MOST_SHARE = 0.6
"""Of a half's pairs that are asked: with more, choosing has no choice."""


@dataclass(frozen=True)
class Half:
    """What may be asked on half of the questions, and the ratings by verdicts on the other."""

    language: str
    texts: ArenaTexts
    questions: Sequence[str]
    answers: pd.DataFrame
    winners: Mapping[PairKey, str]
    prior: pd.DataFrame
    truth: RatingPosterior

    @classmethod
    def of(cls, arena: Arena, judge: str, language: str, seed: int) -> Half:
        """Draw half of the questions that a judge has judged."""
        rows = arena.judgments
        rows = rows[(rows["judge"] == judge) & (rows["language"] == language)]
        rows = rows.drop_duplicates(PAIR_COLUMNS)
        query_ids = generator(seed, "half").permutation(sorted(rows["query_id"].unique()))
        asked = sorted(map(str, query_ids[: len(query_ids) // 2]))
        is_asked = rows["query_id"].isin(asked)
        judged = {*rows["system_a"], *rows["system_b"]}
        answers = arena.answers[arena.answers["system"].isin(judged)]
        unjudged = replace(arena, judgments=rows.iloc[:0], answers=answers)
        drawn = pd.DataFrame({"language": language, "query_id": asked})
        winners = {}
        for key, winner in zip(pair_keys(rows[is_asked]), rows["winner"][is_asked], strict=True):
            winners[unordered(key)] = winner if unordered(key) == key else MIRRORED[winner]
        return cls(
            language=language,
            texts=ArenaTexts(arena),
            questions=asked,
            answers=answers[answers["language"] == language],
            winners=winners,
            prior=judging_prior(unjudged, drawn, seed=seed),
            truth=battle_posterior(Battles.from_judgments(rows[~is_asked], systems=sorted(judged))),
        )

    def verdicts(self, items: Sequence[Item], rng: np.random.Generator) -> pd.DataFrame:
        """Return recorded verdicts on items, sides drawn; None where there is none."""
        rows = []
        for query_id, *pair in items:
            one, other = rng.permutation(pair)
            key = (self.language, query_id, one, other)
            winner = self.winners.get(unordered(key))
            if winner is not None and unordered(key) != key:
                winner = MIRRORED[winner]
            rows.append((query_id, one, other, winner))
        return pd.DataFrame(rows, columns=[*PAIR_COLUMNS[1:], "winner"], dtype=object)

    def replayed(self, *, by_unlikeness: bool, seed: int) -> pd.DataFrame:
        """Return tau, slope of the truth, and share inside intervals, by calls a system."""
        systems = self.truth.systems
        unlikeness = partial(self.texts.unlikeness, self.language) if by_unlikeness else None
        pairing = AdaptivePairing(
            systems, self.questions, self.answers, seed, self.prior, unlikeness
        )
        rng = generator(seed, "sides")
        measured = {}
        for calls in CALLS:
            n_calls = calls * len(systems)
            if n_calls > MOST_SHARE * len(self.winners):
                break
            while pairing.judged < n_calls:
                n_pairs = min(round_size(len(systems), pairing.judged), n_calls - pairing.judged)
                pairing.record(self.verdicts(pairing.next_pairs(n_pairs), rng))
            rated = pairing.rated() if by_unlikeness else pairing.posterior
            measured[calls] = self._compared(rated)
        return pd.DataFrame(measured, index=MEASURES)

    def _compared(self, posterior: RatingPosterior) -> tuple[float, float, float]:
        ratings, truth = posterior.ratings, self.truth.ratings
        joint_errors = np.hypot(posterior.standard_errors, self.truth.standard_errors)
        is_inside = np.abs(ratings - truth) <= NORMAL_90 * joint_errors
        tau = float(np.nan_to_num(kendall_tau(ratings, truth)))
        slope = float(ratings @ truth / (ratings @ ratings))
        return tau, slope, float(is_inside.mean())


def questions(folder: Path, judge: str) -> list[str]:
    """Return tau by calls a system, what unlike answers gain, and how well ratings hold."""
    arena = read_arena(folder)
    judged = arena.judgments[arena.judgments["judge"] == judge]
    n_systems = judged.groupby("language")["system_a"].nunique()
    n_halves = max(FEWEST_HALVES, SYSTEMS // int(n_systems.sum()))
    runs = {}
    for language in n_systems.index:
        for seed in range(n_halves):
            half = Half.of(arena, judge, language, seed)
            for way in ("least met", "unlike"):
                measured = half.replayed(by_unlikeness=way == "unlike", seed=seed)
                runs[way, language, seed] = measured.unstack()
    table = pd.DataFrame(runs).T  # a row a run, columns of calls and measure
    least_met, unlike = table.loc["least met"], table.loc["unlike"]
    cells = []
    for calls in CALLS:
        if calls not in table:
            cells.append("–")
            continue
        gains = unlike[calls, "tau"] - least_met[calls, "tau"]
        error = gains.std(ddof=1) / len(gains) ** 0.5
        cells.append(f"{unlike[calls, 'tau'].mean():.2f} ({gains.mean():+.2f} ± {error:.2f})")
    for name in ("slope", "inside"):
        cells.append(f"{least_met[8, name].mean():.2f}, {unlike[8, name].mean():.2f}")
    return cells
