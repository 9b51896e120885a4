"""Asking an LLM in stages, each prompt kept and paid for once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from rapidfuzz.fuzz import ratio

from arena.llm.client import complete
from arena.llm.replies import OVER_BUDGET, PASSING, Completion, Outcome, UnparsableError
from arena.llm.settings import Endpoint, Message, ModelSettings, Prompt, canonical_json, digest
from arena.llm.store import open_store
from arena.llm.usage import Usage
from arena.text.prompts import PromptTemplate, fence_code, packaged_prompt
from features.declare.feature import Item, Scores
from features.declare.sample import Missing
from features.models.embedder import cosines, load_embedder
from features.models.llm_scorer import load_llm
from features.models.scorer import ModelOptions, Scorer
from features.text.sentences import split_sentences

if TYPE_CHECKING:
    from arena.llm.store import Store

T = TypeVar("T")


@dataclass
class Asker:
    """Asks one model, stage after stage.

    Attributes:
        settings: The model.
        endpoint: Where it is asked.
        store: Where replies are kept.
        calls_left: Most prompts still to send; None for any number.
        progress: Called with the prompts done and all of a stage.
        usages: What each stage asked and used.
    """

    settings: ModelSettings
    endpoint: Endpoint
    store: Store
    calls_left: int | None = None
    progress: Callable[[int, int], None] | None = None
    usages: list[Usage] = field(default_factory=list)

    def ask(
        self,
        prompts: Sequence[Prompt],
        parse: Callable[[Completion], T],
        settings: ModelSettings | None = None,
    ) -> list[Outcome[T]]:
        """Ask prompts, in their order.

        Raises:
            UsageError: If the endpoint cannot be used.
            MissingDependencyError: If the extra ``llm`` is not installed.
        """
        if not prompts:
            return []
        run = complete(
            prompts,
            settings or self.settings,
            endpoint=self.endpoint,
            store=self.store,
            parse=parse,
            max_calls=self.calls_left,
        )
        self.usages.append(run.usage)
        outcomes: list[Outcome[T]] = []
        with run:
            for outcome in run:
                outcomes.append(outcome)
                if self.progress is not None:
                    self.progress(len(outcomes), len(prompts))
        self._count(outcomes)
        return outcomes

    def _count(self, outcomes: Sequence[Outcome[T]]) -> None:
        if self.calls_left is not None:
            sent = sum(not each.from_store and each.failure != OVER_BUDGET for each in outcomes)
            self.calls_left = max(self.calls_left - sent, 0)


@dataclass(frozen=True)
class Demonstration:
    """A turn of a conversation that shows what is asked for.

    Attributes:
        values: Values of the template, without the code of its fences.
        reply: What a model should reply.
    """

    values: Mapping[str, str | Sequence[str]]
    reply: str

    @property
    def version(self) -> str:
        """A digest of what is shown."""
        return f"example@{digest(canonical_json([dict(self.values), self.reply]))[:12]}"


STATEMENTS = "statements.v1"
VERDICTS = "verdicts.v1"
QUESTION = "question.v1"
SENTENCES = "sentences.v1"

_STATED = Demonstration(
    {
        "question": "Who was Marie Curie?",
        "answer": "She was a physicist born in Warsaw, and she won two Nobel Prizes.",
    },
    "1. Marie Curie was a physicist.\n"
    "2. Marie Curie was born in Warsaw.\n"
    "3. Marie Curie won two Nobel Prizes.",
)
_JUDGED = Demonstration(
    {
        "passages": ["Marie Curie studied radiation. She was born in Warsaw and moved to Paris."],
        "statements": [
            "Marie Curie was born in Warsaw.",
            "Marie Curie won two Nobel Prizes.",
            "Marie Curie lived in Paris.",
        ],
    },
    "1. The context says that she was born in Warsaw.\n"
    "2. The context does not mention prizes.\n"
    "3. The context says that she moved to Paris.\n"
    "FINAL VERDICTS\n"
    "1: Yes\n"
    "2: No\n"
    "3: Yes",
)
_ASKED = Demonstration(
    {"answer": "Marie Curie was born in Warsaw, on 7 November 1867."},
    "Where and when was Marie Curie born?",
)
_DEMONSTRATIONS = MappingProxyType({STATEMENTS: _STATED, VERDICTS: _JUDGED, QUESTION: _ASKED})

_VARIABLES = ("code", "question", "answer", "passages", "statements")


def statements_prompt(question: str, answer: str) -> Prompt:
    """Ask for the statements that an answer makes."""
    return _prompt(STATEMENTS, {"question": question, "answer": answer})


def verdicts_prompt(passages: Sequence[str], statements: Sequence[str]) -> Prompt:
    """Ask which statements the context supports."""
    return _prompt(VERDICTS, {"passages": passages, "statements": statements})


def question_prompt(answer: str) -> Prompt:
    """Ask for a question that an answer answers."""
    return _prompt(QUESTION, {"answer": answer})


def sentences_prompt(question: str, passages: Sequence[str]) -> Prompt:
    """Ask for the sentences of the context that it takes to answer a question."""
    return _prompt(SENTENCES, {"question": question, "passages": passages})


def versions(*names: str) -> str:
    """Return names and digests of templates, and of the demonstrations that go with them."""
    return "+".join(_version(name) for name in names)


def _version(name: str) -> str:
    shown = _DEMONSTRATIONS.get(name)
    own = _template(name).version
    return own if shown is None else f"{own}+{shown.version}"


def _template(name: str) -> PromptTemplate:
    return packaged_prompt("features.models", name, _VARIABLES)


def _prompt(name: str, values: Mapping[str, str | Sequence[str]]) -> Prompt:
    task = Message("user", _filled(name, values))
    shown = _DEMONSTRATIONS.get(name)
    if shown is None:
        return Prompt((task,), _version(name))
    example = Message("user", _filled(name, shown.values))
    return Prompt((example, Message("assistant", shown.reply), task), _version(name))


def _filled(name: str, values: Mapping[str, str | Sequence[str]]) -> str:
    """Fill a template, each text of others between fences that it cannot forge."""
    texts = [
        text for value in values.values() for text in ([value] if isinstance(value, str) else value)
    ]
    return _template(name).fill({"code": fence_code(*texts), **values})


INSUFFICIENT = "insufficient information"
NONE = "none"

ALIKE = 90.0
"""Percent of characters that must agree for a line to count as a copy of a sentence."""

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_ITEM = re.compile(
    r"(?:[-*•]|\(?\d{1,3}[.):]|statement\s{0,3}\d{0,3}\s{0,3}:)\s{1,8}", re.IGNORECASE
)
_MARKS = re.compile(r"[*_`\"“”]")
_VERDICT = re.compile(
    r"^\W{0,6}(?:statement\W{1,3})?(\d{1,3})\W{1,6}(?:verdict\W{1,4})?"
    r"(yes|no)(?=\W{0,6}$|[*_]{0,3}\s?[.,;:(–—-])",
    re.IGNORECASE | re.MULTILINE,
)
_FINAL = re.compile(r"final\s{1,3}verdicts?", re.IGNORECASE)
_YES_OR_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_LABEL = re.compile(r"\W{0,4}question\s{0,3}\d{0,3}\s{0,3}:\W{0,4}", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def read_statements(completion: Completion) -> list[str]:
    """Read the statements of a reply: its numbered or bulleted lines, or all lines without any.

    Returns:
        Statements; none if the reply says that there are none.

    Raises:
        UnparsableError: If the reply was cut off or holds no words.
    """
    lines = _lines(read_whole(completion))
    if [_folded(line) for line in lines] == [NONE]:
        return []
    items = [line[found.end() :] for line in lines if (found := _ITEM.match(line))]
    statements = [text.strip() for text in items or lines if _WORD.search(text)]
    if not statements:
        raise UnparsableError("the reply holds no statement")
    return statements


def read_whole(completion: Completion) -> str:
    """Return the reply without thoughts.

    Raises:
        UnparsableError: If it was cut off.
    """
    if completion.finish_reason == "length":
        raise UnparsableError("the reply was cut off")
    return _THOUGHTS.sub(" ", completion.text or "")


def find_verdicts(text: str, count: int) -> list[bool]:
    """Find a verdict for each of so many statements.

    The last line of a number that says Yes or No counts; or else, after the words FINAL VERDICTS,
    as many Yes and No as there are statements.

    Raises:
        UnparsableError: If a statement has no verdict.
    """
    final = list(_FINAL.finditer(text))
    stated = text[final[-1].end() :] if final else text
    found = {
        int(number): verdict.casefold() == "yes" for number, verdict in _VERDICT.findall(stated)
    }
    if set(range(1, count + 1)) <= set(found):
        return [found[number] for number in range(1, count + 1)]
    in_order = [word.casefold() == "yes" for word in _YES_OR_NO.findall(stated)]
    if final and not found and len(in_order) == count:
        return in_order
    raise UnparsableError(f"the reply has no verdict on each of {count} statements")


def read_question(completion: Completion) -> str:
    """Read the question of a reply: its first line with words, without a label.

    Raises:
        UnparsableError: If there is none.
    """
    for line in _lines(_THOUGHTS.sub(" ", completion.text or "")):
        question = _LABEL.sub("", line, count=1) if _LABEL.match(line) else line
        question = _MARKS.sub("", question).strip()
        if _WORD.search(question):
            return question
    raise UnparsableError("the reply holds no question")


def count_copied(text: str, sentences: Sequence[str]) -> int:
    """Count the sentences of the context that a reply copies.

    A sentence is copied if its words stand in the reply in a row, or a line of it is nearly the
    same. What the reply says besides is no sentence of the context, and does not count.

    Returns:
        0 if the reply says that the information is insufficient.

    Raises:
        UnparsableError: If the reply copies nothing and does not say so.
    """
    lines = [words for line in _lines(text) if (words := _folded(line))]
    whole = f" {' '.join(lines)} "
    copied = sum(_is_copied(_folded(sentence), whole, lines) for sentence in sentences)
    if not copied and INSUFFICIENT not in whole:
        raise UnparsableError("the reply copies no sentence of the context")
    return copied


def _is_copied(sentence: str, whole: str, lines: Sequence[str]) -> bool:
    if not sentence:
        return False
    return f" {sentence} " in whole or any(
        ratio(sentence, line, score_cutoff=ALIKE) >= ALIKE for line in lines
    )


def _lines(text: str) -> list[str]:
    return [line for part in text.splitlines() if (line := part.strip())]


def _folded(text: str) -> str:
    """Return the words of a text, case-folded, with one space between them."""
    return " ".join(_WORD.findall(text.casefold()))


FAITHFULNESS = "faithfulness"
ANSWER_RELEVANCE = "answer_relevance"
CONTEXT_RELEVANCE = "context_relevance"

EMBEDDER = "intfloat/multilingual-e5-small"
"""Embeds questions unless another is named; the same as that of the similarity features."""

_WITH = " with "


def faithfulness_item(question: str, answer: str, passages: tuple[str, ...]) -> Item:
    """Write down an answer that is held against passages."""
    return FAITHFULNESS, question, answer, *passages


def context_item(language: str, question: str, passages: tuple[str, ...]) -> Item:
    """Write down passages that are held against a question; the language cuts sentences."""
    return CONTEXT_RELEVANCE, language, question, *passages


def answer_item(count: int, prefix: str, question: str, answer: str) -> Item:
    """Write down an answer that is held against its question.

    Args:
        count: Questions that are made of the answer.
        prefix: ``query`` or ``none``: what is written before questions that are embedded.
        question: The question.
        answer: The answer.
    """
    before = "" if prefix == "none" else f"{prefix}: "
    return ANSWER_RELEVANCE, str(count), before, question, answer


def named_models(model: str) -> tuple[str, str]:
    """Return the LLM and the embedding model of a name such as ``gpt-4o with my/embedder``.

    A name without `` with `` is that of the LLM; questions are embedded by ``EMBEDDER`` then.
    """
    llm, _, embedder = model.partition(_WITH)
    return llm.strip(), embedder.strip() or EMBEDDER


NO_STATEMENTS_FOUND = Missing("the LLM finds no statement in the answer")
INSUFFICIENT_INFORMATION = Missing("the LLM finds no sentence that helps to answer")
NO_USABLE_REPLY = Missing("no usable reply by the LLM")
NOT_REACHED = Missing("the LLM was not reached")

REASONS = (NO_STATEMENTS_FOUND, INSUFFICIENT_INFORMATION, NO_USABLE_REPLY, NOT_REACHED)

Measured = float | Missing


def reason_for(failure: str | None) -> Missing:
    """Return why there is no value, of how a call failed (see ``arena.llm.failures``)."""
    return NOT_REACHED if failure in PASSING | {OVER_BUDGET} else NO_USABLE_REPLY


def as_scores(found: list[Measured]) -> Scores:
    """Write values as rows of value and number of the reason, 0 for none; shape (items, 2)."""
    rows = [
        (np.nan, 1 + REASONS.index(each)) if isinstance(each, Missing) else (each, 0)
        for each in found
    ]
    return np.array(rows, dtype=np.float32).reshape(len(rows), 2)


def from_scores(row: Scores) -> Measured:
    """Read one row of ``as_scores``."""
    value, reason = float(row[0]), int(row[1])
    return REASONS[reason - 1] if reason else value


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


MAX_TOKENS = 2048
"""Most tokens of a reply: it may copy much of the context."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class EndpointModel:
    """An LLM, where it is asked, and where its replies are kept.

    Attributes:
        settings: The model.
        endpoint: Where it is asked.
        store: Where replies are kept.
        max_calls: Most prompts to send for one call of ``score``; None for any number.
        progress: Called with the prompts done and all of a stage.
        usages: What was asked and used; grows as the model is at work.
    """

    settings: ModelSettings
    endpoint: Endpoint
    store: str
    max_calls: int | None = None
    progress: Progress | None = field(default=None, repr=False)
    usages: list[Usage] = field(default_factory=list, repr=False, compare=False)

    @contextmanager
    def opened(self) -> Iterator[Asker]:
        """Open the store, and ask."""
        with open_store(self.store) as store:
            yield Asker(
                self.settings, self.endpoint, store, self.max_calls, self.progress, self.usages
            )

    @property
    def signature(self) -> str:
        """What replies depend on beside the prompts; not where the model is asked."""
        settings = self.settings
        return (
            f"{settings.model}|temperature:{settings.temperature}|max_tokens:{settings.max_tokens}"
        )


