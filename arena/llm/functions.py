"""Functions that answer in a model's place: systems and judges of the user's."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from arena.data.errors import UsageError
from arena.data.plug_ins import exception_line
from arena.llm import replies
from arena.llm.completions import read_completion
from arena.llm.replies import Completion, Fault, shown_detail
from arena.llm.requests import Request

RAISED = (Exception, SystemExit, KeyboardInterrupt)
"""What a function may raise; SystemExit and KeyboardInterrupt of its own must not end the run."""


@dataclass(frozen=True)
class FunctionTransport:
    """Calls a function where other settings call a server.

    Attributes:
        function: The function; one that is not async runs in a thread.
        positional: Arguments that are passed by position, in order.
        encode: Writes its result as text, empty for nothing; raises ValueError with a hint.
        files: The function's source files, whose lines messages name.
    """

    function: Callable[..., Any]
    positional: tuple[str, ...]
    encode: Callable[[Any], str]
    timeout_s: float
    files: tuple[str, ...]

    async def close(self) -> None:
        """Do nothing."""

    async def call(self, request: Request) -> Completion | Fault:
        """Call the function once; an exception explains the missing answer."""
        arguments = json.loads(json.loads(request.body)["messages"][0]["content"])
        values = [arguments.pop(name) for name in self.positional]
        limit = asyncio.timeout(self.timeout_s)
        call = self.function if is_async(self.function) else self._in_thread
        try:
            async with limit:
                result = await call(*values, **arguments)
                # A plain function may return a coroutine of another one.
                if inspect.isawaitable(result):
                    result = await result
        except (*RAISED, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the run ends
                raise
            if limit.expired():
                return Fault(replies.TIMEOUT, f"no answer in {self.timeout_s:g} s")
            return Fault(replies.RAISED, shown_detail(exception_line(error, self.files), ""))
        try:
            text = self.encode(result)
        except ValueError as error:
            return Fault(replies.MALFORMED, str(error))
        if not text:
            return Completion(None, failure=replies.EMPTY, detail="it returned no answer")
        return read_completion({"choices": [{"message": {"content": text}}]})

    def _in_thread(self, *values: object, **arguments: object) -> asyncio.Future[Any]:
        """Call the function in a thread that does not block the exit."""
        result: Future[Any] = Future()
        result.set_running_or_notify_cancel()

        def run() -> None:
            try:
                result.set_result(self.function(*values, **arguments))
            except BaseException as error:
                result.set_exception(error)

        Thread(target=run, name="arena-function", daemon=True).start()
        return asyncio.wrap_future(result)


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether a call gives a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        type(function).__call__
    )


def source_files(function: Callable[..., Any], module: str) -> tuple[str, ...]:
    """Return the files of the module and its function."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    files = {getattr(sys.modules[module], "__file__", None), getattr(code, "co_filename", None)}
    return tuple(sorted(file for file in files if file and Path(file).is_file()))


def source_digest(files: Sequence[str]) -> str:
    """Return the first digits of a digest of files."""
    sources = b"\0".join(Path(file).read_bytes() for file in files)
    return hashlib.sha256(sources).hexdigest()[:12]


def named_parameters(
    function: Callable[..., Any],
    positional: Sequence[str],
    by_name: Collection[str],
    shown_name: str,
) -> tuple[str, ...]:
    """Return the function's parameters among those passed by name."""
    try:
        signature = inspect.signature(function)
        parameters = tuple(name for name in by_name if name in signature.parameters)
        signature.bind(*positional, **dict.fromkeys(parameters))
    except (TypeError, ValueError) as error:
        listed = ", ".join(positional)
        raise UsageError(
            f"{shown_name} cannot be called with {listed} ({error}); give it parameters for these, "
            f"in this order, and {', '.join(by_name)} if it wants them"
        ) from error
    return parameters
