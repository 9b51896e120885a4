"""Answers of GroUSE to score, and how LLMs are asked to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from arena.data.errors import UsageError, checked_choice
from arena.llm.replies import THOUGHTS, UnparsableError
from arena.llm.settings import Prompt
from arena.text.prompts import delimiter_code, packaged_prompt
from surrogate.metaevaluation.grouse.lexical import score_lexically
from surrogate.metaevaluation.grouse.unit_tests import (
    BINARY,
    JUDGED_METRICS,
    SCALES,
    AnswerSample,
    JudgedMetric,
)
from surrogate.metaevaluation.judges import FunctionJudge, JudgePrompts, LexicalJudge, Verdict


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """An answer to score by one metric; the verdict is a score of its scale, or null.

    Attributes:
        metric: The metric.
        sample: The answer, and what it is held against.
    """

    metric: JudgedMetric
    sample: AnswerSample

    def ask(self, judge: FunctionJudge) -> Verdict:
        """Ask for a score of the metric's scale, or None for null."""
        sample, scale = self.sample, SCALES[self.metric]
        said = judge.function(
            self.metric, sample.question, sample.references, sample.expected, sample.answer
        )
        if said is None:
            return Verdict(None)
        if not isinstance(said, int | float) or said not in scale:
            known = ", ".join(map(str, scale))
            raise judge.refuse(said, f"for {self.metric}, return one of {known}, or None for null")
        return Verdict(int(said))

    def compare(self, judge: LexicalJudge) -> Verdict:
        """Score by the characters that texts share, see ``score_lexically``."""
        return Verdict(score_lexically(self.metric, self.sample, judge))


_PACKAGE = "surrogate.metaevaluation.grouse"
_TASK = "task.v1"
_SAMPLE = "sample.v1"
_VARIABLES = ("question", "references", "answer_1", "answer_2", "code")


_SHOWS_QUESTION = frozenset({"answer_relevancy", "completeness", "usefulness"})
_SHOWS_REFERENCES = frozenset({"completeness", "faithfulness"})

REPLY_FORMS = ("json_schema", "json_object", "text")

SCORED = "answer_2"
SCORE_KEY = "score"

# Requests are sent with their keys in alphabetical order, and servers let a model write the fields
# in the order of the schema: names are chosen so that the reasoning comes before the score.
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

_NOT_IN_A_KEY = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\d(?:\.0+)?")
_NULLS = frozenset({"null", "none", "n/a"})
_TRUTHS = MappingProxyType({"true": 1, "false": 0})


@dataclass(frozen=True)
class GrousePrompts(JudgePrompts[ScoringTask]):
    """The prompts of the four metrics.

    Attributes:
        reply_form: How far the server holds a model to the form of the reply; see
            ``response_format``.
    """

    reply_form: str = "json_schema"
    max_tokens: ClassVar[int] = 2048

    def __post_init__(self) -> None:
        checked_choice(self.reply_form, REPLY_FORMS, "form of replies")

    @property
    def version(self) -> str:
        """Names and digests of the templates, and the form of replies."""
        versions = [metric_version(metric).split("+") for metric in JUDGED_METRICS]
        names = "+".join(dict.fromkeys(part for parts in versions for part in parts))
        return f"{names}|{self.reply_form}"

    def ask(self, item: ScoringTask) -> list[Prompt]:
        """Make the prompt for an answer, with what the metric needs."""
        metric, sample = item.metric, item.sample
        values = {
            "question": sample.question if metric in _SHOWS_QUESTION else None,
            "references": sample.references if metric in _SHOWS_REFERENCES else (),
            "answer_1": sample.expected,
            "answer_2": sample.answer,
            "code": delimiter_code(
                sample.question, *sample.references, sample.expected, sample.answer
            ),
        }
        instructions = [
            packaged_prompt(_PACKAGE, name, ()).fill({}) for name in (_TASK, f"{metric}.v1")
        ]
        user = packaged_prompt(_PACKAGE, _SAMPLE, _VARIABLES).fill(values)
        return [Prompt.of(user, "\n\n".join(instructions), metric_version(metric))]

    def task(self, item: ScoringTask) -> str:
        """Name the metric: each has a scale and a schema of its own."""
        return item.metric

    def reply_format(self, task: str) -> Mapping[str, object] | None:
        """Return the ``response_format`` of a metric's requests."""
        return response_format(judged_metric(task), self.reply_form)

    def read(self, text: str, task: str) -> int | None:
        """Read a score, see ``read_metric_score``."""
        return read_metric_score(text, judged_metric(task))


def judged_metric(name: str) -> JudgedMetric:
    """Return the metric of a name.

    Raises:
        UsageError: If judges are asked for no such metric.
    """
    for metric in JUDGED_METRICS:
        if metric == name:
            return metric
    raise UsageError(f"there is no prompt for {name!r}; use one of {', '.join(JUDGED_METRICS)}")


def metric_version(metric: JudgedMetric) -> str:
    """Return names and digests of a metric's templates."""
    parts = [(_TASK, ()), (f"{metric}.v1", ()), (_SAMPLE, _VARIABLES)]
    return "+".join(packaged_prompt(_PACKAGE, *part).version for part in parts)


def response_format(metric: JudgedMetric, form: str) -> Mapping[str, object] | None:
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
    answers = {name: _answer_schema(metric) for name in ("answer_1", SCORED)}
    schema = {"name": metric, "strict": True, "schema": _object(answers)}
    return {"type": "json_schema", "json_schema": schema}


def _answer_schema(metric: JudgedMetric) -> dict[str, Any]:
    reasoning: dict[str, Any] = {
        name: _sentences_schema() if name == _SENTENCES else dict(_BOOLEAN)
        for name in _REASONING[metric]
    }
    score = {"anyOf": [{"type": "integer", "enum": list(SCALES[metric])}, {"type": "null"}]}
    return _object(reasoning | {SCORE_KEY: score})


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


def read_metric_score(text: str, metric: JudgedMetric) -> int | None:
    """Read the score of answer 2 from a reply.

    Whole objects count, not what is quoted inside their texts. Keys may be written with spaces or
    capitals, the score's also as the metric's name; scores as texts or, where they are 0 or 1, as
    true and false.

    Args:
        text: What the judge replied.
        metric: What it was asked for.

    Returns:
        The score; None for null.

    Raises:
        UnparsableError: If there is no object with the score, the score is none of the scale, or
            several objects state different scores.
    """
    replies = [reply for reply in _objects(THOUGHTS.sub(" ", text)) if SCORED in reply]
    if not replies:
        raise UnparsableError(f"the reply holds no JSON object with {SCORED}")
    scores = {_score_of(reply, metric) for reply in replies}
    if len(scores) > 1:
        raise UnparsableError(f"the reply states different scores for {metric}")
    return scores.pop()


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


def _score_of(reply: Mapping[str, Any], metric: JudgedMetric) -> int | None:
    answer = reply[SCORED]
    if not isinstance(answer, Mapping):
        raise UnparsableError(f"{SCORED} is no JSON object")
    plain = _with_plain_keys(answer)
    for name in (SCORE_KEY, metric):
        if name in plain:
            return _score(plain[name], metric)
    raise UnparsableError(f"{SCORED} has no score")


def _score(value: object, metric: JudgedMetric) -> int | None:
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
    return {_NOT_IN_A_KEY.sub("_", str(key).casefold()): item for key, item in value.items()}
