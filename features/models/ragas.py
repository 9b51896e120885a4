"""Qualities of answers and passages by an LLM (Ragas; Es et al., 2023)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files

import numpy as np

from arena.llm.prompts import NO_TEMPLATES, ReplaceablePrompt, Templates, Variable, delimiter_code
from arena.llm.replies import UNPARSABLE, Reply, UnparsableError
from arena.llm.requests import Message, Prompt, canonical_json, digest
from features.declare.feature import Item, Value
from features.models import scorer
from features.models.embedders import EndpointEmbedder, cosines, load_embedder
from features.models.llm_items import (
    AnswerRelevanceItem,
    ContextRelevanceItem,
    FaithfulnessItem,
    LlmItem,
)
from features.models.llm_scorer import (
    CODE_VARIABLE,
    RATING_PROMPTS,
    EndpointModel,
    LlmScorer,
    Measure,
    endpoint_model,
    reason_for,
)
from features.models.model_folder import ENDPOINT
from features.models.options import ModelOptions
from features.models.ragas_replies import (
    count_copied,
    find_verdicts,
    read_question,
    read_statements,
    read_whole,
)
from features.models.scorer import Scorer, named_models
from features.text.sentences import split_sentences

MAX_TOKENS = 2048
"""Maximum tokens of a reply: it may copy much of the context."""
TEMPERATURE = 0.7
"""Temperature for several questions to one answer, so that they differ."""

Shown = Mapping[str, str | Sequence[str]]
"""Values of a template, without the code of its delimiters."""

_QUESTION_TO_ANSWER = Variable("the question", "samplequestion")
_ANSWER = Variable("the answer", "sampleanswer", True)
_PASSAGES = Variable("list of the passages' texts", ("samplepart one", "samplepart two"))
_CONTEXT = Variable("the same as one text", "samplepart one\n\nsamplepart two", True)


def _prompt_of(
    name: str, asks: str, reply: str, variables: Mapping[str, Variable]
) -> ReplaceablePrompt:
    return ReplaceablePrompt(
        name=name,
        asks=asks,
        reply=reply,
        variables={**variables, "code": CODE_VARIABLE},
        package="features.models",
        packaged_name=f"{name}.v1",
    )


STATEMENTS = _prompt_of(
    name="statements",
    asks="The statements that an answer makes (Ragas, section 3)",
    reply="its numbered or bulleted lines, or all lines; NONE",
    variables={"question": _QUESTION_TO_ANSWER, "answer": _ANSWER},
)
VERDICTS = _prompt_of(
    name="verdicts",
    asks="Which statements the passages support (Ragas, section 3)",
    reply="1: Yes per line, Verdict: Yes per statement, or Yes and No in order after Final verdict",
    variables={
        "passages": _PASSAGES,
        "context": _CONTEXT,
        "statements": Variable("list of the statements", ("sampleone", "sampletwo"), True),
    },
)
QUESTION = _prompt_of(
    name="question",
    asks="A question that an answer answers (Ragas, section 3)",
    reply="its first line, without a label",
    variables={"answer": _ANSWER},
)
SENTENCES = _prompt_of(
    name="sentences",
    asks="The sentences of the passages that help to answer a question (Ragas, section 3)",
    reply="sentences copied from the passages, or Insufficient Information",
    variables={
        "question": Variable("the question", "samplequestion", True),
        "passages": _PASSAGES,
        "context": _CONTEXT,
    },
)
RAGAS_PROMPTS = (STATEMENTS, VERDICTS, QUESTION, SENTENCES)
"""Those of the paper."""
FEATURE_PROMPTS = (*RATING_PROMPTS, *RAGAS_PROMPTS)
"""Prompts of features that a user's templates may replace; see ``arena.llm.prompts``."""


