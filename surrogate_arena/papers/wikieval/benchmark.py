"""WikiEval as a benchmark of judges: pairs of which people preferred one text, and accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.tables import plain_records
from arena.data.types import Floats
from arena.llm import Budget
from arena.llm.prompts import Templates
from arena.statistics.bootstrap import generator, resampled_sums, seed_sequence
from features.models.ragas import RAGAS_PROMPTS
from surrogate_arena.papers.evaluation import (
    Benchmark,
    Evaluation,
    JudgeFactory,
    Kinds,
    llms_with,
)
from surrogate_arena.papers.judges import Judge
from surrogate_arena.papers.records import VerdictRecord
from surrogate_arena.papers.reports import (
    Report,
    judges_table,
    left_out_notes,
    metaevaluations,
    scores_by_part,
    verdict_counts,
)
from surrogate_arena.papers.settings import DEFAULTS, MetaevalSettings
from surrogate_arena.papers.wikieval import judges
from surrogate_arena.papers.wikieval.judges import FIRST, LANGUAGE, RANKING, SCORE, SECOND, TIE
from surrogate_arena.papers.wikieval.pairs import read_wikieval
from surrogate_arena.studies.scores import spread

DATASET = "wikieval"
WIKIEVAL_PROMPTS = (SCORE, RANKING, *RAGAS_PROMPTS)
"""Prompts that a user's templates may replace."""


class ChoiceVerdict(VerdictRecord):
    """A line of a file of verdicts."""

    criterion: str
    question: str
    truth: str
    value: str | None = None


@dataclass(frozen=True)
class Wikieval(Benchmark):
    """Pairs of texts of which people preferred one, for judges of Ragas' three qualities.

    The pair's content decides which text comes first. Verdicts, and ``truth``, are ``first``,
    ``second`` or ``tie``.
    """

    record = ChoiceVerdict
    key = ("criterion", "question")
    replaceable = WIKIEVAL_PROMPTS
    noun = "pairs"
    pairs: pd.DataFrame

    @classmethod
    def read(cls, path: Path, settings: MetaevalSettings, templates: Templates) -> Wikieval:
        """Read the pairs of published rows, see ``read_wikieval``."""
        return cls(read_wikieval(path), settings=settings, templates=templates)

    @property
    def kinds(self) -> Kinds:
        """Ragas, and the paper's baselines."""
        return {
            "ragas:LLM [with EMBEDDER]": self._ragas,
            "gpt-score:LLM": llms_with(judges.ScorePrompts(self.templates)),
            "gpt-ranking:LLM": llms_with(judges.RankingPrompts(self.templates)),
        }

    def _ragas(self, model: str, factory: JudgeFactory) -> list[Judge]:
        models = replace(factory.options.models, templates=self.templates)
        budget = Budget(factory.options.max_calls)
        return [judges.RagasJudge(model, models, budget, factory.progress)]

    @property
    def items(self) -> pd.DataFrame:
        """The pairs that are judged, and which text is the better one."""
        return self._shown[["criterion", "question", "truth"]]

    @cached_property
    def _shown(self) -> pd.DataFrame:
        pairs = self.settings.limited(self.pairs, "criterion")
        if pairs.empty:
            raise UsageError("there is no pair to judge")
        rows = []
        for row in pairs.to_dict(orient="records"):
            better, worse = row.pop("better"), row.pop("worse")
            if self._better_is_first(row, better, worse):
                rows.append({**row, "first": better, "second": worse, "truth": FIRST})
            else:
                rows.append({**row, "first": worse, "second": better, "truth": SECOND})
        return pd.DataFrame(rows, dtype=object)

    def _better_is_first(self, row: Mapping[Any, Any], better: str, worse: str) -> bool:
        # Drawn by the sorted texts, which do not tell which is better: position says nothing.
        texts = sorted((better, worse))
        key = ("wikieval", "order", row["criterion"], row["question"], *texts)
        is_swapped = seed_sequence(self.settings.seed, *key).generate_state(1)[0] & 1
        return bool((better == texts[0]) != is_swapped)

    @cached_property
    def tasks(self) -> list[judges.Pair]:
        """Tasks of a judge: both texts of each pair, in the order drawn."""
        columns = ["criterion", "question", "context", "first", "second"]
        return [judges.Pair(*row) for row in self._shown[columns].itertuples(index=False)]

    def report(self, evaluation: Evaluation) -> Report:
        """Report accuracies by criterion; see ``score_preferences``."""
        verdicts = evaluation.verdicts
        scores = score_preferences(verdicts, self.settings)
        notes = left_out_notes(scores, verdicts, "pairs", "choice", "criterion")
        title = "Accuracy in percent, with standard errors over pairs"
        n_pairs = verdicts.groupby("criterion")["question"].nunique()
        counted = [f"{n} of {str(name).replace('_', ' ')}" for name, n in n_pairs.items()]
        notes.insert(0, f"Pairs: {', '.join(counted)}")
        table = judges_table(scores, "criterion", title, notes)
        entries = []
        for row in scores.to_dict("records"):
            entries += metaevaluations([row], DATASET, str(row["criterion"]), [LANGUAGE])
        return Report({"scores": plain_records(scores)}, [table], entries, evaluation.usages)


def score_preferences(
    verdicts: pd.DataFrame, settings: MetaevalSettings = DEFAULTS
) -> pd.DataFrame:
    """Compute the share of pairs in which each judge prefers what people preferred.

    Ties are broken by a draw by question, as in the paper. A judge that did not choose is wrong.

    Returns:
        Columns ``judge, prompt, criterion, value, standard_error, n, failures, not_asked, reason,
        ties``.
    """

    def score(pairs: pd.DataFrame, criterion: str) -> dict[str, Any]:
        judged = pairs[pairs["was_asked"]]
        credits: Floats = (judged["value"] == judged["truth"]).to_numpy(dtype=np.float64)
        is_tied = (judged["value"] == TIE).to_numpy(dtype=bool)
        for index in np.flatnonzero(is_tied):
            # The paper breaks ties of an LLM's scores at random (section 5).
            question = str(judged["question"].iloc[index])
            coin = generator(settings.seed, "wikieval", "tie", criterion, question)
            credits[index] = coin.integers(2)
        value = np.nan
        shares: Floats = np.empty(0)
        reason: str | None = f"no pair of {criterion} was judged"
        if len(credits):
            value = float(credits.mean())
            reason = None
        if len(credits) > 1:
            random = generator(settings.seed, "wikieval", "bootstrap", criterion)
            # How many of the pairs of each draw were right.
            sums = resampled_sums(credits[:, None], settings.replicates, random)[:, 0]
            shares = sums / len(credits)
        return {
            "value": value,
            "standard_error": spread(shares),
            **verdict_counts(pairs),
            "reason": reason,
            "ties": int(is_tied.sum()),
        }

    return scores_by_part(verdicts, "criterion", score)
