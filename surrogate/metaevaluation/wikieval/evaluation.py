"""WikiEval as a benchmark of judges: what they judge, and what there is to report of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from arena.data.errors import UsageError
from arena.data.rows import plain_records
from arena.data.seeds import seed_sequence
from arena.llm import Budget
from arena.text.prompts import NO_TEMPLATES, Templates
from features.models.ragas_prompts import RAGAS_PROMPTS
from surrogate.metaevaluation.judges import Judge, Verdict
from surrogate.metaevaluation.report import (
    NO_VALUE,
    Report,
    ReportTable,
    judge_rows,
    left_out_notes,
    percent_with_error,
    spaced,
)
from surrogate.metaevaluation.runner import (
    LEXICAL,
    PYTHON,
    Evaluation,
    JudgeFactory,
    JudgeKind,
    judge_items,
    verdict_columns,
)
from surrogate.metaevaluation.wikieval.accuracy import (
    BETTER,
    PUBLISHED,
    REPLICATES,
    WORSE,
    score_preferences,
    wikieval_metaevaluations,
)
from surrogate.metaevaluation.wikieval.judges import (
    FIRST,
    RANKING,
    SCORE,
    TIE,
    Pair,
    RankingPrompts,
    ScorePrompts,
)
from surrogate.metaevaluation.wikieval.model_judges import EmbedderJudge, RagasJudge, RerankerJudge

PAPER = "Es et al. (2023)"

WIKIEVAL_PROMPTS = (SCORE, RANKING, *RAGAS_PROMPTS)
"""Prompts that a user's templates may replace."""


def _ragas(model: str, factory: JudgeFactory, templates: Templates) -> RagasJudge:
    options = factory.options
    models = replace(options.models, templates=templates)
    return RagasJudge(model, models, Budget(options.max_calls), factory.progress)


_KINDS = (
    JudgeKind(
        "embedder:MODEL_OR_FOLDER",
        lambda model, factory: EmbedderJudge(model, factory.options.models),
    ),
    JudgeKind(
        "reranker:MODEL_OR_FOLDER",
        lambda model, factory: RerankerJudge(model, factory.options.models),
    ),
    LEXICAL,
    PYTHON,
)


@dataclass(frozen=True)
class Wikieval:
    """Pairs of texts of which people preferred one, for judges of Ragas' three qualities.

    Which text a judge sees first is drawn by the pair's content. Verdicts have the columns
    ``criterion``, ``question``, ``shown_first``, ``score_better``, ``score_worse`` (missing for
    judges that give none), and ``value``: ``better``, ``worse`` or ``tie``.

    Attributes:
        pairs: As ``read_wikieval`` returns them.
        limit: Judge the first so many pairs of each criterion; None for all.
        seed: Seed of the order in which texts are shown.
        templates: Files in the place of ``WIKIEVAL_PROMPTS``, for LLMs given by name.
    """

    pairs: pd.DataFrame
    limit: int | None = None
    seed: int = 0
    templates: Templates = NO_TEMPLATES

    @property
    def kinds(self) -> Sequence[JudgeKind]:
        """Ragas, the paper's baselines, models of likeness, shared characters, functions."""
        own = self.templates
        score, ranking = ScorePrompts(own), RankingPrompts(own)
        return (
            JudgeKind("ragas:LLM [with EMBEDDER]", lambda model, make: _ragas(model, make, own)),
            JudgeKind("gpt-score:LLM", lambda model, make: make.llm(score, model)),
            JudgeKind("gpt-ranking:LLM", lambda model, make: make.llm(ranking, model)),
            *_KINDS,
        )

    def verdicts(self, judge: Judge[Pair]) -> pd.DataFrame:
        """Let a judge choose the better text of every pair."""
        pairs = self.pairs
        if self.limit is not None:
            pairs = pairs.groupby("criterion", sort=False).head(self.limit)
        if pairs.empty:
            raise UsageError("there is no pair to judge")
        rows = pairs.to_dict(orient="records")
        is_first = [self._better_is_first(row) for row in rows]
        shown = [_shown(row, first) for row, first in zip(rows, is_first, strict=True)]
        verdicts = judge_items(judge, shown, "pairs")
        preferences = [
            _as_preference(verdict, first)
            for verdict, first in zip(verdicts, is_first, strict=True)
        ]
        scores = [
            (verdict.scores or (None, None))[:: 1 if first else -1]
            for verdict, first in zip(verdicts, is_first, strict=True)
        ]
        table = pairs[["criterion", "question"]].reset_index(drop=True)
        return table.assign(
            shown_first=[BETTER if first else WORSE for first in is_first],
            score_better=pd.Series([better for better, _ in scores], dtype=float),
            score_worse=pd.Series([worse for _, worse in scores], dtype=float),
            **verdict_columns(preferences),
        )

    def _better_is_first(self, row: Mapping[Any, Any]) -> bool:
        first, second = sorted((row["better"], row["worse"]))
        drawn = seed_sequence(
            self.seed, "wikieval", "order", row["criterion"], row["question"], first, second
        )
        swapped = bool(drawn.generate_state(1)[0] & 1)
        return bool((row["better"] == first) != swapped)

    def report(
        self,
        evaluation: Evaluation,
        ties: str = "random",
        replicates: int = REPLICATES,
        seed: int = 0,
    ) -> Report:
        """Report accuracies by criterion beside the published ones; see ``score_preferences``."""
        scores = score_preferences(evaluation.verdicts, ties, replicates, seed)
        published = PUBLISHED[PUBLISHED["criterion"].isin(scores["criterion"])]
        matches = self._label_matches()
        content = {
            "scores": plain_records(scores),
            "published": plain_records(published),
            "label_matches": matches,
        }
        table = _accuracy_table(scores, published, _notes(scores, matches))
        entries = wikieval_metaevaluations(scores)
        return Report(content, [table], entries, evaluation.usages)

    def _label_matches(self) -> dict[str, tuple[int, int]]:
        """Count, for each criterion, the pairs whose label 1 is the better text, and all pairs."""
        return {
            str(criterion): (int((labels == 1).sum()), len(labels))
            for criterion, labels in self.pairs.groupby("criterion", sort=False)["labeled"]
        }


