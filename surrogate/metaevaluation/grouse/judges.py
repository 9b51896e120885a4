"""What a judge of grounded answers is, and any function as one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from arena.data.errors import UsageError
from arena.llm.client import complete
from arena.llm.replies import OVER_BUDGET, PASSING, Completion, Outcome, UnparsableError
from arena.llm.settings import Endpoint, ModelSettings, Prompt
from arena.llm.usage import Usage
from arena.text.citations import find_citations, strip_citations
from arena.text.prompts import fence_code, packaged_prompt
from surrogate.metaevaluation.grouse.unit_tests import (
    BINARY,
    JUDGED_METRICS,
    LIKERT,
    SCALES,
    GroundedAnswer,
    JudgedMetric,
    Mark,
)
from surrogate.metaevaluation.memerag.judges import RUN, THRESHOLD, character_runs


class Judge(Protocol):
    """Whoever marks grounded answers."""

    @property
    def name(self) -> str:
        """Name in tables, such as ``llm:gpt-4o-mini``."""

    @property
    def prompt(self) -> str:
        """Name of the prompts and their versions, or the settings that marks depend on."""

    def mark(self, metric: JudgedMetric, answers: Sequence[GroundedAnswer]) -> Sequence[Mark]:
        """Return a mark for each answer, in their order."""


MarkFunction = Callable[[str, str, Sequence[str], str, str], int | None]
"""From metric, question, references, expected answer and answer to a mark, None for null."""


@dataclass(frozen=True)
class FunctionJudge:
    """Any function as a judge.

    Attributes:
        name: Its name in tables.
        function: From metric, question, references, expected answer and answer to a mark of the
            metric's scale (1 to 5, or 0 and 1), or None for null.
        prompt: What the function's marks depend on, if anything.
    """

    name: str
    function: MarkFunction
    prompt: str = ""

    def mark(self, metric: JudgedMetric, answers: Sequence[GroundedAnswer]) -> list[Mark]:
        """Ask the function about each answer.

        Raises:
            UsageError: If it returns anything else than a mark of the scale or None.
        """
        return [
            self._mark(
                metric,
                self.function(metric, each.question, each.references, each.expected, each.answer),
            )
            for each in answers
        ]

    def _mark(self, metric: JudgedMetric, said: object) -> Mark:
        if said is None:
            return Mark(None)
        if not isinstance(said, int | float) or said not in SCALES[metric]:
            raise UsageError(
                f"the judge {self.name} returned {said!r} for {metric}; return one of "
                f"{', '.join(map(str, SCALES[metric]))}, or None for null"
            )
        return Mark(int(said))


_REFUSAL = re.compile(
    r"\W*(?:no (?:document|reference|passage|source)|none of the (?:document|reference|passage)s"
    r"|aucun(?:e des| des|e)? (?:document|référence|passage|source)s?"
    r"|kein(?:e|es)?(?: der)? (?:dokumente?|quellen?|textstellen?)"
    r"|ning[uú]n[oa]?(?: de los)? (?:documento|pasaje)s?"
    r"|nessuno? (?:dei )?document[oi]|nenhum (?:dos )?documentos?)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])(?<!\d\.)\s+(?=[^\s\[])")


@dataclass(frozen=True)
class LexicalJudge:
    """Marks answers by the runs of characters that they share with other texts.

    Attributes:
        threshold: Share of a sentence's runs from which on another text holds the sentence.
        length: Characters of a run.
    """

    threshold: float = THRESHOLD
    length: int = RUN

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1 or self.length < 1:
            raise UsageError("give a threshold from 0 to 1 and a length of 1 or more")

    @property
    def name(self) -> str:
        """``lexical``."""
        return "lexical"

    @property
    def prompt(self) -> str:
        """The settings."""
        return f"characters:{self.length}|threshold:{self.threshold}"

    def mark(self, metric: JudgedMetric, answers: Sequence[GroundedAnswer]) -> list[Mark]:
        """Mark each answer by itself."""
        rule = {
            "answer_relevancy": self._answer_relevancy,
            "completeness": self._completeness,
            "usefulness": self._usefulness,
            "faithfulness": self._faithfulness,
        }[metric]
        return [Mark(rule(each)) for each in answers]

    def _answer_relevancy(self, sample: GroundedAnswer) -> int | None:
        """Grade how many sentences are about the question or in the expected answer."""
        if refuses(sample.answer):
            return None
        wanted = f"{sample.question} {strip_citations(sample.expected)}"
        return _grade([self._is_in(each, wanted) for each in sentences(sample.answer)])

    def _completeness(self, sample: GroundedAnswer) -> int | None:
        """Grade how many sentences of the expected answer are in the answer."""
        if refuses(sample.expected):
            return None
        answer = strip_citations(sample.answer)
        return _grade([self._is_in(each, answer) for each in sentences(sample.expected)])

    def _usefulness(self, sample: GroundedAnswer) -> int | None:
        """Tell whether any sentence after the refusal is about the question."""
        added = information(sample.answer)
        if not refuses(sample.answer) or not added:
            return None
        wanted = f"{sample.question} {strip_citations(sample.expected)}"
        return int(any(self._is_in(each, wanted) for each in added))

    def _faithfulness(self, sample: GroundedAnswer) -> int | None:
        """Tell whether every sentence stands in the references that it cites."""
        stated = information(sample.answer)
        if not stated:
            return None
        return int(all(self._is_cited(each, sample.references) for each in stated))

    def _is_cited(self, sentence: str, references: Sequence[str]) -> bool:
        by_number = {str(number): text for number, text in enumerate(references, start=1)}
        cited = [each for marker in find_citations(sentence, by_number) for each in marker.ids]
        known = " ".join(by_number.get(each, "") for each in cited)
        is_known = bool(cited) and all(each in by_number for each in cited)
        return is_known and self._is_in(sentence, known)

    def _is_in(self, sentence: str, text: str) -> bool:
        runs = character_runs(strip_citations(sentence), self.length)
        held = set(character_runs(text, self.length))
        return sum(run in held for run in runs) / len(runs) >= self.threshold


def refuses(answer: str) -> bool:
    """Tell whether an answer opens by saying that no document answers the question."""
    return _REFUSAL.match(answer) is not None


def sentences(text: str) -> list[str]:
    """Split a text where a sentence ends, but not after a number, as in ``14. Mai``.

    Citations after the stop stay with the sentence before them.
    """
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def information(answer: str) -> list[str]:
    """Return the sentences of an answer but for the refusal that it opens with."""
    return [each for each in sentences(answer) if not refuses(each)]


def _grade(found: Sequence[bool]) -> int:
    lowest, highest = LIKERT[0], LIKERT[-1]
    share = sum(found) / len(found) if found else 0.0
    return lowest + int(share * (highest - lowest))


_PACKAGE = "surrogate.metaevaluation.grouse"
_TASK = "task.v1"
_SAMPLE = "sample.v1"
_VARIABLES = ("question", "references", "answer_1", "answer_2", "code")


@dataclass(frozen=True, slots=True)
class _Shown:
    question: bool
    references: bool


_SHOWN: MappingProxyType[JudgedMetric, _Shown] = MappingProxyType(
    {
        "answer_relevancy": _Shown(question=True, references=False),
        "completeness": _Shown(question=True, references=True),
        "usefulness": _Shown(question=True, references=False),
        "faithfulness": _Shown(question=False, references=True),
    }
)


@dataclass(frozen=True)
class MetricPrompt:
    """The prompt of one metric.

    Attributes:
        metric: Which one.
    """

    metric: JudgedMetric

    def __post_init__(self) -> None:
        if self.metric not in JUDGED_METRICS:
            raise UsageError(
                f"there is no prompt for {self.metric!r}; use one of {', '.join(JUDGED_METRICS)}"
            )

    @property
    def version(self) -> str:
        """Names and digests of the templates."""
        parts = [(_TASK, ()), (f"{self.metric}.v1", ()), (_SAMPLE, _VARIABLES)]
        return "+".join(packaged_prompt(_PACKAGE, *part).version for part in parts)

    def ask(self, sample: GroundedAnswer) -> Prompt:
        """Make the prompt for an answer."""
        version = self.version
        shown = _SHOWN[self.metric]
        values = {
            "question": sample.question if shown.question else None,
            "references": sample.references if shown.references else (),
            "answer_1": sample.expected,
            "answer_2": sample.answer,
            "code": fence_code(sample.question, *sample.references, sample.expected, sample.answer),
        }
        system = [packaged_prompt(_PACKAGE, name, ()).fill({}) for name in self._instructions]
        user = packaged_prompt(_PACKAGE, _SAMPLE, _VARIABLES).fill(values)
        return Prompt.of(user, "\n\n".join(system), version)

    @property
    def _instructions(self) -> tuple[str, str]:
        return _TASK, f"{self.metric}.v1"


def all_versions() -> str:
    """Return the names and digests of all templates, each once."""
    versions = [MetricPrompt(metric).version.split("+") for metric in JUDGED_METRICS]
    return "+".join(dict.fromkeys(part for parts in versions for part in parts))


ReplyForm = Literal["json_schema", "json_object", "text"]
REPLY_FORMS: tuple[ReplyForm, ...] = get_args(ReplyForm)

MARKED = "answer_2"
MARK = "mark"

# Requests are sent with their keys in alphabetical order, and servers let a model write the fields
# in the order of the schema: names are chosen so that the reasoning comes before the mark.
_SENTENCES = "each_sentence"

_BOOLEAN: Mapping[str, Any] = MappingProxyType({"type": "boolean"})
_REASONING: MappingProxyType[JudgedMetric, tuple[str, ...]] = MappingProxyType(
    {
        "answer_relevancy": ("declines_to_answer",),
        "completeness": ("answer_is_in_references",),
        "usefulness": ("declines_to_answer", "gives_further_facts"),
        "faithfulness": ("declines_and_adds_nothing", _SENTENCES),
    }
)
_SENTENCE_CHECKS = ("cites_a_reference", "cites_the_right_one", "matches_it")

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_NOT_IN_A_KEY = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\d(?:\.0+)?")
_NULLS = frozenset({"null", "none", "n/a"})
_TRUTHS = MappingProxyType({"true": 1, "false": 0})


def response_format(metric: JudgedMetric, form: ReplyForm) -> Mapping[str, object] | None:
    """Return the ``response_format`` of a request.

    Args:
        metric: The metric that is asked for.
        form: ``json_schema``, ``json_object`` (any object, for servers that know no schemas) or
            ``text`` (nothing is said).
    """
    if form == "text":
        return None
    if form == "json_object":
        return {"type": "json_object"}
    answers = {name: _answer_schema(metric) for name in ("answer_1", MARKED)}
    schema = {"name": metric, "strict": True, "schema": _object(answers)}
    return {"type": "json_schema", "json_schema": schema}


def _answer_schema(metric: JudgedMetric) -> dict[str, Any]:
    reasoning: dict[str, Any] = {
        name: _sentences_schema() if name == _SENTENCES else dict(_BOOLEAN)
        for name in _REASONING[metric]
    }
    mark = {"anyOf": [{"type": "integer", "enum": list(SCALES[metric])}, {"type": "null"}]}
    return _object(reasoning | {MARK: mark})


def _sentences_schema() -> dict[str, Any]:
    fields: dict[str, Any] = {"begins_with": {"type": "string"}}
    fields |= {name: dict(_BOOLEAN) for name in _SENTENCE_CHECKS}
    return {"type": "array", "items": _object(fields)}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def read_mark(text: str, metric: JudgedMetric) -> int | None:
    """Read the mark of answer 2 from a reply.

    Whole objects count, not what is quoted inside their texts. Keys may be written with spaces or
    capitals, the mark's also as the metric's name; marks as texts or, where they are 0 or 1, as
    true and false.

    Args:
        text: What the judge replied.
        metric: What it was asked for.

    Returns:
        The mark; None for null.

    Raises:
        UnparsableError: If there is no object with the mark, the mark is none of the scale, or
            several objects state different marks.
    """
    found = [each for each in _objects(_THOUGHTS.sub(" ", text)) if MARKED in each]
    if not found:
        raise UnparsableError(f"the reply holds no JSON object with {MARKED}")
    marks = {_mark_of(each, metric) for each in found}
    if len(marks) > 1:
        raise UnparsableError(f"the reply states different marks for {metric}")
    return marks.pop()


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield _with_plain_keys(value)
        position = text.find("{", end)


def _mark_of(reply: Mapping[str, Any], metric: JudgedMetric) -> int | None:
    answer = reply[MARKED]
    if not isinstance(answer, Mapping):
        raise UnparsableError(f"{MARKED} is no JSON object")
    plain = _with_plain_keys(answer)
    for name in (MARK, metric):
        if name in plain:
            return _mark(plain[name], metric)
    raise UnparsableError(f"{MARKED} has no mark")


def _mark(value: object, metric: JudgedMetric) -> int | None:
    written = str(value).strip().casefold()
    if value is None or written in _NULLS:
        return None
    scale = SCALES[metric]
    if written in _TRUTHS and scale == BINARY:
        return _TRUTHS[written]
    if _NUMBER.fullmatch(written) and int(written[0]) in scale:
        return int(written[0])
    expected = f"{scale[0]} to {scale[-1]}"
    raise UnparsableError(f"{metric} is {written[:40]!r}; expected {expected}, or null")


def _with_plain_keys(value: Mapping[str, Any]) -> dict[str, Any]:
    return {_NOT_IN_A_KEY.sub("_", str(key).casefold()): each for key, each in value.items()}


if TYPE_CHECKING:
    from arena.llm.store import Store

_NOT_ASKED = PASSING | {OVER_BUDGET}

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class LlmJudge:
    """A judge.

    Attributes:
        settings: Model, temperature and so on; the response format is this judge's own.
        store: Keeps every reply: what it has is not asked again.
        endpoint: Where the model is asked.
        reply_form: How far the server holds the model to the form of the reply; see
            ``response_format``.
        max_calls: Most prompts to send, all metrics together; None for all.
        progress: Called with a stage's name, what is done of it, and all of it.
        usages: What was asked and used, an entry each time that a metric is asked for; grows as
            the judge is at work.
    """

    settings: ModelSettings
    store: Store = field(repr=False)
    endpoint: Endpoint = field(default_factory=Endpoint)
    reply_form: ReplyForm = "json_schema"
    max_calls: int | None = None
    progress: Progress | None = field(default=None, repr=False)
    usages: list[Usage] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.reply_form not in REPLY_FORMS:
            raise UsageError(
                f"unknown form of replies {self.reply_form!r}; use one of {', '.join(REPLY_FORMS)}"
            )
        if self.settings.response_format is not None:
            raise UsageError("the settings hold a response_format; choose a reply_form instead")

    @property
    def name(self) -> str:
        """``llm:`` and the model."""
        return f"llm:{self.settings.model}"

    @property
    def prompt(self) -> str:
        """Names and digests of the templates, and the form of replies."""
        return f"{all_versions()}|{self.reply_form}"

    def mark(self, metric: JudgedMetric, answers: Sequence[GroundedAnswer]) -> list[Mark]:
        """Ask the model about every answer.

        Returns:
            A mark an answer. One without a readable mark counts against the model; one that was
            not answered, because the server failed or ``max_calls`` was used up, was not asked:
            run again.

        Raises:
            UsageError: See ``arena.llm.complete``.
            MissingDependencyError: If the extra ``llm`` is not installed.
        """
        prompt = MetricPrompt(metric)
        run = complete(
            [prompt.ask(each) for each in answers],
            replace(self.settings, response_format=response_format(metric, self.reply_form)),
            endpoint=self.endpoint,
            store=self.store,
            parse=partial(_read, metric=metric),
            max_calls=self._calls_left(),
        )
        self.usages.append(run.usage)
        marks: list[Mark] = []
        for outcome in run:
            marks.append(_mark_llm_judge(outcome))
            if self.progress is not None:
                self.progress(f"{self.name} {metric}", len(marks), len(answers))
        return marks

    def _calls_left(self) -> int | None:
        if self.max_calls is None:
            return None
        sent = sum(usage.calls - usage.retries for usage in self.usages)
        return max(0, self.max_calls - sent)


def _read(completion: Completion, metric: JudgedMetric) -> int | None:
    return read_mark(completion.text or "", metric)


def _mark_llm_judge(outcome: Outcome[int | None]) -> Mark:
    if outcome.failure is None:
        return Mark(outcome.value)
    return Mark(None, outcome.failure, was_asked=outcome.failure not in _NOT_ASKED)
