"""The mark in a judge's reply: a JSON object with ``answer_1`` and ``answer_2``.

Servers that can hold a model to a JSON schema are told this one. From others, an object is found
between whatever stands around it: a fence of backticks, thoughts, an introduction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, get_args

from arena.llm.failures import UnparsableError
from arena.metaevaluation.grouse.metrics import BINARY, SCALES, JudgedMetric

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
