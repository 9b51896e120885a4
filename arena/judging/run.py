"""Judging an arena: one loop, whether pairs are chosen before or as verdicts come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import FAILED_JUDGMENTS, append_rows, list_failures
from arena.data.judge_names import PANEL
from arena.data.schema import ADAPTIVE, CHOSEN, JUDGMENTS, WINNERS
from arena.data.tables import read_rows
from arena.data.types import Progress
from arena.data.wording import count_of
from arena.diagnostics.agreement import agreement_table
from arena.diagnostics.judge_label import (
    FLAG_SEPARATOR,
    NOTABLE_INVALID,
    JudgeLabel,
    PeopleAgreement,
    label_judge,
    without_identical,
)
from arena.diagnostics.verdicts import verdicts
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.judging.choosing.chosen_pairs import ChosenPairs, PairChooser, Verdicts
from arena.judging.llm_judge import (
    FAILURE_COLUMNS,
    PROBABILITY_COLUMNS,
    VERDICT_COLUMNS,
    LlmJudge,
    ask_judge,
    pairs_left,
)
from arena.llm.replies import UNPARSABLE
from arena.llm.usage import Budget, Price, Usage

if TYPE_CHECKING:
    from arena.llm.store import Store

PANEL_JUDGE = f"{PANEL}majority)"
"""Name of a panel in the ``judge`` column."""
SPLIT = "split"
"""Flag of a tie that stands for a panel without a winner of most votes."""

_COLUMNS = list(JUDGMENTS.columns)


@dataclass(frozen=True)
class Panel:
    """What a panel of judges says.

    Attributes:
        judgments: Of ``PANEL_JUDGE``; probabilities are shares of votes.
        too_few: Items left out, for fewer than half of the judges gave a verdict.
    """

    judgments: pd.DataFrame
    too_few: int

    @property
    def split(self) -> int:
        """Items without a verdict of most votes, which are ties."""
        return int((self.judgments["flags"] == SPLIT).sum())


@dataclass(frozen=True)
class JudgingSummary:
    """Counts of one judge's run.

    Attributes:
        judge: Its name.
        prompt: Version of the prompt.
        pairs: Pairs chosen, each order counted.
        already_judged: Those of them that the arena held this judge's verdict on.
        identical: Those with identical answers, which are ties without being asked.
        verdicts: Number of ``a``, ``b`` and ``tie``, identical answers included.
        flags: Pairs by what was odd about their answers or the reply.
        usage: Calls, tokens, and failures by reason.
        cost: At the given prices, or None.
        check: What this judge's verdicts say of it, those of earlier runs included.
        warnings: What limits the verdicts.
    """

    judge: str
    prompt: str
    pairs: int
    already_judged: int
    identical: int
    verdicts: dict[str, int]
    flags: dict[str, int]
    usage: Usage
    cost: float | None
    check: JudgeLabel
    warnings: tuple[str, ...]

    @property
    def invalid(self) -> int:
        """Replies without a verdict."""
        return self.usage.failures.get(UNPARSABLE, 0)

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        fields = asdict(self) | self.usage.as_json()
        del fields["usage"]
        return fields | {"asked": self.usage.asked, "invalid": self.invalid}


@dataclass(frozen=True)
class Judging:
    """What judging brought; the arena is as it was.

    Attributes:
        judgments: New rows, ``VERDICT_COLUMNS``, and ``chosen`` where pairs were chosen as verdicts
            came.
        failures: Pairs without a verdict, ``FAILURE_COLUMNS``.
        summaries: A judge each.
        panel: Earlier verdicts included; None with one judge.
        pairs: What was chosen, in this run and before.
        agreement: See ``agreement_table``.
        batches: How often judges were asked.
        reason: Why no more was asked; empty where all that was chosen is judged.
    """

    judgments: pd.DataFrame
    failures: pd.DataFrame
    summaries: tuple[JudgingSummary, ...]
    panel: Panel | None
    pairs: ChosenPairs
    agreement: pd.DataFrame
    batches: int
    reason: str

    @property
    def failed(self) -> bool:
        """Whether judges were asked, and none replied with a verdict."""
        usages = [summary.usage for summary in self.summaries]
        return any(usage.asked for usage in usages) and not any(usage.answered for usage in usages)

    @property
    def failure_counts(self) -> dict[str, int]:
        """Outcomes without a verdict, by reason."""
        return Usage.total("", [summary.usage for summary in self.summaries]).failures

    @property
    def reasons(self) -> str:
        """Counts of outcomes without a verdict, with what was said about the first of each."""
        return Usage.total("", [summary.usage for summary in self.summaries]).shown_failures()

    def write(self, folder: Path | str) -> tuple[Path, int]:
        """Add the verdicts to an arena folder; list in ``failed_judgments.jsonl`` what has none.

        Returns:
            The file of judgments, and how many were added.

        Raises:
            UsageError: If the folder cannot be used.
            DataError: If the judgments there are damaged.
        """
        file, added = append_rows(folder, "judgments", self.judgments)
        key = ["judge", *PAIR_COLUMNS]
        tables = [table[key] for table in (self.judgments, self.failures)]
        settled = set(pd.concat(tables).itertuples(index=False, name=None))
        list_failures(Path(folder) / FAILED_JUDGMENTS, self.failures, key, settled)
        if self.panel is not None:
            added += append_rows(folder, "judgments", self.panel.judgments, replacing=True)[1]
        return file, added


def judge(
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
    """Let an LLM, or a panel of them, judge pairs of answers.

    A pair that the arena holds a judge's verdict on is not judged again; a reply that is in the
    store is not asked for again. A pair without a verdict is a counted failure, never a tie.

    Args:
        arena: Questions, answers, and the judgments there are.
        judges: One judge, or those of a panel, which is asked about every batch as a whole.
        pairs: See ``choose_pairs`` and ``AdaptivePairs``.
        store: See ``arena.llm.open_store``.
        budget: Most calls, over all judges; pairs that are left fail as ``over_budget``.
        prices: Price of each model, for the cost in the summaries.
        progress: Called with a judge's name, the pairs done, and all.
        people: How far judges agree with people, by name, where that was measured before.

    Raises:
        UsageError: If a judge cannot be used or two have the same name. Replies that came are in
            the store.
    """
    members = (judges,) if isinstance(judges, LlmJudge) else tuple(judges)
    names = [member.judge for member in members]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated or not names:
        raise UsageError(f"name each judge once: {', '.join(repeated) or 'there is none'}")
    calls = budget or Budget()
    asked: list[ChosenPairs] = []
    found: list[list[tuple[Verdicts, Usage]]] = [[] for _ in members]
    batches = pairs.batches()
    try:
        batch = next(batches)
        while True:
            shown = _counted_on(progress, sum(batch.whole for batch in asked), pairs.whole)
            for member, parts in zip(members, found, strict=True):
                parts.append(ask_judge(arena, member, batch, store, calls, shown))
            asked.append(batch)
            batch = batches.send(_stacked([parts[-1][0] for parts in found]))
    except StopIteration as end:
        reason = str(end.value)
    chosen = pairs.chosen(asked)
    of_judges = [_stacked([part for part, _ in parts]) for parts in found]
    summaries = []
    for member, brought, parts in zip(members, of_judges, found, strict=True):
        usage = Usage.total(member.asked_settings.model, [usage for _, usage in parts])
        left = [pairs_left(arena, member, batch) for batch in asked]
        compared = (people or {}).get(member.judge)
        summary = _summary(arena, member, (chosen, left), brought, usage, prices, compared)
        summaries.append(summary)
    new = _stacked(of_judges)
    judgments = new.judgments.assign(**{CHOSEN: ADAPTIVE}) if chosen.adaptive else new.judgments
    everything = _joined([arena.judgments[_COLUMNS], new.judgments[_COLUMNS]], _COLUMNS)
    return Judging(
        judgments=judgments,
        failures=new.failures,
        summaries=tuple(summaries),
        panel=panel_verdicts(everything, names) if len(names) > 1 else None,
        pairs=chosen,
        agreement=agreement_table(verdicts(everything), of=names),
        batches=len(asked),
        reason=reason,
    )


def lasting_failures(folder: Path | str) -> pd.DataFrame:
    """Read the pairs that judges of a folder gave no verdict on, ``FAILURE_COLUMNS``."""
    path = Path(folder) / FAILED_JUDGMENTS
    if not path.is_file():
        return pd.DataFrame(columns=FAILURE_COLUMNS, dtype=object)
    return read_rows(path).table


def panel_verdicts(judgments: pd.DataFrame, judges: Sequence[str]) -> Panel:
    """Make one verdict of several judges' verdicts on the same pair in the same order.

    An item needs verdicts of half of the judges at least. The verdict with the most votes wins;
    without one, the item is a tie.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``; of several
            verdicts of a judge on the same item the last one counts.
        judges: The panel.
    """
    members = list(dict.fromkeys(judges))
    cast = judgments[judgments["judge"].isin(members)]
    last = cast.drop_duplicates([*PAIR_COLUMNS, "judge"], keep="last")
    marks = {winner: (last["winner"] == winner).astype(int) for winner in WINNERS}
    votes = last[PAIR_COLUMNS].assign(**marks).groupby(PAIR_COLUMNS)[list(WINNERS)].sum()
    counts = votes.to_numpy(np.float64)
    is_enough = counts.sum(axis=1) >= len(members) / 2
    shares = counts[is_enough] / counts[is_enough].sum(axis=1, keepdims=True)
    best = shares.max(axis=1, initial=0.0)
    is_split = (shares == best[:, None]).sum(axis=1) > 1
    winner = np.where(is_split, WINNERS.index("tie"), shares.argmax(axis=1))
    columns = {
        "winner": np.array(WINNERS, dtype=object)[winner],
        "judge": PANEL_JUDGE,
        "probability": shares[np.arange(len(winner)), winner],
        "probability_a": shares[:, WINNERS.index("a")],
        "probability_b": shares[:, WINNERS.index("b")],
        "flags": np.where(is_split, SPLIT, ""),
        "prompt": f"panel of {', '.join(sorted(members))}",
        "reason": "",
    }
    table = votes[is_enough].reset_index()[PAIR_COLUMNS].assign(**columns)[VERDICT_COLUMNS]
    rounded = table.round(dict.fromkeys(PROBABILITY_COLUMNS, 6))
    texts = dict.fromkeys(["winner", "judge", "flags", "prompt", "reason"], "str")
    return Panel(rounded.astype(texts), int((~is_enough).sum()))


def _counted_on(progress: Progress | None, before: int, whole: int | None) -> Progress | None:
    """Count a batch's pairs after those before it."""
    if progress is None:
        return None

    def of_all(name: str, done: int, size: int) -> None:
        progress(name, before + done, before + size if whole is None else max(whole, size))

    return of_all


