"""Prompts of the three qualities (section 3), in words of our own.

All but the last come with a demonstration. It is a turn of the conversation before: small models
copy an example that stands within the instructions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from arena.llm.prompts import Message, Prompt, canonical_json, digest
from arena.prompts.fences import fence_code
from arena.prompts.templates import PromptTemplate, packaged_prompt


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
    return packaged_prompt("features.ragas", name, _VARIABLES)


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
