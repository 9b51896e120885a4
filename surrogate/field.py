"""What a surrogate of one language learns from: systems that met, and their answers' features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from arena.tournaments import Tournaments
from surrogate.tensor import FeatureTensor

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Field:
    """The training systems of one language.

    Attributes:
        answers: Features of the S training systems' answers to every question, judged or not.
        tournaments: Tournaments among these systems and no others, on the judged questions.
    """

    answers: FeatureTensor
    tournaments: Tournaments

    @property
    def language(self) -> str:
        """Language code."""
        return self.answers.language

    @property
    def judged(self) -> FeatureTensor:
        """Features of the answers to the judged questions, in the tournaments' order."""
        return self.answers.take(questions=self.tournaments.battles.questions)

    @property
    def targets(self) -> Floats:
        """Mean Bradley-Terry coefficient of each system, shape (S,)."""
        return self.tournaments.mean_coefficients

    def one_tournament(self, index: int) -> Field:
        """Keep a single tournament."""
        kept = slice(index, index + 1)
        single = replace(
            self.tournaments,
            draws=self.tournaments.draws[kept],
            coefficients=self.tournaments.coefficients[kept],
        )
        return replace(self, tournaments=single)

    def without(self, systems: Sequence[str]) -> Field:
        """Leave systems out: their answers, battles and coefficients.

        The others keep the coefficients that tournaments with all of them gave.
        """
        battles = self.tournaments.battles
        left_out = set(systems)
        kept = np.array([system not in left_out for system in battles.systems])
        names = tuple(system for system in battles.systems if system not in left_out)
        place = np.cumsum(kept) - 1
        among = kept[battles.first] & kept[battles.second]
        fewer = replace(
            battles,
            systems=names,
            first=place[battles.first[among]],
            second=place[battles.second[among]],
            points=battles.points[:, among],
            counts=battles.counts[:, among],
        )
        coefficients = self.tournaments.coefficients[:, kept]
        tournaments = replace(self.tournaments, battles=fewer, coefficients=coefficients)
        return Field(self.answers.take(systems=names), tournaments)