def load_ragas(model: str, options: ModelOptions) -> LlmScorer:
    """Prepare calls to a model; none is sent yet."""
    llm, embedder = named_models(model)
    measures: dict[type[LlmItem], Measure] = {
        AnswerRelevanceItem: partial(answer_relevance, embedder, options),
        FaithfulnessItem: faithfulness,
        ContextRelevanceItem: context_relevance,
    }
    return LlmScorer(endpoint_model(llm, options, MAX_TOKENS), measures)


def faithfulness(llm: EndpointModel, items: Sequence[FaithfulnessItem]) -> list[Value]:
    """Return the share of each answer's statements that its passages support.

    ``F = |V| / |S|`` (section 3): the LLM makes statements S, and calls V of them supported.
    """

    def statements_prompt(item: FaithfulnessItem) -> Prompt:
        shown = {"question": item.question, "answer": item.answer}
        return _filled_prompt(llm, STATEMENTS, item.template, shown)

    def verdicts_prompt(row: tuple[FaithfulnessItem, list[str]]) -> Prompt:
        item, statements = row
        shown = {"passages": list(item.passages), "statements": statements}
        return _filled_prompt(llm, VERDICTS, item.template, shown)

    cut = llm.ask(items, statements_prompt, read_statements)
    rows = [(item, reply.value) for item, reply in cut if reply.value]
    judged = llm.ask(rows, verdicts_prompt, read_whole)
    # Only answers with statements got a second prompt; their replies come in the same order.
    verdict_replies = iter(judged.replies)
    values: list[Value] = []
    for reply in cut.replies:
        if not reply.value:
            is_empty = reply.reason is None  # the LLM replied that there are no statements
            values.append(scorer.NO_STATEMENTS_FOUND if is_empty else reason_for(reply))
            continue
        verdict_reply = next(verdict_replies)
        if verdict_reply.value is None:
            values.append(reason_for(verdict_reply))
            continue
        try:
            is_supported = find_verdicts(verdict_reply.value, len(reply.value))
        except UnparsableError as error:
            judged.usage.count_failure(UNPARSABLE, 1, str(error))
            values.append(scorer.NO_USABLE_REPLY)
            continue
        values.append(float(np.mean(is_supported)))
    return values


def context_relevance(llm: EndpointModel, items: Sequence[ContextRelevanceItem]) -> list[Value]:
    """Return the extracted share of each context's sentences.

    ``CR = extracted sentences / sentences`` (section 3): 0 where information is insufficient.
    """

    def prompt(item: ContextRelevanceItem) -> Prompt:
        shown: Shown = {"question": item.question, "passages": list(item.passages)}
        return _filled_prompt(llm, SENTENCES, item.template, shown)

    answered = llm.ask(items, prompt, read_whole)
    values: list[Value] = []
    for item, reply in answered:
        if reply.value is None:
            values.append(reason_for(reply))
            continue
        sentences: list[str] = []
        for passage in item.passages:
            sentences += split_sentences(passage, item.language)
        try:
            n_copied = count_copied(reply.value, sentences)
        except UnparsableError as error:
            answered.usage.count_failure(UNPARSABLE, 1, str(error))
            values.append(scorer.NO_USABLE_REPLY)
            continue
        values.append(n_copied / len(sentences) if n_copied else 0.0)
    return values


def answer_relevance(
    embedder_name: str,
    options: ModelOptions,
    llm: EndpointModel,
    items: Sequence[AnswerRelevanceItem],
) -> list[Value]:
    """Return each question's mean cosine with those made of its answer.

    ``AR = (1/n) * sum of sim(q, q_i)`` (section 3). One question is made at temperature 0, several
    at ``TEMPERATURE``, each with its own seed. All must succeed.
    """
    # Before the LLM is paid.
    embedder: Scorer
    if embedder_name.startswith(ENDPOINT):
        embedder = EndpointEmbedder.of(llm, embedder_name)
    else:
        embedder = load_embedder(embedder_name, options)
    texts: list[Item] = []
    ends: list[int] = []
    failures: list[Reply[str] | None] = []
    for item, replies in zip(items, _questions(llm, items), strict=True):
        failure = next((reply for reply in replies if reply.value is None), None)
        failures.append(failure)
        if failure is None:
            texts.append((f"{item.label}{item.question}",))
            texts += [(f"{item.label}{reply.value}",) for reply in replies]
        ends.append(len(texts))
    vectors = embedder.score(texts)
    values: list[Value] = []
    for start, end, failure in zip([0, *ends], ends, failures, strict=False):
        if failure is not None:
            values.append(reason_for(failure))
            continue
        mean = float(cosines(vectors[start:end]).mean())
        # A vector of NaN is one that the endpoint did not give.
        values.append(scorer.NOT_REACHED if np.isnan(mean) else mean)
    return values


