"""Prompts of a judge of nuggets, for facts and for marks, and how their replies are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from arena.judging.nuggets.scores import Importance, Support
from arena.judging.nuggets.tables import IMPORTANCES, SUPPORTS
from arena.judging.prompt import SHOWN_QUESTION
from arena.llm.json_replies import JsonReplyError, json_list, last_json_object, with_plain_keys
from arena.llm.llm_settings import LlmSettings
from arena.llm.prompts import ReplaceablePrompt, Variable
from arena.llm.replies import Completion, UnparsableError
from arena.llm.requests import object_schema, schema_format

MOST_NUGGETS = 20
"""Nuggets of a reply that are kept; the prompt asks for the most important ones first."""

_SPACE_OR_LINE = re.compile(r"[\s_-]+")
_LETTER_OR_DIGIT = re.compile(r"\w")
_NUGGET_NUMBER = re.compile(r"[\W_]*(?:(?:nugget|fact)[\W_]*)?(\d{1,3})(?:\.0)?\W*", re.IGNORECASE)
_EXAMPLES = frozenset({"the first fact", "the second fact"})
"""Texts by which the prompt shows the form of a reply: whoever repeats them names no fact."""
_IMPORTANCE_OF_WORD = MappingProxyType[str, Importance](
    {"vital": "vital", "okay": "okay", "ok": "okay"}
)
_SUPPORT_OF_WORD = MappingProxyType[str, Support](
    {
        "supported": "supported",
        "support": "supported",
        "fully supported": "supported",
        "partly": "partly",
        "partial": "partly",
        "partially": "partly",
        "partial support": "partly",
        "partly supported": "partly",
        "partially supported": "partly",
        "not": "not",
        "not support": "not",
        "not supported": "not",
        "unsupported": "not",
        "not stated": "not",
        "not mentioned": "not",
        "contradicted": "not",
    }
)
"""Our words, and those that models write in their place."""


@dataclass(frozen=True, slots=True)
class Nugget:
    """A fact that a good answer states, its importance, and its id; empty in a reply."""

    text: str
    importance: Importance
    nugget_id: str = ""


@dataclass(frozen=True, slots=True)
class NumberedNugget:
    """A nugget as the prompt of marks shows it: its number in the list, from 1, and its text."""

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
    """Return settings whose replies are JSON with nuggets; the user's own fields win."""
    fields: dict[str, Mapping[str, object]] = {
        "text": {"type": "string"},
        "importance": _words(IMPORTANCES),
    }
    return _with_schema(settings, "nuggets", fields)


def mark_settings(settings: LlmSettings) -> LlmSettings:
    """Return settings whose replies are JSON with marks; the user's own fields win."""
    fields: dict[str, Mapping[str, object]] = {
        "nugget": {"type": "integer"},
        "support": _words(SUPPORTS),
    }
    return _with_schema(settings, "marks", fields)


def _words(words: Sequence[str]) -> dict[str, object]:
    return {"type": "string", "enum": list(words)}


def _with_schema(
    settings: LlmSettings, name: str, fields: Mapping[str, Mapping[str, object]]
) -> LlmSettings:
    schema = object_schema({name: {"type": "array", "items": object_schema(fields)}})
    reply_format = schema_format(name, schema)
    return settings.sending(**{"response_format": reply_format, **settings.body})


def read_nuggets(completion: Completion) -> tuple[Nugget, ...]:
    """Read the nuggets of a reply, the same text once, the first ``MOST_NUGGETS`` of them.

    Raises:
        UnparsableError: If there is no JSON object with nuggets, it names none, or one of them
            has no text or no importance.
    """
    # Characters of a nugget; whatever is longer is no single fact
    longest_nugget = 1_000
    nuggets: dict[str, Nugget] = {}
    for number, record in enumerate(_records(completion, "nuggets"), start=1):
        value = record.get("text")
        text = " ".join(value.split()) if isinstance(value, str) else ""
        if not _LETTER_OR_DIGIT.search(text):
            raise UnparsableError(f"nugget {number} has no text")
        if text.casefold().rstrip(".") in _EXAMPLES:
            raise UnparsableError(f"nugget {number} repeats the prompt's example")
        if len(text) > longest_nugget:
            raise UnparsableError(f"nugget {number} has {len(text)} characters: no single fact")
        importance = _IMPORTANCE_OF_WORD.get(_word(record.get("importance")))
        if importance is None:
            shown = str(record.get("importance"))[:40]
            raise UnparsableError(f"nugget {number} is {shown!r}; expected vital or okay")
        nuggets.setdefault(text.casefold(), Nugget(text, importance))
    if not nuggets:
        raise UnparsableError("the reply names no fact")
    return tuple(nuggets.values())[:MOST_NUGGETS]


def read_marks(completion: Completion) -> dict[int, Support]:
    """Read the mark of each nugget, by its number.

    Raises:
        UnparsableError: If there is no JSON object with marks, a mark names no nugget or none of
            the three words, or a nugget has two marks that differ.
    """
    marks: dict[int, Support] = {}
    for record in _records(completion, "marks"):
        written = str(record.get("nugget", ""))
        match = _NUGGET_NUMBER.fullmatch(written)
        if match is None:
            raise UnparsableError(f"a mark is of nugget {written[:40]!r}; expected a number")
        number = int(match[1])
        support = _SUPPORT_OF_WORD.get(_word(record.get("support")))
        if support is None:
            shown = str(record.get("support"))[:40]
            raise UnparsableError(
                f"nugget {number} is {shown!r}; expected supported, partly or not"
            )
        if marks.setdefault(number, support) != support:
            raise UnparsableError(f"nugget {number} has two marks")
    return marks


def _word(value: object) -> str:
    return _SPACE_OR_LINE.sub(" ", str(value)).strip().casefold()


def _records(completion: Completion, name: str) -> list[dict[str, Any]]:
    """Return the objects in a list of the reply's last JSON object that has one, or in its list."""
    records = json_list(completion.answer, name)
    if records is None:
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
