"""Vectara's open-rag-eval: tables with a row for each passage, and tables of its results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from arena.adapters.collected import Collected, Place, Record
from arena.adapters.record_values import opened_value
from arena.data.cells import finite_number, whole_digits

NO_ANSWERS = ("NO_ANSWER", "API_ERROR")
"""What stands where a call failed."""
_RUN = re.compile(r"run_(\d+)_(.+)")
_MARK = re.compile(r"\[\s*(\d+)\s*\]")
_SCORES = ("retrieval_score_", "generation_score_")
_TEXTS = ("passage", "text", "document")

Found = tuple[Place, Record]


def joined_passage_rows(records: Iterable[Found], read: Collected) -> Iterator[Found]:
    """Yield a record for each query and run, with all its passages.

    Args:
        records: Rows with ``query, passage_id, passage, generated_answer``, of which those with
            the same ``query_id`` and ``query_run`` belong together; or results, with
            ``run_1_retrieved_passages`` and ``run_1_generated_answer`` as JSON text.
        read: Counts scores that hold something else than numbers.
    """
    groups: dict[tuple[str, ...], tuple[Place, Record]] = {}
    for place, record in records:
        runs = _runs_of(record)
        if runs:
            for number in sorted(runs):
                yield place, _result(place, record, runs[number], read)
            continue
        names = ("file", "query_id", "query", "query_run")
        key = tuple(whole_digits(record.get(name)) or str(record.get(name)) for name in names)
        _, joined = groups.setdefault(key, (place, {**record, "passages": []}))
        passage = _passage(record)
        if passage is not None:
            joined["passages"].append(passage)
        elif record.get("passage_id") is not None:
            read.skip(place.source, "passage", "it has no text")
        if joined.get("generated_answer") in (None, ""):
            joined["generated_answer"] = record.get("generated_answer")
    yield from groups.values()


def _passage(record: Record) -> Record | None:
    text = record.get("passage")
    if not isinstance(text, str) or not text.strip():
        return None
    return {"passage_id": _number(record.get("passage_id")), "text": text}


def _number(given: object) -> str | None:
    """Return the id of a passage as answers cite it: ``2`` of ``[2]``."""
    if given is None:
        return None
    text = whole_digits(given) or str(given).strip()
    mark = _MARK.fullmatch(text)
    return mark[1] if mark else text


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


def _result(place: Place, record: Record, run: Record, read: Collected) -> Record:
    passages = _passages_of(opened_value(run.get("retrieved_passages")))
    joined: Record = {**record, "passages": passages}
    joined["generated_answer"] = _answer_of(opened_value(run.get("generated_answer")))
    scores: Record = {}
    for name, value in run.items():
        prefix = next((start for start in _SCORES if name.startswith(start)), None)
        if prefix is None:
            continue
        number = finite_number(opened_value(value))
        if number is None:
            read.skip(place.source, "column", f"{name!r} holds details, not the score of an answer")
        else:
            scores[name.removeprefix(prefix)] = number
    return joined | {"scores": scores}


def _passages_of(passages: object) -> list[Record]:
    if not isinstance(passages, Mapping):
        return []
    found = []
    for key, value in passages.items():
        text = value
        if isinstance(value, Mapping):
            text = next((value[name] for name in _TEXTS if isinstance(value.get(name), str)), None)
        if isinstance(text, str):
            found.append({"passage_id": _number(key), "text": text})
    return found


def _answer_of(answer: object) -> str | None:
    """Return parts with their citations as one text."""
    if not isinstance(answer, list):
        return answer if isinstance(answer, str) else None
    parts = []
    for part in answer:
        if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
            continue
        cited = part.get("citations")
        numbers = [_number(each) for each in cited] if isinstance(cited, list) else []
        marks = "".join(f"[{number}]" for number in numbers)
        parts.append(f"{part['text'].strip()} {marks}".strip())
    return " ".join(parts) or None
