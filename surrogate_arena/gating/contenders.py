"""The candidate and the baseline of a gate, with their answers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.folder import read_own_answers
from arena.data.rows import are_in
from arena.data.schema import QUESTION_KEY
from features.declare.feature import offer
from surrogate.board.board import Board

Answers: TypeAlias = pd.DataFrame | Path | str
"""Answers of one system, their file, or the name of a system of the arena."""

VERSION = re.compile(r"\d[\d.]*(?![\d.]*[A-Za-z])")
"""A number in a name, but for sizes, such as 7b or 32k."""
FAILURE_COLUMNS = [*QUESTION_KEY, "system_a", "system_b", "judge"]


@dataclass(frozen=True)
class Contenders:
    """A candidate and a baseline, in the languages that are compared.

    Attributes:
        judged_as: The candidate's name in the arena's judgments.
        n_common: Questions that both answered.
        n_unanswered: Questions that only the baseline answered.
        is_same: Whether all answers are the baseline's.
        choice: Systems taken by default, and why.
        failures: Pairs without a verdict, ``FAILURE_COLUMNS``.
    """

    arena: Arena
    candidate: str
    judged_as: str
    baseline: str
    answers: pd.DataFrame
    baseline_answers: pd.DataFrame
    n_common: int
    n_unanswered: int
    is_same: bool
    choice: str
    failures: pd.DataFrame

    def between(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Return rows of ``system_a`` and ``system_b`` that are of these two systems."""
        systems = [self.judged_as, self.baseline]
        return pairs[pairs["system_a"].isin(systems) & pairs["system_b"].isin(systems)]


def contenders(
    arena: Arena,
    board: Board | None,
    candidate: Answers | None,
    baseline: Answers | None,
    languages: Collection[str] = (),
    failures: pd.DataFrame | None = None,
) -> Contenders:
    """Find candidate and baseline, by default the board's best, or the arena's latest."""
    if isinstance(languages, str):
        languages = [languages]
    # A version of the arena keeps its name, unless its earlier answers are on the board.
    kept_names = () if board is None else board.systems
    choices = []
    is_choice = candidate is None or len(arena.info.systems) > 2
    if candidate is None:
        candidate = _latest(arena, baseline)
        other = "" if baseline is None else "other "
        choices.append(f"the candidate is {candidate}, the last {other}system in the arena")
    judged_as = candidate if _is_system(arena, candidate) else ""
    arena, name = _entered(arena, candidate, "candidate", kept_names)
    judged_as = str(judged_as) or name
    # The latest version comes last in an arena, the best one first on a board.
    names = list(arena.info.systems)[::-1] if board is None else list(board.systems)
    names = [system for system in names if system not in (name, judged_as)]
    if baseline is None:
        baseline = _first(names)
        reason = "the last other system" if board is None else "the first other system on the board"
        choices.append(f"the baseline is {baseline}, {reason}")
    _check_baseline(baseline, names)
    arena, baseline_name = _entered(arena, baseline, "baseline", ())
    rows = _answers_of(arena, name, languages)
    if rows.empty:
        raise UsageError(f"{name} has no answer in these languages")
    baseline_rows = _answers_of(arena, baseline_name, languages)
    n_common = int(are_in(rows, baseline_rows, QUESTION_KEY).sum())
    n_same = int(are_in(rows, baseline_rows, [*QUESTION_KEY, "answer"]).sum())
    return Contenders(
        arena=arena,
        candidate=name,
        judged_as=judged_as,
        baseline=baseline_name,
        answers=rows,
        baseline_answers=baseline_rows,
        n_common=n_common,
        n_unanswered=len(baseline_rows) - n_common,
        is_same=n_same == len(rows) == len(baseline_rows),
        choice="; ".join(choices) if is_choice else "",
        failures=pd.DataFrame(columns=FAILURE_COLUMNS) if failures is None else failures,
    )


def has_unjudged_pairs(pair: Contenders) -> bool:
    """Return whether different answers to a question lack a verdict."""
    columns = [*QUESTION_KEY, "answer"]
    both = pair.answers[columns].merge(pair.baseline_answers[columns], on=QUESTION_KEY)
    differing = both.loc[both["answer_x"] != both["answer_y"], QUESTION_KEY]
    judged = pair.between(pair.arena.judgments)[QUESTION_KEY].drop_duplicates()
    return len(differing.merge(judged)) < len(differing)


def _first(names: Sequence[str]) -> str:
    if not names:
        raise UsageError(f"there is no other system to compare with ({argument('baseline')})")
    return names[0]


def _check_baseline(baseline: Answers, names: Sequence[str]) -> None:
    if isinstance(baseline, str) and not Path(baseline).is_file() and baseline not in names:
        raise UsageError(
            f"there is no system {baseline!r} to compare with, given as {argument('baseline')}; "
            f"{offer(baseline, sorted(names))}"
        )


def _answers_of(arena: Arena, system: str, languages: Collection[str]) -> pd.DataFrame:
    rows = arena.answers[arena.answers["system"] == system]
    return rows[rows["language"].isin(languages)] if languages else rows


def _latest(arena: Arena, baseline: Answers | None) -> str:
    """Return the system named last, but for the baseline; files and ``add`` append."""
    systems = arena.info.systems
    if len(systems) == 1:
        raise UsageError(
            f"the arena has one system, {systems[0]}; name the answers of another one "
            f"({argument('candidate')}), or add them to the arena"
        )
    excluded = baseline if isinstance(baseline, str) else None
    versions = [system for system in systems if system != excluded]
    latest = versions[-1]
    stem = VERSION.sub("", latest)
    same_names = [name for name in versions if VERSION.sub("", name) == stem]
    highest = max(same_names, key=_numbers)
    if _numbers(highest) > _numbers(latest):
        raise UsageError(
            f"which system is the latest is unclear: the arena names {latest} last, and {highest} "
            f"has a higher number; name the candidate ({argument('candidate')})"
        )
    return latest


def _numbers(name: str) -> list[int]:
    versions = ".".join(VERSION.findall(name))
    return [int(digits) for digits in versions.split(".") if digits]


def _is_system(arena: Arena, answers: Answers) -> bool:
    """Return whether answers are given by a system's name, and there is no such file."""
    is_name = isinstance(answers, str) and answers in arena.info.systems
    return is_name and not Path(str(answers)).is_file()


def _entered(
    arena: Arena, answers: Answers, role: str, kept_names: Collection[str]
) -> tuple[Arena, str]:
    """Enter a system's answers in an arena; return it with their name there.

    ``role`` is added to a name that another system has; systems of ``kept_names`` keep their
    answers.
    """
    is_system = _is_system(arena, answers)
    if is_system and answers not in kept_names:
        return arena, str(answers)
    if is_system:
        rows = arena.answers[arena.answers["system"] == answers]
    else:
        rows = read_own_answers(answers, arena.queries)
    systems = sorted(set(rows["system"]))
    if len(systems) != 1:
        raise UsageError(
            f"a gate is for one candidate, and the answers are of {len(systems)} systems: "
            f"{', '.join(systems[:5])}; give a file of one"
        )
    name = str(systems[0])
    while name in arena.info.systems or name in kept_names:
        name = f"{name} ({role})"
    info = arena.info.model_copy(update={"systems": (*arena.info.systems, name)})
    entered = pd.concat([arena.answers, rows.assign(system=name)], ignore_index=True)
    return replace(arena, info=info, answers=entered), name
