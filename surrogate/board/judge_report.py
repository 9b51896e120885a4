"""What is known of a judge: a board's ``judge_report.json``, ``metaevaluation.json`` of arenas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from arena.data.arena import Arena
from arena.data.errors import ArenaError, UsageError
from arena.data.files import write_text
from arena.data.folder import FAILED_JUDGMENTS, read_arena
from arena.data.judge_names import PEOPLE, is_person
from arena.data.tables import read_rows
from arena.diagnostics.influence import LISTED, first_place, support_sentence
from arena.diagnostics.judge_label import JudgeLabel, PeopleAgreement, label_judge
from arena.diagnostics.verdicts import share_of
from surrogate.board.summary import Number
from surrogate.board.tables import read_json

if TYPE_CHECKING:
    from arena.diagnostics import Diagnosis

METAEVALUATION_FILE = "metaevaluation.json"
NO_KAPPA = "no kappa with a standard error is known"
KAPPA = "kappa"
"""Metric of agreement on the same pairs."""
_LLM = "llm:"
_HINT = "see MetaEvaluation for what it should hold, or delete the file"


class MetaEvaluation(BaseModel):
    """How a judge did against human labels.

    Attributes:
        judge: Its name: that of the ``judge`` column of judgments, or ``llm:`` before it.
        dataset: What it was held against: ``memerag``, ``wikieval``, ``grouse``, ``people`` who
            voted in the arena, another of its judges, or one's own.
        metric: What the value is, such as ``balanced_accuracy``.
        prompt: Its prompt, with version.
        value: A share or a correlation, -1 to 1; no percentage.
        standard_error: By bootstrap, on the value's scale.
        n: Items judged, such as sentences or pairs.
        failures: Items without a label, counted as errors.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    judge: str = Field(min_length=1)
    dataset: str = Field(min_length=1)
    metric: str = Field(min_length=1)
    prompt: str = ""
    value: float = Field(ge=-1, le=1)
    standard_error: float = Field(ge=0)
    n: int = Field(ge=1)
    languages: list[str] = Field(min_length=1)
    failures: int = Field(default=0, ge=0)

    def __str__(self) -> str:
        share, spread = 100 * self.value, 100 * self.standard_error
        return f"{self.dataset}:{self.metric}={share:.1f}±{spread:.1f}"


