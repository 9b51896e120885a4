"""Counts of one judge's run, and what is to be said about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from arena.data.schema import JUDGMENTS, WINNERS
from arena.data.wording import count_of
from arena.diagnostics.bias import order_consistency_table
from arena.diagnostics.families import self_preference_warnings
from arena.diagnostics.self_check import (
    NOTABLE_INVALID,
    RepeatNoise,
    SelfCheck,
    repeats_of,
    self_check,
)
from arena.diagnostics.verdicts import verdicts
from arena.judging.choosing.drawn import ChosenPairs
from arena.llm.replies import OVER_BUDGET, UNPARSABLE
from arena.llm.usage import Price, Usage

if TYPE_CHECKING:
    from arena.judging.judge import LlmJudge

FLAG_SEPARATOR = ","

_COLUMNS = list(JUDGMENTS.columns)


@dataclass(frozen=True)
class Flips:
    """Pairs judged in both orders.

    Attributes:
        items: How many.
        consistent: The same verdict in both orders.
        tie_vs_win: A tie in one order alone.
        flipped: The other system wins in the other order.
    """

    items: int
    consistent: int
    tie_vs_win: int
    flipped: int

    @property
    def rate(self) -> float | None:
        """Share of the items that flip; None without items."""
        return self.flipped / self.items if self.items else None


@dataclass(frozen=True)
class JudgingSummary:
    """Counts of one judge's run.

    Attributes:
        judge: The judge.
        prompt: Version of the prompt.
        pairs: Pairs chosen (twice as many rows where both orders are asked).
        already_judged: Those of them that the arena held this judge's verdict on.
        identical: Those with identical answers, which are ties without being asked.
        verdicts: Number of ``a``, ``b`` and ``tie``, identical answers included.
        flags: Pairs by what was odd about their answers or the reply.
        flips: Pairs of this judge judged in both orders, those of earlier runs included.
        usage: Calls, tokens, and failures by reason; a reply without a verdict is
            ``unparsable``, and none of these is a tie.
        cost: Cost of the calls at the given prices, or None.
        repeats: How far repeated replies of this run agree; None where none were asked for.
        check: What this judge's verdicts say of it, those of earlier runs included.
        warnings: Sentences on what limits the verdicts.
    """

    judge: str
    prompt: str
    pairs: int
    already_judged: int
    identical: int
    verdicts: dict[str, int]
    flags: dict[str, int]
    flips: Flips
    usage: Usage
    cost: float | None
    repeats: RepeatNoise | None
    check: SelfCheck
    warnings: tuple[str, ...]

    @property
    def asked(self) -> int:
        """Pairs that the model was asked, now or before."""
        return self.usage.prompts - self.usage.failures.get(OVER_BUDGET, 0)

    @property
    def invalid(self) -> int:
        """Replies without a verdict."""
        return self.usage.failures.get(UNPARSABLE, 0)

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        fields = asdict(self) | self.usage.as_json()
        del fields["usage"]
        counts = {"asked": self.asked, "invalid": self.invalid}
        return fields | counts | {"flips": asdict(self.flips) | {"rate": self.flips.rate}}


def summarize_judging(
    judge: LlmJudge,
    pairs: ChosenPairs,
    left: ChosenPairs,
    judgments: pd.DataFrame,
    failures: pd.DataFrame,
    there: pd.DataFrame,
    usage: Usage,
    prices: Mapping[str, Price] | None,
) -> JudgingSummary:
    """Count what a run of one judge brought.

    Args:
        judge: Who judged.
        pairs: What was chosen.
        left: What of it the arena held no verdict of this judge on.
        judgments: The verdicts.
        failures: Pairs without one.
        there: Verdicts of this judge that the arena held before.
        usage: Calls and tokens.
        prices: Price of each model, or None.
    """
    systems = {*pairs.table["system_a"], *pairs.table["system_b"]}
    repeats = repeats_of(judgments, judge.repeats) if judge.repeats > 1 else None
    summary = JudgingSummary(
        judge=judge.judge,
        prompt=judge.version,
        pairs=len(pairs),
        already_judged=len(pairs) - len(left),
        identical=len(left.identical),
        verdicts=_count_winners(judgments),
        flags=_count_flags([judgments["flags"], failures["flags"]]),
        flips=_count_flips(pd.concat([there[_COLUMNS], judgments[_COLUMNS]], ignore_index=True)),
        usage=usage,
        cost=usage.cost(prices or {}),
        repeats=repeats,
        check=self_check(
            pd.concat([_asked(there), _asked(judgments)], ignore_index=True),
            usage.failures.get(UNPARSABLE, 0),
            usage.prompts - usage.failures.get(OVER_BUDGET, 0) + len(_asked(there)),
            repeats,
        ),
        warnings=(),
    )
    replies = summary.asked + summary.already_judged
    warnings = (
        *self_preference_warnings(judge.settings.model, systems),
        *_invalid_warning(judge.judge, summary.invalid, replies),
        *_version_warning(judge, there),
    )
    return replace(summary, warnings=warnings)


def _invalid_warning(judge: str, invalid: int, asked: int) -> Iterator[str]:
    if invalid > NOTABLE_INVALID * asked:
        hold = "holds" if invalid == 1 else "hold"
        yield (
            f"{invalid} of {count_of(asked, 'reply', 'replies')} of {judge} {hold} no verdict; "
            "what it did judge may be no random part"
        )


def _version_warning(judge: LlmJudge, there: pd.DataFrame) -> Iterator[str]:
    """Warn where the arena holds verdicts under the same name from another prompt."""
    if "prompt" not in there:
        return
    now = judge.version
    others = sorted({str(version) for version in there["prompt"].dropna() if version != now})
    if others:
        yield (
            f"the arena holds verdicts of {judge.judge} from another prompt ({others[0]}, now "
            f"{now}); give this judge a name of its own to keep them apart"
        )


def _asked(judgments: pd.DataFrame) -> pd.DataFrame:
    """Leave out the ties of identical answers, which nobody was asked about."""
    if "flags" not in judgments:
        return judgments[_COLUMNS]
    asked = [IDENTICAL not in str(flags).split(FLAG_SEPARATOR) for flags in judgments["flags"]]
    return judgments.loc[asked, _COLUMNS]


def _count_winners(judgments: pd.DataFrame) -> dict[str, int]:
    """Count the verdicts of each kind."""
    counts = judgments["winner"].value_counts()
    return {winner: int(counts.get(winner, 0)) for winner in WINNERS}


def _count_flags(columns: Iterable[pd.Series]) -> dict[str, int]:
    """Count the rows that carry each flag."""
    counts = Counter(
        flag for flags in columns for text in flags for flag in text.split(FLAG_SEPARATOR) if flag
    )
    return dict(sorted(counts.items()))


def _count_flips(judgments: pd.DataFrame) -> Flips:
    """Count over all languages how verdicts fare in the other order."""
    if judgments.empty:
        return Flips(0, 0, 0, 0)
    counts = order_consistency_table(verdicts(judgments))
    columns = ("items", "consistent", "tie_vs_win", "flipped")
    return Flips(*(int(counts[column].sum()) for column in columns))


JUDGMENT_COLUMNS = [
    *("query_id", "language", "system_a", "system_b", "winner", "judge"),
    *("probability", "probability_a", "probability_b", "flags", "prompt"),
]
FAILURE_COLUMNS = [
    *("query_id", "language", "system_a", "system_b", "judge"),
    *("reason", "detail", "flags", "prompt", "key"),
]

VERDICT_COLUMNS = [*JUDGMENT_COLUMNS, "reason"]
"""Of an LLM's verdicts, with what it wrote before them."""

PROBABILITY_COLUMNS = ["probability", "probability_a", "probability_b"]

IDENTICAL = "identical"
"""Flag of a tie that nobody was asked about: the two answers are the same text."""


@dataclass(frozen=True)
class Verdicts:
    """What came of asking one judge.

    Attributes:
        judgments: An arena's ``judgments``, with ``probability`` (of the verdict among the three)
            and ``probability_a, probability_b`` where log-probabilities were read, ``flags``
            (comma-separated) and ``prompt`` (its version).
        failures: Pairs without a verdict: ``reason``, ``detail``, and ``key`` in the store.
        usage: Calls and tokens.
    """

    judgments: pd.DataFrame
    failures: pd.DataFrame
    usage: Usage


@dataclass(frozen=True)
class Judged(Verdicts):
    """The judgments of one judge, as ``Verdicts``.

    Attributes:
        summary: What was counted.
    """

    summary: JudgingSummary


def stacked(tables: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Stack tables, of which there may be none."""
    some = [table[list(columns)] for table in tables if len(table)]
    if not some:
        return pd.DataFrame(columns=list(columns), dtype=object)
    return pd.concat(some, ignore_index=True)
