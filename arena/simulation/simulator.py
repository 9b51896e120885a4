"""The simulated arena: systems answer, a teacher of known noise compares all pairs of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import as_rows, checked_arena, read_arena
from arena.data.schema import QUESTION_KEY, ArenaInfo
from arena.data.seeds import generator
from arena.simulation.answers import (
    count_errors,
    draft_answer,
    expected_utility,
    utility,
    write_output,
)
from arena.simulation.facts import LANGUAGES, QUESTIONS, pose_questions
from arena.simulation.systems import DEFAULT_SYSTEMS, SystemProfile

TEACHER = "simulated-teacher"
NOISE = 0.1
TIE_MARGIN = 0.05
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
        errors: ``language, query_id, system``, counts of ``count_errors``, and the ``utility``.
    """

    arena: Arena
    truth: pd.DataFrame
    errors: pd.DataFrame


def simulate(
    systems: Sequence[SystemProfile] = DEFAULT_SYSTEMS,
    languages: Sequence[str] = LANGUAGES,
    questions: int = QUESTIONS,
    seed: int = 0,
) -> Simulation:
    """Simulate RAG systems that answer questions, and a judge that compares all pairs.

    Every draw is keyed by what it is for, so a further system or language, or more questions,
    change no answer and no judgment of the others. The system of the highest true quality over
    languages is the arena's reference system.

    Raises:
        UsageError: If there is no such language, or not as many questions.
    """
    if not set(languages) <= set(LANGUAGES) or not 1 <= questions <= QUESTIONS:
        raise UsageError(f"choose languages from {', '.join(LANGUAGES)}, questions to {QUESTIONS}")
    queries, answers, errors = [], [], []
    for question in (it for code in languages for it in pose_questions(code, questions, seed)):
        key = {"query_id": question.query_id, "language": question.language}
        queries.append({**key, "query": question.query, "passages": question.passages})
        for system in systems:
            draft = draft_answer(question, system.name, system.rates(question.language), seed)
            counts, text = count_errors(draft, question), write_output(draft, question, system)
            answers.append({**key, "system": system.name, "answer": text})
            errors.append({**key, "system": system.name, **counts, "utility": utility(counts)})
    judgments = [
        judge_pair(str(language), str(query_id), pair, seed)
        for (language, query_id), rows in pd.DataFrame(errors).groupby(QUESTION_KEY, sort=False)
        for pair in combinations(zip(rows["system"], rows["utility"], strict=True), 2)
    ]
    truth = _truth(systems, languages)
    info = ArenaInfo(
        name="simulated-multilingual",
        languages=tuple(languages),
        systems=tuple(system.name for system in systems),
        reference_system=str(truth.groupby("system")["quality"].mean().idxmax()),
        source=f"arena.simulation, seed {seed}",
        note=NOTE,
    )
    tables = {"queries": queries, "answers": answers, "judgments": judgments}
    rows = [as_rows(pd.DataFrame(table), name) for name, table in tables.items()]
    return Simulation(checked_arena(info, *rows), truth, pd.DataFrame(errors))


def judge_pair(
    language: str, query_id: str, utilities: tuple[tuple[str, float], tuple[str, float]], seed: int
) -> dict[str, str]:
    """Draw the judgment of two answers to one question.

    The teacher perceives the difference of the utilities plus ``NOISE`` times a standard
    logistic draw. It prefers the answer that seems better by more than ``TIE_MARGIN`` and else
    calls a tie. Without the margin this is the Bradley-Terry model with coefficients
    utility / noise. Which answer is shown first is drawn too and has no influence. The draws are
    keyed by language, question and pair.
    """
    (first, better_by), (second, worse_by) = sorted(utilities)
    random = generator(seed, "simulation", "judgment", language, query_id, first, second)
    perceived = better_by - worse_by + NOISE * float(random.logistic())
    is_swapped = bool(random.random() < 0.5)
    winner = "a" if (perceived > 0) != is_swapped else "b"
    return {
        "query_id": query_id,
        "language": language,
        "system_a": second if is_swapped else first,
        "system_b": first if is_swapped else second,
        "winner": "tie" if abs(perceived) <= TIE_MARGIN else winner,
        "judge": TEACHER,
    }


def _truth(systems: Sequence[SystemProfile], languages: Sequence[str]) -> pd.DataFrame:
    qualities = [
        (code, system.name, round(expected_utility(system.rates(code)), _QUALITY_DECIMALS))
        for code in languages
        for system in systems
    ]
    truth = pd.DataFrame(qualities, columns=["language", "system", "quality"])
    ranks = truth.groupby("language")["quality"].rank(ascending=False, method="min")
    ranked = truth.assign(rank=ranks.astype("int64"))
    return ranked.sort_values(["language", "rank", "system"], ignore_index=True)


def sample_folder() -> Path:
    """Return the arena folder that comes with the package."""
    return Path(str(files("arena.simulation") / "sample"))


def sample_arena() -> Arena:
    """Read the sample: 12 simulated systems, 6 languages, 24 questions each, all pairs judged."""
    return read_arena(sample_folder())


def sample_truth() -> pd.DataFrame:
    """Read ``truth`` of the sample; see ``Simulation``."""
    types = {"language": "str", "system": "str", "quality": "float64", "rank": "int64"}
    return pd.read_csv(sample_folder() / "truth.csv", keep_default_na=False, dtype=types)
