"""``judge_report.json``: how far the judge whose verdicts a board learns from can be trusted."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from surrogate.summary import Number


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class FlipRate(_Part):
    """How often the other system wins when a pair is judged in the other order.

    Attributes:
        items: Questions and pairs judged in both orders.
        flipped: Those whose winner changed.
        rate: Their share.
        reason: Why it is not known.
    """

    items: int
    flipped: int
    rate: Number = None
    reason: str | None = None


class Position(_Part):
    """How often the answer shown first wins.

    Attributes:
        first_wins: Decided judgments won by side A.
        decided: Judgments that are no tie.
        share: Share of the first.
        low: Lower bound of its 95% Wilson interval.
        high: Upper bound.
        reason: Why it is not known.
    """

    first_wins: int
    decided: int
    share: Number = None
    low: Number = None
    high: Number = None
    reason: str | None = None


class LengthPreference(_Part):
    """What a diagnosis says of longer answers in one language."""

    language: str
    sentence: str


class JudgeAgreement(_Part):
    """Cohen's kappa with another judge over all languages, with a 95% bootstrap interval.

    Attributes:
        judge: The other judge.
        items: Questions and pairs both judged.
        kappa: Agreement beyond chance.
        low: Lower bound.
        high: Upper bound.
    """

    judge: str
    items: int
    kappa: Number
    low: Number
    high: Number


class FailureCounts(_Part):
    """Pairs without a verdict, in all and by reason; null, with the reason, where not known."""

    count: int | None = None
    reasons: dict[str, int] = {}
    reason: str | None = None


class UsageCounts(_Part):
    """Calls and tokens of the judge; null, with the reason, where not known."""

    calls: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reason: str | None = None


class NotedMetaEvaluation(BaseModel):
    """How the judge did against human labels, with whatever else its entry holds.

    Attributes:
        name: Name under which it was evaluated.
        dataset: What it was held against.
        metric: What was measured.
        value: The measure.
        standard_error: Its standard error.
        items: What it was measured on.
        text: The entry in short, as in the board's signature.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    dataset: str
    metric: str
    value: Number
    standard_error: Number
    items: int
    text: str


class JudgeReport(_Part):
    """What is known of a judge.

    Attributes:
        judge: Its name.
        judgments: Its judgments in the arena.
        systems: Systems it judged.
        languages: Languages it judged in.
        flip_rate: Consistency over both orders.
        position: Preference for a side.
        length_preference: Preference for longer answers, language by language.
        agreement: Agreement with the other judges of the arena.
        failures: Pairs without a verdict.
        usage: Calls and tokens.
        metaevaluations: Quality against human labels.
    """

    judge: str
    judgments: int
    systems: int
    languages: tuple[str, ...]
    flip_rate: FlipRate
    position: Position
    length_preference: tuple[LengthPreference, ...]
    agreement: tuple[JudgeAgreement, ...]
    failures: FailureCounts
    usage: UsageCounts
    metaevaluations: tuple[NotedMetaEvaluation, ...]
