"""Judges of grounded answers by name: ``llm:MODEL``, ``lexical``, ``python:MODULE:FUNCTION``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from arena.data.errors import UsageError
from arena.llm import Endpoint, ModelSettings, Usage
from surrogate.metaevaluation.grouse.judges import REPLY_FORMS, LlmJudge, ReplyForm
from surrogate.metaevaluation.grouse.pipeline import GrouseRun, run_grouse
from surrogate.metaevaluation.grouse.unit_tests import (
    DATASET,
    UnitTest,
    choose_tests,
    own_unit_tests,
    read_unit_tests,
    type_name,
)
from surrogate.metaevaluation.results import MetaEvaluation, add_metaevaluations
from surrogate.metaevaluation.sessions import kind_of

if TYPE_CHECKING:
    from surrogate.metaevaluation.grouse.judges import Judge, MarkFunction

LLM = "llm"
LEXICAL = "lexical"
PYTHON = "python"

_SPECS = "llm:MODEL, lexical, python:MODULE:FUNCTION"


def grouse_judge(spec: str, llm: Callable[[str], Judge]) -> Judge:
    """Make the judge that a text names.

    Args:
        spec: ``llm:MODEL``, ``lexical`` or ``python:MODULE:FUNCTION``; such a function takes
            metric, question, references, expected answer and answer, and returns a mark or None.
        llm: Makes a judge of an LLM's name.

    Raises:
        UsageError: If the text names no judge, or the function cannot be loaded.
    """
    from surrogate.metaevaluation.grouse.judges import FunctionJudge, LexicalJudge

    kind, _, rest = spec.strip().partition(":")
    if kind == LLM and rest:
        return llm(rest)
    if kind == LLM:
        raise UsageError(f"the judge {spec!r} names no model; write such as {LLM}:MODEL")
    if kind == PYTHON:
        return FunctionJudge(spec.strip(), _function(rest))
    if spec.strip() == LEXICAL:
        return LexicalJudge()
    raise UsageError(f"there is no judge {spec!r}; give one of {_SPECS}")


def _function(place: str) -> MarkFunction:
    module_name, _, name = place.partition(":")
    if not module_name or not name:
        raise UsageError(f"{PYTHON}:{place} names no function; write {PYTHON}:MODULE:FUNCTION")
    try:
        module = import_module(module_name)
    except (ImportError, ValueError) as error:
        raise UsageError(f"the module {module_name} cannot be imported: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"the module {module_name} has no function {name}")
    found: MarkFunction = function
    return found


if TYPE_CHECKING:
    from arena.llm.store import Store


@dataclass(frozen=True)
class LlmOptions:
    """How LLMs are asked.

    Attributes:
        endpoint: Where.
        store: Path or URL of what keeps their replies.
        reply_form: How far the server holds them to the form of the reply.
        max_calls: Most prompts that each is sent; None for all.
        max_tokens: Most tokens of a reply.
    """

    endpoint: Endpoint
    store: str
    reply_form: str = "json_schema"
    max_calls: int | None = None
    max_tokens: int = 2048

    @property
    def form(self) -> ReplyForm:
        """The form of replies.

        Raises:
            UsageError: If there is no such form.
        """
        for form in REPLY_FORMS:
            if form == self.reply_form:
                return form
        raise UsageError(f"--replies is {self.reply_form!r}; use one of {', '.join(REPLY_FORMS)}")


@dataclass(frozen=True)
class GrouseSession:
    """What came of it.

    Attributes:
        source: File of the unit tests; None for those of this project.
        tests: Unit tests that were taken.
        run: Marks and pass rates.
        usages: What LLMs were asked and used, an entry a model and metric.
    """

    source: Path | None
    tests: int
    run: GrouseRun
    usages: tuple[Usage, ...]

    def write(self, arena: Path | None) -> None:
        """Note the pass rates in an arena's folder, if one is given.

        Judges without a pass rate or standard error, and tests in no known language, are left out.

        Raises:
            UsageError: If the folder does not exist.
            DataError: If the arena's ``metaevaluation.json`` is damaged.
        """
        if arena is not None:
            add_metaevaluations(arena, self._metaevaluations())

    def _metaevaluations(self) -> list[MetaEvaluation]:
        dataset = DATASET if self.source is None else f"grouse:{self.source.stem}"
        return [
            MetaEvaluation(
                judge=result.judge,
                dataset=dataset,
                metric=result.name,
                prompt=result.prompt,
                value=result.value,
                standard_error=result.standard_error,
                n=result.n,
                languages=list(result.languages),
                failures=result.failures,
            )
            for result in self.run.results
            if result.standard_error is not None and result.languages
        ]


def chosen_tests(
    path: Path | None, languages: Sequence[str], types: Sequence[str], limit: int | None
) -> list[UnitTest]:
    """Read unit tests and choose from them.

    Args:
        path: Their file; None for those of this project.
        languages: Language codes; all if there are none.
        types: Names or numbers of types; all if there are none.
        limit: Keep the first so many of each language and type.

    Raises:
        UsageError: If there is no such file, language or type.
        DataError: If the file is faulty.
    """
    tests = own_unit_tests(languages) if path is None else read_unit_tests(path)
    return choose_tests(tests, languages, [type_name(each) for each in types], limit)


def hold_grouse_session(
    tests: Sequence[UnitTest],
    specs: Sequence[str],
    options: LlmOptions,
    source: Path | None = None,
) -> GrouseSession:
    """Let the judges that are named take unit tests.

    Args:
        tests: As ``chosen_tests`` returns them.
        specs: Judges, see ``grouse_specs.grouse_judge``; all are shown side by side.
        options: How LLMs are asked.
        source: File of the unit tests, for the record.

    Raises:
        UsageError: If a judge is unknown or unusable.
        MissingDependencyError: If a package that a judge needs is not installed.
    """
    from arena.llm import open_store
    from surrogate.cli.printing import progress_bar

    form = options.form
    asks_llm = any(kind_of(spec) == LLM for spec in specs)
    with open_store(options.store) if asks_llm else nullcontext() as store, progress_bar() as bar:

        def llm(model: str) -> LlmJudge:
            settings = ModelSettings(model, max_tokens=options.max_tokens)
            return LlmJudge(
                settings, _opened(store), options.endpoint, form, options.max_calls, bar
            )

        judges = [grouse_judge(spec, llm) for spec in specs]
        run = run_grouse(judges, tests)
    usages = [usage for judge in judges if isinstance(judge, LlmJudge) for usage in judge.usages]
    return GrouseSession(source, len(tests), run, tuple(usages))


def _opened(store: Store | None) -> Store:
    if store is None:
        raise AssertionError("a store is opened wherever an LLM is a judge")
    return store
