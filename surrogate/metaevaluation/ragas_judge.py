"""The three qualities of Ragas as a judge of WikiEval's pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from arena.llm.usage import Usage
from arena.metaevaluation.wikieval import Pair, Preference, Score, higher
from arena.metaevaluation.wikieval.criteria import ANSWER_RELEVANCE, FAITHFULNESS
from features.missing import Missing
from features.models import Item, ModelOptions
from features.models.scorer import Scores
from features.ragas.items import answer_item, context_item, faithfulness_item, named_models
from features.ragas.prompting import QUESTION, SENTENCES, STATEMENTS, VERDICTS, versions
from features.ragas.qualities import QUESTIONS
from features.ragas.reasons import INSUFFICIENT_INFORMATION, NOT_REACHED, from_scores
from features.ragas.scorers import QuestionSimilarity, TextQualities, endpoint_model
from surrogate.metaevaluation.similarity_judges import LANGUAGE, prefix_for, short_name

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class RagasJudge:
    """Prefers the text with the higher faithfulness, answer relevance or context relevance.

    A context of which the LLM says that no sentence helps has a context relevance of 0, as the
    formula has it; as a feature it is missing.

    Attributes:
        model: ``LLM with EMBEDDER``; see ``features.ragas.items.named_models``.
        options: Endpoint and store; how the embedding model is run.
        max_calls: Most prompts to send in a run; None for all.
        progress: Called with a stage's name, what is done of it, and all of it.
        usages: What was asked and used; grows as the judge is at work.
    """

    model: str
    options: ModelOptions
    max_calls: int | None = None
    progress: Progress | None = field(default=None, repr=False)
    usages: list[Usage] = field(default_factory=list, repr=False, compare=False)

    @property
    def name(self) -> str:
        """``ragas:`` and the LLM."""
        return f"ragas:{named_models(self.model)[0]}"

    @property
    def prompt(self) -> str:
        """Names and digests of the templates, the embedding model, the number of questions.

        Raises:
            MissingDependencyError: If Jinja is not installed.
        """
        embedder = short_name(named_models(self.model)[1])
        names = versions(STATEMENTS, VERDICTS, QUESTION, SENTENCES)
        return f"{names}|embedder:{embedder}|questions:{QUESTIONS}"

    def judge(self, pairs: Sequence[Pair]) -> list[Preference]:
        """Measure both texts of each pair.

        Raises:
            UsageError: If the endpoint, the store or the embedding model cannot be used.
            MissingDependencyError: If a package that is needed is not installed.
        """
        preferences: dict[int, Preference] = {}
        for by_questions in (False, True):
            places = [
                place
                for place, pair in enumerate(pairs)
                if (pair.criterion == ANSWER_RELEVANCE) == by_questions
            ]
            items = [item for place in places for item in self._items(pairs[place])]
            scores = [_score(row) for row in self._measured(items, by_questions)]
            for place, two in zip(places, zip(scores[::2], scores[1::2], strict=True), strict=True):
                preferences[place] = higher(*two)
        return [preferences[place] for place in range(len(pairs))]

    def _items(self, pair: Pair) -> tuple[Item, Item]:
        first, second = (self._item(pair, text) for text in (pair.first, pair.second))
        return first, second

    def _item(self, pair: Pair, text: str) -> Item:
        if pair.criterion == FAITHFULNESS:
            return faithfulness_item(pair.question, text, (pair.context or "",))
        if pair.criterion == ANSWER_RELEVANCE:
            prefix = prefix_for(named_models(self.model)[1])
            return answer_item(QUESTIONS, prefix, pair.question, text)
        return context_item(LANGUAGE, pair.question, (text,))

    def _measured(self, items: Sequence[Item], by_questions: bool) -> Scores:
        if not items:
            return np.empty((0, 2), np.float32)
        name, embedder = named_models(self.model)
        llm = replace(
            endpoint_model(name, self.options),
            max_calls=self._calls_left(),
            progress=self._progress,
            usages=self.usages,
        )
        if by_questions:
            return QuestionSimilarity(llm, embedder, self.options).score(items)
        return TextQualities(llm).score(items)

    def _calls_left(self) -> int | None:
        if self.max_calls is None:
            return None
        return max(self.max_calls - sum(usage.calls - usage.retries for usage in self.usages), 0)

    def _progress(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(f"{self.name} stage {len(self.usages)}", done, total)


def _score(row: Scores) -> Score:
    found = from_scores(row)
    if found == INSUFFICIENT_INFORMATION:
        return Score(0.0)
    if isinstance(found, Missing):
        return Score(None, found.reason, found != NOT_REACHED)
    return Score(found)
