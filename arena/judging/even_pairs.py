"""Some pairs of each question, such that systems are connected and meet evenly."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import numpy.typing as npt

Names = tuple[str, str]


class EvenPairs:
    """Chooses pairs question by question, with an eye on those chosen before."""

    def __init__(self) -> None:
        self._battles: Counter[str] = Counter()
        self._meetings: Counter[Names] = Counter()
        self._group: dict[str, int] = {}

    def choose(self, systems: list[str], pairs: int, random: np.random.Generator) -> list[Names]:
        """Choose pairs of a question.

        Each pair joins two groups of systems that no chosen pair connects yet, if there are any;
        then systems with few battles on this question and in all go first, then pairs that met
        seldom; the rest is chance.

        Args:
            systems: Systems that answered the question.
            pairs: How many to choose, at most.
            random: Breaks ties.
        """
        names = sorted(systems)
        for name in names:
            self._group.setdefault(name, len(self._group))
        one, other = np.triu_indices(len(names), 1)
        met = np.array([self._meetings[pair] for pair in combinations(names, 2)])
        chance = random.random(len(one))
        here = np.zeros(len(names), dtype=np.int64)
        taken = np.zeros(len(one), dtype=np.bool_)
        chosen: list[Names] = []
        for _ in range(min(pairs, len(one))):
            battles = np.array([self._battles[name] for name in names])
            group = np.array([self._group[name] for name in names])
            costs: tuple[npt.NDArray[np.generic], ...] = (
                taken,
                group[one] == group[other],
                np.maximum(here[one], here[other]),
                here[one] + here[other],
                battles[one] + battles[other],
                met,
                chance,
            )
            pair = int(np.lexsort(costs[::-1])[0])
            taken[pair] = True
            here[[one[pair], other[pair]]] += 1
            chosen.append((names[one[pair]], names[other[pair]]))
            self._note(chosen[-1])
        return chosen

    def _note(self, pair: Names) -> None:
        self._battles.update(pair)
        self._meetings[pair] += 1
        kept, joined = (self._group[name] for name in pair)
        if kept != joined:
            for name, group in self._group.items():
                if group == joined:
                    self._group[name] = kept
