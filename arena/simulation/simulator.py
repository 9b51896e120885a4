"""The simulated teacher: a judge of known noise that compares two answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import as_rows, checked_arena, read_arena, write_arena
from arena.data.rows import read_rows, write_rows
from arena.data.schema import QUESTION_KEY, ArenaInfo
from arena.data.seeds import generator
from arena.simulation.answers import (
    count_errors,
    draft_answer,
    expected_utility,
    utility,
    write_output,
)
from arena.simulation.facts import LANGUAGES, QUESTIONS, PosedQuestion, pose_questions
from arena.simulation.systems import DEFAULT_SYSTEMS, ErrorRates, SystemProfile

TEACHER = "simulated-teacher"
DEFAULT_NOISE = 0.1
TIE_MARGIN = 0.05


def judge_pair(
    language: str,
    query_id: str,
    utilities: tuple[tuple[str, float], tuple[str, float]],
    noise: float,
    seed: int,
) -> dict[str, str]:
    """Draw the judgment of two answers to one question.

    The teacher perceives the difference of the utilities plus ``noise`` times a standard
    logistic draw. It prefers the answer that seems better by more than ``TIE_MARGIN`` and else
    calls a tie. Without the margin this is the Bradley-Terry model with coefficients
    utility / noise; with it, that of Rao and Kupper. Which answer is shown first is drawn too
    and has no influence.

    Args:
        language: Language of the question.
        query_id: The question.
        utilities: The two systems with the utilities of their answers.
        noise: Temperature; 0 judges by the utilities alone.
        seed: The user's seed; the draws are keyed by language, question and pair.

    Returns:
        A row of the table of judgments.
    """
    (first, better_by), (second, worse_by) = sorted(utilities)
    random = generator(seed, "simulation", "judgment", language, query_id, first, second)
    perceived = better_by - worse_by + noise * float(random.logistic())
    is_swapped = bool(random.random() < 0.5)
    if abs(perceived) <= TIE_MARGIN:
        winner = "tie"
    else:
        winner = "a" if (perceived > 0) != is_swapped else "b"
    return {
        "query_id": query_id,
        "language": language,
        "system_a": second if is_swapped else first,
        "system_b": first if is_swapped else second,
        "winner": winner,
        "judge": TEACHER,
    }


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
        as_rows(pd.DataFrame([_query(question) for question in posed]), "queries"),
        as_rows(pd.DataFrame([answer for _, answer, _ in answered]), "answers"),
        as_rows(pd.DataFrame(_judgments(errors, judge_noise, seed)), "judgments"),
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
    question: PosedQuestion, system: SystemProfile, rates: ErrorRates, seed: int
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


def _query(question: PosedQuestion) -> dict[str, object]:
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
        for (language, query_id), rows in errors.groupby(QUESTION_KEY, sort=False)
        for pair in combinations(zip(rows["system"], rows["utility"], strict=True), 2)
    ]


SAMPLE_SEED = 0
"""Seed that the sample was simulated with, all else left at the defaults of ``simulate``."""

TRUTH_FILE = "truth.csv"


def sample_folder() -> Path:
    """Return the arena folder that comes with the package."""
    return Path(str(files("arena.simulation") / "sample"))


def sample_arena() -> Arena:
    """Read the sample: 12 simulated systems, 6 languages, 24 questions each, all pairs judged."""
    return read_arena(sample_folder())


def sample_truth() -> pd.DataFrame:
    """Read the true qualities of the sample's systems.

    Returns:
        Columns ``language, system, quality, rank``; see ``Simulation``.
    """
    types = {"language": "str", "system": "str", "quality": "float64", "rank": "int64"}
    return read_rows(sample_folder() / TRUTH_FILE).table.astype(types)


def write_simulation(simulation: Simulation, folder: Path | str) -> None:
    """Write a simulated arena as an arena folder, with its truth as ``truth.csv``.

    Raises:
        UsageError: If the folder holds an arena in another format.
    """
    folder = Path(folder)
    write_arena(simulation.arena, folder)
    write_rows(simulation.truth, folder / TRUTH_FILE)
