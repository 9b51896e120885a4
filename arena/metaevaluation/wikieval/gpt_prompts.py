"""Prompts of the paper's two baselines (section 5), in words of our own."""

from __future__ import annotations

from types import MappingProxyType

from arena.llm.prompts import Prompt
from arena.metaevaluation.wikieval.criteria import (
    ANSWER_RELEVANCE,
    COMPARED,
    CONTEXT_RELEVANCE,
    FAITHFULNESS,
    Criterion,
)
from arena.metaevaluation.wikieval.pairs import Pair
from arena.prompts.fences import fence_code
from arena.prompts.templates import PromptTemplate, packaged_prompt

SCORE = "gpt-score.v1"
RANKING = "gpt-ranking.v1"

DEFINITIONS = MappingProxyType[Criterion, str](
    {
        FAITHFULNESS: "Faithfulness means that the answer says only what the context says. Each "
        "claim of the answer that cannot be deduced from the context makes it less faithful.",
        ANSWER_RELEVANCE: "Answer relevance means that the answer addresses the question, "
        "directly and fittingly. Whether it is true does not count. An answer that leaves out "
        "part of what is asked, or says more than is asked, is less relevant.",
        CONTEXT_RELEVANCE: "Context relevance means that the context holds what it takes to "
        "answer the question, and nothing else. Each piece of information in the context that "
        "the answer does not need makes it less relevant.",
    }
)

_PACKAGE = "arena.metaevaluation.wikieval"
_VARIABLES = ("code", "quality", "definition", "question", "context", "kind", "text", "other")


def score_prompt(pair: Pair, text: str) -> Prompt:
    """Ask for a score from 0 to 10 of one text of a pair."""
    return _prompt(SCORE, pair, text, "")


def ranking_prompt(pair: Pair) -> Prompt:
    """Ask which text of a pair is the better one."""
    return _prompt(RANKING, pair, pair.first, pair.second)


def prompt_version(name: str) -> str:
    """Return name and digest of ``SCORE`` or ``RANKING``."""
    return _template(name).version


def _template(name: str) -> PromptTemplate:
    return packaged_prompt(_PACKAGE, name, _VARIABLES)


def _prompt(name: str, pair: Pair, text: str, other: str) -> Prompt:
    template = _template(name)
    # As in the paper, faithfulness is judged by the context, relevance by the question.
    question = "" if pair.criterion == FAITHFULNESS else pair.question
    context = pair.context or ""
    values = {
        "code": fence_code(question, context, text, other),
        "quality": pair.criterion.replace("_", " "),
        "definition": DEFINITIONS[pair.criterion],
        "question": question,
        "context": context,
        "kind": COMPARED[pair.criterion],
        "text": text,
        "other": other,
    }
    return Prompt.of(template.fill(values), version=template.version)
