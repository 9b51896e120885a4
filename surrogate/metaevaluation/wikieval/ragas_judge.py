"""Ragas as a judge of WikiEval's pairs: the text with the higher score is the better one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.llm import Budget, Usage
from arena.llm.ask import Progress
from features.declare.feature import Item
from features.declare.sample import Missing
from features.measures.llm_rated import QUESTIONS
from features.models import ModelOptions
from features.models.ragas import (
    NOT_REACHED,
    QUESTION,
    RAGAS_PROMPTS,
    SENTENCES,
    STATEMENTS,
    VERDICTS,
    load_ragas,
    named_models,
    ragas_value,
    versions,
)
from surrogate.metaevaluation.judges import Verdict
from surrogate.metaevaluation.wikieval.choices import Pair, higher
from surrogate.metaevaluation.wikieval.pairs import ANSWER_RELEVANCE, FAITHFULNESS

LANGUAGE = "en"


def prefix_for(model: str) -> str:
    """Return what stands before texts: ``query: `` for E5 models, nothing for others."""
    return "query: " if "e5" in Path(model).name.casefold().split("-") else ""


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
        scorer = load_ragas(self.model, self.options)
        llm = replace(scorer.llm, budget=self.budget, stage=self.name, progress=self.progress)
        scorer = replace(scorer, llm=llm)
        items = [self._item(pair, text) for pair in pairs for text in (pair.first, pair.second)]
        scores = [_score(ragas_value(row)) for row in scorer.score(items)]
        return list(map(higher, scores[::2], scores[1::2]))

    def _item(self, pair: Pair, text: str) -> Item:
        templates = self.options.templates
        if pair.criterion == FAITHFULNESS:
            stated = templates.stated([STATEMENTS.name, VERDICTS.name])
            return (pair.criterion, stated, pair.question, text, pair.context or "")
        if pair.criterion == ANSWER_RELEVANCE:
            before = prefix_for(named_models(self.model)[1])
            stated = templates.stated([QUESTION.name])
            return (pair.criterion, stated, str(QUESTIONS), before, pair.question, text)
        stated = templates.stated([SENTENCES.name])
        return (pair.criterion, stated, LANGUAGE, pair.question, text)


def _score(measured: float | Missing) -> Verdict:
    if isinstance(measured, Missing):
        return Verdict(None, measured.reason, measured != NOT_REACHED)
    return Verdict(measured)
