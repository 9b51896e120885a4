"""Who is compared at a gate: the candidate and the baseline, with their answers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.folder import read_own_answers
from arena.data.schema import QUESTION_KEY
from features.declare.feature import offer
from surrogate.board.board import Board

CandidateAnswers: TypeAlias = pd.DataFrame | Path | str | None
"""Answers of a candidate, their file, or the name of a system of the arena; None for its latest."""


@dataclass(frozen=True)
class Contenders:
    """A candidate and a baseline, in the languages that are compared.

    Attributes:
        judged_as: Name by which the arena's judgments know the candidate's answers.
        n_common: Questions that both answered.
        n_unanswered: Questions that the baseline alone answered.
        is_same: Whether all answers are the baseline's, word for word.
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


def contenders(
    arena: Arena,
    board: Board | None,
    answers: CandidateAnswers,
    baseline: str | None,
    languages: Collection[str] = (),
) -> Contenders:
    """Find candidate and baseline, by default the best of the board, or the latest of the arena."""
    system = _named_system(arena, answers)
    if system is not None:
        answers = arena.answers[arena.answers["system"] == system]
    rows = read_own_answers(answers, arena.queries)
    # The latest version comes last in an arena, the best one first on a board.
    names = list(arena.info.systems)[::-1] if board is None else list(board.systems)
    baseline = _baseline([name for name in names if name != system], baseline)
    own_name = system
    if own_name is None:
        systems = sorted(set(rows["system"]))
        if len(systems) != 1:
            raise UsageError(
                f"a gate is for one candidate, and the answers are of {len(systems)} systems: "
                f"{', '.join(systems[:5])}; give a file of one"
            )
        own_name = str(systems[0])
    candidate = own_name
    # A version of the arena keeps its name, unless its earlier answers are on the board.
    if system is None or board is not None:
        while candidate in names:
            candidate = f"{candidate} (candidate)"
    if system is None or candidate != own_name:
        rows = rows.assign(system=candidate)
        with_candidate = {"systems": (*arena.info.systems, candidate)}
        arena = replace(
            arena,
            info=arena.info.model_copy(update=with_candidate),
            answers=pd.concat([arena.answers, rows], ignore_index=True),
        )
    baseline_rows = arena.answers[arena.answers["system"] == baseline]
    if isinstance(languages, str):
        languages = [languages]
    if languages:
        rows = rows[rows["language"].isin(languages)]
        baseline_rows = baseline_rows[baseline_rows["language"].isin(languages)]
    if rows.empty:
        raise UsageError(f"{candidate} has no answer in these languages")
    keys = set(rows[QUESTION_KEY].itertuples(index=False, name=None))
    baseline_keys = set(baseline_rows[QUESTION_KEY].itertuples(index=False, name=None))
    columns = [*QUESTION_KEY, "answer"]
    same_texts = rows.merge(baseline_rows[columns], on=columns)
    return Contenders(
        arena=arena,
        candidate=candidate,
        judged_as=candidate if system is None else system,
        baseline=baseline,
        answers=rows,
        baseline_answers=baseline_rows,
        n_common=len(keys & baseline_keys),
        n_unanswered=len(baseline_keys - keys),
        is_same=keys == baseline_keys and len(same_texts) == len(rows),
    )


def _named_system(arena: Arena, answers: CandidateAnswers) -> str | None:
    """Return the system that is meant, by default the latest; a file of that name goes first."""
    if answers is None:
        versions = arena.info.systems
        if len(versions) == 1:
            raise UsageError(
                f"the arena has one system, {versions[0]}; name the answers of another one "
                f"({argument('candidate')}), or add them to the arena"
            )
        return versions[-1]
    is_name = isinstance(answers, str) and answers in arena.info.systems
    if is_name and not Path(str(answers)).is_file():
        return str(answers)
    return None


def _baseline(names: Sequence[str], baseline: str | None) -> str:
    if baseline is None and names:
        return names[0]
    if baseline is None or baseline not in names:
        raise UsageError(
            f"there is no system {baseline!r} to compare with, given as {argument('baseline')}; "
            f"{offer(baseline or '', sorted(names))}"
        )
    return baseline
