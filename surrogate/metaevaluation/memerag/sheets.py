"""Sheets for MEMERAG's annotators: its flow chart as yes-or-no questions, and highlighted support.

The labels, their two levels and the reason for a flow chart are the paper's (appendix A, figure 3);
its figure is a picture, so the wording and the order of the questions here are this project's. The
order is that of the grounds a sentence can be refuted on: what the passages deny comes before what
they do not mention. Annotators read passages in which the sentences that an LLM takes for support
are marked (appendix G.2).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import pandas as pd

from arena.data.errors import UsageError
from arena.data.languages import named_language
from arena.data.rows import CSV_SUFFIXES, write_rows
from arena.llm.ask import Llm, Progress, ask_table
from arena.llm.replies import THOUGHTS, UNPARSABLE, Completion, UnparsableError
from arena.llm.settings import Prompt
from arena.llm.store import open_store
from arena.llm.usage import Budget, Usage
from arena.text.prompts import (
    NO_TEMPLATES,
    ReplaceablePrompt,
    Templates,
    Variable,
    delimiter_code,
    read_templates,
)
from features.text.sentences import split_sentences
from surrogate.metaevaluation.memerag.sentences import SENTENCE_KEY, read_memerag
from surrogate.metaevaluation.settings import MetaevalSettings

_PACKAGE = "surrogate.metaevaluation.memerag"
_GUIDE = files(_PACKAGE).joinpath("texts", "guide.toml").read_text(encoding="utf-8")

QUESTIONS: Mapping[str, Mapping[str, str]] = tomllib.loads(_GUIDE)
"""The steps of the flow chart by name, the first one opens it: ``text`` is what is asked, ``yes``
and ``no`` the next question, or the label."""

SHOWN_COLUMNS = [*SENTENCE_KEY, "query", "passages", "answer", "sentence"]
"""What an annotator reads."""
FILLED_COLUMNS = [*QUESTIONS, "relevance", "comments"]
"""What an annotator fills in: yes or no for each question on the way to a label, and so on."""

TEMPERATURE = 0.1
MAX_TOKENS = 1024
STAGE = "highlighting"
MARK = "**"
"""What stands around a highlighted sentence."""

_LABEL = re.compile(r"<label>\s{0,9}([^<]{0,40}?)\s{0,9}</label>", re.IGNORECASE)
_REFERENCES = re.compile(r"<references>(.*?)</references>", re.IGNORECASE | re.DOTALL)
_REFERENCE = re.compile(r"\b(\d{1,3})\.(\d{1,3})\b")
Place = tuple[int, int]
"""Passage and sentence of it, both from 1."""

HIGHLIGHT_PROMPT = ReplaceablePrompt(
    "highlight",
    "Which sentences of the passages support a sentence (MEMERAG, appendix G.2)",
    "the last <label>1</label> or 0, and <references>1.2, 2.1</references>",
    {
        "language": Variable("English name of the language", "English"),
        "question": Variable("the question", "samplequestion"),
        "passages": Variable(
            "the passages, each with text, a list of its sentences", ({"text": ("samplepart",)},),
            True,
        ),
        "sentence": Variable("the sentence of the answer", "samplesentence", True),
        "code": Variable("code for delimiters; found in none of the texts", "samplecode"),
    },
    _PACKAGE,
    "highlight.v1",
)  # fmt: skip


def write_sheet(sentences: pd.DataFrame, path: Path | str) -> None:
    """Write a sheet for one annotator as CSV, without the labels that there are.

    Args:
        sentences: ``SHOWN_COLUMNS``, such as ``read_memerag`` returns; ``passages`` holds texts,
            which are numbered in one.
        path: Such as ``anna.csv``.

    Raises:
        UsageError: If the name does not end in ``.csv`` (``.gz``), or its folder is
            absent.
    """
    path = Path(path)
    if not path.name.endswith(CSV_SUFFIXES):
        raise UsageError(f"{path.name}: a sheet is a CSV file; use a name such as anna.csv")
    numbered = [
        "\n\n".join(f"[{number}] {text}" for number, text in enumerate(passages, start=1))
        for passages in sentences["passages"]
    ]
    shown = sentences[SHOWN_COLUMNS].assign(passages=numbered)
    write_rows(shown.assign(**dict.fromkeys(FILLED_COLUMNS, "")), path)


def highlight_support(
    sentences: pd.DataFrame,
    llm: Llm,
    templates: Templates = NO_TEMPLATES,
    progress: Progress | None = None,
) -> tuple[pd.DataFrame, Usage]:
    """Let an LLM tell which sentences of the passages support each sentence.

    The paper took Llama 3 70B at a temperature of 0.1; ``sentences`` are as of ``read_memerag``.

    Returns:
        Columns ``SENTENCE_KEY``, ``is_supported``, ``references`` (places of what supports it),
        ``highlighted`` (the passages as texts with these sentences between ``MARK``), ``reason``
        and ``detail`` where nothing is known; and what was asked.
    """
    rows = sentences.to_dict("records")
    passages = [
        [split_sentences(text, row["language"]) for text in row["passages"]] for row in rows
    ]
    template = templates.of(HIGHLIGHT_PROMPT)

    def prompt(number: int) -> Prompt:
        row, cut = rows[number], passages[number]
        texts = [part for passage in cut for part in passage]
        values = {
            "language": named_language(row["language"]),
            "question": row["query"],
            "passages": [{"text": parts} for parts in cut],
            "sentence": row["sentence"],
            "code": delimiter_code(row["query"], row["sentence"], *texts),
        }
        return Prompt.of(template.fill(values), version=template.version)

    asked = ask_table(range(len(rows)), prompt, read_support, llm, stage=STAGE, progress=progress)
    found = []
    for number, reply in asked:
        (supported, places), cut = reply.value or (None, ()), passages[number]
        reason, detail = reply.reason, reply.detail
        known = {(p, s) for p, each in enumerate(cut, 1) for s, _ in enumerate(each, 1)}
        absent = [place for place in places if place not in known]
        if absent:
            supported, places, reason = None, (), UNPARSABLE
            detail = f"the reply names sentence {absent[0][0]}.{absent[0][1]}, which does not exist"
            asked.usage.count_failure(UNPARSABLE, 1)
        key = [rows[number][name] for name in SENTENCE_KEY]
        found.append((*key, supported, places, _marked(cut, places), reason, detail))
    columns = ["is_supported", "references", "highlighted", "reason", "detail"]
    return pd.DataFrame(found, columns=[*SENTENCE_KEY, *columns], dtype=object), asked.usage


def read_support(completion: Completion) -> tuple[bool, tuple[Place, ...]]:
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
    distinct = {(int(passage), int(sentence)) for passage, sentence in places}
    return labels[-1] == "1", tuple(sorted(distinct))


def _marked(passages: Sequence[Sequence[str]], places: Sequence[Place]) -> tuple[str, ...]:
    return tuple(
        " ".join(
            f"{MARK}{text}{MARK}" if (number, place) in places else text
            for place, text in enumerate(passage, start=1)
        )
        for number, passage in enumerate(passages, start=1)
    )


def make_sheet(
    source: Path, settings: MetaevalSettings, templates: list[str], out: Path, progress: Progress
) -> dict[str, object]:
    """Write a sheet of MEMERAG's sentences, with support marked if asked for; return counts."""
    sentences = read_memerag(source, settings.languages)
    if settings.limit is not None:
        of_language = sentences.groupby("language", sort=False)
        sentences = of_language.head(settings.limit).reset_index(drop=True)
    counts: dict[str, object] = {"file": str(out), "sentences": len(sentences)}
    if settings.highlight is not None:
        update: dict[str, object] = {"model": settings.highlight, "temperature": TEMPERATURE}
        update["max_tokens"] = settings.max_tokens or MAX_TOKENS
        asked = settings.model_copy(update=update).located()
        own = read_templates(templates, [HIGHLIGHT_PROMPT])
        with open_store(settings.store) as store:
            llm = Llm(asked, store, Budget(settings.max_calls))
            found, usage = highlight_support(sentences, llm, own, progress)
        sentences = sentences.assign(passages=found["highlighted"].to_numpy())
        counts |= {
            "highlighted": int((found["references"].map(len) > 0).sum()),
            "unsupported": sum(each is False for each in found["is_supported"]),
            "unknown": int(found["is_supported"].isna().sum()),
            "usage": usage.as_json(),
        }
    write_sheet(sentences, out)
    return counts
