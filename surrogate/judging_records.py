"""What an arena's folder knows of its judge beside the judgments: failures, calls, quality."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from arena.errors import ArenaError, UsageError
from arena.judging.failure_file import FAILURES_FILE
from arena.metaevaluation.metaevaluation_file import (
    FILE_NAME,
    MetaEvaluation,
    is_same_judge,
    read_metaevaluations,
)
from arena.rows import read_rows
from surrogate.judge_report import FailureCounts, UsageCounts

STORE_FILE = "judging.sqlite"

IN_MEMORY = "the board was built of an arena in memory, not of a folder"
NO_FAILURES_FILE = f"the arena's folder has no {FAILURES_FILE}"
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
        failures=_failures(folder / FAILURES_FILE, judge),
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
        return FailureCounts(reason=NO_FAILURES_FILE)
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
