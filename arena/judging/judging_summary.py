"""Counts of one judge's run, and what is to be said about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from arena.diagnostics.contradictions import contradictions_table
from arena.diagnostics.verdicts import verdicts
from arena.judging.llm_judge import LlmJudge
from arena.judging.model_families import self_preference_warnings
from arena.judging.pairs import ChosenPairs
from arena.llm.failures import OVER_BUDGET
from arena.llm.usage import Price, Usage
from arena.tables import JUDGMENTS, WINNERS

INVALID = "invalid"
"""Reason of a reply without a verdict."""
FLAG_SEPARATOR = ","
NOTABLE_INVALID = 0.05

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
        asked: Those that the model was asked, now or before.
        calls: Calls sent, retries among them.
        retries: Calls sent again.
        from_store: Replies that were in the store.
        verdicts: Number of ``a``, ``b`` and ``tie``, identical answers included.
        invalid: Replies without a verdict; none of them is a tie.
        failures: Pairs without a verdict, by reason, the invalid among them.
        flags: Pairs by what was odd about their answers or the reply.
        tokens_in: Tokens of the calls' prompts.
        tokens_out: Tokens of the replies.
        cost: Cost of the calls at the given prices, or None.
        flips: Pairs of this judge judged in both orders, those of earlier runs included.
        warnings: Sentences on what limits the verdicts.
    """

    judge: str
    prompt: str
    pairs: int
    already_judged: int
    identical: int
    asked: int
    calls: int
    retries: int
    from_store: int
    verdicts: dict[str, int]
    invalid: int
    failures: dict[str, int]
    flags: dict[str, int]
    tokens_in: int
    tokens_out: int
    cost: float | None
    flips: Flips
    warnings: tuple[str, ...]

    @property
    def sent(self) -> int:
        """Pairs sent to the model in this run."""
        return self.calls - self.retries

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        flips = asdict(self.flips) | {"rate": self.flips.rate}
        return asdict(self) | {"sent": self.sent, "flips": flips}


def summarize(
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
    reasons = {str(name): int(n) for name, n in failures["reason"].value_counts().items()}
    invalid = reasons.get(INVALID, 0)
    asked = usage.prompts - reasons.get(OVER_BUDGET, 0)
    systems = {*pairs.table["system_a"], *pairs.table["system_b"]}
    return JudgingSummary(
        judge=judge.judge,
        prompt=judge.asked_by.version,
        pairs=len(pairs),
        already_judged=len(pairs) - len(left),
        identical=len(left.identical),
        asked=asked,
        calls=usage.calls,
        retries=usage.retries,
        from_store=usage.from_store,
        verdicts=_count_winners(judgments),
        invalid=invalid,
        failures=reasons,
        flags=_count_flags([judgments["flags"], failures["flags"]]),
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost=usage.cost(prices or {}),
        flips=_count_flips(pd.concat([there[_COLUMNS], judgments[_COLUMNS]], ignore_index=True)),
        warnings=(
            *self_preference_warnings(judge.settings.model, systems),
            *_invalid_warning(judge.judge, invalid, asked),
            *_version_warning(judge, there),
        ),
    )


def _invalid_warning(judge: str, invalid: int, asked: int) -> Iterator[str]:
    if invalid > NOTABLE_INVALID * asked:
        yield (
            f"{invalid} of {asked} replies of {judge} hold no verdict; what it did judge may be "
            "no random part"
        )


def _version_warning(judge: LlmJudge, there: pd.DataFrame) -> Iterator[str]:
    """Warn where the arena holds verdicts under the same name from another prompt."""
    if "prompt" not in there:
        return
    now = judge.asked_by.version
    others = sorted({str(version) for version in there["prompt"].dropna() if version != now})
    if others:
        yield (
            f"the arena holds verdicts of {judge.judge} from another prompt ({others[0]}, now "
            f"{now}); give this judge a name of its own to keep them apart"
        )


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
    counts = contradictions_table(verdicts(judgments))
    columns = ("items", "consistent", "tie_vs_win", "flipped")
    return Flips(*(int(counts[column].sum()) for column in columns))
