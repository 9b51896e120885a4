"""Quality of a judge: a board's ``judge_report.json``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict

from arena.data.arena import Arena
from arena.data.errors import ArenaError
from arena.data.folder import FAILED_JUDGMENTS, read_arena
from arena.data.judge_names import PEOPLE, is_derived, is_person
from arena.data.tables import read_rows
from arena.quality.bias import flip_check, position_check
from arena.quality.influence import LISTED, first_place, support_sentence
from arena.quality.judge_label import JudgeLabel, label_judge, without_identical
from arena.quality.verdicts import oriented_verdicts, share_of
from arena.rating.discrimination import judge_discriminations
from arena.rating.judgments import copies_of_others, panel_members
from surrogate.board.conclusions import Number
from surrogate.board.judge_preferences import JudgePreference
from surrogate.board.metaevaluations import (
    MetaEvaluation,
    model_name,
    read_metaevaluations,
    recorded_agreements,
)


def labels_of_judges(
    judgments: pd.DataFrame,
    judges: Iterable[str],
    answers: pd.DataFrame | None = None,
    folder: Path | None = None,
) -> list[JudgeLabel]:
    """Label judges by their quality, in the words that every command and page uses.

    Args:
        judgments: Verdicts of all judges.
        judges: Judges to label; all people count as one.
        answers: The arena's answers, for the effect of length.
        folder: The arena's folder, for its record of agreement with people.
    """
    recorded = {} if folder is None else recorded_agreements(folder)
    names = dict.fromkeys(PEOPLE if is_person(name) else name for name in judges)
    return [
        label_judge(name, judgments, answers, people=recorded.get(model_name(name)))
        for name in names
    ]


def labels_of_verdicts(
    path: Path, judgments: pd.DataFrame, judges: Iterable[str]
) -> list[JudgeLabel]:
    """Label judges whose verdicts were read from a file, or from an arena's folder.

    Args:
        path: The file, or the folder; its answers and records count where they can be read.
        judgments: Verdicts of all judges in it.
        judges: Judges to label.
    """
    if not path.is_dir():
        return labels_of_judges(judgments, judges)
    answers = None
    with suppress(ArenaError):  # a folder of verdicts alone
        answers = read_arena(path).answers
    return labels_of_judges(judgments, judges, answers, path)


class JudgingRecords(BaseModel):
    """Records about a judge in an arena's folder, in addition to its judgments.

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
    """What holds up first place in a language, see ``arena.quality.influence``.

    Attributes:
        first: System with the highest rating by the verdicts alone.
        successor: System that would be first without some verdicts.
        dropped: How many these are.
        verdicts: All verdicts.
        listed: How many are listed at most.
        verdicts_dropped: The verdicts without which it falls, the most influential first.
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


class PanelMember(BaseModel):
    """How much a member of a panel tells, see ``arena.rating.discrimination``.

    Attributes:
        discrimination: How far one of its verdicts separates the systems, relative to the mean of
            the members; with a 95% interval.
    """

    judge: str
    verdicts: int
    discrimination: Number = None
    low: Number = None
    high: Number = None

    def __str__(self) -> str:
        if self.discrimination is None:
            return self.judge
        if self.low is None or self.high is None:
            return f"{self.judge} {self.discrimination:.2f}"
        return f"{self.judge} {self.discrimination:.2f} ({self.low:.2f} to {self.high:.2f})"


class JudgeReport(JudgingRecords):
    """The quality of a board's judge.

    Attributes:
        first_places: How few verdicts hold up first place, by language.
        systems: Systems it judged.
        both_orders: Questions and pairs judged in both orders.
        flipped: Those whose winner changed with the order.
        decided: Judgments that are no tie.
        first_wins: Decided judgments won by the answer shown first; with the 95% Wilson interval
            of their share.
        members: Of a panel, the one that tells most first; empty for other judges.
        preferences: What it likes besides quality, as far as the verdicts tell.
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
    members: tuple[PanelMember, ...] = ()
    preferences: tuple[JudgePreference, ...] = ()

    @property
    def member_sentences(self) -> tuple[str, ...]:
        """Say how much the members of a panel tell; empty for other judges."""
        if not self.members:
            return ()
        listed = ", ".join(map(str, self.members))
        return (
            f"How far a verdict of each member of {self.judge} separates the systems (1: their "
            f"mean): {listed}. All votes count the same.",
        )

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
    name = model_name(judge)
    entries = [entry for entry in read_metaevaluations(folder) if model_name(entry.judge) == name]
    failures = None
    path = Path(folder) / FAILED_JUDGMENTS
    if path.is_file():
        table = read_rows(path).table.reindex(columns=["judge", "reason"])  # either may be absent
        reasons = table.loc[table["judge"] == judge, "reason"].astype(str)
        failures = {}
        for reason, count in sorted(reasons.value_counts().items()):
            failures[str(reason)] = int(count)
    return JudgingRecords(metaevaluations=tuple(sorted(entries, key=str)), failures=failures)


def report_judge(arena: Arena, judge: str, judging_records: JudgingRecords) -> JudgeReport:
    """Sum up a judge's verdicts in an arena.

    Args:
        arena: The arena.
        judge: The judge.
        judging_records: Records about the judge in the arena's folder.
    """
    judged = arena.judged_by(judge)
    languages = {*judged.judgments["language"], *judged.published_ratings["language"]}
    counted = judged.judgments[~copies_of_others(judged.judgments)]
    totals = dict.fromkeys(("items", "flipped", "decided", "won_by_a"), 0)
    if len(counted):
        totals.update(position_check(oriented_verdicts(counted)).counts)
        informative = without_identical(counted, judged.answers)
        totals.update(flip_check(oriented_verdicts(informative)).counts)
    first_low = first_high = None
    if totals["decided"]:
        _, first_low, first_high = share_of(totals["won_by_a"], totals["decided"])
    return JudgeReport(
        metaevaluations=judging_records.metaevaluations,
        failures=judging_records.failures,
        judge=judge,
        judgments=len(judged.judgments),
        systems=len(judged.rated_systems),
        languages=tuple(sorted(languages)),
        both_orders=totals["items"],
        flipped=totals["flipped"],
        decided=totals["decided"],
        first_wins=totals["won_by_a"],
        first_low=first_low,
        first_high=first_high,
        first_places=tuple(_first_places(judged, judge)),
        members=tuple(_members(arena, judge)),
    )


def _members(arena: Arena, judge: str) -> Iterator[PanelMember]:
    """Yield the members of a panel, the one that tells most first."""
    if not is_derived(judge):
        return
    names = panel_members(arena.judgments, judge)
    table = judge_discriminations(arena.judgments, names).table()
    for row in table.astype(object).to_dict("records"):
        yield PanelMember.model_validate(row)


def _first_places(judged: Arena, judge: str) -> Iterator[FirstPlaceRecord]:
    """Find the verdicts that hold up first place in each language."""
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
