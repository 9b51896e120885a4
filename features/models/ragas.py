"""Qualities of answers and passages by an LLM (Ragas; Es et al., 2023, and its package since)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from itertools import accumulate

import numpy as np

from arena.llm.llm_settings import Message, Prompt, canonical_json, digest
from arena.llm.replies import UNPARSABLE, Reply, UnparsableError
from arena.text.prompts import NO_TEMPLATES, ReplaceablePrompt, Templates, Variable, delimiter_code
from features.declare.feature import Item, Value
from features.models import scorer
from features.models.llm_scorer import (
    RATING_PROMPTS,
    EndpointEmbedder,
    EndpointModel,
    LlmScorer,
    Measure,
    endpoint_model,
    reason_for,
)
from features.models.model_folder import ENDPOINT
from features.models.ragas_replies import (
    count_copied,
    find_verdicts,
    read_question,
    read_statements,
    read_whole,
    read_yes_or_no,
)
from features.models.scorer import ModelOptions, named_models
from features.models.sentence_models import cosines, load_embedder
from features.text.sentences import split_sentences

PAPER, PACKAGE = "Ragas, section 3", "Ragas, its package"
MAX_TOKENS = 2048
"""Most tokens of a reply: it may copy much of the context."""
TEMPERATURE = 0.7
"""Temperature at which several questions are asked for, so that they differ."""
_CODE = Variable("code for delimiters; found in none of the texts", "samplecode")
_ANSWERED = {
    "question": Variable("the question", "samplequestion"),
    "answer": Variable("the answer", "sampleanswer", True),
}
_SHOWN = {
    "passages": Variable("list of the passages' texts", ("samplepart one", "samplepart two")),
    "context": Variable("the same as one text", "samplepart one\n\nsamplepart two", True),
}
_YES_OR_NO = "the last Verdict: Yes or No"
Shown = Mapping[str, str | Sequence[str]]
"""Values of a template, without the code of its delimiters."""
DEMONSTRATIONS = "demonstrations.v1.json"
"""What is shown before the packaged prompts, and replied, by prompt; a user's template is sent as
it is."""


def _asking(
    name: str, asks: str, reply: str, source: str = PAPER, /, **variables: Variable
) -> ReplaceablePrompt:
    meaning = f"{asks} ({source})"
    known = {**variables, "code": _CODE}
    return ReplaceablePrompt(name, meaning, reply, known, "features.models", f"{name}.v1")


STATEMENTS = _asking(
    *("statements", "The statements that an answer makes"),
    "its numbered or bulleted lines, or all lines; NONE",
    **_ANSWERED,
)
VERDICTS = _asking(
    *("verdicts", "Which statements the passages support"),
    "1: Yes a line, Verdict: Yes a statement, or Yes and No in order after Final verdict",
    **_SHOWN,
    statements=Variable("list of the statements", ("sampleone", "sampletwo"), True),
)
QUESTION = _asking(
    *("question", "A question that an answer answers", "its first line, without a label"),
    answer=_ANSWERED["answer"],
)
SENTENCES = _asking(
    *("sentences", "The sentences of the passages that help to answer a question"),
    "sentences as they stand in the passages, or Insufficient Information",
    question=Variable("the question", "samplequestion", True),
    **_SHOWN,
)
USEFUL = _asking(
    *("useful", "Whether a passage was of use in arriving at an answer", _YES_OR_NO, PACKAGE),
    **_ANSWERED,
    passage=Variable("the passage", "samplepart", True),
)
EVASIVE = _asking(
    *("evasive", "Whether an answer does not commit itself", _YES_OR_NO, PACKAGE), **_ANSWERED
)
RAGAS_PROMPTS = (STATEMENTS, VERDICTS, QUESTION, SENTENCES)
"""Those of the paper."""
FEATURE_PROMPTS = (*RATING_PROMPTS, *RAGAS_PROMPTS, USEFUL, EVASIVE)
"""Prompts of features that a user's templates may replace; see ``arena.text.prompts``."""


