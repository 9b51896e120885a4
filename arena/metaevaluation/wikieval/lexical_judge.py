"""A baseline without any model: runs of characters that texts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from arena.errors import UsageError
from arena.metaevaluation.memerag.lexical_judge import RUN, character_runs
from arena.metaevaluation.wikieval.criteria import FAITHFULNESS
from arena.metaevaluation.wikieval.pairs import Pair, Preference, Score, higher


@dataclass(frozen=True)
class LexicalPairJudge:
    """Prefers the text that shares more with what it should be near to.

    Faithfulness is the share of the answer's runs of characters that stand in the context.
    Relevance, of answers and of contexts, is the Dice coefficient of the text's runs and the
    question's: what the text holds besides lowers it.

    Attributes:
        length: Characters of a run.
    """

    length: int = RUN

    def __post_init__(self) -> None:
        if self.length < 1:
            raise UsageError(f"the length of a run is {self.length}; give 1 or more")

    @property
    def name(self) -> str:
        """``lexical``."""
        return "lexical"

    @property
    def prompt(self) -> str:
        """The settings."""
        return f"characters:{self.length}"

    def judge(self, pairs: Sequence[Pair]) -> list[Preference]:
        """Judge each pair by itself."""
        return [
            higher(Score(self.score(pair, pair.first)), Score(self.score(pair, pair.second)))
            for pair in pairs
        ]

    def score(self, pair: Pair, text: str) -> float:
        """Return the score of one text of a pair, 0 to 1."""
        if pair.criterion == FAITHFULNESS:
            return self._held(text, pair.context or "")
        return self._dice(text, pair.question)

    def _held(self, text: str, context: str) -> float:
        runs, known = character_runs(text, self.length), set(character_runs(context, self.length))
        return sum(run in known for run in runs) / len(runs)

    def _dice(self, one: str, other: str) -> float:
        first, second = (Counter(character_runs(text, self.length)) for text in (one, other))
        return 2 * (first & second).total() / (first.total() + second.total())