def _stacked(parts: Sequence[Verdicts]) -> Verdicts:
    return Verdicts(
        _joined([part.judgments for part in parts], VERDICT_COLUMNS),
        _joined([part.failures for part in parts], FAILURE_COLUMNS),
    )


def _joined(tables: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Join tables, of which there may be none."""
    some = [table[list(columns)] for table in tables if len(table)]
    if not some:
        return pd.DataFrame(columns=list(columns), dtype=object)
    return pd.concat(some, ignore_index=True)


def _summary(
    arena: Arena,
    judge: LlmJudge,
    chosen: tuple[ChosenPairs, Sequence[ChosenPairs]],
    found: Verdicts,
    usage: Usage,
    prices: Mapping[str, Price] | None,
    people: PeopleAgreement | None,
) -> JudgingSummary:
    """Count what a run of one judge brought, from all pairs and those of each batch to judge."""
    pairs, left = chosen
    there = arena.judgments[arena.judgments["judge"] == judge.judge]
    already = len(pairs) - sum(map(len, left))
    everybody = pd.concat([arena.judgments, found.judgments], ignore_index=True)
    invalid = usage.failures.get(UNPARSABLE, 0)
    check = label_judge(
        judge.judge,
        everybody,
        arena.answers,
        people=people,
        invalid=invalid,
        asked=usage.asked + len(without_identical(there)),
    )
    won = found.judgments["winner"].value_counts()
    noted = pd.concat([found.judgments["flags"], found.failures["flags"]])
    flags = Counter(flag for text in noted for flag in text.split(FLAG_SEPARATOR) if flag)
    return JudgingSummary(
        judge=judge.judge,
        prompt=judge.asked_by.version,
        pairs=len(pairs),
        already_judged=already,
        identical=sum(len(batch.identical) for batch in left),
        verdicts={winner: int(won.get(winner, 0)) for winner in WINNERS},
        flags=dict(sorted(flags.items())),
        usage=usage,
        cost=usage.cost(prices or {}),
        check=check,
        warnings=tuple(_warnings(judge, there, invalid, usage.asked + already)),
    )


def _warnings(judge: LlmJudge, there: pd.DataFrame, invalid: int, asked: int) -> Iterator[str]:
    """Say that many replies hold no verdict, or that the arena's are from another prompt."""
    if invalid > NOTABLE_INVALID * asked:
        hold = "holds" if invalid == 1 else "hold"
        yield (
            f"{invalid} of {count_of(asked, 'reply', 'replies')} of {judge.judge} {hold} no "
            "verdict; what it did judge may be no random part"
        )
    now = judge.asked_by.version
    versions = there["prompt"].dropna() if "prompt" in there else ()
    others = sorted({str(version) for version in versions if version != now})
    if others:
        yield (
            f"the arena holds verdicts of {judge.judge} from another prompt ({others[0]}, now "
            f"{now}); give this judge a name of its own to keep them apart"
        )
