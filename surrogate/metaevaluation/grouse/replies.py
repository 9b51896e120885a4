"""What GroUSE's judges reply: JSON whose fields can be left out one kind at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from arena.data.errors import checked_choice
from arena.llm.replies import THOUGHTS, UnparsableError
from surrogate.metaevaluation.grouse.unit_tests import (
    BINARY,
    JUDGED_METRICS,
    SCALES,
    JudgedMetric,
)

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

Ablation = Literal["ground-truth", "justification", "chain-of-thought"]
ABLATIONS: tuple[Ablation, ...] = get_args(Ablation)

BEST = ("justification",)
"""What the paper's best prompt leaves out (table 6)."""

JOINT = "all_metrics"
JOINT_ORDER: tuple[JudgedMetric, ...] = tuple(sorted(JUDGED_METRICS))
"""Metrics as a reply by all of them has them: in the order that requests are sent in."""

JUSTIFICATION = "justification"
ONLY = "answer"


@dataclass(frozen=True)
class ReplyFields:
    """What a reply is to hold (table 6 leaves each out once).

    Attributes:
        without: What is left out: ``ground-truth`` (the expected answer, shown and scored beside
            the one in question), ``justification`` (a free text), ``chain-of-thought`` (fields
            that go through the metric's conditions).

    Raises:
        UsageError: If anything else is to be left out.
    """

    without: tuple[str, ...] = BEST

    def __post_init__(self) -> None:
        for name in self.without:
            checked_choice(name, ABLATIONS, "ablation")

    @property
    def version(self) -> str:
        """What is left out, in one order."""
        left_out = [name for name in ABLATIONS if name in self.without]
        return f"without:{','.join(left_out)}" if left_out else "whole"

    @property
    def has_ground_truth(self) -> bool:
        """Whether the expected answer is shown and scored."""
        return "ground-truth" not in self.without

    @property
    def scored(self) -> str:
        """Key of the answer in question."""
        return SCORED if self.has_ground_truth else ONLY

    @property
    def answers(self) -> tuple[str, ...]:
        """Keys of all answers shown."""
        return ("answer_1", SCORED) if self.has_ground_truth else (ONLY,)

    def reasoning(self, metric: JudgedMetric) -> tuple[str, ...]:
        """Names of the fields before the score."""
        steps = () if "chain-of-thought" in self.without else _REASONING[metric]
        return steps if JUSTIFICATION in self.without else (*steps, JUSTIFICATION)

    def values(self, metric: JudgedMetric) -> dict[str, Any]:
        """Return what the packaged templates say of the reply."""
        return {
            "form": self._form(metric),
            "has_ground_truth": self.has_ground_truth,
            "has_justification": JUSTIFICATION not in self.without,
            "has_chain_of_thought": "chain-of-thought" not in self.without,
        }

    def joint_form(self) -> str:
        """Return the form of a reply that scores by all metrics."""
        metrics = ", ".join(f'"{metric}": {self._of_answer(metric)}' for metric in JOINT_ORDER)
        return self._of_answers(f"{{{metrics}}}")

    def _form(self, metric: JudgedMetric) -> str:
        return self._of_answers(self._of_answer(metric))

    def _of_answer(self, metric: JudgedMetric) -> str:
        fields = [f'"{name}": {_form_of(name)}' for name in (*self.reasoning(metric), SCORE_KEY)]
        return f"{{{', '.join(fields)}}}"

    def _of_answers(self, answer: str) -> str:
        return f"{{{', '.join(f'{_quoted(name)}: {answer}' for name in self.answers)}}}"


def _form_of(name: str) -> str:
    if name == SCORE_KEY:
        return "S"
    if name == JUSTIFICATION:
        return '"..."'
    if name != _SENTENCES:
        return "B"
    checks = ", ".join(f'"{check}": B' for check in _SENTENCE_CHECKS)
    return f'[{{"begins_with": "first words of the sentence", {checks}}}]'


def _quoted(name: str) -> str:
    return f'"{name}"'


def response_format(
    metric: JudgedMetric | None, form: str, fields: ReplyFields = ReplyFields()
) -> Mapping[str, object] | None:
    """Return the ``response_format`` of a request.

    Args:
        metric: The metric that is asked for; None for all of them in one reply.
        form: ``json_schema``, ``json_object`` (any object, for servers that know no schemas) or
            ``text`` (nothing is said).
        fields: What the reply is to hold.
    """
    if form == "text":
        return None
    if form == "json_object":
        return {"type": "json_object"}
    if metric is None:
        of_answer = _object({each: _answer_schema(each, fields) for each in JOINT_ORDER})
    else:
        of_answer = _answer_schema(metric, fields)
    answers = dict.fromkeys(fields.answers, of_answer)
    schema = {"name": metric or JOINT, "strict": True, "schema": _object(answers)}
    return {"type": "json_schema", "json_schema": schema}


def _answer_schema(metric: JudgedMetric, fields: ReplyFields) -> dict[str, Any]:
    schemas = {_SENTENCES: _sentences_schema(), JUSTIFICATION: {"type": "string"}}
    reasoning = {name: schemas.get(name, dict(_BOOLEAN)) for name in fields.reasoning(metric)}
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


def read_metric_score(
    text: str, metric: JudgedMetric, scored: Collection[str] = (SCORED,)
) -> int | None:
    """Read the score of answer 2, or of the only answer, from a reply.

    Whole objects count, not what is quoted inside their texts. Keys may be written with spaces or
    capitals, the score's also as the metric's name; scores as texts or, where they are 0 or 1, as
    true and false.

    Args:
        text: What the judge replied.
        metric: What it was asked for.
        scored: Keys that the answer in question may stand under, the first found counts;
            ``SCORE_KEY`` for one whose score stands under no answer.

    Returns:
        The score; None for null.

    Raises:
        UnparsableError: If there is no object with the score, the score is none of the scale, or
            several objects state different scores.
    """
    found = [*_objects(THOUGHTS.sub(" ", text))]
    for key in scored:
        names = (SCORE_KEY, metric) if key == SCORE_KEY else (key,)
        replies = [reply for reply in found if any(name in reply for name in names)]
        if replies:
            break
    else:
        raise UnparsableError(f"the reply holds no JSON object with {' or '.join(scored)}")
    scores = {_score_of(reply, metric, key) for reply in replies}
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


def _score_of(reply: Mapping[str, Any], metric: JudgedMetric, key: str) -> int | None:
    answer = reply if key == SCORE_KEY else reply[key]
    if not isinstance(answer, Mapping):
        raise UnparsableError(f"{key} is no JSON object")
    plain = _with_plain_keys(answer)
    for name in (SCORE_KEY, metric):
        if name in plain:
            return _score(_innermost(plain[name], metric), metric)
    raise UnparsableError(f"{key} has no score")


def _innermost(value: object, metric: JudgedMetric) -> object:
    """Return the score of a metric's own object, in a reply by all metrics; or the value itself."""
    if not isinstance(value, Mapping):
        return value
    plain = _with_plain_keys(value)
    for name in (SCORE_KEY, metric):
        if name in plain:
            return plain[name]
    raise UnparsableError(f"{metric} has no score")


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
