"""Tasks: half of an arena's questions, a judge that is replayed, and the truth by the other half.

A task is one arena in one language by one judge. Names of systems and questions are replaced, and
verdicts on the withheld questions are seen by the scorer alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from arena import Arena, read_arena

ARENAS = Path(__file__).parent / "arenas"
POINTS_OF_A = {"a": 1.0, "tie": 0.5, "b": 0.0}
MIRRORED = {"a": "b", "b": "a", "tie": "tie"}
RESAMPLES = 500
HIDDEN_SHARE = 1 / 3


class BudgetSpentError(Exception):
    """A method asked once more than its budget allows."""


class NotRecordedError(Exception):
    """A method asked for a verdict that the arena does not have."""


@dataclass(frozen=True)
class Task:
    """An arena in one language by one judge."""

    arena: str
    language: str
    judge: str

    def __str__(self) -> str:
        """Return the name in tables."""
        return f"{self.arena} {self.language}, {self.judge}"


TASKS = (
    Task("crowd-rag", "en", "gpt-4o-combined"),
    Task("crowd-rag", "en", "crowd-gold"),
    Task("nomiracl", "ar", "answerability-gold"),
    Task("nomiracl", "en", "answerability-gold"),
    Task("nomiracl", "ko", "answerability-gold"),
    Task("nomiracl", "sw", "answerability-gold"),
    Task("trec-rag25", "en", "nist-support"),
    Task("mt-bench-ko-en", "en", "gpt-4o-mini"),
    Task("mt-bench-ko-en", "ko", "gpt-4o-mini"),
    Task("rakuda", "ja", "gpt-4"),
    Task("vicuna80", "en", "gpt-4"),
    Task("vicuna80", "en", "people"),
)


class Ask:
    """The judge of a task: ``ask(query_id, system_a, system_b)`` returns ``a``, ``b`` or ``tie``.

    Attributes:
        pairs: Columns ``query_id, system_a, system_b``: what may be asked. A pair may also be asked
            in the other order.
        budget: Calls in all.
    """

    def __init__(self, judgments: pd.DataFrame, budget: int) -> None:
        """Replay recorded verdicts, the first of each order."""
        keys = ["query_id", "system_a", "system_b"]
        recorded = judgments.drop_duplicates(keys)
        rows = zip(*(recorded[name] for name in keys), recorded["winner"], strict=True)
        self._winners = {tuple(row[:3]): row[3] for row in rows}
        self.pairs = recorded[keys].reset_index(drop=True)
        self.budget = budget
        self._calls: list[tuple[str, str, str, str]] = []

    def __call__(self, query_id: str, system_a: str, system_b: str) -> str:
        """Return who wins; each call counts.

        Raises:
            BudgetSpentError: If no call is left.
            NotRecordedError: If the pair is not one of ``pairs``; the call does not count.
        """
        winner = self._winners.get((query_id, system_a, system_b))
        if winner is None:
            mirrored = self._winners.get((query_id, system_b, system_a))
            if mirrored is None:
                raise NotRecordedError(
                    f"{system_a} and {system_b} on {query_id}: `ask.pairs` holds what may be asked"
                )
            winner = MIRRORED[mirrored]
        if self.left == 0:
            raise BudgetSpentError(f"all {self.budget} calls are spent: stop when `ask.left` is 0")
        self._calls.append((query_id, system_a, system_b, winner))
        return winner

    @property
    def left(self) -> int:
        """Return the calls that are left."""
        return self.budget - len(self._calls)

    @property
    def verdicts(self) -> pd.DataFrame:
        """Return what was asked: columns ``query_id, system_a, system_b, winner``."""
        return pd.DataFrame(self._calls, columns=["query_id", "system_a", "system_b", "winner"])


@dataclass(frozen=True)
class Puzzle:
    """What a method gets, and what its scorer knows.

    Attributes:
        arena: Questions of one half with passages and answers; no verdict.
        judgments: Recorded verdicts on these.
        withheld: Recorded verdicts on the other half.
        hidden: Systems that may not be asked about.
        seed: Of the halves and names.
    """

    arena: Arena
    judgments: pd.DataFrame
    withheld: pd.DataFrame
    hidden: frozenset[str]
    seed: int

    @property
    def systems(self) -> list[str]:
        """Return the systems of the arena."""
        return sorted(self.arena.answers["system"].unique())

    @property
    def n_pairs(self) -> int:
        """Return how many pairs of answers have a verdict, in either order."""
        names = np.sort(self.judgments[["system_a", "system_b"]].to_numpy(str), axis=1)
        return len({*zip(self.judgments["query_id"], *names.T, strict=True)})

    def without_hidden(self) -> Puzzle:
        """Return the puzzle in which hidden systems cannot be asked about."""
        names = self.judgments[["system_a", "system_b"]]
        return replace(self, judgments=self.judgments[~names.isin(self.hidden).any(axis=1)])

    @cached_property
    def truth(self) -> pd.Series:
        """Mean share of points against each other system, on the withheld questions."""
        return self._mean_shares(self.withheld)

    @property
    def ratings_by_all_verdicts(self) -> dict[str, float]:
        """Return the same on the other questions, from all that could be asked."""
        shares = self._mean_shares(self.judgments).dropna()
        return dict(zip(shares.index, shares, strict=True))

    def _mean_shares(self, judgments: pd.DataFrame) -> pd.Series:
        points, battles = points_by_question(judgments, self.systems)
        return pd.Series(mean_shares(points.sum(axis=0), battles.sum(axis=0)), self.systems)

    @cached_property
    def resampled_truth(self) -> pd.DataFrame:
        """``truth`` over resampled questions: a row each, systems as columns."""
        points, battles = points_by_question(self.withheld, self.systems)
        rng = np.random.default_rng(self.seed)
        rows = []
        for _ in range(RESAMPLES):
            drawn = rng.integers(len(points), size=len(points))
            rows.append(mean_shares(points[drawn].sum(axis=0), battles[drawn].sum(axis=0)))
        return pd.DataFrame(rows, columns=self.systems)


def puzzle_of(task: Task, seed: int) -> Puzzle:
    """Split a task's questions into halves, and give systems and questions other names."""
    arena = read_arena(ARENAS / task.arena)
    rng = np.random.default_rng(seed)
    judgments = _of(arena.judgments, task.language)
    judgments = judgments[judgments["judge"] == task.judge]
    compared = pd.unique(judgments[["system_a", "system_b"]].to_numpy().ravel())
    systems = _new_names(sorted(compared), "system", rng)
    questions = _new_names(sorted(judgments["query_id"].unique()), "question", rng)
    new_ids = rng.permutation(sorted(questions.values()))
    asked = set(new_ids[: len(new_ids) // 2])

    judgments = judgments.assign(
        query_id=judgments["query_id"].map(questions),
        system_a=judgments["system_a"].map(systems),
        system_b=judgments["system_b"].map(systems),
    )
    queries = _of(arena.queries, task.language)
    queries = queries.assign(query_id=queries["query_id"].map(questions))
    answers = _of(arena.answers, task.language)
    answers = answers.assign(
        query_id=answers["query_id"].map(questions), system=answers["system"].map(systems)
    )
    is_kept = answers["query_id"].isin(asked) & answers["system"].notna()
    n_hidden = max(2, round(HIDDEN_SHARE * len(systems)))
    hidden = rng.choice(sorted(systems.values()), n_hidden, replace=False)
    is_asked = judgments["query_id"].isin(asked)
    return Puzzle(
        arena=Arena.from_frames(
            questions=queries[queries["query_id"].isin(asked)],
            answers=answers[is_kept].sort_values(["query_id", "system"]),
            name="task",
        ),
        judgments=judgments[is_asked].sort_values(["query_id", "system_a", "system_b"]),
        withheld=judgments[~is_asked],
        hidden=frozenset(hidden),
        seed=seed,
    )


def points_by_question(
    judgments: pd.DataFrame, systems: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return points and battles of each question: shape (questions, systems, systems)."""
    indices = {system: index for index, system in enumerate(systems)}
    row = judgments["system_a"].map(indices).to_numpy()
    column = judgments["system_b"].map(indices).to_numpy()
    question, query_ids = pd.factorize(judgments["query_id"])
    points_of_a = judgments["winner"].map(POINTS_OF_A).to_numpy(float)
    points = np.zeros((len(query_ids), len(systems), len(systems)))
    battles = np.zeros_like(points)
    np.add.at(points, (question, row, column), points_of_a)
    np.add.at(points, (question, column, row), 1 - points_of_a)
    np.add.at(battles, (question, row, column), 1)
    np.add.at(battles, (question, column, row), 1)
    return points, battles


def mean_shares(points: np.ndarray, battles: np.ndarray) -> np.ndarray:
    """Return each system's share of points, mean over opponents; NaN without a battle."""
    shares = np.where(battles > 0, points / np.maximum(battles, 1), np.nan)
    n_opponents = (battles > 0).sum(axis=1)
    sums = np.nansum(shares, axis=1)
    return np.where(n_opponents > 0, sums / np.maximum(n_opponents, 1), np.nan)


def _of(rows: pd.DataFrame, language: str) -> pd.DataFrame:
    return rows[rows["language"] == language]


def _new_names(names: list[str], kind: str, rng: np.random.Generator) -> dict[str, str]:
    width = len(str(len(names)))
    numbers = rng.permutation(len(names))
    return {name: f"{kind}-{number:0{width}d}" for name, number in zip(names, numbers, strict=True)}
