"""Faithfulness, answer relevance and context relevance by an LLM (Ragas; Es et al., 2023)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from types import MappingProxyType
from typing import Any

import numpy as np
from rapidfuzz.fuzz import ratio

from arena.llm.replies import THOUGHTS, Completion, Reply, UnparsableError
from arena.llm.settings import Message, Prompt, canonical_json, digest
from arena.text.prompts import (
    NO_TEMPLATES,
    ReplaceablePrompt,
    Templates,
    Variable,
    delimiter_code,
)
from features.declare.feature import Item, Scores, Value
from features.declare.sample import Missing
from features.models.llm_scorer import EndpointEmbedder, EndpointModel, endpoint_model
from features.models.model_folder import ENDPOINT, find_model
from features.models.scorer import ModelOptions
from features.models.sentence_models import EMBEDDER, cosines, load_embedder
from features.text.sentences import split_sentences

FAITHFULNESS, CONTEXT_RELEVANCE, ANSWER_RELEVANCE = (
    *("faithfulness", "context_relevance"),
    "answer_relevance",
)
"""First texts of items. Template, question, answer, passages follow; of context relevance template,
language, question, passages; of answer relevance template, number of questions, what is written
before questions that are embedded, question, answer."""

NO_STATEMENTS_FOUND = Missing("the LLM finds no statement in the answer")
NO_USABLE_REPLY = Missing("no usable reply by the LLM")
NOT_REACHED = Missing("the LLM was not reached")
NOT_DEFINED = Missing("null: the metric is not defined for the answer")
REASONS = (NO_STATEMENTS_FOUND, NO_USABLE_REPLY, NOT_REACHED, NOT_DEFINED)

MAX_TOKENS = 2048
"""Most tokens of a reply: it may copy much of the context."""
TEMPERATURE = 0.7
"""Temperature at which several questions are asked for, so that they differ."""
INSUFFICIENT = "insufficient information"
NONE = "none"
ALIKE = 90.0
"""Percent of characters that must agree for a line to count as a copy of a sentence."""

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
_LABELED_VERDICT = re.compile(r"\bverdict\b\W{1,6}(yes|no)\b", re.IGNORECASE)
_HEADING = re.compile(r"\W{0,4}statements?\W{0,4}:\W{0,4}", re.IGNORECASE)
_YES_OR_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_LABEL = re.compile(r"\W{0,4}question\s{0,3}\d{0,3}\s{0,3}:\W{0,4}", re.IGNORECASE)
_WORD = re.compile(r"\w+")

_CODE = Variable("code for delimiters; found in none of the texts", "samplecode")
_ANSWER = Variable("the answer", "sampleanswer", True)
_QUESTION = Variable("the question", "samplequestion")
_PASSAGES = Variable("list of the passages' texts", ("samplepart one", "samplepart two"))
_CONTEXT = Variable("the same as one text", "samplepart one\n\nsamplepart two", True)
Shown = Mapping[str, str | Sequence[str]]
"""Values of a template, without the code of its delimiters."""
_DEMONSTRATIONS: Mapping[str, tuple[Shown, str]] = MappingProxyType(
    {
        "statements": (
            {
                "question": "Who was Marie Curie?",
                "answer": "She was a physicist born in Warsaw, and she won two Nobel Prizes.",
            },
            "1. Marie Curie was a physicist.\n2. Marie Curie was born in Warsaw.\n"
            "3. Marie Curie won two Nobel Prizes.",
        ),
        "verdicts": (
            {
                "passages": [
                    "Marie Curie studied radiation. She was born in Warsaw and moved to Paris."
                ],
                "statements": [
                    "Marie Curie was born in Warsaw.",
                    "Marie Curie won two Nobel Prizes.",
                    "Marie Curie lived in Paris.",
                ],
            },
            "1. The context says that she was born in Warsaw.\n"
            "2. The context does not mention prizes.\n"
            "3. The context says that she moved to Paris.\n"
            "FINAL VERDICTS\n1: Yes\n2: No\n3: Yes",
        ),
        "question": (
            {"answer": "Marie Curie was born in Warsaw, on 7 November 1867."},
            "Where and when was Marie Curie born?",
        ),
    }
)
"""What is shown before the packaged prompts, and replied; a user's template is sent as it is."""