@dataclass(frozen=True)
class TextQualities:
    """Measures faithfulness and context relevance, shape (items, 2): value, number of a reason.

    Attributes:
        llm: The LLM.
    """

    llm: EndpointModel

    @property
    def device(self) -> str:
        """``endpoint``: the calls are made by one process, many at a time."""
        return "endpoint"

    @property
    def signature(self) -> str:
        """Model, prompts, settings."""
        return f"ragas:{self.llm.signature}|{versions(STATEMENTS, VERDICTS, SENTENCES)}"

    def score(self, items: Sequence[Item]) -> Scores:
        """Measure items of ``features.ragas.items``.

        Raises:
            UsageError: If the endpoint or the store cannot be used.
            MissingDependencyError: If the extra ``llm`` is not installed.
        """
        scores = np.empty((len(items), 2), dtype=np.float32)
        answers = [place for place, item in enumerate(items) if item[0] == FAITHFULNESS]
        contexts = [place for place, item in enumerate(items) if item[0] == CONTEXT_RELEVANCE]
        with self.llm.opened() as asker:
            scores[answers] = as_scores(
                faithfulness(asker, [_grounded(items[place]) for place in answers])
            )
            scores[contexts] = as_scores(
                context_relevance(asker, [_asked(items[place]) for place in contexts])
            )
        return scores


