"""Diagnosis of an arena before a board is shown: what limits it, the gravest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.answer_digests import outdated_sentence
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from arena.data.judge_names import PEOPLE, is_derived, is_person
from arena.data.notebook import notebook_html
from arena.data.remarks import Remark, Severity, by_severity
from arena.data.schema import ALL, QUESTION_KEY, VOTER
from arena.data.systems import alike
from arena.data.tables import plain_records
from arena.data.wording import count_of
from arena.quality.agreement import agreement_remarks, agreement_table
from arena.quality.bias import flip_check, length_check, position_check
from arena.quality.influence import first_place_remarks, first_places, support_table
from arena.quality.judge_label import without_identical
from arena.quality.verdicts import (
    GROUP,
    CheckResult,
    oriented_verdicts,
)
from arena.rating.judgments import checked_judgments, copies_of_others, named_voters
from arena.rating.outcomes import weights_of
from arena.rating.published import published_remarks
from arena.rating.ratings import judgment_notes
from arena.rating.selected_judgments import selected_judgments
from arena.rating.soft_verdicts import calibrated_judgments, learn_temperatures
from arena.rating.traits import LENGTH, answer_traits
from surrogate_arena.diagnosis.connections import connection_check
from surrogate_arena.diagnosis.judged_counts import amount_check, unmet_check

MOST_PEOPLE = 5
"""Number of people whose verdicts are diagnosed person by person; more are diagnosed as one."""


@dataclass(frozen=True)
class Diagnosis:
    """What limits an arena, before it is ranked.

    Attributes:
        remarks: Plain sentences, the gravest first.
        counts: One row per language and judge: judgments, ties, systems, questions; groups of
            systems that judgments connect (``groups``), and that wins connect both ways
            (``strong_groups``); pairs that never met; answers that are in no judgment, and the
            counts of the checks in ``arena.quality.bias``.
        agreement: See ``agreement_table``; without judges whose verdicts derive from others'.
        first_places: Verdicts that hold up first place; see ``influence.support_table``.
        seed: Seed of the bootstrap.
    """

    remarks: tuple[Remark, ...]
    counts: pd.DataFrame
    agreement: pd.DataFrame
    first_places: pd.DataFrame
    seed: int

    @property
    def worst(self) -> Severity:
        """The gravest severity found; ``info`` if nothing was."""
        return self.remarks[0].severity if self.remarks else "info"

    def __str__(self) -> str:
        """Return the remarks, one a line."""
        return "\n".join(f"{remark.severity}: {remark}" for remark in self.remarks)

    def __repr__(self) -> str:
        """Say how many remarks there are, and of what severity."""
        n_of_severity = Counter(remark.severity for remark in self.remarks)
        counts = ", ".join(f"{severity} {count}" for severity, count in n_of_severity.items())
        return f"<Diagnosis: {counts}>"

    def _repr_html_(self) -> str:
        """Show the remarks in a notebook."""
        remarks = pd.DataFrame([asdict(remark) for remark in self.remarks])
        return notebook_html("Diagnosis", "", remarks)

    def as_json(self) -> dict[str, Any]:
        """Return remarks and tables as plain lists and dictionaries, missing values as None."""
        return {
            "seed": self.seed,
            "worst": self.worst,
            "remarks": [asdict(remark) for remark in self.remarks],
            "counts": plain_records(self.counts),
            "agreement": plain_records(self.agreement),
            "first_places": plain_records(self.first_places),
        }


def diagnose(
    arena: Arena | pd.DataFrame | Path | str,
    seed: int = 0,
    *,
    judge: str | None = None,
    language: str | None = None,
) -> Diagnosis:
    """Diagnose an arena, or a table of judgments.

    Args:
        arena: Arena with judgments by any number of judges, or the path of its folder; or columns
            ``system_a, system_b, winner`` and, optional, ``query_id`` (without it every judgment
            is a question of its own), ``language`` and ``judge``.
        seed: Seed of the bootstrap.
        judge: The only judge to diagnose; it is still compared with the others.
        language: The only language to diagnose.

    Raises:
        UsageError: If there is no judgment, or none of that judge or in that language.
        DataError: If judgments are malformed.
    """
    opened: Arena | None = None
    if isinstance(arena, pd.DataFrame):
        judgments = arena
    else:
        opened = open_arena(arena)
        judgments = opened.judgments
    about_arena: list[Remark] = []
    if opened is not None:
        about_arena += published_remarks(opened)
        about_arena += outdated_remarks(opened.outdated)
    if opened is not None and judgments.empty:
        reasons = f": {'; '.join(map(str, about_arena))}" if about_arena else ""
        raise UsageError(f"arena {opened.info.name!r} has no judgments to diagnose{reasons}")
    checked = checked_judgments(judgments)
    counted = calibrated_judgments(checked, learn_temperatures(checked))
    all_judgments = selected_judgments(counted, language or ALL, ALL)
    chosen = selected_judgments(all_judgments, ALL, judge or ALL)
    diagnosis = _diagnosis(chosen, all_judgments, opened, seed)
    absent: list[Remark] = []
    if opened is not None and language is None:
        sentence = "declared, but without judgments; no system can be ranked there"
        judged = set(all_judgments["language"])
        for code in sorted(set(opened.info.languages) - judged):
            absent.append(Remark(code, "no judgments", "error", sentence))
    return replace(diagnosis, remarks=by_severity([*absent, *diagnosis.remarks, *about_arena]))


def _diagnosis(
    chosen: pd.DataFrame, all_judgments: pd.DataFrame, arena: Arena | None, seed: int
) -> Diagnosis:
    """Diagnose chosen judgments, compared with all judgments; copies of others count once."""
    counted = with_people_as_one(chosen)[~copies_of_others(chosen)]
    table = oriented_verdicts(counted)
    declared = () if arena is None else arena.info.systems
    remarks = [
        *copy_remarks(chosen),
        *name_remarks(table, declared),
        *row_remarks(counted),
    ]
    answers = arena.answers if arena is not None else None
    informative = without_identical(counted, answers).index
    counts, check_remarks = _checked(table, _checks(arena, informative))
    remarks += check_remarks
    agreement = _agreement(chosen, all_judgments, seed)
    places = first_places(counted)
    remarks += [*agreement_remarks(agreement), *first_place_remarks(places)]
    return Diagnosis(
        remarks=by_severity(remarks),
        counts=counts,
        agreement=agreement,
        first_places=support_table(places),
        seed=seed,
    )


def _checks(
    arena: Arena | None, informative: pd.Index
) -> list[Callable[[pd.DataFrame], CheckResult]]:
    """List the checks of one judge's verdicts in one language that an arena allows.

    Args:
        arena: The arena; None for a table of judgments alone.
        informative: Index of the verdicts that are no ties of identical answers: these never flip.
    """
    declared = () if arena is None else arena.info.systems
    checks: list[Callable[[pd.DataFrame], CheckResult]] = [
        connection_check,
        partial(amount_check, declared=declared),
        position_check,
        lambda part: flip_check(part.loc[part.index.isin(informative)]),
    ]
    # A table of judgments alone has no answers to count or to measure.
    if arena is not None and len(arena.answers):
        lengths = answer_traits(arena.answers)[LENGTH]
        checks.append(partial(unmet_check, answers=lengths))
        checks.append(partial(length_check, lengths=lengths))
    return checks


def _checked(
    table: pd.DataFrame, checks: Sequence[Callable[[pd.DataFrame], CheckResult]]
) -> tuple[pd.DataFrame, list[Remark]]:
    """Run the checks on each judge's verdicts in each language: one row of counts, and remarks."""
    rows = []
    remarks: list[Remark] = []
    for (language, judge), part in table.groupby(GROUP):
        row: dict[str, Any] = {"language": language, "judge": judge}
        for check in checks:
            result = check(part)
            row.update(result.counts)
            for remark in result.remarks:
                remarks.append(replace(remark, subject=f"{language}, {judge}"))
        rows.append(row)
    return pd.DataFrame(rows), remarks


