"""Diagnosis of an arena before a board is shown: what limits it, the gravest first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.answer_digests import outdated_remark
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from arena.data.judges import PEOPLE, is_derived, is_person
from arena.data.names import look_alike_remarks
from arena.data.published import published_remarks
from arena.data.schema import ALL, QUESTION_KEY, VOTER
from arena.data.tables import plain_records
from arena.data.wording import Remark, Severity, count_of, notebook_html
from arena.judging.judge_agreement import agreement_table
from arena.quality.agreement import (
    GROUP,
    LOW_KAPPA,
    oriented_verdicts,
)
from arena.quality.decisive_verdicts import DECISIVE_COLUMNS, first_places
from arena.quality.families import kinship
from arena.quality.judge_label import verdict_tests
from arena.quality.judge_report import FAULTS, FirstPlace, JudgeTest
from arena.rating.biases import answer_lengths
from arena.rating.judgments import (
    checked_judgments,
    copies_of_others,
    named_voters,
    selected_judgments,
    weights_of,
)
from arena.rating.ratings import both_bad_remarks
from arena.rating.soft_verdicts import calibrated_judgments, learn_temperatures, values_by_judge
from surrogate_arena.cli.printing import by_severity
from surrogate_arena.diagnosis.connections import connection_check
from surrogate_arena.diagnosis.decisive_voters import decisive_voters
from surrogate_arena.diagnosis.judged_counts import CheckResult, amount_check, unmet_check


@dataclass(frozen=True)
class Diagnosis:
    """Limits of an arena, before it is ranked.

    Attributes:
        remarks: The gravest first.
        counts: By language and judge.
        tests: By language, judge and test: see ``JudgeTest``.
        agreement: See ``agreement_table``; without derived judges.
        first_places: Verdicts that decide first place.
    """

    remarks: tuple[Remark, ...]
    counts: pd.DataFrame
    tests: pd.DataFrame
    agreement: pd.DataFrame
    first_places: pd.DataFrame

    @property
    def worst(self) -> Severity:
        """The gravest severity found; ``info`` if nothing was."""
        return self.remarks[0].severity if self.remarks else "info"

    def __str__(self) -> str:
        return "\n".join(f"{remark.severity}: {remark}" for remark in self.remarks)

    def __repr__(self) -> str:
        n_of_severity = Counter(remark.severity for remark in self.remarks)
        counts = ", ".join(f"{severity} {count}" for severity, count in n_of_severity.items())
        return f"<Diagnosis: {counts}>"

    def _repr_html_(self) -> str:
        remarks = pd.DataFrame([asdict(remark) for remark in self.remarks])
        return notebook_html("Diagnosis", "", remarks)

    def as_json(self) -> dict[str, Any]:
        """Return remarks and tables as plain lists and dictionaries."""
        return {
            "worst": self.worst,
            "remarks": [asdict(remark) for remark in self.remarks],
            "counts": plain_records(self.counts),
            "tests": plain_records(self.tests),
            "agreement": plain_records(self.agreement),
            "first_places": plain_records(self.first_places),
        }


def diagnose(
    arena: Arena | pd.DataFrame | Path | str,
    *,
    judge: str | None = None,
    language: str | None = None,
) -> Diagnosis:
    """Diagnose an arena, or a table of judgments.

    Args:
        arena: Arena, its folder, or columns ``system_a, system_b, winner`` and perhaps
            ``query_id``, ``language`` and ``judge``.
        judge: The only judge to diagnose, compared with all.
        language: The only language to diagnose.

    Returns:
        What limits a board of the arena, in sentences and tables.

    Raises:
        UsageError: If there is no judgment.
        DataError: If judgments are malformed.

    Examples:
        >>> from surrogate_arena import sample_arena
        >>> diagnose(sample_arena(), judge="gpt-4o").worst
        'warning'
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
        about_arena += _outdated_remarks(opened.outdated)
    if opened is not None and judgments.empty:
        reasons = f": {'; '.join(map(str, about_arena))}" if about_arena else ""
        raise UsageError(f"arena {opened.info.name!r} has no judgments to diagnose{reasons}")
    checked = checked_judgments(judgments)
    counted = calibrated_judgments(checked, values_by_judge(learn_temperatures(checked)))
    all_judgments = selected_judgments(counted, language or ALL, ALL)
    chosen = selected_judgments(all_judgments, ALL, judge or ALL)
    diagnosis = _diagnosis(chosen, all_judgments, opened)
    absent: list[Remark] = []
    if opened is not None and language is None:
        sentence = "declared, but without judgments; no system can be ranked there"
        judged = set(all_judgments["language"])
        for code in sorted(set(opened.info.languages) - judged):
            absent.append(Remark("no judgments", "error", sentence, subject=code))
    return replace(diagnosis, remarks=by_severity([*absent, *diagnosis.remarks, *about_arena]))