def _asking(name: str, asks: str, reply: str, **variables: Variable) -> ReplaceablePrompt:
    meaning = f"{asks} (Ragas, section 3)"
    known = {**variables, "code": _CODE}
    return ReplaceablePrompt(name, meaning, reply, known, "features.models", f"{name}.v1")


STATEMENTS = _asking(
    "statements",
    "The statements that an answer makes",
    "its numbered or bulleted lines, or all lines; NONE",
    question=_QUESTION,
    answer=_ANSWER,
)
VERDICTS = _asking(
    "verdicts",
    "Which statements the passages support",
    "1: Yes a line, Verdict: Yes a statement, or Yes and No in order after Final verdict",
    passages=_PASSAGES,
    context=_CONTEXT,
    statements=Variable("list of the statements", ("sampleone", "sampletwo"), True),
)
QUESTION = _asking(
    "question",
    "A question that an answer answers",
    "its first line, without a label",
    answer=_ANSWER,
)
SENTENCES = _asking(
    "sentences",
    "The sentences of the passages that help to answer a question",
    "sentences as they stand in the passages, or Insufficient Information",
    question=Variable("the question", "samplequestion", True),
    passages=_PASSAGES,
    context=_CONTEXT,
)
RAGAS_PROMPTS = (STATEMENTS, VERDICTS, QUESTION, SENTENCES)


def named_models(model: str) -> tuple[str, str]:
    """Return the LLM and the embedding model of a name such as ``gpt-4o with my/embedder``.

    A name without `` with `` is that of the LLM; questions are embedded by ``EMBEDDER`` then.
    """
    llm, _, embedder = model.partition(" with ")
    return llm.strip(), embedder.strip() or EMBEDDER


