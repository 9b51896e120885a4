"""Diagnosis of an arena before a board is shown: what limits it, the gravest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from arena.data.judge_names import PEOPLE, is_derived, is_person
from arena.data.judgments import checked_judgments, copies_of_others, named_voters
from arena.data.schema import ALL, ANSWER_KEY, QUESTION_KEY, VOTER
from arena.data.systems import alike
from arena.data.tables import plain_records
from arena.data.wording import count_of
from arena.diagnostics.agreement import agreement_findings, agreement_table
from arena.diagnostics.bias import Looked, answer_lengths, flips, length, position
from arena.diagnostics.influence import first_place_findings, first_places, support_table
from arena.diagnostics.verdicts import (
    GROUP,
    PAIR,
    Finding,
    Severity,
    by_severity,
    listed,
    verdicts,
)
from arena.rating.battles import selected_judgments, weights_of
from arena.rating.pairs import connected_groups
from arena.rating.ratings import judgment_notes

FEW_QUESTIONS = 10
"""With fewer questions, a bootstrap over questions says little."""
FEW_BATTLES = 10
"""With fewer battles a system, a single verdict can move its rank."""
MANY_TIES = 0.5
MOST_PEOPLE_APART = 5
"""People who are each looked at; more are looked at as one, but for their agreement."""


@dataclass(frozen=True)
class Diagnosis:
    """What is known of an arena before it is ranked.

    Attributes:
        findings: Plain sentences, the gravest first.
        counts: A row a language and judge: judgments, ties, systems, questions; groups of systems
            that judgments connect (``groups``), and that wins connect both ways
            (``strong_groups``); pairs that never met; answers that are in no judgment, and what
            ``position``, ``flips`` and ``length`` of ``arena.diagnostics.bias`` count.
        agreement: See ``agreement_table``; of judges whose verdicts are their own.
        first_places: Verdicts that hold up first place; see ``influence.support_table``.
        seed: Seed of the bootstrap.
    """

    findings: tuple[Finding, ...]
    counts: pd.DataFrame
    agreement: pd.DataFrame
    first_places: pd.DataFrame
    seed: int

    @property
    def worst(self) -> Severity:
        """The gravest severity found; ``info`` if nothing was."""
        return self.findings[0].severity if self.findings else "info"

    def as_json(self) -> dict[str, Any]:
        """Return findings and tables as plain lists and dictionaries, missing values as None."""
        tables = ("counts", "agreement", "first_places")
        return {
            "seed": self.seed,
            "worst": self.worst,
            "findings": [asdict(finding) for finding in self.findings],
            **{name: plain_records(getattr(self, name)) for name in tables},
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
        judge: The only judge to look at; it is still held against the others.
        language: The only language to look at.

    Raises:
        UsageError: If there is no judgment, or none of that judge or in that language.
        DataError: If judgments are at fault.
    """
    whole = None if isinstance(arena, pd.DataFrame) else open_arena(arena)
    judgments = arena if isinstance(arena, pd.DataFrame) else open_arena(arena).judgments
    published = [] if whole is None else [*published_findings(whole)]
    if whole is not None and judgments.empty:
        said = f": {'; '.join(map(str, published))}" if published else ""
        raise UsageError(f"arena {whole.info.name!r} has no judgments to diagnose{said}")
    everybody = selected_judgments(checked_judgments(judgments), language or ALL, ALL)
    chosen = selected_judgments(everybody, ALL, judge or ALL)
    found = _found(chosen, everybody, whole, seed)
    declared = whole.info.languages if whole is not None and language is None else ()
    sentence = "declared, but without judgments; no system can be ranked there"
    absent = [
        Finding("error", "no judgments", code, sentence)
        for code in sorted(set(declared) - set(everybody["language"]))
    ]
    return replace(found, findings=by_severity([*absent, *found.findings, *published]))


def diagnose_languages(judged: Arena, seed: int = 0) -> dict[str, Diagnosis]:
    """Diagnose each language of an arena with one judge's judgments by itself.

    Returns:
        Language, sorted, to its diagnosis; declared systems are not looked for.
    """
    bare = judged.info.model_copy(update={"systems": ()})
    found = {}
    for language, own in judged.judgments.groupby("language"):
        answers = judged.answers[judged.answers["language"] == language]
        part = replace(judged, info=bare, answers=answers)
        found[str(language)] = _found(own, own, part, seed)
    return found