def _questions(llm: EndpointModel, items: Sequence[AnswerRelevanceItem]) -> list[list[Reply[str]]]:
    replies: list[list[Reply[str]]] = [[] for _ in items]
    counts = [item.n_questions for item in items]
    for count in set(counts):
        indices = [index for index, n_questions in enumerate(counts) if n_questions == count]
        rows = [items[index] for index in indices]
        for number in range(count):
            settings = llm.settings
            purpose = ""
            if count > 1:
                # Prompts that differ in their purpose do not share a reply of the store.
                purpose = f"question {number + 1}"
                if "temperature" not in llm.user_settings:
                    settings = settings.model_copy(update={"temperature": TEMPERATURE})
                if "seed" not in settings.body:
                    settings = settings.sending(seed=number)
            prompt = partial(_question_prompt, llm, purpose)
            answered = llm.ask(rows, prompt, read_question, settings)
            for index, reply in zip(indices, answered.replies, strict=True):
                replies[index].append(reply)
    return replies


def _question_prompt(llm: EndpointModel, purpose: str, item: AnswerRelevanceItem) -> Prompt:
    prompt = _filled_prompt(llm, QUESTION, item.template, {"answer": item.answer})
    return replace(prompt, purpose=purpose)


def _filled_prompt(
    llm: EndpointModel, prompt: ReplaceablePrompt, signature: str, shown: Shown
) -> Prompt:
    templates = llm.templates.for_signature(signature)
    messages = [Message("user", _filled(prompt, templates, shown))]
    demonstration = _demonstration(prompt, templates)
    if demonstration is not None:
        example, reply = demonstration
        example_message = Message("user", _filled(prompt, templates, example))
        messages = [example_message, Message("assistant", reply), *messages]
    return Prompt(tuple(messages), versions(prompt, templates=templates))


def versions(*prompts: ReplaceablePrompt, templates: Templates = NO_TEMPLATES) -> str:
    """Return names and digests of templates and their demonstrations."""
    texts: list[str] = []
    for prompt in prompts:
        version = templates.of(prompt).version
        demonstration = _demonstration(prompt, templates)
        if demonstration is not None:
            version += f"+example@{digest(canonical_json(demonstration))[:12]}"
        texts.append(version)
    return "+".join(texts)


@cache
def _demonstrations() -> dict[str, tuple[Shown, str]]:
    path = files("features.models").joinpath("prompts", "demonstrations.v1.json")
    demonstrations: dict[str, tuple[Shown, str]] = json.loads(path.read_text(encoding="utf-8"))
    return demonstrations


def _demonstration(prompt: ReplaceablePrompt, templates: Templates) -> tuple[Shown, str] | None:
    # A user's template is sent as it is: an example would show a form that it may not ask for.
    if templates.replacing(prompt):
        return None
    return _demonstrations().get(prompt.name)


def _filled(prompt: ReplaceablePrompt, templates: Templates, shown: Shown) -> str:
    """Fill a template, other texts between delimiters that they cannot forge."""
    texts: list[str] = []
    for value in shown.values():
        texts += [value] if isinstance(value, str) else value
    values: dict[str, object] = {"code": delimiter_code(*texts), **shown}
    if "passages" in shown:
        values["context"] = "\n\n".join(shown["passages"])
    return templates.of(prompt).fill(values)
