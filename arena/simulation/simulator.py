"""Simulating an arena whose true ranking is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import pandas as pd

from arena.errors import UsageError
from arena.folder import Arena, checked_arena, rows_of
from arena.records import ArenaInfo
from arena.simulation.default_systems import DEFAULT_SYSTEMS
from arena.simulation.drafts import draft_answer
from arena.simulation.factbook import LANGUAGES
from arena.simulation.outputs import write_output
from arena.simulation.quality import count_errors, expected_utility, utility
from arena.simulation.questions import QUESTIONS, Question, pose_questions
from arena.simulation.systems import ErrorRates, SystemProfile
from arena.simulation.teacher import DEFAULT_NOISE, judge_pair

NAME = "simulated-multilingual"
NOTE = (
    "Simulated: the entities are fictional, the answers are composed with errors drawn at known "
    "rates, and the judgments are drawn with known noise. No model wrote or judged anything here."
)

_QUALITY_DECIMALS = 6


@dataclass(frozen=True)
class Simulation:
    """A simulated arena and what is known about it.

    Attributes:
        arena: Questions, answers and judgments.
        truth: Columns ``language, system, quality, rank``: the expected utility of a system's
            answers, rounded to six decimals, and its rank in the language (1 the best, equal
            qualities share the better rank); best first.
        errors: Columns ``language, query_id, system``, the number of each error in the answer
            (see ``ErrorCounts``) and its ``utility``.
    """

    arena: Arena
    truth: pd.DataFrame
    errors: pd.DataFrame


def simulate(
    systems: Sequence[SystemProfile] = DEFAULT_SYSTEMS,
    languages: Sequence[str] = LANGUAGES,
    questions: int = QUESTIONS,
    judge_noise: float = DEFAULT_NOISE,
    seed: int = 0,
) -> Simulation:
    """Simulate RAG systems that answer questions, and a judge that compares all pairs.

    Every draw is keyed by what it is for, so a further system or language, or more questions,
    change no answer and no judgment of the others. The system of the highest true quality over
    languages is the arena's reference system.

    Args:
        systems: At least two systems.
        languages: Some of ``LANGUAGES``.
        questions: Number of questions in each language, 1 to 24.
        judge_noise: Temperature of the teacher; see ``arena.simulation.teacher``.
        seed: Seed of all draws, at least 0.

    Raises:
        UsageError: If an argument is out of range; says which, and what it can be.
    """
    _check_systems(systems)
    _check_languages(languages)
    _check_numbers(questions, judge_noise, seed)
    rates = {
        (language, system.name): system.rates(language)
        for language in languages
        for system in systems
    }
    posed = [
        question for language in languages for question in pose_questions(language, questions, seed)
    ]
    answered = [
        (question, *_answer(question, system, rates[question.language, system.name], seed))
        for question in posed
        for system in systems
    ]
    errors = pd.DataFrame([row for _, _, row in answered])
    truth = _truth(rates)
    arena = checked_arena(
        _info(systems, languages, truth, seed),
        rows_of(pd.DataFrame([_query(question) for question in posed]), "queries"),
        rows_of(pd.DataFrame([answer for _, answer, _ in answered]), "answers"),
        rows_of(pd.DataFrame(_judgments(errors, judge_noise, seed)), "judgments"),
    )
    return Simulation(arena, truth, errors)


def _check_systems(systems: Sequence[SystemProfile]) -> None:
    if len(systems) < 2:
        raise UsageError(f"systems holds {len(systems)} of at least 2 to compare; add some")
    names = [system.name for system in systems]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise UsageError(f"systems holds {', '.join(repeated)} several times; rename all but one")


def _check_languages(languages: Sequence[str]) -> None:
    if not languages:
        raise UsageError(f"languages is empty; choose from {', '.join(LANGUAGES)}")
    unknown = [language for language in languages if language not in LANGUAGES]
    if unknown:
        raise UsageError(
            f"languages holds {unknown[0]!r}, which has no facts to simulate with; "
            f"choose from {', '.join(LANGUAGES)}"
        )
    repeated = sorted({language for language in languages if list(languages).count(language) > 1})
    if repeated:
        raise UsageError(f"languages holds {', '.join(repeated)} several times; keep one")


def _check_numbers(questions: int, judge_noise: float, seed: int) -> None:
    if not 1 <= questions <= QUESTIONS:
        raise UsageError(f"questions = {questions} is out of range; use 1 to {QUESTIONS}")
    if not 0 <= judge_noise < math.inf:
        raise UsageError(f"judge_noise = {judge_noise:g} is out of range; use 0 or more")
    if seed < 0:
        raise UsageError(f"seed = {seed} is negative; use 0 or more")


def _answer(
    question: Question, system: SystemProfile, rates: ErrorRates, seed: int
) -> tuple[dict[str, str], dict[str, str | float]]:
    """Return a row of the table of answers and one of the table of errors."""
    draft = draft_answer(question, system.name, rates, seed)
    errors = count_errors(draft, question)
    language, query_id = question.language, question.query_id
    answer = {
        "query_id": query_id,
        "language": language,
        "system": system.name,
        "answer": write_output(draft, question, system),
    }
    key = {"language": language, "query_id": query_id, "system": system.name}
    return answer, {**key, **asdict(errors), "utility": utility(errors)}


def _query(question: Question) -> dict[str, object]:
    return {
        "query_id": question.query_id,
        "language": question.language,
        "query": question.query,
        "passages": [passage.model_dump() for passage in question.passages],
    }


def _truth(rates: dict[tuple[str, str], ErrorRates]) -> pd.DataFrame:
    truth = pd.DataFrame(
        [
            (language, system, round(expected_utility(of_system), _QUALITY_DECIMALS))
            for (language, system), of_system in rates.items()
        ],
        columns=["language", "system", "quality"],
    )
    ranks = truth.groupby("language")["quality"].rank(ascending=False, method="min")
    ranked = truth.assign(rank=ranks.astype("int64"))
    return ranked.sort_values(["language", "rank", "system"]).reset_index(drop=True)


def _info(
    systems: Sequence[SystemProfile], languages: Sequence[str], truth: pd.DataFrame, seed: int
) -> ArenaInfo:
    return ArenaInfo(
        name=NAME,
        languages=tuple(languages),
        systems=tuple(system.name for system in systems),
        reference_system=str(truth.groupby("system")["quality"].mean().idxmax()),
        source=f"arena.simulation, seed {seed}",
        note=NOTE,
    )


def _judgments(errors: pd.DataFrame, noise: float, seed: int) -> list[dict[str, str]]:
    return [
        judge_pair(str(language), str(query_id), pair, noise, seed)
        for (language, query_id), rows in errors.groupby(["language", "query_id"], sort=False)
        for pair in combinations(zip(rows["system"], rows["utility"], strict=True), 2)
    ]
