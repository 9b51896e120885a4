"""A RAG system of one's own: a function that is imported, and called with a question."""

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
from arena.llm.llm_settings import Message, Prompt, Request
from arena.llm.replies import Completion, Fault, shown_detail

BY_NAME = ("language", OWN_PASSAGES, HISTORY)
"""What a function gets if it has parameters of these names; the question it gets first."""
OF_PASSAGES = ("passage_id", "text", "title")
RETURNS = "return the answer as a text, or the answer and the list of its passages"
OF_MODELS = frozenset({"model", "prompt", "passage_tokens", "context_tokens", "tokenizer"}) | {
    *("temperature", "max_tokens", "body", "omit")
}
RAISED = (Exception, SystemExit, KeyboardInterrupt)
DIGITS = 12


@dataclass(frozen=True)
class FunctionSystem:
    """A RAG system: a function of a question.

    It takes the question and, if it has parameters of these names, ``language`` (a code),
    ``passages`` (the arena's: dicts of ``passage_id, text, title``) and ``history`` (the turns
    before: dicts of ``role, content``). It returns the answer, or a tuple of the answer and a list
    of passages (texts, or dicts with ``text``), or either when awaited.

    Attributes:
        settings: How it is called; ``model`` is its place, with digits of the digest of its file.
        named: Parameters that it has of ``BY_NAME``.
    """

    settings: GenerationSettings
    named: tuple[str, ...]

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
        if foreign := sorted(OF_MODELS & settings.model_fields_set):
            raise UsageError(f"a function takes no {', '.join(map(argument, foreign))}")
        function = _imported(place)
        is_async = any(map(inspect.iscoroutinefunction, (function, type(function).__call__)))
        if not is_async and "concurrency" not in settings.model_fields_set:
            settings = settings.model_copy(update={"concurrency": 1})
        module = sys.modules[place.partition(":")[0]]
        code = getattr(inspect.unwrap(function), "__code__", None)
        named = {getattr(module, "__file__", None), getattr(code, "co_filename", None)}
        files = sorted(file for file in named if file and Path(file).is_file())
        caller = _Caller(function, is_async, settings.timeout_s, files)
        texts = b"\0".join(Path(file).read_bytes() for file in files)
        model = f"{place}@{hashlib.sha256(texts).hexdigest()[:DIGITS]}"
        return cls(settings.handled_by(caller, place, model), _parameters(function, place))

    @property
    def name(self) -> str:
        """Name in the ``system`` column."""
        return self.settings.name or self.settings.where

    @property
    def version(self) -> str:
        """The function's place, and digits of the digest of its file."""
        return self.settings.model

    def ask(self, given: GivenQuestion) -> Prompt:
        """Return what the function gets for a question, as JSON."""
        passages = [{name: getattr(each, name) for name in OF_PASSAGES} for each in given.passages]
        turns = [{"role": turn.role, "content": turn.text} for turn in given.history]
        every = {"language": given.key[0], OWN_PASSAGES: passages, HISTORY: turns}
        asked = {"question": given.question, **{name: every[name] for name in self.named}}
        content = json.dumps(asked, ensure_ascii=False)
        return Prompt((Message("user", content),), self.version, self.settings.name)

    def read(self, completion: Completion) -> dict[str, Any]:
        """Return the columns of an answer."""
        return {"finish_reason": "", **json.loads(completion.text or "")}


def import_from_here() -> None:
    """Import modules of the working directory before others from now on, as ``python -m`` does."""
    here = str(Path.cwd())
    if not sys.flags.safe_path and here not in sys.path[:1]:
        sys.path.insert(0, here)


