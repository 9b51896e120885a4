"""Prompts of a judge of nuggets, for facts and for marks, and how their replies are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.judging.nuggets.tables import IMPORTANCES, SUPPORTS
from arena.judging.prompt import SHOWN_QUESTION
from arena.llm.json_replies import JsonReplyError, last_json_object, with_plain_keys
from arena.llm.llm_settings import LlmSettings
from arena.llm.prompts import ReplaceablePrompt, Variable
from arena.llm.replies import Completion, UnparsableError
from arena.llm.requests import object_schema, schema_format

MOST_NUGGETS = 20
"""Nuggets of a reply that are kept; the prompt asks for the most important ones first."""

_EXAMPLES = frozenset({"the first fact", "the second fact"})
"""Texts by which the prompt shows the form of a reply: whoever repeats them names no fact."""


@dataclass(frozen=True, slots=True)
class Nugget:
    """A fact that a good answer states; a reply has no id."""

    text: str
    importance: str
    nugget_id: str = ""


@dataclass(frozen=True, slots=True)
class NumberedNugget:
    """A nugget with its number in a prompt, from 1."""

    number: int
    text: str


NUGGET_PROMPT = ReplaceablePrompt(
    name="nuggets",
    asks="The facts that a good answer states, vital or okay: judge with form = nuggets",
    reply='JSON: {"nuggets": [{"text": ..., "importance": "vital" or "okay"}]}',
    variables={
        name: variable for name, variable in SHOWN_QUESTION.items() if name != "answer_code"
    },
    package="arena.judging",
    packaged_name="nuggets.v1",
)
MARK_PROMPT = ReplaceablePrompt(
    name="nugget-marks",
    asks="How far one answer states each fact: judge with form = nuggets",
    reply='JSON: {"marks": [{"nugget": 1, "support": "supported", "partly" or "not"}]}',
    variables={
        **{
            name: variable
            for name, variable in SHOWN_QUESTION.items()
            if name not in ("passages", "documents")
        },
        "nuggets": Variable(
            "the facts, each with number and text",
            (NumberedNugget(1, "samplefact"), NumberedNugget(2, "otherfact")),
            is_required=True,
        ),
        "answer": Variable("what is shown of a system", "sampleanswer", is_required=True),
    },
    package="arena.judging",
    packaged_name="nugget-marks.v1",
)
NUGGET_PROMPTS = (NUGGET_PROMPT, MARK_PROMPT)
"""Prompts of a judge of nuggets, by which users' templates are named."""


def nugget_settings(settings: LlmSettings) -> LlmSettings:
    """Ask for JSON with nuggets; the user's own fields win."""
    fields: dict[str, Mapping[str, object]] = {
        "text": {"type": "string"},
        "importance": _one_of(IMPORTANCES),
    }
    return _with_schema(settings, "nuggets", fields)


def mark_settings(settings: LlmSettings) -> LlmSettings:
    """Ask for JSON with marks; the user's own fields win."""
    fields: dict[str, Mapping[str, object]] = {
        "nugget": {"type": "integer"},
        "support": _one_of(SUPPORTS),
    }
    return _with_schema(settings, "marks", fields)


def _one_of(words: Sequence[str]) -> dict[str, object]:
    return {"type": "string", "enum": list(words)}


def _with_schema(
    settings: LlmSettings, name: str, fields: Mapping[str, Mapping[str, object]]
) -> LlmSettings:
    schema = object_schema({name: {"type": "array", "items": object_schema(fields)}})
    reply_format = schema_format(name, schema)
    return settings.sending(**{"response_format": reply_format, **settings.body})


def read_nuggets(completion: Completion) -> tuple[Nugget, ...]:
    """Read the first ``MOST_NUGGETS`` distinct nuggets of a reply."""
    # Characters of a nugget; whatever is longer is no single fact
    longest_nugget = 1_000
    nuggets: dict[str, Nugget] = {}
    for number, record in enumerate(_records(completion, "nuggets"), start=1):
        value = record.get("text")
        text = " ".join(value.split()) if isinstance(value, str) else ""
        if not any(map(str.isalnum, text)):
            raise UnparsableError(f"nugget {number} has no text")
        if text.casefold().rstrip(".") in _EXAMPLES:
            raise UnparsableError(f"nugget {number} repeats the prompt's example")
        if len(text) > longest_nugget:
            raise UnparsableError(f"nugget {number} has {len(text)} characters: no single fact")
        importance = _word(record, "importance", IMPORTANCES, number)
        nuggets.setdefault(text.casefold(), Nugget(text, importance))
    if not nuggets:
        raise UnparsableError("the reply names no fact")
    return tuple(nuggets.values())[:MOST_NUGGETS]


def read_marks(completion: Completion) -> dict[int, str]:
    """Read the mark of each nugget, by its number."""
    marks: dict[int, str] = {}
    for record in _records(completion, "marks"):
        written = str(record.get("nugget"))
        if not written.isdecimal() or len(written) > 3:
            raise UnparsableError(f"a mark is of nugget {written[:40]!r}; expected a number")
        number = int(written)
        support = _word(record, "support", SUPPORTS, number)
        if marks.setdefault(number, support) != support:
            raise UnparsableError(f"nugget {number} has two marks")
    return marks


def _word(record: Mapping[str, Any], name: str, words: Sequence[str], number: int) -> str:
    written = str(record.get(name))
    if written.casefold() not in words:
        expected = " or ".join(words)
        raise UnparsableError(f"nugget {number} is {written[:40]!r}; expected {expected}")
    return written.casefold()


def _records(completion: Completion, name: str) -> list[dict[str, Any]]:
    try:
        records = last_json_object(completion.answer, [name], not completion.is_cut)[name]
    except JsonReplyError as error:
        raise UnparsableError(str(error)) from error
    if not isinstance(records, list):
        raise UnparsableError(f"{name} is no list")
    plain = []
    for record in records:
        if not isinstance(record, Mapping):
            raise UnparsableError(f"{name} holds something that is no JSON object")
        plain.append(with_plain_keys(record))
    return plain
