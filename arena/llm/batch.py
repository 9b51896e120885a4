"""Calls through the batch endpoint of an OpenAI-compatible server: sent together, answered later.

Cheaper than one by one, and answered within hours: requests go up as a file, and what came of
them is fetched by a later run into the same store that calls one by one are kept in.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from arena.data.errors import DataError, MissingDependencyError, UsageError
from arena.data.files import atomic_path
from arena.data.schema import validation_problems
from arena.llm.replies import (
    FINAL,
    MALFORMED,
    REJECTED,
    Completion,
    MalformedAnswerError,
    read_completion,
    shown_detail,
    without_key,
)
from arena.llm.settings import LlmSettings, Prompt, Request, request_for
from arena.llm.store import Result, Store

if TYPE_CHECKING:
    import openai

MOST_REQUESTS = 50_000
MOST_BYTES = 100 * 2**20
"""Of one batch: what OpenAI takes, and half of it."""
WINDOW: Final = "24h"
UNDER_WAY = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
EXPIRED = "batch_expired"

_AT_A_TIME = 500


class SubmittedBatch(BaseModel):
    """A batch that was sent and not fetched yet.

    Attributes:
        id: The server's name of it.
        base_url: Where it was sent.
        model: The model asked.
        keys: Keys of its requests in the store.
    """

    model_config = ConfigDict(extra="forbid")

    id: str
    base_url: str
    model: str
    keys: list[str]


_RECORD = TypeAdapter(list[SubmittedBatch])


@dataclass
class BatchRun:
    """What one look at the batches brought.

    Attributes:
        received: Answers that were fetched into the store, those included that are final without
            a text (a filter's, of prompts that are too long).
        failed: Requests that came back without one, by reason.
        submitted: Requests sent now.
        waiting: Requests in batches under way, those sent now included.
        batches: Batches under way, each with what the server says of it.
    """

    received: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    submitted: int = 0
    waiting: int = 0
    batches: dict[str, str] = field(default_factory=dict)


def run_batches(
    prompts: Iterable[Prompt],
    settings: LlmSettings,
    store: Store,
    record: Path,
    max_calls: int | None = None,
) -> BatchRun:
    """Fetch the batches that have ended, and send what the store has no answer to.

    A request that is in a batch under way is not sent again. Where a batch ended with requests
    that failed, nothing is sent by this run: what came is looked at first, and the next run sends
    the rest again.

    Args:
        prompts: What is to be asked.
        settings: Of which model, and where.
        store: Where answers are and go.
        record: JSON file that notes the batches under way; there is none where none is.
        max_calls: Most requests to send; None for all.

    Raises:
        UsageError: If there is no key, or the server takes no batches, or has a noted one no more.
        DataError: If the record is damaged.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    if settings.local:
        raise UsageError(
            "a model on this machine takes no batch; leave the batch (--batch) out: each call is "
            "made here, one after the other"
        )
    run, noted = BatchRun(), read_batches(record)
    with _client(settings) as client:
        for batch in list(noted):
            is_ours = (batch.base_url, batch.model) == (settings.base_url, settings.model)
            if not is_ours:
                continue
            with _told_where_gone(batch, record):
                is_over = _fetched(client, batch, settings.api_key(), store, run)
            if is_over:
                noted.remove(batch)
                _write(record, noted)
        if not run.failed:
            there = {key for batch in noted for key in batch.keys}
            left = _unanswered(prompts, settings, store, there)
            for requests in _parts(islice(left, max_calls)):
                noted.append(_sent(client, requests, settings, store, run))
                _write(record, noted)
    return run


def read_batches(record: Path) -> list[SubmittedBatch]:
    """Read which batches are under way.

    Raises:
        DataError: If the file is damaged.
    """
    if not record.is_file():
        return []
    try:
        return _RECORD.validate_json(record.read_bytes())
    except ValidationError as error:
        hint = "delete the file; answers of the batches it names are then lost to this run"
        raise DataError(validation_problems(error, record.name, None, lambda _: hint)) from error


def _write(record: Path, noted: Sequence[SubmittedBatch]) -> None:
    if not noted:
        record.unlink(missing_ok=True)
        return
    with atomic_path(record) as path:
        path.write_bytes(_RECORD.dump_json(list(noted), indent=1))


@contextmanager
def _client(settings: LlmSettings) -> Iterator[openai.OpenAI]:
    if find_spec("openai") is None:
        raise MissingDependencyError("asking LLMs", "openai", "llm")
    import openai

    key = settings.api_key()
    try:
        with openai.OpenAI(
            api_key=key,
            base_url=settings.base_url,
            timeout=settings.timeout_s,
            max_retries=settings.retries,
        ) as client:
            yield client
    except openai.APIStatusError as error:
        said = "" if error.status_code in (401, 403) else f": {shown_detail(error.message, key)}"
        raise UsageError(
            f"{settings.base_url} takes no batch (status {error.status_code}{said}); check the "
            "key, or leave the batch (--batch) out"
        ) from None
    except openai.APIConnectionError as error:
        raise UsageError(
            f"nothing answers at {settings.base_url} ({shown_detail(str(error), key)}); what was "
            "sent is noted, and the same command goes on"
        ) from None


@contextmanager
def _told_where_gone(batch: SubmittedBatch, record: Path) -> Iterator[None]:
    """Say what to do about a batch that the server does not have any more."""
    import openai

    try:
        yield
    except openai.NotFoundError:
        raise UsageError(
            f"{batch.base_url} has no batch {batch.id!r}, or no file of it (status 404); if it was "
            f"deleted there, take it out of {record}, and its requests are sent again"
        ) from None


def _unanswered(
    prompts: Iterable[Prompt],
    settings: LlmSettings,
    store: Store,
    there: set[str],
) -> Iterator[Request]:
    """Yield each request once that has no answer and is in no batch."""
    seen, source = set(there), iter(prompts)
    while chunk := [request_for(each, settings) for each in islice(source, _AT_A_TIME)]:
        for each in chunk:
            settings.refuse_key(each.content)
        fresh = {each.key: each for each in chunk if each.key not in seen}
        seen |= fresh.keys()
        answered = store.look_up(list(fresh))
        yield from (each for key, each in fresh.items() if key not in answered)


def _parts(requests: Iterable[Request]) -> Iterator[list[Request]]:
    part, size = list[Request](), 0
    for request in requests:
        length = len(request.body.encode())
        if part and (len(part) == MOST_REQUESTS or size + length > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(request)
        size += length
    if part:
        yield part


def _sent(
    client: openai.OpenAI,
    requests: Sequence[Request],
    settings: LlmSettings,
    store: Store,
    run: BatchRun,
) -> SubmittedBatch:
    """Send a batch; its requests are in the store from now on, open."""
    address = f"{urlsplit(settings.base_url).path.rstrip('/')}{settings.path}"
    lines = [
        f'{{"custom_id":"{each.key}","method":"POST","url":{json.dumps(address)},'
        f'"body":{each.body}}}\n'
        for each in requests
    ]
    _note(store, requests, settings.model)
    uploaded = client.files.create(
        file=("requests.jsonl", "".join(lines).encode()), purpose="batch"
    )
    made = client.batches.create(
        input_file_id=uploaded.id,
        endpoint=address,  # type: ignore[arg-type]  # other servers have other addresses
        completion_window=WINDOW,
    )
    run.submitted += len(requests)
    run.waiting += len(requests)
    run.batches[made.id] = str(made.status)
    keys = [each.key for each in requests]
    return SubmittedBatch(id=made.id, base_url=settings.base_url, model=settings.model, keys=keys)


def _note(store: Store, requests: Sequence[Request], model: str) -> None:
    """Put requests into the store, so that their answers have a row to go to."""
    run_id = store.start_run()
    try:
        store.claim(run_id, requests, model)
    finally:
        store.end_run(run_id)


def _fetched(
    client: openai.OpenAI, batch: SubmittedBatch, key: str, store: Store, run: BatchRun
) -> bool:
    """Write what a batch brought; False while it is under way."""
    found = client.batches.retrieve(batch.id)
    if found.status in UNDER_WAY:
        run.waiting += len(batch.keys)
        run.batches[batch.id] = str(found.status)
        return False
    results: dict[str, Result] = {}
    for file_id in (found.output_file_id, found.error_file_id):
        if file_id:
            text = client.files.content(file_id).content.decode(errors="replace")
            results |= {each.key: each for each in _results(text, key)}
    wanted = set(batch.keys)
    known = [result for result in results.values() if result.key in wanted]
    run_id = store.start_run()
    try:
        store.save(run_id, known)
    finally:
        store.end_run(run_id)
    run.received += sum(result.completion is not None for result in known)
    run.failed.update(str(each.failure) for each in known if each.completion is None)
    absent = len(wanted) - len(known)
    if absent:
        run.failed[EXPIRED if found.status == "expired" else f"batch_{found.status}"] += absent
    return True


def _results(text: str, api_key: str) -> Iterator[Result]:
    """Read the lines of a batch's file; what is no line of one is left out."""
    for line in text.split("\n"):  # not splitlines: a reply may hold U+2028 and the like
        try:
            row = json.loads(line)
            key, response = str(row["custom_id"]), row.get("response")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
        yield _result(key, response, row.get("error"), api_key)


def _result(key: str, response: object, error: object, api_key: str) -> Result:
    body: Any = response.get("body") if isinstance(response, Mapping) else None
    status = response.get("status_code") if isinstance(response, Mapping) else None
    if isinstance(status, int) and status >= 400:
        from arena.llm.transport import status_fault

        fault = status_fault(status, json.dumps(body, ensure_ascii=False), {}, api_key)
        answer = Completion(None, failure=fault.reason) if fault.reason in FINAL else None
        return Result(key, answer, fault.reason, fault.detail, tries=1)
    if status != 200:
        return Result(
            key, None, REJECTED, shown_detail(f"status {status}: {error}", api_key), tries=1
        )
    try:
        completion = read_completion(body, 0.0)
    except MalformedAnswerError as malformed:
        return Result(key, None, MALFORMED, shown_detail(str(malformed), api_key), tries=1)
    completion = without_key(completion, api_key)
    return Result(key, completion, completion.failure, tries=1)
