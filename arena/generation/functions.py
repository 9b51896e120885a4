"""The user's own RAG system: a function that is imported, and called with a question."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from arena.data.checks import passages_fault
from arena.data.errors import UsageError, argument
from arena.data.passages import passages_of
from arena.data.schema import HISTORY, OWN_PASSAGES
from arena.data.wording import did_you_mean
from arena.generation.generation_settings import GenerationSettings
from arena.generation.questions import GivenQuestion
from arena.llm import replies
from arena.llm.completions import read_completion
from arena.llm.replies import Completion, Fault, shown_detail
from arena.llm.requests import Message, Prompt, Request

BY_NAME = ("language", OWN_PASSAGES, HISTORY)
"""What a function gets if it has parameters of these names; the question comes first."""
PASSAGE_FIELDS = ("passage_id", "text", "title")
RAISED = (Exception, SystemExit, KeyboardInterrupt)
"""What a function may raise; SystemExit and KeyboardInterrupt of its own must not end the run."""


@dataclass(frozen=True)
class FunctionSystem:
    """A RAG system: a function of a question.

    It takes the question and, if it has parameters of these names, ``language`` (a code),
    ``passages`` (the arena's: dicts of ``passage_id, text, title``) and ``history`` (the turns
    before: dicts of ``role, content``). It returns the answer, or a tuple of the answer and a list
    of passages (texts, or dicts with ``text``), or either when awaited.

    Attributes:
        settings: How it is called; ``model`` is its place, with digits of the digest of its file.
        parameters: Parameters that it has of ``BY_NAME``.
    """

    settings: GenerationSettings
    parameters: tuple[str, ...]

    @classmethod
    def of(cls, settings: GenerationSettings, place: str) -> FunctionSystem:
        """Import a function.

        Args:
            settings: Without a model; a function that is not async is called once at a time,
                unless they state another ``concurrency``.
            place: ``package.module:function``.

        Raises:
            UsageError: If there is no such function, or it cannot be called with a question.
        """
        of_models = {
            "model",
            "prompt",
            "passage_tokens",
            "context_tokens",
            "tokenizer",
            "temperature",
            "max_tokens",
            "body",
            "omit",
        }
        foreign = sorted(of_models & settings.model_fields_set)
        if foreign:
            raise UsageError(f"a function takes no {', '.join(map(argument, foreign))}")
        function = _imported(place)
        # An object may be called through an async ``__call__``.
        is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            type(function).__call__
        )
        if not is_async and "concurrency" not in settings.model_fields_set:
            # A plain function need not be safe to call from several threads.
            settings = settings.model_copy(update={"concurrency": 1})
        files = _source_files(function, place)
        sources = b"\0".join(Path(file).read_bytes() for file in files)
        model = f"{place}@{hashlib.sha256(sources).hexdigest()[:12]}"
        caller = _Caller(function, is_async, settings.timeout_s, files)
        return cls(
            settings=settings.handled_by(caller, place, model),
            parameters=_parameters(function, place),
        )

    @property
    def name(self) -> str:
        """Name in the ``system`` column."""
        return self.settings.name or self.settings.where

    @property
    def version(self) -> str:
        """The function's place, and digits of the digest of its file."""
        return self.settings.model

    def ask(self, question: GivenQuestion) -> Prompt:
        """Return the arguments of the function for a question, as JSON."""
        arguments: dict[str, object] = {"question": question.question}
        if "language" in self.parameters:
            arguments["language"] = question.key[0]
        if OWN_PASSAGES in self.parameters:
            arguments[OWN_PASSAGES] = [
                {
                    "passage_id": passage.passage_id,
                    "text": passage.text,
                    "title": passage.title,
                }
                for passage in question.passages
            ]
        if HISTORY in self.parameters:
            arguments[HISTORY] = [
                {"role": turn.role, "content": turn.text} for turn in question.history
            ]
        content = json.dumps(arguments, ensure_ascii=False)
        # Systems of other names are asked on their own, even if they share the function.
        return Prompt((Message("user", content),), self.version, purpose=self.settings.name)

    def read(self, completion: Completion) -> dict[str, Any]:
        """Return the columns of an answer."""
        return {"finish_reason": "", **json.loads(completion.text or "")}


def import_from_here() -> None:
    """Import modules of the working directory before others from now on, as ``python -m`` does."""
    directory = str(Path.cwd())
    if not sys.flags.safe_path and directory not in sys.path[:1]:
        sys.path.insert(0, directory)


