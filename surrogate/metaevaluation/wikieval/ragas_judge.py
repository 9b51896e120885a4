"""Ragas as a judge of WikiEval's pairs: the text with the higher score is the better one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from arena.llm import Budget, Usage
from arena.llm.ask import Progress
from features.declare.asked import (
    NOT_REACHED,
    answer_item,
    context_item,
    faithfulness_item,
    from_scores,
    named_models,
)
from features.declare.feature import Item, Scores
from features.declare.sample import Missing
from features.measures.ragas import QUESTIONS
from features.models import ModelOptions
from features.models.ragas import QuestionSimilarity, TextQualities, endpoint_model
from features.models.ragas_prompts import (
    QUESTION,
    RAGAS_PROMPTS,
    SENTENCES,
    STATEMENTS,
    VERDICTS,
    versions,
)
from surrogate.metaevaluation.judges import Verdict
from surrogate.metaevaluation.wikieval.choices import Pair, higher
from surrogate.metaevaluation.wikieval.pairs import ANSWER_RELEVANCE, FAITHFULNESS

LANGUAGE = "en"


def prefix_for(model: str) -> str:
    """Return what stands before texts of one kind: ``query`` for E5 models, ``none`` for others."""
    return "query" if "e5" in Path(model).name.casefold().split("-") else "none"


def short_name(model: str) -> str:
    """Return a model's name on the hub, or the last two folders of its path."""
    return "/".join(Path(model).parts[-2:])


@dataclass(frozen=True)
class RagasJudge:
    """Prefers the text with the higher faithfulness, answer relevance or context relevance.

    Attributes:
        model: ``LLM with EMBEDDER``; see ``features.models.ragas.named_models``.
        options: How it is asked; how the embedding model is run.
        budget: Most prompts to send, and what was asked and used.
        progress: Called with a stage's name, what is done of it, and all of it.
    """

    model: str
    options: ModelOptions
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)
    progress: Progress | None = field(default=None, repr=False)

    @property
    def usages(self) -> Sequence[Usage]:
        """What was asked and used, an entry a stage."""
        return self.budget.usages

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
        names = versions(*RAGAS_PROMPTS, templates=self.options.templates)
        return f"{names}|embedder:{embedder}|questions:{QUESTIONS}"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Measure both texts of each pair.

        Raises:
            UsageError: If the endpoint, the store or the embedding model cannot be used.
            MissingDependencyError: If a package that is needed is not installed.
        """
        verdicts: dict[int, Verdict] = {}
        for by_questions in (False, True):
            numbers = [
                number
                for number, pair in enumerate(pairs)
                if (pair.criterion == ANSWER_RELEVANCE) == by_questions
            ]
            chosen = [pairs[number] for number in numbers]
            items = [
                self._item(pair, text) for pair in chosen for text in (pair.first, pair.second)
            ]
            scores = [_score(row) for row in self._measured(items, by_questions)]
            verdicts |= zip(numbers, map(higher, scores[::2], scores[1::2]), strict=True)
        return [verdicts[number] for number in range(len(pairs))]

    def _item(self, pair: Pair, text: str) -> Item:
        templates = self.options.templates
        if pair.criterion == FAITHFULNESS:
            stated = templates.stated([STATEMENTS.name, VERDICTS.name])
            return faithfulness_item(pair.question, text, (pair.context or "",), stated)
        if pair.criterion == ANSWER_RELEVANCE:
            prefix = prefix_for(named_models(self.model)[1])
            stated = templates.stated([QUESTION.name])
            return answer_item(QUESTIONS, prefix, pair.question, text, stated)
        return context_item(LANGUAGE, pair.question, (text,), templates.stated([SENTENCES.name]))

    def _measured(self, items: Sequence[Item], by_questions: bool) -> Scores:
        if not items:
            return np.empty((0, 2), np.float32)
        name, embedder = named_models(self.model)
        llm = replace(
            endpoint_model(name, self.options),
            budget=self.budget,
            stage=self.name,
            progress=self.progress,
        )
        if by_questions:
            return QuestionSimilarity(llm, embedder, self.options).score(items)
        return TextQualities(llm).score(items)


def _score(row: Scores) -> Verdict:
    measured = from_scores(row)
    if isinstance(measured, Missing):
        return Verdict(None, measured.reason, measured != NOT_REACHED)
    return Verdict(measured)
