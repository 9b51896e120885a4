"""FaithJudge's clone: answers of RAG systems, marked consistent with their sources or not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
from pydantic import BaseModel, Field

from arena.adapters.files import files_below, shown_path
from arena.adapters.foreign_rows import (
    ForeignArena,
    GrowingArena,
    Skip,
    StorableText,
    sound_records,
)
from arena.adapters.records.collected import judgments_of_marks
from arena.data.errors import Problem, UsageError
from arena.data.rows import JSONL, json_records, plain_records, rows_of_records
from arena.data.schema import QUESTION_KEY, Text

SOURCES = "eval_data"
VERDICTS = "eval_results"
VERDICTS_FILE = "_hallucination_eval.txt"
"""How the name of a file of verdicts ends: one JSON object a line."""

TASKS = MappingProxyType(
    {
        "faithbench-summary": "Summarize the passage.",
        "ragtruth-summary": "Summarize the passage.",
        "ragtruth-qa": "",
        "ragtruth-data2txt": "Write an overview of this local business.",
    }
)
"""Task to what it asks, in our words; the questions of ``ragtruth-qa`` are their own."""

MARKS = MappingProxyType({"Consistent": 1.0, "Inconsistent": 0.0})
"""Classification to mark; any other is a failed judgment."""

LANGUAGE = "en"
_SOURCE = "FaithJudge (Tamber et al., 2025)"
_JUDGE = "o3-mini"
"""Who judged where the name of a file does not say."""
_PASSAGE = re.compile(r"passage (\d{1,6}):")


class SourceRow(BaseModel):
    """What the answers of one question were written from."""

    source_id: int | Text = Field(description="a number or string")
    source: Any = Field(description="a text, or an object")


class VerdictRow(BaseModel):
    """One system's answer with its classification."""

    task: Text = Field(description="the name of a task")
    source_id: int | Text = Field(description="a number or string")
    candidate_text: StorableText = Field(description="a string")
    classification: Text = Field(description="Consistent, Inconsistent or Invalid")


@dataclass
class _Marked(GrowingArena):
    marks: list[dict[str, object]] = field(default_factory=list)


def read_faithjudge(
    paths: Sequence[Path | str], *, name: str = "faithjudge", most_pairs: int | None = None
) -> ForeignArena:
    """Read a clone of FaithJudge: ``eval_data/TASK.jsonl`` and ``eval_results/ORG/MODEL/…``.

    Answers are those that were judged (thoughts removed). Verdicts are of single answers: of two
    answers to a question the consistent one wins, else it is a tie.

    Args:
        paths: The clone, or several.
        name: Name of the arena.
        most_pairs: Pairs of answers to keep of each question and judge; None keeps all.

    Raises:
        UsageError: If a path is absent, or holds no sources or no verdicts.
        DataError: With every problem of all files.
    """
    read = _Marked()
    files = files_below(paths, (JSONL, VERDICTS_FILE))
    sources = [path for path in files if path.name.endswith(JSONL) and path.parent.name == SOURCES]
    verdicts = [path for path in files if path.name.endswith(VERDICTS_FILE)]
    for found, what in ((sources, f"{SOURCES}/TASK.jsonl"), (verdicts, f"*{VERDICTS_FILE}")):
        if not found:
            raise UsageError(f"there is no {what} in {', '.join(map(str, paths))}")
    for path in sources:
        _read_sources(path, shown_path(path, paths), read)
    for path in verdicts:
        _read_verdicts(path, shown_path(path, paths), read)
    asked = {query_id for _, query_id, _ in read.answers}
    unanswered = [key for key in read.queries if key[1] not in asked]
    read.skips += [Skip(SOURCES, "question", "no system answered it") for _ in unanswered]
    for key in unanswered:
        del read.queries[key]
    marks = pd.DataFrame(read.marks, columns=[*QUESTION_KEY, "system", "judge", "mark"])
    marks = marks.drop_duplicates([*QUESTION_KEY, "system", "judge"])
    read.judgments += plain_records(judgments_of_marks(marks, most_pairs))
    note = "Judgments are derived from verdicts of single answers: the consistent one wins."
    return read.foreign(name, None, _SOURCE, note)


