"""Judging to a budget: asking, batch by batch, what tells most about the ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.append import append_rows
from arena.data.errors import UsageError
from arena.data.folder import Arena
from arena.data.rows import read_rows
from arena.data.schema import ADAPTIVE, CHOSEN, JUDGMENTS
from arena.judging.folder import FAILURES_FILE, FolderJudging, list_judging_failures
from arena.judging.graded import GradedPrompt
from arena.judging.judge import LlmJudge, judge_arena
from arena.judging.pairs import (
    PAIR_COLUMNS,
    ArenaTexts,
    ChosenPairs,
    QuestionKey,
    asked_pairs,
    draw_questions,
)
from arena.judging.panel.agreement import agreement_with_others
from arena.judging.summary import (
    FAILURE_COLUMNS,
    JUDGMENT_COLUMNS,
    Judged,
    stacked,
    summarize_judging,
)
from arena.llm.ask import Progress
from arena.llm.replies import OVER_BUDGET, PASSING
from arena.llm.usage import Budget, Price, Usage
from arena.planning.adaptive import AdaptivePairing, batch_size
from arena.planning.stopping import Precision, misordered
from arena.rating.battles import Battles
from arena.rating.posterior import RatingPosterior, RatingPrior, battle_posterior
from arena.statistics.significance import NORMAL_90

if TYPE_CHECKING:
    from arena.llm.store import Store

KNOWN = "every ranking is known as well as {} asks"
SPENT = "the budget of {:,} pairs is spent"
CALLS_SPENT = "this run's {:,} calls are spent"
NOTHING_OPEN = "every pair of the questions drawn is judged"
PROGRESS_COLUMNS = ["language", "systems", "questions", "judged", "failed", "open", "known"]
RATING_COLUMNS = ["language", "system", "rating", "low", "high"]

_SIDES = ["query_id", "system_a", "system_b", "winner"]


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
        max_calls: Most pairs to ask in one run.
    """

    budget: int | None = None
    until: Precision | None = None
    prior: pd.DataFrame | None = None
    questions: int | None = None
    languages: Sequence[str] = ()
    seed: int = 0
    max_calls: int | None = None

    def __post_init__(self) -> None:
        if self.budget is None and self.until is None:
            raise UsageError("say when to stop: give a budget, or what is to be known (until)")
        if self.budget is not None and self.budget < 1:
            raise UsageError(f"budget = {self.budget} is out of range; use at least 1")


@dataclass(frozen=True)
class AdaptiveJudging:
    """What judging to a budget brought.

    Attributes:
        judging: As of any judging of a folder.
        chosen: What was asked, by this run and before.
        languages: ``PROGRESS_COLUMNS``: items judged, without a verdict, and left; what is known.
        ratings: ``RATING_COLUMNS``, best first: what verdicts and prior say, with 90% intervals.
        batches: Batches asked by this run.
        reason: Why it stopped.
    """

    judging: FolderJudging
    chosen: ChosenPairs
    languages: pd.DataFrame
    ratings: pd.DataFrame
    batches: int
    reason: str