@dataclass(frozen=True)
class RagasScorer:
    """Measures qualities of answers, shape (items, 2): value, number of a reason (0: none).

    Attributes:
        llm: The LLM.
        embedder: Folder or name of the model that embeds questions.
        options: How that is run.
    """

    llm: EndpointModel
    embedder: str
    options: ModelOptions
    signature: str | None = None

    def score(self, items: Sequence[Item]) -> Scores:
        """Measure items; see ``FAITHFULNESS``, ``CONTEXT_RELEVANCE`` and ``ANSWER_RELEVANCE``.

        Raises:
            UsageError: If the endpoint, the store or the embedding model cannot be used.
            MissingDependencyError: If a package that is needed is not installed.
        """
        is_local = not self.embedder.startswith(ENDPOINT)
        if is_local and any(item[0] == ANSWER_RELEVANCE for item in items):
            find_model(self.embedder, self.options.download)  # before the LLM is paid
        scores = np.empty((len(items), 2), dtype=np.float32)
        for name, measure in (
            (FAITHFULNESS, self.faithfulness),
            (CONTEXT_RELEVANCE, self.context_relevance),
            (ANSWER_RELEVANCE, self.answer_relevance),
        ):
            places = [place for place, item in enumerate(items) if item[0] == name]
            if places:
                values = measure([items[place] for place in places])
                scores[places] = [
                    (np.nan, 1 + REASONS.index(value)) if isinstance(value, Missing) else (value, 0)
                    for value in values
                ]
        return scores

    def faithfulness(self, items: Sequence[Item]) -> list[Value]:
        """Return the share of each answer's statements that its passages support.

        ``F = |V| / |S|``: S are the statements that the LLM makes of the answer, V those of them
        that it calls supported by the passages.
        """
        stated = self.llm.ask(items, self._statements_prompt, read_statements)
        rows = [(item, reply.value) for item, reply in stated if reply.value]
        asked = iter(self.llm.ask(rows, self._verdicts_prompt, read_whole).replies)

        def value(reply: Reply[list[str]]) -> Value:
            if not reply.value:
                return NO_STATEMENTS_FOUND if reply.reason is None else reason_for(reply)
            checked = next(asked)
            if checked.value is None:
                return reason_for(checked)
            try:
                return float(np.mean(find_verdicts(checked.value, len(reply.value))))
            except UnparsableError:
                return NO_USABLE_REPLY

        return [value(reply) for reply in stated.replies]

    def context_relevance(self, items: Sequence[Item]) -> list[Value]:
        """Return the share of each context's sentences that the LLM extracts as needed.

        ``CR = extracted sentences / sentences``: 0 where the LLM says that the information is
        insufficient.
        """

        def value(item: Item, reply: Reply[str]) -> Value:
            if reply.value is None:
                return reason_for(reply)
            sentences = [each for text in item[4:] for each in split_sentences(text, item[2])]
            try:
                copied = count_copied(reply.value, sentences)
            except UnparsableError:
                return NO_USABLE_REPLY
            return copied / len(sentences) if copied else 0.0

        asked = self.llm.ask(items, self._sentences_prompt, read_whole)
        return [value(item, reply) for item, reply in asked]

    def answer_relevance(self, items: Sequence[Item]) -> list[Value]:
        """Return the mean cosine of each question with questions that the LLM makes of its answer.

        ``AR = (1/n) * sum of sim(q, q_i)``. A single question is asked for at temperature 0,
        several at ``TEMPERATURE``, each with a seed of its own. Where one of them fails, there is
        no value.
        """
        made: list[list[Reply[str]]] = [[] for _ in items]
        for count in {int(item[2]) for item in items}:
            places = [place for place, item in enumerate(items) if int(item[2]) == count]
            for number in range(count):
                settings = self.llm.settings
                if count > 1:
                    varied = settings.model_copy(update={"temperature": TEMPERATURE})
                    settings = varied.sending(seed=number)
                rows = [items[place] for place in places]
                asked = self.llm.ask(rows, self._question_prompt, read_question, settings)
                for place, reply in zip(places, asked.replies, strict=True):
                    made[place].append(reply)
        failed = [next((each for each in of if each.value is None), None) for of in made]
        texts = [
            [] if failure else [item[3] + text for text in (item[4], *(str(r.value) for r in of))]
            for item, of, failure in zip(items, made, failed, strict=True)
        ]
        vectors = self._embed([text for of in texts for text in of])
        values: list[Value] = []
        for failure, of, end in zip(failed, texts, accumulate(map(len, texts)), strict=True):
            if failure is not None:
                values.append(reason_for(failure))
                continue
            mean = float(cosines(vectors[end - len(of) : end]).mean())
            values.append(NOT_REACHED if np.isnan(mean) else mean)
        return values

    def _embed(self, texts: Sequence[str]) -> Scores:
        if self.embedder.startswith(ENDPOINT):
            return EndpointEmbedder.of(self.llm, self.embedder).score([(text,) for text in texts])
        return load_embedder(self.embedder, self.options).score([(text,) for text in texts])

    def _prompt(self, prompt: ReplaceablePrompt, item: Item, shown: Shown) -> Prompt:
        return ragas_prompt(prompt, shown, self.llm.templates.stating(item[1]))

    def _statements_prompt(self, item: Item) -> Prompt:
        return self._prompt(STATEMENTS, item, {"question": item[2], "answer": item[3]})

    def _verdicts_prompt(self, row: tuple[Item, list[str]]) -> Prompt:
        item, statements = row
        return self._prompt(VERDICTS, item, {"passages": item[4:], "statements": statements})

    def _sentences_prompt(self, item: Item) -> Prompt:
        return self._prompt(SENTENCES, item, {"question": item[3], "passages": item[4:]})

    def _question_prompt(self, item: Item) -> Prompt:
        return self._prompt(QUESTION, item, {"answer": item[5]})


def load_ragas(model: str, options: ModelOptions) -> RagasScorer:
    """Make ready to ask a model about qualities.

    Args:
        model: ``LLM``, or ``LLM with EMBEDDER``; see ``named_models``.
        options: How it is asked; how the embedding model is run.

    Raises:
        UsageError: If nothing says where replies are to be kept, or the address is none.
    """
    llm, embedder = named_models(model)
    return RagasScorer(endpoint_model(llm, options, MAX_TOKENS), embedder, options)


def ragas_value(row: Scores) -> Value:
    """Read one row of ``RagasScorer.score``."""
    value, reason = float(row[0]), int(row[1])
    return REASONS[reason - 1] if reason else value


def reason_for(reply: Reply[Any]) -> Missing:
    """Return why there is no value, of a reply without one."""
    return NO_USABLE_REPLY if reply.was_asked else NOT_REACHED


def ragas_prompt(
    prompt: ReplaceablePrompt, shown: Shown, templates: Templates = NO_TEMPLATES
) -> Prompt:
    """Make a prompt, after a demonstration where the packaged template is sent."""
    fill = partial(_filled, prompt, templates)
    task, version = Message("user", fill(shown)), _version(prompt, templates)
    demonstration = _demonstration(prompt, templates)
    if demonstration is None:
        return Prompt((task,), version)
    example, reply = demonstration
    return Prompt((Message("user", fill(example)), Message("assistant", reply), task), version)


