"""Diagnosis of an arena before a board is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from arena.adapters.judgments import checked_judgments
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from arena.data.rows import plain_records
from arena.diagnostics.bias import (
    length_findings,
    length_table,
    order_consistency_findings,
    order_consistency_table,
    position_findings,
    position_table,
)
from arena.diagnostics.coverage import (
    answer_findings,
    answers_table,
    coverage_findings,
    coverage_table,
    name_findings,
    overview_findings,
    overview_table,
    published_findings,
    repeat_findings,
    unjudged_languages,
)
from arena.diagnostics.finding import Finding, Severity, by_severity
from arena.diagnostics.judge_agreement import (
    agreement_findings,
    agreement_table,
    independent,
    judges_left_out,
)
from arena.diagnostics.self_preference import (
    families_of_systems,
    self_preference_findings,
    self_preference_table,
)
from arena.diagnostics.systems import (
    connection_findings,
    connections_table,
    pairs_table,
    systems_table,
)
from arena.diagnostics.verdicts import verdicts
from arena.rating.battles import ALL, copies_of_others, selected_judgments

TABLES = (
    *("overview", "connections", "coverage", "systems", "pairs", "position"),
    *("order_consistency", "agreement", "self_preference", "lengths", "absent"),
)


@dataclass(frozen=True)
class Diagnosis:
    """What is known of an arena before it is ranked; one row a language and judge in each table.

    Attributes:
        findings: Plain sentences, the gravest first.
        overview: Judgments, questions, systems; see ``overview_table``.
        connections: Groups of systems that judgments connect; see ``connections_table``.
        coverage: Pairs that met and did not; see ``coverage_table``.
        systems: Record, groups and note of every system; see ``systems_table``.
        pairs: Battles of every pair that met; see ``pairs_table``.
        position: How often side A wins; see ``position_table``.
        order_consistency: Verdicts that flip with the order; see ``order_consistency_table``.
        agreement: Kappa of every two judges whose verdicts are their own; see ``agreement_table``.
        self_preference: What judges give systems of their own family beyond what others give
            them; see ``self_preference_table``.
        lengths: How often the longer answer wins; see ``length_table``. None without answers.
        absent: Answers and judgments that do not meet; see ``answers_table``. None without
            answers.
        seed: Seed of the bootstrap.
    """

    findings: tuple[Finding, ...]
    overview: pd.DataFrame
    connections: pd.DataFrame
    coverage: pd.DataFrame
    systems: pd.DataFrame
    pairs: pd.DataFrame
    position: pd.DataFrame
    order_consistency: pd.DataFrame
    agreement: pd.DataFrame
    self_preference: pd.DataFrame
    lengths: pd.DataFrame | None
    absent: pd.DataFrame | None
    seed: int

    @property
    def worst(self) -> Severity:
        """The gravest severity found; ``info`` if nothing was."""
        return self.findings[0].severity if self.findings else "info"

    def as_json(self) -> dict[str, Any]:
        """Return findings and tables as plain lists and dictionaries, missing values as None."""
        tables = {name: _records(getattr(self, name)) for name in TABLES}
        said = [
            {
                "severity": finding.severity,
                "check": finding.check,
                "subject": finding.subject,
                "sentence": finding.sentence,
            }
            for finding in self.findings
        ]
        return {"seed": self.seed, "worst": self.worst, "findings": said, **tables}


def diagnose(
    arena: Arena | Path | str,
    seed: int = 0,
    *,
    judge: str | None = None,
    language: str | None = None,
    pool: bool = False,
    families: Mapping[str, str] = MappingProxyType({}),
) -> Diagnosis:
    """Diagnose an arena.

    Args:
        arena: Arena with judgments by any number of judges, or the path of its folder.
        seed: Seed of the bootstrap.
        judge: The only judge to look at.
        language: The only language to look at.
        pool: Take all judges as one, as for crowd workers; agreement is still between them, and
            no worker is held against another's verdict when flips are counted.
        families: System or judge to its family, where neither the attribute ``family`` of systems
            nor the name of their ``model``, or their own, tells.

    Raises:
        UsageError: If there is no judgment, or none of that judge or in that language.
        DataError: If judgments are at fault.
    """
    arena = open_arena(arena)
    published = list(published_findings(arena.published_ratings, arena.answers))
    if published and arena.judgments.empty:
        said = "; ".join(map(str, published))
        raise UsageError(f"there are no judgments to diagnose, only published ratings: {said}")
    if arena.judgments.empty:
        raise UsageError(f"arena {arena.info.name!r} has no judgments to diagnose")
    found = diagnose_judgments(
        arena.judgments,
        arena.answers if len(arena.answers) else None,
        arena.queries,
        systems=arena.info.systems,
        languages=arena.info.languages,
        judge=judge,
        language=language,
        seed=seed,
        pool=pool,
        families=families,
        attributes=arena.attributes,
    )
    return replace(found, findings=by_severity([*found.findings, *published]))


def diagnose_judgments(
    judgments: pd.DataFrame,
    answers: pd.DataFrame | None = None,
    queries: pd.DataFrame | None = None,
    *,
    systems: Sequence[str] = (),
    languages: Sequence[str] = (),
    judge: str | None = None,
    language: str | None = None,
    seed: int = 0,
    pool: bool = False,
    families: Mapping[str, str] = MappingProxyType({}),
    attributes: pd.DataFrame | None = None,
) -> Diagnosis:
    """Diagnose a table of judgments, with whatever else is known.

    Args:
        judgments: Columns ``system_a, system_b, winner`` and, optional, ``query_id`` (without
            it every judgment is a question of its own), ``language`` and ``judge``.
        answers: Columns ``query_id, language, system, answer``.
        queries: Columns ``query_id, language``.
        systems: Systems that should have been judged.
        languages: Languages that should have been judged.
        judge: The only judge to look at.
        language: The only language to look at.
        seed: Seed of the bootstrap.
        pool: Take all judges as one.
        families: System or judge to its family, before what names and attributes tell.
        attributes: ``system`` and, of use here, ``family`` or ``model``.

    Raises:
        UsageError: If there is no judgment, or none of that judge or in that language.
        DataError: With every unknown winner, missing value and system against itself.
    """
    everybody = checked_judgments(judgments)
    chosen = selected_judgments(everybody, language or ALL, judge or ALL)
    given = verdicts(chosen, pool)
    table = verdicts(chosen[~copies_of_others(chosen)], pool)
    # A judge is held against those not looked at, too.
    around = table
    if judge is not None:
        around = verdicts(selected_judgments(everybody, language or ALL, ALL), pool)
    kinds = families_of_systems(sorted({*around["first"], *around["second"]}), attributes, families)
    preference = self_preference_table(around, kinds, families, seed)
    if judge is not None:
        preference = preference[preference["judge"] == judge].reset_index(drop=True)
    tables = _tables(table, answers, queries, systems, seed) | {"self_preference": preference}
    unjudged = unjudged_languages(languages if language is None else (), tables["overview"])
    repeats = repeat_findings(given)
    findings = by_severity([*unjudged, *repeats, *_findings(table, tables, systems)])
    return Diagnosis(findings, seed=seed, **tables)


def diagnose_languages(
    judgments: pd.DataFrame, answers: pd.DataFrame, seed: int = 0
) -> dict[str, Diagnosis]:
    """Diagnose each language's judgments by itself, which takes little longer than one language.

    Args:
        judgments: Of one judge, in the columns and as sound as those of an arena: they are not
            checked again.
        answers: Columns ``query_id, language, system, answer``.
        seed: Seed of the bootstrap.

    Returns:
        Language, sorted, to what ``diagnose_judgments`` finds in its judgments.
    """
    given = verdicts(judgments.reset_index(drop=True))
    table = verdicts(judgments[~copies_of_others(judgments)].reset_index(drop=True))
    if table.empty:
        return {}
    tables = _tables(table, answers, None, (), seed)
    found = {}
    for language in sorted(table["language"].unique()):
        own = _of_language(table, language)
        parts = {
            name: None if part is None else _of_language(part, language)
            for name, part in tables.items()
        }
        kinds = families_of_systems(sorted({*own["first"], *own["second"]}))
        parts["self_preference"] = self_preference_table(own, kinds, seed=seed)
        repeats = repeat_findings(_of_language(given, language))
        findings = by_severity([*repeats, *_findings(own, parts, ())])
        found[str(language)] = Diagnosis(findings, seed=seed, **parts)
    return found


def _of_language(table: pd.DataFrame, language: str) -> pd.DataFrame:
    return table[table["language"] == language].reset_index(drop=True)


def _tables(
    table: pd.DataFrame,
    answers: pd.DataFrame | None,
    queries: pd.DataFrame | None,
    systems: Sequence[str],
    seed: int,
) -> dict[str, Any]:
    """Make the tables of a diagnosis, but for that of judges and their own families."""
    pairs = pairs_table(table)
    records = systems_table(table, pairs, systems)
    return {
        "overview": overview_table(table, records, queries),
        "connections": connections_table(records),
        "coverage": coverage_table(pairs, records),
        "systems": records,
        "pairs": pairs,
        "position": position_table(table, pairs),
        "order_consistency": order_consistency_table(table),
        "agreement": agreement_table(independent(table)[0], seed),
        "lengths": None if answers is None else length_table(table, answers),
        "absent": None if answers is None else answers_table(table, answers),
    }


def _findings(
    table: pd.DataFrame, tables: Mapping[str, Any], systems: Sequence[str]
) -> Iterator[Finding]:
    records, overview = tables["systems"], tables["overview"]
    witnesses, derived = independent(table)
    return chain(
        connection_findings(tables["connections"], records),
        overview_findings(overview, records),
        name_findings([*systems, *records["system"]]),
        coverage_findings(tables["coverage"]),
        _unless_none(tables["absent"], answer_findings),
        position_findings(tables["position"]),
        order_consistency_findings(tables["order_consistency"]),
        agreement_findings(tables["agreement"], judges_left_out(witnesses), derived),
        self_preference_findings(tables["self_preference"]),
        _unless_none(tables["lengths"], length_findings),
    )


def _unless_none(
    table: pd.DataFrame | None, findings: Callable[[pd.DataFrame], Iterator[Finding]]
) -> Iterator[Finding]:
    if table is not None:
        yield from findings(table)


def _records(table: pd.DataFrame | None) -> list[dict[str, Any]] | None:
    return None if table is None else plain_records(table)
