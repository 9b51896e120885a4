"""Counts of one judge's run, and what is to be said about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.schema import JUDGMENTS, WINNERS
from arena.diagnostics.bias import contradictions_table
from arena.diagnostics.verdicts import verdicts
from arena.judging.llm_judge import LlmJudge, self_preference_warnings
from arena.judging.pairs import ChosenPairs
from arena.llm.replies import OVER_BUDGET
from arena.llm.usage import Price, Usage

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


JUDGMENT_COLUMNS = [
    *("query_id", "language", "system_a", "system_b", "winner", "judge"),
    *("probability", "probability_a", "probability_b", "flags", "prompt"),
]
FAILURE_COLUMNS = [
    *("query_id", "language", "system_a", "system_b", "judge"),
    *("reason", "detail", "flags", "prompt", "key"),
]

PROBABILITY_COLUMNS = ["probability", "probability_a", "probability_b"]

IDENTICAL = "identical"
"""Flag of a tie that nobody was asked about: the two answers are the same text."""


@dataclass(frozen=True)
class Judged:
    """The judgments of one judge.

    Attributes:
        judgments: An arena's ``judgments``, with ``probability`` (of the verdict among the three)
            and ``probability_a, probability_b`` where log-probabilities were read, ``flags``
            (comma-separated) and ``prompt`` (its version).
        failures: Pairs without a verdict: ``reason``, ``detail``, and ``key`` in the store.
        summary: What was counted.
    """

    judgments: pd.DataFrame
    failures: pd.DataFrame
    summary: JudgingSummary


Floats = npt.NDArray[np.float64]
Names = npt.NDArray[np.object_]

FLIPPED = "flipped"
"""Flag of a pair whose two verdicts name different systems."""

_PAIR = ["language", "query_id", "first", "second", "judge"]


def merged_orders(judgments: pd.DataFrame) -> pd.DataFrame:
    """Make one verdict of each pair that a judge has judged in both orders.

    Where both verdicts have probabilities, these are averaged over the orders, and the likeliest
    verdict wins: what a judge gives to a side, whatever stands there, cancels out, and even a
    judge that always names side A tells systems apart. Elsewhere a system wins if both verdicts
    name it, and anything else is a tie.

    Args:
        judgments: As ``judge_arena`` returns them; of several verdicts of a judge on the same
            pair in the same order the last one counts.

    Returns:
        Judgments with the judge ``NAME (both orders)``, side A the first system by name; pairs
        judged in one order are left out.
    """
    forward = judgments[judgments["system_a"] < judgments["system_b"]]
    backward = judgments[judgments["system_a"] > judgments["system_b"]]
    both = _keyed(forward, "system_a", "system_b").merge(
        _keyed(backward, "system_b", "system_a"), on=_PAIR, suffixes=("", "_back")
    )
    one = both["probability_a"] + both["probability_b_back"]
    other = both["probability_b"] + both["probability_a_back"]
    chances = np.stack([one / 2, other / 2, 1 - (one + other) / 2], axis=1)
    winners, flips = _by_agreement(both)
    known = np.isfinite(chances).all(axis=1)
    likeliest, best = _likeliest(chances[known])
    winners[known] = likeliest
    probability = np.full(len(both), np.nan)
    probability[known] = best
    table = both.assign(
        system_a=both["first"],
        system_b=both["second"],
        winner=winners,
        judge=both["judge"] + " (both orders)",
        probability=probability,
        probability_a=chances[:, 0],
        probability_b=chances[:, 1],
        flags=np.where(flips, FLIPPED, ""),
    )[JUDGMENT_COLUMNS]
    return table.round(dict.fromkeys(PROBABILITY_COLUMNS, 6)).astype(
        {"winner": "str", "judge": "str", "flags": "str"}
    )


def _keyed(table: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    keyed = table.assign(first=table[first], second=table[second])
    return keyed.drop_duplicates(_PAIR, keep="last")


def _by_agreement(both: pd.DataFrame) -> tuple[Names, npt.NDArray[np.bool_]]:
    """Return the verdicts that both orders share, ties elsewhere; and which pairs flip."""
    turned = both["winner_back"].map({"a": "b", "b": "a", "tie": "tie"}).to_numpy(dtype=object)
    winner = both["winner"].to_numpy(dtype=object)
    flips = (winner != turned) & (winner != "tie") & (turned != "tie")
    return np.where(winner == turned, winner, "tie"), flips


def _likeliest(chances: Floats) -> tuple[Names, Floats]:
    """Return the likeliest of each row's verdicts and its probability; a draw is a tie."""
    best = chances.max(axis=1, initial=0.0)
    is_draw = np.isclose(chances, best[:, None], rtol=0, atol=1e-9).sum(axis=1) > 1
    place = np.where(is_draw, 2, chances.argmax(axis=1))
    names = np.array(["a", "b", "tie"], dtype=object)
    return names[place], chances[np.arange(len(place)), place]