def judge_adaptively(
    folder: Path | str,
    arena: Arena,
    judge: LlmJudge,
    plan: AdaptivePlan,
    store: Store,
    *,
    prices: Mapping[str, Price] | None = None,
    progress: Progress | None = None,
) -> AdaptiveJudging:
    """Judge the pairs that lower the uncertainty of the ranking most, and add the verdicts.

    Batches go to the language whose order is known least, and are chosen there by
    ``arena.planning.AdaptivePairing``. They follow from the verdicts that are there, the prior
    and the seed: a run that was killed goes on as if it had not been, and replies that came are in
    the store. A batch's verdicts are in the folder before the next is chosen.

    Args:
        folder: Arena folder.
        arena: As read from it.
        judge: Who judges; one that is asked about pairs.
        plan: What may be asked, and when to stop.
        store: Where replies are and go.
        prices: Price of each model, or None.
        progress: Called with the judge's name, the pairs done, and the budget.

    Raises:
        UsageError: If the judge, the plan or the folder cannot be used. Verdicts of batches
            before are in the folder.
        DataError: If the judgments there are damaged.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    if isinstance(judge.asked_by, GradedPrompt):
        raise UsageError("adaptive pairs are asked one by one; judge them with form='pairwise'")
    run = _Run(Path(folder), arena, judge, plan, store, prices, progress)
    while (reason := run.reason_to_stop()) is None:
        run.judge_batch()
    return run.finished(reason)


class _Ranking:
    """What is judged and known of one language."""

    def __init__(
        self,
        language: str,
        questions: Sequence[str],
        answers: pd.DataFrame,
        plan: AdaptivePlan,
    ) -> None:
        own = answers[(answers["language"] == language) & answers["query_id"].isin(questions)]
        self.language = language
        self.questions = list(questions)
        self.systems = tuple(sorted(own["system"].unique()))
        prior = plan.prior
        if prior is not None:
            prior = prior[prior["language"] == language]
        self._prior = RatingPrior.of_table(prior, self.systems, 1.0)
        self.pairing = AdaptivePairing(
            self.systems, self.questions, own[["query_id", "system"]], plan.seed, prior=prior
        )
        self._verdicts = pd.DataFrame(columns=_SIDES, dtype=object)
        self._posterior: RatingPosterior | None = None

    @property
    def done(self) -> int:
        """Items that count for the budget."""
        return self.pairing.judged + self.pairing.failed

    @property
    def posterior(self) -> RatingPosterior:
        """What verdicts and prior say of the systems."""
        if self._posterior is None:
            if self._verdicts.empty:
                battles = Battles.none(self.systems, self.questions)
            else:
                battles = Battles.from_judgments(self._verdicts, systems=self.systems)
            self._posterior = battle_posterior(battles, self._prior)
        return self._posterior

    def take_in(self, judgments: pd.DataFrame, failures: pd.DataFrame) -> None:
        """Learn from verdicts on any questions, and that pairs have none."""
        known = judgments["system_a"].isin(self.systems) & judgments["system_b"].isin(self.systems)
        verdicts = judgments.loc[known, _SIDES]
        both = pd.concat([_merged(verdicts), failures[_SIDES[:-1]].assign(winner=None)])
        self.pairing.record(both[both["query_id"].isin(self.questions)])
        self._verdicts = pd.concat([self._verdicts, verdicts], ignore_index=True)
        self._posterior = None


def _merged(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Make one verdict of several on a pair, in whichever orders: a tie where they differ."""
    first = verdicts[["system_a", "system_b"]].min(axis=1)
    is_first = verdicts["system_a"] == first
    other = verdicts["system_b"].where(is_first, verdicts["system_a"])
    flipped = verdicts["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    same = pd.DataFrame(
        {
            "query_id": verdicts["query_id"],
            "system_a": first,
            "system_b": other,
            "winner": verdicts["winner"].where(is_first, flipped),
        }
    )
    grouped = same.groupby(_SIDES[:-1], sort=True)["winner"]
    merged = grouped.agg(lambda found: found.iloc[0] if found.nunique() == 1 else "tie")
    return merged.reset_index()