def _agreement(chosen: pd.DataFrame, all_judgments: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Compare the judges of chosen judgments with all others, voter by voter."""
    counted = with_voters(all_judgments)[~copies_of_others(all_judgments)]
    table = oriented_verdicts(counted)
    # A panel agrees with its members by construction.
    is_witness = ~table["judge"].map(is_derived).astype(bool)
    judges = () if len(chosen) == len(all_judgments) else set(with_voters(chosen)["judge"])
    return agreement_table(table[is_witness], judges, seed)


def with_people_as_one(judgments: pd.DataFrame) -> pd.DataFrame:
    """Give people one name if there are many, since each of them judged little."""
    names = judgments["judge"].unique()
    people = [name for name in names if is_person(str(name))]
    if len(people) <= MOST_PEOPLE:
        return judgments
    merged = judgments["judge"].astype(object).where(~judgments["judge"].isin(people), PEOPLE)
    return judgments.assign(judge=merged)


def with_voters(judgments: pd.DataFrame) -> pd.DataFrame:
    """Name voters as judges of their own, so that their agreement can be measured."""
    if VOTER not in judgments:
        return judgments
    judges = judgments["judge"].astype(object)
    has_voter = judgments[VOTER].notna()
    names = judges.where(~has_voter, judges + ":" + judgments[VOTER].astype(str))
    return judgments.assign(judge=names)


def copy_remarks(judgments: pd.DataFrame) -> Iterator[Remark]:
    """Report judgments that repeat others, and which of these count; see ``copies_of_others``."""
    if judgments.empty:
        return
    is_copy = copies_of_others(judgments)
    key = [*QUESTION_KEY, "system_a", "system_b", "judge"]
    if VOTER in judgments:
        key.append(VOTER)
    is_repeat = judgments.duplicated(key).to_numpy() & ~is_copy
    by_judge = with_people_as_one(judgments).assign(
        is_copy=is_copy, is_repeat=is_repeat, is_named=named_voters(judgments)
    )
    totals = {"is_copy": "sum", "is_repeat": "sum", "is_named": "all"}
    counts = by_judge.groupby(GROUP)[list(totals)].agg(totals).reset_index()
    for row in counts.to_dict("records"):
        subject = f"{row['language']}, {row['judge']}"
        if row["is_copy"]:
            sentence = (
                f"{count_of(int(row['is_copy']), 'judgment')} left out: exact copies of others by "
                "the same judge, as of a file joined twice; each counts once"
            )
            yield Remark(subject, "copies", "warning", sentence)
        if row["is_repeat"]:
            reason = (
                "this judge was asked more than once" if row["is_named"] else "voters are not named"
            )
            sentence = (
                f"{count_of(int(row['is_repeat']), 'judgment')} of the same question, sides and "
                f"judge as others: {reason}, and each judgment counts"
            )
            yield Remark(subject, "repeats", "info", sentence)


def outdated_remarks(outdated: pd.DataFrame) -> Iterator[Remark]:
    """Report judgments that do not count, since an answer was edited after them."""
    for (language, judge), part in with_people_as_one(outdated).groupby(GROUP):
        subject = f"{language}, {judge}"
        yield Remark(subject, "edited answers", "warning", outdated_sentence(len(part)))


def row_remarks(judgments: pd.DataFrame) -> Iterator[Remark]:
    """Report how many judgments find both answers bad, and how much judgments weigh."""
    for (language, judge), part in judgments.groupby(GROUP):
        subject = f"{language}, {judge}"
        for note in judgment_notes(part):
            yield Remark(subject, "both bad", "info", note)
        weights = weights_of(part)
        if weights is not None:
            sentence = (
                f"judgments weigh {weights.min():g} to {weights.max():g}: ratings count these "
                "weights; the shares and counts here count every judgment once"
            )
            yield Remark(subject, "weights", "info", sentence)


def name_remarks(table: pd.DataFrame, declared: Iterable[str]) -> Iterator[Remark]:
    """Report systems whose names look alike."""
    for first, name in alike({*declared, *table["first"], *table["second"]}):
        sentence = f"the names {first!a} and {name!a} look alike, and are of two systems"
        yield Remark("systems", "names", "warning", sentence)