class _Content(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    metaevaluations: list[MetaEvaluation]


def read_metaevaluations(folder: Path | str) -> tuple[MetaEvaluation, ...]:
    """Read what an arena's folder says of judges' quality; nothing if there is no such file.

    Raises:
        UsageError: If there is no such folder.
        DataError: If the file is damaged.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    path = folder / METAEVALUATION_FILE
    return tuple(read_json(_Content, path, _HINT).metaevaluations) if path.is_file() else ()


def add_metaevaluations(folder: Path | str, entries: Iterable[MetaEvaluation]) -> Path:
    """Add entries to a folder's file, in place of those of the same judge, data, metric and prompt.

    Returns:
        The file.

    Raises:
        UsageError: If there is no such folder.
        DataError: If the file that is there is damaged.
    """
    known = {
        (entry.judge, entry.dataset, entry.metric, entry.prompt): entry
        for entry in (*read_metaevaluations(folder), *entries)
    }
    path = Path(folder) / METAEVALUATION_FILE
    content = _Content(metaevaluations=[known[key] for key in sorted(known)])
    write_text(content.model_dump_json(indent=2) + "\n", path)
    return path


def agreements(kappas: pd.DataFrame, reference: str) -> tuple[list[MetaEvaluation], dict[str, str]]:
    """Return what judges' agreement with a reference, such as ``people``, says of them.

    Returns:
        An entry a row of ``arena.diagnostics.agreement.agreement_with_reference``, and the judges
        that have none, to why.
    """
    known = np.isfinite(kappas[["kappa", "standard_error"]]).all(axis=1)
    told = kappas.rename(columns={"kappa": "value", "items": "n"})[known]
    columns = ["judge", "value", "standard_error", "n", "languages"]
    entries = [
        MetaEvaluation.model_validate({"dataset": reference, "metric": KAPPA, **row})
        for row in told[columns].to_dict("records")
    ]
    return entries, dict.fromkeys(kappas.loc[~known, "judge"], NO_KAPPA)


def recorded_agreement(entries: Iterable[MetaEvaluation], judge: str) -> PeopleAgreement | None:
    """Return how far a judge agrees with people by its meta-evaluations, on most pairs; or None."""
    kappas = [
        entry
        for entry in entries
        if entry.judge.removeprefix(_LLM) == judge.removeprefix(_LLM)
        and entry.metric == KAPPA
        and all(map(is_person, entry.dataset.split("+")))
    ]
    if not kappas:
        return None
    found = max(kappas, key=lambda entry: entry.n)
    return PeopleAgreement(found.value, found.standard_error, found.n)


def recorded_agreements(folder: Path | str) -> dict[str, PeopleAgreement]:
    """Read how far judges agree with people by an arena's folder, by judge."""
    entries = read_metaevaluations(folder)
    names = {entry.judge.removeprefix(_LLM) for entry in entries}
    known = {name: recorded_agreement(entries, name) for name in sorted(names)}
    return {name: agreement for name, agreement in known.items() if agreement is not None}


def labels_of_judges(
    judgments: pd.DataFrame,
    judges: Iterable[str],
    answers: pd.DataFrame | None = None,
    folder: Path | None = None,
) -> list[JudgeLabel]:
    """Say what judges are worth, in the words that every command and page uses.

    Args:
        judgments: Verdicts of all judges.
        judges: Whom to say it of; all people count as one.
        answers: The arena's answers, for the effect of length.
        folder: The arena's folder, for its record of agreement with people.
    """
    recorded = {} if folder is None else recorded_agreements(folder)
    names = dict.fromkeys(PEOPLE if is_person(name) else name for name in judges)
    return [
        label_judge(name, judgments, answers, people=recorded.get(name.removeprefix(_LLM)))
        for name in names
    ]


def labels_of_verdicts(
    path: Path, judgments: pd.DataFrame, judges: Iterable[str]
) -> list[JudgeLabel]:
    """Say what judges are worth whose verdicts were read from a file, or an arena's folder.

    Args:
        path: The file, or the folder; its answers and records count where they can be read.
        judgments: Verdicts of all judges in it.
        judges: Whom to say it of.
    """
    if not path.is_dir():
        return labels_of_judges(judgments, judges)
    answers = None
    with suppress(ArenaError):  # a folder of verdicts alone
        answers = read_arena(path).answers
    return labels_of_judges(judgments, judges, answers, path)


class JudgingRecords(BaseModel):
    """What an arena's folder knows of a judge beside its judgments.

    Attributes:
        metaevaluations: How it did against human labels.
        failures: Reason to the number of pairs it gave no verdict on; null where not known.
    """

    model_config = ConfigDict(frozen=True)

    metaevaluations: tuple[MetaEvaluation, ...] = ()
    failures: dict[str, int] | None = None


class DroppedVerdict(BaseModel):
    """A verdict that holds up first place."""

    query_id: str
    system_a: str
    system_b: str
    winner: str


class FirstPlaceRecord(BaseModel):
    """What holds up first place in a language, see ``arena.diagnostics.influence``.

    Attributes:
        first: System with the highest rating by the verdicts alone.
        successor: System that would be first without some verdicts.
        dropped: How many these are.
        verdicts: All verdicts.
        listed: How many are listed at most.
        verdicts_dropped: They, the most influential first.
    """

    language: str
    first: str
    successor: str
    dropped: int
    verdicts: int
    listed: int = LISTED
    verdicts_dropped: tuple[DroppedVerdict, ...] = ()

    @property
    def share(self) -> float:
        """Share of the verdicts that hold up first place."""
        return self.dropped / self.verdicts

    @property
    def sentence(self) -> str:
        """Say how few verdicts hold up first place, without the full stop."""
        return support_sentence(self.first, self.successor, self.dropped, self.verdicts)


class JudgeReport(JudgingRecords):
    """What is known of a judge.

    Attributes:
        first_places: How few verdicts hold up first place, by language.
        systems: Systems it judged.
        both_orders: Questions and pairs judged in both orders.
        flipped: Those whose winner changed with the order.
        decided: Judgments that are no tie.
        first_wins: Decided judgments won by the answer shown first; with the 95% Wilson interval
            of their share.
    """

    judge: str
    judgments: int = 0
    systems: int = 0
    languages: tuple[str, ...] = ()
    both_orders: int = 0
    flipped: int = 0
    decided: int = 0
    first_wins: int = 0
    first_low: Number = None
    first_high: Number = None
    first_places: tuple[FirstPlaceRecord, ...] = ()

    @property
    def flip_rate(self) -> float | None:
        """Share of the pairs judged in both orders whose winner changed; None without any."""
        return self.flipped / self.both_orders if self.both_orders else None

    @property
    def first_share(self) -> float | None:
        """Share of the decided judgments won by the answer shown first; None without any."""
        return self.first_wins / self.decided if self.decided else None


def read_judging_records(folder: Path | str, judge: str) -> JudgingRecords:
    """Read what an arena's folder knows of a judge, named as in its ``judge`` column.

    A meta-evaluation belongs to it if its judge has the same name, or the same after ``llm:``.

    Raises:
        DataError: If a file is damaged.
    """
    path = Path(folder) / FAILED_JUDGMENTS
    named = judge.removeprefix(_LLM)
    every = read_metaevaluations(folder)
    entries = [item for item in every if item.judge.removeprefix(_LLM) == named]
    failures = None
    if path.is_file():
        table = read_rows(path).table.reindex(columns=["judge", "reason"])
        own = table.loc[table["judge"] == judge, "reason"].astype(str)
        failures = {reason: int(count) for reason, count in sorted(own.value_counts().items())}
    return JudgingRecords(metaevaluations=tuple(sorted(entries, key=str)), failures=failures)


def report_judge(
    arena: Arena, judge: str, diagnoses: Mapping[str, Diagnosis], records: JudgingRecords
) -> JudgeReport:
    """Sum up what is known of a judge in an arena; its own judgments are diagnosed by language."""
    own, found = arena.judged_by(judge), list(diagnoses.values())
    items, flipped, decided, first = (
        sum(int(item.counts[name].sum()) for item in found)
        for name in ("items", "flipped", "decided", "won_by_a")
    )
    _, low, high = share_of(first, decided) if decided else (None, None, None)
    return JudgeReport(
        **records.model_dump(),
        judge=judge,
        judgments=len(own.judgments),
        systems=len(own.rated_systems),
        languages=tuple(sorted({*own.judgments["language"], *own.published_ratings["language"]})),
        both_orders=items,
        flipped=flipped,
        decided=decided,
        first_wins=first,
        first_low=low,
        first_high=high,
        first_places=tuple(_first_places(own, judge)),
    )


def _first_places(judged: Arena, judge: str) -> Iterator[FirstPlaceRecord]:
    """Find what holds up first place in each language, all judges that were chosen as one."""
    for language, rows in judged.judgments.groupby("language"):
        place = first_place(rows, str(language), judge)
        if place is None:
            continue
        listed = place.dropped.head(LISTED).astype(str).to_dict("records")
        yield FirstPlaceRecord(
            language=place.language,
            first=place.first,
            successor=place.successor,
            dropped=len(place.dropped),
            verdicts=place.verdicts,
            verdicts_dropped=tuple(DroppedVerdict.model_validate(row) for row in listed),
        )