def versions(*prompts: ReplaceablePrompt, templates: Templates = NO_TEMPLATES) -> str:
    """Return names and digests of templates, and of the demonstrations that go with them."""
    return "+".join(_version(prompt, templates) for prompt in prompts)


def _version(prompt: ReplaceablePrompt, templates: Templates) -> str:
    shown, own = _demonstration(prompt, templates), templates.of(prompt).version
    if shown is None:
        return own
    return f"{own}+example@{digest(canonical_json([dict(shown[0]), shown[1]]))[:12]}"


def _demonstration(prompt: ReplaceablePrompt, templates: Templates) -> tuple[Shown, str] | None:
    return None if templates.replacing(prompt) else _DEMONSTRATIONS.get(prompt.name)


def _filled(prompt: ReplaceablePrompt, templates: Templates, shown: Shown) -> str:
    """Fill a template, each text of others between delimiters that it cannot forge."""
    texts = [
        text for value in shown.values() for text in ([value] if isinstance(value, str) else value)
    ]
    context = {"context": "\n\n".join(shown["passages"])} if "passages" in shown else {}
    return templates.of(prompt).fill({"code": delimiter_code(*texts), **shown, **context})


def read_statements(completion: Completion) -> list[str]:
    """Read the statements of a reply: its numbered or bulleted lines, or all lines without any.

    Returns:
        Statements; none if the reply says that there are none.

    Raises:
        UnparsableError: If the reply was cut off or holds no words.
    """
    lines = [line for line in _lines(read_whole(completion)) if not _HEADING.fullmatch(line)]
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
    return THOUGHTS.sub(" ", completion.text or "")


def find_verdicts(text: str, count: int) -> list[bool]:
    """Find a verdict for each of so many statements.

    The last line of a number that says Yes or No counts; or else, after the words FINAL VERDICTS,
    as many Yes and No as there are statements; or else as many times ``Verdict: Yes`` or ``No``.

    Raises:
        UnparsableError: If a statement has no verdict.
    """
    final = list(_FINAL.finditer(text))
    stated = text[final[-1].end() :] if final else text
    found = {int(number): verdict for number, verdict in _VERDICT.findall(stated)}
    if set(range(1, count + 1)) <= set(found):
        verdicts = [found[number] for number in range(1, count + 1)]
    else:
        verdicts = _YES_OR_NO.findall(stated) if final else _LABELED_VERDICT.findall(text)
        if found or len(verdicts) != count:
            raise UnparsableError(f"the reply has no verdict on each of {count} statements")
    return [verdict.casefold() == "yes" for verdict in verdicts]


def read_question(completion: Completion) -> str:
    """Read the question of a reply: its first line with words, without a label.

    Raises:
        UnparsableError: If there is none.
    """
    for line in _lines(THOUGHTS.sub(" ", completion.text or "")):
        question = _MARKS.sub("", _LABEL.sub("", line, count=1) if _LABEL.match(line) else line)
        if _WORD.search(question):
            return question.strip()
    raise UnparsableError("the reply holds no question")


def count_copied(text: str, sentences: Sequence[str]) -> int:
    """Count the sentences of the context that a reply copies.

    A sentence is copied if its words stand in the reply in a row, or a line of it is nearly the
    same. What the reply says besides is no sentence of the context, and does not count.

    Returns:
        0 if the reply copies none and says that the information is insufficient.

    Raises:
        UnparsableError: If the reply copies nothing and does not say so.
    """
    lines = [words for line in _lines(text) if (words := _folded(line))]
    whole = f" {' '.join(lines)} "
    copied = sum(
        f" {sentence} " in whole
        or any(ratio(sentence, line, score_cutoff=ALIKE) >= ALIKE for line in lines)
        for sentence in filter(None, map(_folded, sentences))
    )
    if not copied and INSUFFICIENT not in whole:
        raise UnparsableError("the reply copies no sentence of the context")
    return copied


def _lines(text: str) -> list[str]:
    return [line for part in text.splitlines() if (line := part.strip())]


def _folded(text: str) -> str:
    """Return the words of a text, case-folded, with one space between them."""
    return " ".join(_WORD.findall(text.casefold()))