def _diagnosis(chosen: pd.DataFrame, all_judgments: pd.DataFrame, arena: Arena | None) -> Diagnosis:
    counted = _with_people_as_one(chosen)[~copies_of_others(chosen)]
    table = oriented_verdicts(counted)
    declared = () if arena is None else arena.info.systems
    remarks = [
        *_copy_remarks(chosen),
        *look_alike_remarks({*declared, *table["first"], *table["second"]}),
        *_kin_remarks(table),
        *_row_remarks(counted),
    ]
    checks: list[Callable[[pd.DataFrame], CheckResult]] = [
        connection_check,
        partial(amount_check, declared=declared),
    ]
    # A table of judgments alone has no answers to count.
    if arena is not None and len(arena.answers):
        lengths = answer_lengths(arena.answers)
        checks.append(partial(unmet_check, answers=lengths))
    counts, check_remarks = _checked(table, checks)
    # A table of judgments alone has no answers to measure.
    answers = arena.answers if arena is not None and len(arena.answers) else None
    tests, test_remarks = _tested(counted, answers)
    remarks += [*check_remarks, *test_remarks]
    agreement = _agreement(chosen, all_judgments)
    places = first_places(counted)
    remarks += [*_agreement_remarks(agreement), *_first_place_remarks(places)]
    remarks += _voter_remarks(counted)
    return Diagnosis(
        remarks=by_severity(remarks),
        counts=counts,
        tests=tests,
        agreement=agreement,
        first_places=_support_table(places),
    )


def _checked(
    table: pd.DataFrame, checks: Sequence[Callable[[pd.DataFrame], CheckResult]]
) -> tuple[pd.DataFrame, list[Remark]]:
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


def _tested(
    judgments: pd.DataFrame, answers: pd.DataFrame | None
) -> tuple[pd.DataFrame, list[Remark]]:
    rows = []
    remarks = []
    for (language, judge), part in judgments.groupby(GROUP):
        for test in verdict_tests(part, answers):
            rows.append({"language": language, "judge": judge} | asdict(test))
            severity: Severity = "warning" if test.grade in FAULTS else "info"
            subject = f"{language}, {judge}"
            remarks.append(
                Remark(
                    test.name, severity, test.sentence, subject=subject, statistic=test.statistic
                )
            )
    columns = [*GROUP, *(field.name for field in fields(JudgeTest))]
    return pd.DataFrame(rows, columns=columns), remarks


def _agreement(chosen: pd.DataFrame, all_judgments: pd.DataFrame) -> pd.DataFrame:
    counted = with_voters(all_judgments)[~copies_of_others(all_judgments)]
    table = oriented_verdicts(counted)
    # A panel agrees with its members by construction.
    is_witness = ~table["judge"].map(is_derived).astype(bool)
    judges = () if len(chosen) == len(all_judgments) else set(with_voters(chosen)["judge"])
    return agreement_table(table[is_witness], judges)


def _with_people_as_one(judgments: pd.DataFrame) -> pd.DataFrame:
    names = judgments["judge"].unique()
    people = [name for name in names if is_person(str(name))]
    # Each of many judged too little for a diagnosis of its own.
    if len(people) <= 5:
        return judgments
    merged = judgments["judge"].astype(object).where(~judgments["judge"].isin(people), PEOPLE)
    return judgments.assign(judge=merged)


def with_voters(judgments: pd.DataFrame) -> pd.DataFrame:
    """Name voters as judges of their own."""
    if VOTER not in judgments:
        return judgments
    judges = judgments["judge"].astype(object)
    has_voter = judgments[VOTER].notna()
    names = judges.where(~has_voter, judges + ":" + judgments[VOTER].astype(str))
    return judgments.assign(judge=names)