@dataclass(frozen=True)
class QuestionSimilarity:
    """Measures answer relevance, shape (items, 2): value, number of a reason.

    Attributes:
        llm: The LLM that makes questions of answers.
        embedder: Folder or name of the model that embeds questions.
        options: How that is run.
    """

    llm: EndpointModel
    embedder: str
    options: ModelOptions

    @cached_property
    def loaded(self) -> Scorer:
        """The embedding model.

        Raises:
            UsageError: See ``features.models.load_scorer``.
            MissingDependencyError: If a package it needs is not installed.
        """
        return load_embedder(self.embedder, self.options)

    @property
    def device(self) -> str:
        """``endpoint``: the calls are made by one process, many at a time."""
        return "endpoint"

    @property
    def signature(self) -> str:
        """Both models, the prompt, settings."""
        return (
            f"ragas-questions:{self.llm.signature}|several:{TEMPERATURE}|{versions(QUESTION)}"
            f"|{self.loaded.signature}"
        )

    def score(self, items: Sequence[Item]) -> Scores:
        """Measure items of ``features.ragas.items``; see ``TextQualities.score``."""
        with self.llm.opened() as asker:
            found = answer_relevance(asker, [_answered(item) for item in items], self.loaded)
        return as_scores(found)


def load_ragas(model: str, options: ModelOptions) -> TextQualities:
    """Make ready to ask a model about faithfulness and context relevance.

    Args:
        model: Its name at the endpoint.
        options: Endpoint and store; see ``features.models.llm_scorer.load_llm``.

    Raises:
        UsageError: If nothing says where replies are to be kept, or the address is none.
    """
    return TextQualities(endpoint_model(model, options))


def load_ragas_questions(model: str, options: ModelOptions) -> QuestionSimilarity:
    """Make ready to ask a model for questions, and to embed them.

    Args:
        model: ``LLM with EMBEDDER``; see ``features.ragas.items.named_models``.
        options: As ``load_ragas``; how the embedding model is run.

    Raises:
        UsageError: As ``load_ragas``.
    """
    llm, embedder = named_models(model)
    return QuestionSimilarity(endpoint_model(llm, options), embedder, options)


def endpoint_model(model: str, options: ModelOptions) -> EndpointModel:
    """Return an LLM as the options or the environment say; see ``load_ragas``."""
    rater = load_llm(model, options)
    settings = replace(rater.settings, max_tokens=MAX_TOKENS)
    return EndpointModel(settings, rater.endpoint, rater.store)


def _grounded(item: Item) -> GroundedAnswer:
    _, question, answer, *passages = item
    return GroundedAnswer(question, answer, tuple(passages))


def _asked(item: Item) -> AskedContext:
    _, language, question, *passages = item
    return AskedContext(language, question, tuple(passages))


def _answered(item: Item) -> AskedAnswer:
    _, count, prefix, question, answer = item
    return AskedAnswer(question, answer, int(count), prefix)
