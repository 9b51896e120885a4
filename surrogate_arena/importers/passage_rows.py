"""Vectara's open-rag-eval: tables with a row for each passage, and tables of its results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from arena.data.types import Record
from surrogate_arena.importers.collected import Collected, Place, PlacedRecord
from surrogate_arena.importers.record_values import (
    opened_list,
    opened_record,
    opened_value,
    with_citations,
)
from surrogate_arena.importers.values import id_text, number_of


def joined_passage_rows(
    records: Iterable[PlacedRecord], collected: Collected
) -> Iterator[PlacedRecord]:
    """Yield a record for each query and run, with all its passages.

    Args:
        records: Rows with ``query, passage_id, passage, generated_answer``, of which those with
            the same ``query_id`` and ``query_run`` belong together; or results, with
            ``run_1_retrieved_passages`` and ``run_1_generated_answer`` as JSON text.
        collected: Counts scores that hold something else than numbers.
    """
    groups: dict[tuple[str, ...], PlacedRecord] = {}
    for place, record in records:
        runs = _runs_of(record)
        if runs:
            for number in sorted(runs):
                yield place, _result(place, record, runs[number], collected)
            continue
        names = ("file", "query_id", "query", "query_run")
        key = tuple(id_text(record.get(name)) for name in names)
        _, joined = groups.setdefault(key, (place, {**record, "passages": []}))
        text = record.get("passage")
        if isinstance(text, str) and text.strip():
            passage_id = _cited_id(record.get("passage_id"))
            joined["passages"].append({"passage_id": passage_id, "text": text})
        elif record.get("passage_id") is not None:
            collected.skip(place, "passage", "it has no text")
        # Rows of one query repeat the answer, or only the first has it.
        if joined.get("generated_answer") in (None, ""):
            joined["generated_answer"] = record.get("generated_answer")
    yield from groups.values()


_MARK = re.compile(r"\[\s*(\d+)\s*\]")


def _cited_id(value: object) -> str | None:
    """Return the id of a passage as answers cite it: ``2`` of ``[2]``."""
    if value is None:
        return None
    text = id_text(value).strip()
    mark = _MARK.fullmatch(text)
    return mark[1] if mark else text


_RUN = re.compile(r"run_(\d+)_(.+)")


def _runs_of(record: Record) -> dict[int, Record]:
    """Return the columns of each run of a query, without the number of the run."""
    runs: dict[int, Record] = {}
    for name, value in record.items():
        column = _RUN.fullmatch(name)
        if column is not None:
            runs.setdefault(int(column[1]), {})[column[2]] = value
    if not runs and "retrieved_passages" in record:
        runs[1] = record
    return runs


_SCORE = re.compile(r"(?:retrieval|generation)_score_(.*)", re.DOTALL)


def _result(place: Place, record: Record, run: Record, collected: Collected) -> Record:
    scores: Record = {}
    for name, value in run.items():
        score = _SCORE.fullmatch(name)
        if score is None:
            continue
        number = number_of(opened_value(value))
        if number is None:
            collected.skip(place, "column", f"{name!r} holds details, not the score of an answer")
        else:
            scores[score[1]] = number
    joined = dict(record)
    joined["passages"] = _passages_of(run.get("retrieved_passages"))
    joined["generated_answer"] = _answer_of(opened_value(run.get("generated_answer")))
    joined["scores"] = scores
    return joined


def _passages_of(value: object) -> list[Record]:
    passages = []
    for key, passage in opened_record(value).items():
        texts = [passage]
        if isinstance(passage, dict):
            texts = [passage.get(name) for name in ("passage", "text", "document")]
        for text in texts:
            if isinstance(text, str):
                passages.append({"passage_id": _cited_id(key), "text": text})
                break
    return passages


def _answer_of(answer: object) -> str | None:
    """Return parts with their citations as one text."""
    if isinstance(answer, str):
        return answer
    sentences = []
    for part in opened_list(answer):
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            continue
        numbers = map(_cited_id, opened_list(part.get("citations")))
        sentences.append(with_citations(part["text"], numbers))
    return " ".join(sentences) or None