def _shown(row: Mapping[Any, Any], better_first: bool) -> Pair:
    texts = (row["better"], row["worse"]) if better_first else (row["worse"], row["better"])
    return Pair(row["criterion"], row["question"], row["context"], *texts)


def _as_preference(verdict: Verdict, better_first: bool) -> Verdict:
    """Say of a verdict on a pair as shown whether it is for the better text."""
    if verdict.value is None or verdict.value == TIE:
        return verdict
    return replace(verdict, value=BETTER if (verdict.value == FIRST) == better_first else WORSE)


def _accuracy_table(
    scores: pd.DataFrame, published: pd.DataFrame, notes: Sequence[str]
) -> ReportTable:
    criteria = list(scores["criterion"].drop_duplicates())
    rows = [[judge, *cells] for judge, _, *cells in judge_rows(scores, "criterion", _accuracy)]
    for judge, part in published.groupby("judge", sort=False):
        known = part.set_index("criterion")["accuracy"]
        rows.append([f"{judge}, {PAPER}", *(f"{100 * known[name]:.0f}" for name in criteria)])
    title = "Accuracy in percent, with standard errors (pairs)"
    return ReportTable(title, ["judge", *map(spaced, criteria)], rows, notes)


def _accuracy(row: Mapping[Any, Any]) -> str:
    if pd.isna(row["accuracy"]):
        return NO_VALUE
    return f"{percent_with_error(row['accuracy'], row['standard_error'])} ({row['pairs']})"


def _notes(scores: pd.DataFrame, matches: Mapping[str, tuple[int, int]]) -> list[str]:
    notes = [
        f"{row['judge']}, {spaced(row['criterion'])}: {note}"
        for row in scores.to_dict(orient="records")
        for note in _row_notes(row)
    ]
    notes += [
        f"{spaced(criterion)}: label 1 is the better text in {of_label} of {pairs} pairs; "
        "texts count by where they come from (--better label: by label)"
        for criterion, (of_label, pairs) in matches.items()
        if of_label < pairs
    ]
    return notes


def _row_notes(row: Mapping[Any, Any]) -> list[str]:
    ties = f"{row['ties']} {'tie' if row['ties'] == 1 else 'ties'}"
    reason = f"no value: {row['reason']}"
    return [
        *([ties] if row["ties"] else []),
        *left_out_notes(row, "pairs", "choice"),
        *([reason] if row["reason"] else []),
    ]
