"""Judging to a budget: asking, batch by batch, what tells most about the ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.append import append_rows
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.rows import read_rows
from arena.data.schema import ADAPTIVE, CHOSEN, JUDGMENTS, QUESTION_KEY
from arena.data.wording import count_of
from arena.judging.choosing.drawn import ChosenPairs, asked_pairs, draw_questions
from arena.judging.choosing.language_ranking import (
    LanguageRanking,
    by_name,
    one_of_orders,
    rating_rows,
)
from arena.judging.folder import (
    FAILURES_FILE,
    FolderJudging,
    agreement_of,
    check_distinct,
    list_judging_failures,
    panel_of,
)
from arena.judging.graded import GradedPrompt
from arena.judging.judge import LlmJudge, ask_judge
from arena.judging.pairs import PAIR_COLUMNS, ArenaTexts, QuestionKey
from arena.judging.panel.aggregation import Aggregate, majority_verdicts
from arena.judging.summary import (
    FAILURE_COLUMNS,
    JUDGMENT_COLUMNS,
    JudgingSummary,
    Verdicts,
    stacked,
    summarize_judging,
)
from arena.llm.ask import Progress
from arena.llm.replies import OVER_BUDGET, PASSING
from arena.llm.usage import Budget, Price, Usage
from arena.planning.adaptive import batch_size
from arena.planning.stopping import Precision, misordered

if TYPE_CHECKING:
    from arena.llm.store import Store

KNOWN = "every ranking is known as well as {} asks"
SPENT = "the budget of {} is spent"
CALLS_SPENT = "this run's budget of {} is spent"
NOTHING_OPEN = "every pair of the questions drawn is judged"
PROGRESS_COLUMNS = ["language", "systems", "questions", "judged", "failed", "open", "known"]


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
        max_calls: Most calls in one run, over all judges, retries not counted.
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
            raise UsageError("say when to stop: give a `budget`, or what is to be known (`until`)")
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
    judges: LlmJudge | Sequence[LlmJudge],
    plan: AdaptivePlan,
    store: Store,
    *,
    aggregate: Aggregate = "majority",
    prices: Mapping[str, Price] | None = None,
    progress: Progress | None = None,
) -> AdaptiveJudging:
    """Judge the pairs that lower the uncertainty of the ranking most, and add the verdicts.

    Batches go to the language whose order is known least, and are chosen there by
    ``arena.planning.AdaptivePairing``. They follow from the verdicts that are there, the prior
    and the seed: a run that was killed goes on as if it had not been, and replies that came are in
    the store. A batch's verdicts are in the folder before the next is chosen. A panel is asked
    about every pair as a whole, and what its majority says decides what is asked next.

    Args:
        folder: Arena folder.
        arena: As read from it.
        judges: Who judges, one or a panel; asked about pairs.
        plan: What may be asked, and when to stop.
        store: Where replies are and go.
        aggregate: How a panel comes to a verdict; see ``aggregate_votes``.
        prices: Price of each model, or None.
        progress: Called with the judge's name, the pairs done, and the budget.

    Raises:
        UsageError: If a judge, the plan or the folder cannot be used. Verdicts of batches
            before are in the folder.
        DataError: If the judgments there are damaged.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    panel = (judges,) if isinstance(judges, LlmJudge) else tuple(judges)
    check_distinct(panel)
    if any(isinstance(judge.asked_by, GradedPrompt) for judge in panel):
        raise UsageError("adaptive pairs are asked one by one; leave the form (--form) pairwise")
    run = _Run(Path(folder), arena, panel, plan, store, aggregate, prices, progress)
    while (reason := run.reason_to_stop()) is None:
        run.judge_batch()
    return run.finished(reason)