def load_ragas(model: str, options: ModelOptions) -> LlmScorer:
    """Make ready to ask a model about qualities.

    Args:
        model: ``LLM``, or ``LLM with EMBEDDER``; see ``named_models``.
        options: How it is asked; how the embedding model is run.

    Raises:
        UsageError: If nothing says where replies are to be kept, or the address is none.
    """
    llm, embedder = named_models(model)
    measures: dict[str, Measure] = {
        scorer.ANSWER_RELEVANCE: partial(answer_relevance, embedder, options),
        scorer.FAITHFULNESS: faithfulness,
        scorer.CONTEXT_RELEVANCE: context_relevance,
        scorer.USE: partial(verdict, USEFUL),
        scorer.EVASION: partial(verdict, EVASIVE),
    }
    return LlmScorer(endpoint_model(llm, options, MAX_TOKENS), measures)


def faithfulness(llm: EndpointModel, items: Sequence[Item]) -> list[Value]:
    """Return the share of each answer's statements that its passages support.

    ``F = |V| / |S|``: S are the statements that the LLM makes of the answer, V those of them
    that it calls supported by the passages.
    """

    def verdicts_prompt(row: tuple[Item, list[str]]) -> Prompt:
        return _prompt(llm, VERDICTS, row[0], {"passages": row[0][4:], "statements": row[1]})

    def statements_prompt(item: Item) -> Prompt:
        return _prompt(llm, STATEMENTS, item, {"question": item[2], "answer": item[3]})

    stated = llm.ask(items, statements_prompt, read_statements)
    rows = [(item, reply.value) for item, reply in stated if reply.value]
    asked = llm.ask(rows, verdicts_prompt, read_whole)
    checks = iter(asked.replies)

    def value(reply: Reply[list[str]]) -> Value:
        if not reply.value:
            return scorer.NO_STATEMENTS_FOUND if reply.reason is None else reason_for(reply)
        checked = next(checks)
        if checked.value is None:
            return reason_for(checked)
        try:
            return float(np.mean(find_verdicts(checked.value, len(reply.value))))
        except UnparsableError as error:
            asked.usage.count_failure(UNPARSABLE, 1, str(error))
            return scorer.NO_USABLE_REPLY

    return [value(reply) for reply in stated.replies]


def context_relevance(llm: EndpointModel, items: Sequence[Item]) -> list[Value]:
    """Return the share of each context's sentences that the LLM extracts as needed.

    ``CR = extracted sentences / sentences``: 0 where the LLM says that the information is
    insufficient.
    """

    def prompt(item: Item) -> Prompt:
        return _prompt(llm, SENTENCES, item, {"question": item[3], "passages": item[4:]})

    asked = llm.ask(items, prompt, read_whole)
    values: list[Value] = []
    for item, reply in asked:
        if reply.value is None:
            values.append(reason_for(reply))
            continue
        sentences = [each for text in item[4:] for each in split_sentences(text, item[2])]
        try:
            copied = count_copied(reply.value, sentences)
        except UnparsableError as error:
            asked.usage.count_failure(UNPARSABLE, 1, str(error))
            values.append(scorer.NO_USABLE_REPLY)
            continue
        values.append(copied / len(sentences) if copied else 0.0)
    return values


