"""``judge_report.json``: how far the judge whose verdicts a board learns from can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict

from arena.data.append import FAILED_JUDGMENTS
from arena.data.arena import Arena
from arena.data.errors import ArenaError, UsageError
from arena.data.rows import read_rows
from arena.diagnostics import Diagnosis
from arena.diagnostics.agreement import agreement_with_reference
from arena.diagnostics.verdicts import share_of
from surrogate.board.judge.metaevaluations import (
    FILE_NAME,
    MetaEvaluation,
    is_same_judge,
    read_metaevaluations,
)
from surrogate.board.settings import NOBODY
from surrogate.board.summary import Number


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


class JudgeReport(_Part):
    """What is known of a judge.

    Attributes:
        judge: Its name.
        judgments: Its judgments in the arena.
        systems: Systems it judged.
        languages: Languages it judged in.
        flip_rate: Consistency over both orders.
        position: Preference for a side.
        length_preference: What is said of longer answers, by language.
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
    length_preference: dict[str, str]
    agreement: tuple[JudgeAgreement, ...]
    failures: FailureCounts
    usage: UsageCounts
    metaevaluations: tuple[MetaEvaluation, ...]


STORE_FILE = "judging.sqlite"

IN_MEMORY = "the board was built of an arena in memory, not of a folder"
NO_FAILED_JUDGMENTS = f"the arena's folder has no {FAILED_JUDGMENTS}"
NO_STORE = f"the arena's folder has no store of replies ({STORE_FILE})"


@dataclass(frozen=True)
class JudgingRecords:
    """What is known of a judge beside its judgments.

    Attributes:
        metaevaluations: How it did against human labels.
        failures: Pairs it gave no verdict on.
        usage: What it cost.
    """

    metaevaluations: tuple[MetaEvaluation, ...] = ()
    failures: FailureCounts = field(default_factory=lambda: FailureCounts(reason=IN_MEMORY))
    usage: UsageCounts = field(default_factory=lambda: UsageCounts(reason=IN_MEMORY))


def read_judging_records(
    folder: Path | str, judge: str, further: Iterable[Path | str] = ()
) -> JudgingRecords:
    """Read what an arena's folder knows of a judge.

    Args:
        folder: Arena folder.
        judge: Its name in the ``judge`` column of judgments. A meta-evaluation belongs to it if
            its judge has the same name, or the same after ``llm:``.
        further: Other meta-evaluations: files ``metaevaluation.json``, or folders that hold one.

    Raises:
        UsageError: If one of ``further`` is not there.
        DataError: If a file is damaged.
    """
    folder = Path(folder)
    places = [folder, *(_folder_of(Path(place)) for place in further)]
    entries = [entry for place in places for entry in read_metaevaluations(place)]
    return JudgingRecords(
        metaevaluations=_distinct(entry for entry in entries if is_same_judge(entry.judge, judge)),
        failures=_failures(folder / FAILED_JUDGMENTS, judge),
        usage=_usage(folder / STORE_FILE, judge),
    )


def _folder_of(place: Path) -> Path:
    if place.name == FILE_NAME and place.is_file():
        return place.parent
    if (place / FILE_NAME).is_file():
        return place
    raise UsageError(
        f"there is no meta-evaluation at {place}: name a {FILE_NAME}, or a folder that holds one; "
        "surrogate-arena metaeval … --arena FOLDER writes it"
    )


def _distinct(entries: Iterable[MetaEvaluation]) -> tuple[MetaEvaluation, ...]:
    """Leave out what is said twice, and sort."""
    texts = {entry.model_dump_json(): entry for entry in entries}
    return tuple(texts[text] for text in sorted(texts, key=lambda text: (str(texts[text]), text)))


def _failures(path: Path, judge: str) -> FailureCounts:
    if not path.is_file():
        return FailureCounts(reason=NO_FAILED_JUDGMENTS)
    table = read_rows(path).table.reindex(columns=["judge", "reason"])
    own = table.loc[table["judge"] == judge, "reason"].astype(str)
    reasons = {str(reason): int(count) for reason, count in own.value_counts().items()}
    return FailureCounts(count=len(own), reasons=dict(sorted(reasons.items())))