def _read_sources(path: Path, source: str, read: _Marked) -> None:
    task = path.name.removesuffix(JSONL).replace("_", "-")
    if task not in TASKS:
        read.skips.append(Skip(source, "file", f"it is of none of the tasks {', '.join(TASKS)}"))
        return
    rows = rows_of_records(json_records(path, source), source)
    for line, row in sound_records(rows, SourceRow, read.problems):
        query_id = f"{task}:{row.source_id}"
        try:
            question, passages = _question(task, row.source)
        except ValueError as error:
            hint = "write it as FaithJudge does"
            read.problems.append(Problem(source, line, "source", row.source, str(error), hint))
            continue
        read.queries[LANGUAGE, query_id] = {
            "query_id": query_id,
            "language": LANGUAGE,
            "query": question,
            "passages": [
                {"passage_id": number, "text": text, "title": None, "relevance": 1}
                for number, text in passages
            ],
            "task": task,
        }


def _question(task: str, source: Any) -> tuple[str, list[tuple[str, str]]]:  # noqa: ANN401
    """Return the question and the numbered passages of a source.

    Raises:
        ValueError: If the source is not as its task has it.
    """
    if task == "ragtruth-qa":
        if not isinstance(source, dict) or not isinstance(source.get("passages"), str):
            raise ValueError("is no object with question and passages")
        question = str(source.get("question") or "").strip()
        if not question:
            raise ValueError("has no question")
        return question, list(_passages(source["passages"]))
    if task == "ragtruth-data2txt":
        if not isinstance(source, dict):
            raise ValueError("is no object")
        return TASKS[task], [("1", json.dumps(source, indent=1, ensure_ascii=False))]
    if not isinstance(source, str):
        raise ValueError("is no text")
    return TASKS[task], [("1", source.strip())]


def _passages(text: str) -> Iterator[tuple[str, str]]:
    """Yield number and text of the passages in ``passage 1:… passage 2:…``."""
    marks = list(_PASSAGE.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    known: set[str] = set()
    for mark, end in zip(marks, ends, strict=True):
        if mark[1] not in known:
            known.add(mark[1])
            yield mark[1], text[mark.end() : end].strip()


def _read_verdicts(path: Path, source: str, read: _Marked) -> None:
    system = f"{path.parent.parent.name}/{path.parent.name}"
    rows = rows_of_records(json_records(path, source), source)
    judge = f"faithjudge-{_judge_of(path.name)}"
    for _, row in sound_records(rows, VerdictRow, read.problems):
        query_id = f"{row.task}:{row.source_id}"
        if (LANGUAGE, query_id) not in read.queries:
            read.skips.append(Skip(source, "answer", "its source is not there"))
            continue
        answer = {"query_id": query_id, "language": LANGUAGE, "system": system}
        read.answer((LANGUAGE, query_id), system, row.candidate_text)
        if read.answers[LANGUAGE, query_id, system]["answer"] != row.candidate_text:
            read.skips.append(Skip(source, "answer", "the system has another answer already"))
        elif row.classification not in MARKS:
            reason = f"its classification is {row.classification!r}"
            read.skips.append(Skip(source, "verdict", reason))
        else:
            mark = MARKS[row.classification]
            read.marks.append({**answer, "judge": judge, "mark": mark})


def _judge_of(name: str) -> str:
    """Tell the judge from ``JUDGE_TASK_hallucination_eval.txt``."""
    stem = name.removesuffix(VERDICTS_FILE)
    task = next((task for task in TASKS if stem.endswith(task)), stem)
    return stem.removesuffix(task).rstrip("_") or _JUDGE