def _found(
    chosen: pd.DataFrame, everybody: pd.DataFrame, arena: Arena | None, seed: int
) -> Diagnosis:
    """Diagnose chosen judgments, beside everybody's; copies of others count once."""
    copies = copies_of_others(chosen)
    counted = with_people_as_one(chosen)[~copies]
    table = verdicts(counted)
    around = verdicts(with_voters(everybody)[~copies_of_others(everybody)])
    systems = () if arena is None else arena.info.systems
    looks: list[Callable[[pd.DataFrame], Looked]] = [
        *(connections, partial(amounts, declared=systems), position, flips),
    ]
    if arena is not None and len(arena.answers):
        lengths = answer_lengths(arena.answers)
        looks += [partial(unmet_answers, answers=lengths), partial(length, lengths=lengths)]
    rows, findings = [], [*copy_findings(chosen), *name_findings(table, systems)]
    findings += row_findings(with_people_as_one(chosen)[~copies])
    for (code, name), part in table.groupby(GROUP):
        row = {"language": code, "judge": name}
        for look in looks:
            numbers, said = look(part)
            row |= numbers
            findings += [
                Finding(grave, check, f"{code}, {name}", text) for grave, check, text in said
            ]
        rows.append(row)
    witnesses = around[~around["judge"].map(is_derived).astype(bool)]
    of = () if len(chosen) == len(everybody) else set(with_voters(chosen)["judge"])
    agreement = agreement_table(witnesses, seed, of)
    findings += agreement_findings(agreement)
    places = first_places(counted)
    findings += first_place_findings(places)
    counts = pd.DataFrame(rows)
    return Diagnosis(by_severity(findings), counts, agreement, support_table(places), seed)


def with_people_as_one(judgments: pd.DataFrame) -> pd.DataFrame:
    """Call people by one name where there are many, of each of whom little can be said."""
    names = judgments["judge"].unique()
    people = [name for name in names if is_person(str(name))]
    if len(people) <= MOST_PEOPLE_APART:
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


