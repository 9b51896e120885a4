"""WikiEval as a benchmark of judges: pairs of which people preferred one text, and accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel, ConfigDict

from arena.data.errors import UsageError
from arena.data.rows import plain_records
from arena.data.seeds import generator, seed_sequence
from arena.llm import Budget
from arena.statistics.bootstrap import resampled_sums
from arena.text.prompts import NO_TEMPLATES, Templates
from features.models.ragas import RAGAS_PROMPTS
from surrogate.metaevaluation.judges import Judge, Verdict
from surrogate.metaevaluation.report import (
    BY_JUDGE,
    NO_VALUE,
    VALUES,
    Report,
    ReportTable,
    left_out_notes,
    metaevaluations,
    percent_with_error,
    score_table,
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
from surrogate.metaevaluation.settings import DEFAULTS, MetaevalSettings
from surrogate.metaevaluation.wikieval.choices import (
    FIRST,
    RANKING,
    SCORE,
    TIE,
    Pair,
    RankingPrompts,
    ScorePrompts,
)
from surrogate.metaevaluation.wikieval.pairs import CRITERIA
from surrogate.metaevaluation.wikieval.ragas_judge import RagasJudge

FloatArray = npt.NDArray[np.float64]

DATASET, LANGUAGE = "wikieval", "en"
PAPER = "Es et al. (2023)"
BETTER, WORSE = "better", "worse"
SCORE_COLUMNS = [*BY_JUDGE, "criterion", *VALUES, "ties", "first_share"]
WIKIEVAL_PROMPTS = (SCORE, RANKING, *RAGAS_PROMPTS)
"""Prompts that a user's templates may replace."""

PUBLISHED = pd.DataFrame(
    [
        (judge, criterion, value)
        for judge, row in {
            "Ragas": (0.95, 0.78, 0.70),
            "GPT Score": (0.72, 0.52, 0.63),
            "GPT Ranking": (0.54, 0.40, 0.52),
        }.items()
        for criterion, value in zip(CRITERIA, row, strict=True)
    ],
    columns=["judge", "criterion", "value"],
)
"""Columns ``judge, criterion, value``: 50 pairs a criterion, judged by gpt-3.5-turbo-16k."""


class ChoiceVerdict(BaseModel):
    """A line of a file of verdicts."""

    model_config = ConfigDict(strict=True, extra="ignore")

    judge: str
    prompt: str
    criterion: str
    question: str
    shown_first: str
    value: str | None = None
    failure: str | None = None
    was_asked: bool


@dataclass(frozen=True)
class Wikieval:
    """Pairs of texts of which people preferred one, for judges of Ragas' three qualities.

    Which text a judge sees first is drawn by the pair's content. Verdicts have the columns
    ``criterion``, ``question``, ``shown_first``, ``score_better``, ``score_worse`` (missing for
    judges that give none), and ``value``: ``better``, ``worse`` or ``tie``.

    Attributes:
        pairs: As ``read_wikieval`` returns them.
        settings: What is judged, how LLMs given by name are asked, how judges are counted.
        templates: Files in the place of ``WIKIEVAL_PROMPTS``, for LLMs given by name.
    """

    record: ClassVar[type[BaseModel]] = ChoiceVerdict
    pairs: pd.DataFrame
    settings: MetaevalSettings = DEFAULTS
    templates: Templates = NO_TEMPLATES

    @property
    def kinds(self) -> Sequence[JudgeKind]:
        """Ragas, the paper's baselines, shared characters, functions."""
        score, ranking = ScorePrompts(self.templates), RankingPrompts(self.templates)
        return (
            JudgeKind("ragas:LLM [with EMBEDDER]", self._ragas),
            JudgeKind("gpt-score:LLM", lambda model, make: make.llm(score, model)),
            JudgeKind("gpt-ranking:LLM", lambda model, make: make.llm(ranking, model)),
            LEXICAL,
            PYTHON,
        )

    def _ragas(self, model: str, factory: JudgeFactory) -> RagasJudge:
        models = replace(factory.options.models, templates=self.templates)
        return RagasJudge(model, models, Budget(factory.options.max_calls), factory.progress)

    def verdicts(self, judge: Judge[Pair]) -> pd.DataFrame:
        """Let a judge choose the better text of every pair."""
        pairs = self.pairs
        if self.settings.limit is not None:
            pairs = pairs.groupby("criterion", sort=False).head(self.settings.limit)
        if pairs.empty:
            raise UsageError("there is no pair to judge")
        rows = pairs.to_dict(orient="records")
        is_first = [self._better_is_first(row) for row in rows]
        shown = [_shown(row, first) for row, first in zip(rows, is_first, strict=True)]
        verdicts = judge_items(judge, shown, "pairs")
        preferences, scores = [], []
        for verdict, first in zip(verdicts, is_first, strict=True):
            preferences.append(_as_preference(verdict, first))
            scores.append((verdict.scores or (None, None))[:: 1 if first else -1])
        table = pairs[["criterion", "question"]].reset_index(drop=True)
        return table.assign(
            shown_first=[BETTER if first else WORSE for first in is_first],
            score_better=pd.Series([better for better, _ in scores], dtype=float),
            score_worse=pd.Series([worse for _, worse in scores], dtype=float),
            **verdict_columns(preferences),
        )

    def _better_is_first(self, row: Mapping[Any, Any]) -> bool:
        first, second = sorted((row["better"], row["worse"]))
        key = ("wikieval", "order", row["criterion"], row["question"], first, second)
        drawn = seed_sequence(self.settings.seed, *key)
        swapped = bool(drawn.generate_state(1)[0] & 1)
        return bool((row["better"] == first) != swapped)

    def report(self, evaluation: Evaluation) -> Report:
        """Report accuracies by criterion beside the published ones; see ``score_preferences``."""
        settings = self.settings
        counted = (settings.ties, settings.replicates, settings.seed)
        scores = score_preferences(evaluation.verdicts, *counted)
        published = PUBLISHED[PUBLISHED["criterion"].isin(scores["criterion"])]
        labeled = self.pairs["labeled"].eq(1).groupby(self.pairs["criterion"], sort=False)
        matches = {str(name): (int(is_one.sum()), len(is_one)) for name, is_one in labeled}
        content = {
            "scores": plain_records(scores),
            "published": plain_records(published),
            "label_matches": matches,
        }
        ties = scores[scores["ties"] > 0].to_dict("records")
        notes = [
            *(f"{row['judge']}, {spaced(row['criterion'])}: ties: {row['ties']}" for row in ties),
            *left_out_notes(scores, "pairs", "choice", "criterion"),
            *(
                f"{spaced(criterion)}: label 1 is the better text in {of_label} of {pairs} pairs; "
                "texts count by where they come from"
                for criterion, (of_label, pairs) in matches.items()
                if of_label < pairs
            ),
        ]
        title = "Accuracy in percent, with standard errors (pairs)"
        table = _with_published(
            score_table(scores, "criterion", title, notes, _accuracy), scores, published
        )
        rows = scores.to_dict("records")
        entries = [
            entry
            for row in rows
            for entry in metaevaluations([row], DATASET, str(row["criterion"]), [LANGUAGE])
        ]
        return Report(content, [table], entries, evaluation.usages)


