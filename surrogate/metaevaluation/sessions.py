"""Judges by name, as on the command line: ``llm:MODEL``, ``nli:MODEL``, ``lexical``, …."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.errors import UsageError
from arena.llm import Endpoint, Usage
from features.models import ModelOptions
from surrogate.metaevaluation.memerag.balanced_accuracy import score_judges
from surrogate.metaevaluation.memerag.comparison import mark_best, write_run
from surrogate.metaevaluation.memerag.judges import (
    PROMPTS,
    Judge,
    LlmFaithfulnessJudge,
    PromptName,
    judge_sentences,
    paper_settings,
)
from surrogate.metaevaluation.memerag.rating_files import fine_grained_accuracy
from surrogate.metaevaluation.memerag.reading import CHALLENGING
from surrogate.metaevaluation.model_judges import NliJudge
from surrogate.metaevaluation.results import add_metaevaluations, metaevaluations_of

if TYPE_CHECKING:
    from surrogate.metaevaluation.memerag.judges import Judge

LLM = "llm"
NLI = "nli"
LEXICAL = "lexical"
GROUNDING = "grounding"

_SPECS = "llm:MODEL, nli:MODEL_OR_FOLDER, lexical, grounding"


@dataclass(frozen=True)
class JudgeMakers:
    """How judges that need a model are made of the model's name.

    Attributes:
        llm: Makes a judge of an LLM's name.
        nli: Makes a judge of an NLI model's name or folder.
    """

    llm: Callable[[str], Judge]
    nli: Callable[[str], Judge]


def kind_of(spec: str) -> str:
    """Return what stands before the colon of a judge's text."""
    return spec.strip().partition(":")[0]


def make_judge(spec: str, makers: JudgeMakers) -> Judge:
    """Make the judge that a text names.

    Args:
        spec: ``llm:MODEL``, ``nli:MODEL_OR_FOLDER``, ``lexical`` or ``grounding``.
        makers: Make the judges that have a model.

    Raises:
        UsageError: If the text names no judge.
    """
    kind, _, model = spec.strip().partition(":")
    with_model = MappingProxyType({LLM: makers.llm, NLI: makers.nli})
    if kind in with_model and model:
        return with_model[kind](model)
    if kind in with_model:
        raise UsageError(f"the judge {spec!r} names no model; write such as {kind}:MODEL")
    if spec.strip() == LEXICAL:
        from surrogate.metaevaluation.memerag.judges import LexicalJudge

        return LexicalJudge()
    if spec.strip() == GROUNDING:
        from surrogate.metaevaluation.grounding_judge import GroundingJudge

        return GroundingJudge()
    raise UsageError(f"there is no judge {spec!r}; give one of {_SPECS}")


if TYPE_CHECKING:
    from arena.llm.store import Store


@dataclass(frozen=True)
class JudgeOptions:
    """How judges with a model are asked.

    Attributes:
        prompt: One of the paper's prompts, for LLMs.
        endpoint: Where LLMs are asked.
        store: Path or URL of what keeps their replies.
        max_calls: Most prompts an LLM is sent; None for all.
        max_tokens: Most tokens of a reply.
        retries: Further tries where a reply has no label.
        models: How NLI models are run.
    """

    prompt: str
    endpoint: Endpoint
    store: str
    max_calls: int | None = None
    max_tokens: int = 1024
    retries: int = 5
    models: ModelOptions = field(default_factory=ModelOptions)

    @property
    def prompt_name(self) -> PromptName:
        """The prompt.

        Raises:
            UsageError: If there is no such prompt.
        """
        for name in PROMPTS:
            if name == self.prompt:
                return name
        raise UsageError(f"--prompt is {self.prompt!r}; use one of {', '.join(PROMPTS)}")


@dataclass(frozen=True)
class SessionOptions:
    """What is judged, and how often the scores are resampled.

    Attributes:
        limit: Judge the first so many sentences of each language; None for all.
        replicates: Bootstrap replicates of standard errors.
        permutations: Random swaps of each significance test.
        seed: Seed of both.
    """

    limit: int | None = None
    replicates: int = 1000
    permutations: int = 10_000
    seed: int = 0


@dataclass(frozen=True)
class Session:
    """What came of it.

    Attributes:
        verdicts: See ``arena.metaevaluation.memerag.judge_sentences``.
        scores: See ``score_judges`` and ``mark_best``.
        fine_grained: See ``fine_grained_accuracy``.
        challenging: Sentences left out, as people could not determine their label.
        usages: What LLMs were asked and used, a try each.
    """

    verdicts: pd.DataFrame
    scores: pd.DataFrame
    fine_grained: pd.DataFrame
    challenging: int
    usages: tuple[Usage, ...]

    def write(self, out: Path | None, arena: Path | None) -> None:
        """Write the verdicts to a file, and the scores to an arena's folder, if these are given.

        Raises:
            UsageError: If a folder does not exist.
            DataError: If the arena's ``metaevaluation.json`` is damaged.
        """
        if out is not None:
            write_run(self.verdicts, out)
        if arena is not None:
            add_metaevaluations(arena, metaevaluations_of(self.scores))


def hold_session(
    sentences: pd.DataFrame, specs: Sequence[str], options: JudgeOptions, session: SessionOptions
) -> Session:
    """Let the judges that are named judge sentences, and score them.

    Args:
        sentences: As ``read_memerag`` returns them.
        specs: Judges, see ``judge_specs.make_judge``; all score side by side.
        options: How judges with a model are asked.
        session: What is judged, and how it is resampled.

    Raises:
        UsageError: If a judge is unknown or unusable, or a prompt unknown.
        MissingDependencyError: If a package that a judge needs is not installed.
    """
    from arena.llm import open_store
    from surrogate.cli.printing import progress_bar

    prompt = options.prompt_name
    asks_llm = any(kind_of(spec) == LLM for spec in specs)
    with open_store(options.store) if asks_llm else nullcontext() as store, progress_bar() as bar:

        def llm(model: str) -> LlmFaithfulnessJudge:
            return LlmFaithfulnessJudge(
                paper_settings(model, options.max_tokens),
                _opened(store),
                options.endpoint,
                prompt,
                options.retries,
                options.max_calls,
                bar,
            )

        makers = JudgeMakers(llm, lambda model: NliJudge(model, options.models))
        judges = [make_judge(spec, makers) for spec in specs]
        verdicts = judge_sentences(sentences, judges, session.limit)
    return _scored(sentences, verdicts, judges, session)


def _opened(store: Store | None) -> Store:
    if store is None:
        raise AssertionError("a store is opened wherever an LLM is a judge")
    return store


def _scored(
    sentences: pd.DataFrame,
    verdicts: pd.DataFrame,
    judges: Sequence[Judge],
    session: SessionOptions,
) -> Session:
    scores = score_judges(verdicts, session.replicates, session.seed)
    return Session(
        verdicts,
        mark_best(scores, verdicts, session.permutations, session.seed),
        fine_grained_accuracy(verdicts),
        int((sentences["factuality"] == CHALLENGING).sum()),
        tuple(
            usage
            for judge in judges
            if isinstance(judge, LlmFaithfulnessJudge)
            for usage in judge.usages
        ),
    )