@dataclass(frozen=True)
class _Caller:
    """Calls a function where other systems call a server."""

    function: Callable[..., Any]
    is_async: bool
    timeout_s: float
    files: list[str]

    async def close(self) -> None:
        """Do nothing: nothing was opened."""

    async def call(self, request: Request) -> Completion | Fault:
        """Call the function once; if it raises, the exception explains the missing answer."""
        arguments = json.loads(json.loads(request.body)["messages"][0]["content"])
        question = arguments.pop("question")
        started = time.perf_counter()
        limit = asyncio.timeout(self.timeout_s)
        call = self.function if self.is_async else self._in_thread
        try:
            async with limit:
                result = await call(question, **arguments)
                # A plain function may return a coroutine of another one.
                if inspect.isawaitable(result):
                    result = await result
        except (*RAISED, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the run ends
                raise
            if limit.expired():
                return Fault(replies.TIMEOUT, f"no answer in {self.timeout_s:g} s")
            return Fault(replies.RAISED, _described(error, self.files))
        try:
            columns = _columns(result)
        except ValueError as error:
            hint = "return the answer as a text, or the answer and the list of its passages"
            return Fault(replies.MALFORMED, f"{error}; {hint}")
        if not columns["answer"].strip():
            return Completion(None, failure=replies.EMPTY, detail="it returned no answer")
        message = {"content": json.dumps(columns, ensure_ascii=False)}
        return read_completion({"choices": [{"message": message}]}, time.perf_counter() - started)

    def _in_thread(self, question: str, **arguments: object) -> asyncio.Future[Any]:
        """Call the function in a thread of its own, which does not keep the program from ending."""
        result: Future[Any] = Future()
        result.set_running_or_notify_cancel()

        def run() -> None:
            try:
                result.set_result(self.function(question, **arguments))
            except BaseException as error:
                result.set_exception(error)

        Thread(target=run, name="arena-system", daemon=True).start()
        return asyncio.wrap_future(result)


def _imported(place: str) -> Callable[..., Any]:
    module, _, path = place.partition(":")
    if not (module and path):
        raise UsageError(f"{argument('system')} is {place!r}; write package.module:function")
    try:
        # What a module prints must not mix with a command's output, which may be JSON.
        with redirect_stdout(sys.stderr):
            target: Any = import_module(module)
    except RAISED as error:
        absent = error.name if isinstance(error, ModuleNotFoundError) else None
        # Other modules may be absent too: those that the user's module imports.
        if absent and f"{module}.".startswith(f"{absent}."):
            raise UsageError(
                f"there is no module {absent!r}, neither in {Path.cwd()} nor installed; name it as "
                "Python imports it"
            ) from error
        raise UsageError(f"{module} cannot be imported: {_described(error)}") from error
    for name in path.split("."):
        if not hasattr(target, name):
            hint = did_you_mean(name, dir(target)) or "name a function of the module"
            raise UsageError(f"{place}: there is no {name!r}; {hint}")
        target = getattr(target, name)
    if not callable(target):
        raise UsageError(f"{place} is of type {type(target).__name__}; name a function")
    return target  # type: ignore[no-any-return]


def _source_files(function: Callable[..., Any], place: str) -> list[str]:
    """Return the files of the module named and of the function, which it may only import."""
    module = sys.modules[place.partition(":")[0]]
    code = getattr(inspect.unwrap(function), "__code__", None)
    candidates = {getattr(module, "__file__", None), getattr(code, "co_filename", None)}
    return sorted(file for file in candidates if file and Path(file).is_file())


def _parameters(function: Callable[..., Any], place: str) -> tuple[str, ...]:
    try:
        signature = inspect.signature(function)
        parameters = tuple(name for name in BY_NAME if name in signature.parameters)
        signature.bind("question", **dict.fromkeys(parameters))
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"{place} cannot be called with a question ({error}); give it one parameter for the "
            f"question, and {', '.join(BY_NAME)} if it wants them"
        ) from error
    return parameters


def _columns(result: object) -> dict[str, Any]:
    """Return the answer, and its passages if there are any.

    Raises:
        ValueError: If the function returned something else.
    """
    answer, returned_passages = result, None
    if isinstance(result, tuple) and len(result) == 2:
        answer, returned_passages = result
    if not isinstance(answer, str | None):
        raise ValueError(f"the answer it returned is of type {type(answer).__name__}")
    if returned_passages is None:
        return {"answer": answer or ""}
    if not isinstance(returned_passages, list):
        raise ValueError(f"the passages it returned are of type {type(returned_passages).__name__}")
    passages = []
    for passage in passages_of(returned_passages):
        fields = {name: passage[name] for name in PASSAGE_FIELDS}
        fields["passage_id"] = str(fields["passage_id"])  # a retriever may number its passages
        passages.append(fields)
    fault = passages_fault(passages)
    if fault:
        raise ValueError(f"the passages it returned are wrong ({fault})")
    return {"answer": answer or "", OWN_PASSAGES: passages}


def _described(error: BaseException, files: Sequence[str] = ()) -> str:
    """Describe what was raised and where: the last line in the user's files, if it passed there."""
    frames = traceback.extract_tb(error.__traceback__)
    frames_of_user = [frame for frame in frames if frame.filename in files]
    last = (frames_of_user or frames)[-1]
    line = f"{Path(last.filename).name}, line {last.lineno}"
    return shown_detail(f"{type(error).__name__}: {error} ({line})", "")