@dataclass
class _Run:
    """One run, batch by batch."""

    folder: Path
    arena: Arena
    judge: LlmJudge
    plan: AdaptivePlan
    store: Store
    prices: Mapping[str, Price] | None
    progress: Progress | None
    added: int = 0
    batches: list[Judged] = field(default_factory=list)
    asked: list[ChosenPairs] = field(default_factory=list)

    def __post_init__(self) -> None:
        judgments, name = self.arena.judgments, self.judge.judge
        self._texts = ArenaTexts(self.arena)
        self._calls = Budget(self.plan.max_calls)
        drawn, self._without_pair = draw_questions(
            self.arena,
            self._texts,
            self.plan.questions,
            self.plan.languages or None,
            self.plan.seed,
        )
        self._drawn = drawn
        self.there = judgments[judgments["judge"] == name]
        failed = _lasting_failures(self.folder / FAILURES_FILE, name, self.there)
        self.rankings = [
            self._ranking(language, drawn, failed)
            for language in dict.fromkeys(language for language, _ in drawn)
        ]
        self.earlier = self._pairs_of(self.there)

    def _ranking(
        self, language: str, drawn: Sequence[QuestionKey], failed: pd.DataFrame
    ) -> _Ranking:
        questions = [query_id for of_language, query_id in drawn if of_language == language]
        ranking = _Ranking(language, questions, self.arena.answers, self.plan)
        own = [table[table["language"] == language] for table in (self.there, failed)]
        known = own[1]["system_a"].isin(ranking.systems) & own[1]["system_b"].isin(ranking.systems)
        ranking.take_in(own[0], own[1][known])
        return ranking

    @property
    def done(self) -> int:
        return sum(ranking.done for ranking in self.rankings)

    def reason_to_stop(self) -> str | None:
        """Say why nothing more is to be asked, if so."""
        plan = self.plan
        if plan.until is not None and all(map(self._is_known, self.rankings)):
            return KNOWN.format(plan.until)
        if plan.budget is not None and self.done >= plan.budget:
            return SPENT.format(plan.budget)
        if not any(map(self._may_ask, self.rankings)):
            return NOTHING_OPEN
        if plan.max_calls is not None and not self._calls.calls_left:
            return CALLS_SPENT.format(plan.max_calls)
        return None

    def _is_known(self, ranking: _Ranking) -> bool:
        return self.plan.until is not None and self.plan.until.judge(ranking.posterior)[0]

    def _may_ask(self, ranking: _Ranking) -> bool:
        return ranking.pairing.open > 0 and not self._is_known(ranking)

    def judge_batch(self) -> None:
        """Ask about the language whose order is known least."""
        ranking = max(
            filter(self._may_ask, self.rankings), key=lambda each: misordered(each.posterior)
        )
        size = batch_size(len(ranking.systems), ranking.done)
        limits = [self._calls.calls_left]
        if self.plan.budget is not None:
            limits.append(self.plan.budget - self.done)
        size = min([size, *(limit for limit in limits if limit is not None)])
        keys = [(ranking.language, *item) for item in ranking.pairing.next_pairs(size)]
        show, seed = self.judge.asked_by.show, self.plan.seed
        pairs = asked_pairs(self._texts, keys, False, seed, 0, 0, show)
        judged = judge_arena(
            self.arena,
            self.judge,
            pairs,
            self.store,
            budget=self._calls,
            prices=self.prices,
            progress=self._progress_from(self.done),
        )
        rows = judged.judgments.assign(**{CHOSEN: ADAPTIVE})
        self.added += append_rows(self.folder, "judgments", rows)[1]
        list_judging_failures(self.folder, judged)
        ranking.take_in(judged.judgments, judged.failures)
        self.batches.append(judged)
        self.asked.append(pairs)

    def _progress_from(self, done: int) -> Progress | None:
        if self.progress is None:
            return None
        progress, budget = self.progress, self.plan.budget

        def of_all(name: str, of_batch: int, size: int) -> None:
            progress(name, done + of_batch, budget or done + size)

        return of_all

    def _pairs_of(self, judgments: pd.DataFrame) -> pd.DataFrame:
        keys = judgments[["language", "query_id"]].itertuples(index=False, name=None)
        drawn = set(self._drawn)
        return judgments.loc[[key in drawn for key in keys], PAIR_COLUMNS]

    def finished(self, reason: str) -> AdaptiveJudging:
        """Put together what this run brought."""
        judgments = stacked([each.judgments for each in self.batches], JUDGMENT_COLUMNS)
        failures = stacked([each.failures for each in self.batches], FAILURE_COLUMNS)
        left = self._chosen(stacked([each.table for each in self.asked], PAIR_COLUMNS))
        chosen = self._chosen(stacked([self.earlier, left.table], PAIR_COLUMNS))
        usage = Usage.total(self.judge.asked_settings.model, self._calls.usages)
        summary = summarize_judging(
            self.judge, chosen, left, judgments, failures, self.there, usage, self.prices
        )
        columns = list(JUDGMENTS.columns)
        everybody = stacked([self.arena.judgments[columns], judgments[columns]], columns)
        file, _ = append_rows(self.folder, "judgments", judgments)
        failures_file = self.folder / FAILURES_FILE
        return AdaptiveJudging(
            judging=FolderJudging(
                summaries=(summary,),
                panel=None,
                file=file,
                added=self.added,
                failures_file=failures_file if failures_file.is_file() else None,
                warnings=(),
                agreement=agreement_with_others(everybody, self.judge.judge),
            ),
            chosen=chosen,
            languages=pd.DataFrame(
                [self._progress_row(ranking) for ranking in self.rankings],
                columns=PROGRESS_COLUMNS,
            ),
            ratings=pd.concat(map(_rating_rows, self.rankings), ignore_index=True),
            batches=len(self.batches),
            reason=reason,
        )

    def _chosen(self, table: pd.DataFrame) -> ChosenPairs:
        identical = stacked([each.identical for each in self.asked], PAIR_COLUMNS)
        absent = len(self.arena.info.systems) * len(self._drawn)
        absent -= sum(len(self._texts.systems(question)) for question in self._drawn)
        counts = {each.language: len(each.questions) for each in self.rankings}
        show = self.judge.asked_by.show
        return ChosenPairs(table, identical, False, counts, self._without_pair, absent, show)

    def _progress_row(self, ranking: _Ranking) -> tuple[object, ...]:
        until = self.plan.until or Precision.parse("pairs")
        pairing, known = ranking.pairing, until.judge(ranking.posterior)[1]
        sizes = (len(ranking.systems), len(ranking.questions))
        return (ranking.language, *sizes, pairing.judged, pairing.failed, pairing.open, known)


def _rating_rows(ranking: _Ranking) -> pd.DataFrame:
    known = ranking.posterior
    width = NORMAL_90 * known.standard_errors
    table = pd.DataFrame(
        {
            "language": ranking.language,
            "system": known.systems,
            "rating": known.ratings,
            "low": known.ratings - width,
            "high": known.ratings + width,
        }
    )
    return table.sort_values("rating", ascending=False, kind="stable")[RATING_COLUMNS]


def _lasting_failures(path: Path, judge: str, there: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs that this judge has given no verdict on and never will."""
    if not path.is_file():
        return pd.DataFrame(columns=[*PAIR_COLUMNS, "judge", "reason"], dtype=object)
    listed = read_rows(path).table
    passing = listed["reason"].isin([*PASSING, OVER_BUDGET])
    failed = listed[(listed["judge"] == judge) & ~passing]
    judged = pd.MultiIndex.from_frame(there[PAIR_COLUMNS])
    return failed[~pd.MultiIndex.from_frame(failed[PAIR_COLUMNS]).isin(judged)]