def answer_relevance(
    embedder: str, options: ModelOptions, llm: EndpointModel, items: Sequence[Item]
) -> list[Value]:
    """Return the mean cosine of each question with questions that the LLM makes of its answer.

    ``AR = (1/n) * sum of sim(q, q_i)``. A single question is asked for at temperature 0, several
    at ``TEMPERATURE``, each with a seed of its own; a temperature or seed that the user states is
    sent instead. Where one of them fails, there is no value.
    """
    is_local = not embedder.startswith(ENDPOINT)  # and loaded before the LLM is paid
    embeds = load_embedder(embedder, options) if is_local else EndpointEmbedder.of(llm, embedder)

    def prompt(purpose: str, item: Item) -> Prompt:
        return replace(_prompt(llm, QUESTION, item, {"answer": item[5]}), purpose=purpose)

    made: list[list[Reply[str]]] = [[] for _ in items]
    for count in {int(item[2]) for item in items}:
        places = [place for place, item in enumerate(items) if int(item[2]) == count]
        for number in range(count):
            settings, purpose = llm.settings, ""
            if count > 1:
                purpose = f"question {number + 1}"
                if "temperature" not in llm.stated:
                    settings = settings.model_copy(update={"temperature": TEMPERATURE})
                if "seed" not in settings.body:
                    settings = settings.sending(seed=number)
            rows = [items[place] for place in places]
            asked = llm.ask(rows, partial(prompt, purpose), read_question, settings)
            for place, reply in zip(places, asked.replies, strict=True):
                made[place].append(reply)
    failed = [next((each for each in of if each.value is None), None) for of in made]
    texts = [
        [] if failure else [item[3] + text for text in (item[4], *(str(r.value) for r in of))]
        for item, of, failure in zip(items, made, failed, strict=True)
    ]
    vectors = embeds.score([(text,) for of in texts for text in of])
    values: list[Value] = []
    for failure, of, end in zip(failed, texts, accumulate(map(len, texts)), strict=True):
        mean = np.nan if failure else float(cosines(vectors[end - len(of) : end]).mean())
        missing = scorer.NOT_REACHED if failure is None else reason_for(failure)
        values.append(missing if np.isnan(mean) else mean)
    return values


def verdict(prompt: ReplaceablePrompt, llm: EndpointModel, items: Sequence[Item]) -> list[Value]:
    """Return 1 where the LLM says yes, 0 where it says no."""

    def ask(item: Item) -> Prompt:
        shown = dict(zip(("question", "answer", "passage"), item[2:], strict=False))
        return _prompt(llm, prompt, item, shown)

    asked = llm.ask(items, ask, read_yes_or_no)
    return [
        reason_for(reply) if reply.value is None else float(reply.value) for reply in asked.replies
    ]


def _prompt(llm: EndpointModel, prompt: ReplaceablePrompt, item: Item, shown: Shown) -> Prompt:
    """Make a prompt, after a demonstration where the packaged template is sent."""
    templates = llm.templates.for_signature(item[1])
    fill = partial(_filled, prompt, templates)
    task, version = Message("user", fill(shown)), versions(prompt, templates=templates)
    demonstration = _demonstration(prompt, templates)
    if demonstration is None:
        return Prompt((task,), version)
    example, reply = demonstration
    return Prompt((Message("user", fill(example)), Message("assistant", reply), task), version)


def versions(*prompts: ReplaceablePrompt, templates: Templates = NO_TEMPLATES) -> str:
    """Return names and digests of templates, and of the demonstrations that go with them."""

    def version(prompt: ReplaceablePrompt) -> str:
        shown, own = _demonstration(prompt, templates), templates.of(prompt).version
        if shown is None:
            return own
        return f"{own}+example@{digest(canonical_json(shown))[:12]}"

    return "+".join(map(version, prompts))


@cache
def _demonstrations() -> dict[str, tuple[Shown, str]]:
    text = files("features.models").joinpath("prompts", DEMONSTRATIONS).read_text(encoding="utf-8")
    read: dict[str, tuple[Shown, str]] = json.loads(text)
    return read


def _demonstration(prompt: ReplaceablePrompt, templates: Templates) -> tuple[Shown, str] | None:
    return None if templates.replacing(prompt) else _demonstrations().get(prompt.name)


def _filled(prompt: ReplaceablePrompt, templates: Templates, shown: Shown) -> str:
    """Fill a template, each text of others between delimiters that it cannot forge."""
    texts = [
        text for value in shown.values() for text in ([value] if isinstance(value, str) else value)
    ]
    context = {"context": "\n\n".join(shown["passages"])} if "passages" in shown else {}
    return templates.of(prompt).fill({"code": delimiter_code(*texts), **shown, **context})
