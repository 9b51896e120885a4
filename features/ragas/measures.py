"""The formulas of section 3, over what an LLM replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from arena.llm.failures import UnparsableError
from arena.llm.outcomes import Outcome
from arena.llm.settings import ModelSettings
from features.cosines import cosines
from features.missing import Missing
from features.models.scorer import Scorer
from features.ragas.asking import Asker
from features.ragas.prompting import (
    question_prompt,
    sentences_prompt,
    statements_prompt,
    verdicts_prompt,
)
from features.ragas.reasons import (
    INSUFFICIENT_INFORMATION,
    NO_STATEMENTS_FOUND,
    NO_USABLE_REPLY,
    Measured,
    reason_for,
)
from features.ragas.replies import (
    count_copied,
    find_verdicts,
    read_question,
    read_statements,
    read_whole,
)
from features.sentences import split_sentences

TEMPERATURE = 0.7
"""Temperature at which several questions are asked for, so that they differ."""


@dataclass(frozen=True, slots=True)
class GroundedAnswer:
    """An answer, its question, and the passages it should rest on."""

    question: str
    answer: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskedContext:
    """Passages that were found for a question."""

    language: str
    question: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """An answer and its question; how many questions are made of it, and what stands before them.

    Attributes:
        question: The question.
        answer: The answer.
        count: Questions to make.
        prefix: Text before every question that is embedded.
    """

    question: str
    answer: str
    count: int
    prefix: str


def faithfulness(asker: Asker, answers: Sequence[GroundedAnswer]) -> list[Measured]:
    """Return the share of each answer's statements that its passages support.

    ``F = |V| / |S|``: S are the statements that the LLM makes of the answer, V those of them that
    it calls supported by the passages.
    """
    stated = asker.ask(
        [statements_prompt(each.question, each.answer) for each in answers], read_statements
    )
    prompts = [
        verdicts_prompt(each.passages, outcome.value)
        for each, outcome in zip(answers, stated, strict=True)
        if outcome.value
    ]
    checked = iter(asker.ask(prompts, read_whole))
    return [
        _share_supported(outcome.value, next(checked)) if outcome.value else _unstated(outcome)
        for outcome in stated
    ]


def context_relevance(asker: Asker, contexts: Sequence[AskedContext]) -> list[Measured]:
    """Return the share of each context's sentences that the LLM extracts as needed.

    ``CR = extracted sentences / sentences``. Where the LLM says that the information is
    insufficient, there is no value.
    """
    prompts = [sentences_prompt(each.question, each.passages) for each in contexts]
    replies = asker.ask(prompts, read_whole)
    return [_share_copied(each, reply) for each, reply in zip(contexts, replies, strict=True)]


def answer_relevance(
    asker: Asker, answers: Sequence[AskedAnswer], embedder: Scorer
) -> list[Measured]:
    """Return the mean cosine of each question with questions that the LLM makes of its answer.

    ``AR = (1/n) * sum of sim(q, q_i)``. A single question is asked for as the settings say;
    several are asked for at ``TEMPERATURE``, each with a seed of its own. Where one of them fails,
    there is no value.
    """
    made: list[list[Outcome[str]]] = [[] for _ in answers]
    for number in range(max((each.count for each in answers), default=0)):
        for is_one in (True, False):
            places = [
                place
                for place, each in enumerate(answers)
                if each.count > number and (each.count == 1) == is_one
            ]
            settings = None if is_one else _varied(asker.settings, number)
            prompts = [question_prompt(answers[place].answer) for place in places]
            for place, outcome in zip(
                places, asker.ask(prompts, read_question, settings), strict=True
            ):
                made[place].append(outcome)
    return [
        _similarity(each, outcomes, embedder) for each, outcomes in zip(answers, made, strict=True)
    ]


def _unstated(outcome: Outcome[list[str]]) -> Missing:
    return NO_STATEMENTS_FOUND if outcome.value == [] else reason_for(outcome.failure)


def _share_supported(statements: Sequence[str], reply: Outcome[str]) -> Measured:
    if reply.value is None:
        return reason_for(reply.failure)
    try:
        verdicts = find_verdicts(reply.value, len(statements))
    except UnparsableError:
        return NO_USABLE_REPLY
    return sum(verdicts) / len(verdicts)


def _share_copied(context: AskedContext, reply: Outcome[str]) -> Measured:
    if reply.value is None:
        return reason_for(reply.failure)
    sentences = [
        sentence
        for text in context.passages
        for sentence in split_sentences(text, context.language)
    ]
    try:
        copied = count_copied(reply.value, sentences)
    except UnparsableError:
        return NO_USABLE_REPLY
    return copied / len(sentences) if copied else INSUFFICIENT_INFORMATION


def _varied(settings: ModelSettings, number: int) -> ModelSettings:
    return replace(settings, temperature=TEMPERATURE, seed=number)


def _similarity(
    answer: AskedAnswer, outcomes: Sequence[Outcome[str]], embedder: Scorer
) -> Measured:
    failed = [each for each in outcomes if each.value is None]
    if failed:
        return reason_for(failed[0].failure)
    texts = [answer.question, *(each.value or "" for each in outcomes)]
    vectors = embedder.score([(answer.prefix + text,) for text in texts])
    return float(cosines(vectors).mean())
