"""Counts of one judge's run, and what is to be said about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from arena.data.schema import JUDGMENTS, WINNERS
from arena.data.wording import count_of
from arena.diagnostics.bias import NOTABLE_INVALID, SelfCheck, self_check
from arena.diagnostics.families import self_preference_warnings
from arena.judging.choosing.drawn import ChosenPairs, Verdicts
from arena.llm.replies import OVER_BUDGET, UNPARSABLE
from arena.llm.usage import Price, Usage

if TYPE_CHECKING:
    from arena.judging.asking import LlmJudge

FLAG_SEPARATOR = ","
IDENTICAL = "identical"
"""Flag of a tie that nobody was asked about: the two answers are the same text."""

PROBABILITY_COLUMNS = ["probability", "probability_a", "probability_b"]
VERDICT_COLUMNS = [
    *("query_id", "language", "system_a", "system_b", "winner", "judge"),
    *(*PROBABILITY_COLUMNS, "flags", "prompt", "reason"),
]
"""Of an LLM's verdicts: the arena's, probabilities where they are known (of the verdict, and of
either side), flags (comma-separated), the prompt's version, and what it wrote before them."""
FAILURE_COLUMNS = [
    *("query_id", "language", "system_a", "system_b", "judge"),
    *("reason", "detail", "flags", "prompt", "key"),
]
"""Of pairs without a verdict; ``key`` is that of the reply in the store."""

_COLUMNS = list(JUDGMENTS.columns)


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
        usage: Calls, tokens, and failures by reason; a reply without a verdict is
            ``unparsable``, and none of these is a tie.
        cost: Cost of the calls at the given prices, or None.
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
    usage: Usage
    cost: float | None
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
        return fields | {"asked": self.asked, "invalid": self.invalid}


def summarize_judging(
    judge: LlmJudge,
    pairs: ChosenPairs,
    left: Sequence[ChosenPairs],
    found: Verdicts,
    there: pd.DataFrame,
    usage: Usage,
    prices: Mapping[str, Price] | None,
) -> JudgingSummary:
    """Count what a run of one judge brought.

    Args:
        judge: Who judged.
        pairs: What was chosen.
        left: What of it the arena held no verdict of this judge on, batch by batch.
        found: The verdicts, and the pairs without one.
        there: Verdicts of this judge that the arena held before.
        usage: Calls and tokens.
        prices: Price of each model, or None.
    """
    invalid = usage.failures.get(UNPARSABLE, 0)
    asked = usage.prompts - usage.failures.get(OVER_BUDGET, 0)
    already = len(pairs) - sum(map(len, left))
    judgments = [_asked(there), _asked(found.judgments)]
    replies = asked + len(judgments[0])
    systems = {*pairs.table["system_a"], *pairs.table["system_b"]}
    return JudgingSummary(
        judge=judge.judge,
        prompt=judge.asked_by.version,
        pairs=len(pairs),
        already_judged=already,
        identical=sum(len(batch.identical) for batch in left),
        verdicts=_count_winners(found.judgments),
        flags=_count_flags([found.judgments["flags"], found.failures["flags"]]),
        usage=usage,
        cost=usage.cost(prices or {}),
        check=self_check(pd.concat(judgments, ignore_index=True), invalid, replies),
        warnings=(
            *self_preference_warnings(judge.settings.model, systems),
            *_invalid_warning(judge.judge, invalid, asked + already),
            *_version_warning(judge, there),
        ),
    )


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
    now = judge.asked_by.version
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