def _shown(row: Mapping[Any, Any], better_first: bool) -> Pair:
    texts = (row["better"], row["worse"]) if better_first else (row["worse"], row["better"])
    return Pair(row["criterion"], row["question"], row["context"], *texts)


def _as_preference(verdict: Verdict, better_first: bool) -> Verdict:
    """Say of a verdict on a pair as shown whether it is for the better text."""
    if verdict.value is None or verdict.value == TIE:
        return verdict
    return replace(verdict, value=BETTER if (verdict.value == FIRST) == better_first else WORSE)


def _with_published(
    table: ReportTable, scores: pd.DataFrame, published: pd.DataFrame
) -> ReportTable:
    criteria = list(scores["criterion"].drop_duplicates())
    rows = []
    for judge, part in published.groupby("judge", sort=False):
        known = part.set_index("criterion")["value"]
        rows.append([f"{judge}, {PAPER}", *(f"{100 * known[name]:.0f}" for name in criteria)])
    return replace(table, rows=[*table.rows, *rows])


def _accuracy(row: Mapping[Any, Any]) -> str:
    if pd.isna(row["value"]):
        return NO_VALUE
    return f"{percent_with_error(row['value'], row['standard_error'])} ({row['n']})"


def score_preferences(
    verdicts: pd.DataFrame, ties: str = "random", replicates: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Compute the share of pairs in which each judge prefers what people preferred.

    Args:
        verdicts: Verdicts, see ``Wikieval``.
        ties: ``random`` breaks each by a draw that rests on the question, as the paper does for
            scores of an LLM; ``half`` counts each as half right, the mean of all such draws.
        replicates: Bootstrap replicates of the standard error, over pairs; two at least.
        seed: Seed of replicates and draws; judges share them.

    Returns:
        Columns ``SCORE_COLUMNS``, one row a judge and criterion. Pairs that the judge was not
        asked about are left out; where it did not choose, it is wrong. ``first_share`` is how
        often it preferred the text shown first, among those where it chose one. The value is
        missing, with a reason, where no pair is left; the standard error, where one is.
    """
    rows = [
        dict(zip((*BY_JUDGE, "criterion"), key, strict=True))
        | _row(part, str(key[-1]), ties, replicates, seed)
        for key, part in verdicts.groupby([*BY_JUDGE, "criterion"], sort=False)
    ]
    return pd.DataFrame(rows, columns=SCORE_COLUMNS)


def _row(
    part: pd.DataFrame, criterion: str, ties: str, replicates: int, seed: int
) -> dict[str, object]:
    asked = part[part["was_asked"]]
    credits = _credits(asked, criterion, ties, seed)
    chose = asked[asked["value"].isin([BETTER, WORSE])]
    first = chose["value"] == chose["shown_first"]
    error = np.nan
    if len(credits) > 1:
        random = generator(seed, "wikieval", "bootstrap", criterion)
        sums = resampled_sums(credits[:, None], replicates, random)
        error = float((sums / len(credits)).std(ddof=1))
    return {
        "value": float(credits.mean()) if len(credits) else np.nan,
        "standard_error": error,
        "n": len(asked),
        "ties": int((asked["value"] == TIE).sum()),
        "failures": int(asked["value"].isna().sum()),
        "not_asked": len(part) - len(asked),
        "first_share": float(first.mean()) if len(chose) else np.nan,
        "reason": None if len(asked) else f"no pair of {criterion} was judged",
    }


def _credits(asked: pd.DataFrame, criterion: str, ties: str, seed: int) -> FloatArray:
    """Return how right the judge was about each pair, 0 to 1."""
    credits: FloatArray = (asked["value"] == BETTER).to_numpy(dtype=np.float64)
    for row in np.flatnonzero((asked["value"] == TIE).to_numpy(dtype=bool)):
        question = str(asked["question"].iloc[row])
        drawn = generator(seed, "wikieval", "tie", criterion, question)
        credits[row] = 0.5 if ties == "half" else drawn.integers(2)
    return credits