@dataclass(frozen=True)
class _Caller:
    """Calls a function in the place of a server."""

    function: Callable[..., Any]
    is_async: bool
    timeout_s: float
    files: list[str]

    async def close(self) -> None:
        """Do nothing: nothing was opened."""

    async def call(self, request: Request) -> Completion | Fault:
        """Call the function once; what it raises is the reason why there is no answer."""
        asked = json.loads(json.loads(request.body)["messages"][0]["content"])
        question, started = asked.pop("question"), time.perf_counter()
        limit = asyncio.timeout(self.timeout_s)
        try:
            async with limit:
                said = await (self.function if self.is_async else self._in_thread)(
                    question, **asked
                )
                said = await said if inspect.isawaitable(said) else said
        except (*RAISED, asyncio.CancelledError) as error:  # not ours: no reason to end a run
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the run ends
                raise
            if limit.expired():
                return Fault(replies.TIMEOUT, f"no answer in {self.timeout_s:g} s")
            return Fault(replies.RAISED, _told(error, self.files))
        try:
            columns = _columns(said)
        except ValueError as error:
            return Fault(replies.MALFORMED, f"{error}; {RETURNS}")
        if not columns["answer"].strip():
            return Completion(None, failure=replies.EMPTY, detail="it returned no answer")
        message = {"content": json.dumps(columns, ensure_ascii=False)}
        return read_completion({"choices": [{"message": message}]}, time.perf_counter() - started)

    def _in_thread(self, question: str, **asked: object) -> asyncio.Future[Any]:
        """Call the function in a thread of its own, which does not keep the program from ending."""
        said: Future[Any] = Future()
        said.set_running_or_notify_cancel()

        def run() -> None:
            try:
                said.set_result(self.function(question, **asked))
            except BaseException as error:
                said.set_exception(error)

        Thread(target=run, name="arena-system", daemon=True).start()
        return asyncio.wrap_future(said)


def _imported(place: str) -> Callable[..., Any]:
    module, _, path = place.partition(":")
    if not (module and path):
        raise UsageError(f"{argument('system')} is {place!r}; write package.module:function")
    try:
        with redirect_stdout(sys.stderr):
            found: Any = import_module(module)
    except RAISED as error:
        absent = error.name if isinstance(error, ModuleNotFoundError) else None
        if absent and f"{module}.".startswith(f"{absent}."):
            where = f"neither in {Path.cwd()} nor installed"
            raise UsageError(
                f"there is no module {absent!r}, {where}; name it as Python imports it"
            ) from error
        raise UsageError(f"{module} cannot be imported: {_told(error)}") from error
    for name in path.split("."):
        if not hasattr(found, name):
            hint = did_you_mean(name, dir(found)) or "name a function that is there"
            raise UsageError(f"{place}: there is no {name!r}; {hint}")
        found = getattr(found, name)
    if not callable(found):
        raise UsageError(f"{place} is of type {type(found).__name__}; name a function")
    return found  # type: ignore[no-any-return]


def _parameters(function: Callable[..., Any], place: str) -> tuple[str, ...]:
    try:
        signature = inspect.signature(function)
        named = tuple(name for name in BY_NAME if name in signature.parameters)
        signature.bind("question", **dict.fromkeys(named))
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"{place} cannot be called with a question ({error}); give it one parameter for the "
            f"question, and {', '.join(BY_NAME)} if it wants them"
        ) from error
    return named


def _columns(said: object) -> dict[str, Any]:
    """Return the answer, and passages if there are any; a ValueError if it is something else."""
    answer, given = said if isinstance(said, tuple) and len(said) == 2 else (said, None)
    if not isinstance(answer, str | None):
        raise ValueError(f"the answer it returned is of type {type(answer).__name__}")
    if given is None:
        return {"answer": answer or ""}
    if not isinstance(given, list):
        raise ValueError(f"the passages it returned are of type {type(given).__name__}")
    found = [{name: it[name] for name in OF_PASSAGES} for it in passages_of(given)]
    passages = [it | {"passage_id": str(it["passage_id"])} for it in found]
    if fault := passages_fault(passages):
        raise ValueError(f"the passages it returned are wrong ({fault})")
    return {"answer": answer or "", OWN_PASSAGES: passages}


def _told(error: BaseException, files: Sequence[str] = ()) -> str:
    """Say what was raised and where: the last place in some files, if it passed there."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename in files] or frames
    where = f"{Path(own[-1].filename).name}, line {own[-1].lineno}"
    return shown_detail(f"{type(error).__name__}: {error} ({where})", "")
