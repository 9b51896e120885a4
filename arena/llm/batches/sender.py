"""Sending requests as batches, and collecting the replies of those sent by earlier runs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import islice
from queue import SimpleQueue
from tempfile import TemporaryFile
from typing import IO

from arena.data.errors import UsageError, argument
from arena.data.wording import count_of
from arena.llm import replies
from arena.llm.batches.ledger import ROWS_AT_A_TIME, BatchLedger, NotedBatch
from arena.llm.batches.lines import (
    CANCELLED_FAULT,
    EXPIRED_FAULT,
    read_result_line,
    request_line,
    result_lines,
)
from arena.llm.batches.server import (
    MOST_BYTES,
    MOST_LINES,
    BatchServer,
    BatchState,
    RefusedBatchError,
)
from arena.llm.llm_settings import LlmSettings
from arena.llm.prospects import Prospects
from arena.llm.replies import Completion, Fault
from arena.llm.requests import Request
from arena.llm.sending import MOST_BROKEN
from arena.llm.store import Store
from arena.llm.usage import Usage

_LOG = logging.getLogger(__name__)


class BatchSender:
    """Sends batches, after collecting earlier ones; no run waits.

    ``finished`` holds completions by key, None while awaited; ``collected`` this run's keys.
    """

    def __init__(self, settings: LlmSettings, store: Store, usage: Usage, proven: bool) -> None:
        """Open the connections; ``proven`` if the model answered before."""
        self.finished: SimpleQueue[tuple[str, Completion | None] | BaseException] = SimpleQueue()
        self.collected: set[str] = set()
        self._settings = settings
        self._ledger = BatchLedger(store)
        self._usage = usage
        self._prospects = Prospects(settings, proven)
        self._server = BatchServer(settings)
        self._under_way: list[BatchState] = []
        self._refused: list[str] = []
        self._faults: list[Fault] = []
        self._failed: dict[str, Completion] = {}
        self._tries: dict[str, int] = {}
        self._draft: int | None = None
        self._draft_lines = 0
        self._draft_bytes = 0

    def collect(self) -> None:
        """Store the replies of batches that are over."""
        for batch in self._ledger.batches(self._settings):
            batch_id = batch.batch_id or self._resume(batch)
            if batch_id is None:
                continue
            state = self._server.state(batch_id)
            if state.is_over:
                self._collect(batch, state)
            else:
                self._under_way.append(state)
        if self._refused:
            raise UsageError(
                f"{'; '.join(self._refused)}; change the settings or prompts, or send fewer at a "
                f"time with {argument('max_calls')}, and run the same command again"
            )
        for fault in self._faults:
            self._prospects.check_fault(fault)
            # Where the model has answered, those that failed are not in a row.
            if not self._prospects.is_proven:
                self._prospects.count_failed(fault)

    def submit(self, requests: Sequence[Request]) -> None:
        """Take on requests; ``send_rest`` sends the last of them."""
        servers = self._ledger.servers([request.key for request in requests])
        new: list[Request] = []
        for request in requests:
            failed = self._failed.get(request.key)
            if failed is not None:
                self.finished.put((request.key, failed))
                continue
            server = servers.get(request.key)
            if server is None:
                new.append(request)
            elif server != self._settings.base_url:
                raise UsageError(
                    f"replies to these prompts are awaited from {server}; collect them there "
                    "first, or ask with a new store"
                )
            self.finished.put((request.key, None))
        self._add(new)

    def send_rest(self) -> None:
        """Send what is not sent yet."""
        self._send_draft()

    def awaited(self) -> list[str]:
        """Show each batch under way, and how many replies were collected."""
        shown = [f"{state} at {self._settings.base_url}" for state in self._under_way]
        if self.collected:
            shown.append(f"{count_of(len(self.collected), 'reply', 'replies')} collected")
        return shown

    def stop(self) -> None:
        """Close the connections; unsent requests are forgotten."""
        if self._draft is not None:
            self._ledger.drop(self._draft)
        self._server.close()

    def _add(self, requests: Sequence[Request]) -> None:
        part: list[Request] = []
        for request in requests:
            n_bytes = len(request_line(request))
            is_full = self._draft_lines == MOST_LINES or self._draft_bytes + n_bytes > MOST_BYTES
            if is_full and self._draft_lines:
                self._note(part)
                part = []
                self._send_draft()
            part.append(request)
            self._draft_lines += 1
            self._draft_bytes += n_bytes
        self._note(part)

    def _note(self, requests: Sequence[Request]) -> None:
        if not requests:
            return
        if self._draft is None:
            self._draft = self._ledger.add_batch(self._settings)
        self._ledger.add_requests(self._draft, requests, self._tries)

    def _send_draft(self) -> None:
        if self._draft is None:
            return
        number = self._draft
        batch = NotedBatch(number, self._settings.path, None, None)
        with TemporaryFile() as file:
            for request, _ in self._ledger.requests(batch):
                file.write(request_line(request))
            file.seek(0)
            file_id = self._server.upload(f"surrogate-arena-{number}.jsonl", file)
        self._ledger.note_file(number, file_id)
        # From here on there may be a batch: the ledger keeps it whatever happens.
        self._draft = None
        self._draft_lines = 0
        self._draft_bytes = 0
        batch_id = self._create(batch, file_id)
        self._under_way.append(BatchState(batch_id, "sent"))

    def _create(self, batch: NotedBatch, file_id: str) -> str:
        try:
            batch_id = self._server.create(file_id, batch.path)
        except RefusedBatchError:
            self._ledger.drop(batch.number)
            raise
        self._ledger.note_batch(batch.number, batch_id)
        return batch_id

    def _resume(self, batch: NotedBatch) -> str | None:
        if batch.file_id is None:
            self._ledger.drop(batch.number)
            return None
        batch_id = self._server.batch_of_file(batch.file_id)
        if batch_id is None:
            return self._create(batch, batch.file_id)
        self._ledger.note_batch(batch.number, batch_id)
        return batch_id

    def _collect(self, batch: NotedBatch, state: BatchState) -> None:
        if state.status == "failed":
            reason = state.errors or "no reason given"
            self._refused.append(
                f"{self._settings.base_url} refused the batch {state.batch_id}: {reason}"
            )
            self._ledger.drop(batch.number)
            return
        faults: dict[str, tuple[Fault, int]] = {}
        n_before = len(self.collected)
        for file_id in state.files:
            with TemporaryFile() as file:
                self._server.download(file_id, file)
                file.seek(0)
                self._read(batch, file, faults)
        for request, tries in self._ledger.requests(batch):
            fault = faults.get(request.key, (_fault_of(state), tries))
            self._count_fault(request.key, *fault)
        self._ledger.drop(batch.number)
        _LOG.info("Collected %s: %s replies", state, f"{len(self.collected) - n_before:,}")

    def _read(
        self, batch: NotedBatch, file: IO[bytes], faults: dict[str, tuple[Fault, int]]
    ) -> None:
        lines = result_lines(file)
        while results := dict(islice(lines, ROWS_AT_A_TIME)):
            settled: list[tuple[Request, Completion, int]] = []
            for key, (request, tries) in self._ledger.find(batch, list(results)).items():
                answer = read_result_line(request, results[key], self._server.api_key)
                if isinstance(answer, Fault) and answer.reason in replies.FINAL:
                    answer = Completion(None, failure=answer.reason, detail=answer.detail)
                elif isinstance(answer, Completion):
                    self._prospects.count_answered()
                    self._usage.count_tokens(answer.tokens_in, answer.tokens_out)
                    if not answer.is_final:
                        reason = answer.failure or replies.BROKEN_OFF
                        answer = Fault(reason, answer.detail, again=True, is_paid=True)
                if isinstance(answer, Fault):
                    faults[key] = answer, tries
                else:
                    settled.append((request, answer, tries))
            self._ledger.settle(settled)
            self.collected.update(request.key for request, _, _ in settled)

    def _count_fault(self, key: str, fault: Fault, tries: int) -> None:
        if _is_sent_again(fault, tries, self._settings):
            self._tries[key] = tries
            return
        self._failed[key] = Completion(None, failure=fault.reason, detail=fault.detail)
        self._faults.append(fault)


def _is_sent_again(fault: Fault, tries: int, settings: LlmSettings) -> bool:
    if fault.is_paid and tries >= MOST_BROKEN:
        return False
    return fault.again and tries <= settings.retries


def _fault_of(state: BatchState) -> Fault:
    faults = {"expired": EXPIRED_FAULT, "cancelled": CANCELLED_FAULT}
    no_line = Fault(replies.MALFORMED, "the batch has no line for it", again=True)
    return faults.get(state.status, no_line)
