"""Highlighting: which sentences of the passages support a sentence, by an LLM (appendix G.2).

Annotators of MEMERAG read passages in which the sentences that an LLM takes for support are marked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from arena.data.languages import named_language
from arena.llm.ask import Llm, Progress, ask_table
from arena.llm.replies import THOUGHTS, UNPARSABLE, Completion, UnparsableError
from arena.llm.settings import Prompt
from arena.llm.usage import Usage
from arena.text.prompts import (
    NO_TEMPLATES,
    ReplaceablePrompt,
    Templates,
    Variable,
    delimiter_code,
)
from features.text.sentences import split_sentences
from surrogate.metaevaluation.memerag.sentences import SENTENCE_KEY

TEMPERATURE = 0.1
MAX_TOKENS = 1024
STAGE = "highlighting"

OPENING, CLOSING = "**", "**"
"""What stands around a highlighted sentence."""


@dataclass(frozen=True, slots=True)
class CutPassage:
    """A passage as the prompt shows it: its sentences."""

    text: tuple[str, ...]


HIGHLIGHT_PROMPT = ReplaceablePrompt(
    "highlight",
    "Which sentences of the passages support a sentence (MEMERAG, appendix G.2)",
    "the last <label>1</label> or 0, and <references>1.2, 2.1</references>",
    {
        "language": Variable("English name of the language", "English"),
        "question": Variable("the question", "samplequestion"),
        "passages": Variable(
            "the passages, each with text, a list of its sentences", (CutPassage(("samplepart",)),),
            True,
        ),
        "sentence": Variable("the sentence of the answer", "samplesentence", True),
        "code": Variable("code for delimiters; stands in none of the texts", "samplecode"),
    },
    "surrogate.metaevaluation.memerag",
    "highlight.v1",
)  # fmt: skip

HIGHLIGHT_COLUMNS = [*SENTENCE_KEY, "is_supported", "references", "highlighted", "reason", "detail"]

_LABEL = re.compile(r"<label>\s{0,9}([^<]{0,40}?)\s{0,9}</label>", re.IGNORECASE)
_REFERENCES = re.compile(r"<references>(.*?)</references>", re.IGNORECASE | re.DOTALL)
_REFERENCE = re.compile(r"\b(\d{1,3})\.(\d{1,3})\b")

Place = tuple[int, int]
"""Passage and sentence of it, both from 1."""


@dataclass(frozen=True, slots=True)
class FoundSupport:
    """What is read from a reply: whether the sentence is supported, and by what."""

    is_supported: bool
    references: tuple[Place, ...]


@dataclass(frozen=True)
class Highlights:
    """What an LLM highlights.

    Attributes:
        table: Columns ``HIGHLIGHT_COLUMNS``, a row a sentence: whether it is supported, places
            ``(passage, sentence)`` of what supports it, and ``highlighted``, the passages as texts
            with these sentences between ``OPENING`` and ``CLOSING``. Where there is a ``reason``
            why nothing is known, nothing is highlighted.
        usage: What was asked.
    """

    table: pd.DataFrame
    usage: Usage


def highlight_support(
    sentences: pd.DataFrame,
    llm: Llm,
    templates: Templates = NO_TEMPLATES,
    progress: Progress | None = None,
) -> Highlights:
    """Let an LLM tell which sentences of the passages support each sentence.

    Args:
        sentences: Columns ``language, query_id, sentence_id, query, passages, sentence``, such as
            ``read_memerag`` returns; ``passages`` holds texts.
        llm: Who is asked; the paper took Llama 3 70B at a temperature of 0.1.
        templates: A file in the place of ``HIGHLIGHT_PROMPT``.
        progress: Called with the stage, the sentences done, and all.

    Raises:
        UsageError: If the endpoint, the settings or the template cannot be used.
        MissingDependencyError: If a package that is needed is not installed.
    """
    rows = sentences.to_dict("records")
    passages = [_cut(row) for row in rows]
    template = templates.of(HIGHLIGHT_PROMPT)

    def prompt(number: int) -> Prompt:
        row, cut = rows[number], passages[number]
        texts = [part for passage in cut for part in passage.text]
        values = {
            "language": named_language(row["language"]),
            "question": row["query"],
            "passages": cut,
            "sentence": row["sentence"],
            "code": delimiter_code(row["query"], row["sentence"], *texts),
        }
        return Prompt.of(template.fill(values), version=template.version)

    asked = ask_table(range(len(rows)), prompt, read_support, llm, stage=STAGE, progress=progress)
    found = []
    for number, reply in asked:
        key = [rows[number][name] for name in SENTENCE_KEY]
        support, reason, detail = reply.value, reply.reason, reply.detail
        unknown = _unknown(support, passages[number])
        if unknown is not None:
            support, reason = None, UNPARSABLE
            detail = f"the reply names sentence {unknown[0]}.{unknown[1]}, which there is not"
            asked.usage.count_failure(UNPARSABLE, 1)
        places = () if support is None else support.references
        shown = tuple(_marked(passages[number], places))
        known = None if support is None else support.is_supported
        found.append((*key, known, places, shown, reason, detail))
    table = pd.DataFrame(found, columns=HIGHLIGHT_COLUMNS, dtype=object)
    return Highlights(table, asked.usage)


def read_support(completion: Completion) -> FoundSupport:
    """Read the last ``<label>`` and ``<references>`` of a reply, outside of thoughts.

    Raises:
        UnparsableError: If there is no label, or it is neither 0 nor 1.
    """
    text = THOUGHTS.sub(" ", completion.text or "")
    labels = _LABEL.findall(text)
    if not labels or labels[-1] not in ("0", "1"):
        raise UnparsableError("the reply has no <label> with 0 or 1 in it")
    listed = _REFERENCES.findall(text)
    places = _REFERENCE.findall(listed[-1]) if listed and labels[-1] == "1" else []
    distinct = dict.fromkeys((int(passage), int(sentence)) for passage, sentence in places)
    return FoundSupport(labels[-1] == "1", tuple(sorted(distinct)))


def _cut(row: Mapping[str, object]) -> tuple[CutPassage, ...]:
    texts, language = row["passages"], str(row["language"])
    if not isinstance(texts, Sequence):
        raise TypeError("passages are texts")
    return tuple(CutPassage(tuple(split_sentences(str(text), language))) for text in texts)


def _unknown(support: FoundSupport | None, passages: Sequence[CutPassage]) -> Place | None:
    """Return the first place that there is not."""
    for passage, sentence in () if support is None else support.references:
        is_there = 1 <= passage <= len(passages) and (
            1 <= sentence <= len(passages[passage - 1].text)
        )
        if not is_there:
            return passage, sentence
    return None


def _marked(passages: Sequence[CutPassage], places: Sequence[Place]) -> list[str]:
    return [
        " ".join(
            f"{OPENING}{text}{CLOSING}" if (number, place) in places else text
            for place, text in enumerate(passage.text, start=1)
        )
        for number, passage in enumerate(passages, start=1)
    ]