def copy_findings(judgments: pd.DataFrame) -> Iterator[Finding]:
    """Say which judgments repeat others, and which of these count; see ``copies_of_others``."""
    if judgments.empty:
        return
    copies = copies_of_others(judgments)
    asked = [*QUESTION_KEY, "system_a", "system_b", "judge"]
    asked += [VOTER] if VOTER in judgments else []
    repeats = judgments.duplicated(asked).to_numpy() & ~copies
    by_judge = with_people_as_one(judgments).assign(
        is_copy=copies, is_repeat=repeats, is_named=named_voters(judgments)
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
            yield Finding("warning", "copies", subject, sentence)
        if row["is_repeat"]:
            by = (
                "this judge was asked more than once" if row["is_named"] else "voters are not named"
            )
            sentence = (
                f"{count_of(int(row['is_repeat']), 'judgment')} of the same question, sides and "
                f"judge as others: {by}, and each judgment counts"
            )
            yield Finding("info", "repeats", subject, sentence)


def row_findings(judgments: pd.DataFrame) -> Iterator[Finding]:
    """Say how many judgments find both answers bad, and how much they weigh."""
    for (language, judge), part in judgments.groupby(GROUP):
        subject = f"{language}, {judge}"
        for note in judgment_notes(part):
            yield Finding("info", "both bad", subject, note)
        weights = weights_of(part)
        if weights is not None:
            sentence = (
                f"judgments weigh {weights.min():g} to {weights.max():g}: ratings count these "
                "weights; the shares and counts here count every judgment once"
            )
            yield Finding("info", "weights", subject, sentence)


def name_findings(table: pd.DataFrame, declared: Iterable[str]) -> Iterator[Finding]:
    """Say which names of systems look like another's."""
    for first, name in alike({*declared, *table["first"], *table["second"]}):
        sentence = f"the names {first!a} and {name!a} look alike, and are of two systems"
        yield Finding("warning", "names", "systems", sentence)


def connections(part: pd.DataFrame) -> Looked:
    """Say what keeps systems off one scale, and whose rating has no finite estimate.

    Where wins lead from every system to every other (a tie counts both ways), and only there,
    ratings have a finite maximum likelihood (Ford, 1957, "Solution of a ranking problem from
    binary comparisons").
    """
    codes, names = pd.factorize(pd.concat([part["first"], part["second"]]), sort=True)
    first, second = np.split(codes, 2)
    outcome, size, battles = part["outcome"].to_numpy(), len(names), np.bincount(codes)
    winners = np.concatenate([first[outcome >= 0], second[outcome <= 0]])
    losers = np.concatenate([second[outcome >= 0], first[outcome <= 0]])
    group = connected_groups(first, second, size)
    strong = connected_groups(winners, losers, size, one_way=True)
    groups, strongs, median = int(group.max()) + 1, int(strong.max()) + 1, float(np.median(battles))
    pairs = size * (size - 1) // 2
    never_met = pairs - len(part[PAIR].drop_duplicates())
    said: list[tuple[Severity, str, str]] = []
    if groups > 1:
        sentence = (
            f"no judgments connect the {size:,} systems: they fall into {groups:,} groups, the "
            f"largest of {(group == 0).sum():,}, which cannot be ranked on one scale; outside the "
            f"largest: {listed(list(names[group > 0]))}"
        )
        said.append(("error", "connected", sentence))
    elif strongs > 1:
        sentence = (
            f"wins do not lead from every system to every other: the {size:,} systems fall into "
            f"{strongs:,} groups, the largest of {(strong == 0).sum():,}, between which all wins "
            "go one way; how far apart these stand is bounded by a prior only"
        )
        said.append(("warning", "both ways", sentence))
    ties = np.bincount(codes, np.tile(outcome == 0, 2))
    not_lost = np.bincount(winners, minlength=size)
    for verb, is_so in (("wins", not_lost - ties == battles), ("loses", not_lost == 0)):
        if is_so.any():
            named = listed(list(names[is_so]))
            sentence = f"{named}: {verb} every battle; only a prior bounds the rating"
            said.append(("warning", f"{verb} all", sentence))
    if median < FEW_BATTLES:
        sentence = f"half of the systems have at most {median:g} battles"
        said.append(("warning", "battles", f"{sentence}; one verdict can move a rank"))
    if never_met:
        sentence = f"{never_met:,} of {count_of(pairs, 'pair')} of systems never met"
        said.append(("info", "pairs", f"{sentence}; their order rests on the others"))
    row = {"systems": size, "groups": groups, "strong_groups": strongs, "battles_median": median}
    return {**row, "pairs": pairs, "never_met": never_met}, said


def amounts(part: pd.DataFrame, declared: Sequence[str]) -> Looked:
    """Say where there is little to rank by."""
    judged = {*part["first"], *part["second"]}
    unjudged = sorted(set(declared) - judged)
    questions, ties = part["query_id"].nunique(), int((part["outcome"] == 0).sum())
    asked = count_of(questions, "question")
    amount = f"{count_of(len(part), 'judgment')} of {count_of(len(judged), 'system')} on {asked}"
    said: list[tuple[Severity, str, str]] = [("info", "amount", amount)]
    if questions < FEW_QUESTIONS:
        said.append(("warning", "questions", f"only {asked} judged; intervals will be rough"))
    if ties >= MANY_TIES * len(part):
        sentence = f"{ties / len(part):.0%} of the judgments are ties"
        said.append(("warning", "ties", f"{sentence}; few verdicts tell systems apart"))
    if unjudged:
        sentence = f"{count_of(len(unjudged), 'declared system')} never judged: {listed(unjudged)}"
        said.append(("warning", "never judged", sentence))
    row = {"judgments": len(part), "ties": ties, "questions": questions}
    return row | {"never_judged": len(unjudged)}, said


def unmet_answers(part: pd.DataFrame, answers: pd.Series) -> Looked:
    """Say which answers and judgments do not meet; ``answers`` has the index ``ANSWER_KEY``."""
    sides = [
        pd.MultiIndex.from_frame(part[[*QUESTION_KEY, side]], names=ANSWER_KEY) for side in PAIR
    ]
    absent = int((~(sides[0].isin(answers.index) & sides[1].isin(answers.index))).sum())
    own = answers.index[answers.index.isin(part["language"].unique(), level="language")]
    not_judged = len(own) - int(own.isin(sides[0].union(sides[1])).sum())
    said: list[tuple[Severity, str, str]] = []
    if absent:
        sentence = (
            f"{count_of(absent, 'judgment')} of a system that gave no answer to that question"
        )
        said.append(("warning", "absent answers", sentence))
    if not_judged:
        sentence = f"{not_judged:,} of {len(own):,} answers are in no judgment"
        said.append(("info", "answers not judged", sentence))
    row = {"answers": len(own), "not_judged": not_judged}
    return row | {"judgments_without_answer": absent}, said


def published_findings(arena: Arena) -> Iterator[Finding]:
    """Say whose ratings are published, and which do not belong to answers."""
    for (language, judge), rows in arena.published_ratings.groupby(["language", "judge"]):
        own = set(arena.answers.loc[arena.answers["language"] == language, "system"])
        rated, subject = set(rows["system"]), f"{language}, {judge}"
        absent, unrated = count_of(len(rated - own), "published rating"), len(own - rated)
        sentence = f"{count_of(len(rated), 'rating')} are published"
        yield Finding("info", "published", subject, sentence)
        if rated - own:
            sentence = f"{absent} of systems without answers here: nothing is learned from them"
            yield Finding("warning", "published", subject, sentence)
        if unrated:
            sentence = (
                f"{count_of(unrated, 'system')} of {len(own)} that answered have no published"
            )
            yield Finding("warning", "published", subject, f"{sentence} rating")