@dataclass
class _Run:
    """One run, batch by batch."""

    folder: Path
    arena: Arena
    judges: tuple[LlmJudge, ...]
    plan: AdaptivePlan
    store: Store
    aggregate: Aggregate
    prices: Mapping[str, Price] | None
    progress: Progress | None
    added: int = 0
    batches: list[tuple[Verdicts, ...]] = field(default_factory=list)
    asked: list[ChosenPairs] = field(default_factory=list)

    def __post_init__(self) -> None:
        judgments = self.arena.judgments
        self.names = [judge.judge for judge in self.judges]
        self._texts = ArenaTexts(self.arena)
        self._calls = Budget(self.plan.max_calls)
        self._calls_a_pair = sum(judge.repeats for judge in self.judges)
        drawn, self._without_pair = draw_questions(
            self.arena,
            self._texts,
            self.plan.questions,
            self.plan.languages or None,
            self.plan.seed,
        )
        self._drawn = drawn
        self.there = judgments[judgments["judge"].isin(self.names)]
        failed = _lasting_failures(self.folder / FAILURES_FILE, self.there)
        spoken = _spoken(self.there, failed[failed["judge"].isin(self.names)], self.names)
        self.rankings = [
            self._ranking(language, drawn, *spoken)
            for language in dict.fromkeys(language for language, _ in drawn)
        ]
        self.earlier = self._pairs_of(self.there).drop_duplicates()

    def _ranking(
        self,
        language: str,
        drawn: Sequence[QuestionKey],
        verdicts: pd.DataFrame,
        failed: pd.DataFrame,
    ) -> LanguageRanking:
        questions = [query_id for of_language, query_id in drawn if of_language == language]
        ranking = LanguageRanking(
            language, questions, self.arena.answers, self.plan.prior, self.plan.seed
        )
        own = [table[table["language"] == language] for table in (verdicts, failed)]
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
            return SPENT.format(count_of(plan.budget, "pair"))
        if not any(map(self._may_ask, self.rankings)):
            return NOTHING_OPEN
        left = self._calls.calls_left
        if plan.max_calls is not None and left is not None and left < self._calls_a_pair:
            return CALLS_SPENT.format(count_of(plan.max_calls, "call"))
        return None

    def _is_known(self, ranking: LanguageRanking) -> bool:
        return self.plan.until is not None and self.plan.until.judge(ranking.posterior)[0]

    def _may_ask(self, ranking: LanguageRanking) -> bool:
        return ranking.pairing.open > 0 and not self._is_known(ranking)

    def judge_batch(self) -> None:
        """Ask about the language whose order is known least."""
        ranking = max(
            filter(self._may_ask, self.rankings), key=lambda each: misordered(each.posterior)
        )
        size = batch_size(len(ranking.systems), ranking.done)
        left = self._calls.calls_left
        limits = [None if left is None else left // self._calls_a_pair]
        if self.plan.budget is not None:
            limits.append(self.plan.budget - self.done)
        size = min([size, *(limit for limit in limits if limit is not None)])
        keys = [(ranking.language, *item) for item in ranking.pairing.next_pairs(size)]
        show, seed = self.judges[0].asked_by.show, self.plan.seed
        pairs = asked_pairs(self._texts, keys, False, seed, 0, 0, show)
        batch = tuple(self._judged(judge, pairs) for judge in self.judges)
        failures = pd.concat([judged.failures for judged in batch], ignore_index=True)
        votes = pd.concat([self.there, *(judged.judgments for judged in batch)], ignore_index=True)
        now = pd.concat([pairs.table, pairs.identical], ignore_index=True)
        ranking.take_in(*_spoken(_among(votes, now), failures, self.names))
        self.batches.append(batch)
        self.asked.append(pairs)

    def _judged(self, judge: LlmJudge, pairs: ChosenPairs) -> Verdicts:
        """Ask one judge, and write what came."""
        judged = ask_judge(
            self.arena,
            judge,
            pairs,
            self.store,
            budget=self._calls,
            progress=self._progress_from(self.done),
        )
        rows = judged.judgments.assign(**{CHOSEN: ADAPTIVE})
        self.added += append_rows(self.folder, "judgments", rows)[1]
        list_judging_failures(self.folder, judged)
        return judged

    def _progress_from(self, done: int) -> Progress | None:
        if self.progress is None:
            return None
        progress, budget = self.progress, self.plan.budget

        def of_all(name: str, of_batch: int, size: int) -> None:
            progress(name, done + of_batch, budget or done + size)

        return of_all

    def _pairs_of(self, judgments: pd.DataFrame) -> pd.DataFrame:
        keys = judgments[QUESTION_KEY].itertuples(index=False, name=None)
        drawn = set(self._drawn)
        return judgments.loc[[key in drawn for key in keys], PAIR_COLUMNS]

    def finished(self, reason: str) -> AdaptiveJudging:
        """Put together what this run brought."""
        every = [judged for batch in self.batches for judged in batch]
        judgments = stacked([each.judgments for each in every], JUDGMENT_COLUMNS)
        failures = stacked([each.failures for each in every], FAILURE_COLUMNS)
        left = self._chosen(stacked([each.table for each in self.asked], PAIR_COLUMNS))
        chosen = self._chosen(stacked([self.earlier, left.table], PAIR_COLUMNS))
        columns = list(JUDGMENTS.columns)
        everybody = stacked([self.arena.judgments[columns], judgments[columns]], columns)
        panel, warnings = panel_of(everybody, self.names, self.aggregate)
        if panel is not None:
            rows = self._marked(panel.judgments, judgments)
            self.added += append_rows(self.folder, "judgments", rows, replacing=True)[1]
        file, _ = append_rows(self.folder, "judgments", judgments)
        failures_file = self.folder / FAILURES_FILE
        return AdaptiveJudging(
            judging=FolderJudging(
                summaries=tuple(
                    self._summary(place, chosen, left, judgments, failures)
                    for place in range(len(self.judges))
                ),
                panel=panel,
                file=file,
                added=self.added,
                failures_file=failures_file if failures_file.is_file() else None,
                warnings=warnings,
                agreement=agreement_of(everybody, self.names),
            ),
            chosen=chosen,
            languages=pd.DataFrame(
                [self._progress_row(ranking) for ranking in self.rankings],
                columns=PROGRESS_COLUMNS,
            ),
            ratings=pd.concat(map(rating_rows, self.rankings), ignore_index=True),
            batches=len(self.batches),
            reason=reason,
        )

    def _summary(
        self,
        place: int,
        chosen: ChosenPairs,
        left: ChosenPairs,
        judgments: pd.DataFrame,
        failures: pd.DataFrame,
    ) -> JudgingSummary:
        """Count what one of the judges was asked and said."""
        judge, name = self.judges[place], self.names[place]
        own, failed, there = (
            table[table["judge"] == name] for table in (judgments, failures, self.there)
        )
        usages = [batch[place].usage for batch in self.batches]
        usage = Usage.total(judge.asked_settings.model, usages)
        return summarize_judging(judge, chosen, left, own, failed, there, usage, self.prices)

    def _marked(self, panel: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
        """Mark the panel's verdicts on pairs that were chosen as its judges' are marked."""
        before = self.there.reindex(columns=[*PAIR_COLUMNS, CHOSEN])
        chosen = [before[before[CHOSEN] == ADAPTIVE], judgments]
        keys = pd.concat([table[PAIR_COLUMNS] for table in chosen])
        is_chosen = pd.MultiIndex.from_frame(panel[PAIR_COLUMNS]).isin(_keys(keys))
        return panel.assign(**{CHOSEN: [ADAPTIVE if chosen else None for chosen in is_chosen]})

    def _chosen(self, table: pd.DataFrame) -> ChosenPairs:
        identical = stacked([each.identical for each in self.asked], PAIR_COLUMNS)
        absent = len(self.arena.info.systems) * len(self._drawn)
        absent -= sum(len(self._texts.systems(question)) for question in self._drawn)
        counts = {each.language: len(each.questions) for each in self.rankings}
        show = self.judges[0].asked_by.show
        return ChosenPairs(table, identical, False, counts, self._without_pair, absent, show)

    def _progress_row(self, ranking: LanguageRanking) -> tuple[object, ...]:
        until = self.plan.until or Precision.parse("pairs")
        pairing, known = ranking.pairing, until.judge(ranking.posterior)[1]
        sizes = (len(ranking.systems), len(ranking.questions))
        return (ranking.language, *sizes, pairing.judged, pairing.failed, pairing.open, known)


def _keys(table: pd.DataFrame, *more: str) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(table[[*PAIR_COLUMNS, *more]])


def _among(votes: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts on some pairs, in whichever order."""
    return votes[_keys(by_name(votes)).isin(_keys(by_name(pairs)))]


def _spoken(
    votes: pd.DataFrame, failed: pd.DataFrame, names: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the verdicts on pairs that all judges have spoken of, and the pairs without one.

    Of a panel, the verdict is that of its majority, whatever rule it is published by, and in
    whichever orders its judges saw the pair: pairs are chosen by it as soon as they are judged.
    """
    if len(names) == 1:
        return votes, failed
    votes, failed = one_of_orders(votes, ["judge", *QUESTION_KEY]), by_name(failed)
    said = pd.concat([votes[[*PAIR_COLUMNS, "judge"]], failed[[*PAIR_COLUMNS, "judge"]]])
    times = said.drop_duplicates().groupby(PAIR_COLUMNS).size()
    whole = times[times == len(names)].index.to_frame(index=False)
    try:
        panel = majority_verdicts(_among(votes, whole), names)
    except UsageError:
        return votes.iloc[:0], whole
    return panel, whole[~_keys(whole).isin(_keys(panel))]


def _lasting_failures(path: Path, there: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs that judges have given no verdict on and never will."""
    if not path.is_file():
        return pd.DataFrame(columns=[*PAIR_COLUMNS, "judge", "reason"], dtype=object)
    listed = read_rows(path).table
    passing = listed["reason"].isin([*PASSING, OVER_BUDGET])
    failed = listed[~passing]
    return failed[~_keys(failed, "judge").isin(_keys(there, "judge"))]
