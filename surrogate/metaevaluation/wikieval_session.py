"""One run of judges against WikiEval: from names of judges to accuracies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.errors import UsageError
from arena.llm import Endpoint, ModelSettings, Usage
from features.models import ModelOptions
from surrogate.metaevaluation.model_judges import EmbedderJudge, RagasJudge, RerankerJudge
from surrogate.metaevaluation.results import add_metaevaluations
from surrogate.metaevaluation.wikieval.accuracy import (
    judge_pairs,
    score_preferences,
    wikieval_metaevaluations,
)
from surrogate.metaevaluation.wikieval.judges import GptRanking, GptScore, LexicalPairJudge
from surrogate.metaevaluation.wikieval.pairs import PairJudge

if TYPE_CHECKING:
    from arena.llm.store import Store

LEXICAL = "lexical"
_LLM_KINDS = ("gpt-score", "gpt-ranking")
_SPECS = (
    "ragas:LLM, ragas:LLM with EMBEDDER, gpt-score:LLM, gpt-ranking:LLM, "
    "embedder:MODEL_OR_FOLDER, reranker:MODEL_OR_FOLDER, lexical"
)

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class PairJudgeOptions:
    """How judges with a model are asked.

    Attributes:
        endpoint: Where LLMs are asked.
        store: Path or URL of what keeps their replies.
        max_calls: Most prompts a judge sends; None for all.
        max_tokens: Most tokens of a score or a choice.
        models: How embedding models and rerankers are run.
    """

    endpoint: Endpoint
    store: str
    max_calls: int | None = None
    max_tokens: int = 512
    models: ModelOptions = field(default_factory=ModelOptions)


@dataclass(frozen=True)
class WikievalOptions:
    """What is judged, and how accuracies are computed.

    Attributes:
        limit: Judge the first so many pairs of each criterion; None for all.
        ties: ``random`` or ``half``; see ``score_preferences``.
        replicates: Bootstrap replicates of standard errors.
        seed: Seed of these, of ties, and of the order in which texts are shown.
    """

    limit: int | None = None
    ties: str = "random"
    replicates: int = 1000
    seed: int = 0


@dataclass(frozen=True)
class WikievalSession:
    """What came of it.

    Attributes:
        preferences: See ``arena.metaevaluation.wikieval.judge_pairs``.
        scores: See ``score_preferences``.
        label_matches: Of each criterion: pairs whose label 1 is the better text, and all pairs.
        usages: What LLMs were asked and used, a stage each.
    """

    preferences: pd.DataFrame
    scores: pd.DataFrame
    label_matches: dict[str, tuple[int, int]]
    usages: tuple[Usage, ...]

    def write(self, arena: Path | None) -> None:
        """Note the accuracies in an arena's folder, if one is given.

        Raises:
            UsageError: If the folder does not exist.
            DataError: If the arena's ``metaevaluation.json`` is damaged.
        """
        if arena is not None:
            add_metaevaluations(arena, wikieval_metaevaluations(self.scores))


def hold_wikieval(
    pairs: pd.DataFrame,
    specs: Sequence[str],
    options: PairJudgeOptions,
    session: WikievalOptions,
) -> WikievalSession:
    """Let the judges that are named judge pairs, and score them.

    Args:
        pairs: As ``read_wikieval`` returns them.
        specs: Judges: ``ragas:LLM with EMBEDDER`` (or ``ragas:LLM``), ``gpt-score:LLM``,
            ``gpt-ranking:LLM``, ``embedder:MODEL``, ``reranker:MODEL``, ``lexical``.
        options: How judges with a model are asked.
        session: What is judged, and how it is resampled.

    Raises:
        UsageError: If a judge is unknown or unusable.
        MissingDependencyError: If a package that a judge needs is not installed.
    """
    from arena.llm import open_store
    from surrogate.cli.printing import progress_bar

    asks_llm = any(spec.strip().partition(":")[0] in _LLM_KINDS for spec in specs)
    with open_store(options.store) if asks_llm else nullcontext() as store, progress_bar() as bar:
        judges = [make_pair_judge(spec, options, store, bar) for spec in specs]
        preferences = judge_pairs(pairs, judges, session.limit, session.seed)
    usages = [
        usage
        for judge in judges
        if isinstance(judge, GptScore | GptRanking | RagasJudge)
        for usage in judge.usages
    ]
    scores = score_preferences(preferences, session.ties, session.replicates, session.seed)
    return WikievalSession(preferences, scores, _label_matches(pairs), tuple(usages))


def make_pair_judge(
    spec: str, options: PairJudgeOptions, store: Store | None, progress: Progress | None = None
) -> PairJudge:
    """Make the judge that a text names; see ``hold_wikieval``.

    Raises:
        UsageError: If the text names no judge.
    """
    kind, _, model = spec.strip().partition(":")
    if spec.strip() == LEXICAL:
        return LexicalPairJudge()
    makers = MappingProxyType[str, Callable[[], PairJudge]](
        {
            "ragas": lambda: _ragas(model, options, progress),
            "gpt-score": lambda: GptScore(*_asked(model, options, store), progress),
            "gpt-ranking": lambda: GptRanking(*_asked(model, options, store), progress),
            "embedder": lambda: EmbedderJudge(model, options.models),
            "reranker": lambda: RerankerJudge(model, options.models),
        }
    )
    if kind not in makers:
        raise UsageError(f"there is no judge {spec!r}; give one of {_SPECS}")
    if not model:
        raise UsageError(f"the judge {spec!r} names no model; write such as {kind}:MODEL")
    return makers[kind]()


def _asked(
    model: str, options: PairJudgeOptions, store: Store | None
) -> tuple[ModelSettings, Store, Endpoint, int | None]:
    if store is None:
        raise AssertionError("a store is opened wherever an LLM scores or ranks")
    settings = ModelSettings(model, max_tokens=options.max_tokens)
    return settings, store, options.endpoint, options.max_calls


def _ragas(model: str, options: PairJudgeOptions, progress: Progress | None) -> RagasJudge:
    models = replace(options.models, endpoint=options.endpoint, store=options.store)
    return RagasJudge(model, models, options.max_calls, progress)


def _label_matches(pairs: pd.DataFrame) -> dict[str, tuple[int, int]]:
    return {
        str(criterion): (int((labels == 1).sum()), len(labels))
        for criterion, labels in pairs.groupby("criterion", sort=False)["labeled"]
    }
