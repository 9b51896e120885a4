"""Judging an arena: one loop, whether pairs are chosen before or as verdicts come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UnusableRepliesError, UsageError, argument
from arena.data.folder import FAILED_JUDGMENTS, append_rows, list_failures
from arena.data.nuggets import Nuggets, stacked_nuggets
from arena.data.schema import ADAPTIVE, CHOSEN, JUDGMENTS, REPEAT
from arena.data.tables import read_rows
from arena.data.types import Flags, Progress
from arena.data.wording import repeated
from arena.diagnostics.agreement import agreement_table
from arena.diagnostics.people_agreement import PeopleAgreement
from arena.diagnostics.verdicts import verdicts
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.judging.choosing.adaptive import AdaptivePairs
from arena.judging.choosing.chosen_pairs import ChosenPairs, PairChooser, Verdicts
from arena.judging.choosing.drawn_pairs import choose_pairs
from arena.judging.choosing.forecast import Forecast
from arena.judging.choosing.limits import PacedPairs, pairs_within
from arena.judging.judging_settings import JudgingSettings
from arena.judging.judging_summary import JudgingSummary, summarize_judge
from arena.judging.llm_judge import (
    FAILURE_COLUMNS,
    VERDICT_COLUMNS,
    LlmJudge,
    ask_judge,
    llm_judges,
)
from arena.judging.nugget_prompts import NuggetPrompt
from arena.judging.panel import Panel, panel_verdicts
from arena.llm.awaiting import AwaitedReplies
from arena.llm.store import Store, open_store
from arena.llm.usage import Budget, Price, Usage


@dataclass(frozen=True)
class Judging:
    """Result of judging; the arena itself is unchanged.

    Attributes:
        judgments: New rows, ``VERDICT_COLUMNS``, and ``chosen`` where pairs were chosen as verdicts
            came.
        failures: Pairs without a verdict, ``FAILURE_COLUMNS``.
        summaries: One for each judge.
        panel: The panel's verdicts, earlier ones included; None with one judge.
        pairs: The pairs chosen, in this run and before.
        agreement: See ``agreement_table``.
        rounds: How often judges were asked.
        reason: Why the run stopped; empty where all that was chosen is judged.
        nuggets: New nuggets and marks of a judge of nuggets.
        n_renewed: Number of the judgments that take the place of earlier ones, which followed from
            other nuggets or marks.
        progress: With adaptive pairs, what each language has judged; see ``AdaptivePairs``.
        ratings: With adaptive pairs, ratings by prior and verdicts; see ``AdaptivePairs``.
    """

    judgments: pd.DataFrame
    failures: pd.DataFrame
    summaries: tuple[JudgingSummary, ...]
    panel: Panel | None
    pairs: ChosenPairs
    agreement: pd.DataFrame
    rounds: int
    reason: str
    nuggets: Nuggets = field(default_factory=Nuggets)
    n_renewed: int = 0
    progress: pd.DataFrame | None = None
    ratings: pd.DataFrame | None = None

    @property
    def usage(self) -> Usage:
        """Calls, tokens and failures of all judges together."""
        return Usage.total("", [summary.usage for summary in self.summaries])

    def write(self, folder: Path | str) -> tuple[Path, int]:
        """Add the verdicts to an arena folder; list in ``failed_judgments.jsonl`` what has none.

        Returns:
            The file of judgments, and how many were added.

        Raises:
            UsageError: If the folder cannot be used.
            DataError: If the judgments there are damaged.
        """
        # What verdicts follow from comes first, so that no verdict is there without it.
        if len(self.nuggets.table):
            append_rows(folder, "nuggets", self.nuggets.table)
        if len(self.nuggets.marks):
            append_rows(folder, "nugget_marks", self.nuggets.marks, replacing=True)
        is_replacing = self.n_renewed > 0
        file, n_added = append_rows(folder, "judgments", self.judgments, replacing=is_replacing)
        n_added -= self.n_renewed
        # A pair that failed before and has an outcome now must not stay among the failures.
        key = ["judge", *PAIR_COLUMNS]
        outcomes = pd.concat([self.judgments[key], self.failures[key]])
        settled = set(outcomes.itertuples(index=False, name=None))
        list_failures(Path(folder) / FAILED_JUDGMENTS, self.failures, key, settled)
        if self.panel is not None:
            # A further member changes the panel's older verdicts, so they are replaced.
            _, n_of_panel = append_rows(folder, "judgments", self.panel.judgments, replacing=True)
            n_added += n_of_panel
        return file, n_added


def judge(
    arena: Arena,
    settings: JudgingSettings,
    store: Store | Path | str,
    *,
    prior: pd.DataFrame | None = None,
    failed: pd.DataFrame | None = None,
    prices: Mapping[str, Price] | None = None,
    progress: Progress | None = None,
    people: Mapping[str, PeopleAgreement] | None = None,
) -> Judging:
    """Judge pairs of an arena's answers with an LLM, or a panel of them.

    A pair that a judge has judged in the arena is not judged again, and a reply that is in the
    store is not asked for again. A pair without a verdict is a counted failure, never a tie.

    Args:
        arena: Questions, answers, and the judgments so far.
        settings: Who judges which pairs, and how.
        store: Keeps the replies: an open store, or the path of its file, which is made if absent.
        prior: With adaptive pairs, expected ratings of the systems; see ``AdaptivePairs``.
        failed: With adaptive pairs, pairs that got no verdict before; see ``lasting_failures``.
        prices: Price of each model, for the cost in the summaries.
        progress: Called with a judge's name, the pairs done, and all pairs.
        people: Agreement of judges with people by judge, where it was measured before.

    Raises:
        UsageError: If settings contradict each other, a judge cannot be used, or there is nothing
            to judge. Replies that came are in the store.
        RepliesAwaitedError: If replies are awaited in batches; the same call collects them.
    """
    judges = llm_judges(settings)
    budget = judging_budget(settings, prices)
    chooser: AdaptivePairs | ChosenPairs | PacedPairs
    if settings.is_adaptive:
        chooser = AdaptivePairs(arena, settings, prior, failed, budget)
    else:
        chooser = draw_pairs(arena, settings)
        if settings.max_cost is not None:
            chooser = PacedPairs(chooser, settings.form, len(judges), budget)
    if not isinstance(store, Store) and not Path(store).exists() and not settings.join:
        # Without a key no call can be made: say so before an empty store is left behind.
        for member in judges:
            member.settings.api_key()
    with nullcontext(store) if isinstance(store, Store) else open_store(store) as replies:
        replies.join(settings.join)
        judging = judge_pairs(
            arena,
            judges,
            chooser,
            replies,
            budget=budget,
            prices=prices,
            progress=progress,
            people=people,
        )
    if isinstance(chooser, AdaptivePairs):
        return replace(judging, progress=chooser.progress(), ratings=chooser.ratings())
    return judging


def forecast(
    arena: Arena,
    settings: JudgingSettings,
    *,
    prior: pd.DataFrame | None = None,
    failed: pd.DataFrame | None = None,
) -> Forecast:
    """Say what ``judge`` with adaptive pairs is likely to take and to give; nothing is asked.

    Arguments are those of ``judge``.

    Raises:
        UsageError: If settings contradict each other, or there is nothing to judge.
    """
    budget = Budget(settings.max_calls)
    return AdaptivePairs(arena, settings, prior, failed, budget).forecast()


def draw_pairs(arena: Arena, settings: JudgingSettings) -> ChosenPairs:
    """Draw the pairs to judge before any verdict; see ``choose_pairs``.

    Raises:
        UsageError: If settings contradict each other, or there is nothing to judge.
    """
    settings.require_plan()
    pairs = settings.pairs or "all"
    if settings.is_adaptive or pairs == "adaptive":
        raise UsageError("adaptive pairs are chosen as verdicts come, not beforehand")
    budget = settings.budget
    if budget is None and settings.pairs is None and settings.form == "pairwise":
        answers = arena.answers
        if settings.languages:
            answers = answers[answers["language"].isin(settings.languages)]
        n_systems = int(answers.groupby("language")["system"].nunique().sum())
        budget = settings.default_budget(n_systems)
    is_limited = budget is not None or settings.max_cost is not None
    chosen = choose_pairs(
        arena,
        questions=settings.questions,
        pairs=pairs,
        languages=settings.languages,
        seed=settings.seed,
        audit=settings.audit_share,
        # Marks and orders are asked question by question.
        spread=is_limited and settings.form == "pairwise",
    )
    if budget is None:
        return chosen
    return pairs_within(chosen, budget // len(settings.judges), settings.form)


def sample_pairs(arena: Arena, settings: JudgingSettings, n_calls: int) -> ChosenPairs:
    """Draw random pairs for a number of calls, to see what as many adaptive ones would cost."""
    chosen = choose_pairs(
        arena,
        questions=settings.questions,
        languages=settings.languages,
        seed=settings.seed,
        audit=settings.audit_share,
        spread=True,
    )
    return chosen.within(n_calls // len(settings.judges))


def judging_budget(settings: JudgingSettings, prices: Mapping[str, Price] | None) -> Budget:
    """Return the budget of a run's calls.

    Raises:
        UsageError: If the cost is limited, and a model has no price.
    """
    prices = prices or {}
    models = (settings.model, *settings.panel)
    without_price = [model for model in models if model not in prices]
    if settings.max_cost is not None and without_price:
        raise UsageError(
            f"{argument('max_cost')} needs the price of {', '.join(without_price)} "
            f"({argument('prices')})"
        )
    return Budget(settings.max_calls, max_cost=settings.max_cost, prices=prices)


def judge_pairs(
    arena: Arena,
    judges: LlmJudge | Sequence[LlmJudge],
    pairs: PairChooser,
    store: Store,
    *,
    budget: Budget | None = None,
    prices: Mapping[str, Price] | None = None,
    progress: Progress | None = None,
    people: Mapping[str, PeopleAgreement] | None = None,
) -> Judging:
    """Judge pairs that were chosen, with judges that were made; ``judge`` makes both.

    Args:
        arena: Questions, answers, and the judgments so far.
        judges: One judge, or those of a panel, all of which are asked about every round.
        pairs: See ``choose_pairs`` and ``AdaptivePairs``.
        store: See ``arena.llm.open_store``.
        budget: Maximum number of calls of all judges; the pairs left fail as ``over_budget``.
        prices: See ``judge``.
        progress: See ``judge``.
        people: See ``judge``.

    Raises:
        UsageError: If a judge cannot be used, or two have the same name.
    """
    members = (judges,) if isinstance(judges, LlmJudge) else tuple(judges)
    names = [member.judge for member in members]
    if not names or repeated(names):
        raise UsageError(f"name each judge once: {', '.join(repeated(names)) or 'there is none'}")
    is_derived = _derived_flags(arena.judgments, members)
    renewed = set(_judged_keys(arena.judgments[is_derived]))
    if renewed:
        # People may have edited nuggets or marks since; where they did not, nothing is asked.
        if isinstance(pairs, ChosenPairs | PacedPairs):
            pairs = pairs.on_sides_of(arena.judgments[is_derived])
        arena = replace(arena, judgments=arena.judgments[~is_derived].reset_index(drop=True))
    run = _Run(names)
    run.ask(arena, members, pairs, store, budget or Budget(), progress)
    chosen = pairs.chosen(run.rounds)
    summaries = []
    for member in members:
        summary = summarize_judge(
            arena,
            member,
            chosen,
            run.rounds,
            run.outcome_of(member.judge),
            Usage.total(member.asked_settings.model, run.usages[member.judge]),
            prices or {},
            (people or {}).get(member.judge),
        )
        summaries.append(summary)
    outcome = _stacked([run.outcome_of(name) for name in names])
    judgments = outcome.judgments
    if chosen.adaptive:
        judgments = judgments.assign(**{CHOSEN: ADAPTIVE})
    columns = list(JUDGMENTS.columns)
    # A second vote in the same order counts for what it repeats, not for a panel.
    tables = [_first_votes(arena.judgments), _first_votes(outcome.judgments)]
    all_judgments = _joined(tables, columns)
    return Judging(
        judgments=judgments,
        failures=outcome.failures,
        summaries=tuple(summaries),
        panel=panel_verdicts(all_judgments, names) if len(names) > 1 else None,
        pairs=chosen,
        agreement=agreement_table(verdicts(all_judgments), of=names),
        rounds=len(run.rounds),
        reason=run.reason,
        nuggets=outcome.nuggets,
        n_renewed=sum(key in renewed for key in _judged_keys(outcome.judgments)),
    )


def _derived_flags(judgments: pd.DataFrame, judges: Sequence[LlmJudge]) -> Flags:
    """Return which verdicts follow from nuggets and marks, and so are made again, shape (N,)."""
    names = [judge.judge for judge in judges if isinstance(judge.prompt_in_use, NuggetPrompt)]
    return np.asarray(judgments["judge"].isin(names), dtype=np.bool_)


def _judged_keys(judgments: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    yield from judgments[["judge", *PAIR_COLUMNS]].itertuples(index=False, name=None)


class _Run:
    """The rounds asked in one run, and the outcomes and usages of each judge.

    Attributes:
        rounds: Pairs asked about, round by round.
        parts: Outcomes of each round, by judge.
        usages: Calls and tokens of each round, by judge.
        reason: Why no more was asked.
    """

    def __init__(self, judges: Sequence[str]) -> None:
        self.rounds: list[ChosenPairs] = []
        self.parts: dict[str, list[Verdicts]] = {judge: [] for judge in judges}
        self.usages: dict[str, list[Usage]] = {judge: [] for judge in judges}
        self.reason = ""

    def ask(
        self,
        arena: Arena,
        judges: Sequence[LlmJudge],
        pairs: PairChooser,
        store: Store,
        budget: Budget,
        progress: Progress | None,
    ) -> None:
        """Ask all judges about round after round, until the chooser has no more."""
        rounds = pairs.rounds()
        try:
            next_pairs = next(rounds)
            while True:
                n_before = sum(earlier.n_planned for earlier in self.rounds)
                round_progress = _counted_on(progress, n_before, pairs.n_planned)
                awaited = AwaitedReplies()
                for member in judges:
                    with awaited.gathered():
                        part, usage = ask_judge(
                            arena, member, next_pairs, store, budget, round_progress
                        )
                        self.parts[member.judge].append(part)
                        self.usages[member.judge].append(usage)
                awaited.require_none()
                self.rounds.append(next_pairs)
                # The chooser learns from this round's verdicts before it yields the next one.
                next_pairs = rounds.send(_stacked([parts[-1] for parts in self.parts.values()]))
        except StopIteration as end:
            self.reason = str(end.value)

    def outcome_of(self, judge: str) -> Verdicts:
        """Return the verdicts and failures of a judge in all rounds."""
        return _stacked(self.parts[judge])


def require_verdicts(usage: Usage) -> None:
    """Check that judging brought at least one verdict.

    Raises:
        UnusableRepliesError: If pairs were asked about, and none got a verdict.
    """
    if usage.is_unusable:
        raise UnusableRepliesError(
            f"no pair that was asked got a verdict: {usage.shown_failures()}"
        )


def lasting_failures(folder: Path | str) -> pd.DataFrame:
    """Read the pairs that judges of a folder gave no verdict on, ``FAILURE_COLUMNS``."""
    path = Path(folder) / FAILED_JUDGMENTS
    if not path.is_file():
        return pd.DataFrame(columns=FAILURE_COLUMNS, dtype=object)
    return read_rows(path).table


def _counted_on(progress: Progress | None, n_before: int, n_planned: int | None) -> Progress | None:
    """Count the pairs of a round on from those of earlier rounds."""
    if progress is None:
        return None

    def of_all(name: str, done: int, size: int) -> None:
        # Marks are asked answer by answer, and there may be more answers than pairs.
        n_all = n_before + size if n_planned is None else max(n_planned, size)
        progress(name, n_before + done, n_all)

    return of_all


def _first_votes(judgments: pd.DataFrame) -> pd.DataFrame:
    return judgments[judgments[REPEAT].isna()] if REPEAT in judgments else judgments


def _stacked(parts: Sequence[Verdicts]) -> Verdicts:
    return Verdicts(
        judgments=_joined([part.judgments for part in parts], VERDICT_COLUMNS),
        failures=_joined([part.failures for part in parts], FAILURE_COLUMNS),
        nuggets=stacked_nuggets([part.nuggets for part in parts]),
    )


def _joined(tables: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Join tables; of none, or of empty ones, make one without rows.

    Empty tables are left out because pandas would let them change the columns' types.
    """
    filled = [table[list(columns)] for table in tables if len(table)]
    if not filled:
        return pd.DataFrame(columns=list(columns), dtype=object)
    return pd.concat(filled, ignore_index=True)
