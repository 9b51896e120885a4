"""Rows of MIRAGE-Bench's prompts, outputs and judgments, as published."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, Strict, create_model

from arena.data.rows import Rows
from arena.data.schema import ANSWER_KEY, Text
from arena.data.types import Record
from features.engine.extraction import MISSING_SUFFIX
from surrogate_arena.importers.collected import Collected, Place
from surrogate_arena.importers.verdict_values import StatedVerdict
from surrogate_arena.papers.records import records_of

PUBLISHED_FEATURES = MappingProxyType(
    {
        "target_language": "target_language",
        "english_language": "english",
        "citation_MAP@10": "citation_map@10",
        "citation_Recall@10": "citation_recall@10",
        "answer_bleu": "bleu",
        "answer_rougeL": "rouge_l",
        "support_entailment": "nli_entailment",
        "support_neutral": "nli_neutral",
        "reranker_score": "reranker_score",
        "answer_overlap_score": "llm_overlap",
        "fluency_score": "llm_fluency",
    }
)
"""Published name of each feature (a column of the outputs) to ours."""

PERCENT_WHERE_ABOVE_1 = "answer_bleu"
"""The authors' code divides SacreBLEU by 100; in a file with a value above 1 nobody did."""

NOT_PUBLISHED = "not published"
NO_COLUMN = "feature not published"
VERDICTS = MappingProxyType({"A": "a", "B": "b", "Tie": "tie"})
"""Published verdict to our winner; anything else is a failed judgment."""

SECTIONS = re.compile(
    r"Question[ \t]*:(.*?)\n\s*Contexts[ \t]*:(.*)\n\s*\n\s*Instruction", re.DOTALL
)
_MARKER = r'(?:"\[(?P<quoted>{id})\]"|\[(?P<bare>{id})\])'
_LINE_MARKER = re.compile(r"^[ \t]*" + _MARKER.format(id=r"[^\]\n]+"), re.MULTILINE)
_MIRACL_ID = re.compile(r"\d+#\d+")
_REWRITE = "write 'Question: …', 'Contexts:', '[docid] text' a passage, and 'Instruction: …'"
_SCORES: dict[str, Any] = {
    name: (
        dict[str, Annotated[float, Strict()] | None] | None,
        None,
    )
    for name in PUBLISHED_FEATURES
}


class PromptRow(BaseModel):
    """A row of the published prompts."""

    query_id: Text
    prompt: str
    positive_ids: list[Text]
    negative_ids: list[Text]


class Output(BaseModel):
    """One model's output; null where it gave none."""

    model: Text
    output: str | None


class OutputRow(BaseModel):
    """A row of the published outputs, without its feature columns."""

    query_id: Text
    outputs: list[Output]


class JudgmentRow(BaseModel):
    """A row of the published judgments; the verdict may be anything."""

    query_id: Text
    judge: Text
    model_A: Text  # noqa: N815 - a published name
    model_B: Text  # noqa: N815
    verdict: Any = None
    output: Any = None


ScoredRow = create_model("ScoredRow", __base__=OutputRow, **_SCORES)


def add_prompts(collected: Collected, rows: Rows, language: str) -> None:
    """Add the questions of published prompts, and the passages in them."""
    for line, row in records_of(rows, PromptRow, collected.problems):
        place = Place(rows.source, line)
        sections = SECTIONS.search(row.prompt)
        if sections is None or not sections[1].strip():
            fault = "has not the sections Question, Contexts and Instruction"
            collected.fault(place, "prompt", row.prompt, fault, _REWRITE)
            continue
        judged_ids = [*row.positive_ids, *row.negative_ids]
        texts, left_out = _context_passages(sections[2], judged_ids)
        _check_ids(collected, place, row, texts)
        for passage_id in left_out:
            reason = "its id is neither positive nor negative"
            if passage_id in judged_ids:
                reason = "its id appears earlier in the prompt"
            collected.skip(place.source, "passage", reason)
        passages: list[Record] = []
        for passage_id, text in texts.items():
            passage = {
                "passage_id": passage_id,
                "text": text,
                "title": None,
                "relevance": int(passage_id in row.positive_ids),
            }
            passages.append(passage)
        collected.question(place, (language, row.query_id), sections[1].strip(), passages)