def _usage(path: Path, judge: str) -> UsageCounts:
    """Sum up the calls to the model of the judge's name, whatever they were for."""
    if not path.is_file():
        return UsageCounts(reason=NO_STORE)
    from arena.llm import open_store

    try:
        with open_store(path) as store:
            table = store.stats()
    except ArenaError as error:
        return UsageCounts(reason=f"{STORE_FILE} cannot be read: {error}")
    own = table[table["model"] == judge]
    if own.empty:
        return UsageCounts(reason=f"{STORE_FILE} holds no call to a model of the judge's name")
    sums = own[["tries", "tokens_in", "tokens_out"]].fillna(0).sum()
    calls, tokens_in, tokens_out = (int(value) for value in sums)
    return UsageCounts(calls=calls, prompt_tokens=tokens_in, completion_tokens=tokens_out)


ONE_ORDER = "no pair was judged in both orders"
ALL_TIES = "every judgment is a tie"
NO_VERDICTS = "nobody has judged"
ONLY_RATINGS = "ratings are published, without judgments"
MOST_JUDGES = 20
"""Judges compared with a board's own: those that share the most items with it."""


def report_judge(
    arena: Arena,
    judge: str,
    diagnoses: Mapping[str, Diagnosis],
    records: JudgingRecords,
    seed: int = 0,
) -> JudgeReport:
    """Sum up what is known of a judge.

    Args:
        arena: The arena, with the judgments of all judges.
        judge: The judge.
        diagnoses: Diagnosis of its judgments in each language.
        records: What is known of it beside its judgments.
        seed: Seed of the bootstrap.
    """
    own = arena.judged_by(judge)
    languages = {*own.judgments["language"], *own.published_ratings["language"]}
    return JudgeReport(
        judge=judge,
        judgments=len(own.judgments),
        systems=len(own.rated_systems),
        languages=tuple(sorted(languages)),
        flip_rate=_flip_rate(list(diagnoses.values())),
        position=_position(list(diagnoses.values())),
        length_preference=_length_preference(diagnoses),
        agreement=_agreement(arena.judgments, judge, seed),
        failures=records.failures,
        usage=records.usage,
        metaevaluations=records.metaevaluations,
    )


def no_judge() -> JudgeReport:
    """Report that nobody judged."""
    return JudgeReport(
        judge=NOBODY,
        judgments=0,
        systems=0,
        languages=(),
        flip_rate=FlipRate(items=0, flipped=0, reason=NO_VERDICTS),
        position=Position(first_wins=0, decided=0, reason=NO_VERDICTS),
        length_preference={},
        agreement=(),
        failures=FailureCounts(reason=NO_VERDICTS),
        usage=UsageCounts(reason=NO_VERDICTS),
        metaevaluations=(),
    )


def _flip_rate(diagnoses: Sequence[Diagnosis]) -> FlipRate:
    items, flipped = (
        sum(int(item.counts[name].sum()) for item in diagnoses) for name in ("items", "flipped")
    )
    if not items:
        return FlipRate(items=0, flipped=0, reason=ONE_ORDER if diagnoses else ONLY_RATINGS)
    return FlipRate(items=items, flipped=flipped, rate=flipped / items)


def _position(diagnoses: Sequence[Diagnosis]) -> Position:
    decided, first = (
        sum(int(item.counts[name].sum()) for item in diagnoses) for name in ("decided", "won_by_a")
    )
    if not decided:
        return Position(first_wins=0, decided=0, reason=ALL_TIES if diagnoses else ONLY_RATINGS)
    share, low, high = share_of(first, decided)
    return Position(first_wins=first, decided=decided, share=share, low=low, high=high)


def _length_preference(diagnoses: Mapping[str, Diagnosis]) -> dict[str, str]:
    return {
        language: finding.sentence
        for language, diagnosis in diagnoses.items()
        for finding in diagnosis.findings
        if finding.check == "length"
    }


def _agreement(judgments: pd.DataFrame, judge: str, seed: int) -> tuple[JudgeAgreement, ...]:
    """Compare the judge with every other one on the items both judged, languages together."""
    try:
        found = agreement_with_reference(judgments, [judge], seed)
    except UsageError:  # nobody else judged the same
        return ()
    most = found.sort_values(["items", "judge"], ascending=[False, True]).head(MOST_JUDGES)
    rows = most[["judge", "items", "kappa", "low", "high"]].to_dict("records")
    return tuple(JudgeAgreement(**{str(name): row[name] for name in row}) for row in rows)
