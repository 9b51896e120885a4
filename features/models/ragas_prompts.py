"""What Ragas asks an LLM, and how the replies are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rapidfuzz.fuzz import ratio

from arena.llm.replies import THOUGHTS, Completion, UnparsableError
from arena.llm.settings import Message, Prompt, canonical_json, digest
from arena.text.prompts import (
    NO_TEMPLATES,
    ReplaceablePrompt,
    Templates,
    Variable,
    delimiter_code,
)


@dataclass(frozen=True)
class Demonstration:
    """A turn of a conversation that shows what is asked for.

    Attributes:
        values: Values of the template, without the code of its delimiters.
        reply: What a model should reply.
    """

    values: Mapping[str, str | Sequence[str]]
    reply: str

    @property
    def version(self) -> str:
        """A digest of what is shown."""
        return f"example@{digest(canonical_json([dict(self.values), self.reply]))[:12]}"


_CODE = Variable("code for delimiters; stands in none of the texts", "samplecode")
_ANSWER = Variable("the answer", "sampleanswer", True)
_QUESTION = Variable("the question", "samplequestion")
_PASSAGES = Variable("list of the passages' texts", ("samplepart one", "samplepart two"))
_CONTEXT = Variable("the same as one text", "samplepart one\n\nsamplepart two", True)

STATEMENTS = ReplaceablePrompt(
    "statements",
    "The statements that an answer makes (Ragas, section 3)",
    "its numbered or bulleted lines, or all lines; NONE",
    {"question": _QUESTION, "answer": _ANSWER, "code": _CODE},
    "features.models",
    "statements.v1",
)
VERDICTS = ReplaceablePrompt(
    "verdicts",
    "Which statements the passages support (Ragas, section 3)",
    "1: Yes a line, Verdict: Yes a statement, or Yes and No in order after Final verdict",
    {
        "passages": _PASSAGES,
        "context": _CONTEXT,
        "statements": Variable("list of the statements", ("sampleone", "sampletwo"), True),
        "code": _CODE,
    },
    "features.models",
    "verdicts.v1",
)
QUESTION = ReplaceablePrompt(
    "question",
    "A question that an answer answers (Ragas, section 3)",
    "its first line, without a label",
    {"answer": _ANSWER, "code": _CODE},
    "features.models",
    "question.v1",
)
SENTENCES = ReplaceablePrompt(
    "sentences",
    "The sentences of the passages that help to answer a question (Ragas, section 3)",
    "sentences as they stand in the passages, or Insufficient Information",
    {
        "question": Variable("the question", "samplequestion", True),
        "passages": _PASSAGES,
        "context": _CONTEXT,
        "code": _CODE,
    },
    "features.models",
    "sentences.v1",
)
RAGAS_PROMPTS = (STATEMENTS, VERDICTS, QUESTION, SENTENCES)

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
_DEMONSTRATIONS = MappingProxyType(
    {STATEMENTS.name: _STATED, VERDICTS.name: _JUDGED, QUESTION.name: _ASKED}
)
"""What goes before the packaged prompts; a user's template is sent as it is."""


def statements_prompt(question: str, answer: str, templates: Templates = NO_TEMPLATES) -> Prompt:
    """Ask for the statements that an answer makes."""
    return _prompt(STATEMENTS, {"question": question, "answer": answer}, templates)


def verdicts_prompt(
    passages: Sequence[str], statements: Sequence[str], templates: Templates = NO_TEMPLATES
) -> Prompt:
    """Ask which statements the context supports."""
    return _prompt(VERDICTS, {"passages": passages, "statements": statements}, templates)


def question_prompt(answer: str, templates: Templates = NO_TEMPLATES) -> Prompt:
    """Ask for a question that an answer answers."""
    return _prompt(QUESTION, {"answer": answer}, templates)


def sentences_prompt(
    question: str, passages: Sequence[str], templates: Templates = NO_TEMPLATES
) -> Prompt:
    """Ask for the sentences of the context that it takes to answer a question."""
    return _prompt(SENTENCES, {"question": question, "passages": passages}, templates)


def versions(*prompts: ReplaceablePrompt, templates: Templates = NO_TEMPLATES) -> str:
    """Return names and digests of templates, and of the demonstrations that go with them."""
    return "+".join(_version(prompt, templates) for prompt in prompts)


def _version(prompt: ReplaceablePrompt, templates: Templates) -> str:
    shown = _demonstration(prompt, templates)
    own = templates.of(prompt).version
    return own if shown is None else f"{own}+{shown.version}"


def _demonstration(prompt: ReplaceablePrompt, templates: Templates) -> Demonstration | None:
    return None if templates.replacing(prompt) else _DEMONSTRATIONS.get(prompt.name)


def _prompt(
    prompt: ReplaceablePrompt, values: Mapping[str, str | Sequence[str]], templates: Templates
) -> Prompt:
    version = _version(prompt, templates)
    task = Message("user", _filled(prompt, values, templates))
    shown = _demonstration(prompt, templates)
    if shown is None:
        return Prompt((task,), version)
    example = Message("user", _filled(prompt, shown.values, templates))
    return Prompt((example, Message("assistant", shown.reply), task), version)


def _filled(
    prompt: ReplaceablePrompt, values: Mapping[str, str | Sequence[str]], templates: Templates
) -> str:
    """Fill a template, each text of others between delimiters that it cannot forge."""
    texts = [
        text for value in values.values() for text in ([value] if isinstance(value, str) else value)
    ]
    context = {"context": "\n\n".join(values["passages"])} if "passages" in values else {}
    return templates.of(prompt).fill({"code": delimiter_code(*texts), **values, **context})


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
    found = {
        int(number): verdict.casefold() == "yes" for number, verdict in _VERDICT.findall(stated)
    }
    if set(range(1, count + 1)) <= set(found):
        return [found[number] for number in range(1, count + 1)]
    in_order = [word.casefold() == "yes" for word in _YES_OR_NO.findall(stated)]
    if final and not found and len(in_order) == count:
        return in_order
    labeled = [word.casefold() == "yes" for word in _LABELED_VERDICT.findall(text)]
    if not final and not found and len(labeled) == count:
        return labeled
    raise UnparsableError(f"the reply has no verdict on each of {count} statements")


def read_question(completion: Completion) -> str:
    """Read the question of a reply: its first line with words, without a label.

    Raises:
        UnparsableError: If there is none.
    """
    for line in _lines(THOUGHTS.sub(" ", completion.text or "")):
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
        0 if the reply copies none and says that the information is insufficient.

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
