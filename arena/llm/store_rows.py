"""Results as rows of the store, and back; what in a row does not hold."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from arena.data.errors import Problem
from arena.llm.replies import FINAL, Completion, TokenLogprobs
from arena.llm.settings import canonical_json, digest

OPEN, DONE = "open", "done"

ANSWER_COLUMNS = (
    *("text", "finish_reason", "refusal", "served_model"),
    *("tokens_in", "tokens_out", "latency_s", "logprobs"),
)
_DIGESTED = ("key", *ANSWER_COLUMNS)


@dataclass(frozen=True, slots=True)
class Result:
    """How one request ended.

    Attributes:
        key: The request's key.
        completion: The model's answer; None if none came.
        failure: Why there is no usable answer, or None.
        detail: More about the failure, for people.
        tries: Calls sent for it.
    """

    key: str
    completion: Completion | None
    failure: str | None = None
    detail: str = ""
    tries: int = 0


def saved_row(result: Result, run_id: str) -> dict[str, object]:
    """Write a result's columns, and the state that it brings the row to."""
    completion = result.completion or Completion(text=None)
    row: dict[str, object] = {name: getattr(completion, name) for name in ANSWER_COLUMNS[:-1]}
    row |= {"key": result.key, "logprobs": _logprobs_json(completion.logprobs)}
    is_final = result.failure is None or result.failure in FINAL
    return row | {
        "failure": result.failure,
        "detail": result.detail,
        "digest": _row_digest(row),
        "tries": result.tries,
        "state": DONE if is_final else OPEN,
        "run_id": run_id,
    }


def result_of(row: sqlite3.Row) -> Result:
    """Read the result of a row that is done."""
    answer = {name: row[name] for name in ANSWER_COLUMNS} | {
        "logprobs": _read_logprobs(row["logprobs"])
    }
    completion = Completion(**answer, failure=row["failure"])
    return Result(row["key"], completion, row["failure"], row["detail"] or "", row["tries"])


def _row_digest(row: Mapping[str, object] | sqlite3.Row) -> str:
    """Digest what the model answered, so that later changes to the row are found."""
    return digest(canonical_json([row[name] for name in _DIGESTED]))


def _logprobs_json(logprobs: tuple[TokenLogprobs, ...] | None) -> str | None:
    if logprobs is None:
        return None
    return canonical_json([[token.token, token.logprob, token.alternatives] for token in logprobs])


def _read_logprobs(text: str | None) -> tuple[TokenLogprobs, ...] | None:
    if text is None:
        return None
    return tuple(
        TokenLogprobs(token, logprob, tuple((name, value) for name, value in alternatives))
        for token, logprob, alternatives in json.loads(text)
    )


def row_problems(row: sqlite3.Row) -> Iterator[Problem]:
    """Say what in a row does not hold."""
    odd = [name for name in row.keys() if isinstance(row[name], bytes)]  # noqa: SIM118 - a row
    if odd:
        yield _problem(odd[0], row[odd[0]], "holds bytes, which is no text")
        return
    if digest(row["request"]) != row["key"]:
        yield _problem("key", row["key"], "is not the digest of the request")
    if row["state"] != DONE:
        return
    if row["digest"] != _row_digest(row):
        yield _problem("digest", row["key"], "does not match what the model answered")
    if row["failure"] is not None and row["failure"] not in FINAL:
        yield _problem("failure", row["failure"], "is not final, but the row is done")
    try:
        result_of(row)
    except (ValueError, TypeError) as error:
        yield _problem("key", row["key"], f"holds JSON that cannot be read ({error})")


def _problem(field: str, value: object, fault: str) -> Problem:
    hint = "delete the row, and its prompt is asked again"
    return Problem("store", None, field, value, fault, hint)


def file_problem(message: str) -> Problem:
    """Say that the database itself is damaged."""
    return Problem("store", None, None, None, message, "restore the file from a copy")
