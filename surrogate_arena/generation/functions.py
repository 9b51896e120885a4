"""The user's own RAG system: a function that is imported, and called with a question."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from arena.data.checks import passages_fault
from arena.data.errors import UsageError, argument
from arena.data.plug_ins import exception_line
from arena.data.schema import OWN_PASSAGES
from arena.data.wording import did_you_mean
from arena.judging.answer_pairs import BY_NAME, arguments_by_name
from arena.llm.functions import (
    RAISED,
    FunctionTransport,
    is_async,
    named_parameters,
    source_digest,
    source_files,
)
from arena.llm.replies import Completion
from arena.llm.requests import Message, Prompt
from surrogate_arena.generation.generation_settings import GenerationSettings
from surrogate_arena.generation.questions import GivenQuestion

_LLM_SETTINGS = {
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


@dataclass(frozen=True)
class FunctionSystem:
    """A RAG system: a function of a question, and, by name, of more.

    ``language`` is a code, ``passages`` are dicts of ``passage_id, text, title``, ``history`` dicts
    of ``role, content``. It returns the answer, or a tuple of it and a list of passages (texts, or
    dicts with ``text``), perhaps awaited.
    """

    settings: GenerationSettings
    parameters: tuple[str, ...]

    @classmethod
    def of(cls, settings: GenerationSettings, import_path: str) -> FunctionSystem:
        """Import a function, ``package.module:function``; a plain one is called once at a time."""
        foreign = sorted(_LLM_SETTINGS & settings.model_fields_set)
        if foreign:
            raise UsageError(f"a function takes no {', '.join(map(argument, foreign))}")
        function = _imported(import_path)
        if not is_async(function) and "concurrency" not in settings.model_fields_set:
            # A plain function need not be safe to call from several threads.
            settings = settings.model_copy(update={"concurrency": 1})
        module, _, _ = import_path.partition(":")
        files = source_files(function, module)
        transport = FunctionTransport(function, ("question",), _encoded, settings.timeout_s, files)
        version = f"{import_path}@{source_digest(files)}"
        return cls(
            settings=settings.handled_by(transport, import_path, version),
            parameters=named_parameters(function, ("question",), BY_NAME, import_path),
        )

    @property
    def name(self) -> str:
        """Name in the ``system`` column."""
        return self.settings.name or self.settings.where

    @property
    def version(self) -> str:
        """The import path, and digits of the digest of its file."""
        return self.settings.model

    def prompt_for(self, question: GivenQuestion) -> Prompt:
        """Return the arguments of the function for a question, as JSON."""
        named = arguments_by_name(
            self.parameters, question.key[0], question.passages, question.history
        )
        content = json.dumps({"question": question.question, **named}, ensure_ascii=False)
        # Systems of other names are asked on their own, even if they share the function.
        return Prompt((Message("user", content),), self.version, purpose=self.settings.name)

    def read(self, completion: Completion) -> dict[str, Any]:
        """Return the columns of an answer."""
        return {"finish_reason": "", **json.loads(completion.text or "")}


def import_from_here() -> None:
    """Import modules of the working directory first, as ``python -m`` does."""
    directory = str(Path.cwd())
    if not sys.flags.safe_path and directory not in sys.path[:1]:
        sys.path.insert(0, directory)


def _imported(import_path: str) -> Callable[..., Any]:
    module, _, path = import_path.partition(":")
    if not (module and path):
        raise UsageError(f"{argument('system')} is {import_path!r}; write package.module:function")
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
        raise UsageError(f"{module} cannot be imported: {exception_line(error)}") from error
    for name in path.split("."):
        if not hasattr(target, name):
            hint = did_you_mean(name, dir(target)) or "name a function of the module"
            raise UsageError(f"{import_path}: there is no {name!r}; {hint}")
        target = getattr(target, name)
    if not callable(target):
        raise UsageError(f"{import_path} is of type {type(target).__name__}; name a function")
    return target  # type: ignore[no-any-return]


def _encoded(result: object) -> str:
    try:
        columns = _columns(result)
    except ValueError as error:
        hint = "return the answer as a text, or the answer and the list of its passages"
        raise ValueError(f"{error}; {hint}") from error
    return json.dumps(columns, ensure_ascii=False) if columns["answer"].strip() else ""


def _columns(result: object) -> dict[str, Any]:
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
    for number, passage in enumerate(returned_passages, start=1):
        fields = {"text": passage} if isinstance(passage, str) else passage
        if not isinstance(fields, Mapping):
            raise ValueError(f"a passage it returned is of type {type(fields).__name__}")
        # A retriever may number its passages.
        passage_id = str(fields.get("passage_id", number))
        shown = {"passage_id": passage_id, "text": fields.get("text"), "title": fields.get("title")}
        passages.append(shown)
    fault = passages_fault(passages)
    if fault:
        raise ValueError(f"the passages it returned are wrong ({fault})")
    return {"answer": answer or "", OWN_PASSAGES: passages}