def _context_passages(contexts: str, listed: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Find the passages in the contexts of a prompt, by id; and ids that were left out.

    A passage begins at its id, at the start of a line if possible. Ids that are not listed, and
    repeated ones, are left out.
    """
    marks = _marks(contexts, listed)
    ends = [mark.start() for mark in marks[1:]]
    ends.append(len(contexts))
    texts: dict[str, str] = {}
    left_out = []
    for mark, end in zip(marks, ends, strict=True):
        passage_id = _id_of(mark)
        text = contexts[mark.end() : end].strip()
        if passage_id not in listed or passage_id in texts:
            left_out.append(passage_id)
        elif text:
            texts[passage_id] = text
    return texts, left_out


def _marks(contexts: str, listed: Sequence[str]) -> list[re.Match[str]]:
    marks = []
    absent = set(listed)
    for mark in _LINE_MARKER.finditer(contexts):
        passage_id = _id_of(mark)
        # Texts quote other things in brackets: an id that is not listed must look like MIRACL's.
        if passage_id in listed or _MIRACL_ID.fullmatch(passage_id):
            marks.append(mark)
            absent.discard(passage_id)
    # Some prompts run passages together: such an id stands inside a line.
    for passage_id in sorted(absent):
        mark_inside = re.search(_MARKER.format(id=re.escape(passage_id)), contexts)
        if mark_inside is not None:
            marks.append(mark_inside)
    return sorted(marks, key=lambda mark: mark.start())


def _id_of(match: re.Match[str]) -> str:
    return match["quoted"] or match["bare"]


def _check_ids(collected: Collected, place: Place, row: PromptRow, texts: dict[str, str]) -> None:
    listed: set[str] = set()
    for name in ("positive_ids", "negative_ids"):
        for passage_id in getattr(row, name):
            if passage_id in listed:
                hint = "list each passage once, positive or negative"
                collected.fault(place, name, passage_id, "is listed twice", hint)
            elif passage_id not in texts:
                hint = "add the passage or unlist its id"
                collected.fault(place, name, passage_id, "has no text in the prompt", hint)
            listed.add(passage_id)


def add_outputs(collected: Collected, rows: Rows, language: str) -> pd.DataFrame:
    """Add published outputs as answers, and return their features.

    ``<feature>:missing`` says why a value is NaN. BLEU is from 0 to 1.
    """
    records: list[Record] = []
    for line, row in records_of(rows, ScoredRow, collected.problems):
        place = Place(rows.source, line)
        models = {output.model for output in row.outputs}
        scores = {name: getattr(row, name) or {} for name in PUBLISHED_FEATURES}
        for score_by_model in scores.values():
            for model, value in score_by_model.items():
                if model not in models and value is not None:
                    collected.skip(place.source, "score", f"{model} has no output to its question")
        for output in row.outputs:
            if output.output is None:
                collected.skip(place.source, "answer", "its output is null")
                continue
            collected.answer(place, (language, row.query_id), output.model, output.output)
            key = (language, row.query_id, output.model)
            record: Record = dict(zip(ANSWER_KEY, key, strict=True))
            for name, score_by_model in scores.items():
                record[name] = score_by_model.get(output.model)
            records.append(record)
    columns = [*ANSWER_KEY, *PUBLISHED_FEATURES]
    return _feature_table(pd.DataFrame(records, columns=columns, dtype=object), rows)


def _feature_table(scores: pd.DataFrame, rows: Rows) -> pd.DataFrame:
    table = scores[["language", "system", "query_id"]].astype("str")
    reasons = {}
    for published, name in PUBLISHED_FEATURES.items():
        numbers = scores[published].astype(np.float64)
        is_sound = np.isfinite(numbers)
        table[name] = numbers.where(is_sound)
        if published == PERCENT_WHERE_ABOVE_1 and (table[name] > 1).any():
            table[name] /= 100
        reason = NOT_PUBLISHED if published in rows.table else NO_COLUMN
        missing = pd.Series(reason, index=table.index, dtype=object)
        reasons[f"{name}{MISSING_SUFFIX}"] = missing.where(~is_sound, None)
    return table.assign(**reasons)


def add_judgments(collected: Collected, rows: Rows, language: str) -> None:
    """Add published verdicts; the judge's ``output`` is kept as ``reason``.

    A verdict other than A, B or Tie is left out and counted.
    """
    for line, row in records_of(rows, JudgmentRow, collected.problems):
        place = Place(rows.source, line)
        verdict = row.verdict
        if not isinstance(verdict, str) or verdict not in VERDICTS:
            written = "null" if verdict is None else repr(verdict)
            collected.skip(place, "judgment", f"its verdict is {written}")
            continue
        sides = (row.model_A, row.model_B)
        columns = {"reason": row.output} if "output" in rows.table else {}
        stated = StatedVerdict(VERDICTS[verdict])
        key = (language, row.query_id)
        collected.judgment(place, key, sides, stated, row.judge, columns=columns)
