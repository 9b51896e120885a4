"""The batch interface of a server, ``/files`` and ``/batches`` as OpenAI published them.

https://platform.openai.com/docs/api-reference/batch
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

import httpx2
import openai
from openai.types import Batch, FileObject

from arena.data.errors import ArenaError, UsageError, argument
from arena.llm.llm_settings import LlmSettings
from arena.llm.replies import shown_detail
from arena.llm.server_errors import reported

MOST_LINES = 50_000
MOST_BYTES = 200 * 1000**2
"""Of the file of one batch, by OpenAI's documentation."""
MOST_RESULT_BYTES = 8 * 2**30
"""Of a file of results: more is no answer to a file of requests."""
REFUSED = frozenset({400, 404, 413, 422})
"""Statuses after which a batch cannot have been created, nor would be by another try."""
_OVER = frozenset({"completed", "failed", "expired", "cancelled"})


class RefusedBatchError(UsageError):
    """A server refuses to create a batch; the message says why."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch's state, as its server reports it.

    ``counts`` is such as ``12 of 40 done``, ``errors`` says why validation failed.
    """

    batch_id: str
    status: str
    counts: str = ""
    files: tuple[str, ...] = ()
    errors: str = ""

    @property
    def is_over(self) -> bool:
        """Return whether nothing more will come."""
        return self.status in _OVER

    def __str__(self) -> str:
        return f"{self.batch_id} ({', '.join(filter(None, [self.status, self.counts]))})"


class BatchServer:
    """Sends batches to one server, and asks about them."""

    def __init__(self, settings: LlmSettings) -> None:
        # Timeout of a request that moves a file
        wait_for_file_s = 600.0
        self.api_key = settings.api_key()
        self._where = settings.base_url
        self._client = openai.OpenAI(
            api_key=self.api_key,
            base_url=settings.base_url,
            timeout=settings.timeout_s,
            max_retries=settings.retries,
            # Prompts and the key are never sent on to another address.
            http_client=openai.DefaultHttpxClient(follow_redirects=False),
        )
        # A batch that is created twice is paid for twice.
        self._once = self._client.with_options(max_retries=0)
        self._with_files = self._client.with_options(timeout=wait_for_file_s)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def upload(self, name: str, lines: IO[bytes]) -> str:
        """Upload a file of requests; return its name at the server."""
        with self._explained("takes no file of requests"):
            uploaded = self._with_files.files.create(file=(name, lines), purpose="batch")
            return self._name(uploaded.id if isinstance(uploaded, FileObject) else None)

    def create(self, file_id: str, path: str) -> str:
        """Create a batch of an uploaded file; return its name.

        Raises:
            UsageError: If no answer came, so that there may be one (``batch_of_file``).
        """
        endpoint: Any = f"/v1{path}"
        with self._explained("creates no batch"):
            created = self._once.batches.create(
                input_file_id=file_id, endpoint=endpoint, completion_window="24h"
            )
            return self._name(created.id if isinstance(created, Batch) else None)

    def batch_of_file(self, file_id: str) -> str | None:
        """Find the batch of a file, if any."""
        # Batches of an account that are looked through for one
        most_listed = 10_000
        with self._explained("lists no batches"):
            n_listed = 0
            for batch in islice(self._client.batches.list(limit=100), most_listed):
                n_listed += 1
                if getattr(batch, "input_file_id", None) == file_id:
                    return self._name(batch.id)
        if n_listed == most_listed:
            raise UsageError(
                f"{self._where} lists more than {most_listed:,} batches, and whether the file "
                f"{file_id} was sent cannot be found out; ask with a new store"
            )
        return None

    def state(self, batch_id: str) -> BatchState:
        """Ask how a batch is doing."""
        with self._explained(f"does not show the batch {batch_id}", _of_key("the batch")):
            batch = self._client.batches.retrieve(batch_id)
        if not isinstance(batch, Batch):
            raise UsageError(
                f"{self._where} does not show the batch {batch_id}: its answer is not JSON"
            )
        return self._state(batch_id, batch.to_dict(warnings=False))

    def download(self, file_id: str, target: IO[bytes]) -> None:
        """Copy a file of results."""
        n_bytes = 0
        advice = _of_key("its batch")
        with (
            self._explained(f"does not show the file {file_id}", advice),
            self._with_files.files.with_streaming_response.content(file_id) as response,
        ):
            for part in response.iter_bytes():
                n_bytes += len(part)
                if n_bytes > MOST_RESULT_BYTES:
                    raise UsageError(f"the file {file_id} of {self._where} is too long to be read")
                target.write(part)

    def shown(self, text: str) -> str:
        """Shorten the server's text, without the key."""
        return shown_detail(text, self.api_key)

    def _state(self, batch_id: str, answer: Mapping[str, object]) -> BatchState:
        files = [answer.get(name) for name in ("output_file_id", "error_file_id")]
        return BatchState(
            batch_id=batch_id,
            status=self.shown(str(answer.get("status"))),
            counts=_counts(answer.get("request_counts")),
            files=tuple(file for file in files if isinstance(file, str) and file),
            errors=self.shown(_first_error(answer.get("errors"))),
        )

    def _name(self, name: object) -> str:
        if not isinstance(name, str) or not 0 < len(name) <= 200:
            raise UsageError(f"{self._where} takes no batches: its answer describes none")
        return name

    @contextmanager
    def _explained(self, lack: str, advice: str = "") -> Iterator[None]:
        try:
            yield
        except ArenaError:
            raise
        except openai.APIStatusError as error:
            status = error.status_code
            if status != 404 or not advice:
                advice = _ADVICE.get(status, _OTHER_ADVICE)
            message = ""
            # A message about a wrong key may repeat parts of it.
            if status not in {401, 403}:
                report = reported(status, error.response.text)
                message = f": {self.shown(report.message or 'no reason given')}"
            text = f"{self._where} {lack} (status {status}{message}); {advice}"
            if status in REFUSED:
                raise RefusedBatchError(text) from None
            raise UsageError(text) from None
        except (openai.OpenAIError, httpx2.HTTPError, OSError, ValueError) as error:
            cause = self.shown(f"{type(error).__name__}: {error.__cause__ or error}")
            raise UsageError(
                f"{self._where} {lack} ({cause}); run the same command again: nothing is lost"
            ) from None


_OTHER_ADVICE = (
    f"if it has no batch interface, leave {argument('batch')} out; else run the same command again"
)
_ADVICE = {
    401: "the key is not accepted: set another",
    403: "the key may not do this: set another",
    429: "run the same command again later",
}


def _of_key(what: str) -> str:
    return (
        f"use the key with which {what} was sent; if it was deleted there, ask with a new store "
        "that has the replies of this one (the guide on scale has the lines)"
    )


def _first_error(errors: object) -> str:
    listed = errors.get("data") if isinstance(errors, Mapping) else None
    if not isinstance(listed, list) or not listed or not isinstance(listed[0], Mapping):
        return ""
    error = listed[0]
    message = str(error.get("message") or error.get("code"))
    places = [f"{name} {error[name]}" for name in ("line", "param") if error.get(name)]
    return f"{message} ({', '.join(places)})" if places else message


def _counts(counts: object) -> str:
    if not isinstance(counts, Mapping):
        return ""
    n_requests, n_done = counts.get("total"), counts.get("completed")
    if not isinstance(n_requests, int) or not isinstance(n_done, int):
        return ""
    return f"{n_done:,} of {n_requests:,} done"