def _copy_remarks(judgments: pd.DataFrame) -> Iterator[Remark]:
    if judgments.empty:
        return
    is_copy = copies_of_others(judgments)
    key = [*QUESTION_KEY, "system_a", "system_b", "judge"]
    if VOTER in judgments:
        key.append(VOTER)
    is_repeat = judgments.duplicated(key).to_numpy() & ~is_copy
    by_judge = _with_people_as_one(judgments).assign(
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
            yield Remark("copies", "warning", sentence, subject=subject)
        if row["is_repeat"]:
            reason = (
                "this judge was asked more than once" if row["is_named"] else "voters are not named"
            )
            sentence = (
                f"{count_of(int(row['is_repeat']), 'judgment')} of the same question, sides and "
                f"judge as others: {reason}, and each judgment counts"
            )
            yield Remark("repeats", "info", sentence, subject=subject)


def _kin_remarks(verdicts: pd.DataFrame) -> Iterator[Remark]:
    """Name judges that judged themselves, or models of their own family."""
    for judge, rows in verdicts.groupby("judge"):
        relation, kin = kinship([str(judge)], sorted({*rows["first"], *rows["second"]}))
        if relation:
            sentence = f"{relation}: it may prefer its own answers"
            yield Remark("own family", "info", sentence, str(judge), len(kin), kin)


def _outdated_remarks(outdated: pd.DataFrame) -> Iterator[Remark]:
    for (language, judge), part in _with_people_as_one(outdated).groupby(GROUP):
        subject = f"{language}, {judge}"
        yield outdated_remark(len(part), subject)


def _row_remarks(judgments: pd.DataFrame) -> Iterator[Remark]:
    for (language, judge), part in judgments.groupby(GROUP):
        subject = f"{language}, {judge}"
        yield from both_bad_remarks(part, subject)
        weights = weights_of(part)
        if weights is not None:
            sentence = (
                f"judgments weigh {weights.min():g} to {weights.max():g}: ratings count these "
                "weights; the shares and counts here count every judgment once"
            )
            yield Remark("weights", "info", sentence, subject=subject)


def _agreement_remarks(agreement: pd.DataFrame) -> Iterator[Remark]:
    for language, part in agreement.groupby("language"):
        if len(part) <= 6:
            yield from (_pair_remark(str(language), row) for row in part.to_dict("records"))
            continue
        kappas = part["kappa"].dropna()
        sentence = (
            f"{len(part):,} pairs of judges share items; median kappa {kappas.median():.2f}, "
            f"below {LOW_KAPPA} for {(kappas < LOW_KAPPA).sum():,} of {len(kappas):,} pairs"
        )
        severity: Severity = "warning" if kappas.median() < LOW_KAPPA else "info"
        yield Remark("agreement", severity, sentence, subject=str(language))


def _pair_remark(language: str, row: dict[Any, Any]) -> Remark:
    subject = f"{language}, {row['judge']} and {row['other_judge']}"
    kappa = row["kappa"]
    sentence = f"agree on {row['agreement']:.1%} of {count_of(row['items'], 'item')}"
    if math.isnan(kappa):
        # Without a verdict that is no tie, agreement by chance is 1.
        sentence += "; kappa is not defined, for both only tie"
        return Remark("agreement", "info", sentence, subject=subject)
    sentence += f"; kappa {kappa:.2f}"
    if not math.isnan(row["low"]):
        sentence += f", 95% interval {row['low']:.2f} to {row['high']:.2f}"
    return Remark(
        "agreement", "warning" if kappa < LOW_KAPPA else "info", sentence, subject=subject
    )


def _first_place_remarks(places: list[FirstPlace]) -> Iterator[Remark]:
    fragile = 0.005  # of the verdicts, which so few could be mistaken
    for place in places:
        severity: Severity = "warning" if place.share < fragile else "info"
        subject = f"{place.language}, {place.judge}"
        yield Remark(
            "first place", severity, place.sentence, subject=subject, statistic=place.share
        )


def _voter_remarks(judgments: pd.DataFrame) -> Iterator[Remark]:
    for (language, judge), rows in judgments.groupby(GROUP):
        yield from decisive_voters(rows, f"{language}, {judge}")


def _support_table(places: list[FirstPlace]) -> pd.DataFrame:
    """List the verdicts that decide first place, the most influential first."""
    rows = []
    for place in places:
        standing = [place.language, place.judge, place.first, place.successor]
        for verdict in place.decisive:
            rows.append([*standing, *astuple(verdict)])
    return pd.DataFrame(
        rows, columns=["language", "judge", "first", "successor", *DECISIVE_COLUMNS]
    )
