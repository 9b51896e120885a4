"""Reading a server's answer to one request, as a completion or a fault."""

from __future__ import annotations

from collections.abc import Mapping

from arena.llm import replies
from arena.llm.completions import MalformedAnswerError, read_completion, read_embedding
from arena.llm.llm_settings import EMBEDDINGS
from arena.llm.replies import Completion, Fault, shown_detail, without_key
from arena.llm.requests import Request
from arena.llm.server_errors import ReportedError, fault_of


def read_answer(
    request: Request,
    payload: object,
    report: ReportedError | None,
    headers: Mapping[str, str],
    api_key: str,
) -> Completion | Fault:
    """Read the answer to a request, without the key."""
    if report is not None:
        return fault_of(report, headers, api_key, request.fields)
    reader = read_embedding if request.path == EMBEDDINGS else read_completion
    try:
        return without_key(reader(payload), api_key)
    except MalformedAnswerError as error:
        is_paid = isinstance(payload, Mapping) and bool(payload.get("usage"))
        detail = shown_detail(str(error), api_key)
        return Fault(replies.MALFORMED, detail, again=True, is_paid=is_paid)
